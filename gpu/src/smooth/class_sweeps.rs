//! Form B over classes of nodes: a class is a range of places, and no two of its nodes are neighbours.
//!
//! Sweeps may overlap. A node sees the positions of separate sweeps as long as all neighbours before it have moved in
//! its sweep, and no neighbour after it has moved in the next one. So if the classes of neighbours differ by less than
//! d, sweep k + 1 may move class c while sweep k moves class c + d: the result is that of one sweep after the other,
//! bit for bit. The levels of neighbours in a grid differ by 3 at most, of 800.

use bytemuck::{Pod, Zeroable};
use trioxide_kernel::{Block, NONE, Out, Scalar, kernel};

use super::nodes::{Layouts, Nodes, Vector};
use super::sweeps::{Neighbourhood, SWEEP_LANES, note_moves};
use crate::ids::Place;

/// Most classes of a wave.
pub const MOST_CLASSES: usize = 16;

/// A class of a wave: `count` places from `first` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct WaveClass {
    first: u32,
    count: u32,
    /// The first block after its blocks; after all blocks for the last part.
    end: u32,
}

/// Classes that move at the same time, each in the sweep after that of the part before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Wave {
    parts: [WaveClass; MOST_CLASSES],
    /// Number of blocks.
    blocks: u32,
    /// Index in `moved` of the first part's sweep.
    sweep: u32,
    /// The wave begins only if this element of `moved` is not 0; `NONE` for no condition.
    condition: u32,
}

impl Scalar for Wave {}

impl Wave {
    /// Classes by their places, first and number; the first class is in the sweep with index `sweep` in `moved`.
    ///
    /// # Panics
    /// If there are none, or more than [`MOST_CLASSES`].
    #[cfg(not(target_arch = "nvptx64"))]
    pub fn new(classes: &[(u32, u32)], sweep: u32, condition: u32) -> Self {
        assert!((1..=MOST_CLASSES).contains(&classes.len()));
        let mut wave = Self {
            sweep,
            condition,
            ..Self::zeroed()
        };
        for part in &mut wave.parts {
            part.end = u32::MAX;
        }
        for (k, &(first, count)) in classes.iter().enumerate() {
            wave.blocks += count.div_ceil(SWEEP_LANES as u32);
            let is_last = k + 1 == classes.len();
            let end = if is_last { u32::MAX } else { wave.blocks };
            wave.parts[k] = WaveClass { first, count, end };
        }
        wave
    }

    /// Number of blocks of its launch.
    #[cfg(not(target_arch = "nvptx64"))]
    pub fn blocks(&self) -> u32 {
        self.blocks
    }

    /// Number of nodes.
    #[cfg(not(target_arch = "nvptx64"))]
    fn nodes(&self) -> u64 {
        self.parts.iter().map(|part| u64::from(part.count)).sum()
    }

    /// Whether all places are below `moving`, and all sweeps in `moved`.
    #[cfg(not(target_arch = "nvptx64"))]
    fn fits(&self, moving: usize, moved: usize) -> bool {
        let parts = self.parts.iter().filter(|part| part.count > 0);
        let sweeps = parts.clone().count();
        parts
            .into_iter()
            .all(|part| part.first as usize + part.count as usize <= moving)
            && moved > self.sweep as usize + sweeps
            && (self.condition == NONE || moved > self.condition as usize)
    }

    /// The part of block `index`, its number, and its first block.
    #[inline(always)]
    fn part(&self, index: u32) -> (WaveClass, u32, u32) {
        let mut found = (self.parts[0], 0, 0);
        // By comparisons: an array that a variable indexes would lie in memory.
        let mut k = 1;
        while k < MOST_CLASSES {
            let begin = self.parts[k - 1].end;
            if index >= begin {
                found = (self.parts[k], k as u32, begin);
            }
            k += 1;
        }
        found
    }
}

/// Form B over the classes of a wave. No two nodes of a wave are neighbours. `squares` gets the squared moves. Sweeps
/// with an even index in `moved` move by `factor`, the others by `second_factor`.
#[kernel(
    L in Layouts,
    registers = 80,
    requires(
        n == wave.blocks() as usize,
        wave.fits(neighbourhood.moving(), moved.len()),
        neighbourhood.fit(neighbourhood.moving()),
        nodes.len() >= L::ELEMENTS * neighbourhood.moving(),
        squares.len() >= neighbourhood.moving()
    ),
    // A class takes its share of the reads of a sweep.
    moves(
        (neighbourhood.bytes() + nodes.bytes()) as u64 * wave.nodes()
            / neighbourhood.moving().max(1) as u64
            + wave.nodes() * (L::ELEMENTS * size_of::<L>() + size_of::<f64>()) as u64
    )
)]
pub fn sweep_classes<L: Nodes>(
    block: &Block<SWEEP_LANES>,
    neighbourhood: Neighbourhood,
    nodes: Out<L>,
    squares: Out<f64>,
    moved: Out<u32>,
    wave: Wave,
    factor: f64,
    second_factor: f64,
    tolerance: f64,
) {
    // All blocks of a GPU would wait for this read before any other: a wave without a condition does not read.
    if wave.condition != NONE && moved.at(wave.condition) == 0 {
        return;
    }
    let (part, k, begin) = wave.part(block.index());
    let sweep = wave.sweep + k;
    let factor = if sweep & 1 == 0 {
        factor
    } else {
        second_factor
    };
    let before = (block.index() - begin) * SWEEP_LANES as u32;
    let moves = block.lanes(|lane| {
        if before + lane.index() >= part.count {
            return false;
        }
        let i = Place::new(part.first + before + lane.index());
        let here = L::load(nodes.unwritten(), i);
        let there = neighbourhood.target(i, here, factor, |j| L::load(nodes.unwritten(), j));
        L::store(nodes, i, there);
        let square = (there - here).square();
        squares.set(i, square);
        square >= tolerance
    });
    note_moves(block, &moves, moved, sweep);
}
