//! The places by which triangles are ordered.

use glam::DVec3;
use trioxide_kernel::kernel;
use trioxide_kernel::view::Out;

use super::distance::Bounds;
use super::shape::Shape;
use crate::ids::Triangle;

/// The middle of the box around triangle `t`.
#[kernel(
    requires(centers.len() == n),
    moves(shape.corners.bytes() + shape.points.bytes() + centers.bytes())
)]
pub fn find_centers(t: Triangle, shape: Shape, centers: Out<DVec3>) {
    centers.set(t, Bounds::of(shape.triangle(t)).center());
}
