//! Longest-edge bisection of triangulations (gpu-longest-edge-bisection-2011, chapters 3 and 4).
//!
//! A marked triangle is bisected at its longest edge. So that no vertex lands inside of another triangle's edge, the triangle
//! on the other side divides its own longest edge too, and so on. First all edges to divide are found, then every triangle
//! applies the template for its divided edges.
//!
//! Each edge is *owned* by the triangle that runs along it in the edge's direction (section 3.1). A *side* is an edge and
//! a way to run along it: 2e forward, 2e + 1 in reverse. A mesh of V points, T triangles and E edges is
//!
//! | array | length | holds |
//! | --- | --- | --- |
//! | `points` | V | coordinates |
//! | `corners` | 3T | vertex at which half-edge 3t + k, side k of triangle t, starts |
//! | `sides` | 3T | side of each half-edge |
//! | `halves` | 2E | half-edge of each side, `NONE` beyond the boundary: the inverse of `sides` |
//! | `longest` | T | which of the three is the longest |
//!
//! `halves` and `longest` are brought up to date at the beginning of a round, for the triangles that the last one changed.
//!
//! | step of the paper | stage |
//! | --- | --- |
//! | edges, given there | [`mark_owners()`], [`number_sides()`] |
//! | 1 edge lengths, 2 longest edges | [`find_longest_edges()`] |
//! | 3 dependency forest | [`link_sides()`] |
//! | 2 marks, 4 propagation | [`mark_divided_edges()`], [`follow_divided_edges()`], or [`follow_marked_triangles()`] |
//! | 5 counts of divided edges | [`flag_divided_sides()`], or [`set_divided_sides()`] |
//! | 6 prefix sums | [`count_divided_sides()`], `collective::scan` |
//! | 7 new edges, divided edges, triangles | [`divide_all_triangles()`], or [`divide_listed_triangles()`] |
//!
//! # How this differs from the paper
//!
//! - **Nothing is stored that can be had for less.** The paper keeps length, midpoint, marks, link and three new edges for each
//!   edge: 44 bytes, and reads and writes them in each step. Lengths are compared where they are computed; a midpoint is computed
//!   once, where it becomes a vertex; marks are bits. The ends of an edge are corners of its owner: [`find_edge_ends()`] gives them
//!   to who asks.
//! - **The forest is implicit.** The link of edge e (step 3) is the longest edge of the triangle across it. `halves` leads to
//!   that triangle, so the walk of step 4 reads the link where it needs it. The walk stops at an edge whose bit was set before: who
//!   set it goes on.
//! - **Lengths are exact in their order.** Squared lengths, rounded the same way from both sides, and of equal ones the smaller
//!   edge id: a strict order of all edges. A walk goes from each edge to a longer one, so it ends, and the longest edge of a
//!   triangle with a divided edge is divided.
//! - **One sub-step.** The paper needs three, since edges are overwritten that neighbours still read, and since a triangle reads from
//!   its neighbour's edge which slots that took. Here triangles know their corners, so nobody reads the ends of an edge; and the
//!   slots of a neighbour follow from its ranks. So one launch writes points, edges and triangles.
//! - **Counts are population counts.** A triangle's f and r (step 5) are bits of its sides; a prefix sum (step 6) is a rank in the
//!   bit set. 8 bytes for 128 sides instead of 8 for each triangle.
//! - **The cost follows the marked part.** Few marked triangles are walked from a list, many by a pass over all edges; both
//!   give the same bits.
//!
//! Slots, pieces and directions are those of the paper's worked example (section 4.5), template by template.

mod check;
mod coarsen;
mod count;
mod divide;
mod edges;
mod longest;
mod mark;
mod output;
mod propagate;

pub use check::*;
pub use coarsen::*;
pub use count::*;
pub use divide::*;
pub use edges::*;
pub use longest::*;
pub use mark::*;
pub use output::*;
pub use propagate::*;

use count::{Counts, acting};

/// Side `side` run along the other way.
#[inline(always)]
pub fn reverse(side: u32) -> u32 {
    side ^ 1
}

/// Two indices in one word, so that they are read and written together.
#[inline(always)]
pub fn pair(low: u32, high: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

/// The indices of a pair.
#[inline(always)]
pub fn unpair(pair: u64) -> (u32, u32) {
    (pair as u32, (pair >> 32) as u32)
}
