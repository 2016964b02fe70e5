//! Sweeps until no node moves by the tolerance, and the moves of the last one.

use gpu::smooth::{
    self as kernel, MOST_CLASSES, Nodes, StarsBuffers, Wave, one_block_sweeps::outcome,
};
use trioxide_kernel::NONE;
use trioxide_kernel::launch::Buffer;

use super::form::Form;
use super::options::{Blocks, Filter};
use super::order::Ordered;
use super::schedule::{Moves, Schedule, blocks};
use crate::Result;
use crate::device::Device;
use crate::progress;

/// Sweeps between two reads of the result by the host; even.
const BATCH: u32 = 16;
/// Sweeps of one block between two reads of the result by the host; even.
const ONE_BLOCK_BATCH: u32 = 64;

/// Launches of sweeps by classes between two such reads, where a tolerance may end the sweeps. Launches after the last
/// sweep are in vain, and take as long as a small class.
const CLASS_LAUNCHES: usize = 64;
/// Sweeps that overlap.
const TOGETHER: u32 = MOST_CLASSES as u32;
/// Sweeps that overlap where a tolerance may end them: the ones after the last sweep are undone.
const TOGETHER_TO_TOLERANCE: u32 = 4;
/// Nodes that a CPU moves in the time of a launch.
const NODES_OF_A_LAUNCH: usize = 1_000;

/// Cells that no move may harm.
#[derive(Clone, Copy)]
pub(super) struct Guard<'a> {
    pub(super) stars: StarsBuffers<'a>,
    /// Whether they are faces in the plane.
    pub(super) is_surface: bool,
}

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
    pub(super) guard: Option<Guard<'a>>,
    pub(super) schedule: Schedule,
}

/// Launches a sweep: the array of movements, the sweep's index in it, and its number.
type LaunchSweep<'a> = &'a mut dyn FnMut(&mut Buffer<u32>, u32, u32) -> Result<()>;
/// Number of sweeps, and whether the last one moved no node by the tolerance.
type Done = (u32, bool);
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
                let mut other = on.uninitialized(nodes.len())?;
                let staying = self.ordered.order.len() as u32 - count;
                // SAFETY: the nodes that stay come after the nodes that move.
                unsafe { kernel::copy_staying::launch(on, staying, count, &nodes, &mut other) }?;
                match (self.schedule.method, self.blocks) {
                    (Filter::Hc { alpha, beta }, _) => {
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
                kernel::square_moves::launch(on, count, &before, &nodes, &mut squares)?;
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
        moves.measure(on, self.ordered, &squares)?;
        Ok((nodes, moves))
    }

    /// Launches sweeps in batches of `batch`. `launch` gets the array `moved` of the kernels, the index of a sweep in
    /// it, and the number of the sweep.
    fn in_batches(&self, batch: u32, moves: &mut Moves, launch: LaunchSweep<'_>) -> Result<()> {
        self.until_converged(batch, moves, &mut |first, count| {
            let mut moved = self.start(count)?;
            for k in 0..count {
                // On a CPU a sweep is done here.
                progress::check()?;
                launch(&mut moved, k, first + k)?;
            }
            Ok(done(&self.on.download(&moved)?))
        })
    }

    /// The array `moved` of `count` sweeps before the first.
    fn start(&self, count: u32) -> Result<Buffer<u32>> {
        let mut start = vec![0; count as usize + 1];
        start[0] = 1;
        self.on.upload(&start)
    }

    /// Does up to `batch` sweeps at a time by `sweep`, which gets the number of the first and how many.
    fn until_converged(
        &self,
        batch: u32,
        moves: &mut Moves,
        sweep: &mut dyn FnMut(u32, u32) -> Result<Done>,
    ) -> Result<()> {
        let max_sweeps = self.schedule.max_sweeps;
        let sweeps = progress::count("sweep", u64::from(max_sweeps));
        while moves.sweeps < max_sweeps && !moves.converged {
            progress::check()?;
            let count = batch.min(max_sweeps - moves.sweeps);
            let (done, is_last) = sweep(moves.sweeps, count)?;
            moves.sweeps += done;
            sweeps.reach(u64::from(moves.sweeps));
            moves.converged = is_last;
        }
        Ok(())
    }

    fn form_a<L: Nodes>(
        &self,
        nodes: &mut Buffer<L>,
        other: &mut Buffer<L>,
        moves: &mut Moves,
    ) -> Result<()> {
        // A batch that is not the last has an even number of sweeps, so that each begins at `nodes`.
        self.in_batches(BATCH, moves, &mut |moved, k, sweep| {
            let (from, to) = alternate(k, nodes, other);
            let (on, ordered, sweep) = (self.on, self.ordered, (k, sweep));
            self.schedule
                .sweep_form_a(on, ordered, from, to, moved, sweep)
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
        self.in_batches(BATCH, moves, &mut |moved, k, _| {
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
        self.in_batches(BATCH, moves, &mut |moved, k, sweep| {
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
        let classes = &self.ordered.classes.places;
        let together = self.together();
        if together > 1 {
            return self.until_converged(together, moves, &mut |first, count| {
                self.overlapping(nodes, squares, first, count)
            });
        }
        let batch = if self.schedule.square() == 0.0 {
            BATCH
        } else {
            (CLASS_LAUNCHES / classes.len()).clamp(1, BATCH as usize) as u32
        };
        self.in_batches(batch, moves, &mut |moved, k, sweep| {
            for &places in classes {
                progress::check()?;
                self.class(nodes, squares, moved, (k, sweep), places)?;
            }
            Ok(())
        })
    }

    /// How many sweeps overlap: more than one if that saves half of the launches at least. A CPU undoes none of large
    /// classes.
    fn together(&self) -> u32 {
        let classes = &self.ordered.classes;
        let saves = 2 * (classes.reach as usize + 1) <= classes.places.len();
        if !saves || self.guard.is_some() {
            return 1;
        }
        let are_small = (self.ordered.moving as usize) < NODES_OF_A_LAUNCH * classes.places.len();
        if self.schedule.square() == 0.0 {
            TOGETHER
        } else if are_small || self.on.is_gpu() {
            TOGETHER_TO_TOLERANCE
        } else {
            1
        }
    }

    /// `count` sweeps that overlap, from number `first` on, as far as they count: up to the first one that moves no
    /// node by the tolerance.
    fn overlapping<L: Nodes>(
        &self,
        nodes: &mut Buffer<L>,
        squares: &mut Buffer<f64>,
        first: u32,
        count: u32,
    ) -> Result<Done> {
        let before = if self.schedule.square() == 0.0 {
            None
        } else {
            Some(self.on.duplicate(nodes)?)
        };
        let done = self.waves(nodes, squares, first, count)?;
        match before {
            Some(before) if done.0 < count => {
                *nodes = before;
                self.waves(nodes, squares, first, done.0)
            }
            _ => Ok(done),
        }
    }

    /// `count` sweeps from number `first` on, each some classes later than the one before.
    fn waves<L: Nodes>(
        &self,
        nodes: &mut Buffer<L>,
        squares: &mut Buffer<f64>,
        first: u32,
        count: u32,
    ) -> Result<Done> {
        let places = &self.ordered.classes.places;
        let distance = self.ordered.classes.reach as usize + 1;
        let mut moved = self.start(count)?;
        let last = places.len() - 1;
        for step in 0..=last + distance * (count as usize - 1) {
            // The sweeps that have begun and not ended.
            let begin = step.saturating_sub(last).div_ceil(distance);
            let end = (step / distance + 1).min(count as usize);
            let classes: Vec<_> = (begin..end).map(|k| places[step - k * distance]).collect();
            // No sweep of these waits for the outcome of another.
            let wave = Wave::new(&classes, begin as u32, NONE);
            self.wave(nodes, squares, &mut moved, wave, first)?;
        }
        Ok(done(&self.on.download(&moved)?))
    }

    /// Launches a wave; `first` is the number of the sweep with index 0 in `moved`.
    fn wave<L: Nodes>(
        &self,
        nodes: &mut Buffer<L>,
        squares: &mut Buffer<f64>,
        moved: &mut Buffer<u32>,
        wave: Wave,
        first: u32,
    ) -> Result<()> {
        // SAFETY: no two nodes of a class are neighbours, nor two nodes of classes that are further apart than
        // neighbours' are.
        unsafe {
            kernel::sweep_classes::launch(
                self.on,
                wave.blocks(),
                self.ordered.neighbourhood(),
                nodes,
                squares,
                moved,
                wave,
                self.schedule.factor(first),
                self.schedule.factor(first + 1),
                self.schedule.square(),
            )
        }?;
        Ok(())
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
        let Some(guard) = self.guard else {
            // The first sweep of a batch is needed, and without a tolerance each is.
            let is_needed = k == 0 || self.schedule.square() == 0.0;
            let wave = Wave::new(&[(first, count)], k, if is_needed { NONE } else { k });
            return self.wave(nodes, squares, moved, wave, sweep - k);
        };
        match guard.is_surface {
            true => {
                self.guarded::<L, true>(guard, nodes, squares, moved, (k, sweep), (first, count))
            }
            false => {
                self.guarded::<L, false>(guard, nodes, squares, moved, (k, sweep), (first, count))
            }
        }
    }

    fn guarded<L: Nodes, const PLANE: bool>(
        &self,
        guard: Guard<'_>,
        nodes: &mut Buffer<L>,
        squares: &mut Buffer<f64>,
        moved: &mut Buffer<u32>,
        (k, sweep): (u32, u32),
        (first, count): (u32, u32),
    ) -> Result<()> {
        let (on, ordered) = (self.on, self.ordered);
        // SAFETY: no two nodes of a class share a cell; order and ranks are inverse.
        unsafe {
            kernel::sweep_guarded::launch::<L, PLANE>(
                on,
                blocks(count),
                guard.stars,
                &ordered.order,
                &ordered.ranks,
                ordered.neighbourhood(),
                nodes,
                squares,
                moved,
                k,
                first,
                count,
                self.schedule.factor(sweep),
                self.schedule.square(),
            )
        }?;
        Ok(())
    }

    /// The block's launches: `launch` does up to a number of sweeps, by the two factors.
    fn by_one_block(&self, moves: &mut Moves, launch: LaunchBatch<'_>) -> Result<()> {
        self.until_converged(ONE_BLOCK_BATCH, moves, &mut |_, count| {
            let mut result = self.on.uninitialized(outcome::COUNT)?;
            // A batch that is not the last has an even number of sweeps, so that it begins with the first factor.
            launch(&mut result, count, self.schedule.method.factors())?;
            let result = self.on.download(&result)?;
            let is_last = result[outcome::MOVED as usize] == 0;
            Ok((result[outcome::SWEEPS as usize], is_last))
        })
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

/// The outcome of a batch with the array `moved`: it ends with the first sweep that moved no node by the tolerance.
fn done(moved: &[u32]) -> Done {
    let sweeps = &moved[1..];
    match sweeps.iter().position(|&moved| moved == 0) {
        Some(last) => (last as u32 + 1, true),
        None => (sweeps.len() as u32, false),
    }
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
