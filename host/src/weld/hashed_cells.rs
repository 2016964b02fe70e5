//! The hashed cells on a device, in which the paper's methods search. The kernels are in `gpu::weld`.

use bytemuck::Zeroable;
use glam::DVec3;
use gpu::ids::Vertex;
use gpu::weld as kernel;
use gpu::weld::{CellSlot, CellTable, CellsBuffers, Grid};
use trioxide_kernel::launch::Buffer;

use super::{Error, Nearness, Options, Result, stage};
use crate::collective::{bucket_long, most_alone};
use crate::device::Device;

/// Slots of the table for each vertex: at most half of them are taken.
const SLOTS_PER_VERTEX: usize = 2;

/// Bits of the filter for each vertex.
const FILTER_BITS: usize = 8;

/// Points by cells, V of them.
pub struct DeviceCells {
    table: CellTable,
    /// Bit set of the hashes of the table's keys.
    filter: Buffer<u32>,
    /// Key of each slot.
    keys: Buffer<u64>,
    /// Start of each slot's vertices in `items`, and the end of the last.
    pub offsets: Buffer<u32>,
    /// Vertices by slot, ascending in each; V.
    pub items: Buffer<Vertex>,
    /// Vertices of the cell that has most.
    pub largest: u32,
    /// Slot of each vertex's cell; V, or none.
    pub slots: Buffer<CellSlot>,
}

impl DeviceCells {
    /// Bytes that stay, for V points, without the vertices' slots.
    pub fn bytes_needed(points: usize) -> usize {
        let slots = SLOTS_PER_VERTEX * points;
        slots * (size_of::<u64>() + size_of::<u32>())
            + points * (size_of::<u32>() + FILTER_BITS / 8)
    }

    /// The arrays as a search among `points` takes them, from which the cells were made.
    pub fn search<'a>(&'a self, points: &'a Buffer<DVec3>) -> CellsBuffers<'a> {
        CellsBuffers {
            table: self.table,
            points,
            filter: &self.filter,
            keys: &self.keys,
            offsets: &self.offsets,
            items: &self.items,
        }
    }

    /// Places all points in cells; with `keeps_slots`, keeps the vertices' slots.
    pub fn build(
        on: &Device,
        points: &Buffer<DVec3>,
        options: &Options,
        keeps_slots: bool,
    ) -> Result<Self> {
        let n = points.len();
        stage(on, "hashed cells", || {
            let count = next_prime(SLOTS_PER_VERTEX * n);
            let key_bits = options.tuning.key_bits;
            let table = table(&options.nearness(), count as u32, key_bits);
            let mut owners = on.filled(count, Vertex::NONE)?;
            let mut slots = on.uninitialized(n)?;
            let mut found = on.filled(1, Vertex::NONE)?;
            kernel::claim_cells::launch(
                on,
                n as u32,
                points,
                table,
                &mut owners,
                &mut slots,
                &mut found,
            )?;
            match on.read(&found, 0)? {
                Vertex::NONE => {}
                bad => {
                    return Err(Error::Coordinate {
                        vertex: bad.index() as usize,
                    });
                }
            }
            let mut keys = on.uninitialized(count)?;
            let mut filter = on.filled((FILTER_BITS * n).div_ceil(32).max(1), 0)?;
            kernel::key_cells::launch(
                on,
                count as u32,
                &owners,
                points,
                table,
                &mut keys,
                &mut filter,
            )?;
            drop(owners);
            // SAFETY: each point has the slot of a cell.
            let (lists, largest) =
                unsafe { bucket_long::<u32, u32>(on, slots.as_words(), count, n, most_alone(on)) }?;
            let (offsets, items) = lists.into_parts();
            Ok(Self {
                table,
                filter,
                keys,
                offsets,
                items: items.cast(),
                largest,
                slots: if keeps_slots {
                    slots
                } else {
                    on.uninitialized(0)?
                },
            })
        })
    }
}

/// The table's parameters. Cells are a little wider than the reach, for the rounding of coordinates in them.
fn table(near: &Nearness, slots: u32, key_bits: u32) -> CellTable {
    let side = (near.reach * (1.0 + 1.0 / 1024.0)).max(1e-300);
    CellTable {
        near: Grid {
            scale: near.scale,
            bound: near.bound,
            ..Grid::zeroed()
        },
        inverse_side: 1.0 / side,
        key_mask: u64::MAX >> (64 - key_bits.clamp(1, 64)),
        slots,
        around: u32::from(near.reach > 0.0),
    }
}

/// The lowest prime from `n` on, 3 at least.
fn next_prime(n: usize) -> usize {
    let is_prime = |&p: &usize| {
        (3..)
            .step_by(2)
            .take_while(|d| d * d <= p)
            .all(|d| p % d != 0)
    };
    (n.max(3) | 1..)
        .step_by(2)
        .find(is_prime)
        .expect("there is always another prime")
}

#[cfg(test)]
mod tests {
    use super::next_prime;

    #[test]
    fn primes() {
        let primes = [0, 4, 9, 24, 90, 7919, 400_000].map(next_prime);
        assert_eq!(primes, [3, 5, 11, 29, 97, 7919, 400_009]);
    }
}
