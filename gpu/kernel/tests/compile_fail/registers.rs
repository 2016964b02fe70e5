use trioxide_kernel::{Block, In, Out, kernel};

#[kernel(registers = 5000)]
pub fn too_many(i: u32, from: In<f32>, to: Out<f32>) {
    to.set(i, from.at(i));
}

#[kernel(registers = 80)]
pub fn too_many_in_all(block: &Block<1024>) {
    block.phase(|_| ());
}

#[kernel(registers = 64)]
pub fn fits(block: &Block<1024>) {
    block.phase(|_| ());
}

fn main() {}
