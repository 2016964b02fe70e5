//! The order of nodes in memory during smoothing: the moving nodes first, then the others, each group along a
//! space-filling curve.
//!
//! Neighbours are near in space, so near on the curve and in memory. A node's sum still takes its neighbours in the
//! order of the caller's ids, so that the result does not depend on the order in memory.

use trioxide_kernel::safe::{Atomic, In, Out, Own, Parts, Scatter};
use trioxide_kernel::{Bits, Index, kernel};

use super::classes::{found, raise};
use super::neighbours::Adjacency;
use crate::curve::through_cube;
use crate::ids::{Place, Vertex};
use crate::point3::{Point3, Spatial};

/// Most bits of a coordinate in a key.
pub const MOST_CURVE_BITS: u32 = 10;

/// Spreads the lowest ten bits: bit i goes to bit 3i.
#[inline(always)]
fn spread(x: u32) -> u32 {
    let x = x & 0x3FF;
    let x = (x | x << 16) & 0x0300_00FF;
    let x = (x | x << 8) & 0x0300_F00F;
    let x = (x | x << 4) & 0x030C_30C3;
    (x | x << 2) & 0x0924_9249
}

/// The place of node `v` along Hilbert's curve.
///
/// The curve runs through a grid of 2^bits cells a side, whose lowest corner is at `low_*` and which has `scale` cells
/// a unit of length. Nodes that stay also have bit number 3 bits set: they come after the moving nodes.
#[kernel(
    P in Spatial,
    requires(
        points.len() == n,
        moving.len() == words(n),
        keys.len() == n,
        bits > 0,
        bits <= MOST_CURVE_BITS
    ),
    moves(points.bytes() + moving.bytes() + keys.bytes())
)]
pub fn key_nodes<P: Point3>(
    v: Own<Vertex>,
    points: In<P, Vertex>,
    moving: In<Bits<Vertex>>,
    keys: Out<u32, Vertex>,
    low_x: f64,
    low_y: f64,
    low_z: f64,
    scale: f64,
    bits: u32,
) {
    let point = points.at(v).to_f64();
    let last = (1u32 << bits) - 1;
    // The conversion saturates.
    let cell = |x: f64, low: f64| (((x - low) * scale) as u32).min(last);
    let [x, y, z] = through_cube(
        [
            cell(point.x, low_x),
            cell(point.y, low_y),
            cell(point.z, low_z),
        ],
        bits,
    );
    let stays = u32::from(!moving.bit(*v)) << ((3 * bits) & 31);
    keys.set(v, stays | spread(x) << 2 | spread(y) << 1 | spread(z));
}

/// Writes the class of node `list[i]` to `keys`, and the highest class.
#[kernel(
    requires(
        classes.len() == list.len(),
        keys.len() == n,
        found.len() == found::COUNT
    ),
    moves(12 * n)
)]
pub fn key_by_class(
    i: Own<Place>,
    list: In<Vertex, Place>,
    classes: In<u32, Vertex>,
    keys: Out<u32, Place>,
    found: Atomic,
) {
    let class = classes.at(list.at(i));
    keys.set(i, class);
    raise(found, found::MOST, class);
}

/// Copies item `places[i]` of a list to place `first + i` of another.
#[kernel(
    requires(places.len() == n, to.len() >= first as usize + n),
    moves(12 * n)
)]
pub fn pick(
    i: Own,
    places: In<Place>,
    from: In<Vertex, Place>,
    to: Scatter<Vertex, Place>,
    first: u32,
) {
    to.set(Place::new(first + i.get()), from.at(places.at(i)));
}

/// Number of neighbours of node `order[i]`.
#[kernel(
    requires(rows.len() == order.len() + 1),
    moves(12 * n)
)]
pub fn measure_row(
    i: Own<Place>,
    order: In<Vertex, Place>,
    rows: In<u32, Vertex>,
    lengths: Out<u32, Place>,
) {
    let v = order.at(i);
    lengths.set(i, rows.at(Vertex::new(v.index() + 1)) - rows.at(v));
}

/// Lanes for each row of [`order_row()`], which read and write side by side. Lists of neighbours have room for three
/// places a node and one a corner, with 32-bit indices, so the lanes have 32-bit indices too.
pub const ROW_LANES: u32 = 4;

/// Writes the neighbours of node `order[i / ROW_LANES]` by their places, in the order of their ids, and their weights
/// unless all are equal: every fourth one, from the `i % ROW_LANES`-th on.
#[kernel(
    requires(
        n.is_multiple_of(ROW_LANES as usize),
        order.len() >= n / ROW_LANES as usize,
        ranks.len() == order.len(),
        adjacency.rows.len() == order.len() + 1,
        weights.is_empty() || weights.len() == adjacency.neighbours.len(),
        new_rows.len() == n / ROW_LANES as usize + 1,
        new_weights.len() == if weights.is_empty() { 0 } else { new_neighbours.len() }
    ),
    moves(
        2 * n + ranks.bytes() + new_rows.bytes() + 2 * (new_neighbours.bytes() + new_weights.bytes())
    )
)]
pub fn order_row(
    i: Own<Parts<Place, ROW_LANES>>,
    order: In<Vertex, Place>,
    ranks: In<Place, Vertex>,
    adjacency: Adjacency,
    weights: In<f64>,
    new_rows: In<u32, Place>,
    new_neighbours: Scatter<Place>,
    new_weights: Scatter<f64>,
) {
    let row = Place::new(i.index() / ROW_LANES);
    let from = adjacency.start(order.at(row));
    let to = new_rows.at(row);
    let count = new_rows.at(Place::new(row.index() + 1)) - to;
    let mut k = i.index() % ROW_LANES;
    while k < count {
        new_neighbours.set(to + k, ranks.at(adjacency.neighbours.at(from + k)));
        if !weights.is_empty() {
            new_weights.set(to + k, weights.at(from + k));
        }
        k += ROW_LANES;
    }
}
