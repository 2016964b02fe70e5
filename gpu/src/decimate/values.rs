//! The numbers that vertices carry, before and after.

use trioxide_kernel::safe::{Atomic, In, Own};
use trioxide_kernel::{kernel, view};

use super::trends::Trend;
use crate::ids::{Item, Vertex};

/// Largest magnitude of a number: 2^250, as of a coordinate.
const LARGEST: f64 = f64::from_bits((1023 + 250) << 52);

/// Finds vertex `v` in `found[0]` if one of its `count` numbers is not finite, or too large.
#[kernel(
    requires(values.len() == n * count as usize, found.len() == 1),
    moves(values.bytes())
)]
pub fn check_values(v: Own<Vertex>, count: u32, values: In<f64>, found: Atomic<Vertex>) {
    let first = v.index() * count;
    let mut c = 0;
    while c < count {
        let value = values.at(first + c);
        if !(-LARGEST..=LARGEST).contains(&value) {
            found.min(0, *v);
        }
        c += 1;
    }
}

/// Writes the numbers of vertex `list[i]`, `count` of them.
#[kernel(requires(list.len() == n, left.len() == n * count as usize), moves(list.bytes() + 2 * left.bytes()))]
pub fn write_values(
    i: Item,
    count: u32,
    list: view::In<Vertex>,
    trends: view::In<Trend>,
    left: view::Out<f64>,
) {
    let from = list.at(i).index() * count;
    let mut c = 0;
    while c < count {
        left.set(i.index() * count + c, trends.at(from + c).value);
        c += 1;
    }
}
