//! The paper's sparse voxel grid: lists of neighbours in two passes, then frontiers. `gpu::weld::sparse_grid` has the
//! kernels and the differences from the paper.

use glam::DVec3;
use gpu::ids::Item;
use gpu::weld as kernel;
use trioxide_kernel::Bits;
use trioxide_kernel::launch::Buffer;

use super::clustering::Clustering;
use super::dependency::Neighbours;
use super::hashed_cells::DeviceCells;
use super::on_the_fly::advance_frontiers;
use super::{Options, Result, stage};
use crate::collective::compact;
use crate::device::Device;

/// Bytes that clusters take, for V points, without the neighbours' lists: how long they are is known when they are
/// counted.
pub fn bytes_needed(points: usize) -> usize {
    // As for P-Weld, and the slots of the vertices.
    super::dependency::bytes_needed(points) + points * size_of::<u32>()
}

/// Clusters points, unless a cell has more than `most_in_cell`.
pub fn cluster(
    on: &Device,
    points: &Buffer<DVec3>,
    options: &Options,
    most_in_cell: u32,
) -> Result<Option<Clustering>> {
    let n = points.len();
    let cells = DeviceCells::build(on, points, options, true)?;
    if cells.largest > most_in_cell {
        return Ok(None);
    }
    let shares = stage(on, "crowded cells", || {
        let mut bits: Buffer<Bits<Item>> = on.uninitialized(n.div_ceil(32))?;
        let (offsets, items, slots) = (&cells.offsets, &cells.items, &cells.slots);
        kernel::mark_crowded::launch(on, n as u32, offsets, items, slots, &mut bits)?;
        Ok(compact(on, &bits)?.cast())
    })?;
    let (mut neighbours, mut counters) = Neighbours::count(on, points, &cells, &shares, options)?;
    neighbours.list(on, points, &cells, &shares)?;
    drop((cells, shares));
    let mut sources = on.uninitialized(n.div_ceil(32))?;
    kernel::mark_sources::launch(on, n as u32, counters.depend(), &mut sources)?;
    let left = advance_frontiers(on, n, sources, |frontier, next| {
        kernel::advance_frontier::launch(
            on,
            frontier.len() as u32,
            frontier,
            neighbours.buffers(),
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
