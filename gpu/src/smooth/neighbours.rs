//! Neighbours of nodes (section 3.2.1): unique edges, as compressed sparse rows in ascending order.
//!
//! A node collects the vertices of its cells in a short sorted list, each once. The lists have gaps between them until
//! their lengths are known. In a mesh without loose parts a node has at most two neighbours more than cells (Euler's
//! formula for the triangles opposite to it), so a list has room for these and one more. The candidates of a node that
//! exceeds its room, or has more than [`LIGHT`] cells, are listed in full and sorted. Meshes of tetrahedra have kernels
//! of their own ([`gather_tet_neighbours()`](super::gather_tet_neighbours())), with lists of the same room.

use trioxide_kernel::safe::{self, Group, In, Own, Safe, Scatter};
use trioxide_kernel::{Bits, Out, kernel};

use super::cells::{Stars, WHOLE_CELLS};
use super::cells_of_nodes::LIGHT;
use crate::ids::{Item, Vertex};
use trioxide_kernel::rows::sort;

/// Neighbours of V nodes; D in all.
#[derive(Group)]
pub struct Adjacency<'a> {
    /// Start of each node's neighbours, and the end of the last; V + 1.
    pub rows: In<'a, u32, Vertex>,
    /// Neighbours, ascending for each node; D.
    pub neighbours: In<'a, Vertex>,
}

impl Adjacency<'_> {
    /// Start of the neighbours of node `v`.
    #[inline(always)]
    pub fn start(self, v: impl safe::Place<Vertex>) -> u32 {
        self.rows.at(v)
    }

    /// End of the neighbours of node `v`.
    #[inline(always)]
    pub fn end(self, v: Vertex) -> u32 {
        self.rows.at(Vertex::new(v.index() + 1))
    }
}

/// Room of a list in addition to the number of its cells.
const ROOM: u32 = 3;

/// Start of the list of node `v`: the room of all lower nodes, which have `before` cells.
#[inline(always)]
pub(super) fn list_start(before: u32, v: u32, dimension: u32) -> u32 {
    let each = if dimension == WHOLE_CELLS { 4 } else { 1 };
    each * before + ROOM * v
}

/// Room that lists take for `nodes` nodes with `corners` corners.
#[cfg(not(target_arch = "nvptx64"))]
pub fn lists_room(nodes: u32, corners: u32, dimension: u32) -> u64 {
    let each = if dimension == WHOLE_CELLS { 4 } else { 1 };
    each * u64::from(corners) + u64::from(ROOM) * u64::from(nodes)
}

/// Lists the neighbours of node `v`, ascending, and counts them. Returns whether they remain for [`sort_candidates()`]:
/// the node has more than [`LIGHT`] cells, or its list has no room for them.
#[kernel(
    requires(
        stars.fit(n),
        lists.len() as u64 >= lists_room(n as u32, stars.corners.len() as u32, dimension),
        counts.len() >= n
    ),
    moves(stars.bytes() + counts.bytes() + 4 * words(n))
)]
pub fn gather_neighbours(
    v: Vertex,
    stars: Stars,
    dimension: u32,
    lists: Out<Vertex>,
    counts: Out<u32>,
) -> bool {
    // SAFETY: the launch's promise: cells and stars are of one mesh, and vertices are below V.
    let stars = unsafe { stars.trusted() };
    let (start, end) = (stars.start(v), stars.end(v));
    if end - start > LIGHT {
        return true;
    }
    let first = list_start(start, v.index(), dimension);
    let room = list_start(end, v.index() + 1, dimension) - first;
    let mut count = 0;
    let mut overflows = false;
    let mut s = start;
    while s < end {
        stars.prefetch(s);
        stars.cells.each_neighbour(stars.corner(s), dimension, |u| {
            let mut place = count;
            while place > 0 && lists.at(first + place - 1) > u {
                place -= 1;
            }
            if place > 0 && lists.at(first + place - 1) == u {
                return;
            }
            if count == room {
                overflows = true;
                return;
            }
            let mut hole = count;
            while hole > place {
                lists.set(first + hole, lists.at(first + hole - 1));
                hole -= 1;
            }
            lists.set(first + place, u);
            count += 1;
        });
        s += 1;
    }
    counts.set(v, count);
    overflows
}

/// Moves the list of node `v` to its row, unless its neighbours remain for [`sort_candidates()`].
#[kernel(
    requires(
        starts.len() == n + 1,
        heavy.len() == words(n),
        rows.len() == n + 1
    ),
    moves(starts.bytes() + heavy.bytes() + rows.bytes() + 2 * neighbours.bytes())
)]
pub fn move_lists(
    v: Own<Vertex>,
    starts: In<u32, Vertex>,
    lists: In<Vertex>,
    heavy: In<Bits<Vertex>>,
    rows: In<u32, Vertex>,
    dimension: u32,
    neighbours: Scatter<Vertex>,
) {
    if heavy.bit(*v) {
        return;
    }
    let from = list_start(starts.at(v), v.index(), dimension);
    let to = rows.at(v);
    let count = rows.at(Vertex::new(v.index() + 1)) - to;
    let mut k = 0;
    while k < count {
        neighbours.set(to + k, lists.at(from + k));
        k += 1;
    }
}

/// Room that the candidates of node `heavy[h]` take.
#[kernel(requires(
    heavy.len() == n,
    stars.fit(stars.nodes()),
    rooms.len() == n
))]
pub fn measure_candidates(
    h: Own<Item>,
    heavy: In<Vertex, Item>,
    stars: Stars,
    dimension: u32,
    rooms: safe::Out<u32, Item>,
) {
    let v = heavy.at(h);
    let mut room = 0;
    let mut s = stars.start(v);
    while s < stars.end(v) {
        room += stars.cells.most_neighbours(stars.corner(s), dimension);
        s += 1;
    }
    rooms.set(h, room);
}

/// Lists the candidates of node `heavy[h]` from `rooms[h]` on, sorts them, keeps each once, and counts them.
#[kernel(requires(
    heavy.len() == n,
    stars.fit(stars.nodes()),
    rooms.len() == n,
    counts.len() >= stars.nodes()
))]
pub fn sort_candidates(
    h: Item,
    heavy: In<Vertex, Item>,
    stars: Stars,
    dimension: u32,
    rooms: In<u32, Item>,
    // Numbers of vertices, which the sort takes.
    candidates: Out<u32>,
    counts: Out<u32>,
) {
    // SAFETY: the launch's promise: cells and stars are of one mesh, and vertices are below V.
    let stars = unsafe { stars.trusted() };
    let v = heavy.at(h);
    let first = rooms.at(h);
    let mut end = first;
    let mut s = stars.start(v);
    while s < stars.end(v) {
        stars.cells.each_neighbour(stars.corner(s), dimension, |u| {
            candidates.set(end, u.index());
            end += 1;
        });
        s += 1;
    }
    sort(candidates, first, end);
    let mut kept = 0;
    let mut i = first;
    while i < end {
        let u = candidates.at(i);
        if kept == 0 || candidates.at(first + kept - 1) != u {
            candidates.set(first + kept, u);
            kept += 1;
        }
        i += 1;
    }
    counts.set(v, kept);
}

/// Writes the neighbours of node `heavy[h]`.
#[kernel(requires(heavy.len() == n, rooms.len() == n))]
pub fn copy_candidates(
    h: Own<Item>,
    heavy: In<Vertex, Item>,
    rooms: In<u32, Item>,
    candidates: In<Vertex>,
    rows: In<u32, Vertex>,
    neighbours: Scatter<Vertex>,
) {
    let v = heavy.at(h);
    let first = rows.at(v);
    let mut k = 0;
    while first + k < rows.at(Vertex::new(v.index() + 1)) {
        neighbours.set(first + k, candidates.at(rooms.at(h) + k));
        k += 1;
    }
}
