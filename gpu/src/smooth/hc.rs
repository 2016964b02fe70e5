//! HC smoothing: Laplacian smoothing that pushes nodes back towards where they were (Vollmer, Mencl and Müller, Improved
//! Laplacian smoothing of noisy surface meshes, 1999); not in the paper.
//!
//! A node that was at o at first and is at q goes to the mean p of its neighbours. That is b = p - (alpha o + (1 - alpha) q) too
//! far: it goes back by beta b + (1 - beta) times the mean of its neighbours' b. All nodes move at the same time. With
//! rest = alpha o + (1 - alpha) q the new place is rest + (1 - beta) (b - mean of b), so that p need not be kept.

use super::nodes::Layouts;
use trioxide_kernel::{Block, In, Out, kernel};

use super::nodes::{Nodes, Vector};
use super::sweep::{SWEEP_LANES, target, tell};

/// What a node is pushed back to: by `alpha` of the way from `here` to where it was at first.
#[inline(always)]
fn rest<V: Vector>(here: V, first: V, alpha: f64) -> V {
    here + (first - here).times(alpha)
}

/// How far the mean of its neighbours takes node `i` beyond its rest, into `excess`; nothing for those from `count` on, which stay.
/// `first` are the nodes before all sweeps.
#[kernel(L in Layouts)]
pub fn measure_excess<L: Nodes>(
    i: u32,
    rows: In<u32>,
    neighbours: In<u32>,
    weights: In<f64>,
    first: In<L>,
    nodes: In<L>,
    excess: Out<L>,
    moved: In<u32>,
    k: u32,
    count: u32,
    alpha: f64,
) {
    if moved.at(k) == 0 {
        return;
    }
    if i >= count {
        return L::store(excess, i, <L::Point as Vector>::ZERO);
    }
    let here = L::load(nodes, i);
    let load = |j| L::load(nodes, j);
    let mean = target(i, here, rows, neighbours, weights, 1.0, load);
    L::store(excess, i, mean - rest(here, L::load(first, i), alpha));
}

/// Pushes nodes below `count` back: from `from` to `to`, with the `excess` of [`measure_excess()`].
#[kernel(L in Layouts)]
pub fn sweep_hc<L: Nodes>(
    block: &Block<256>,
    rows: In<u32>,
    neighbours: In<u32>,
    weights: In<f64>,
    first: In<L>,
    excess: In<L>,
    from: In<L>,
    to: Out<L>,
    moved: Out<u32>,
    k: u32,
    count: u32,
    alpha: f64,
    beta: f64,
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
        let own = L::load(excess, i);
        let load = |j| L::load(excess, j);
        let mean = target(i, own, rows, neighbours, weights, 1.0, load);
        let there = rest(here, L::load(first, i), alpha) + (own - mean).times(1.0 - beta);
        L::store(to, i, there);
        u32::from((there - here).square() >= tolerance)
    });
    tell(block, &moves, moved, k);
}
