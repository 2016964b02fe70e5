//! Sweeps by one block (section 3.2.3): barriers of the block separate them, so one launch does several.

use trioxide_kernel::{Block, Out, kernel};

use super::nodes::{Layouts, Nodes, Vector};
use super::sweeps::Neighbourhood;
use crate::ids::Place;

/// Lanes of the block: more would leave too few registers for each on Turing.
pub const ONE_BLOCK_LANES: usize = 512;

/// Slots of the block's report to the host.
pub mod outcome {
    /// Number of sweeps.
    pub const SWEEPS: u32 = 0;
    /// Whether the last one moved a node by the tolerance or more.
    pub const MOVED: u32 = 1;
    /// Number of slots.
    pub const COUNT: usize = 2;
}

/// Form A: up to `sweeps` sweeps, alternately from `a` to `b` and from `b` to `a`. Sweeps with an even number move by
/// `factor`, the others by `second_factor`.
#[kernel(
    L in Layouts,
    requires(
        n == 1,
        neighbourhood.fit(count as usize),
        a.len() == b.len(),
        a.len() >= L::ELEMENTS * count as usize,
        result.len() == outcome::COUNT
    )
)]
pub fn one_block_form_a<L: Nodes>(
    block: &Block<ONE_BLOCK_LANES>,
    neighbourhood: Neighbourhood,
    a: Out<L>,
    b: Out<L>,
    result: Out<u32>,
    sweeps: u32,
    count: u32,
    factor: f64,
    second_factor: f64,
    tolerance: f64,
) {
    let mut k = 0;
    let mut moved = 1;
    while k < sweeps && moved > 0 {
        let is_even = k % 2 == 0;
        let (from, to) = if is_even { (a, b) } else { (b, a) };
        let factor = if is_even { factor } else { second_factor };
        let moves = block.lanes(|lane| {
            let mut moves = 0;
            let mut i = lane.index();
            while i < count {
                let node = Place::new(i);
                let here = L::load(from.unwritten(), node);
                let load = |j| L::load(from.unwritten(), j);
                let there = neighbourhood.target(node, here, factor, load);
                L::store(to, node, there);
                moves |= u32::from((there - here).square() >= tolerance);
                i += ONE_BLOCK_LANES as u32;
            }
            moves
        });
        // Its barriers separate the sweeps.
        (_, moved) = block.exclusive_sum(&moves);
        k += 1;
    }
    block.lanes(|lane| {
        if lane.index() == 0 {
            result.set(outcome::SWEEPS, k);
            result.set(outcome::MOVED, moved);
        }
    });
}

/// Form B: up to `sweeps` sweeps, in place. The lanes take nodes in chunks. The nodes of a chunk move at the same time,
/// from the positions after the chunks before it. So the result equals that of a sequential program that goes chunk by
/// chunk.
#[kernel(
    L in Layouts,
    requires(
        n == 1,
        neighbourhood.fit(count as usize),
        nodes.len() >= L::ELEMENTS * count as usize,
        squares.len() >= count as usize,
        result.len() == outcome::COUNT
    )
)]
pub fn one_block_form_b<L: Nodes>(
    block: &Block<ONE_BLOCK_LANES>,
    neighbourhood: Neighbourhood,
    nodes: Out<L>,
    squares: Out<f64>,
    result: Out<u32>,
    sweeps: u32,
    count: u32,
    factor: f64,
    second_factor: f64,
    tolerance: f64,
) {
    let mut k = 0;
    let mut moved = 1;
    while k < sweeps && moved > 0 {
        let factor = if k % 2 == 0 { factor } else { second_factor };
        moved = 0;
        let mut first = 0;
        while first < count {
            let there = block.lanes(|lane| {
                let i = first + lane.index();
                if i >= count {
                    return (<L::Point as Vector>::ZERO, 0);
                }
                let i = Place::new(i);
                let here = L::load(nodes.unwritten(), i);
                let load = |j| L::load(nodes.unwritten(), j);
                let there = neighbourhood.target(i, here, factor, load);
                let square = (there - here).square();
                squares.set(i, square);
                (there, u32::from(square >= tolerance))
            });
            let moves = block.lanes(|lane| there.at(lane).1);
            // Its barrier separates all reads from the writes.
            let (_, chunk) = block.exclusive_sum(&moves);
            moved += chunk;
            block.phase(|lane| {
                if first + lane.index() < count {
                    L::store(nodes, Place::new(first + lane.index()), there.at(lane).0);
                }
            });
            first += ONE_BLOCK_LANES as u32;
        }
        k += 1;
    }
    block.lanes(|lane| {
        if lane.index() == 0 {
            result.set(outcome::SWEEPS, k);
            result.set(outcome::MOVED, moved);
        }
    });
}
