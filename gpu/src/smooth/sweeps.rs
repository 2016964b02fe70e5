//! A sweep (section 2.2): every moving node goes to the mean of its neighbours.
//!
//! Form A reads the positions before the sweep and writes to a second array. Form B works in place. Over classes of
//! nodes ([`super::class_sweeps`]) it is deterministic; over all nodes at once it races.
//!
//! Sweeps are launched several at a time. `moved[k]` is 1 if sweep k - 1 of them moved a node by the tolerance or more
//! (`moved[0]` is 1). If sweep k - 1 moved none that far, sweep k and all later sweeps return at once. So the device
//! stops at the first sweep under the tolerance, and the host reads `moved` once for all sweeps.

use trioxide_kernel::{Block, Group, In, Lanes, Out, Racing, SharedMemory, kernel};

use super::nodes::{Layouts, Nodes, Vector};
use crate::ids::Place;

/// Lanes of a sweep's blocks.
pub const SWEEP_LANES: usize = 256;

/// The block of a sweep.
pub type SweepBlock = Block<SWEEP_LANES>;

/// Neighbours of M moving nodes, by places; D in all.
#[derive(Group)]
pub struct Neighbourhood<'a> {
    /// Start of each moving node's neighbours, and the end of the last; M + 1.
    pub rows: In<'a, u32>,
    /// Neighbours by their places, for each node in the order of their ids; D.
    pub neighbours: In<'a, Place>,
    /// Weight of each neighbour; D, or empty if all are equal.
    pub weights: In<'a, f64>,
}

#[cfg(not(target_arch = "nvptx64"))]
impl NeighbourhoodBuffers<'_> {
    /// Whether the arrays have the lengths of `moving` moving nodes.
    pub fn fit(&self, moving: usize) -> bool {
        self.rows.len() == moving + 1
            && (self.weights.is_empty() || self.weights.len() == self.neighbours.len())
    }

    /// M.
    pub fn moving(&self) -> usize {
        self.rows.len().saturating_sub(1)
    }

    /// Size of all arrays.
    pub fn bytes(&self) -> usize {
        self.rows.bytes() + self.neighbours.bytes() + self.weights.bytes()
    }
}

/// The place of a lane.
#[inline(always)]
pub(super) fn place(block: &SweepBlock, lane: u32) -> u32 {
    block.index() * SWEEP_LANES as u32 + lane
}

/// The point `factor` of the way from `here` to the mean, which is `sum` over `total`.
#[inline(always)]
pub(super) fn arrive<V: Vector>(here: V, sum: V, total: f64, factor: f64) -> V {
    let mean = sum.over(total);
    if factor == 1.0 {
        mean
    } else {
        here + (mean - here).times(factor)
    }
}

impl Neighbourhood<'_> {
    /// The new position of node `i`, now at `here`: moved by `factor` towards the weighted mean of its neighbours.
    /// Neighbours are summed in the order of their row.
    #[inline(always)]
    pub fn target<V: Vector>(self, i: Place, here: V, factor: f64, load: impl Fn(Place) -> V) -> V {
        let (start, end) = (self.rows.at(i), self.rows.at(i.index() + 1));
        let mut sum = V::ZERO;
        if self.weights.is_empty() {
            self.each(start, end, load, |_, position| sum = sum + position);
            return arrive(here, sum, f64::from(end - start), factor);
        }
        let mut total = 0.0;
        self.each(start, end, load, |s, position| {
            let weight = self.weights.at(s);
            sum = sum + position.times(weight);
            total += weight;
        });
        if total <= 0.0 {
            return here;
        }
        arrive(here, sum, total, factor)
    }

    /// Calls `visit` with each place `start..end` in the list of neighbours and the position there, in order.
    ///
    /// Four places are read together, then their positions, so that the reads overlap; on a GPU eight. If their
    /// registers leave room for fewer threads, these share the L1 cache better, which is faster too.
    #[inline(always)]
    fn each<V: Vector>(
        self,
        start: u32,
        end: u32,
        load: impl Fn(Place) -> V,
        mut visit: impl FnMut(u32, V),
    ) {
        let place = |s: u32| self.neighbours.at(s);
        let places = |s: u32| [place(s), place(s + 1), place(s + 2), place(s + 3)];
        let loads = |[a, b, c, d]: [Place; 4]| [load(a), load(b), load(c), load(d)];
        let mut visits = |s: u32, [a, b, c, d]: [V; 4]| {
            visit(s, a);
            visit(s + 1, b);
            visit(s + 2, c);
            visit(s + 3, d);
        };
        let mut s = start;
        while cfg!(target_arch = "nvptx64") && end - s >= 8 {
            let (first, second) = (places(s), places(s + 4));
            let (first, second) = (loads(first), loads(second));
            visits(s, first);
            visits(s + 4, second);
            s += 8;
        }
        while end - s >= 4 {
            visits(s, loads(places(s)));
            s += 4;
            if cfg!(target_arch = "nvptx64") {
                break;
            }
        }
        if end - s >= 2 {
            let (a, b) = (place(s), place(s + 1));
            let (a, b) = (load(a), load(b));
            visit(s, a);
            visit(s + 1, b);
            s += 2;
        }
        if s < end {
            visit(s, load(place(s)));
        }
    }
}

/// Form A: reads nodes below `count` in `from`, and writes them to `to`.
#[kernel(
    L in Layouts,
    registers = 80,
    requires(
        n == (count as usize).div_ceil(SWEEP_LANES),
        neighbourhood.fit(count as usize),
        from.len() == to.len(),
        from.len() >= L::ELEMENTS * count as usize,
        moved.len() > k as usize + 1
    ),
    moves(neighbourhood.bytes() + from.bytes() + count as usize * L::ELEMENTS * size_of::<L>())
)]
pub fn sweep_form_a<L: Nodes>(
    block: &Block<SWEEP_LANES>,
    neighbourhood: Neighbourhood,
    from: In<L>,
    to: Out<L>,
    moved: Out<u32>,
    k: u32,
    count: u32,
    factor: f64,
    tolerance: f64,
) {
    if moved.at(k) == 0 {
        return;
    }
    let moves = block.lanes(|lane| {
        let i = place(block, lane.index());
        if i >= count {
            return false;
        }
        let i = Place::new(i);
        let here = L::load(from, i);
        let there = neighbourhood.target(i, here, factor, |j| L::load(from, j));
        L::store(to, i, there);
        (there - here).square() >= tolerance
    });
    note_moves(block, &moves, moved, k);
}

/// Sets `moved[k + 1]` if a lane of the block moved its node.
#[inline(always)]
pub(super) fn note_moves<S: SharedMemory>(
    block: &Block<SWEEP_LANES, S>,
    moves: &Lanes<bool, SWEEP_LANES>,
    moved: Out<u32>,
    k: u32,
) {
    let any = block.any(moves);
    block.lanes(|lane| {
        if lane.index() == 0 && any {
            moved.set_same(k + 1, 1);
        }
    });
}

/// Form B over all nodes below `count` at once: each reads the present positions of its neighbours, so the result
/// differs from run to run.
///
/// The races are the paper's (section 3.2.3). Coordinates are read and written whole; a node may be read with some
/// coordinates new and others old.
#[kernel(
    L in Layouts,
    requires(
        n == (count as usize).div_ceil(SWEEP_LANES),
        neighbourhood.fit(count as usize),
        nodes.len() >= L::ELEMENTS * count as usize,
        squares.len() >= count as usize,
        moved.len() > k as usize + 1
    ),
    moves(
        neighbourhood.bytes()
            + nodes.bytes()
            + count as usize * (L::ELEMENTS * size_of::<L>() + size_of::<f64>())
    )
)]
pub fn sweep_racing<L: Nodes>(
    block: &Block<SWEEP_LANES>,
    neighbourhood: Neighbourhood,
    nodes: Racing<L>,
    squares: Out<f64>,
    moved: Out<u32>,
    k: u32,
    count: u32,
    factor: f64,
    tolerance: f64,
) {
    if moved.at(k) == 0 {
        return;
    }
    let moves = block.lanes(|lane| {
        let i = place(block, lane.index());
        if i >= count {
            return false;
        }
        let i = Place::new(i);
        let here = L::load_racing(nodes, i);
        let there = neighbourhood.target(i, here, factor, |j| L::load_racing(nodes, j));
        L::store_racing(nodes, i, there);
        let square = (there - here).square();
        squares.set(i, square);
        square >= tolerance
    });
    note_moves(block, &moves, moved, k);
}
