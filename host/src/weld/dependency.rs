//! P-Weld: dependency counters over stored lists of neighbours. `gpu::weld::dependency` has the kernels and the
//! differences from the paper.

use glam::DVec3;
use gpu::ids::{Item, Vertex};
use gpu::weld as kernel;
use gpu::weld::{DependenciesBuffers, HigherNeighboursBuffers, TOTALLED, TotalBuffers};
use trioxide_kernel::Bits;
use trioxide_kernel::launch::Buffer;

use super::clustering::{Clustering, shortened, sum};
use super::hashed_cells::DeviceCells;
use super::{Error, Options, Result, stage};
use crate::collective::{compact, exclusive_scan, lengths};
use crate::device::Device;

/// Counters of V vertices.
pub struct Counters {
    /// Number of lower neighbours that are not known to be members; V.
    depend: Buffer<u32>,
    /// The lowest representative that has claimed the vertex so far, itself at first; V.
    pub lowest: Buffer<Vertex>,
}

impl Counters {
    /// Counters for `n` vertices, with unspecified content.
    pub fn uninitialized(on: &Device, n: usize) -> Result<Self> {
        Ok(Self {
            depend: on.uninitialized(n)?,
            lowest: on.uninitialized(n)?,
        })
    }

    /// Number of lower neighbours of each vertex, before the first round.
    pub fn depend(&self) -> &Buffer<u32> {
        &self.depend
    }

    /// Both arrays, to be written.
    pub fn both(&mut self) -> (&mut Buffer<u32>, &mut Buffer<Vertex>) {
        (&mut self.depend, &mut self.lowest)
    }

    /// The arrays as a round takes them.
    pub fn buffers(&mut self) -> DependenciesBuffers<'_> {
        DependenciesBuffers {
            depend: &mut self.depend,
            lowest: &mut self.lowest,
        }
    }
}

/// Stored neighbours of V vertices.
pub struct Neighbours {
    /// Start of each vertex's list in `higher`, and the end of the last.
    starts: Buffer<u32>,
    /// Higher neighbours.
    higher: Buffer<Vertex>,
}

/// Bytes that clusters take, for V points, without the neighbours' lists: how long they are is known when they are
/// counted.
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
    let cells = DeviceCells::build(on, points, options, false)?;
    if cells.largest > most_in_cell {
        return Ok(None);
    }
    let none = on.uninitialized(0)?;
    let (mut neighbours, mut counters) = Neighbours::count(on, points, &cells, &none, options)?;
    neighbours.list(on, points, &cells, &none)?;
    drop(cells);
    let left = sweep(on, &neighbours, &mut counters)?;
    Ok(Some(Clustering {
        representatives: counters.lowest,
        left,
        is_crowded: false,
    }))
}

/// Sweeps over the undecided vertices until there are none; the number of undecided ones after each sweep.
fn sweep(on: &Device, neighbours: &Neighbours, counters: &mut Counters) -> Result<Vec<u32>> {
    stage(on, "sweeps", || {
        // All vertices, before the first sweep.
        let mut list: Buffer<Vertex> = on.uninitialized(0)?;
        let mut count = counters.lowest.len();
        let mut left = Vec::new();
        while count > 0 {
            let mut undecided: Buffer<Bits<Item>> = on.uninitialized(count.div_ceil(32))?;
            kernel::sweep_dependencies::launch(
                on,
                count as u32,
                &list,
                neighbours.buffers(),
                counters.buffers(),
                &mut undecided,
            )?;
            list = if list.is_empty() {
                compact(on, &undecided)?.cast()
            } else {
                shortened(on, &list, undecided.as_words())?
            };
            count = list.len();
            left.push(count as u32);
        }
        Ok(left)
    })
}

impl Neighbours {
    /// The lists as a round takes them.
    pub fn buffers(&self) -> HigherNeighboursBuffers<'_> {
        HigherNeighboursBuffers {
            starts: &self.starts,
            vertices: &self.higher,
        }
    }

    /// Counts the neighbours of all vertices and makes room for their lists. Where `cells` has the vertices' slots,
    /// blocks do so for crowded cells, one for each of `shares`.
    pub fn count(
        on: &Device,
        points: &Buffer<DVec3>,
        cells: &DeviceCells,
        shares: &Buffer<u32>,
        options: &Options,
    ) -> Result<(Self, Counters)> {
        let n = points.len();
        stage(on, "count neighbours", || {
            let room = room(on, options)?;
            let limit = (room / u64::from(TOTALLED)) as u32;
            let mut words = on.filled(2, 0)?;
            let mut counters = Counters::uninitialized(on, n)?;
            let (depend, lowest) = counters.both();
            let mut starts = lengths(on, n)?;
            let total = TotalBuffers {
                words: &mut words,
                limit,
            };
            kernel::count_neighbours::launch(
                on,
                n as u32,
                cells.search(points),
                &cells.slots,
                depend,
                &mut starts,
                lowest,
                total,
            )?;
            let total = TotalBuffers {
                words: &mut words,
                limit,
            };
            // SAFETY: the cells' lists hold vertices, each once, and shares are places in them: each vertex of a
            // crowded cell is in one share, so that one lane writes its elements.
            unsafe {
                kernel::count_crowded_neighbours::launch(
                    on,
                    shares.len() as u32,
                    shares,
                    cells.search(points),
                    &cells.slots,
                    depend,
                    &mut starts,
                    total,
                )
            }?;
            let total = on.download(&words)?;
            let counted = if total[1] != 0 {
                // At least: the count ended when the lists would not fit.
                (u64::from(total[0]) * u64::from(TOTALLED)).max(room + 1)
            } else {
                sum(on, &starts)?
            };
            if counted > room {
                let bytes = |count: u64| count * size_of::<u32>() as u64;
                return Err(Error::Neighbours {
                    device: on.name(),
                    needed: bytes(counted),
                    room: bytes(room),
                });
            }
            exclusive_scan(on, &mut starts)?;
            let neighbours = Self {
                starts,
                higher: on.uninitialized(counted as usize)?,
            };
            Ok((neighbours, counters))
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
        stage(on, "list neighbours", || {
            kernel::list_neighbours::launch(
                on,
                points.len() as u32,
                cells.search(points),
                &cells.slots,
                &self.starts,
                &mut self.higher,
            )?;
            // SAFETY: each list has room for the neighbours that were counted, which are the same; one lane writes it,
            // as for the count.
            unsafe {
                kernel::list_crowded_neighbours::launch(
                    on,
                    shares.len() as u32,
                    shares,
                    cells.search(points),
                    &cells.slots,
                    &self.starts,
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
