use trioxide_kernel::{In, kernel};

#[kernel]
pub fn double(i: u32, values: In<u32>) -> u32 {
    2 * values.at(i)
}

#[kernel]
pub fn many(i: u32) -> [bool; 33] {
    [i == 0; 33]
}

fn main() {}
