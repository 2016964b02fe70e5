//! Steps 1, 2 and 3: the longest edge of each triangle, and the way across each edge to the next.

use crate::half_edge::prefetch_corners;
use crate::point::Planar;
use trioxide_kernel::{In, NONE, Out, kernel};

use crate::point::Point2;

/// Which side of a triangle is its longest: 0, 1 or 2. Of equally long ones that with the smaller edge id.
///
/// The triangle is `first + i`, or that of half-edge `list[i]`, if it is one, if there is a list.
#[kernel(P in Planar)]
pub fn find_longest_edges<P: Point2>(
    i: u32,
    list: In<u32>,
    first: u32,
    corners: In<u32>,
    points: In<P>,
    sides: In<u32>,
    longest: Out<u8>,
) {
    let Some(t) = listed(i, list, first) else {
        return;
    };
    if list.is_empty() {
        prefetch_corners(points, corners, t);
    }
    let h = 3 * t;
    let a = points.at(corners.at(h));
    let b = points.at(corners.at(h + 1));
    let c = points.at(corners.at(h + 2));
    let ab = a.distance_squared(b);
    let bc = b.distance_squared(c);
    let ca = c.distance_squared(a);
    // Ids decide ties only; there they are read.
    let edge = |k: u32| sides.at(h + k) / 2;
    let mut best = 0;
    let mut length = ab;
    if bc > length || bc == length && edge(1) < edge(0) {
        best = 1;
        length = bc;
    }
    if ca > length || ca == length && edge(2) < edge(best) {
        best = 2;
    }
    longest.set(t, best as u8);
}

/// The half-edges of the sides of a triangle, which is told as to [`find_longest_edges()`]. What divides an edge of the triangle
/// asks there for its longest edge: the links of the dependency forest.
#[kernel]
pub fn link_sides(i: u32, list: In<u32>, first: u32, sides: In<u32>, halves: Out<u32>) {
    let Some(t) = listed(i, list, first) else {
        return;
    };
    let h = 3 * t;
    halves.set(sides.at(h), h);
    halves.set(sides.at(h + 1), h + 1);
    halves.set(sides.at(h + 2), h + 2);
}

/// Triangle `first + i`, or that of half-edge `list[i]` if there is a list; a list may hold `NONE`.
#[inline(always)]
pub(super) fn listed(i: u32, list: In<u32>, first: u32) -> Option<u32> {
    if list.is_empty() {
        return Some(first + i);
    }
    let h = list.at(i);
    (h != NONE).then_some(h / 3)
}
