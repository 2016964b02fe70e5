//! Short lists of the lower neighbours of each vertex.

use trioxide_kernel::safe::Safe;
use trioxide_kernel::{Atomic, Out, kernel};

use super::guards::{Guard, Guarding};
use super::ids::{Row, Slot};
use super::search::Search;
use super::states::LISTED;

/// Lists each pair of the vertex in `slot` and a later neighbour: the lower vertex enters the list of the higher.
/// `states` are 0 before the launch, and count the lower neighbours of each vertex: a vertex without one is a
/// representative.
///
/// Threads go in the order of slots, even where rows are vertices: neighbouring threads then read the same buckets.
/// Lists are in no particular order.
#[kernel(
    G in Guarding,
    requires(search.fits(n), states.len() == n, lower.len() == LISTED as usize * n),
    moves(search.positions.bytes() + search.rows.sites.bytes() + states.bytes())
)]
pub fn note_lower_neighbours<G: Guard>(
    slot: Slot,
    search: Search<G>,
    lower: Out<Row>,
    states: Atomic,
) {
    // SAFETY: the launch's promise: sites are vertices, and buckets are runs of slots.
    let search = unsafe { search.trusted() };
    if let Some(row) = search.ahead(slot) {
        search.positions.prefetch(row);
        // Most neighbours are a few slots ahead. An atomic addition waits until earlier writes of lists are done.
        states.prefetch(row);
        lower.unwritten().prefetch(row.index() * LISTED);
    }
    let row = search.rows.row(slot);
    let v = search.rows.vertex(row);
    search.each_later_neighbour(slot, |other, id| {
        let (low, high) = if id < v { (other, row) } else { (row, other) };
        let place = states.add(high, 1);
        if place < LISTED {
            lower.set(high.index() * LISTED + place, low);
        }
    });
}
