use trioxide_kernel::{Out, kernel};

#[kernel(block = 256)]
pub fn fill(i: u32, values: Out<f64>) {
    values.set(i, 1.0);
}

#[kernel(shared = 200000)]
pub fn fill_again(i: u32, values: Out<f64>) {
    values.set(i, 1.0);
}

#[kernel(bits)]
pub fn is_odd(i: u32) -> bool {
    i % 2 == 1
}

#[kernel(members = u32)]
pub fn fill_members(i: u32, values: Out<f64>) {
    values.set(i, 1.0);
}

#[kernel(trusted)]
pub fn fill_trusted(i: u32, values: Out<f64>) {
    values.set(i, 1.0);
}

fn main() {}
