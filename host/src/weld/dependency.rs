//! P-Weld: dependency counters over stored lists of neighbours. The kernels, and what differs from the paper, are in
//! `gpu::weld::dependency`.

use glam::DVec3;
use gpu::weld as kernel;
use trioxide_kernel::launch::Buffer;

use super::cells::DeviceCells;
use super::{Clustering, Options};
use crate::backend::Device;
use crate::collective::{compact, exclusive_scan};
use crate::{Error, Result};

/// Most partial sums of the neighbours' counts.
const SUMS: usize = 1 << 14;
/// Neighbours in a unit of the running total, as the kernels count.
const TOTALLED: u64 = 64;

/// Stored neighbours of V vertices.
pub struct Neighbours {
    /// Start of each vertex's list in `higher`, and the end of the last.
    pub rows: Buffer<u32>,
    /// Higher neighbours.
    pub higher: Buffer<u32>,
    /// Number of lower neighbours; V.
    pub depend: Buffer<u32>,
    /// The vertex itself; V.
    pub lowest: Buffer<u32>,
}

/// Bytes that clusters take, for V points, without the neighbours' lists: how long they are is known when they are counted.
pub fn bytes_needed(points: usize) -> usize {
    DeviceCells::bytes_needed(points) + 3 * points * size_of::<u32>()
}

/// Clusters points.
pub fn cluster(on: &Device, points: &Buffer<DVec3>, options: &Options) -> Result<Clustering> {
    let cells = DeviceCells::build(on, points, options, false)?;
    let none = on.uninitialized(0)?;
    let mut neighbours = Neighbours::count(on, points, &cells, &none, options)?;
    neighbours.list(on, points, &cells, &none)?;
    drop(cells);
    let left = sweep(on, &mut neighbours)?;
    Ok(Clustering {
        representatives: neighbours.lowest,
        left,
    })
}

/// Sweeps over the undecided vertices until there are none; how many were left after each sweep.
fn sweep(on: &Device, neighbours: &mut Neighbours) -> Result<Vec<u32>> {
    on.stage("sweeps", || {
        // All, until some are left.
        let mut list = on.uninitialized(0)?;
        let mut count = neighbours.lowest.len();
        let mut left = Vec::new();
        while count > 0 {
            let mut undecided = on.uninitialized(count.div_ceil(32))?;
            unsafe {
                kernel::sweep_dependencies::launch(
                    on,
                    count as u32,
                    &list,
                    &neighbours.rows,
                    &neighbours.higher,
                    &mut neighbours.depend,
                    &mut neighbours.lowest,
                    &mut undecided,
                )
            }?;
            let kept = compact(on, &undecided)?;
            left.push(kept.len() as u32);
            count = kept.len();
            list = if list.is_empty() {
                kept
            } else {
                let mut shorter = on.uninitialized(count)?;
                unsafe {
                    kernel::shorten_list::launch(on, count as u32, &list, &kept, &mut shorter)
                }?;
                shorter
            };
        }
        Ok(left)
    })
}

impl Neighbours {
    /// Counts the neighbours of all vertices and makes room for their lists. Where `cells` has the vertices' slots, blocks do so
    /// for crowded cells, one for each of `shares`.
    pub fn count(
        on: &Device,
        points: &Buffer<DVec3>,
        cells: &DeviceCells,
        shares: &Buffer<u32>,
        options: &Options,
    ) -> Result<Self> {
        let n = points.len();
        on.stage("count neighbours", || {
            let room = room(on, options)?;
            let limit = (room / TOTALLED) as u32;
            let mut total = on.filled(2, 0)?;
            let (mut depend, mut lowest) = (on.uninitialized(n)?, on.uninitialized(n)?);
            // One more: scanned, it is the end of the last.
            let mut rows = on.uninitialized(n + 1)?;
            on.fill_from(&mut rows, n, 0)?;
            unsafe {
                kernel::count_neighbours::launch(
                    on,
                    n as u32,
                    points,
                    &cells.table,
                    &cells.filter,
                    &cells.keys,
                    &cells.offsets,
                    &cells.items,
                    &cells.slots,
                    limit,
                    &mut depend,
                    &mut rows,
                    &mut lowest,
                    &mut total,
                )
            }?;
            unsafe {
                kernel::count_crowded_neighbours::launch(
                    on,
                    shares.len() as u32,
                    shares,
                    points,
                    &cells.table,
                    &cells.filter,
                    &cells.keys,
                    &cells.offsets,
                    &cells.items,
                    &cells.slots,
                    limit,
                    &mut depend,
                    &mut rows,
                    &mut total,
                )
            }?;
            let total = on.download(&total)?;
            let counted = if total[1] != 0 {
                // At the least: the count ended when they would not fit.
                (u64::from(total[0]) * TOTALLED).max(room + 1)
            } else {
                sum(on, &rows)?
            };
            if counted > room {
                let bytes = |count: u64| count * size_of::<u32>() as u64;
                return Err(Error::NeighboursOutOfMemory {
                    device: on.name(),
                    needed: bytes(counted),
                    room: bytes(room),
                });
            }
            exclusive_scan(on, &mut rows)?;
            Ok(Self {
                rows,
                higher: on.uninitialized(counted as usize)?,
                depend,
                lowest,
            })
        })
    }

    /// Lists the neighbours that were counted.
    pub fn list(
        &mut self,
        on: &Device,
        points: &Buffer<DVec3>,
        cells: &DeviceCells,
        shares: &Buffer<u32>,
    ) -> Result<()> {
        on.stage("list neighbours", || {
            unsafe {
                kernel::list_neighbours::launch(
                    on,
                    points.len() as u32,
                    points,
                    &cells.table,
                    &cells.filter,
                    &cells.keys,
                    &cells.offsets,
                    &cells.items,
                    &cells.slots,
                    &self.rows,
                    &mut self.higher,
                )
            }?;
            unsafe {
                kernel::list_crowded_neighbours::launch(
                    on,
                    shares.len() as u32,
                    shares,
                    points,
                    &cells.table,
                    &cells.filter,
                    &cells.keys,
                    &cells.offsets,
                    &cells.items,
                    &cells.slots,
                    &self.rows,
                    &mut self.higher,
                )
            }?;
            Ok(())
        })
    }
}

/// Neighbours that lists have room for: in memory, and within what `u32` indices reach.
fn room(on: &Device, options: &Options) -> Result<u64> {
    let in_memory = on.free_bytes()? / size_of::<u32>() as u64;
    let in_index = u64::from(u32::MAX) - 1;
    Ok(in_memory.min(in_index).min(options.tuning.most_neighbours))
}

/// Sum of `counts`, in 64 bits.
pub fn sum(on: &Device, counts: &Buffer<u32>) -> Result<u64> {
    let stride = counts.len().min(SUMS);
    let mut sums = on.uninitialized(stride)?;
    unsafe { kernel::sum_counts::launch(on, stride as u32, counts, stride as u32, &mut sums) }?;
    Ok(on.download(&sums)?.iter().sum())
}
