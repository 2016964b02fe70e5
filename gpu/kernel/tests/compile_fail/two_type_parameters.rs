use trioxide_kernel::{In, Out, kernel};

pub trait Point: trioxide_kernel::bytemuck::Pod + Send + Sync {}

#[kernel(P(f32 = f32))]
pub fn convert<P: Point, Q: From<P> + trioxide_kernel::bytemuck::Pod + Send + Sync>(i: u32, values: In<P>, copies: Out<Q>) {
    copies.set(i, Q::from(values.at(i)));
}

#[kernel]
pub fn borrow<'a>(i: u32, values: In<'a, f32>, copies: Out<f32>) {
    copies.set(i, values.at(i));
}

fn main() {}
