//! Moves of the nodes in the last sweep.

use trioxide_kernel::safe::{self, Own};
use trioxide_kernel::{Block, In, Out, Shared, SharedMemory, kernel};

use super::nodes::{Layouts, Nodes, Vector};
use crate::ids::{Place, Vertex};

/// The squared move of node `i` between two arrays.
#[kernel(
    L in Layouts,
    requires(
        from.len() == to.len(),
        from.len() >= L::ELEMENTS * n
    ),
    moves(2 * n * L::ELEMENTS * size_of::<L>() + squares.bytes())
)]
pub fn square_moves<L: Nodes>(
    i: Own<Place>,
    from: safe::In<L>,
    to: safe::In<L>,
    squares: safe::Out<f64, Place>,
) {
    let point = |nodes: safe::In<L>| L::read(nodes.len(), |k| nodes.at(k), *i);
    squares.set(i, (point(to) - point(from)).square());
}

/// Nodes whose moves are summed together.
pub const MOVES_CHUNK: u32 = 1024;

/// Lanes of a block that sums.
const LANES: usize = 256;

/// The squared moves of a chunk.
#[derive(SharedMemory)]
pub struct Chunk {
    squares: Shared<f64, { MOVES_CHUNK as usize }>,
}

/// Sum and maximum of the squared moves of [`MOVES_CHUNK`] nodes, in the order of ids: `sums[2c]` and `sums[2c + 1]`
/// for chunk c. `ranks` are the places of the nodes; nodes at places from `moving` on did not move.
///
/// All lanes read, and one adds, in the order of ids: a sum does not depend on the number of lanes.
#[kernel(
    requires(
        n == ranks.len().div_ceil(MOVES_CHUNK as usize),
        squares.len() >= moving as usize,
        sums.len() == 2 * n
    ),
    moves(ranks.bytes() + squares.bytes() + sums.bytes())
)]
pub fn sum_moves(
    block: &Block<LANES, Chunk>,
    ranks: In<Place>,
    squares: In<f64>,
    moving: u32,
    sums: Out<f64>,
) {
    let chunk = &block.shared().squares;
    block.phase(|lane| {
        let mut i = lane.index();
        while i < MOVES_CHUNK {
            let v = block.index() * MOVES_CHUNK + i;
            let mut square = 0.0;
            if v < ranks.len() {
                let rank = ranks.at(Vertex::new(v));
                if rank.index() < moving {
                    square = squares.at(rank);
                }
            }
            // Adding 0 does not change a sum of squares.
            chunk.set(lane, i, square);
            i += LANES as u32;
        }
    });
    block.lanes(|lane| {
        // Two lanes of different warps.
        if lane.index() == 0 {
            let mut sum = 0.0;
            let mut i = 0;
            while i < MOVES_CHUNK {
                sum += chunk.at(i);
                i += 1;
            }
            sums.set(2 * block.index(), sum);
        } else if lane.index() == 32 {
            let mut maximum = 0.0;
            let mut i = 0;
            while i < MOVES_CHUNK {
                let square = chunk.at(i);
                if square > maximum {
                    maximum = square;
                }
                i += 1;
            }
            sums.set(2 * block.index() + 1, maximum);
        }
    });
}
