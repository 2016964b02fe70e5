//! Neighbours of nodes of tetrahedra (section 3.2.1): each node collects them in a table in shared memory.
//!
//! A node of a mesh has about 24 tetrahedra with three other vertices each, and 14 neighbours: most of the 72 are there already. A lane
//! has a node and a column of the table, so that lanes meet in no bank. The lists of a block are written side by side.

use trioxide_kernel::{Bits, Block, In, Lanes, Out, Shared, SharedMemory, kernel};

use super::cells::{Stars, VOLUME};
use super::cells_of_nodes::LIGHT;
use super::neighbours::list_start;
#[cfg(not(target_arch = "nvptx64"))]
use super::neighbours::lists_room;
use crate::ids::Vertex;

/// Nodes of a block.
pub const NEIGHBOUR_NODES: usize = 128;
const NODES: u32 = NEIGHBOUR_NODES as u32;
/// Slots of a node's table; the members of a set of slots are the bits of a `u64`.
const SLOTS: u32 = 40;
/// Most neighbours that are collected there.
const MOST: u32 = 34;
/// Corners of a block that are read side by side, and most neighbours that are written so.
const STAGED: u32 = 4096;
/// The length of a list that is left to others.
const LEFT: u32 = u32::MAX;

/// Shared memory of a block.
#[derive(SharedMemory)]
pub struct NeighbourTile {
    slots: Shared<Vertex, { SLOTS as usize * NEIGHBOUR_NODES }>,
    staged: Shared<u32, { STAGED as usize }>,
    is_left: Shared<u8, NEIGHBOUR_NODES>,
}

/// Place of slot `slot` of a lane's table, of `lanes` tables: on a device a lane has a column, on a CPU a row.
#[inline(always)]
pub(super) fn column(lane: u32, slot: u32, slots: u32, lanes: u32) -> u32 {
    if cfg!(target_arch = "nvptx64") {
        slot * lanes + lane
    } else {
        lane * slots + slot
    }
}

/// The three other vertices of the tetrahedron at a corner.
#[inline(always)]
pub(super) fn opposite(stars: Stars, corner: u32) -> [Vertex; 3] {
    let own = corner % 4;
    let [a, b, c, d] = stars.cells.vertices.quad(corner - own);
    [
        if own == 0 { b } else { a },
        if own <= 1 { c } else { b },
        if own <= 2 { d } else { c },
    ]
}

type Slots = Shared<Vertex, { SLOTS as usize * NEIGHBOUR_NODES }>;

/// The table of a lane: its taken slots, and their number, at most one more than [`MOST`].
#[derive(Clone, Copy)]
struct Table {
    taken: u64,
    count: u32,
}

impl Table {
    #[inline(always)]
    fn put(&mut self, slots: &Slots, lane: u32, u: Vertex) {
        let hash = u.index().wrapping_mul(0x9E37_79B9);
        let mut slot = ((hash >> 16) * SLOTS) >> 16;
        while self.taken >> slot & 1 != 0 {
            if slots.at(column(lane, slot, SLOTS, NODES)) == u {
                return;
            }
            slot = if slot + 1 == SLOTS { 0 } else { slot + 1 };
        }
        // A table with free slots ends each search.
        if self.count <= MOST {
            slots.set(column(lane, slot, SLOTS, NODES), u);
            self.taken |= 1 << slot;
            self.count += 1;
        }
    }

    /// Brings the neighbours into ascending order, from slot 0 on.
    #[inline(always)]
    fn order(mut self, slots: &Slots, lane: u32) {
        let place = |slot| column(lane, slot, SLOTS, NODES);
        // The i-th taken slot is i or behind it: what is read is not overwritten before.
        let mut listed = 0;
        while self.taken != 0 {
            let u = slots.at(place(self.taken.trailing_zeros()));
            self.taken &= self.taken - 1;
            let mut hole = listed;
            while hole > 0 {
                let before = slots.at(place(hole - 1));
                if before < u {
                    break;
                }
                slots.set(place(hole), before);
                hole -= 1;
            }
            slots.set(place(hole), u);
            listed += 1;
        }
    }
}

/// Calls `visit` in lanes with their state and the places in `staged` of their node's corners, as far as they are there, round by
/// round: the corners of `nodes` nodes from `first` on are read side by side. A node of more than [`LIGHT`] cells is left out.
#[inline(always)]
pub(super) fn each_round<const LANES: usize, const N: usize, S: SharedMemory, T: Copy>(
    block: &Block<LANES, S>,
    staged: &Shared<u32, N>,
    stars: Stars,
    first: u32,
    nodes: u32,
    start: T,
    visit: impl Fn(u32, T, u32, u32) -> T,
) -> Lanes<T, LANES> {
    let mut states = block.lanes(|_| start);
    let end = stars.starts.at(first + nodes);
    let mut round = stars.starts.at(first);
    while round < end {
        let behind = round + (end - round).min(N as u32);
        block.phase(|lane| {
            let mut s = round + lane;
            while s < behind {
                let corner = stars.corner(s);
                stars.cells.vertices.prefetch(corner);
                staged.set(s - round, corner.index());
                s += LANES as u32;
            }
        });
        states = block.lanes(|lane| {
            let state = states.at(lane);
            if lane >= nodes {
                return state;
            }
            let v = Vertex::new(first + lane);
            let (from, to) = (stars.start(v), stars.end(v));
            if to - from > LIGHT || to <= round || from >= behind {
                return state;
            }
            visit(lane, state, from.max(round) - round, to.min(behind) - round)
        });
        // A barrier: the next round reads other corners.
        block.phase(|_| {});
        round = behind;
    }
    states
}

/// Lists the neighbours of each node of [`NEIGHBOUR_NODES`], ascending, and counts them. The lists of a block lie one behind the
/// other, from the room of its first node on. `left` gets the nodes that are left to
/// [`sort_candidates()`](super::sort_candidates()): those of more than [`LIGHT`] cells, or whose list has no room for them.
#[kernel(
    requires(
        stars.fit(stars.nodes()),
        n == stars.nodes().div_ceil(NEIGHBOUR_NODES),
        lists.len() as u64 >= lists_room(stars.nodes() as u32, stars.corners.len() as u32, VOLUME),
        counts.len() >= stars.nodes(),
        left.len() == words(stars.nodes())
    ),
    moves(stars.bytes() + counts.bytes() + left.bytes())
)]
pub fn gather_tet_neighbours(
    block: &Block<NEIGHBOUR_NODES, NeighbourTile>,
    stars: Stars,
    lists: Out<Vertex>,
    counts: Out<u32>,
    left: Out<u32>,
) {
    let tile = block.shared();
    let first = block.index() * NODES;
    let nodes = stars.starts.len() - 1;
    let own = (nodes - first).min(NODES);
    let empty = Table { taken: 0, count: 0 };
    let tables = each_round(
        block,
        &tile.staged,
        stars,
        first,
        own,
        empty,
        |lane, mut table, from, to| {
            let mut s = from;
            while s < to {
                let [p, q, r] = opposite(stars, tile.staged.at(s));
                table.put(&tile.slots, lane, p);
                table.put(&tile.slots, lane, q);
                table.put(&tile.slots, lane, r);
                s += 1;
            }
            table
        },
    );
    let found = block.lanes(|lane| {
        if lane >= own {
            return 0;
        }
        let v = first + lane;
        let (start, end) = (stars.starts.at(v), stars.starts.at(v + 1));
        let room = list_start(end, v + 1, VOLUME) - list_start(start, v, VOLUME);
        let table = tables.at(lane);
        if end - start > LIGHT || table.count > MOST || table.count > room {
            return LEFT;
        }
        table.order(&tile.slots, lane);
        table.count
    });
    let lengths = block.lanes(|lane| {
        let length = found.at(lane);
        if length == LEFT { 0 } else { length }
    });
    let (before, total) = block.exclusive_sum(&lengths);
    let is_staged = total <= STAGED;
    let from = list_start(stars.starts.at(first), first, VOLUME);
    let item = |lane, k| tile.slots.at(column(lane, k, SLOTS, NODES));
    block.phase(|lane| {
        tile.is_left.set(lane, u8::from(found.at(lane) == LEFT));
        if first + lane < nodes {
            counts.set(first + lane, lengths.at(lane));
        }
        if is_staged {
            let mut k = 0;
            while k < lengths.at(lane) {
                tile.staged.set(before.at(lane) + k, item(lane, k).index());
                k += 1;
            }
        }
    });
    block.lanes(|lane| {
        if is_staged {
            let mut i = lane;
            while i < total {
                lists.set(from + i, Vertex::new(tile.staged.at(i)));
                i += NODES;
            }
        } else {
            let mut k = 0;
            while k < lengths.at(lane) {
                lists.set(from + before.at(lane) + k, item(lane, k));
                k += 1;
            }
        }
        let word = first / 32 + lane;
        if lane < NODES / 32 && word < left.len() {
            let mut bits = 0;
            let mut k = 0;
            while k < 32 {
                bits |= u32::from(tile.is_left.at(32 * lane + k)) << k;
                k += 1;
            }
            left.set(word, bits);
        }
    });
}

/// Moves the lists of [`gather_tet_neighbours()`] to their rows, but for nodes in `left`.
#[kernel(
    requires(
        n == (starts.len() - 1).div_ceil(NEIGHBOUR_NODES),
        left.len() == words(starts.len() - 1),
        rows.len() == starts.len()
    ),
    moves(starts.bytes() + left.bytes() + rows.bytes() + 2 * neighbours.bytes())
)]
pub fn move_tet_lists(
    block: &Block<NEIGHBOUR_NODES>,
    starts: In<u32>,
    lists: In<Vertex>,
    left: In<Bits<Vertex>>,
    rows: In<u32>,
    neighbours: Out<Vertex>,
) {
    let first = block.index() * NODES;
    let nodes = starts.len() - 1;
    let lengths = block.lanes(|lane| {
        let v = Vertex::new(first + lane);
        if v.index() >= nodes || left.bit(v) {
            0
        } else {
            rows.at(v.index() + 1) - rows.at(v)
        }
    });
    let (before, total) = block.exclusive_sum(&lengths);
    let from = list_start(starts.at(first), first, VOLUME);
    let to = rows.at(first);
    if total == rows.at((first + NODES).min(nodes)) - to {
        // No node is left out: the rows are the lists as they lie.
        block.lanes(|lane| {
            let mut i = lane;
            while i < total {
                neighbours.set(to + i, lists.at(from + i));
                i += NODES;
            }
        });
    } else {
        block.lanes(|lane| {
            let mut k = 0;
            while k < lengths.at(lane) {
                let to = rows.at(first + lane) + k;
                neighbours.set(to, lists.at(from + before.at(lane) + k));
                k += 1;
            }
        });
    }
}
