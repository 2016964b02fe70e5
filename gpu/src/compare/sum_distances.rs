//! Sums and extremes of distances.

use bytemuck::{Pod, Zeroable};
use trioxide_kernel::kernel;
use trioxide_kernel::safe::{In, OwnBlock, PerBlock};

/// Lanes of a block, and the distances that one adds.
pub const LANES: usize = 256;

/// The distances of a block.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub struct Sums {
    /// Their sum.
    pub sum: f64,
    /// The sum of their squares.
    pub squares: f64,
    /// The bits of the largest: of numbers that are not negative, they ascend as the numbers do.
    pub largest: u64,
}

/// The sums of each [`LANES`] distances.
#[kernel(
    requires(sums.len() == n, distances.len().div_ceil(LANES) == n),
    moves(distances.bytes() + sums.bytes())
)]
pub fn sum_distances(block: OwnBlock<LANES>, distances: In<f64>, sums: PerBlock<Sums>) {
    let own = block.lanes(|lane| {
        let i = block.index() * LANES as u32 + lane.index();
        if i < distances.len() {
            distances.at(i)
        } else {
            0.0
        }
    });
    let sum = block.sum(&own);
    let squares = block.sum(&block.lanes(|lane| own.at(lane) * own.at(lane)));
    let largest = block.max(&block.lanes(|lane| own.at(lane).to_bits()));
    block.once(|_, place| {
        sums.set(
            place,
            Sums {
                sum,
                squares,
                largest,
            },
        );
    });
}
