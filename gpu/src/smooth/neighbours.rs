//! Neighbours of nodes (section 3.2.1): unique edges, as compressed sparse rows in ascending order.
//!
//! The vertices of the cells around a node are put into a short sorted list, each once; the lists lie apart until their lengths
//! are known. A mesh without loose parts has at most two neighbours more than cells around a node (Euler's formula for the
//! triangles opposite to it), so lists have that room and one more. A node that does not keep to it, or of more than `LIGHT` cells, has all its
//! candidates listed and sorted.

use trioxide_kernel::{In, Out, kernel};

use super::cells::{CellView, WHOLE_CELLS};
use crate::collective::sort;

/// Most cells of a node whose neighbours and faces are compared one by one.
pub const LIGHT: u32 = 96;
/// Room of a list beyond that for its cells.
const ROOM: u32 = 3;

/// Room for `before` cells of the nodes below `v`: the start of the list of node `v`.
#[inline(always)]
fn list_start(before: u32, v: u32, dimension: u32) -> u32 {
    let each = if dimension == WHOLE_CELLS { 4 } else { 1 };
    each * before + ROOM * v
}

/// Room that lists take for `nodes` nodes with `corners` corners.
#[cfg(not(target_arch = "nvptx64"))]
pub fn lists_room(nodes: u32, corners: u32, dimension: u32) -> u64 {
    let each = if dimension == WHOLE_CELLS { 4 } else { 1 };
    each * u64::from(corners) + u64::from(ROOM) * u64::from(nodes)
}

/// Puts the cell of each corner of cell `c` into `cells`.
#[kernel]
pub fn name_cells(c: u32, offsets: In<u32>, cells: Out<u32>) {
    let mut corner = offsets.at(c);
    let end = offsets.at(c + 1);
    while corner < end {
        cells.set(corner, c);
        corner += 1;
    }
}

/// Whether node `v` has more cells than are compared one by one.
#[kernel]
pub fn mark_heavy(v: u32, starts: In<u32>) -> bool {
    starts.at(v + 1) - starts.at(v) > LIGHT
}

/// Lists the neighbours of node `v`, ascending, and counts them; or tells that they do not fit.
///
/// `corners[starts[v]..starts[v + 1]]` are the corners at which cells have node v, in any order.
#[kernel]
pub fn gather_neighbours(
    v: u32,
    offsets: In<u32>,
    vertices: In<u32>,
    cells: In<u32>,
    starts: In<u32>,
    corners: In<u32>,
    dimension: u32,
    lists: Out<u32>,
    counts: Out<u32>,
) -> bool {
    let (start, end) = (starts.at(v), starts.at(v + 1));
    if end - start > LIGHT {
        return true;
    }
    let view = CellView::new(offsets, vertices, cells);
    let first = list_start(start, v, dimension);
    let room = list_start(end, v + 1, dimension) - first;
    let mut count = 0;
    let mut overflows = false;
    let mut s = start;
    while s < end {
        view.prefetch(corners, s);
        view.each_neighbour(corners.at(s), dimension, |u| {
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

/// Moves the list of node `v` to its row, `rows[v]` and on; of the nodes whose neighbours did fit.
#[kernel]
pub fn move_lists(
    v: u32,
    starts: In<u32>,
    lists: In<u32>,
    heavy: In<u32>,
    rows: In<u32>,
    dimension: u32,
    neighbours: Out<u32>,
) {
    if heavy.bit(v) {
        return;
    }
    let from = list_start(starts.at(v), v, dimension);
    let to = rows.at(v);
    let count = rows.at(v + 1) - to;
    let mut k = 0;
    while k < count {
        neighbours.set(to + k, lists.at(from + k));
        k += 1;
    }
}

/// Room that the candidates of node `heavy[h]` take.
#[kernel]
pub fn measure_candidates(
    h: u32,
    heavy: In<u32>,
    offsets: In<u32>,
    vertices: In<u32>,
    cells: In<u32>,
    starts: In<u32>,
    corners: In<u32>,
    dimension: u32,
    rooms: Out<u32>,
) {
    let view = CellView::new(offsets, vertices, cells);
    let v = heavy.at(h);
    let mut room = 0;
    let mut s = starts.at(v);
    while s < starts.at(v + 1) {
        room += view.most_neighbours(corners.at(s), dimension);
        s += 1;
    }
    rooms.set(h, room);
}

/// Lists the candidates of node `heavy[h]` from `rooms[h]` on, sorts them, and keeps each once; counts them.
#[kernel]
pub fn sort_candidates(
    h: u32,
    heavy: In<u32>,
    offsets: In<u32>,
    vertices: In<u32>,
    cells: In<u32>,
    starts: In<u32>,
    corners: In<u32>,
    dimension: u32,
    rooms: In<u32>,
    candidates: Out<u32>,
    counts: Out<u32>,
) {
    let view = CellView::new(offsets, vertices, cells);
    let v = heavy.at(h);
    let first = rooms.at(h);
    let mut end = first;
    let mut s = starts.at(v);
    while s < starts.at(v + 1) {
        view.each_neighbour(corners.at(s), dimension, |u| {
            candidates.set(end, u);
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
#[kernel]
pub fn copy_candidates(
    h: u32,
    heavy: In<u32>,
    rooms: In<u32>,
    candidates: In<u32>,
    rows: In<u32>,
    neighbours: Out<u32>,
) {
    let v = heavy.at(h);
    let first = rows.at(v);
    let mut k = 0;
    while first + k < rows.at(v + 1) {
        neighbours.set(first + k, candidates.at(rooms.at(h) + k));
        k += 1;
    }
}
