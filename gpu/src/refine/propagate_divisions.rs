//! Steps 2, 3 and 4: the edges to divide.
//!
//! `divided` is a bit for each edge. A walk goes from a triangle to its longest edge, across it to the next triangle,
//! and ends at the boundary or at an edge that was marked before.

use trioxide_kernel::safe::{Atomic, Group, In, Own};
use trioxide_kernel::{Bits, kernel};

use crate::ids::{Edge, HalfEdge, Item, Side, Triangle};

/// The dependency forest: the longest edge of each triangle, and the triangle across it.
#[derive(Group)]
pub struct Forest<'a> {
    /// Longest side of each triangle, 0 to 2; T.
    pub longest: In<'a, u8, Triangle>,
    /// Side of each half-edge; 3T.
    pub sides: In<'a, Side, HalfEdge>,
    /// Half-edge of each side, or `NONE`; 2E.
    pub halves: In<'a, HalfEdge, Side>,
}

/// Marks the edges that triangle `t` divides, and the edges along its links.
#[inline(always)]
fn walk(t: Triangle, forest: Forest, divided: Atomic<Bits<Edge>>) {
    let mut t = t;
    loop {
        let longest = HalfEdge::of(t, u32::from(forest.longest.at(t)));
        let side = forest.sides.at(longest);
        if divided.test_and_set_bit(side.edge()) {
            return;
        }
        let across = forest.halves.at(side.reverse());
        if across.is_none() {
            return;
        }
        t = across.triangle();
    }
}

/// Walks from the `i`-th marked triangle.
#[kernel(requires(
    marked.len() == n,
    forest.sides.len() == 3 * forest.longest.len(),
    divided.len() == words(forest.halves.len() / 2)
))]
pub fn follow_marked_triangles(
    i: Own<Item>,
    marked: In<Triangle, Item>,
    forest: Forest,
    divided: Atomic<Bits<Edge>>,
) {
    walk(marked.at(i), forest, divided);
}

/// Continues the walk from the `i`-th edge that leads into a triangle without a mark.
#[kernel(requires(
    leading.len() == n,
    marked.len() == words(forest.longest.len()),
    forest.sides.len() == 3 * forest.longest.len(),
    divided.len() == words(forest.halves.len() / 2)
))]
pub fn follow_divided_edges(
    i: Own<Item>,
    leading: In<Edge, Item>,
    marked: In<Bits<Triangle>>,
    forest: Forest,
    divided: Atomic<Bits<Edge>>,
) {
    let e = leading.at(i);
    let left = forest.halves.at(Side::along(e)).triangle();
    let right = forest.halves.at(Side::against(e)).triangle();
    let t = if marked.bit(left) { right } else { left };
    walk(t, forest, divided);
}
