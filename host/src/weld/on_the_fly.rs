//! The paper's on-the-fly version: searches in every round. The kernels, and what differs from the paper, are in
//! `gpu::weld::on_the_fly`.

use glam::DVec3;
use gpu::weld as kernel;
use trioxide_kernel::launch::Buffer;

use super::cells::DeviceCells;
use super::{Clustering, Options};
use crate::Result;
use crate::backend::Device;
use crate::collective::compact;

/// Bytes that clusters take, for V points: cells, counters, lowest representatives, the first frontier.
pub fn bytes_needed(points: usize) -> usize {
    DeviceCells::bytes_needed(points) + 3 * points * size_of::<u32>()
}

/// Clusters points.
pub fn cluster(on: &Device, points: &Buffer<DVec3>, options: &Options) -> Result<Clustering> {
    let n = points.len();
    let cells = DeviceCells::build(on, points, options, false)?;
    let (mut depend, mut lowest) = (on.uninitialized(n)?, on.uninitialized(n)?);
    let mut sources = on.uninitialized(n.div_ceil(32))?;
    on.stage("count dependencies", || {
        unsafe {
            kernel::count_dependencies::launch(
                on,
                n as u32,
                points,
                &cells.table,
                &cells.filter,
                &cells.keys,
                &cells.offsets,
                &cells.items,
                &mut depend,
                &mut lowest,
                &mut sources,
            )
        }?;
        Ok(())
    })?;
    let left = advance_frontiers(on, n, sources, |frontier, next| {
        unsafe {
            kernel::advance_on_the_fly::launch(
                on,
                frontier.len() as u32,
                frontier,
                points,
                &cells.table,
                &cells.filter,
                &cells.keys,
                &cells.offsets,
                &cells.items,
                &mut depend,
                &mut lowest,
                next,
            )
        }?;
        Ok(())
    })?;
    Ok(Clustering {
        representatives: lowest,
        left,
    })
}

/// Runs rounds, `advance(frontier, next)`, from the frontier of the bit set `sources` until one is empty; how many of `n` vertices
/// were left undecided after each.
pub fn advance_frontiers(
    on: &Device,
    n: usize,
    sources: Buffer<u32>,
    mut advance: impl FnMut(&Buffer<u32>, &mut Buffer<u32>) -> Result<()>,
) -> Result<Vec<u32>> {
    on.stage("frontiers", || {
        let mut bits = sources;
        let mut frontier = compact(on, &bits)?;
        let mut undecided = n - frontier.len();
        let mut left = Vec::new();
        while !frontier.is_empty() {
            advance(&frontier, &mut bits)?;
            frontier = compact(on, &bits)?;
            undecided -= frontier.len();
            left.push(undecided as u32);
        }
        Ok(left)
    })
}
