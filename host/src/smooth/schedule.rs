//! The length and the end of sweeps, and the moves of the last one.

use gpu::smooth::{self as kernel, MOVES_CHUNK, Nodes, SWEEP_LANES};
use trioxide_kernel::launch::Buffer;

use super::options::{Filter, Options};
use super::order::Ordered;
use crate::Result;
use crate::device::Device;

/// Blocks of a sweep over `count` nodes.
pub(super) fn blocks(count: u32) -> u32 {
    count.div_ceil(SWEEP_LANES as u32)
}

/// Stopping and length of sweeps.
#[derive(Clone, Copy, Debug)]
pub struct Schedule {
    /// A sweep that moves each node by less is the last.
    pub tolerance: f64,
    /// Most sweeps.
    pub max_sweeps: u32,
    /// Length of the sweeps' moves.
    pub method: Filter,
}

impl Schedule {
    /// The schedule of some options.
    pub fn new(options: &Options) -> Self {
        Self {
            tolerance: options.tolerance,
            max_sweeps: options.max_iterations,
            method: options.method,
        }
    }

    /// The tolerance as kernels compare it.
    pub(super) fn square(&self) -> f64 {
        self.tolerance * self.tolerance
    }

    /// Part of the way to the mean in sweep number `sweep`: 1 is all the way.
    pub fn factor(&self, sweep: u32) -> f64 {
        self.method.factors()[sweep as usize % 2]
    }

    /// A sweep of form A over all nodes that move, from one array to another. It has index `k` in `moved`, and a
    /// number.
    pub(super) fn sweep_form_a<L: Nodes>(
        &self,
        on: &Device,
        ordered: &Ordered,
        from: &Buffer<L>,
        to: &mut Buffer<L>,
        moved: &mut Buffer<u32>,
        (k, sweep): (u32, u32),
    ) -> Result<()> {
        // SAFETY: neighbours are places of the nodes.
        unsafe {
            kernel::sweep_form_a::launch(
                on,
                blocks(ordered.moving),
                ordered.neighbourhood(),
                from,
                to,
                moved,
                k,
                ordered.moving,
                self.factor(sweep),
                self.square(),
            )
        }?;
        Ok(())
    }
}

/// Number of sweeps, and the moves of the last one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moves {
    /// Number of sweeps.
    pub sweeps: u32,
    /// Whether the last one moved each node by less than the tolerance.
    pub converged: bool,
    /// Largest move of a node in the last sweep.
    pub max_displacement: f64,
    /// Root of the mean squared move, of the nodes that may move, in the last sweep.
    pub rms_displacement: f64,
}

impl Moves {
    /// Measures the moves of the last sweep, from their squares.
    pub(super) fn measure(
        &mut self,
        on: &Device,
        ordered: &Ordered,
        squares: &Buffer<f64>,
    ) -> Result<()> {
        let (ranks, count) = (&ordered.ranks, ordered.moving);
        on.stage("moves", || {
            let chunks = ranks.len().div_ceil(MOVES_CHUNK as usize);
            let mut sums = on.uninitialized(2 * chunks)?;
            // SAFETY: places below `count` have a square.
            unsafe {
                kernel::sum_moves::launch(on, chunks as u32, ranks, squares, count, &mut sums)
            }?;
            let sums = on.download(&sums)?;
            let sum: f64 = sums.iter().step_by(2).sum();
            let max = sums.iter().skip(1).step_by(2).copied().fold(0.0, f64::max);
            self.max_displacement = max.sqrt();
            self.rms_displacement = (sum / f64::from(count)).sqrt();
            Ok(())
        })
    }
}
