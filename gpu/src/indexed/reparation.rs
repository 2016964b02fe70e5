//! Reparation: polygons with barrier tips are split until none is left (Algorithm 5).

use trioxide_kernel::{Atomic, In, NONE, Out, kernel};

use super::traversal::{append, measure, successor};
use super::{clockwise, opposite};
use crate::half_edge::target;

/// Marks the middle edges of all tips of the `i`-th broken polygon (`broken` lists them) in the bit set `middle`.
///
/// `cuts` gets the first one, at the polygon's index; `tips` the number of tips, at `i`.
#[kernel]
pub fn label_middle_edges(
    i: u32,
    broken: In<u32>,
    triangles: In<u32>,
    neighbours: In<u32>,
    trivertex: In<u32>,
    frontier: In<u32>,
    starts: In<u32>,
    positions: In<u32>,
    mesh: In<u32>,
    middle: Atomic,
    cuts: Out<u32>,
    tips: Out<u32>,
) {
    let p = broken.at(i);
    let position = positions.at(p);
    let length = mesh.at(position);
    let vertex = |slot: u32| mesh.at(position + 1 + slot);
    let mut count = 0;
    let mut slot = 0;
    while slot < length {
        let before = vertex(if slot == 0 { length - 1 } else { slot - 1 });
        let behind = vertex(if slot + 1 == length { 0 } else { slot + 1 });
        if before == behind {
            let mut barrier = find_spoke(triangles, neighbours, trivertex, vertex(slot), behind);
            if barrier == NONE {
                // The triangle of the Trivertex array is not one of the tip's: only where triangles overlap.
                barrier = starts.at(p);
                let mut steps = slot;
                while steps > 0 {
                    barrier = successor(neighbours, frontier, barrier, |_| {});
                    steps -= 1;
                }
            }
            let cut = middle_edge(neighbours, barrier);
            middle.set_bit(cut);
            middle.set_bit(opposite(neighbours, cut));
            if count == 0 {
                cuts.set(p, cut);
            }
            count += 1;
        }
        slot += 1;
    }
    tips.set(i, count);
}

/// The half-edge from vertex `v` to vertex `to`, sought clockwise around `v` from its triangle in the Trivertex array.
#[inline(always)]
fn find_spoke(triangles: In<u32>, neighbours: In<u32>, trivertex: In<u32>, v: u32, to: u32) -> u32 {
    let mut first = 3 * trivertex.at(v);
    while triangles.at(first) != v {
        first += 1;
    }
    let mut spoke = first;
    while target(triangles, spoke) != to {
        let back = opposite(neighbours, spoke);
        if back == NONE {
            return NONE;
        }
        spoke = crate::half_edge::next(back);
        if spoke == first {
            return NONE;
        }
    }
    spoke
}

/// The middle one of the interior edges around a tip, as its half-edge from there; `barrier` is the half-edge from the
/// tip along its only frontier edge. Of n, clockwise from that edge, it is number (n - 1) / 2.
#[inline(always)]
fn middle_edge(neighbours: In<u32>, barrier: u32) -> u32 {
    let first = clockwise(neighbours, barrier);
    let mut interior = 0;
    let mut e = first;
    while e != barrier {
        interior += 1;
        e = clockwise(neighbours, e);
    }
    let mut steps = (interior - 1) / 2;
    e = first;
    while steps > 0 {
        e = clockwise(neighbours, e);
        steps -= 1;
    }
    e
}

/// Makes the cut of the `i`-th broken polygon a frontier edge.
#[kernel]
pub fn label_cuts(i: u32, broken: In<u32>, cuts: In<u32>, neighbours: In<u32>, frontier: Atomic) {
    let cut = cuts.at(broken.at(i));
    frontier.set_bit(cut);
    frontier.set_bit(opposite(neighbours, cut));
}

/// Smallest half-edge of part `i`, and the space that it takes in the auxiliary Mesh array: of the two parts of each
/// broken polygon, in the order of `broken`, first the one to the left of the cut.
#[kernel]
pub fn measure_parts(
    i: u32,
    broken: In<u32>,
    cuts: In<u32>,
    neighbours: In<u32>,
    frontier: In<u32>,
    starts: Out<u32>,
    sizes: Out<u32>,
) {
    let mut cut = cuts.at(broken.at(i / 2));
    if i % 2 == 1 {
        cut = opposite(neighbours, cut);
    }
    let (length, smallest) = measure(neighbours, frontier, cut);
    starts.set(i, smallest);
    sizes.set(i, length + 1);
}

/// Writes part `i` to the auxiliary Mesh array; whether a middle edge is left inside, the first of which `cuts` gets.
#[kernel]
pub fn append_parts(
    i: u32,
    triangles: In<u32>,
    neighbours: In<u32>,
    frontier: In<u32>,
    middle: In<u32>,
    starts: In<u32>,
    positions: In<u32>,
    mesh: Out<u32>,
    cuts: Out<u32>,
) -> bool {
    let mut cut = NONE;
    append(
        triangles,
        neighbours,
        frontier,
        starts.at(i),
        positions.at(i),
        mesh,
        |_, _| {},
        |e| {
            if cut == NONE && middle.bit(e) {
                cut = e;
            }
        },
    );
    cuts.set(i, cut);
    cut != NONE
}
