//! A kernel with indices that its caller plants. Only checked builds have it; with it the self-test shows that they catch an
//! index out of range.
#![cfg(feature = "checked")]

use trioxide_kernel::{In, Out, kernel};

/// Element `plan[i]` of `values`.
#[kernel(requires(plan.len() == n, found.len() == n))]
pub fn plant_bad_index(i: u32, plan: In<u32>, values: In<u32>, found: Out<u32>) {
    found.set(i, values.at(plan.at(i)));
}
