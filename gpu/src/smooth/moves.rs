//! Moves of the nodes in the last sweep.

use trioxide_kernel::{In, Out, kernel};

use super::nodes::{Layouts, Nodes, Vector};
use crate::ids::{Place, Vertex};

/// The squared move of node `i` between two arrays.
#[kernel(
    L in Layouts,
    requires(
        from.len() == to.len(),
        from.len() >= L::ELEMENTS * n,
        squares.len() >= n
    ),
    moves(2 * n * L::ELEMENTS * size_of::<L>() + squares.bytes())
)]
pub fn square_moves<L: Nodes>(i: Place, from: In<L>, to: In<L>, squares: Out<f64>) {
    squares.set(i, (L::load(to, i) - L::load(from, i)).square());
}

/// Nodes whose moves are summed together.
pub const MOVES_CHUNK: u32 = 1024;

/// Sum and maximum of the squared moves of [`MOVES_CHUNK`] nodes, in the order of ids: chunk `c`. `ranks` are their places; nodes
/// at places from `moving` on did not move.
#[kernel(
    requires(
        n == ranks.len().div_ceil(MOVES_CHUNK as usize),
        squares.len() >= moving as usize,
        sums.len() == n,
        maxima.len() == n
    ),
    moves(ranks.bytes() + squares.bytes() + sums.bytes() + maxima.bytes())
)]
pub fn sum_moves(
    c: u32,
    ranks: In<Place>,
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
        let rank = ranks.at(Vertex::new(v));
        if rank.index() < moving {
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
