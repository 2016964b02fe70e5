use trioxide_kernel::{Block, Out, kernel};

#[kernel]
pub fn nothing() {}

#[kernel]
pub fn fill(values: Out<f64>, i: u32) {
    values.set(i, 1.0);
}

#[kernel]
pub fn fill_wide(i: u64, values: Out<f64>) {
    values.set(i as u32, 1.0);
}

#[kernel]
pub fn fill_block(block: Block<256>, values: Out<f64>) {
    values.set(block.index(), 1.0);
}

#[kernel]
pub fn fill_pair((i, j): (u32, u32), values: Out<f64>) {
    values.set(i + j, 1.0);
}

fn main() {}
