//! Distances of points to a shape.

use glam::DVec3;
use trioxide_kernel::kernel;
use trioxide_kernel::view::{In, Out};

use super::tree::Tree;
use crate::ids::{Item, Triangle};
use crate::smooth::root;

/// The distance of point `i` to the shape, and the nearest triangle.
#[kernel(
    requires(points.len() == n, distances.len() == n, nearest.len() == n),
    moves(points.bytes() + distances.bytes() + nearest.bytes())
)]
pub fn measure_distances(
    i: Item,
    points: In<DVec3>,
    tree: Tree,
    distances: Out<f64>,
    nearest: Out<Triangle>,
) {
    let (square, triangle) = tree.nearest(points.at(i));
    distances.set(i, root(square));
    nearest.set(i, triangle);
}
