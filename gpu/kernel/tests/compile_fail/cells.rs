//! A closure of lanes captures no cell: it would be one value on a CPU, and one a lane on a device.
use core::cell::{Cell, RefCell};

use trioxide_kernel::{Block, Lanes, Out, Shared, SharedMemory, kernel};

#[kernel]
pub fn count_in_phase(block: &Block<32>, counts: Out<u32>) {
    let count = Cell::new(0);
    block.phase(|_| count.set(count.get() + 1));
    counts.set(block.index(), count.get());
}

#[kernel]
pub fn keep_in_lanes(block: &Block<32>) {
    let last = RefCell::new([0u32; 2]);
    block.lanes(|lane| last.replace([lane.index(); 2])[0] == 0);
}

#[kernel]
pub fn keep_in_each(block: &Block<32>) {
    let last = RefCell::new(0);
    block.each(9, |_, i| *last.borrow_mut() = i);
}

/// Nothing is known of `T`: `T: NoCells` is missing.
pub fn keep_any<T>(block: &Block<32>, value: T) {
    block.phase(|_| drop(&value));
}

#[derive(SharedMemory)]
pub struct Tile {
    words: Shared<u32, 32>,
}

/// Views, lanes and shared memory are captured as before, of generic elements too.
pub fn views<T: Copy>(block: &Block<32, Tile>, values: Out<T>, own: Lanes<T, 32>) {
    let tile = block.shared();
    block.phase(|lane| values.set(tile.words.at(lane.index()), own.at(lane)));
}

fn main() {}
