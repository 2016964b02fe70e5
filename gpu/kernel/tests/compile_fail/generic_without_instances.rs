use trioxide_kernel::{In, Out, kernel};

pub trait Point: trioxide_kernel::bytemuck::Pod + Send + Sync {}

#[kernel]
pub fn copy<P: Point>(i: u32, values: In<P>, copies: Out<P>) {
    copies.set(i, values.at(i));
}

fn main() {}
