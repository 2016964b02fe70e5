//! Neighbours of nodes (section 3.2.1): unique edges, as compressed sparse rows in ascending order.
//!
//! A node's neighbours are taken from the cells around it, always the smallest above the last: every candidate is read
//! once for each neighbour, from the nearest cache, and nothing is written but the result. A node of more than `LIGHT`
//! cells would cost too much that way; its candidates are listed and sorted.

use gpu_macros::kernel;

use super::cells::CellView;
use crate::collective::sort;
use crate::view::{In, NONE, Out};

/// Most cells of a node whose neighbours are searched for.
const LIGHT: u32 = 96;

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

/// The smallest neighbour of a node from `least` on, of the cells at corners `starts..ends` in the list; else `NONE`.
#[inline(always)]
fn next_neighbour(
    view: CellView,
    corners: In<u32>,
    (start, end): (u32, u32),
    dimension: u32,
    least: u32,
) -> u32 {
    let mut best = NONE;
    let mut s = start;
    while s < end {
        view.each_neighbour(corners.at(s), dimension, |u| {
            if u >= least && u < best {
                best = u;
            }
        });
        s += 1;
    }
    best
}

/// Counts the neighbours of node `v`; or tells that it has too many cells for that.
///
/// `corners[starts[v]..starts[v + 1]]` are the corners at which cells have node v, in any order.
#[kernel(bits)]
pub fn count_neighbours(
    v: u32,
    offsets: In<u32>,
    vertices: In<u32>,
    cells: In<u32>,
    starts: In<u32>,
    corners: In<u32>,
    dimension: u32,
    counts: Out<u32>,
) -> bool {
    let range = (starts.at(v), starts.at(v + 1));
    if range.1 - range.0 > LIGHT {
        return true;
    }
    let view = CellView::new(offsets, vertices, cells);
    let mut count = 0;
    let mut least = 0;
    loop {
        let u = next_neighbour(view, corners, range, dimension, least);
        if u == NONE {
            break;
        }
        count += 1;
        least = u + 1;
    }
    counts.set(v, count);
    false
}

/// Writes the neighbours of node `v`, `rows[v]` and on; the nodes that `count_neighbours` left out are left out.
#[kernel]
pub fn list_neighbours(
    v: u32,
    offsets: In<u32>,
    vertices: In<u32>,
    cells: In<u32>,
    starts: In<u32>,
    corners: In<u32>,
    dimension: u32,
    rows: In<u32>,
    neighbours: Out<u32>,
) {
    let range = (starts.at(v), starts.at(v + 1));
    if range.1 - range.0 > LIGHT {
        return;
    }
    let view = CellView::new(offsets, vertices, cells);
    let end = rows.at(v + 1);
    let mut place = rows.at(v);
    let mut least = 0;
    while place < end {
        let u = next_neighbour(view, corners, range, dimension, least);
        neighbours.set(place, u);
        place += 1;
        least = u + 1;
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
