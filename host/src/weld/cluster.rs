//! Clusters: notes, decisions, assignment (`gpu::weld`'s grid, decide and complete).

use glam::DVec3;
use gpu::weld as kernel;
use trioxide_kernel::launch::Buffer;

use super::dependency::sum;
use super::grid::DeviceGrid;
use super::guards::DeviceGuards;
use super::{Options, Tuning};
use crate::Result;
use crate::backend::Device;
use crate::collective::{compact, exclusive_scan};

pub(super) struct Clustering {
    /// Of each vertex; V.
    pub representatives: Buffer<u32>,
    /// As in [`DeviceWeld`](super::DeviceWeld).
    pub left: Vec<u32>,
}

/// Clusters points by the distance and, unless `guards` are none, by them.
pub(super) fn cluster(
    on: &Device,
    points: &Buffer<DVec3>,
    guards: &DeviceGuards,
    options: &Options,
) -> Result<Clustering> {
    match &guards.limits {
        Some(limits) => cluster_by(on, points, limits, guards, options),
        None => cluster_by::<kernel::Unguarded>(on, points, &on.uninitialized(0)?, guards, options),
    }
}

fn cluster_by<G: kernel::Guard>(
    on: &Device,
    points: &Buffer<DVec3>,
    limits: &Buffer<G>,
    guards: &DeviceGuards,
    options: &Options,
) -> Result<Clustering> {
    let near = Near {
        grid: DeviceGrid::build(on, points, &options.nearness(), &options.tuning)?,
        on,
        points,
        limits,
        guards,
    };
    let (mut lower, mut states) = near.note()?;
    // All in turn.
    let all = on.uninitialized(0)?;
    let left = on.stage("decide", || {
        near.decide(&all, &options.tuning, &mut lower, &mut states)
    })?;
    let representatives = near.assign(&lower, &states)?;
    Ok(Clustering {
        representatives,
        left,
    })
}

/// What says which of the points are neighbours.
pub(super) struct Near<'a, G> {
    pub on: &'a Device,
    pub points: &'a Buffer<DVec3>,
    pub grid: DeviceGrid,
    pub limits: &'a Buffer<G>,
    pub guards: &'a DeviceGuards<'a>,
}

impl<G: kernel::Guard> Near<'_, G> {
    fn positions(&self) -> &Buffer<DVec3> {
        self.grid.positions(self.points)
    }

    /// Lists of lower neighbours, and the states of the vertices, by rows.
    pub fn note(&self) -> Result<(Buffer<u32>, Buffer<u32>)> {
        let &Self {
            on,
            ref grid,
            guards,
            ..
        } = self;
        let n = self.points.len();
        let mut lower = on.uninitialized(n * kernel::LISTED as usize)?;
        let mut states = on.filled(n, kernel::REPRESENTATIVE)?;
        on.stage("note neighbours", || {
            unsafe {
                kernel::note_lower_neighbours::launch(
                    on,
                    n as u32,
                    self.positions(),
                    &grid.parameters,
                    &grid.offsets,
                    &grid.sites,
                    grid.by_slot(),
                    self.limits,
                    guards.locked,
                    guards.normals,
                    guards.uvs,
                    guards.colors,
                    &mut lower,
                    &mut states,
                )
            }?;
            Ok(())
        })?;
        Ok((lower, states))
    }

    /// Decides the vertices of `rows` (all for an empty list), until they are or wait for others that are not among them; how
    /// many were left after each round.
    pub fn decide(
        &self,
        rows: &Buffer<u32>,
        tuning: &Tuning,
        lower: &mut Buffer<u32>,
        states: &mut Buffer<u32>,
    ) -> Result<Vec<u32>> {
        let &Self {
            on,
            ref grid,
            guards,
            ..
        } = self;
        let n = if rows.is_empty() {
            states.len()
        } else {
            rows.len()
        };
        let mut undecided = on.uninitialized(n.div_ceil(32))?;
        // The last blocks could only wait for others to end.
        let patience = if pieces(n) <= tuning.blocks_at_once {
            tuning.patience
        } else {
            0
        };
        let blocks = pieces(n);
        unsafe {
            kernel::decide_pieces::launch(on, blocks, rows, lower, patience, states, &mut undecided)
        }?;
        let mut rows = if rows.is_empty() {
            compact(on, &undecided)?
        } else {
            shortened(on, rows, &undecided)?
        };
        let mut left = vec![rows.len() as u32];
        // A search takes a GPU as long as many sweeps; a CPU, less than lists do.
        let share = (tuning.dense_share).unwrap_or(if on.is_gpu() { 8 } else { 0 });
        let is_dense = rows.len().saturating_mul(share) > n;
        if is_dense && let Some(lists) = Lists::complete(self, states)? {
            // If rows are ids, vertices wait for earlier rows alone: the first pieces can be decided without the others, whose
            // waiting would only keep them from the memory. Sweeps of those who wait are short.
            let (window, patience) = match grid.by_slot() {
                0 => (tuning.window, 16 * tuning.patience),
                _ => (u32::MAX, tuning.patience),
            };
            while !rows.is_empty() {
                let mut undecided = all_set(on, rows.len())?;
                unsafe {
                    kernel::decide_completely::launch(
                        on,
                        pieces(rows.len()).min(window),
                        &rows,
                        &lists.starts,
                        &lists.ends,
                        &lists.lower,
                        patience,
                        states,
                        &mut undecided,
                    )
                }?;
                rows = shortened(on, &rows, &undecided)?;
                left.push(rows.len() as u32);
            }
        }
        while !rows.is_empty() {
            let count = rows.len();
            let mut undecided = on.uninitialized(count.div_ceil(32))?;
            unsafe {
                kernel::decide_searching::launch(
                    on,
                    pieces(count),
                    &rows,
                    self.positions(),
                    &grid.parameters,
                    &grid.offsets,
                    &grid.sites,
                    grid.by_slot(),
                    self.limits,
                    guards.locked,
                    guards.normals,
                    guards.uvs,
                    guards.colors,
                    lower,
                    tuning.patience,
                    states,
                    &mut undecided,
                )
            }?;
            rows = shortened(on, &rows, &undecided)?;
            left.push(rows.len() as u32);
            // Of all vertices each round decides the lowest that is left: what remains waits for others.
            if rows.len() == count {
                break;
            }
        }
        Ok(left)
    }

    /// The representative of each vertex, all of which are decided.
    pub fn assign(&self, lower: &Buffer<u32>, states: &Buffer<u32>) -> Result<Buffer<u32>> {
        let &Self {
            on,
            ref grid,
            guards,
            ..
        } = self;
        let n = self.points.len();
        on.stage("assign", || {
            let mut representatives = on.uninitialized(n)?;
            unsafe {
                kernel::assign_points::launch(
                    on,
                    n as u32,
                    self.positions(),
                    &grid.parameters,
                    &grid.offsets,
                    &grid.sites,
                    grid.by_slot(),
                    self.limits,
                    guards.locked,
                    guards.normals,
                    guards.uvs,
                    guards.colors,
                    lower,
                    states,
                    &mut representatives,
                )
            }?;
            Ok(representatives)
        })
    }
}

/// So many bits, all set.
fn all_set(on: &Device, count: usize) -> Result<Buffer<u32>> {
    let mut bits = on.filled(count.div_ceil(32), u32::MAX)?;
    if !count.is_multiple_of(32) {
        on.fill_from(&mut bits, count / 32, (1 << (count % 32)) - 1)?;
    }
    Ok(bits)
}

/// Blocks for so many rows.
fn pieces(rows: usize) -> u32 {
    rows.div_ceil(kernel::PIECE as usize) as u32
}

/// The rows whose bits are set.
fn shortened(on: &Device, rows: &Buffer<u32>, bits: &Buffer<u32>) -> Result<Buffer<u32>> {
    let kept = compact(on, bits)?;
    let mut shorter = on.uninitialized(kept.len())?;
    unsafe { kernel::shorten_list::launch(on, kept.len() as u32, rows, &kept, &mut shorter) }?;
    Ok(shorter)
}

/// All lower neighbours of each undecided row.
struct Lists {
    starts: Buffer<u32>,
    ends: Buffer<u32>,
    lower: Buffer<u32>,
}

impl Lists {
    /// Makes them, unless they do not fit the memory or the indices.
    fn complete<G: kernel::Guard>(near: &Near<G>, states: &Buffer<u32>) -> Result<Option<Self>> {
        let &Near {
            on,
            ref grid,
            guards,
            ..
        } = near;
        let n = states.len();
        let mut starts = on.uninitialized(n)?;
        unsafe { kernel::count_lower_neighbours::launch(on, n as u32, states, &mut starts) }?;
        let total = sum(on, &starts)?;
        let bytes = 4 * (total + n as u64);
        if total > u64::from(u32::MAX) || bytes > on.free_bytes()? {
            return Ok(None);
        }
        exclusive_scan(on, &mut starts)?;
        let mut ends = on.duplicate(&starts)?;
        let mut lower = on.uninitialized(total as usize)?;
        unsafe {
            kernel::note_all_lower_neighbours::launch(
                on,
                n as u32,
                near.positions(),
                &grid.parameters,
                &grid.offsets,
                &grid.sites,
                grid.by_slot(),
                near.limits,
                guards.locked,
                guards.normals,
                guards.uvs,
                guards.colors,
                states,
                &mut ends,
                &mut lower,
            )
        }?;
        Ok(Some(Self {
            starts,
            ends,
            lower,
        }))
    }
}
