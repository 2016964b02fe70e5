//! P-Weld (section 3.6, Algorithm 2): dependency counters over stored lists of neighbours.
//!
//! Each vertex has a list of its higher neighbours, the count of its lower ones (`depend`) and the lowest
//! representative that has claimed it so far (`lowest`, itself at first). A decided vertex informs its higher
//! neighbours: a representative claims them, a member lowers their counters. A vertex whose counter is zero represents
//! itself.
//!
//! In the paper a vertex lowers the counters of all its neighbours, and acts when its own counter is zero. Here only
//! members lower counters, and a claimed vertex is a member at once, whatever its counter: it has a representative
//! among its lower neighbours, and that is final. So a counter counts the lower neighbours that are not known to be
//! members. It reaches zero only for vertices that no representative claims: the two decisions exclude each other, and
//! neither depends on the order in which threads see two arrays. A clique of n vertices takes 3 rounds, not n.
//!
//! A round sweeps over the undecided vertices by ascending id. A vertex that is decided early in a sweep can decide
//! others later in the same sweep, as in P-Weld. A CPU needs one to three rounds; a GPU, which processes all vertices
//! at once, needs more. The count may differ from run to run, the result does not.
//!
//! This method is the baseline of the literature and serves for comparison only: it takes 41 bytes a vertex beside its
//! position and 4 for each pair of neighbours, n²/2 pairs if all are near each other. Lists that do not fit are refused
//! before they are made.

use trioxide_kernel::kernel;
use trioxide_kernel::safe::{Atomic, Group, In, Out, Own, Scatter};

use super::grid::item;
use super::hashed_cells::{Cells, is_crowded};
use super::ids::CellSlot;
use crate::ids::{Item, Vertex};

/// The counters and claims of the vertices.
#[derive(Group)]
pub struct Dependencies<'a> {
    /// Number of lower neighbours that are not known to be members; V.
    pub depend: Atomic<'a, u32, Vertex>,
    /// The lowest representative that has claimed the vertex so far, itself at first; V.
    pub lowest: Atomic<'a, Vertex, Vertex>,
}

#[cfg(not(target_arch = "nvptx64"))]
impl DependenciesBuffers<'_> {
    /// Whether these are the arrays of `vertices` vertices.
    pub fn fit(&self, vertices: usize) -> bool {
        self.depend.len() == vertices && self.lowest.len() == vertices
    }
}

impl Dependencies<'_> {
    /// Informs `w` that its lower neighbour `u` is decided. Returns whether that decides `w`.
    ///
    /// True once for each vertex: the first claim finds `w` in its place, and one call takes the counter to zero.
    #[inline(always)]
    pub(super) fn inform(&self, u: Vertex, is_representative: bool, w: Vertex) -> bool {
        let before = self.lowest.load(w);
        if is_representative {
            before > u && self.lowest.fetch_min(w, u) == w
        } else {
            // The counter of a member has no meaning any more.
            before == w && self.depend.add(w, u32::MAX) == 1
        }
    }
}

/// The stored higher neighbours of each vertex.
#[derive(Group)]
pub struct HigherNeighbours<'a> {
    /// Start of each vertex's list in `vertices`, and the end of the last; V + 1.
    pub starts: In<'a, u32>,
    /// Higher neighbours, list by list.
    pub vertices: In<'a, Vertex>,
}

/// Neighbours from which a vertex adds to the running total: most vertices have fewer, and all add to one word.
pub const TOTALLED: u32 = 64;

/// The running total of stored neighbours, in units of [`TOTALLED`]. It ends the count early when the lists will not
/// fit.
#[derive(Group)]
pub struct Total<'a> {
    /// The total, and whether it is beyond the limit; 2.
    pub words: Atomic<'a>,
    /// Most units that fit.
    pub limit: u32,
}

impl Total<'_> {
    /// Whether counting has become useless.
    #[inline(always)]
    pub(super) fn is_beyond(self) -> bool {
        self.words.load(1) != 0
    }

    /// Adds the stored neighbours of a vertex, rounded down.
    #[inline(always)]
    pub(super) fn add(self, count: u32) {
        let units = count / TOTALLED;
        // The total may wrap around, but only after it was seen to be over the limit.
        if units > 0 && self.words.add(0, units).wrapping_add(units) > self.limit {
            self.words.store(1, 1);
        }
    }
}

/// Counts the lower neighbours of vertex `v` (`depend`) and the higher ones (`counts`).
///
/// `slots` are the slots of the vertices' cells: vertices in crowded cells are then left out. With an empty array none
/// is left out.
#[kernel(
    requires(
        cells.fit(n),
        cells.fit_slots(slots),
        depend.len() == n,
        counts.len() > n,
        lowest.len() == n,
        total.words.len() == 2
    ),
    moves(cells.points.bytes() + depend.bytes() + counts.bytes() + lowest.bytes())
)]
pub fn count_neighbours(
    v: Own<Vertex>,
    cells: Cells,
    slots: In<CellSlot>,
    depend: Out<u32, Vertex>,
    counts: Out<u32, Vertex>,
    lowest: Out<Vertex, Vertex>,
    total: Total,
) {
    lowest.set(v, *v);
    if is_left_out(*v, slots, cells.offsets) || total.is_beyond() {
        return;
    }
    let (mut lower, mut higher) = (0, 0);
    cells.each_neighbour(*v, |w| {
        lower += u32::from(w < *v);
        higher += u32::from(w > *v);
    });
    depend.set(v, lower);
    counts.set(v, higher);
    total.add(higher);
}

/// Lists the higher neighbours of vertex `v` from `starts[v]` on; the other arguments are the same as in the count.
#[kernel(
    requires(cells.fit(n), cells.fit_slots(slots), starts.len() == n + 1),
    moves(cells.points.bytes() + starts.bytes() + higher.bytes())
)]
pub fn list_neighbours(
    v: Own<Vertex>,
    cells: Cells,
    slots: In<CellSlot>,
    starts: In<u32>,
    higher: Scatter<Vertex>,
) {
    if is_left_out(*v, slots, cells.offsets) {
        return;
    }
    let mut place = starts.at(v.index());
    cells.each_neighbour(*v, |w| {
        if w > *v {
            higher.set(place, w);
            place += 1;
        }
    });
}

#[inline(always)]
fn is_left_out(v: Vertex, slots: In<CellSlot>, offsets: In<u32>) -> bool {
    !slots.is_empty() && is_crowded(slots.at(v.index()), offsets)
}

/// Adds up every `stride`-th of `counts` from the `i`-th on.
#[kernel(
    requires(sums.len() == n, stride as usize == n),
    moves(counts.bytes() + sums.bytes())
)]
pub fn sum_counts(i: Own<Item>, counts: In<u32>, stride: u32, sums: Out<u64, Item>) {
    let mut sum = 0;
    let mut place = i.index();
    while place < counts.len() {
        sum += u64::from(counts.at(place));
        place += stride;
    }
    sums.set(i, sum);
}

/// Informs the higher neighbours of vertex `list[i]` if it is decided. Returns whether it is undecided. An empty list
/// stands for all vertices.
#[kernel(
    requires(
        list.is_empty() && dependencies.fit(n) || list.len() == n,
        dependencies.fit(neighbours.starts.len() - 1)
    )
)]
pub fn sweep_dependencies(
    i: Own<Item>,
    list: In<Vertex>,
    neighbours: HigherNeighbours,
    dependencies: Dependencies,
) -> bool {
    let u = item(list, i.index());
    let is_member = dependencies.lowest.load(u) != u;
    if !is_member && dependencies.depend.load(u) != 0 {
        return true;
    }
    let HigherNeighbours { starts, vertices } = neighbours;
    let [mut place, end] = starts.at_all([u.index(), u.index() + 1]);
    while place < end {
        dependencies.inform(u, !is_member, vertices.at(place));
        place += 1;
    }
    false
}
