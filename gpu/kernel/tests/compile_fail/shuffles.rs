//! Lanes exchange values of 4, 8, 12 or 16 bytes.
use trioxide_kernel::launch::{LaunchError, Launcher};
use trioxide_kernel::{Block, kernel};

#[kernel]
pub fn exchange_bytes(block: &Block<32>) {
    let bytes = block.lanes(|lane| lane.index() as u8);
    let from = block.lanes(|lane| lane.index() + 1);
    block.shuffle(&bytes, &from);
}

fn main() {
    let _: unsafe fn(&dyn Launcher, u32) -> Result<(), LaunchError> = exchange_bytes::launch;
}
