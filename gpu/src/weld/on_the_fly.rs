//! The paper's on-the-fly version (chapter 4): nothing about neighbours is stored; each search looks up 27 cells.
//!
//! A vertex counts its lower neighbours (Algorithm 4): it depends on them. Then rounds (Algorithm 5): each vertex that the round
//! before decided looks up its neighbours once more and tells the higher ones, as [`super::dependency`] says.
//!
//! The paper goes through all vertices in each round and looks for counters at zero. Here a round goes through the frontier, the
//! ascending list of the vertices that were decided last: a vertex is in it once.
//!
//! It needs the least memory, 41 bytes a vertex beside its position, whatever epsilon is; each vertex searches twice. In cells
//! of k vertices a search looks at 27 k: what is crowded takes the square of it, and is for the default method.

use glam::DVec3;
use trioxide_kernel::{Atomic, In, Out, kernel};

use super::cells::{CellTable, Cells};
use super::dependency::tell;

/// Counts the lower neighbours of vertex `v`; whether there are none, so that it represents itself.
#[kernel]
pub fn count_dependencies(
    v: u32,
    points: In<DVec3>,
    table: In<CellTable>,
    filter: In<u32>,
    keys: In<u64>,
    offsets: In<u32>,
    items: In<u32>,
    depend: Out<u32>,
    lowest: Out<u32>,
) -> bool {
    let cells = Cells {
        table: table.at(0),
        points,
        filter,
        keys,
        offsets,
        items,
    };
    let mut count = 0;
    cells.each_neighbour(v, |w| count += u32::from(w < v));
    depend.set(v, count);
    lowest.set(v, v);
    count == 0
}

/// Tells the higher neighbours of vertex `frontier[i]` that it is decided; those that are decided by it are the bits of `next`,
/// of which those of the frontier are cleared.
#[kernel]
pub fn advance_on_the_fly(
    i: u32,
    frontier: In<u32>,
    points: In<DVec3>,
    table: In<CellTable>,
    filter: In<u32>,
    keys: In<u64>,
    offsets: In<u32>,
    items: In<u32>,
    depend: Atomic,
    lowest: Atomic,
    next: Atomic,
) {
    let cells = Cells {
        table: table.at(0),
        points,
        filter,
        keys,
        offsets,
        items,
    };
    let u = frontier.at(i);
    next.clear_bit(u);
    let is_representative = lowest.load(u) == u;
    cells.each_neighbour(u, |w| {
        if w > u && tell(u, is_representative, w, depend, lowest) {
            next.set_bit(w);
        }
    });
}
