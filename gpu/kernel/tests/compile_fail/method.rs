use trioxide_kernel::{Out, kernel};

pub struct Grid;

impl Grid {
    #[kernel]
    pub fn fill(self, i: u32, values: Out<f64>) {
        values.set(i, 1.0);
    }
}

fn main() {}
