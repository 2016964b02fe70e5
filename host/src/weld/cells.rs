//! The hashed cells on a device: what the paper's methods search in. The kernels are in `gpu::weld`.

use bytemuck::Zeroable;
use glam::DVec3;
use gpu::weld as kernel;
use gpu::weld::{CellTable, Grid};
use trioxide_kernel::NONE;
use trioxide_kernel::launch::Buffer;

use super::{Nearness, Options, bad_vertex};
use crate::Result;
use crate::backend::Device;
use crate::collective::bucket_known;

/// Slots of the table for each vertex: at most half of them are taken.
const SLOTS_PER_VERTEX: usize = 2;

/// Bits of the filter for each vertex.
const FILTER_BITS: usize = 8;

/// Points by cells, V of them.
pub struct DeviceCells {
    pub table: Buffer<CellTable>,
    /// Bits of the keys that the table has.
    pub filter: Buffer<u32>,
    /// Key of each slot.
    pub keys: Buffer<u64>,
    /// Start of each slot's vertices in `items`, and the end of the last.
    pub offsets: Buffer<u32>,
    /// Vertices by slot, ascending in each.
    pub items: Buffer<u32>,
    /// Slot of each vertex's cell; V, or none.
    pub slots: Buffer<u32>,
}

impl DeviceCells {
    /// Bytes that stay, for V points, without the vertices' slots.
    pub fn bytes_needed(points: usize) -> usize {
        let slots = SLOTS_PER_VERTEX * points;
        slots * (size_of::<u64>() + size_of::<u32>())
            + points * (size_of::<u32>() + FILTER_BITS / 8)
    }

    /// Places all points in cells; keeps the vertices' slots if asked to.
    pub fn build(
        on: &Device,
        points: &Buffer<DVec3>,
        options: &Options,
        keeps_slots: bool,
    ) -> Result<Self> {
        let n = points.len();
        on.stage("hashed cells", || {
            let count = next_prime(SLOTS_PER_VERTEX * n);
            let key_bits = options.tuning.key_bits;
            let table = on.upload(&[table(&options.nearness(), count as u32, key_bits)])?;
            let mut owners = on.filled(count, NONE)?;
            let mut slots = on.uninitialized(n)?;
            let mut found = on.filled(1, NONE)?;
            unsafe {
                kernel::claim_cells::launch(
                    on,
                    n as u32,
                    points,
                    &table,
                    &mut owners,
                    &mut slots,
                    &mut found,
                )
            }?;
            match on.read(&found, 0)? {
                NONE => {}
                bad => return Err(bad_vertex(bad as usize)),
            }
            let mut keys = on.uninitialized(count)?;
            let mut filter = on.filled((FILTER_BITS * n).div_ceil(32).max(1), 0)?;
            unsafe {
                kernel::key_cells::launch(
                    on,
                    count as u32,
                    &owners,
                    points,
                    &table,
                    &mut keys,
                    &mut filter,
                )
            }?;
            drop(owners);
            // SAFETY: each point has the slot of a cell.
            let (offsets, items) =
                unsafe { bucket_known::<u32, u32>(on, &slots, count, n) }?.into_parts();
            Ok(Self {
                table,
                filter,
                keys,
                offsets,
                items,
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
