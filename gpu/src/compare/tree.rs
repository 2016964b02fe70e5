//! The tree of boxes, and the search for the nearest triangle.

use glam::DVec3;
use trioxide_kernel::Group;
use trioxide_kernel::view::In;

use super::distance::{Bounds, square_within};
use super::shape::Shape;
use crate::ids::Triangle;

trioxide_kernel::id! {
    /// A node of the tree.
    pub struct Node = "node";
    /// A leaf of the tree.
    pub struct Leaf = "leaf";
}

/// Triangles of a leaf.
pub const LEAF: u32 = 4;

/// Leaves of a tree over `triangles`.
pub const fn leaves(triangles: u32) -> u32 {
    triangles.div_ceil(LEAF)
}

/// The node of the first leaf of a tree with `leaves`, at least one: a power of 2. They need twice as many ids.
pub const fn first_leaf(leaves: u32) -> u32 {
    leaves.next_power_of_two()
}

/// Length of the array of nodes. Where a level ends with a left node, the right one is there too, without triangles.
pub const fn nodes(leaves: u32) -> usize {
    first_leaf(leaves) as usize + leaves.next_multiple_of(2) as usize
}

/// A shape and the tree over its triangles.
#[derive(Group)]
pub struct Tree<'a> {
    /// The shape.
    pub shape: Shape<'a>,
    /// The triangles along the curve.
    pub order: In<'a, Triangle>,
    /// Boxes of the nodes.
    pub boxes: In<'a, Bounds>,
    /// The node of the first leaf.
    pub first_leaf: u32,
}

impl Tree<'_> {
    /// The least squared distance of `p` to a triangle, and the first triangle that has it.
    #[inline(always)]
    pub(super) fn nearest(self, p: DVec3) -> (f64, Triangle) {
        let (mut least, mut nearest) = (f64::INFINITY, Triangle::NONE);
        let square = |node: u32| self.boxes.at(node).square_to(p);
        // The bit of the lowest level is the last: whether the other node below the same one is done.
        let (mut node, mut done) = (1u32, 0u32);
        loop {
            if node < self.first_leaf {
                let (left, right) = (self.boxes.at(2 * node), self.boxes.at(2 * node + 1));
                // Of two boxes around the point, the one whose middle is nearer has the nearer triangles, most often.
                let (to_left, to_right) = (left.square_to(p), right.square_to(p));
                let is_right =
                    to_right < to_left || to_right == to_left && right.is_middle_nearer(p, left);
                let (nearer, other) = match is_right {
                    true => (to_right, to_left),
                    false => (to_left, to_right),
                };
                if nearer <= least {
                    node = 2 * node + u32::from(is_right);
                    // Of no triangles the distance is infinite, as the least is at first.
                    done = done << 1 | u32::from(other > least || other == f64::INFINITY);
                    continue;
                }
            } else {
                self.search_leaf(p, node - self.first_leaf, &mut least, &mut nearest);
            }
            // Up to a node whose other one is not done, and need be.
            loop {
                if node == 1 {
                    return (least, nearest);
                }
                if done & 1 == 0 {
                    done |= 1;
                    let other = square(node ^ 1);
                    if other <= least {
                        node ^= 1;
                        break;
                    }
                }
                node >>= 1;
                done >>= 1;
            }
        }
    }

    #[inline(always)]
    fn search_leaf(self, p: DVec3, leaf: u32, least: &mut f64, nearest: &mut Triangle) {
        let mut slot = LEAF * leaf;
        let (end, all) = (slot + LEAF, self.order.len());
        let end = if end < all { end } else { all };
        while slot < end {
            let t = self.order.at(slot);
            let triangle = self.shape.triangle(t);
            let of_box = Bounds::of(triangle).square_to(p);
            if of_box <= *least {
                let square = square_within(p, triangle, of_box);
                if square < *least || square == *least && t < *nearest {
                    (*least, *nearest) = (square, t);
                }
            }
            slot += 1;
        }
    }
}
