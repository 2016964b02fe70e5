//! P-Weld (section 3.6, Algorithm 2): dependency counters over stored lists of neighbours.
//!
//! Each vertex has a list of its higher neighbours, the count of its lower ones (`depend`) and the lowest representative that
//! has claimed it so far (`lowest`, itself at first). A decided vertex tells its higher neighbours: a representative claims
//! them, a member lowers their counters. A vertex whose counter is zero represents itself.
//!
//! The paper's vertices lower the counters of all their neighbours, and a vertex acts when its own is zero. Here only members
//! lower counters, and a claimed vertex is a member at once, whatever its counter: it has a representative among its lower
//! neighbours, which no other can undo. So a counter counts the lower neighbours that are not known to be members. It reaches
//! zero only for vertices that nobody claims: the two ways to be decided exclude each other, and neither depends on the order in
//! which threads see two arrays. A clique of n vertices takes 3 rounds, not n.
//!
//! A round sweeps over the undecided vertices by ascending id, and what it decides early decides others later in the same sweep,
//! as in P-Weld: on a CPU one to three rounds do, on a GPU, where all are looked at at once, more. The count may differ from run
//! to run, the result does not.
//!
//! It is the baseline of the literature, and good for nothing else: 41 bytes a vertex beside its position and 4 for each pair of
//! neighbours, of which there are n²/2 where all are near each other. Lists that do not fit are refused before they are made.

use glam::DVec3;
use trioxide_kernel::{Atomic, In, Out, kernel};

use super::cells::{CellTable, Cells};
use super::grid::item;
use super::sparse_grid::is_crowded;

/// Tells `w` that its lower neighbour `u` is decided; whether that decides `w`.
///
/// True once for each vertex: the first claim finds `w` in its place, and one call takes the counter to zero.
#[inline(always)]
pub(super) fn tell(
    u: u32,
    is_representative: bool,
    w: u32,
    depend: Atomic,
    lowest: Atomic,
) -> bool {
    let before = lowest.load(w);
    if is_representative {
        before > u && lowest.fetch_min(w, u) == w
    } else {
        // The counter of a member says nothing any more.
        before == w && depend.add(w, u32::MAX) == 1
    }
}

/// Neighbours that a vertex must have to be part of the running total: most have fewer, and all add to one word.
const TOTALLED: u32 = 64;

/// The running total of stored neighbours, in units of [`TOTALLED`], that ends the count of what will not fit.
#[derive(Clone, Copy)]
pub(super) struct Total<'a> {
    /// The total, and whether it is beyond the limit.
    pub words: Atomic<'a>,
    pub limit: u32,
}

impl Total<'_> {
    /// Whether counting has become useless.
    #[inline(always)]
    pub fn is_beyond(self) -> bool {
        self.words.load(1) != 0
    }

    /// Adds the stored neighbours of a vertex, rounded down.
    #[inline(always)]
    pub fn add(self, count: u32) {
        let units = count / TOTALLED;
        // The total may wrap around later, not before it was seen to be beyond the limit.
        if units > 0 && self.words.add(0, units).wrapping_add(units) > self.limit {
            self.words.store(1, 1);
        }
    }
}

/// Counts the lower neighbours of vertex `v` (`depend`) and the higher ones (`counts`).
///
/// `slots` are those of the vertices' cells: then vertices in crowded cells are left out. An empty array leaves out none.
#[kernel]
pub fn count_neighbours(
    v: u32,
    points: In<DVec3>,
    table: In<CellTable>,
    filter: In<u32>,
    keys: In<u64>,
    offsets: In<u32>,
    items: In<u32>,
    slots: In<u32>,
    limit: u32,
    depend: Out<u32>,
    counts: Out<u32>,
    lowest: Out<u32>,
    total: Atomic,
) {
    lowest.set(v, v);
    let total = Total {
        words: total,
        limit,
    };
    if is_left_out(v, slots, offsets) || total.is_beyond() {
        return;
    }
    let cells = Cells {
        table: table.at(0),
        points,
        filter,
        keys,
        offsets,
        items,
    };
    let (mut lower, mut higher) = (0, 0);
    cells.each_neighbour(v, |w| {
        lower += u32::from(w < v);
        higher += u32::from(w > v);
    });
    depend.set(v, lower);
    counts.set(v, higher);
    total.add(higher);
}

/// Lists the higher neighbours of vertex `v` from `rows[v]` on; the others as above.
#[kernel]
pub fn list_neighbours(
    v: u32,
    points: In<DVec3>,
    table: In<CellTable>,
    filter: In<u32>,
    keys: In<u64>,
    offsets: In<u32>,
    items: In<u32>,
    slots: In<u32>,
    rows: In<u32>,
    higher: Out<u32>,
) {
    if is_left_out(v, slots, offsets) {
        return;
    }
    let cells = Cells {
        table: table.at(0),
        points,
        filter,
        keys,
        offsets,
        items,
    };
    let mut place = rows.at(v);
    cells.each_neighbour(v, |w| {
        if w > v {
            higher.set(place, w);
            place += 1;
        }
    });
}

#[inline(always)]
fn is_left_out(v: u32, slots: In<u32>, offsets: In<u32>) -> bool {
    !slots.is_empty() && is_crowded(slots.at(v), offsets)
}

/// Adds up every `stride`-th of `counts` from the `i`-th on.
#[kernel]
pub fn sum_counts(i: u32, counts: In<u32>, stride: u32, sums: Out<u64>) {
    let mut sum = 0;
    let mut place = i;
    while place < counts.len() {
        sum += u64::from(counts.at(place));
        place += stride;
    }
    sums.set(i, sum);
}

/// Tells the higher neighbours of vertex `list[i]` (or `i`) if it is decided; whether it is not.
#[kernel]
pub fn sweep_dependencies(
    i: u32,
    list: In<u32>,
    rows: In<u32>,
    higher: In<u32>,
    depend: Atomic,
    lowest: Atomic,
) -> bool {
    let u = item(list, i);
    let is_member = lowest.load(u) != u;
    if !is_member && depend.load(u) != 0 {
        return true;
    }
    let (mut place, end) = (rows.at(u), rows.at(u + 1));
    while place < end {
        tell(u, !is_member, higher.at(place), depend, lowest);
        place += 1;
    }
    false
}
