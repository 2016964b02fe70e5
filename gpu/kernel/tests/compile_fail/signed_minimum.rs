//! The bits of signed numbers have another order.
use trioxide_kernel::{Atomic, In, kernel};

#[kernel]
pub fn lower(i: u32, values: In<i32>, lowest: Atomic<i32>) {
    lowest.min(0u32, values.at(i));
}

fn main() {}
