//! Links: the parent of each tetrahedron in its tree.

use trioxide_kernel::safe::In;

use crate::ids::Tet;

trioxide_kernel::id! {
    /// The parent of a tetrahedron in its tree, itself for a root, and the place of its chosen face: both in one word,
    /// since walks read both. There are fewer than 2^30 tetrahedra: their sides have 32-bit ids.
    pub struct Link = "link";
}

impl Link {
    /// The link to `parent` of a tetrahedron whose chosen face is at `place`.
    #[inline(always)]
    pub const fn to(parent: Tet, place: u32) -> Self {
        Self::new(4 * parent.index() + place)
    }

    /// The parent.
    #[inline(always)]
    pub const fn parent(self) -> Tet {
        Tet::new(self.index() / 4)
    }

    /// Place of the chosen face in the tetrahedron: 0 to 3.
    #[inline(always)]
    pub const fn place(self) -> u32 {
        self.index() % 4
    }
}

/// Walks from the parent `place` of a tetrahedron towards the root, `most` steps or fewer. Returns the place that it
/// reached, and whether that is the root.
#[inline(always)]
pub fn walk(links: In<Link, Tet>, mut place: Tet, most: u32) -> (Tet, bool) {
    let mut next = links.at(place).parent();
    let mut steps = 0;
    while next != place && steps < most {
        place = next;
        next = links.at(place).parent();
        steps += 1;
    }
    (place, next == place)
}
