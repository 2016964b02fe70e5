//! A body cannot keep its block, nor its shared memory.
use trioxide_kernel::{Block, Shared, SharedMemory, kernel};

#[derive(SharedMemory)]
pub struct Tile {
    words: Shared<u32, 32>,
}

#[kernel]
pub fn for_ever(block: &'static Block<32, Tile>) {
    block.phase(|_| ());
}

#[kernel]
pub fn keep_memory(block: &Block<32, Tile>) {
    let kept: &'static Tile = block.shared();
    block.phase(|lane| kept.words.set(lane, 0, 1));
}

fn main() {}
