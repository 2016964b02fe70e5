//! Into the order of smoothing and back, and how far nodes moved.

use super::nodes::Layouts;
use trioxide_kernel::{In, Out, kernel};

use super::nodes::{Nodes, Vector};

/// Puts the point of node `order[i]` into place `i`.
#[kernel(L in Layouts)]
pub fn arrange<L: Nodes>(i: u32, order: In<u32>, points: In<<L as Nodes>::Point>, nodes: Out<L>) {
    L::store(nodes, i, points.at(order.at(i)));
}

/// Puts the node at place `i` back to the point of node `order[i]`.
#[kernel(L in Layouts)]
pub fn restore<L: Nodes>(i: u32, order: In<u32>, nodes: In<L>, points: Out<<L as Nodes>::Point>) {
    points.set(order.at(i), L::load(nodes, i));
}

/// The squared move of node `i` between two arrays.
#[kernel(L in Layouts)]
pub fn square_moves<L: Nodes>(i: u32, from: In<L>, to: In<L>, squares: Out<f64>) {
    squares.set(i, (L::load(to, i) - L::load(from, i)).square());
}

/// Nodes whose moves are summed together.
pub const MOVES_CHUNK: u32 = 1024;

/// Sum and maximum of the squared moves of nodes `1024 c` and on, in the order of ids; `ranks` are their places, and those
/// from `moving` on did not move.
#[kernel]
pub fn sum_moves(
    c: u32,
    ranks: In<u32>,
    squares: In<f64>,
    moving: u32,
    sums: Out<f64>,
    maxima: Out<f64>,
) {
    let mut sum = 0.0;
    let mut maximum = 0.0;
    let mut v = c * MOVES_CHUNK;
    let end = (v + MOVES_CHUNK).min(ranks.len());
    while v < end {
        let rank = ranks.at(v);
        if rank < moving {
            let square = squares.at(rank);
            sum += square;
            if square > maximum {
                maximum = square;
            }
        }
        v += 1;
    }
    sums.set(c, sum);
    maxima.set(c, maximum);
}
