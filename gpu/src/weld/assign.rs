//! The representative of each vertex.

use trioxide_kernel::safe::Safe;
use trioxide_kernel::{In, Out, kernel};

use super::chains::Lists;
use super::guards::{Guard, Guarding};
use super::ids::{Row, Slot};
use super::search::Search;
use super::states::{LISTED, MEMBER, REPRESENTATIVE};
use crate::ids::Vertex;

/// Finds the representative of the vertex in `slot`: itself, or the lowest representative near it.
#[kernel(
    G in Guarding,
    requires(
        search.fits(n),
        states.len() == n,
        lists.fit(n),
        representatives.len() == n
    ),
    moves(states.bytes() + representatives.bytes())
)]
pub fn assign_points<G: Guard>(
    slot: Slot,
    search: Search<G>,
    lists: Lists,
    states: In<u32>,
    representatives: Out<Vertex>,
) {
    // SAFETY: the launch's promise: sites are vertices, buckets are runs of slots, and each list has the length that
    // the state of its row gives.
    let (search, lists) = unsafe { (search.trusted(), lists.trusted()) };
    let sites = search.rows.sites;
    let id = sites.at(slot).id;
    let row = search.rows.row_of(slot, id);
    if let Some(row) = search.ahead(slot) {
        states.prefetch(row);
        lists.short.prefetch(row.index() * LISTED);
        representatives.unwritten().prefetch(row);
    }
    let state = states.at(row);
    if state == REPRESENTATIVE {
        representatives.set(id, id);
        return;
    }
    let count = state & !MEMBER;
    let mut lowest = Vertex::NONE;
    let mut take = |neighbour: Row, id: Vertex| {
        if states.at(neighbour) == REPRESENTATIVE {
            lowest = lowest.min(id);
        }
    };
    let noted = lists.len(row, count);
    if noted < count {
        search.each_lower_neighbour(row, |neighbour, id| {
            take(neighbour, id);
            true
        });
    } else {
        let mut place = 0;
        while place < noted {
            let neighbour = lists.at(row, count, place);
            take(neighbour, search.rows.vertex(neighbour));
            place += 1;
        }
    }
    representatives.set(id, lowest);
}
