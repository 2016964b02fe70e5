//! Boxes of the leaves.

use trioxide_kernel::kernel;
use trioxide_kernel::view::{In, Out};

use super::distance::Bounds;
use super::shape::Shape;
use super::tree::{LEAF, Leaf};
use crate::ids::Triangle;

/// The box around the triangles of leaf `leaf`, at node `first_leaf` + `leaf`.
#[kernel(
    requires(order.len() <= LEAF as usize * n, boxes.len() == first_leaf as usize + n),
    moves(order.bytes() + shape.corners.bytes() + shape.points.bytes() + 48 * n)
)]
pub fn bound_leaves(
    leaf: Leaf,
    shape: Shape,
    order: In<Triangle>,
    first_leaf: u32,
    boxes: Out<Bounds>,
) {
    let mut bounds = Bounds::NONE;
    let first = LEAF * leaf.index();
    let mut k = 0;
    while k < LEAF {
        if first + k < order.len() {
            let triangle = shape.triangle(order.at(first + k));
            bounds = bounds.with(Bounds::of(triangle));
        }
        k += 1;
    }
    boxes.set(first_leaf + leaf.index(), bounds);
}
