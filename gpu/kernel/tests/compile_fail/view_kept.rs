//! A body cannot keep a view: its lifetime has no name, not even through an alias.
use std::sync::Mutex;

use trioxide_kernel::{In, Out, kernel};

type Leaky = In<'static, f32>;
static KEPT: Mutex<Option<Leaky>> = Mutex::new(None);

#[kernel(requires(values.len() == n, out.len() == n))]
pub fn keep(i: u32, values: Leaky, out: Out<f32>) {
    *KEPT.lock().unwrap() = Some(values);
    out.set(i, values.at(i));
}

fn main() {}
