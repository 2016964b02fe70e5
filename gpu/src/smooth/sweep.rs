//! A sweep (section 2.2): every moving node goes to the mean of its neighbours.
//!
//! Form A reads the positions before the sweep and writes to a second array. Form B works in place: over ranges of nodes of
//! which no two are neighbours it is deterministic, over all nodes at once it takes what it finds.
//!
//! Sweeps are launched several at a time. `moved[k]` says whether sweep k - 1 of them moved a node by the tolerance or more
//! (`moved[0]` is 1): if none, sweep k and those behind it return at once. So the device stops at the first sweep under the
//! tolerance, and the host looks once for all.

use super::nodes::Layouts;
use trioxide_kernel::{Block, In, Out, Racing, kernel};

use super::nodes::{Nodes, Vector};

/// Lanes of a sweep's blocks.
pub const SWEEP_LANES: u32 = 256;

/// Where node `i` goes from `here`: by `factor` of the way to the weighted mean of its neighbours; uniform weights if
/// `weights` is empty. Neighbours are summed in the order of their row.
#[inline(always)]
pub(super) fn target<V: Vector>(
    i: u32,
    here: V,
    rows: In<u32>,
    neighbours: In<u32>,
    weights: In<f64>,
    factor: f64,
    load: impl Fn(u32) -> V,
) -> V {
    let mut s = rows.at(i);
    let end = rows.at(i + 1);
    let mut sum = V::ZERO;
    let mean = if weights.is_empty() {
        let count = end - s;
        while s < end {
            sum = sum + load(neighbours.at(s));
            s += 1;
        }
        sum.over(f64::from(count))
    } else {
        let mut total = 0.0;
        while s < end {
            let weight = weights.at(s);
            sum = sum + load(neighbours.at(s)).times(weight);
            total += weight;
            s += 1;
        }
        if total <= 0.0 {
            return here;
        }
        sum.over(total)
    };
    if factor == 1.0 {
        mean
    } else {
        here + (mean - here).times(factor)
    }
}

/// Form A: nodes below `count` from `from` to `to`.
#[kernel(L in Layouts)]
pub fn sweep_form_a<L: Nodes>(
    block: &Block<256>,
    rows: In<u32>,
    neighbours: In<u32>,
    weights: In<f64>,
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
        let i = block.index() * SWEEP_LANES + lane;
        if i >= count {
            return 0;
        }
        let here = L::load(from, i);
        let load = |j| L::load(from, j);
        let there = target(i, here, rows, neighbours, weights, factor, load);
        L::store(to, i, there);
        u32::from((there - here).square() >= tolerance)
    });
    tell(block, &moves, moved, k);
}

/// Sets `moved[k + 1]` if a lane of the block moved its node.
#[inline(always)]
pub(super) fn tell(
    block: &Block<256>,
    moves: &trioxide_kernel::Lanes<u32, 256>,
    moved: Out<u32>,
    k: u32,
) {
    let (_, total) = block.exclusive_sum(moves);
    block.lanes(|lane| {
        if lane == 0 && total > 0 {
            moved.set_same(k + 1, 1);
        }
    });
}

/// Form B over `count` nodes from `first` on, of which no two are neighbours; `squares` gets their squared moves.
#[kernel(L in Layouts)]
pub fn sweep_class<L: Nodes>(
    block: &Block<256>,
    rows: In<u32>,
    neighbours: In<u32>,
    weights: In<f64>,
    nodes: Out<L>,
    squares: Out<f64>,
    moved: Out<u32>,
    k: u32,
    first: u32,
    count: u32,
    factor: f64,
    tolerance: f64,
) {
    if moved.at(k) == 0 {
        return;
    }
    let moves = block.lanes(|lane| {
        let j = block.index() * SWEEP_LANES + lane;
        if j >= count {
            return 0;
        }
        let i = first + j;
        let here = L::load(nodes.unwritten(), i);
        let load = |j| L::load(nodes.unwritten(), j);
        let there = target(i, here, rows, neighbours, weights, factor, load);
        L::store(nodes, i, there);
        let square = (there - here).square();
        squares.set(i, square);
        u32::from(square >= tolerance)
    });
    tell(block, &moves, moved, k);
}

/// Form B over all nodes below `count` at once: each reads what its neighbours hold at that moment, so that the result
/// differs from run to run.
///
/// The races are the paper's (section 3.2.3). Coordinates are read and written whole; a node may be read with some
/// coordinates new and others old.
#[kernel(L in Layouts)]
pub fn sweep_racing<L: Nodes>(
    block: &Block<256>,
    rows: In<u32>,
    neighbours: In<u32>,
    weights: In<f64>,
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
        let i = block.index() * SWEEP_LANES + lane;
        if i >= count {
            return 0;
        }
        let here = L::load_racing(nodes, i);
        let load = |j| L::load_racing(nodes, j);
        let there = target(i, here, rows, neighbours, weights, factor, load);
        L::store_racing(nodes, i, there);
        let square = (there - here).square();
        squares.set(i, square);
        u32::from(square >= tolerance)
    });
    tell(block, &moves, moved, k);
}
