//! Form B over a small class of nodes, as [`sweep_class()`](super::sweep_class()) over a large one.

use trioxide_kernel::{Block, Out, Shared, SharedMemory, kernel};

use super::nodes::{Layouts, Nodes, Vector};
use super::sweeps::{Neighbourhood, SWEEP_LANES, arrive, note_moves};
use crate::ids::Place;

/// Nodes of a block.
pub const CLASS_NODES: usize = 64;
const NODES: u32 = CLASS_NODES as u32;
const LANES: u32 = SWEEP_LANES as u32;
/// Neighbours of a lane at a time.
const ITEMS: u32 = 4;
/// Neighbours of a block at a time: a node of tetrahedra has 14.
const ROUND: u32 = LANES * ITEMS;

/// Positions of neighbours. The coordinates of any precision are numbers of double precision.
#[derive(SharedMemory)]
pub struct Positions {
    x: Shared<f64, { ROUND as usize }>,
    y: Shared<f64, { ROUND as usize }>,
    z: Shared<f64, { ROUND as usize }>,
}

impl Positions {
    #[inline(always)]
    fn set<V: Vector>(&self, i: u32, position: V) {
        let position = position.to_f64();
        self.x.set(i, position.x);
        self.y.set(i, position.y);
        self.z.set(i, position.z);
    }

    #[inline(always)]
    fn at<V: Vector>(&self, i: u32) -> V {
        V::from_f64(glam::DVec3::new(self.x.at(i), self.y.at(i), self.z.at(i)))
    }
}

/// Form B over a class: `count` nodes from `first` on, no two of them neighbours. Neighbours have no weights. `squares`
/// gets their squared moves.
///
/// Over few nodes a lane that reads one neighbour after the other waits for each. So all lanes read the neighbours
/// of the block's nodes, and a node's lane adds them, in the order of its row.
#[kernel(
    L in Layouts,
    requires(
        n == (count as usize).div_ceil(CLASS_NODES),
        neighbourhood.fit(neighbourhood.moving()),
        neighbourhood.weights.is_empty(),
        (first as usize + count as usize) <= neighbourhood.moving(),
        nodes.len() >= L::ELEMENTS * neighbourhood.moving(),
        squares.len() >= neighbourhood.moving(),
        moved.len() > k as usize + 1
    ),
    // A class has its share of the reads of a sweep.
    moves(
        (neighbourhood.bytes() + nodes.bytes()) as u64 * u64::from(count)
            / neighbourhood.moving().max(1) as u64
            + u64::from(count) * (L::ELEMENTS * size_of::<L>() + size_of::<f64>()) as u64
    )
)]
pub fn sweep_small_class<L: Nodes>(
    block: &Block<SWEEP_LANES, Positions>,
    neighbourhood: Neighbourhood,
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
    let positions = block.shared();
    let Neighbourhood {
        rows, neighbours, ..
    } = neighbourhood;
    let start = first + block.index() * NODES;
    let own = (count - block.index() * NODES).min(NODES);
    let end = rows.at(start + own);
    let mut sums = block.lanes(|_| <L::Point as Vector>::ZERO);
    let mut round = rows.at(start);
    while round < end {
        let behind = (end - round).min(ROUND) + round;
        block.phase(|lane| {
            // Behind the end the last one again, so that all are read together.
            let place = |item: u32| neighbours.at((round + lane + item * LANES).min(behind - 1));
            let places = (place(0), place(1), place(2), place(3));
            let load = |place| L::load(nodes.unwritten(), place);
            let loaded = (
                load(places.0),
                load(places.1),
                load(places.2),
                load(places.3),
            );
            positions.set(lane, loaded.0);
            positions.set(lane + LANES, loaded.1);
            positions.set(lane + 2 * LANES, loaded.2);
            positions.set(lane + 3 * LANES, loaded.3);
        });
        sums = block.lanes(|lane| {
            let mut sum = sums.at(lane);
            if lane < own {
                let mut s = rows.at(start + lane).max(round);
                let last = rows.at(start + lane + 1).min(behind);
                while s < last {
                    sum = sum + positions.at::<L::Point>(s - round);
                    s += 1;
                }
            }
            sum
        });
        // A barrier: the next round writes positions again.
        block.phase(|_| {});
        round = behind;
    }
    let moves = block.lanes(|lane| {
        if lane >= own {
            return 0;
        }
        let i = Place::new(start + lane);
        let here = L::load(nodes.unwritten(), i);
        let count = rows.at(start + lane + 1) - rows.at(start + lane);
        let there = arrive(here, sums.at(lane), f64::from(count), factor);
        L::store(nodes, i, there);
        let square = (there - here).square();
        squares.set(i, square);
        u32::from(square >= tolerance)
    });
    note_moves(block, &moves, moved, k);
}
