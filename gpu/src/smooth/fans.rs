//! Neighbours of nodes by half-edges, of surfaces that have such: no list of cells, and none of neighbours by id.
//!
//! The triangles around a node inside of the surface are a fan: a half-edge that starts at the node leads across its
//! predecessor to the next one. An edge is there once, so each half-edge of the fan leads to another neighbour. A node
//! at which several fans touch has more half-edges than its fan: the host compares their numbers, and takes the lists
//! of cells then. Fans are walked in the order of the curve, in which triangles of neighbours are read together.

use trioxide_kernel::rows::sort;
use trioxide_kernel::safe::{Atomic, In, Out, Own};
use trioxide_kernel::{Bits, Each, kernel};

use crate::ids::{HalfEdge, Item, Place, Triangle, Vertex};

/// Most neighbours that are sorted in registers.
const FEW: usize = 12;

/// Marks the nodes of the `j`-th edge of the boundary.
#[kernel(requires(border.len() == n))]
pub fn mark_border_nodes(
    j: Own<Item>,
    border: In<HalfEdge, Item>,
    origins: In<Vertex, HalfEdge>,
    on_boundary: Atomic<Bits<Vertex>>,
) {
    let h = border.at(j);
    on_boundary.set_bit(origins.at(h));
    on_boundary.set_bit(origins.at(h.next()));
}

/// Whether node `v` moves, and whether it stays: it moves if it is not fixed and a half-edge starts at it.
#[kernel(
    requires(fixed.len() == words(n), first.len() == n),
    moves(3 * fixed.bytes() + first.bytes())
)]
pub fn mark_moving_fans(
    v: Own<Vertex>,
    fixed: In<Bits<Vertex>>,
    first: In<HalfEdge, Vertex>,
) -> (bool, bool) {
    let moves = !fixed.bit(*v) && first.at(v).is_some();
    (moves, !moves)
}

/// Whether the node that each half-edge of triangle `t` starts at moves.
#[kernel(
    members = HalfEdge,
    requires(origins.len() == 3 * n),
    moves(origins.bytes() + moving.bytes() + 4 * words(3 * n)), trusted
)]
pub fn mark_moving_corners(
    t: Own<Triangle>,
    origins: In<Vertex, HalfEdge>,
    moving: In<Bits<Vertex>>,
) -> [bool; 3] {
    moving.bit_all(origins.at_all([t.part(0), t.part(1), t.part(2)]))
}

/// Number of neighbours of node `order[i]`, which moves, in its fan.
#[kernel(
    requires(order.len() >= n, first.len() == order.len(), lengths.len() > n),
    moves(12 * n + twins.bytes()), trusted
)]
pub fn count_fans(
    i: Own<Place>,
    order: In<Vertex, Place>,
    first: In<HalfEdge, Vertex>,
    twins: In<HalfEdge, HalfEdge>,
    lengths: Out<u32, Place>,
) {
    let start = first.at(order.at(i));
    let mut h = twins.at(start.prev());
    let mut count = 1;
    // Beyond the boundary a twin is no half-edge of a triangle.
    while h != start && h.index() < twins.len() {
        h = twins.at(h.prev());
        count += 1;
    }
    lengths.set(i, count);
}

/// Writes the neighbours of node `order[i]` by their places, in the order of their ids.
#[kernel(
    requires(order.len() >= n, first.len() == order.len(), ranks.len() == order.len(), rows.len() == n + 1),
    moves(12 * n + origins.bytes() + twins.bytes() + ranks.bytes() + neighbours.bytes())
)]
pub fn order_fans(
    i: Place,
    order: In<Vertex, Place>,
    first: In<HalfEdge, Vertex>,
    origins: In<Vertex, HalfEdge>,
    twins: In<HalfEdge, HalfEdge>,
    ranks: In<Place, Vertex>,
    rows: In<u32, Place>,
    // Numbers of places, and of vertices before: the sort is one of numbers.
    neighbours: trioxide_kernel::Out<u32>,
) {
    let (from, end) = (rows.at(i), rows.at(Place::new(i.index() + 1)));
    let count = end - from;
    let mut h = first.at(order.at(i));
    let place = |v: u32| ranks.at(Vertex::new(v)).index();
    if count <= FEW as u32 {
        let mut sorted = [u32::MAX; FEW];
        let mut left = count;
        while left > 0 {
            let mut id = origins.at(h.next()).index();
            // Each slot keeps the smaller one and passes the other on: without branches, and in registers.
            sorted = sorted.each(|slot| {
                let smaller = slot.min(id);
                id = slot.max(id);
                smaller
            });
            h = twins.at(h.prev());
            left -= 1;
        }
        let mut to = from;
        _ = sorted.each(|v| {
            if to < end {
                neighbours.set(to, place(v));
            }
            to += 1;
        });
        return;
    }
    let mut to = from;
    while to < end {
        neighbours.set(to, origins.at(h.next()).index());
        h = twins.at(h.prev());
        to += 1;
    }
    sort(neighbours, from, end);
    to = from;
    while to < end {
        neighbours.set(to, place(neighbours.at(to)));
        to += 1;
    }
}
