//! Repair of barrier tips: the middle face around the tip becomes a frontier face.

use trioxide_kernel::{Atomic, Bits, Group, In, Out, kernel};

use crate::ids::{FaceSide, Tet, Vertex};
use crate::tet_faces::{corner_at, corners_of, face_vertices};

/// Tetrahedra and the sides of their faces.
#[derive(Group)]
pub struct Sides<'a> {
    /// Vertices, four for each tetrahedron; 4T.
    pub tetrahedra: In<'a, Vertex>,
    /// The same face seen from the other side; 4T.
    pub twins: In<'a, FaceSide>,
}

impl Sides<'_> {
    /// The other face of a tetrahedron at an edge of the face `side`: the edge opposite to the face's vertex `corner`. With it the
    /// vertex of the other face that is not on the edge.
    #[inline(always)]
    fn across(self, side: FaceSide, corner: Vertex) -> (FaceSide, Vertex) {
        let q = corners_of(self.tetrahedra, side.tet());
        let place =
            (q[1] == corner) as u32 + 2 * (q[2] == corner) as u32 + 3 * (q[3] == corner) as u32;
        (FaceSide::of(side.tet(), place), corner_at(q, side.place()))
    }

    /// Goes around the edge opposite to vertex `corner` of face `side`, through `most` tetrahedra or until the face behind one is a
    /// frontier face. Returns the side of that face, and the number of tetrahedra.
    #[inline(always)]
    fn turn(
        self,
        side: FaceSide,
        corner: Vertex,
        most: u32,
        frontier: In<Bits<FaceSide>>,
    ) -> (FaceSide, u32) {
        let (mut exit, mut corner) = self.across(side, corner);
        let mut count = 1;
        while count < most && !frontier.bit(exit) {
            (exit, corner) = self.across(self.twins.at(exit), corner);
            count += 1;
        }
        (exit, count)
    }
}

/// Whether the `i`-th barrier face has a tip; `cuts` gets the lower side of the middle face around the tip, or `NONE`.
///
/// The labels are those of before the repair. `barriers` lists lower sides.
#[kernel(
    requires(
        barriers.len() == n,
        sides.twins.len() == sides.tetrahedra.len(),
        frontier.len() == words(sides.twins.len()),
        cuts.len() == n
    ),
    moves(barriers.bytes() + cuts.bytes() + 4 * words(n))
)]
pub fn find_tips(
    i: u32,
    barriers: In<FaceSide>,
    sides: Sides,
    frontier: In<Bits<FaceSide>>,
    cuts: Out<FaceSide>,
) -> bool {
    let side = barriers.at(i);
    let behind = sides.twins.at(side);
    let mut corners = face_vertices(corners_of(sides.tetrahedra, side.tet()), side.place());
    let mut cut = FaceSide::NONE;
    let mut k = 0;
    while k < 3 && cut.is_none() {
        let (exit, count) = sides.turn(side, corners[0], u32::MAX, frontier);
        if exit == behind {
            let (middle, _) = sides.turn(side, corners[0], count / 2, frontier);
            cut = middle.min(sides.twins.at(middle));
        }
        corners = [corners[1], corners[2], corners[0]];
        k += 1;
    }
    cuts.set(i, cut);
    cut.is_some()
}

/// Makes the `i`-th face of `cuts` a frontier face, unless it is `NONE`: each tetrahedron that left through it becomes a root.
#[kernel(
    requires(
        cuts.len() == n,
        largest.len() == words(twins.len()),
        frontier.len() == words(twins.len()),
        seeds.len() == words(twins.len()),
        4 * parents.len() == twins.len()
    ),
    moves(cuts.bytes())
)]
pub fn cut_faces(
    i: u32,
    cuts: In<FaceSide>,
    twins: In<FaceSide>,
    largest: In<Bits<FaceSide>>,
    frontier: Atomic<Bits<FaceSide>>,
    seeds: Atomic<Bits<FaceSide>>,
    parents: Out<Tet>,
) {
    let cut = cuts.at(i);
    if cut.is_none() {
        return;
    }
    let become_frontier = |side: FaceSide| {
        frontier.set_bit(side);
        if largest.bit(side) {
            seeds.set_bit(side);
            parents.set_same(side.tet(), side.tet());
        }
    };
    become_frontier(cut);
    become_frontier(twins.at(cut));
}
