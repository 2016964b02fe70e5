//! Neighbours of nodes of tetrahedra (section 3.2.1): each node collects them in a table in shared memory.
//!
//! A node of a mesh has about 24 tetrahedra with three other vertices each, and 14 neighbours: most of the 72 vertices
//! are in the table already. A lane has a node and a column of the table, so that lanes have no bank conflicts. The
//! lists of a block are written side by side.

use trioxide_kernel::safe::{In, OwnBlock, Safe, Scatter};
use trioxide_kernel::{Bits, Block, Lane, Out, Shared, SharedMemory, kernel};

use super::cells::{Stars, VOLUME};
use super::cells_of_nodes::LIGHT;
use super::neighbours::list_start;
#[cfg(not(target_arch = "nvptx64"))]
use super::neighbours::lists_room;
use crate::ids::{Corner, Vertex};

/// Nodes of a block.
pub const NEIGHBOUR_NODES: usize = 128;
const NODES: u32 = NEIGHBOUR_NODES as u32;
/// Slots of a node's table; the members of a set of slots are the bits of a `u64`.
const SLOTS: u32 = 48;
/// Most neighbours that a table takes.
const MOST: u32 = 40;
/// Most neighbours of a block that are written side by side.
const STAGED: usize = 24 * NEIGHBOUR_NODES;
/// The length of a list that another kernel makes.
const LEFT: u32 = u32::MAX;

/// Shared memory of a block.
#[derive(SharedMemory)]
pub struct NeighbourTile {
    slots: Shared<Vertex, { SLOTS as usize * NEIGHBOUR_NODES }>,
    staged: Shared<Vertex, STAGED>,
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

/// The three other vertices of the tetrahedron at corner `s` of the list.
#[inline(always)]
pub(super) fn opposite(stars: Stars, s: u32) -> [Vertex; 3] {
    let corner = stars.corner(s);
    let own = corner.index() % 4;
    let [a, b, c, d] = stars.cells.vertices.quad(Corner::new(corner.index() - own));
    [
        if own == 0 { b } else { a },
        if own <= 1 { c } else { b },
        if own <= 2 { d } else { c },
    ]
}

/// Collects the neighbours of node `v` in the table of `lane`, in ascending order from slot 0 on. Returns their number,
/// or [`LEFT`].
#[inline(always)]
fn collect(
    slots: &Shared<Vertex, { SLOTS as usize * NEIGHBOUR_NODES }>,
    lane: Lane<'_>,
    stars: Stars,
    v: Vertex,
) -> u32 {
    let (start, end) = (stars.start(v), stars.end(v));
    if end - start > LIGHT {
        return LEFT;
    }
    let place = |slot| column(lane.index(), slot, SLOTS, NODES);
    let mut taken = 0u64;
    let mut count = 0;
    let mut put = |u: Vertex| {
        let hash = u.index().wrapping_mul(0x9E37_79B9);
        let mut slot = ((hash >> 16) * SLOTS) >> 16;
        while taken >> slot & 1 != 0 {
            if slots.at(place(slot)) == u {
                return;
            }
            slot = if slot + 1 == SLOTS { 0 } else { slot + 1 };
        }
        // Since the table has free slots, each search ends.
        if count <= MOST {
            slots.set(lane, place(slot), u);
            taken |= 1 << slot;
            count += 1;
        }
    };
    let mut s = start;
    while s < end {
        stars.prefetch(s);
        let [p, q, r] = opposite(stars, s);
        put(p);
        put(q);
        put(r);
        s += 1;
    }
    let room = list_start(end, v.index() + 1, VOLUME) - list_start(start, v.index(), VOLUME);
    if count > MOST || count > room {
        return LEFT;
    }
    // The i-th taken slot is slot i or a later one: no slot is overwritten before it is read.
    let mut listed = 0;
    while taken != 0 {
        let u = slots.at(place(taken.trailing_zeros()));
        taken &= taken - 1;
        let mut hole = listed;
        while hole > 0 {
            let before = slots.at(place(hole - 1));
            if before < u {
                break;
            }
            slots.set(lane, place(hole), before);
            hole -= 1;
        }
        slots.set(lane, place(hole), u);
        listed += 1;
    }
    listed
}

/// Lists the neighbours of each node of [`NEIGHBOUR_NODES`], ascending, and counts them. The lists of a block are
/// consecutive, from the room of its first node on. `left` gets the nodes that remain for
/// [`sort_candidates()`](super::sort_candidates()): they have more than [`LIGHT`] cells, or no room for their list.
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
    // SAFETY: the launch's promise: cells and stars are of one mesh, and vertices are below V.
    let stars = unsafe { stars.trusted() };
    let tile = block.shared();
    let first = block.index() * NODES;
    let nodes = stars.starts.len() - 1;
    let found = block.lanes(|lane| {
        let v = first + lane.index();
        if v < nodes {
            collect(&tile.slots, lane, stars, Vertex::new(v))
        } else {
            0
        }
    });
    let lengths = block.lanes(|lane| {
        let length = found.at(lane);
        if length == LEFT { 0 } else { length }
    });
    let (before, total) = block.exclusive_sum(&lengths);
    let is_staged = total <= STAGED as u32;
    let from = list_start(stars.start(Vertex::new(first)), first, VOLUME);
    let item = |lane: Lane, k| tile.slots.at(column(lane.index(), k, SLOTS, NODES));
    block.phase(|lane| {
        tile.is_left
            .set(lane, lane.index(), u8::from(found.at(lane) == LEFT));
        if first + lane.index() < nodes {
            counts.set(first + lane.index(), lengths.at(lane));
        }
        if is_staged {
            let mut k = 0;
            while k < lengths.at(lane) {
                tile.staged.set(lane, before.at(lane) + k, item(lane, k));
                k += 1;
            }
        }
    });
    block.lanes(|lane| {
        if is_staged {
            let mut i = lane.index();
            while i < total {
                lists.set(from + i, tile.staged.at(i));
                i += NODES;
            }
        } else {
            let mut k = 0;
            while k < lengths.at(lane) {
                lists.set(from + before.at(lane) + k, item(lane, k));
                k += 1;
            }
        }
        let word = first / 32 + lane.index();
        if lane.index() < NODES / 32 && word < left.len() {
            let mut bits = 0;
            let mut k = 0;
            while k < 32 {
                bits |= u32::from(tile.is_left.at(32 * lane.index() + k)) << k;
                k += 1;
            }
            left.set(word, bits);
        }
    });
}

/// Moves the lists of [`gather_tet_neighbours()`] to their rows, except those of nodes in `left`.
#[kernel(
    requires(
        n == (starts.len() - 1).div_ceil(NEIGHBOUR_NODES),
        left.len() == words(starts.len() - 1),
        rows.len() == starts.len()
    ),
    moves(starts.bytes() + left.bytes() + rows.bytes() + 2 * neighbours.bytes())
)]
pub fn move_tet_lists(
    block: OwnBlock<NEIGHBOUR_NODES>,
    starts: In<u32, Vertex>,
    lists: In<Vertex>,
    left: In<Bits<Vertex>>,
    rows: In<u32, Vertex>,
    neighbours: Scatter<Vertex>,
) {
    let first = block.index() * NODES;
    let nodes = starts.len() - 1;
    let row = |v| rows.at(Vertex::new(v));
    let lengths = block.lanes(|lane| {
        let v = Vertex::new(first + lane.index());
        if v.index() >= nodes || left.bit(v) {
            0
        } else {
            row(v.index() + 1) - row(v.index())
        }
    });
    let (before, total) = block.exclusive_sum(&lengths);
    let from = list_start(starts.at(Vertex::new(first)), first, VOLUME);
    let to = row(first);
    if total == row((first + NODES).min(nodes)) - to {
        // If every node has its list, the rows are the lists as they lie.
        block.lanes(|lane| {
            let mut i = lane.index();
            while i < total {
                neighbours.set(to + i, lists.at(from + i));
                i += NODES;
            }
        });
    } else {
        block.lanes(|lane| {
            let mut k = 0;
            while k < lengths.at(lane) {
                let to = row(first + lane.index()) + k;
                neighbours.set(to, lists.at(from + before.at(lane) + k));
                k += 1;
            }
        });
    }
}
