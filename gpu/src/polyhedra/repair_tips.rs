//! Repair of barrier tips: the middle face around the tip becomes a frontier face.

use trioxide_kernel::safe::{Atomic, In, Out, Own};
use trioxide_kernel::{Bits, kernel};

use super::link::Link;
use super::trees::Trees;
use crate::ids::{FaceSide, Item, Tet, Vertex};
use crate::tet_faces::corners_of;

/// The edge of a tetrahedron between the two vertices that are neither at place `i` nor at place `j`, the lower vertex
/// first.
#[inline(always)]
fn edge_without(q: [Vertex; 4], i: u32, j: u32) -> [Vertex; 2] {
    let is_end = |k: u32| (k != i) & (k != j);
    let low = |k: usize| if is_end(k as u32) { q[k] } else { Vertex::NONE };
    let high = |k: usize| {
        if is_end(k as u32) {
            q[k]
        } else {
            Vertex::new(0)
        }
    };
    [
        low(0).min(low(1)).min(low(2)).min(low(3)),
        high(0).max(high(1)).max(high(2)).max(high(3)),
    ]
}

impl Trees<'_> {
    /// The path in the tree between the tetrahedra on the two sides of a barrier face, if its tetrahedra all lie around
    /// one edge of the face: the numbers of joints on the way up from `a` and from `b`. `None` if the barrier face has
    /// no tip.
    ///
    /// A path that leaves `a` upwards leaves through the chosen face, which has one edge of the barrier face: the path
    /// can only go on around this edge. So each side climbs around its own edge. If both climb around the same edge and
    /// meet, they go on together, so they meet if and only if they end at the same place.
    #[inline(always)]
    fn path_around_edge(self, side: FaceSide, behind: FaceSide) -> Option<(u32, u32)> {
        let (a, b) = (side.tet(), behind.tet());
        let edge = |t: Tet, side: FaceSide| {
            let place = self.links.at(t).place();
            edge_without(corners_of(self.tetrahedra, t), side.place(), place)
        };
        let (edge_a, edge_b) = (edge(a, side), edge(b, behind));
        let (top_a, steps_a) = self.climb_around(a, edge_a, b);
        if top_a == b {
            return Some((steps_a, 0));
        }
        let (top_b, steps_b) = self.climb_around(b, edge_b, a);
        if top_b == a {
            return Some((0, steps_b));
        }
        // A climb of no step, at a root, has no edge. The two cases above are the only ones in which the other climb
        // ends there.
        if top_a != top_b || edge_a != edge_b || steps_a == 0 || steps_b == 0 {
            return None;
        }
        let (mut x, mut y) = (a, b);
        let (mut high, mut low) = (steps_a, steps_b);
        while x != y {
            if high >= low {
                x = self.links.at(x).parent();
                high -= 1;
            } else {
                y = self.links.at(y).parent();
                low -= 1;
            }
        }
        Some((steps_a - high, steps_b - low))
    }
}

/// Whether the `i`-th barrier face has a tip; `cuts` gets the lower side of the middle face around the tip, or `NONE`,
/// and `regions` the root of its region.
///
/// The kernel reads the labels of before the repair. `barriers` lists lower sides.
#[kernel(
    requires(
        barriers.len() == n,
        trees.fit(),
        twins.len() == trees.tetrahedra.len(),
        roots.len() == trees.links.len(),
        regions.len() == words(roots.len()),
        cuts.len() == n
    ),
    moves(barriers.bytes() + cuts.bytes() + 4 * words(n)), trusted
)]
pub fn find_tips(
    i: Own<Item>,
    barriers: In<FaceSide, Item>,
    trees: Trees,
    twins: In<FaceSide, FaceSide>,
    roots: In<Link, Tet>,
    regions: Atomic<Bits<Tet>>,
    cuts: Out<FaceSide, Item>,
) -> bool {
    let side = barriers.at(i);
    let behind = twins.at(side);
    regions.set_bit(roots.at(side.tet()).parent());
    let Some((up, down)) = trees.path_around_edge(side, behind) else {
        cuts.set(i, FaceSide::NONE);
        return false;
    };
    // The ring has one tetrahedron more than joints; the middle face follows tetrahedron number half.
    let ring = up + down + 1;
    let half = ring / 2;
    let t = if half <= up {
        trees.above(side.tet(), half - 1)
    } else {
        trees.above(behind.tet(), up + down - half)
    };
    let middle = FaceSide::of(t, trees.links.at(t).place());
    cuts.set(i, middle.min(twins.at(middle)));
    true
}

/// Makes the `i`-th face of `cuts` a frontier face, unless it is `NONE`: each tetrahedron that left through it becomes
/// a root.
#[kernel(
    requires(
        cuts.len() == n,
        4 * links.len() == twins.len(),
        frontier.len() == words(twins.len()),
        is_root.len() == words(links.len())
    ),
    moves(cuts.bytes())
)]
pub fn cut_faces(
    i: Own<Item>,
    cuts: In<FaceSide, Item>,
    twins: In<FaceSide, FaceSide>,
    frontier: Atomic<Bits<FaceSide>>,
    is_root: Atomic<Bits<Tet>>,
    links: Atomic<Link, Tet>,
) {
    let cut = cuts.at(i);
    if cut.is_none() {
        return;
    }
    let become_frontier = |side: FaceSide| {
        frontier.set_bit(side);
        let (t, place) = (side.tet(), side.place());
        if links.load(t).place() == place {
            is_root.set_bit(t);
            links.store(t, Link::to(t, place));
        }
    };
    become_frontier(cut);
    become_frontier(twins.at(cut));
}
