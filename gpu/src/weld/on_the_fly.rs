//! The paper's on-the-fly version (chapter 4): nothing about neighbours is stored; each search looks up 27 cells.
//!
//! Each vertex counts its lower neighbours, on which it depends (Algorithm 4). Then come rounds (Algorithm 5): each
//! vertex that was decided in the round before searches its neighbours once more and informs the higher ones, by the
//! rules of `dependency.rs`.
//!
//! The paper goes through all vertices in each round and searches for counters at zero. Here a round goes through the
//! frontier, the ascending list of the vertices that were decided last: a vertex is in it once.
//!
//! It needs the least memory, 41 bytes a vertex beside its position, whatever epsilon is; each vertex searches twice.
//! In cells of k vertices a search compares 27 k vertices, so the time of a crowded cell grows with k²: use the default
//! method for such meshes.

use trioxide_kernel::safe::{Atomic, In, Out, Own};
use trioxide_kernel::{Bits, kernel};

use super::dependency::Dependencies;
use super::hashed_cells::Cells;
use crate::ids::{Item, Vertex};

/// Counts the lower neighbours of vertex `v`. Returns whether there are none, so that it represents itself.
#[kernel(
    requires(cells.fit(n), depend.len() == n, lowest.len() == n),
    moves(cells.points.bytes() + depend.bytes() + lowest.bytes() + 4 * words(n))
)]
pub fn count_dependencies(
    v: Own<Vertex>,
    cells: Cells,
    depend: Out<u32, Vertex>,
    lowest: Out<Vertex, Vertex>,
) -> bool {
    let mut count = 0;
    cells.each_neighbour(*v, |w| count += u32::from(w < *v));
    depend.set(v, count);
    lowest.set(v, *v);
    count == 0
}

/// Informs the higher neighbours of vertex `frontier[i]` that it is decided. Adds the vertices that are decided by this
/// to the bit set `next`, and removes the frontier from it.
#[kernel(
    requires(
        frontier.len() == n,
        cells.fit(cells.points.len()),
        dependencies.fit(cells.points.len()),
        next.len() == words(cells.points.len())
    )
)]
pub fn advance_on_the_fly(
    i: Own<Item>,
    frontier: In<Vertex, Item>,
    cells: Cells,
    dependencies: Dependencies,
    next: Atomic<Bits<Vertex>>,
) {
    let u = frontier.at(i);
    next.clear_bit(u);
    let is_representative = dependencies.lowest.load(u) == u;
    cells.each_neighbour(u, |w| {
        if w > u && dependencies.inform(u, is_representative, w) {
            next.set_bit(w);
        }
    });
}
