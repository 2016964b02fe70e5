//! The nodes that move in a sweep: rings around inverted cells, by colours.

use trioxide_kernel::safe::{In, Out, Own};
use trioxide_kernel::{Bits, kernel};

use crate::ids::{Cell, Place, Vertex};
use crate::smooth::{Adjacency, Stars};

/// Whether node `v` has one of these cells.
#[kernel(
    requires(stars.fit(n), chosen.len() == words(stars.cells.count())),
    moves(stars.starts.bytes() + chosen.bytes() + 4 * words(n))
)]
pub fn mark_corners(v: Own<Vertex>, stars: Stars, chosen: In<Bits<Cell>>) -> bool {
    let mut s = stars.start(v);
    while s < stars.end(*v) {
        if chosen.bit(stars.cells.cell_of(stars.corner(s)).id) {
            return true;
        }
        s += 1;
    }
    false
}

/// Whether node `v` is one of these nodes, or shares a cell with one.
#[kernel(
    requires(adjacency.rows.len() == n + 1, inner.len() == words(n)),
    moves(2 * inner.bytes())
)]
pub fn grow_ring(v: Own<Vertex>, adjacency: Adjacency, inner: In<Bits<Vertex>>) -> bool {
    if inner.bit(*v) {
        return true;
    }
    let mut s = adjacency.start(v);
    while s < adjacency.end(*v) {
        if inner.bit(adjacency.neighbours.at(s)) {
            return true;
        }
        s += 1;
    }
    false
}

/// Whether the node at place `i` of the order is one of these nodes.
#[kernel(
    requires(chosen.len() == words(order.len())),
    moves(4 * n + chosen.bytes() + 4 * words(n))
)]
pub fn mark_places(i: Own<Place>, order: In<Vertex, Place>, chosen: In<Bits<Vertex>>) -> bool {
    chosen.bit(order.at(i))
}

/// The first item of an ascending list of places that is not below place `places[c]`.
#[kernel(requires(places.len() == n, firsts.len() == n))]
pub fn find_first_places(c: Own, places: In<u32>, list: In<Place, Place>, firsts: Out<u32>) {
    let place = places.at(c);
    let (mut low, mut high) = (0, list.len());
    while low < high {
        let middle = low + (high - low) / 2;
        if list.at(Place::new(middle)).index() < place {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    firsts.set(c, low);
}
