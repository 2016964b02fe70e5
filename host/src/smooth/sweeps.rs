//! Sweeps until no node moves by the tolerance, and how far the last one moved them.

use gpu::smooth::{self as kernel, MOVES_CHUNK, Nodes, SWEEP_LANES, one_block::outcome};
use trioxide_kernel::launch::Buffer;

use super::cells::{DeviceCells, Incidence};
use super::order::Ordered;
use super::{Blocks, Form, Method};
use crate::Result;
use crate::backend::Device;

/// Sweeps that are launched before the host looks; even.
const BATCH: u32 = 16;
/// Sweeps that one block does before the host looks; even.
const ONE_BLOCK_BATCH: u32 = 64;

/// When to stop, and how far to go.
#[derive(Clone, Copy, Debug)]
pub struct Schedule {
    /// A sweep that moves each node by less is the last.
    pub tolerance: f64,
    /// Most sweeps.
    pub max_sweeps: u32,
    /// How far sweeps go.
    pub method: Method,
}

impl Schedule {
    fn square(&self) -> f64 {
        self.tolerance * self.tolerance
    }

    /// How far sweep number `sweep` goes to the mean: 1 is all the way.
    pub fn factor(&self, sweep: u32) -> f64 {
        self.method.factors()[sweep as usize % 2]
    }
}

/// What sweeps did.
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

/// What a guarded sweep looks at.
#[derive(Clone, Copy)]
pub struct Guard<'a> {
    /// Cells.
    pub cells: &'a DeviceCells,
    /// Cells of each node.
    pub incidence: &'a Incidence,
}

/// How to sweep.
#[derive(Clone, Copy)]
pub struct Way<'a> {
    /// Which positions a sweep takes.
    pub form: Form,
    /// Blocks that sweep.
    pub blocks: Blocks,
    /// Of sweeps by colours: the cells that no move may harm.
    pub guard: Option<Guard<'a>>,
}

/// Smooths nodes in place.
///
/// # Errors
/// Those of the device.
pub fn sweep<L: Nodes>(
    on: &Device,
    ordered: &Ordered,
    mut nodes: Buffer<L>,
    way: Way<'_>,
    schedule: Schedule,
) -> Result<(Buffer<L>, Moves)> {
    let Way { form, blocks, .. } = way;
    let mut moves = Moves::default();
    if ordered.moving == 0 || schedule.max_sweeps == 0 {
        moves.converged = ordered.moving == 0;
        return Ok((nodes, moves));
    }
    let count = ordered.moving;
    let mut squares;
    if form == Form::A {
        let before = on.stage("sweeps", || {
            let mut other = on.duplicate(&nodes)?;
            let sweep = match (schedule.method, blocks) {
                (Method::Hc { .. }, _) => hc,
                (_, Blocks::Many) => form_a_many,
                (_, Blocks::One) => form_a_one,
            };
            sweep(on, ordered, &mut nodes, &mut other, schedule, &mut moves)?;
            Ok(other)
        })?;
        squares = on.uninitialized(count as usize)?;
        on.stage("moves", || {
            Ok(unsafe { kernel::square_moves::launch(on, count, &before, &nodes, &mut squares) }?)
        })?;
    } else {
        squares = on.uninitialized(count as usize)?;
        on.stage("sweeps", || match (form, blocks) {
            (Form::B, Blocks::One) => {
                form_b_one(on, ordered, &mut nodes, &mut squares, schedule, &mut moves)
            }
            _ => in_place(
                on,
                ordered,
                &mut nodes,
                &mut squares,
                way,
                schedule,
                &mut moves,
            ),
        })?;
    }
    on.stage("moves", || {
        let chunks = ordered.ranks.len().div_ceil(MOVES_CHUNK as usize);
        let (mut sums, mut maxima) = (on.uninitialized(chunks)?, on.uninitialized(chunks)?);
        unsafe {
            kernel::sum_moves::launch(
                on,
                chunks as u32,
                &ordered.ranks,
                &squares,
                count,
                &mut sums,
                &mut maxima,
            )
        }?;
        let sum: f64 = on.download(&sums)?.iter().sum();
        let max = on.download(&maxima)?.into_iter().fold(0.0, f64::max);
        moves.max_displacement = max.sqrt();
        moves.rms_displacement = (sum / f64::from(count)).sqrt();
        Ok(())
    })?;
    Ok((nodes, moves))
}

/// Launches sweeps in batches. `launch` gets whether sweeps moved nodes, the index of a sweep in that, and the number of the
/// sweep.
fn in_batches(
    on: &Device,
    schedule: Schedule,
    moves: &mut Moves,
    mut launch: impl FnMut(&mut Buffer<u32>, u32, u32) -> Result<()>,
) -> Result<()> {
    while moves.sweeps < schedule.max_sweeps && !moves.converged {
        let batch = BATCH.min(schedule.max_sweeps - moves.sweeps);
        let mut start = vec![0; batch as usize + 1];
        start[0] = 1;
        let mut moved = on.upload(&start)?;
        for k in 0..batch {
            launch(&mut moved, k, moves.sweeps + k)?;
        }
        let moved = on.download(&moved)?;
        let going = moved.iter().take_while(|&&moved| moved != 0).count() as u32;
        let done = going.min(batch);
        moves.sweeps += done;
        moves.converged = going <= batch;
    }
    Ok(())
}

fn form_a_many<L: Nodes>(
    on: &Device,
    ordered: &Ordered,
    nodes: &mut Buffer<L>,
    other: &mut Buffer<L>,
    schedule: Schedule,
    moves: &mut Moves,
) -> Result<()> {
    let count = ordered.moving;
    // A batch that is not the last has an even number of sweeps, so that each begins at `nodes`.
    in_batches(on, schedule, moves, |moved, k, sweep| {
        let (from, to) = if k % 2 == 0 {
            (&*nodes, &mut *other)
        } else {
            (&*other, &mut *nodes)
        };
        unsafe {
            kernel::sweep_form_a::launch(
                on,
                count.div_ceil(SWEEP_LANES),
                &ordered.rows,
                &ordered.neighbours,
                &ordered.weights,
                from,
                to,
                moved,
                k,
                count,
                schedule.factor(sweep),
                schedule.square(),
            )
        }?;
        Ok(())
    })?;
    if moves.sweeps % 2 == 1 {
        std::mem::swap(nodes, other);
    }
    Ok(())
}

/// Sweeps of HC smoothing; nothing else than form A over many blocks gets here.
fn hc<L: Nodes>(
    on: &Device,
    ordered: &Ordered,
    nodes: &mut Buffer<L>,
    other: &mut Buffer<L>,
    schedule: Schedule,
    moves: &mut Moves,
) -> Result<()> {
    let Method::Hc { alpha, beta } = schedule.method else {
        unreachable!("another method");
    };
    let count = ordered.moving;
    let all = ordered.order.len() as u32;
    let Ordered {
        rows,
        neighbours,
        weights,
        ..
    } = ordered;
    let start = on.duplicate(nodes)?;
    let mut excess = on.uninitialized(nodes.len())?;
    in_batches(on, schedule, moves, |moved, k, _| {
        let (from, to) = if k % 2 == 0 {
            (&*nodes, &mut *other)
        } else {
            (&*other, &mut *nodes)
        };
        unsafe {
            kernel::measure_excess::launch(
                on,
                all,
                rows,
                neighbours,
                weights,
                &start,
                from,
                &mut excess,
                moved,
                k,
                count,
                alpha,
            )
        }?;
        unsafe {
            kernel::sweep_hc::launch(
                on,
                count.div_ceil(SWEEP_LANES),
                rows,
                neighbours,
                weights,
                &start,
                &excess,
                from,
                to,
                moved,
                k,
                count,
                alpha,
                beta,
                schedule.square(),
            )
        }?;
        Ok(())
    })?;
    if moves.sweeps % 2 == 1 {
        std::mem::swap(nodes, other);
    }
    Ok(())
}

fn in_place<L: Nodes>(
    on: &Device,
    ordered: &Ordered,
    nodes: &mut Buffer<L>,
    squares: &mut Buffer<f64>,
    way: Way<'_>,
    schedule: Schedule,
    moves: &mut Moves,
) -> Result<()> {
    in_batches(on, schedule, moves, |moved, k, sweep| {
        let (factor, tolerance) = (schedule.factor(sweep), schedule.square());
        let Ordered {
            rows,
            neighbours,
            weights,
            ..
        } = ordered;
        if way.form == Form::B {
            let count = ordered.moving;
            let blocks = count.div_ceil(SWEEP_LANES);
            unsafe {
                kernel::sweep_racing::launch(
                    on, blocks, rows, neighbours, weights, nodes, squares, moved, k, count, factor,
                    tolerance,
                )
            }?;
            return Ok(());
        }
        for &(first, count) in &ordered.classes {
            let blocks = count.div_ceil(SWEEP_LANES);
            if let Some(Guard { cells, incidence }) = way.guard {
                unsafe {
                    kernel::sweep_guarded::launch(
                        on,
                        blocks,
                        &cells.offsets,
                        &cells.vertices,
                        &cells.cells,
                        &incidence.starts,
                        &incidence.corners,
                        &ordered.order,
                        &ordered.ranks,
                        rows,
                        neighbours,
                        weights,
                        nodes,
                        squares,
                        moved,
                        k,
                        first,
                        count,
                        factor,
                        tolerance,
                    )
                }?;
                continue;
            }
            unsafe {
                kernel::sweep_class::launch(
                    on, blocks, rows, neighbours, weights, nodes, squares, moved, k, first, count,
                    factor, tolerance,
                )
            }?;
        }
        Ok(())
    })
}

/// The block's launches: `launch` does up to so many sweeps from the one of that number on.
fn by_one_block(
    on: &Device,
    schedule: Schedule,
    moves: &mut Moves,
    mut launch: impl FnMut(&mut Buffer<u32>, u32, [f64; 2]) -> Result<()>,
) -> Result<()> {
    while moves.sweeps < schedule.max_sweeps && !moves.converged {
        let batch = ONE_BLOCK_BATCH.min(schedule.max_sweeps - moves.sweeps);
        let mut result = on.uninitialized(outcome::COUNT)?;
        // A batch that is not the last has an even number of sweeps, so that it begins with the first factor.
        launch(&mut result, batch, schedule.method.factors())?;
        let result = on.download(&result)?;
        let done = result[outcome::SWEEPS as usize];
        moves.sweeps += done;
        moves.converged = result[outcome::MOVED as usize] == 0;
    }
    Ok(())
}

fn form_a_one<L: Nodes>(
    on: &Device,
    ordered: &Ordered,
    nodes: &mut Buffer<L>,
    other: &mut Buffer<L>,
    schedule: Schedule,
    moves: &mut Moves,
) -> Result<()> {
    by_one_block(on, schedule, moves, |result, sweeps, [factor, second]| {
        unsafe {
            kernel::one_block_form_a::launch(
                on,
                1,
                &ordered.rows,
                &ordered.neighbours,
                &ordered.weights,
                nodes,
                other,
                result,
                sweeps,
                ordered.moving,
                factor,
                second,
                schedule.square(),
            )
        }?;
        Ok(())
    })?;
    if moves.sweeps % 2 == 1 {
        std::mem::swap(nodes, other);
    }
    Ok(())
}

fn form_b_one<L: Nodes>(
    on: &Device,
    ordered: &Ordered,
    nodes: &mut Buffer<L>,
    squares: &mut Buffer<f64>,
    schedule: Schedule,
    moves: &mut Moves,
) -> Result<()> {
    by_one_block(on, schedule, moves, |result, sweeps, [factor, second]| {
        unsafe {
            kernel::one_block_form_b::launch(
                on,
                1,
                &ordered.rows,
                &ordered.neighbours,
                &ordered.weights,
                nodes,
                squares,
                result,
                sweeps,
                ordered.moving,
                factor,
                second,
                schedule.square(),
            )
        }?;
        Ok(())
    })
}
