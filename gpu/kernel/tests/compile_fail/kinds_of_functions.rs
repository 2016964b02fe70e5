use trioxide_kernel::{Out, kernel};

#[kernel]
pub async fn fill(i: u32, values: Out<f64>) {
    values.set(i, 1.0);
}

#[kernel]
pub unsafe fn fill_unsafely(i: u32, values: Out<f64>) {
    values.set(i, 1.0);
}

#[kernel]
pub extern "C" fn fill_for_c(i: u32, values: Out<f64>) {
    values.set(i, 1.0);
}

#[kernel]
pub struct Fill;

fn main() {}
