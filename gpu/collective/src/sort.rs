//! A stable sort of numbers by keys of a few bits: passes of four bits, from the lowest on.
//!
//! A pass counts the digits of each tile, scans the counts (all tiles of digit 0, then of digit 1, and so on) and moves
//! each item to its place. A tile is ordered in shared memory first, so that its items of a digit are written side by
//! side.
//!
//! A CPU's thread writes to more places at once than a tile has digits, and waits for no other: there the lanes of a
//! tile are one, its digits have eight bits, and its items are moved at once ([`count_bytes()`], [`move_by_byte()`]).

use trioxide_kernel::{Block, In, Lanes, Out, Shared, SharedMemory, kernel};

/// Lanes of a block.
const LANES: usize = 256;
/// Consecutive items of a lane: two vector loads.
const ITEMS: u32 = 8;
/// Items of a tile.
pub const SORT_TILE: u32 = LANES as u32 * ITEMS;
/// Bits of a pass.
pub const DIGIT_BITS: u32 = 4;
/// Digits of a pass.
pub const DIGITS: u32 = 1 << DIGIT_BITS;

/// Counters of the lanes' digits: a row of lanes for each digit, with a padding of two after each 16, so that lanes
/// that take 16 counters each have no bank conflicts.
const COUNTERS: usize = DIGITS as usize * LANES / 16 * 18;

/// Shared memory of a block that counts.
#[derive(SharedMemory)]
pub struct Digits {
    counters: Shared<u16, COUNTERS>,
}

/// Shared memory of a block that moves: its items in the order of their digits.
#[derive(SharedMemory)]
pub struct SortedTile {
    digits: Digits,
    /// Starts of the digits, less their places in the tile.
    starts: Shared<u32, { DIGITS as usize }>,
    keys: Shared<u32, { SORT_TILE as usize }>,
    items: Shared<u32, { SORT_TILE as usize }>,
}

/// Place of the counter of `lane` for `digit`.
#[inline(always)]
fn counter(digit: u32, lane: u32) -> u32 {
    let place = digit * LANES as u32 + lane;
    place + place / 16 * 2
}

/// Digit of a key.
#[inline(always)]
fn digit_of(key: u32, shift: u32) -> u32 {
    key >> (shift & 31) & (DIGITS - 1)
}

/// The keys of a lane, and their number.
type Keys = ([u32; ITEMS as usize], u32);

/// Counts the digits of a tile's keys. The tile is then ordered by digits, lanes and keys; the counter of a lane and a
/// digit is the number of keys before the lane's first key with that digit.
#[inline(always)]
fn rank_digits<S: SharedMemory>(
    block: &Block<LANES, S>,
    counters: &Shared<u16, COUNTERS>,
    keys: &Lanes<Keys, LANES>,
    shift: u32,
) {
    block.phase(|lane| {
        let mut digit = 0;
        while digit < DIGITS {
            counters.set(lane, counter(digit, lane.index()), 0);
            digit += 1;
        }
        let (keys, count) = keys.at(lane);
        let mut i = 0;
        while i < ITEMS {
            if i < count {
                let own = counter(digit_of(keys[i as usize & 7], shift), lane.index());
                counters.set(lane, own, counters.at(own) + 1);
            }
            i += 1;
        }
    });
    // A lane takes 16 consecutive counters.
    let sums = block.lanes(|lane| {
        let mut sum = 0;
        let mut i = 0;
        while i < 16 {
            sum += u32::from(counters.at(lane.index() * 18 + i));
            i += 1;
        }
        sum
    });
    let (before, _) = block.exclusive_sum(&sums);
    block.phase(|lane| {
        let mut sum = before.at(lane);
        let mut i = 0;
        while i < 16 {
            let own = u32::from(counters.at(lane.index() * 18 + i));
            counters.set(lane, lane.index() * 18 + i, sum as u16);
            sum += own;
            i += 1;
        }
    });
}

/// The keys of the lanes of a tile.
#[inline(always)]
fn keys_of<S: SharedMemory>(block: &Block<LANES, S>, keys: In<u32>) -> Lanes<Keys, LANES> {
    block.lanes(|lane| {
        let first = block.index() * SORT_TILE + lane.index() * ITEMS;
        let [a, b, c, d] = keys.quad(first);
        let [e, f, g, h] = keys.quad(first + 4);
        let count = keys.len().saturating_sub(first).min(ITEMS);
        ([a, b, c, d, e, f, g, h], count)
    })
}

/// Number of items of tile `tile`, of `all` items in all tiles.
#[inline(always)]
fn tile_len(tile: u32, all: u32) -> u32 {
    (all - tile * SORT_TILE).min(SORT_TILE)
}

/// Counts the keys of each tile by their digit from bit `shift` on: `counts[digit * n + tile]`.
#[kernel(
    requires(
        keys.len().div_ceil(SORT_TILE as usize) == n,
        counts.len() == DIGITS as usize * n
    ),
    moves(keys.bytes() + counts.bytes())
)]
pub fn count_digits(
    block: &Block<LANES, Digits>,
    keys: In<u32>,
    counts: Out<u32>,
    shift: u32,
    tiles: u32,
) {
    let counters = &block.shared().counters;
    let own = keys_of(block, keys);
    rank_digits(block, counters, &own, shift);
    block.lanes(|lane| {
        if lane.index() < DIGITS {
            let start = counters.at(counter(lane.index(), 0));
            let end = if lane.index() + 1 < DIGITS {
                u32::from(counters.at(counter(lane.index() + 1, 0)))
            } else {
                tile_len(block.index(), keys.len())
            };
            counts.set(lane.index() * tiles + block.index(), end - u32::from(start));
        }
    });
}

/// Moves each item of each tile to its place by its digit, and its key unless `moved_keys` is empty: `starts` are the
/// scanned counts. Without `items` an item is its own place.
#[kernel(
    requires(
        keys.len().div_ceil(SORT_TILE as usize) == n,
        starts.len() == DIGITS as usize * n,
        items.is_empty() || items.len() == keys.len(),
        moved_keys.is_empty() || moved_keys.len() == keys.len(),
        moved.len() == keys.len()
    ),
    moves(keys.bytes() + items.bytes() + starts.bytes() + moved_keys.bytes() + moved.bytes())
)]
pub fn move_by_digit(
    block: &Block<LANES, SortedTile>,
    keys: In<u32>,
    items: In<u32>,
    starts: In<u32>,
    moved_keys: Out<u32>,
    moved: Out<u32>,
    shift: u32,
    tiles: u32,
) {
    let tile = block.shared();
    let counters = &tile.digits.counters;
    let own = keys_of(block, keys);
    rank_digits(block, counters, &own, shift);
    block.phase(|lane| {
        if lane.index() < DIGITS {
            let before = u32::from(counters.at(counter(lane.index(), 0)));
            let start = starts.at(lane.index() * tiles + block.index());
            tile.starts
                .set(lane, lane.index(), start.wrapping_sub(before));
        }
    });
    block.phase(|lane| {
        let first = block.index() * SORT_TILE + lane.index() * ITEMS;
        let (keys, count) = own.at(lane);
        let named = if items.is_empty() {
            let item = |i| first + i;
            [
                item(0),
                item(1),
                item(2),
                item(3),
                item(4),
                item(5),
                item(6),
                item(7),
            ]
        } else {
            let ([a, b, c, d], [e, f, g, h]) = (items.quad(first), items.quad(first + 4));
            [a, b, c, d, e, f, g, h]
        };
        let mut i = 0;
        while i < ITEMS {
            if i < count {
                let key = keys[i as usize & 7];
                let own = counter(digit_of(key, shift), lane.index());
                let place = counters.at(own);
                counters.set(lane, own, place + 1);
                tile.keys.set(lane, u32::from(place), key);
                tile.items
                    .set(lane, u32::from(place), named[i as usize & 7]);
            }
            i += 1;
        }
    });
    let count = tile_len(block.index(), keys.len());
    block.lanes(|lane| {
        let mut place = lane.index();
        while place < count {
            let key = tile.keys.at(place);
            let to = tile.starts.at(digit_of(key, shift)).wrapping_add(place);
            moved.set(to, tile.items.at(place));
            if !moved_keys.is_empty() {
                moved_keys.set(to, key);
            }
            place += LANES as u32;
        }
    });
}

/// Values of a byte.
pub const BYTES: u32 = 1 << 8;

/// A counter for each value of a byte.
#[derive(SharedMemory)]
pub struct Counters {
    counters: Shared<u32, { BYTES as usize }>,
}

/// The byte of a key from bit `shift` on.
#[inline(always)]
fn byte_of(key: u32, shift: u32) -> u32 {
    key >> (shift & 31) & (BYTES - 1)
}

/// Counts the keys of each `chunk` by their byte from bit `shift` on, by one lane: `counts[byte * n + number]`.
#[kernel(
    requires(
        chunk > 0,
        keys.len().div_ceil(chunk as usize) == n,
        chunks as usize == n,
        counts.len() == BYTES as usize * n
    ),
    moves(keys.bytes() + counts.bytes())
)]
pub fn count_bytes(
    block: &Block<32, Counters>,
    keys: In<u32>,
    counts: Out<u32>,
    shift: u32,
    chunk: u32,
    chunks: u32,
) {
    let counters = &block.shared().counters;
    block.each(BYTES, |lane, byte| counters.set(lane, byte, 0));
    block.phase(|lane| {
        if lane.index() == 0 {
            let mut i = block.index() * chunk;
            let end = i + chunk.min(keys.len() - i);
            while i < end {
                let byte = byte_of(keys.at(i), shift);
                counters.set(lane, byte, counters.at(byte) + 1);
                i += 1;
            }
        }
    });
    block.each(BYTES, |_, byte| {
        counts.set(byte * chunks + block.index(), counters.at(byte));
    });
}

/// Moves each item of each `chunk` to its place by its byte, and its key unless `moved_keys` is empty: `starts` are the
/// scanned counts. Without `items` an item is its own place.
#[kernel(
    requires(
        chunk > 0,
        keys.len().div_ceil(chunk as usize) == n,
        chunks as usize == n,
        starts.len() == BYTES as usize * n,
        items.is_empty() || items.len() == keys.len(),
        moved_keys.is_empty() || moved_keys.len() == keys.len(),
        moved.len() == keys.len()
    ),
    moves(keys.bytes() + items.bytes() + starts.bytes() + moved_keys.bytes() + moved.bytes())
)]
pub fn move_by_byte(
    block: &Block<32, Counters>,
    keys: In<u32>,
    items: In<u32>,
    starts: In<u32>,
    moved_keys: Out<u32>,
    moved: Out<u32>,
    shift: u32,
    chunk: u32,
    chunks: u32,
) {
    let places = &block.shared().counters;
    block.each(BYTES, |lane, byte| {
        places.set(lane, byte, starts.at(byte * chunks + block.index()));
    });
    block.phase(|lane| {
        if lane.index() == 0 {
            let mut i = block.index() * chunk;
            let end = i + chunk.min(keys.len() - i);
            while i < end {
                let key = keys.at(i);
                let byte = byte_of(key, shift);
                let to = places.at(byte);
                places.set(lane, byte, to + 1);
                moved.set(to, if items.is_empty() { i } else { items.at(i) });
                if !moved_keys.is_empty() {
                    moved_keys.set(to, key);
                }
                i += 1;
            }
        }
    });
}
