//! A block adds numbers.
use trioxide_kernel::{Block, kernel};

#[kernel]
pub fn add_flags(block: &Block<32>) {
    block.sum(&block.lanes(|_| true));
}

fn main() {}
