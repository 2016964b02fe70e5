use trioxide_kernel::{Out, kernel};

#[kernel]
pub fn copy(i: u32, values: &[f64], copies: Out<f64>) {
    copies.set(i, values[i as usize]);
}

#[kernel]
pub fn overwrite(i: u32, values: &mut [f64]) {
    values[i as usize] = 0.0;
}

#[kernel]
pub fn fill(i: u32, value: &f64, values: Out<f64>) {
    values.set(i, *value);
}

fn main() {}
