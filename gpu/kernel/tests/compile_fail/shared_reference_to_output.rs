use trioxide_kernel::launch::{Buffer, Launcher};
use trioxide_kernel::{Out, kernel};

#[kernel]
pub fn fill(i: u32, values: Out<f64>) {
    values.set(i, 1.0);
}

fn main() {}

pub fn run(on: &dyn Launcher, values: &Buffer<f64>) {
    // SAFETY: does not compile.
    let _ = unsafe { fill::launch(on, 3, values) };
}
