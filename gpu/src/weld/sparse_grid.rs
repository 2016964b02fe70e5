//! The paper's sparse voxel grid (chapter 5): lists of neighbours in compressed sparse rows, made in two passes over the hashed
//! cells, then frontiers over the lists.
//!
//! The passes (section 5.4.2, Algorithm 8): count each vertex's neighbours, scan, list them. Cells with few vertices are left to
//! one thread for each vertex. A crowded cell (sections 5.3.3 and 5.4.3) is worked on by blocks: its vertices look at the same 27
//! cells, so a block loads these into shared memory, a tile at a time, and each lane compares its vertex with the tile.
//!
//! Rounds (section 5.4.4, Algorithm 9) go through the frontier: the vertices that the round before decided tell their higher
//! neighbours, as [`super::dependency`] says. What differs from the paper:
//!
//! - A thread goes through a list, not a warp: where half of the vertices go, a list has one entry on average.
//! - The frontier is a bit set that becomes an ascending list. The paper's buffers fill in the order in which warps arrive.
//! - No list is too long: sums of counts are taken in 64 bits, and what does not fit is refused with the bytes that it needs.
//!
//! 45 bytes a vertex beside its position, and 4 for each pair of neighbours. It searches once for each vertex and pass where the
//! on-the-fly version searches in its rounds: the same number of searches, and rounds that only read lists. Crowded cells cost
//! least here of the paper's ways, as long as the lists fit.

use glam::DVec3;
use trioxide_kernel::{Atomic, Block, In, Lanes, NONE, Out, Shared, SharedMemory, kernel};

use super::cells::{CellTable, Cells};
use super::dependency::{Total, tell};

/// Most vertices of a cell that is not crowded (the paper's `TILE`).
const CROWDED: u32 = 256;
const LANES: u32 = 256;
/// Vertices of a tile: one for each lane to load.
const TILE: u32 = LANES;

/// Whether the cell in `slot` is crowded.
#[inline(always)]
pub(super) fn is_crowded(slot: u32, offsets: In<u32>) -> bool {
    offsets.at(slot + 1) - offsets.at(slot) > CROWDED
}

/// Whether a block's share of a crowded cell begins at `items[place]`.
#[kernel]
pub fn mark_crowded(place: u32, offsets: In<u32>, items: In<u32>, slots: In<u32>) -> bool {
    let slot = slots.at(items.at(place));
    is_crowded(slot, offsets) && (place - offsets.at(slot)).is_multiple_of(LANES)
}

/// Shared memory of a block: vertices that all lanes compare theirs with.
#[derive(SharedMemory)]
pub struct Tile {
    /// All x, then all y, then all z.
    coordinates: Shared<f64, { 3 * TILE as usize }>,
    ids: Shared<u32, { TILE as usize }>,
    /// Whether the lists are too long already.
    beyond: Shared<u32, 1>,
}

/// The vertex of a lane: its id (`NONE` for none) and position.
#[derive(Clone, Copy)]
struct Query {
    vertex: u32,
    position: [f64; 3],
}

/// The share of a crowded cell that begins at `items[first]`: a vertex for each lane.
#[inline(always)]
fn queries(
    block: &Block<256, Tile>,
    cells: &Cells,
    first: u32,
    slots: In<u32>,
) -> Lanes<Query, 256> {
    let end = cells.offsets.at(slots.at(cells.items.at(first)) + 1);
    block.lanes(|lane| {
        if first + lane >= end {
            return Query {
                vertex: NONE,
                position: [0.0; 3],
            };
        }
        let vertex = cells.items.at(first + lane);
        Query {
            vertex,
            position: cells.points.at(vertex).to_array(),
        }
    })
}

/// Goes through all neighbours of the lanes' vertices: `step(value, v, w)` for each, from `initial(v)` on.
///
/// All vertices are of one cell, that of `items[first]`, so all lanes go through the same tiles.
#[inline(always)]
fn fold_neighbours<T: Copy>(
    block: &Block<256, Tile>,
    cells: &Cells,
    first: u32,
    queries: &Lanes<Query, 256>,
    initial: impl Fn(u32) -> T,
    step: impl Fn(T, u32, u32) -> T,
) -> Lanes<T, 256> {
    let Tile {
        coordinates, ids, ..
    } = block.shared();
    let mut folded = block.lanes(|lane| {
        let v = queries.at(lane).vertex;
        initial(if v == NONE { 0 } else { v })
    });
    let p = cells.points.at(cells.items.at(first)).to_array();
    cells.each_cell(p, |first, end| {
        let mut tile = first;
        while tile < end {
            let count = (end - tile).min(TILE);
            block.phase(|lane| {
                if lane < count {
                    let w = cells.items.at(tile + lane);
                    let [x, y, z] = cells.points.at(w).to_array();
                    coordinates.set(lane, x);
                    coordinates.set(TILE + lane, y);
                    coordinates.set(2 * TILE + lane, z);
                    ids.set(lane, w);
                }
            });
            folded = block.lanes(|lane| {
                let mut value = folded.at(lane);
                let Query { vertex, position } = queries.at(lane);
                if vertex == NONE {
                    return value;
                }
                let mut k = 0;
                while k < count {
                    let w = ids.at(k);
                    let q = [
                        coordinates.at(k),
                        coordinates.at(TILE + k),
                        coordinates.at(2 * TILE + k),
                    ];
                    if w != vertex && cells.are_neighbours(vertex, position, w, q) {
                        value = step(value, vertex, w);
                    }
                    k += 1;
                }
                value
            });
            // The next tile takes this one's place.
            block.phase(|_| ());
            tile += TILE;
        }
    });
    folded
}

/// As [`count_neighbours`](super::count_neighbours()), for the vertices of crowded cells: a block for each of `shares`, places in
/// `items`.
#[kernel]
pub fn count_crowded_neighbours(
    block: &Block<256, Tile>,
    shares: In<u32>,
    points: In<DVec3>,
    table: In<CellTable>,
    filter: In<u32>,
    keys: In<u64>,
    offsets: In<u32>,
    items: In<u32>,
    slots: In<u32>,
    limit: u32,
    depend: Out<u32>,
    counts: Out<u32>,
    total: Atomic,
) {
    let total = Total {
        words: total,
        limit,
    };
    // Read once for all lanes, so that they stay together.
    let beyond = &block.shared().beyond;
    block.phase(|lane| {
        if lane == 0 {
            beyond.set(0, u32::from(total.is_beyond()));
        }
    });
    let is_beyond = beyond.at(0) != 0;
    block.phase(|_| ());
    if is_beyond {
        return;
    }
    let cells = Cells {
        table: table.at(0),
        points,
        filter,
        keys,
        offsets,
        items,
    };
    let first = shares.at(block.index());
    let queries = queries(block, &cells, first, slots);
    let found = fold_neighbours(
        block,
        &cells,
        first,
        &queries,
        |_| (0, 0),
        |(lower, higher), v, w| (lower + u32::from(w < v), higher + u32::from(w > v)),
    );
    block.lanes(|lane| {
        let v = queries.at(lane).vertex;
        if v != NONE {
            let (lower, higher) = found.at(lane);
            depend.set(v, lower);
            counts.set(v, higher);
            total.add(higher);
        }
    });
}

/// As [`list_neighbours`](super::list_neighbours()), for the vertices of crowded cells.
#[kernel]
pub fn list_crowded_neighbours(
    block: &Block<256, Tile>,
    shares: In<u32>,
    points: In<DVec3>,
    table: In<CellTable>,
    filter: In<u32>,
    keys: In<u64>,
    offsets: In<u32>,
    items: In<u32>,
    slots: In<u32>,
    rows: In<u32>,
    higher: Out<u32>,
) {
    let cells = Cells {
        table: table.at(0),
        points,
        filter,
        keys,
        offsets,
        items,
    };
    let first = shares.at(block.index());
    let queries = queries(block, &cells, first, slots);
    fold_neighbours(
        block,
        &cells,
        first,
        &queries,
        |v| rows.at(v),
        |place, v, w| {
            if w > v {
                higher.set(place, w);
            }
            place + u32::from(w > v)
        },
    );
}

/// Whether vertex `v` has no lower neighbour: the first frontier.
#[kernel]
pub fn mark_sources(v: u32, depend: In<u32>) -> bool {
    depend.at(v) == 0
}

/// Tells the higher neighbours of vertex `frontier[i]` that it is decided; those that are decided by it are the bits of `next`,
/// of which those of the frontier are cleared.
#[kernel]
pub fn advance_frontier(
    i: u32,
    frontier: In<u32>,
    rows: In<u32>,
    higher: In<u32>,
    depend: Atomic,
    lowest: Atomic,
    next: Atomic,
) {
    let u = frontier.at(i);
    next.clear_bit(u);
    let is_representative = lowest.load(u) == u;
    let (mut place, end) = (rows.at(u), rows.at(u + 1));
    while place < end {
        let w = higher.at(place);
        if tell(u, is_representative, w, depend, lowest) {
            next.set_bit(w);
        }
        place += 1;
    }
}
