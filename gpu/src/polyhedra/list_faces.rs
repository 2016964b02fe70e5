//! Polyhedra: their tetrahedra and the sides of their surfaces.

use trioxide_kernel::{Bits, In, Out, kernel};

use super::sides_of;
use crate::collective::Rows;
use crate::ids::{FaceSide, Polyhedron, Tet};

/// Gives the root of polyhedron `p` its number; `seeds` lists the seeds, ascending.
#[kernel(requires(seeds.len() == n), moves(seeds.bytes() + 4 * n))]
pub fn number_polyhedra(p: Polyhedron, seeds: In<FaceSide>, numbers: Out<Polyhedron>) {
    numbers.set(seeds.at(p).tet(), p);
}

/// The polyhedron of tetrahedron `t`.
#[kernel(
    requires(roots.len() == n, numbers.len() == n, polyhedra.len() == n),
    moves(roots.bytes() + numbers.bytes() + polyhedra.bytes())
)]
pub fn assign_tetrahedra(
    t: Tet,
    roots: In<Tet>,
    numbers: In<Polyhedron>,
    polyhedra: Out<Polyhedron>,
) {
    polyhedra.set(t, numbers.at(roots.at(t)));
}

/// First side of polyhedron `p` in the list of all, of `tets` tetrahedra in the polyhedra before it: 2n + 2 sides for n tetrahedra.
#[inline(always)]
pub fn first_side(tets: u32, p: u32) -> u32 {
    2 * tets + 2 * p
}

/// Lists the sides of the surface of polyhedron `p`, ascending; `offsets` gets their start, and behind the last polyhedron their end.
#[kernel(
    requires(
        tets.offsets.len() == n + 1,
        offsets.len() == n + 1,
        listed.len() == 2 * tets.items.len() + 2 * n,
        8 * frontier.len() >= tets.items.len()
    ),
    moves(tets.offsets.bytes() + tets.items.bytes() + frontier.bytes() + offsets.bytes() + listed.bytes())
)]
pub fn list_faces(
    p: Polyhedron,
    tets: Rows<Tet>,
    frontier: In<Bits<FaceSide>>,
    offsets: Out<u32>,
    listed: Out<FaceSide>,
) {
    let (mut place, end) = (tets.offsets.at(p), tets.offsets.at(p.index() + 1));
    let mut slot = first_side(place, p.index());
    offsets.set(p, slot);
    if end == tets.items.len() {
        offsets.set(p.index() + 1, first_side(end, p.index() + 1));
    }
    while place < end {
        let t = tets.items.at(place);
        let mut sides = sides_of(frontier, t);
        while sides != 0 {
            listed.set(slot, FaceSide::of(t, sides.trailing_zeros()));
            sides &= sides - 1;
            slot += 1;
        }
        place += 1;
    }
}
