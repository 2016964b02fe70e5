//! The pieces of the next level.

use trioxide_kernel::kernel;
use trioxide_kernel::rows::rank_of;
use trioxide_kernel::safe::{In, Out, Own};

use super::{Extent, Joined};
use crate::ids::{Corner, Item, Polygon};

/// Whether piece `p` gives its id to the piece that it belongs to.
#[kernel(requires(groups.len() == n))]
pub fn is_first(p: Own<Polygon>, groups: In<Polygon, Polygon>) -> bool {
    let group = groups.at(p);
    group.is_none() || group == p.get()
}

/// The piece that piece `p` belongs to in the next level. `ranks` are the ranks of [`is_first()`]
/// ([`rank_of()`](trioxide_kernel::rows::rank_of())).
#[kernel(
    requires(groups.len() == n, parents.len() == n),
    moves(groups.bytes() + ranks.bytes() + parents.bytes())
)]
pub fn write_parents_of_pieces(
    p: Own<Polygon>,
    groups: In<Polygon, Polygon>,
    ranks: In<u32>,
    parents: Out<Polygon, Polygon>,
) {
    let group = groups.at(p);
    let first = if group.is_none() { p.get() } else { group };
    parents.set(p, Polygon::new(rank_of(ranks, first)));
}

/// The box of piece `i` of the next level, which has its id from piece `firsts[i]`.
#[kernel(
    requires(firsts.len() == n, larger.len() == n),
    moves(firsts.bytes() + boxes.bytes() + larger.bytes())
)]
pub fn join_boxes(
    i: Own<Item>,
    firsts: In<Polygon, Item>,
    joined: Joined,
    boxes: In<Extent, Polygon>,
    larger: Out<Extent, Item>,
) {
    let mut extent = boxes.at(firsts.at(i));
    let mut k = 1;
    while k < 4 {
        let p = joined.piece(firsts.at(i), k);
        if p.is_some() {
            extent = extent.with(boxes.at(p));
        }
        k += 1;
    }
    larger.set(i, extent);
}

/// Puts side `c` of a polyhedron into the piece of the next level.
#[kernel(
    requires(pieces.len() == n),
    moves(2 * pieces.bytes() + parents.bytes())
)]
pub fn move_sides_of_polyhedra(
    c: Own<Corner>,
    parents: In<Polygon, Polygon>,
    pieces: Out<Polygon, Corner>,
) {
    pieces.set(c, parents.at(pieces.at(c)));
}
