//! A closure of lanes changes no variable: it would be one variable on a CPU, and one a lane on a device. A lane's
//! values and writes
//! to shared memory need the lane.
use std::sync::Mutex;

use trioxide_kernel::{Block, Lane, Out, Shared, SharedMemory, kernel};

#[derive(SharedMemory)]
pub struct Tile {
    words: Shared<u32, 32>,
}

#[kernel]
pub fn count_lanes(block: &Block<32, Tile>, counts: Out<u32>) {
    let mut count = 0;
    block.phase(|_| count += 1);
    block.lanes(|_| count += 1);
    block.each(9, |_, _| count += 1);
    counts.set(block.index(), count);
}

#[kernel]
pub fn read_another(block: &Block<32, Tile>, values: Out<u32>) {
    let own = block.lanes(|lane| lane.index());
    values.set(block.index(), own.at(0));
}

#[kernel]
pub fn write_outside_of_a_phase(block: &Block<32, Tile>) {
    block.shared().words.set(0, 1);
}

#[kernel]
pub fn keep_a_lane(block: &Block<32, Tile>) {
    let kept = Mutex::new(None::<Lane<'static>>);
    block.phase(|lane| *kept.lock().unwrap() = Some(lane));
}

fn main() {}
