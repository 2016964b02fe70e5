//! Sweeps until no node moves by the tolerance, and the moves of the last one.

use gpu::smooth::{
    self as kernel, CLASS_NODES, MOVES_CHUNK, Nodes, SWEEP_LANES, StarsBuffers,
    one_block_sweeps::outcome,
};
use trioxide_kernel::launch::Buffer;

use super::options::{Blocks, Form, Method};
use super::order::Ordered;
use super::schedule::{Moves, Schedule};
use crate::Result;
use crate::backend::Device;
use crate::progress;

/// Sweeps between two reads of the result by the host; even.
const BATCH: u32 = 16;
/// Sweeps of one block between two reads of the result by the host; even.
const ONE_BLOCK_BATCH: u32 = 64;

/// Nodes of a mean class under which a block reads its nodes' neighbours together, unless they have weights. On an H200 that took
/// 0.85 to 1.07 of a lane's own reads' time with 600 and 7,000 nodes a class, and 1.3 and more with 24,000 and 1.6M.
const SMALL_CLASS: usize = 10_000;

/// A run of sweeps.
pub(super) struct Sweeps<'a> {
    pub(super) on: &'a Device,
    /// Nodes, with the classes that the form needs.
    pub(super) ordered: &'a Ordered,
    /// The positions that a sweep takes.
    pub(super) form: Form,
    /// Blocks that sweep.
    pub(super) blocks: Blocks,
    /// For sweeps by colours: the cells that no move may harm. No two nodes of a class share one.
    pub(super) guard: Option<StarsBuffers<'a>>,
    pub(super) schedule: Schedule,
}

/// Launches a sweep: the array of movements, the sweep's index in it, and its number.
type LaunchSweep<'a> = &'a mut dyn FnMut(&mut Buffer<u32>, u32, u32) -> Result<()>;
/// Launches a batch of sweeps: its outcome, the number of sweeps, and the factors.
type LaunchBatch<'a> = &'a mut dyn FnMut(&mut Buffer<u32>, u32, [f64; 2]) -> Result<()>;

impl Sweeps<'_> {
    /// Smooths nodes, which lie in the order.
    pub(super) fn run<L: Nodes>(&self, mut nodes: Buffer<L>) -> Result<(Buffer<L>, Moves)> {
        let on = self.on;
        let mut moves = Moves::default();
        let count = self.ordered.moving;
        if count == 0 || self.schedule.max_sweeps == 0 {
            moves.converged = count == 0;
            return Ok((nodes, moves));
        }
        let mut squares;
        if self.form == Form::A {
            let before = on.stage("sweeps", || {
                let mut other = on.duplicate(&nodes)?;
                match (self.schedule.method, self.blocks) {
                    (Method::Hc { alpha, beta }, _) => {
                        self.hc(&mut nodes, &mut other, [alpha, beta], &mut moves)
                    }
                    (_, Blocks::Many) => self.form_a(&mut nodes, &mut other, &mut moves),
                    (_, Blocks::One) => self.form_a_by_one(&mut nodes, &mut other, &mut moves),
                }?;
                if moves.sweeps % 2 == 1 {
                    std::mem::swap(&mut nodes, &mut other);
                }
                Ok(other)
            })?;
            squares = on.uninitialized(count as usize)?;
            on.stage("moves", || {
                // SAFETY: both arrays have all nodes; `count` nodes move.
                unsafe { kernel::square_moves::launch(on, count, &before, &nodes, &mut squares) }?;
                Ok(())
            })?;
        } else {
            squares = on.uninitialized(count as usize)?;
            on.stage("sweeps", || match (self.form, self.blocks) {
                (Form::B, Blocks::One) => self.form_b_by_one(&mut nodes, &mut squares, &mut moves),
                (Form::B, Blocks::Many) => self.racing(&mut nodes, &mut squares, &mut moves),
                _ => self.by_class(&mut nodes, &mut squares, &mut moves),
            })?;
        }
        self.measure(&squares, &mut moves)?;
        Ok((nodes, moves))
    }

    /// The moves of the last sweep.
    fn measure(&self, squares: &Buffer<f64>, moves: &mut Moves) -> Result<()> {
        let (on, ranks, count) = (self.on, &self.ordered.ranks, self.ordered.moving);
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
            moves.max_displacement = max.sqrt();
            moves.rms_displacement = (sum / f64::from(count)).sqrt();
            Ok(())
        })
    }

    /// Launches sweeps in batches. `launch` gets the array `moved` of the kernels, the index of a sweep in it, and the number of
    /// the sweep.
    fn in_batches(&self, moves: &mut Moves, launch: LaunchSweep<'_>) -> Result<()> {
        let max_sweeps = self.schedule.max_sweeps;
        let sweeps = progress::count("sweep", u64::from(max_sweeps));
        while moves.sweeps < max_sweeps && !moves.converged {
            progress::check()?;
            let batch = BATCH.min(max_sweeps - moves.sweeps);
            let mut start = vec![0; batch as usize + 1];
            start[0] = 1;
            let mut moved = self.on.upload(&start)?;
            for k in 0..batch {
                launch(&mut moved, k, moves.sweeps + k)?;
            }
            let moved = self.on.download(&moved)?;
            let going = moved.iter().take_while(|&&moved| moved != 0).count() as u32;
            let done = going.min(batch);
            moves.sweeps += done;
            sweeps.reach(u64::from(moves.sweeps));
            moves.converged = going <= batch;
        }
        Ok(())
    }

    fn form_a<L: Nodes>(
        &self,
        nodes: &mut Buffer<L>,
        other: &mut Buffer<L>,
        moves: &mut Moves,
    ) -> Result<()> {
        let (neighbourhood, count) = (self.ordered.neighbourhood(), self.ordered.moving);
        // A batch that is not the last has an even number of sweeps, so that each begins at `nodes`.
        self.in_batches(moves, &mut |moved, k, sweep| {
            let (from, to) = alternate(k, nodes, other);
            // SAFETY: neighbours are places of the nodes.
            unsafe {
                kernel::sweep_form_a::launch(
                    self.on,
                    blocks(count),
                    neighbourhood,
                    from,
                    to,
                    moved,
                    k,
                    count,
                    self.schedule.factor(sweep),
                    self.schedule.square(),
                )
            }?;
            Ok(())
        })
    }

    fn hc<L: Nodes>(
        &self,
        nodes: &mut Buffer<L>,
        other: &mut Buffer<L>,
        [alpha, beta]: [f64; 2],
        moves: &mut Moves,
    ) -> Result<()> {
        let on = self.on;
        let (neighbourhood, count) = (self.ordered.neighbourhood(), self.ordered.moving);
        let all = self.ordered.order.len() as u32;
        let start = on.duplicate(nodes)?;
        let mut excess = on.uninitialized(nodes.len())?;
        self.in_batches(moves, &mut |moved, k, _| {
            let (from, to) = alternate(k, nodes, other);
            // SAFETY: neighbours are places of the nodes.
            unsafe {
                kernel::measure_excess::launch(
                    on,
                    all,
                    neighbourhood,
                    &start,
                    from,
                    &mut excess,
                    moved,
                    k,
                    count,
                    alpha,
                )
            }?;
            // SAFETY: as above.
            unsafe {
                kernel::sweep_hc::launch(
                    on,
                    blocks(count),
                    neighbourhood,
                    &start,
                    &excess,
                    from,
                    to,
                    moved,
                    k,
                    count,
                    alpha,
                    beta,
                    self.schedule.square(),
                )
            }?;
            Ok(())
        })
    }

    fn racing<L: Nodes>(
        &self,
        nodes: &mut Buffer<L>,
        squares: &mut Buffer<f64>,
        moves: &mut Moves,
    ) -> Result<()> {
        let (neighbourhood, count) = (self.ordered.neighbourhood(), self.ordered.moving);
        self.in_batches(moves, &mut |moved, k, sweep| {
            // SAFETY: neighbours are places of the nodes, whose accesses are atomic.
            unsafe {
                kernel::sweep_racing::launch(
                    self.on,
                    blocks(count),
                    neighbourhood,
                    nodes,
                    squares,
                    moved,
                    k,
                    count,
                    self.schedule.factor(sweep),
                    self.schedule.square(),
                )
            }?;
            Ok(())
        })
    }

    fn by_class<L: Nodes>(
        &self,
        nodes: &mut Buffer<L>,
        squares: &mut Buffer<f64>,
        moves: &mut Moves,
    ) -> Result<()> {
        self.in_batches(moves, &mut |moved, k, sweep| {
            for &places in &self.ordered.classes {
                self.class(nodes, squares, moved, (k, sweep), places)?;
            }
            Ok(())
        })
    }

    /// A sweep over one class: `count` places from `first` on. The sweep has index `k` in `moved`, and a number.
    pub(super) fn class<L: Nodes>(
        &self,
        nodes: &mut Buffer<L>,
        squares: &mut Buffer<f64>,
        moved: &mut Buffer<u32>,
        (k, sweep): (u32, u32),
        (first, count): (u32, u32),
    ) -> Result<()> {
        let (on, ordered) = (self.on, self.ordered);
        let neighbourhood = ordered.neighbourhood();
        let is_small = neighbourhood.weights.is_empty()
            && (ordered.moving as usize) < SMALL_CLASS * ordered.classes.len();
        let (factor, tolerance) = (self.schedule.factor(sweep), self.schedule.square());
        match self.guard {
            // SAFETY: no two nodes of a class share a cell; order and ranks are inverse.
            Some(stars) => unsafe {
                kernel::sweep_guarded::launch(
                    on,
                    blocks(count),
                    stars,
                    &ordered.order,
                    &ordered.ranks,
                    neighbourhood,
                    nodes,
                    squares,
                    moved,
                    k,
                    first,
                    count,
                    factor,
                    tolerance,
                )
            },
            // SAFETY: no two nodes of a class are neighbours.
            None if is_small => unsafe {
                kernel::sweep_small_class::launch(
                    on,
                    count.div_ceil(CLASS_NODES as u32),
                    neighbourhood,
                    nodes,
                    squares,
                    moved,
                    k,
                    first,
                    count,
                    factor,
                    tolerance,
                )
            },
            // SAFETY: as above.
            None => unsafe {
                kernel::sweep_class::launch(
                    on,
                    blocks(count),
                    neighbourhood,
                    nodes,
                    squares,
                    moved,
                    k,
                    first,
                    count,
                    factor,
                    tolerance,
                )
            },
        }?;
        Ok(())
    }

    /// The block's launches: `launch` does up to a number of sweeps, by the two factors.
    fn by_one_block(&self, moves: &mut Moves, launch: LaunchBatch<'_>) -> Result<()> {
        let schedule = &self.schedule;
        let sweeps = progress::count("sweep", u64::from(schedule.max_sweeps));
        while moves.sweeps < schedule.max_sweeps && !moves.converged {
            progress::check()?;
            let batch = ONE_BLOCK_BATCH.min(schedule.max_sweeps - moves.sweeps);
            let mut result = self.on.uninitialized(outcome::COUNT)?;
            // A batch that is not the last has an even number of sweeps, so that it begins with the first factor.
            launch(&mut result, batch, schedule.method.factors())?;
            let result = self.on.download(&result)?;
            let done = result[outcome::SWEEPS as usize];
            moves.sweeps += done;
            sweeps.reach(u64::from(moves.sweeps));
            moves.converged = result[outcome::MOVED as usize] == 0;
        }
        Ok(())
    }

    fn form_a_by_one<L: Nodes>(
        &self,
        nodes: &mut Buffer<L>,
        other: &mut Buffer<L>,
        moves: &mut Moves,
    ) -> Result<()> {
        self.by_one_block(moves, &mut |result, sweeps, [factor, second]| {
            // SAFETY: neighbours are places of the nodes; the kernel's barriers separate sweeps.
            unsafe {
                kernel::one_block_form_a::launch(
                    self.on,
                    1,
                    self.ordered.neighbourhood(),
                    nodes,
                    other,
                    result,
                    sweeps,
                    self.ordered.moving,
                    factor,
                    second,
                    self.schedule.square(),
                )
            }?;
            Ok(())
        })
    }

    fn form_b_by_one<L: Nodes>(
        &self,
        nodes: &mut Buffer<L>,
        squares: &mut Buffer<f64>,
        moves: &mut Moves,
    ) -> Result<()> {
        self.by_one_block(moves, &mut |result, sweeps, [factor, second]| {
            // SAFETY: neighbours are places of the nodes; the kernel's barriers separate reads and writes.
            unsafe {
                kernel::one_block_form_b::launch(
                    self.on,
                    1,
                    self.ordered.neighbourhood(),
                    nodes,
                    squares,
                    result,
                    sweeps,
                    self.ordered.moving,
                    factor,
                    second,
                    self.schedule.square(),
                )
            }?;
            Ok(())
        })
    }
}

/// Blocks of a sweep over `count` nodes.
fn blocks(count: u32) -> u32 {
    count.div_ceil(SWEEP_LANES as u32)
}

/// Sweep `k` of a batch goes from one array to the other, and back.
fn alternate<'a, L>(
    k: u32,
    nodes: &'a mut Buffer<L>,
    other: &'a mut Buffer<L>,
) -> (&'a Buffer<L>, &'a mut Buffer<L>) {
    if k.is_multiple_of(2) {
        (nodes, other)
    } else {
        (other, nodes)
    }
}
