//! The paper's sparse voxel grid (chapter 5): lists of neighbours in compressed sparse rows, made in two passes over
//! the hashed cells, then frontiers over the lists.
//!
//! The passes (section 5.4.2, Algorithm 8): count each vertex's neighbours, scan, list them. One thread for each vertex
//! does the cells with few vertices. Blocks do a crowded cell (sections 5.3.3 and 5.4.3): its vertices read the same 27
//! cells, so a block loads these into shared memory, a tile at a time, and each lane compares its vertex with the tile.
//!
//! Rounds (section 5.4.4, Algorithm 9) go through the frontier: the vertices that were decided in the round before
//! inform their higher neighbours, by the rules of `dependency.rs`. Differences from the paper:
//!
//! - A thread goes through a list, not a warp: if half of the vertices are merged, a list has one entry on average.
//! - The frontier is a bit set that becomes an ascending list. The paper's buffers fill in the order in which warps
//!   arrive.
//! - No list is too long: sums of counts have 64 bits, and lists that do not fit are refused with the bytes that they
//!   need.
//!
//! It takes 45 bytes a vertex beside its position, and 4 for each pair of neighbours. It searches once for each vertex
//! and pass; the on-the-fly version searches as often in its rounds, which here only read lists. It is the cheapest of
//! the paper's methods for crowded cells, as long as the lists fit.

use trioxide_kernel::safe::{Atomic, In, Own, Safe};
use trioxide_kernel::{Bits, Block, Lanes, NoCells, Out, Shared, SharedMemory, kernel, view};

use super::dependency::{Dependencies, HigherNeighbours, Total};
use super::hashed_cells::{Cells, is_crowded};
use super::ids::CellSlot;
use crate::ids::{Item, Vertex};

/// Lanes of a block that works on a share of a crowded cell, and vertices of a share.
const LANES: usize = 256;
/// Vertices of a tile: one for each lane to load.
const TILE: u32 = LANES as u32;

/// Whether a block's share of a crowded cell begins at `items[place]`.
#[kernel(
    requires(items.len() == n, slots.len() == n),
    moves(items.bytes() + slots.bytes() + 4 * words(n))
)]
pub fn mark_crowded(
    place: Own<Item>,
    offsets: In<u32>,
    items: In<Vertex, Item>,
    slots: In<CellSlot, Vertex>,
) -> bool {
    let slot = slots.at(items.at(place));
    is_crowded(slot, offsets)
        && (place.index() - offsets.at(slot.index())).is_multiple_of(LANES as u32)
}

/// Shared memory of a block: vertices that each lane compares with its own.
#[derive(SharedMemory)]
pub struct Tile {
    /// All x, then all y, then all z.
    coordinates: Shared<f64, { 3 * TILE as usize }>,
    ids: Shared<Vertex, { TILE as usize }>,
    /// Whether the lists are too long already.
    beyond: Shared<u32, 1>,
}

/// The vertex of a lane, or none, and its position.
#[derive(Clone, Copy)]
struct Query {
    vertex: Vertex,
    position: [f64; 3],
}

/// The share of a crowded cell that begins at `items[first]`: a vertex for each lane.
#[inline(always)]
fn queries(
    block: &Block<LANES, Tile>,
    cells: &Cells,
    first: u32,
    slots: view::In<CellSlot>,
) -> Lanes<Query, LANES> {
    let slot = slots.at(cells.items.at(first));
    let end = cells.offsets.at(slot.index() + 1);
    block.lanes(|lane| {
        if first + lane.index() >= end {
            return Query {
                vertex: Vertex::NONE,
                position: [0.0; 3],
            };
        }
        let vertex = cells.items.at(first + lane.index());
        Query {
            vertex,
            position: cells.points.at(vertex).to_array(),
        }
    })
}

/// Goes through all neighbours of the lanes' vertices: `step(value, v, w)` for each, from `initial(v)` on.
///
/// All vertices are in one cell, that of `items[first]`, so all lanes go through the same tiles.
#[inline(always)]
fn fold_neighbours<T: Copy>(
    block: &Block<LANES, Tile>,
    cells: &Cells,
    first: u32,
    queries: &Lanes<Query, LANES>,
    initial: impl Fn(Vertex) -> T + NoCells,
    step: impl Fn(T, Vertex, Vertex) -> T + NoCells,
) -> Lanes<T, LANES> {
    let Tile {
        coordinates, ids, ..
    } = block.shared();
    let mut folded = block.lanes(|lane| {
        let v = queries.at(lane).vertex;
        initial(if v.is_none() { Vertex::new(0) } else { v })
    });
    let p = cells.points.at(cells.items.at(first)).to_array();
    cells.each_cell(p, |first, end| {
        let mut tile = first;
        while tile < end {
            let count = (end - tile).min(TILE);
            block.phase(|lane| {
                if lane.index() < count {
                    let w = cells.items.at(tile + lane.index());
                    let [x, y, z] = cells.points.at(w).to_array();
                    coordinates.set(lane, lane.index(), x);
                    coordinates.set(lane, TILE + lane.index(), y);
                    coordinates.set(lane, 2 * TILE + lane.index(), z);
                    ids.set(lane, lane.index(), w);
                }
            });
            folded = block.lanes(|lane| {
                let mut value = folded.at(lane);
                let Query { vertex, position } = queries.at(lane);
                if vertex.is_none() {
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
            // The next tile overwrites this one.
            block.phase(|_| ());
            tile += TILE;
        }
    });
    folded
}

/// As [`count_neighbours`](super::count_neighbours()), for the vertices of crowded cells: a block for each of `shares`,
/// places in `items`.
#[kernel(
    requires(
        shares.len() == n,
        cells.fit(cells.points.len()),
        n == 0 || slots.len() == cells.points.len(),
        depend.len() == cells.points.len(),
        counts.len() > cells.points.len(),
        total.words.len() == 2
    )
)]
pub fn count_crowded_neighbours(
    block: &Block<LANES, Tile>,
    shares: view::In<u32>,
    cells: Cells,
    slots: view::In<CellSlot>,
    depend: Out<u32>,
    counts: Out<u32>,
    total: Total,
) {
    // One read for all lanes, so that they stay together.
    let beyond = &block.shared().beyond;
    block.phase(|lane| {
        if lane.index() == 0 {
            beyond.set(lane, 0, u32::from(total.is_beyond()));
        }
    });
    let is_beyond = beyond.at(0) != 0;
    block.phase(|_| ());
    if is_beyond {
        return;
    }
    // SAFETY: the launch's promise: the table's lists hold vertices.
    let cells = unsafe { cells.trusted() };
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
        if v.is_some() {
            let (lower, higher) = found.at(lane);
            depend.set(v, lower);
            counts.set(v, higher);
            total.add(higher);
        }
    });
}

/// As [`list_neighbours`](super::list_neighbours()), for the vertices of crowded cells.
#[kernel(
    requires(
        shares.len() == n,
        cells.fit(cells.points.len()),
        n == 0 || slots.len() == cells.points.len(),
        starts.len() == cells.points.len() + 1
    )
)]
pub fn list_crowded_neighbours(
    block: &Block<LANES, Tile>,
    shares: view::In<u32>,
    cells: Cells,
    slots: view::In<CellSlot>,
    starts: view::In<u32>,
    higher: Out<Vertex>,
) {
    // SAFETY: the launch's promise: the table's lists hold vertices.
    let cells = unsafe { cells.trusted() };
    let first = shares.at(block.index());
    let queries = queries(block, &cells, first, slots);
    fold_neighbours(
        block,
        &cells,
        first,
        &queries,
        |v| starts.at(v),
        |place, v, w| {
            if w > v {
                higher.set(place, w);
            }
            place + u32::from(w > v)
        },
    );
}

/// Whether vertex `v` has no lower neighbour: the first frontier.
#[kernel(requires(depend.len() == n), moves(depend.bytes() + 4 * words(n)))]
pub fn mark_sources(v: Own<Vertex>, depend: In<u32, Vertex>) -> bool {
    depend.at(v) == 0
}

/// Informs the higher neighbours of vertex `frontier[i]` that it is decided. Adds the vertices that are decided by this
/// to the bit set `next`, and removes the frontier from it.
#[kernel(
    requires(
        frontier.len() == n,
        dependencies.fit(neighbours.starts.len() - 1),
        next.len() == words(neighbours.starts.len() - 1)
    )
)]
pub fn advance_frontier(
    i: Own<Item>,
    frontier: In<Vertex, Item>,
    neighbours: HigherNeighbours,
    dependencies: Dependencies,
    next: Atomic<Bits<Vertex>>,
) {
    let u = frontier.at(i);
    next.clear_bit(u);
    let is_representative = dependencies.lowest.load(u) == u;
    let HigherNeighbours { starts, vertices } = neighbours;
    let [mut place, end] = starts.at_all([u.index(), u.index() + 1]);
    while place < end {
        let w = vertices.at(place);
        if dependencies.inform(u, is_representative, w) {
            next.set_bit(w);
        }
        place += 1;
    }
}
