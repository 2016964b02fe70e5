//! Clusters: notes, decisions, assignment (`gpu::weld`'s grid, decide and complete).

use glam::DVec3;
use gpu::launch::Buffer;
use gpu::weld as kernel;

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
    /// As in [`DeviceWeld`].
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
    let n = points.len();
    let grid = DeviceGrid::build(on, points, &options.nearness(), &options.tuning)?;
    let positions = grid.positions(points);
    let mut lower = on.uninitialized(n * kernel::LISTED as usize)?;
    let mut states = on.filled(n, kernel::REPRESENTATIVE)?;
    on.stage("note neighbours", || {
        kernel::note_lower_neighbours::launch(
            on,
            n as u32,
            positions,
            &grid.parameters,
            &grid.offsets,
            &grid.sites,
            grid.by_slot(),
            limits,
            guards.locked,
            guards.normals,
            guards.uvs,
            guards.colors,
            &mut lower,
            &mut states,
        )?;
        Ok(())
    })?;
    let left = on.stage("decide", || {
        decide(
            on,
            points,
            &grid,
            limits,
            guards,
            &options.tuning,
            &mut lower,
            &mut states,
        )
    })?;
    let representatives = on.stage("assign", || {
        let mut representatives = on.uninitialized(n)?;
        kernel::assign_points::launch(
            on,
            n as u32,
            positions,
            &grid.parameters,
            &grid.offsets,
            &grid.sites,
            grid.by_slot(),
            limits,
            guards.locked,
            guards.normals,
            guards.uvs,
            guards.colors,
            &lower,
            &states,
            &mut representatives,
        )?;
        Ok(representatives)
    })?;
    Ok(Clustering {
        representatives,
        left,
    })
}

/// Decides all vertices; how many were left after each round.
fn decide<G: kernel::Guard>(
    on: &Device,
    points: &Buffer<DVec3>,
    grid: &DeviceGrid,
    limits: &Buffer<G>,
    guards: &DeviceGuards,
    tuning: &Tuning,
    lower: &mut Buffer<u32>,
    states: &mut Buffer<u32>,
) -> Result<Vec<u32>> {
    let n = states.len();
    let mut undecided = on.uninitialized(n.div_ceil(32))?;
    // All in turn.
    let none = on.uninitialized(0)?;
    // The last blocks could only wait for others to end.
    let patience = if pieces(n) <= tuning.blocks_at_once {
        tuning.patience
    } else {
        0
    };
    let blocks = pieces(n);
    kernel::decide_pieces::launch(on, blocks, &none, lower, patience, states, &mut undecided)?;
    let mut rows = compact(on, &undecided)?;
    let mut left = vec![rows.len() as u32];
    let is_dense = rows.len().saturating_mul(tuning.dense_share) > n;
    if on.is_gpu() && is_dense {
        let lists = Lists::complete(on, points, grid, limits, guards, states)?;
        if let Some(lists) = lists {
            // Sweeps of those who wait are short; and blocks start in the order of the ids, if rows are ids.
            let patience = match grid.by_slot() {
                0 => 16 * tuning.patience,
                _ => tuning.patience,
            };
            while !rows.is_empty() {
                let count = rows.len();
                let mut undecided = on.uninitialized(count.div_ceil(32))?;
                kernel::decide_completely::launch(
                    on,
                    pieces(count),
                    &rows,
                    &lists.starts,
                    &lists.ends,
                    &lists.lower,
                    patience,
                    states,
                    &mut undecided,
                )?;
                rows = shortened(on, &rows, &undecided)?;
                left.push(rows.len() as u32);
            }
        }
    }
    while !rows.is_empty() {
        let count = rows.len();
        let mut undecided = on.uninitialized(count.div_ceil(32))?;
        kernel::decide_searching::launch(
            on,
            pieces(count),
            &rows,
            grid.positions(points),
            &grid.parameters,
            &grid.offsets,
            &grid.sites,
            grid.by_slot(),
            limits,
            guards.locked,
            guards.normals,
            guards.uvs,
            guards.colors,
            lower,
            tuning.patience,
            states,
            &mut undecided,
        )?;
        rows = shortened(on, &rows, &undecided)?;
        left.push(rows.len() as u32);
    }
    Ok(left)
}

/// Blocks for so many rows.
fn pieces(rows: usize) -> u32 {
    rows.div_ceil(kernel::PIECE as usize) as u32
}

/// The rows whose bits are set.
fn shortened(on: &Device, rows: &Buffer<u32>, bits: &Buffer<u32>) -> Result<Buffer<u32>> {
    let kept = compact(on, bits)?;
    let mut shorter = on.uninitialized(kept.len())?;
    kernel::shorten_list::launch(on, kept.len() as u32, rows, &kept, &mut shorter)?;
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
    fn complete<G: kernel::Guard>(
        on: &Device,
        points: &Buffer<DVec3>,
        grid: &DeviceGrid,
        limits: &Buffer<G>,
        guards: &DeviceGuards,
        states: &Buffer<u32>,
    ) -> Result<Option<Self>> {
        let n = states.len();
        let mut starts = on.uninitialized(n)?;
        kernel::count_lower_neighbours::launch(on, n as u32, states, &mut starts)?;
        let total = sum(on, &starts)?;
        let bytes = 4 * (total + n as u64);
        if total > u64::from(u32::MAX) || bytes > on.free_bytes()? {
            return Ok(None);
        }
        exclusive_scan(on, &mut starts)?;
        let mut ends = on.duplicate(&starts)?;
        let mut lower = on.uninitialized(total as usize)?;
        kernel::note_all_lower_neighbours::launch(
            on,
            n as u32,
            grid.positions(points),
            &grid.parameters,
            &grid.offsets,
            &grid.sites,
            grid.by_slot(),
            limits,
            guards.locked,
            guards.normals,
            guards.uvs,
            guards.colors,
            states,
            &mut ends,
            &mut lower,
        )?;
        Ok(Some(Self {
            starts,
            ends,
            lower,
        }))
    }
}
