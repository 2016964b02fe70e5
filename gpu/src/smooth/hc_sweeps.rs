//! HC smoothing: Laplacian smoothing that pushes nodes back towards their earlier positions (Vollmer, Mencl and Müller,
//! Improved Laplacian smoothing of noisy surface meshes, 1999); not in the paper.
//!
//! Let a node be at o before all sweeps and at q now. It moves to the mean p of its neighbours, which exceeds its rest
//! by b = p - (alpha o + (1 - alpha) q): it is pushed back by beta b + (1 - beta) times the mean of its neighbours' b.
//! All nodes move at the same time. With rest = alpha o + (1 - alpha) q the new position is rest + (1 - beta) (b - mean
//! of b), so p need not be stored.

use trioxide_kernel::{Block, In, Out, kernel};

use super::nodes::{Layouts, Nodes, Vector};
use super::sweeps::{Neighbourhood, SWEEP_LANES, note_moves, place};
use crate::ids::Place;

/// The position that a node is pushed back to: `alpha` of the way from `here` to its first position.
#[inline(always)]
fn rest<V: Vector>(here: V, first: V, alpha: f64) -> V {
    here + (first - here).times(alpha)
}

/// Writes to `excess` the vector from the rest of node `i` to the mean of its neighbours; 0 for nodes from `count` on,
/// which stay. `first` holds the nodes before all sweeps.
#[kernel(
    L in Layouts,
    requires(
        neighbourhood.fit(count as usize),
        first.len() == L::ELEMENTS * n,
        nodes.len() == first.len(),
        excess.len() == first.len(),
        moved.len() > k as usize
    )
)]
pub fn measure_excess<L: Nodes>(
    i: Place,
    neighbourhood: Neighbourhood,
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
    if i.index() >= count {
        return L::store(excess, i, <L::Point as Vector>::ZERO);
    }
    let here = L::load(nodes, i);
    let mean = neighbourhood.target(i, here, 1.0, |j| L::load(nodes, j));
    L::store(excess, i, mean - rest(here, L::load(first, i), alpha));
}

/// Pushes nodes below `count` back: reads `from`, writes `to`, with the `excess` of [`measure_excess()`].
#[kernel(
    L in Layouts,
    requires(
        n == (count as usize).div_ceil(SWEEP_LANES),
        neighbourhood.fit(count as usize),
        first.len() >= L::ELEMENTS * count as usize,
        excess.len() == first.len(),
        from.len() == first.len(),
        to.len() == first.len(),
        moved.len() > k as usize + 1
    )
)]
pub fn sweep_hc<L: Nodes>(
    block: &Block<SWEEP_LANES>,
    neighbourhood: Neighbourhood,
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
        let i = place(block, lane.index());
        if i >= count {
            return false;
        }
        let i = Place::new(i);
        let here = L::load(from, i);
        let own = L::load(excess, i);
        let mean = neighbourhood.target(i, own, 1.0, |j| L::load(excess, j));
        let there = rest(here, L::load(first, i), alpha) + (own - mean).times(1.0 - beta);
        L::store(to, i, there);
        (there - here).square() >= tolerance
    });
    note_moves(block, &moves, moved, k);
}
