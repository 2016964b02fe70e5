//! The paper's on-the-fly version: searches in every round. `gpu::weld::on_the_fly` has the kernels and the differences
//! from the paper.

use glam::DVec3;
use gpu::ids::Vertex;
use gpu::weld as kernel;
use trioxide_kernel::Bits;
use trioxide_kernel::launch::Buffer;

use super::clustering::Clustering;
use super::dependency::Counters;
use super::hashed_cells::DeviceCells;
use super::{Options, Result, stage};
use crate::collective::compact;
use crate::device::Device;

/// Bytes that clusters take, for V points: cells, counters, lowest representatives, the first frontier.
pub fn bytes_needed(points: usize) -> usize {
    DeviceCells::bytes_needed(points) + 3 * points * size_of::<u32>()
}

/// Clusters points, unless a cell has more than `most_in_cell`.
pub fn cluster(
    on: &Device,
    points: &Buffer<DVec3>,
    options: &Options,
    most_in_cell: u32,
) -> Result<Option<Clustering>> {
    let n = points.len();
    let cells = DeviceCells::build(on, points, options, false)?;
    if cells.largest > most_in_cell {
        return Ok(None);
    }
    let mut counters = Counters::uninitialized(on, n)?;
    let mut sources = on.uninitialized(n.div_ceil(32))?;
    stage(on, "count dependencies", || {
        let (depend, lowest) = counters.both();
        let search = cells.search(points);
        kernel::count_dependencies::launch(on, n as u32, search, depend, lowest, &mut sources)?;
        Ok(())
    })?;
    let left = advance_frontiers(on, n, sources, |frontier, next| {
        let search = cells.search(points);
        kernel::advance_on_the_fly::launch(
            on,
            frontier.len() as u32,
            frontier,
            search,
            counters.buffers(),
            next,
        )?;
        Ok(())
    })?;
    Ok(Some(Clustering {
        representatives: counters.lowest,
        left,
        is_crowded: false,
    }))
}

/// Runs rounds, `advance(frontier, next)`, from the frontier of the bit set `sources` until one is empty; the number of
/// the `n` vertices that were undecided after each.
pub fn advance_frontiers(
    on: &Device,
    n: usize,
    sources: Buffer<Bits<Vertex>>,
    mut advance: impl FnMut(&Buffer<Vertex>, &mut Buffer<Bits<Vertex>>) -> Result<()>,
) -> Result<Vec<u32>> {
    stage(on, "frontiers", || {
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
