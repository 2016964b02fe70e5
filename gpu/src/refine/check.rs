//! What bisection cannot do: give a point between two neighbouring numbers.

use crate::point::Planar;
use trioxide_kernel::{Atomic, In, kernel};

use super::longest::listed;
use super::mark::triangle;
use crate::orientation::is_counter_clockwise;
use crate::point::Point2;

/// Finds triangle `t` if it is degenerate or turned over: the edges that it comes from were too short for this precision.
/// The mesh may be clockwise as a whole.
///
/// The triangle is told as to [`super::find_longest_edges()`].
#[kernel(P in Planar)]
pub fn check_parts<P: Point2>(
    i: u32,
    list: In<u32>,
    first: u32,
    corners: In<u32>,
    points: In<P>,
    clockwise: u32,
    found: Atomic,
) {
    let Some(t) = listed(i, list, first) else {
        return;
    };
    let [a, b, c] = triangle(t, corners, points);
    let (b, c) = if clockwise != 0 { (c, b) } else { (b, c) };
    if !is_counter_clockwise(a, b, c) {
        found.min(0, t);
    }
}
