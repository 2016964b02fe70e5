use trioxide_kernel::{Block, Shared, SharedMemory, kernel};

#[derive(SharedMemory)]
pub struct Tile {
    rows: Shared<u8, 233_000>,
}

#[kernel]
pub fn sort(block: &Block<256, Tile>) {
    block.phase(|lane| block.shared().rows.set(lane, lane.index(), 0));
}

fn main() {}
