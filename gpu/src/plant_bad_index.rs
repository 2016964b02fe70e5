//! A kernel with indices that its caller plants, and one with an assertion. Only checked builds contain them: the
//! self-test shows with them that such builds catch an index out of range and a broken assertion.
#![cfg(feature = "checked")]

use trioxide_kernel::{In, Out, kernel, kernel_assert};

use crate::ids::Triangle;

/// Element `plan[i]` of `values`.
#[kernel(requires(plan.len() == n, found.len() == n))]
pub fn plant_bad_index(i: u32, plan: In<u32>, values: In<u32>, found: Out<u32>) {
    found.set(i, values.at(plan.at(i)));
}

/// Copies values that are below 50.
#[kernel(requires(values.len() == n, copies.len() == n))]
pub fn plant_broken_assertion(t: Triangle, values: In<u32>, copies: Out<u32>) {
    let value = values.at(t);
    kernel_assert!(value < 50, "values are below 50", t);
    copies.set(t, value);
}
