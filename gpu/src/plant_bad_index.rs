//! A kernel whose indices its caller plants: checked builds alone have it, and the self-test shows by it that they catch an index
//! that an array does not have.
#![cfg(feature = "checked")]

use trioxide_kernel::{In, Out, kernel};

/// Element `plan[i]` of `values`.
#[kernel(requires(plan.len() == n, found.len() == n))]
pub fn plant_bad_index(i: u32, plan: In<u32>, values: In<u32>, found: Out<u32>) {
    found.set(i, values.at(plan.at(i)));
}
