//! Back to an earlier level: what a round overwrites is saved before, and put back.

use trioxide_kernel::{In, NONE, Out, kernel};

use super::reverse;

/// Set in a saved side that had no other side.
const ON_BOUNDARY: u32 = 1 << 31;

/// Whether a side of triangle `t` is divided: then the round overwrites the triangle.
#[kernel]
pub fn mark_divided_triangles(t: u32, flags: In<u32>) -> bool {
    flags.bit(3 * t) || flags.bit(3 * t + 1) || flags.bit(3 * t + 2)
}

/// Saves the `i`-th divided triangle: three corners, sides and tags each.
#[kernel]
pub fn save_triangles(
    i: u32,
    list: In<u32>,
    corners: In<u32>,
    sides: In<u32>,
    halves: In<u32>,
    tags: In<u32>,
    saved_corners: Out<u32>,
    saved_sides: Out<u32>,
    saved_tags: Out<u32>,
) {
    let mut k = 0;
    while k < 3 {
        let h = 3 * list.at(i) + k;
        let side = sides.at(h);
        let on_boundary = halves.at(reverse(side)) == NONE;
        saved_corners.set(3 * i + k, corners.at(h));
        saved_sides.set(
            3 * i + k,
            if on_boundary {
                side | ON_BOUNDARY
            } else {
                side
            },
        );
        if !tags.is_empty() {
            saved_tags.set(3 * i + k, tags.at(side / 2));
        }
        k += 1;
    }
}

/// Puts the `i`-th saved triangle back, with the half-edges of its sides.
#[kernel]
pub fn restore_triangles(
    i: u32,
    list: In<u32>,
    saved_corners: In<u32>,
    saved_sides: In<u32>,
    saved_tags: In<u32>,
    corners: Out<u32>,
    sides: Out<u32>,
    halves: Out<u32>,
    tags: Out<u32>,
) {
    let mut k = 0;
    while k < 3 {
        let h = 3 * list.at(i) + k;
        let saved = saved_sides.at(3 * i + k);
        let side = saved & !ON_BOUNDARY;
        corners.set(h, saved_corners.at(3 * i + k));
        sides.set(h, side);
        halves.set(side, h);
        if saved & ON_BOUNDARY != 0 {
            halves.set(reverse(side), NONE);
        }
        if !tags.is_empty() {
            tags.set(side / 2, saved_tags.at(3 * i + k));
        }
        k += 1;
    }
}
