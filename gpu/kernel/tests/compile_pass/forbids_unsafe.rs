//! Groups, shared memory, ids and kernels need no `unsafe` code of their author.
#![forbid(unsafe_code)]
use trioxide_kernel::{Block, Group, In, Out, Shared, SharedMemory, kernel};

#[derive(Group)]
pub struct Values<'a> {
    pub values: In<'a, f32>,
    pub shift: u32,
}

#[derive(SharedMemory)]
pub struct Tile {
    words: Shared<f32, 32>,
}

#[kernel(requires(values.values.len() == 32 * n))]
pub fn copy(block: &Block<32, Tile>, values: Values, copies: Out<f32>) {
    let tile = &block.shared().words;
    block.phase(|lane| tile.set(lane, lane.index(), values.values.at(lane.index())));
    block.phase(|lane| copies.set(lane.index(), tile.at(31 - lane.index())));
}

fn main() {}
