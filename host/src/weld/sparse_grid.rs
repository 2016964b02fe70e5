//! The paper's sparse voxel grid: lists of neighbours in two passes, then frontiers. The kernels, and what differs from the paper,
//! are in `gpu::weld::sparse_grid`.

use glam::DVec3;
use gpu::weld as kernel;
use trioxide_kernel::launch::Buffer;

use super::cells::DeviceCells;
use super::dependency::Neighbours;
use super::on_the_fly::advance_frontiers;
use super::{Clustering, Options};
use crate::Result;
use crate::backend::Device;
use crate::collective::compact;

/// Bytes that clusters take, for V points, without the neighbours' lists: how long they are is known when they are counted.
pub fn bytes_needed(points: usize) -> usize {
    // As for P-Weld, and the slots of the vertices.
    super::dependency::bytes_needed(points) + points * size_of::<u32>()
}

/// Clusters points.
pub fn cluster(on: &Device, points: &Buffer<DVec3>, options: &Options) -> Result<Clustering> {
    let n = points.len();
    let cells = DeviceCells::build(on, points, options, true)?;
    let shares = on.stage("crowded cells", || {
        let mut bits = on.uninitialized(n.div_ceil(32))?;
        unsafe {
            kernel::mark_crowded::launch(
                on,
                n as u32,
                &cells.offsets,
                &cells.items,
                &cells.slots,
                &mut bits,
            )
        }?;
        compact(on, &bits)
    })?;
    let mut neighbours = Neighbours::count(on, points, &cells, &shares, options)?;
    neighbours.list(on, points, &cells, &shares)?;
    drop((cells, shares));
    let Neighbours {
        rows,
        higher,
        mut depend,
        mut lowest,
    } = neighbours;
    let mut sources = on.uninitialized(n.div_ceil(32))?;
    unsafe { kernel::mark_sources::launch(on, n as u32, &depend, &mut sources) }?;
    let left = advance_frontiers(on, n, sources, |frontier, next| {
        unsafe {
            kernel::advance_frontier::launch(
                on,
                frontier.len() as u32,
                frontier,
                &rows,
                &higher,
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
