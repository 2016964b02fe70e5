//! The order in which nodes lie in memory while they are smoothed: those that move first, each kind along a space-filling
//! curve.
//!
//! Neighbours are near in space, so near on the curve and in memory. A node's sum still takes its neighbours in the order
//! of the caller's ids, so that the order in memory does not show in the result.

use crate::point3::Spatial;
use trioxide_kernel::{In, Out, kernel};

use crate::point3::Point3;

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

/// The place of node `v` along Hilbert's curve through a grid of 2^bits cells a side.
///
/// The grid's corner is at `low_*` and it has `scale` cells a unit of length. The curve is Skilling's: Programming the Hilbert
/// curve (2004).
#[kernel(P in Spatial)]
pub fn key_nodes<P: Point3>(
    v: u32,
    points: In<P>,
    keys: Out<u32>,
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
    let mut x = cell(point.x, low_x);
    let mut y = cell(point.y, low_y);
    let mut z = cell(point.z, low_z);
    let mut bit = bits - 1;
    while bit > 0 {
        let q = 1u32 << bit;
        let below = q - 1;
        if x & q != 0 {
            x ^= below;
        }
        let turn = |x: u32, other: u32| {
            if other & q != 0 {
                (x ^ below, other)
            } else {
                let t = (x ^ other) & below;
                (x ^ t, other ^ t)
            }
        };
        (x, y) = turn(x, y);
        (x, z) = turn(x, z);
        bit -= 1;
    }
    y ^= x;
    z ^= y;
    let mut t = 0;
    let mut bit = bits - 1;
    while bit > 0 {
        if z & (1u32 << bit) != 0 {
            t ^= (1u32 << bit) - 1;
        }
        bit -= 1;
    }
    keys.set(v, spread(x ^ t) << 2 | spread(y ^ t) << 1 | spread(z ^ t));
}

/// Whether bit `bit` of the key of node `list[i]` is 0, and whether it is 1: a pass of a radix sort.
#[kernel]
pub fn split_by_bit(i: u32, list: In<u32>, keys: In<u32>, bit: u32) -> (bool, bool) {
    let one = keys.at(list.at(i)) >> bit & 1 != 0;
    (!one, one)
}

/// Whether node `list[i]` moves, and whether it stays.
#[kernel]
pub fn split_moving(i: u32, list: In<u32>, moving: In<u32>) -> (bool, bool) {
    let moves = moving.bit(list.at(i));
    (moves, !moves)
}

/// Whether the class of node `list[i]` is `class`.
#[kernel]
pub fn select_class(i: u32, list: In<u32>, classes: In<u32>, class: u32) -> bool {
    classes.at(list.at(i)) == class
}

/// Puts item `places[i]` of a list into place `first + i` of another.
#[kernel]
pub fn pick(i: u32, places: In<u32>, from: In<u32>, to: Out<u32>, first: u32) {
    to.set(first + i, from.at(places.at(i)));
}

/// Each index, as an element.
#[kernel]
pub fn count_up(i: u32, list: Out<u32>) {
    list.set(i, i);
}

/// Puts the place of node `order[i]` into `ranks`.
#[kernel]
pub fn rank_nodes(i: u32, order: In<u32>, ranks: Out<u32>) {
    ranks.set(order.at(i), i);
}

/// Number of neighbours of node `order[i]`.
#[kernel]
pub fn measure_row(i: u32, order: In<u32>, rows: In<u32>, lengths: Out<u32>) {
    let v = order.at(i);
    lengths.set(i, rows.at(v + 1) - rows.at(v));
}

/// Writes the neighbours of node `order[i]` by their places, in the order of their ids; their weights too if there are some.
#[kernel]
pub fn order_row(
    i: u32,
    order: In<u32>,
    ranks: In<u32>,
    rows: In<u32>,
    neighbours: In<u32>,
    weights: In<f64>,
    new_rows: In<u32>,
    new_neighbours: Out<u32>,
    new_weights: Out<f64>,
) {
    let from = rows.at(order.at(i));
    let to = new_rows.at(i);
    let count = new_rows.at(i + 1) - to;
    let mut k = 0;
    while k < count {
        new_neighbours.set(to + k, ranks.at(neighbours.at(from + k)));
        if !weights.is_empty() {
            new_weights.set(to + k, weights.at(from + k));
        }
        k += 1;
    }
}
