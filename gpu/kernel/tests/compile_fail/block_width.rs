use trioxide_kernel::{Block, kernel};

#[kernel]
pub fn too_wide(block: &Block<2048>) {
    block.phase(|_| ());
}

#[kernel]
pub fn odd(block: &Block<48>) {
    block.phase(|_| ());
}

const LANES: usize = 2048;

#[kernel]
pub fn by_constant(block: &Block<LANES>) {
    block.phase(|_| ());
}

fn main() {}
