//! Steps 1 and 2: the longest edge of each triangle.

use gpu_macros::kernel;

use crate::point::Point2;
use crate::view::{In, Out};

/// Which side of a triangle is its longest: 0, 1 or 2. Of equally long ones that with the smaller edge id.
///
/// The triangle is `first + i`, or that of half-edge `list[i]` if there is a list.
#[kernel(P(f32 = glam::Vec2, f64 = glam::DVec2))]
pub fn find_longest_edges<P: Point2>(
    i: u32,
    list: In<u32>,
    first: u32,
    corners: In<u32>,
    points: In<P>,
    sides: In<u32>,
    longest: Out<u8>,
) {
    let t = if list.is_empty() {
        points.prefetch_corners(corners, first + i);
        first + i
    } else {
        list.at(i) / 3
    };
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
