//! Decisions and assignment for crowded cells: a vertex is compared with representatives only.
//!
//! Where thousands of vertices lie within epsilon of each other, there are far too many pairs of neighbours to find.
//! But few of the vertices are representatives, since no two representatives are near each other. So a bucket goes
//! through its vertices in ascending order, as S-Weld does through all. A vertex with a representative near it is a
//! member at once. Any other vertex is a representative as soon as the buckets around have decided all their lower
//! vertices; until then its bucket waits. The lowest undecided vertex of the mesh never waits, and each decision
//! follows the definition, so the clusters equal S-Weld's, in any order of the buckets.
//!
//! A bucket has an array with one entry for each of its vertices. Its representatives come first, each as the number of
//! its row. The next entry holds the bucket's progress: [`WAITS`] and the lowest undecided vertex, at first 0. Each
//! entry is a word of its own, and each is true whenever it is read: a thread that reads too early sees a lower vertex
//! there, and waits longer. So buckets see each other's progress within a launch, and no access has to be ordered
//! before another.
//!
//! On a device a bucket that goes through a hundred thousand members in a row would take long. There it gives up after
//! some vertices; then `cover_points` finds all members of the representatives known so far, with a thread for each
//! vertex, and the bucket continues with the next vertex that is no such member.
//!
//! With guards representatives may be near each other: the time then grows with their number within epsilon. Locked
//! vertices have no neighbours, and take no entry.
//!
//! In a slab of a larger mesh some vertices are decided before, and other slabs decide some vertices (`slabs`). A
//! bucket passes the former; it stops at one of the latter that has no representative near it.

use glam::DVec3;
use trioxide_kernel::safe::{Atomic, In, Own, Scatter};
use trioxide_kernel::{Bits, Out, kernel};

use super::grid::{Grid, Site};
use super::guards::{Guard, Guarding};
use super::ids::{Bucket, Row, Slot};
use super::search::Search;
use crate::ids::{Item, Vertex};

/// Marks an entry that holds the bucket's progress: the other bits are its lowest undecided vertex.
pub const WAITS: u32 = 1 << 31;
/// The entry of a bucket whose vertices are all decided.
const DONE: u32 = u32::MAX;

/// Copies the vertex of `slot` to its place, and its position into `sorted` unless `sorted` is empty.
#[kernel(
    requires(
        items.len() == n,
        points.len() == n,
        sites.len() == n,
        sorted.is_empty() || sorted.len() == n
    ),
    moves(items.bytes() + points.bytes() + sites.bytes() + sorted.bytes())
)]
pub fn gather_listed(
    slot: Slot,
    items: In<Vertex, Slot>,
    points: In<DVec3, Vertex>,
    grid: Grid,
    sites: Out<Site>,
    sorted: Out<DVec3>,
) {
    points.prefetch_item(items, slot);
    let id = items.at(slot);
    let point = points.at(id);
    let place = grid.place(point.to_array());
    sites.set(slot, Site { place, id });
    if !sorted.is_empty() {
        sorted.set(slot, point);
    }
}

/// Whether vertex `v` is the lowest of its bucket; vertices ascend in each bucket.
#[kernel(
    requires(keys.len() == n, sites.len() == n),
    moves(keys.bytes() + 4 * words(n))
)]
pub fn mark_first_of_buckets(
    v: Own<Vertex>,
    keys: In<Bucket, Vertex>,
    offsets: In<u32>,
    sites: In<Site, Slot>,
) -> bool {
    sites.at(Slot::new(offsets.at(keys.at(v).index()))).id == *v
}

/// The result of a look at the buckets around a vertex.
#[derive(Clone, Copy, PartialEq)]
enum Seen {
    /// A representative is near.
    Representative,
    /// No representative is near, and a bucket has an undecided lower vertex.
    Waiting,
    /// No representative is near, and none can come.
    Nothing,
}

/// Calls `visit(row)` for each representative known to be near the vertex `v` of `row`, until it returns false. Returns
/// whether a bucket other than `own` may have an undecided vertex below `v`.
#[inline(always)]
fn each_representative<G: Guard>(
    search: &Search<G>,
    entries: Atomic,
    own: Bucket,
    row: Row,
    v: Vertex,
    mut visit: impl FnMut(Row) -> bool,
) -> bool {
    let p = search.positions.at(row).to_array();
    let mut is_waiting = false;
    search.grid.each_run(p, |first, last, _| {
        let mut bucket = first.index();
        let mut place = search.offsets.at(first.index());
        let end_of_run = search.offsets.at(last.index() + 1);
        // The buckets of a run are consecutive, and so are their entries.
        while place < end_of_run {
            let mut end = search.offsets.at(bucket + 1);
            while place < end {
                let entry = entries.load(place);
                if entry & WAITS != 0 {
                    is_waiting |= bucket != own.index() && entry & !WAITS < v.index();
                    end = place;
                } else {
                    let other = Row::new(entry);
                    let q = search.positions.at(other).to_array();
                    if search.grid.is_near(p, q)
                        && G::allows(&search.guards, v, search.rows.vertex(other))
                        && !visit(other)
                    {
                        return false;
                    }
                    place += 1;
                }
            }
            bucket += 1;
            place = search.offsets.at(bucket);
        }
        true
    });
    is_waiting
}

/// Decides the vertices of bucket `list[i]` in ascending order, `patience` at most, until one waits for another bucket.
/// Returns whether any is left. By slots, and empty for none: `covered` marks vertices known to be members, `waiting`
/// the vertices that other slabs decide. `moved`, unless it is empty, becomes 1 if a vertex was passed.
#[kernel(
    G in Guarding,
    requires(
        list.len() == n,
        search.fits(entries.len()),
        cursors.len() + 1 == search.offsets.len(),
        covered.is_empty() || covered.len() == words(entries.len()),
        waiting.is_empty() || waiting.len() == words(entries.len()),
        moved.len() <= 1
    )
)]
pub fn decide_buckets<G: Guard>(
    i: Own<Item>,
    list: In<Bucket, Item>,
    search: Search<G>,
    covered: In<Bits<Slot>>,
    waiting: In<Bits<Slot>>,
    patience: u32,
    entries: Atomic,
    cursors: Atomic<u32, Bucket>,
    moved: Atomic,
) -> bool {
    let bucket = list.at(i);
    let mut place = search.offsets.at(bucket.index());
    let end = search.offsets.at(bucket.index() + 1);
    let first = cursors.load(bucket);
    let mut slot = first;
    while place < end && entries.load(place) & WAITS == 0 {
        place += 1;
    }
    let mut looks = 0;
    let mut is_left = false;
    while slot < end && !is_left {
        if !covered.is_empty() {
            let word = covered.at(slot / 32).word() >> (slot % 32);
            let run = (!word).trailing_zeros();
            if run > 0 {
                slot = (slot + run).min(end);
                continue;
            }
        }
        let row = search.rows.row(Slot::new(slot));
        let v = search.rows.vertex(row);
        if !G::has_neighbours(&search.guards, v) {
            slot += 1;
            continue;
        }
        let mut seen = Seen::Nothing;
        if looks == patience {
            seen = Seen::Waiting;
        } else {
            looks += 1;
            let is_waiting = each_representative(&search, entries, bucket, row, v, |_| {
                seen = Seen::Representative;
                false
            });
            let is_waiting = is_waiting || !waiting.is_empty() && waiting.bit(Slot::new(slot));
            if is_waiting && seen == Seen::Nothing {
                seen = Seen::Waiting;
            }
        }
        match seen {
            Seen::Waiting => is_left = true,
            Seen::Representative => slot += 1,
            Seen::Nothing => {
                entries.store(place, row.index());
                place += 1;
                slot += 1;
            }
        }
    }
    cursors.store(bucket, slot);
    if slot != first && !moved.is_empty() {
        moved.store(0, 1);
    }
    // If every vertex is a representative, no entry is left, and none is needed.
    if place < end {
        let entry = if slot < end {
            WAITS | search.rows.sites.at(Slot::new(slot)).id.index()
        } else {
            DONE
        };
        entries.store(place, entry);
    }
    is_left
}

/// Whether the vertex in `slot` is in `covered`, or has a known representative near it.
#[kernel(
    G in Guarding,
    requires(
        search.fits(n),
        entries.len() == n,
        covered.is_empty() || covered.len() == words(n)
    ),
    moves(search.rows.sites.bytes() + search.positions.bytes() + 8 * words(n))
)]
pub fn cover_points<G: Guard>(
    slot: Own<Slot>,
    search: Search<G>,
    entries: Atomic,
    covered: In<Bits<Slot>>,
) -> bool {
    if !covered.is_empty() && covered.bit(*slot) {
        return true;
    }
    let row = search.rows.row(*slot);
    let v = search.rows.vertex(row);
    let mut is_covered = false;
    each_representative(&search, entries, Bucket::NONE, row, v, |_| {
        is_covered = true;
        false
    });
    is_covered
}

/// Finds the representative of the vertex in `slot`: the lowest representative near it, or itself. All buckets are
/// decided before.
#[kernel(
    G in Guarding,
    requires(search.fits(n), entries.len() == n, representatives.len() == n),
    moves(search.rows.sites.bytes() + search.positions.bytes() + representatives.bytes())
)]
pub fn assign_in_buckets<G: Guard>(
    slot: Own<Slot>,
    search: Search<G>,
    entries: Atomic,
    representatives: Scatter<Vertex, Vertex>,
) {
    if let Some(row) = search.ahead(*slot) {
        search.positions.prefetch(row);
    }
    let row = search.rows.row(*slot);
    let v = search.rows.vertex(row);
    let mut lowest = v;
    each_representative(&search, entries, Bucket::NONE, row, v, |other| {
        lowest = lowest.min(search.rows.vertex(other));
        true
    });
    representatives.set(v, lowest);
}
