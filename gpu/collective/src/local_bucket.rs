//! Bucketing of keys with equal keys near each other, such as the corners of tetrahedra: as
//! [`count_keys()`](super::count_keys()) and [`fill_buckets()`](super::fill_buckets()), but the keys of a tile are
//! counted in a table in shared memory first.
//!
//! A tile of 256 tetrahedra has 1,024 corners at about 200 vertices, if the mesh is in a good order: one atomic
//! addition for each key of a tile, instead of one for each element, and elements of a key are written side by side.
//! Without any order it takes as many additions, and the table in addition.

use trioxide_kernel::{Atomic, Block, In, Lanes, NONE, Out, Shared, SharedMemory, kernel};

/// Lanes of a block.
const LANES: usize = 256;
/// Elements of a lane, one vector load.
const ITEMS: u32 = 4;
/// Elements of a tile.
pub const LOCAL_TILE: u32 = LANES as u32 * ITEMS;
/// Slots of the table: twice the elements.
const SLOTS: u32 = 2 * LOCAL_TILE;
/// Consecutive slots of a lane.
const OWN: u32 = SLOTS / LANES as u32;

/// Keys of a tile, and their elements in it.
#[derive(SharedMemory)]
pub struct LocalKeys {
    keys: Shared<u32, { SLOTS as usize }>,
    counts: Shared<u32, { SLOTS as usize }>,
}

/// The same arrays, and the elements in the order of their slots.
#[derive(SharedMemory)]
pub struct LocalBuckets {
    table: LocalKeys,
    items: Shared<u32, { LOCAL_TILE as usize }>,
    places: Shared<u32, { LOCAL_TILE as usize }>,
}

/// The slot of each element of a lane, and its rank in the slot.
type Places = [(u32, u32); ITEMS as usize];

/// Puts the keys of a tile into the table. An element whose key is not below `keys_below` has slot `NONE`.
#[inline(always)]
fn meet<S: SharedMemory>(
    block: &Block<LANES, S>,
    table: &LocalKeys,
    keys: In<u32>,
    keys_below: u32,
) -> Lanes<Places, LANES> {
    block.phase(|lane| {
        let mut slot = lane.index();
        while slot < SLOTS {
            table.keys.set(lane, slot, NONE);
            table.counts.set(lane, slot, 0);
            slot += LANES as u32;
        }
    });
    let places = block.lanes(|lane| {
        let first = block.index() * LOCAL_TILE + lane.index() * ITEMS;
        let own = keys.quad(first);
        let place = |k: u32| {
            let key = own[k as usize];
            if first + k >= keys.len() || key >= keys_below {
                return (NONE, 0);
            }
            let mut slot = key.wrapping_mul(0x9E37_79B9) >> (32 - SLOTS.ilog2());
            loop {
                let other = table.keys.claim(lane, slot, NONE, key);
                if other == NONE || other == key {
                    return (slot, table.counts.add(lane, slot, 1));
                }
                slot = (slot + 1) % SLOTS;
            }
        };
        [place(0), place(1), place(2), place(3)]
    });
    // A barrier: all counts are complete.
    block.phase(|_| {});
    places
}

/// Counts the elements of each key, into `counts[key + 1]`. Elements whose key has no count are skipped.
#[kernel(
    requires(keys.len().div_ceil(LOCAL_TILE as usize) == n, !counts.is_empty()),
    moves(keys.bytes() + 2 * counts.bytes())
)]
pub fn count_local_keys(block: &Block<LANES, LocalKeys>, keys: In<u32>, counts: Atomic) {
    let table = block.shared();
    meet(block, table, keys, counts.len() - 1);
    block.lanes(|lane| {
        let mut slot = lane.index();
        while slot < SLOTS {
            let count = table.counts.at(slot);
            if count > 0 {
                counts.add(table.keys.at(slot) + 1, count);
            }
            slot += LANES as u32;
        }
    });
}

/// Puts each element into its key's bucket, as [`fill_buckets()`](super::fill_buckets()) does: before,
/// `offsets[key + 1]` is the start of the bucket, and afterwards its end.
#[kernel(
    requires(keys.len().div_ceil(LOCAL_TILE as usize) == n, !offsets.is_empty()),
    moves(keys.bytes() + 2 * offsets.bytes() + items.bytes())
)]
pub fn fill_local_buckets(
    block: &Block<LANES, LocalBuckets>,
    keys: In<u32>,
    offsets: Atomic,
    items: Out<u32>,
) {
    let tile = block.shared();
    let table = &tile.table;
    let own = meet(block, table, keys, offsets.len() - 1);
    let sums = block.lanes(|lane| {
        let mut sum = 0;
        let mut i = 0;
        while i < OWN {
            sum += table.counts.at(lane.index() * OWN + i);
            i += 1;
        }
        sum
    });
    let (before, total) = block.exclusive_sum(&sums);
    // From here on a slot holds its bucket's place less the place in the tile, where its key was, and the place in the
    // tile, where its count was.
    block.phase(|lane| {
        let mut place = before.at(lane);
        let mut i = 0;
        while i < OWN {
            let slot = lane.index() * OWN + i;
            let count = table.counts.at(slot);
            if count > 0 {
                let start = offsets.add(table.keys.at(slot) + 1, count);
                table.keys.set(lane, slot, start.wrapping_sub(place));
                table.counts.set(lane, slot, place);
            }
            place += count;
            i += 1;
        }
    });
    block.phase(|lane| {
        let first = block.index() * LOCAL_TILE + lane.index() * ITEMS;
        let own = own.at(lane);
        let put = |k: u32| {
            let (slot, rank) = own[k as usize];
            if slot != NONE {
                let place = table.counts.at(slot) + rank;
                tile.items.set(lane, place, first + k);
                tile.places
                    .set(lane, place, table.keys.at(slot).wrapping_add(place));
            }
        };
        put(0);
        put(1);
        put(2);
        put(3);
    });
    block.lanes(|lane| {
        let mut place = lane.index();
        while place < total {
            items.set(tile.places.at(place), tile.items.at(place));
            place += LANES as u32;
        }
    });
}
