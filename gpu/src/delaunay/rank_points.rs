//! The rank of each point: its place in the order of [`reorder`](crate::reorder), by which triangles are ordered and
//! points lie in cells.

use glam::DVec2;
use trioxide_kernel::kernel;
use trioxide_kernel::rows::rank_in;
use trioxide_kernel::safe::{Atomic, In, Out, Own, Scatter};

use crate::ids::{Place, Vertex};
use crate::point::{Planar, Point2};

/// Takes the point at place `i` in double precision. `found[0]` becomes the lowest vertex that is equal to one before
/// it.
#[kernel(
    P in Planar,
    requires(points.len() == n, order.len() == n, sorted.len() == n, found.len() == 1),
    moves(points.bytes() + order.bytes() + sorted.bytes())
)]
pub fn take_sorted<P: Point2>(
    i: Own<Place>,
    points: In<P, Place>,
    order: In<Vertex, Place>,
    sorted: Out<DVec2, Place>,
    found: Atomic,
) {
    let point = points.at(i).to_f64();
    sorted.set(i, point);
    let place = i.get().index();
    if place > 0 && points.at(Place::new(place - 1)).to_f64() == point {
        found.min(0u32, order.at(i).index());
    }
}

/// Whether the point at place `i` is the first of its equals.
#[kernel(requires(sorted.len() == n), moves(sorted.bytes()))]
pub fn find_firsts(i: Own<Place>, sorted: In<DVec2, Place>) -> bool {
    let place = i.get().index();
    place == 0 || sorted.at(Place::new(place - 1)) != sorted.at(i)
}

/// Writes the first of its equals for the vertex at place `i`. `firsts` has these first vertices in the order of their
/// places, and `ranks` counts the places that have one ([`rank_of()`](trioxide_kernel::rows::rank_of())).
#[kernel(
    requires(order.len() == n),
    moves(2 * order.bytes() + ranks.bytes() + firsts.bytes())
)]
pub fn map_to_firsts(
    i: Own<Place>,
    order: In<Vertex, Place>,
    ranks: In<u32>,
    firsts: In<Vertex>,
    map: Scatter<Vertex, Vertex>,
) {
    let pair = ranks.pair(i.get().index() / 32 * 2);
    let is_first = pair[0] >> (i.get().index() % 32) & 1;
    map.set(order.at(i), firsts.at(rank_in(pair, *i) + is_first - 1));
}
