use trioxide_kernel::launch::Buffer;
use trioxide_kernel::{In, Out, kernel};

#[kernel]
pub fn by_size(i: u32, n: usize, values: Out<f32>) {
    values.set(i, n as f32);
}

#[kernel]
pub fn by_buffer(_i: u32, values: Buffer<f32>) {
    drop(values);
}

#[kernel]
pub fn by_array(i: u32, offset: [f32; 2], values: Out<f32>) {
    values.set(i, offset[0]);
}

#[kernel]
pub fn for_ever(i: u32, values: In<'static, f32>, copies: Out<f32>) {
    copies.set(i, values.at(i));
}

fn main() {}
