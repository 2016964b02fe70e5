use trioxide_kernel::{Out, kernel};

#[kernel(bloc = 256)]
pub fn fill(i: u32, values: Out<f64>) {
    values.set(i, 1.0);
}

#[kernel(requiers(values.len() == n))]
pub fn fill_again(i: u32, values: Out<f64>) {
    values.set(i, 1.0);
}

fn main() {}
