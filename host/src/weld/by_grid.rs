//! The default method: cells, short lists of lower neighbours, decisions, assignment; where cells are crowded,
//! comparisons with representatives alone.

use bytemuck::Zeroable;
use glam::DVec3;
use gpu::weld as kernel;
use trioxide_kernel::launch::Buffer;

use super::clustering::Clustering;
use super::grid::DeviceGrid;
use super::guards::DeviceGuards;
use super::near::{Near, share_of_dense};
use super::{Options, Result, crowded, stage};
use crate::device::Device;

/// Clusters points by the distance and, unless `guards` are none, by them.
pub(super) fn cluster(
    on: &Device,
    points: &Buffer<DVec3>,
    guards: &DeviceGuards,
    options: &Options,
) -> Result<Clustering> {
    match guards.limits {
        Some(limits) => cluster_by(on, points, limits, guards, options),
        None => cluster_by(on, points, kernel::Unguarded::zeroed(), guards, options),
    }
}

fn cluster_by<G: kernel::Guard>(
    on: &Device,
    points: &Buffer<DVec3>,
    limits: G,
    guards: &DeviceGuards,
    options: &Options,
) -> Result<Clustering> {
    let build = |may_compare| {
        let tuning = &options.tuning;
        DeviceGrid::build(on, points, &options.nearness(), tuning, may_compare)
    };
    let mut near = Near {
        grid: build(true)?,
        on,
        points,
        limits,
        guards,
    };
    if near.grid.is_crowded() {
        if let Some(clustering) = crowded::cluster(&near, &options.tuning)? {
            return Ok(clustering);
        }
        near.grid = build(false)?;
    }
    let (mut lower, mut states) = near.note()?;
    if near.grid.is_chained && share_of_dense(on, &options.tuning) > 0 {
        let clustering = near.cluster_chains(&options.tuning, &lower, &mut states)?;
        if let Some(clustering) = clustering {
            return Ok(clustering);
        }
    }
    let (left, lists) = stage(on, "decide", || {
        near.decide_all(&options.tuning, &mut lower, &mut states)
    })?;
    let representatives = near.assign(&lower, &lists, &states)?;
    Ok(Clustering {
        representatives,
        left,
        is_crowded: false,
    })
}
