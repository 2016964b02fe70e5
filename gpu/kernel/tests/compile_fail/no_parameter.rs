use trioxide_kernel::{Out, kernel};

#[derive(Clone, Copy)]
pub struct Grid {
    side: f32,
}

#[kernel]
pub fn fill(i: u32, grid: Grid, values: Out<f32>) {
    values.set(i, grid.side);
}

fn main() {}
