//! Steps 2, 3 and 4: the edges to divide.
//!
//! `divided` is a bit for each edge. A walk goes from a triangle to its longest edge, across it to the next triangle, and ends at
//! the boundary or at an edge that was marked before.

use trioxide_kernel::{Atomic, In, NONE, kernel};

/// Marks the edges that triangle `t` and those behind it divide.
#[inline(always)]
fn walk(t: u32, longest: In<u8>, sides: In<u32>, halves: In<u32>, divided: Atomic) {
    let mut t = t;
    loop {
        let side = sides.at(3 * t + u32::from(longest.at(t)));
        if divided.test_and_set_bit(side / 2) {
            return;
        }
        let across = halves.at(super::reverse(side));
        if across == NONE {
            return;
        }
        t = across / 3;
    }
}

/// Walks from the `i`-th marked triangle.
#[kernel]
pub fn follow_marked_triangles(
    i: u32,
    marked: In<u32>,
    longest: In<u8>,
    sides: In<u32>,
    halves: In<u32>,
    divided: Atomic,
) {
    walk(marked.at(i), longest, sides, halves, divided);
}

/// Whether edge `e` is the longest of a marked triangle, and whether it then leads on into one that is not marked. No `marked` at
/// all: every triangle is.
#[kernel]
pub fn mark_divided_edges(
    e: u32,
    halves: In<u32>,
    longest: In<u8>,
    marked: In<u32>,
) -> (bool, bool) {
    let [left, right] = halves.pair(2 * e);
    let (t, u) = (left / 3, right / 3);
    let on_boundary = right == NONE;
    // Read in any case: without a branch, a thread's reads for several edges overlap.
    let u = if on_boundary { t } else { u };
    let (marked_t, marked_u) = if marked.is_empty() {
        (true, true)
    } else {
        (marked.bit(t), marked.bit(u))
    };
    let divides_t = marked_t & (u32::from(longest.at(t)) == left - 3 * t);
    let divides_u = marked_u & (u32::from(longest.at(u)) == right.wrapping_sub(3 * u));
    let divided = divides_t | divides_u;
    (divided, divided & !(marked_t & marked_u))
}

/// Walks on from the `i`-th edge that leads into a triangle that is not marked.
#[kernel]
pub fn follow_divided_edges(
    i: u32,
    leading: In<u32>,
    marked: In<u32>,
    longest: In<u8>,
    sides: In<u32>,
    halves: In<u32>,
    divided: Atomic,
) {
    let e = leading.at(i);
    let (left, right) = (halves.at(2 * e) / 3, halves.at(2 * e + 1) / 3);
    let t = if marked.bit(left) { right } else { left };
    walk(t, longest, sides, halves, divided);
}
