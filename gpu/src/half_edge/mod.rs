//! A half-edge triangulation from triangles and points (gpolylla-2023, section 4), built on the device.
//!
//! T triangles, V vertices. Half-edge 3t + k starts at vertex k of triangle t; `origins` (3T) is the triangle list itself,
//! and `next` and `prev` inside of a triangle are arithmetic. `twins` (3T) is the other half of the edge. The B edges of
//! the boundary have border half-edges 3T + j, j < B, in the order of their twins, which `border` lists.
//!
//! | stage | does |
//! | --- | --- |
//! | [`check_points`], [`check_triangles`] | refuse what the other kernels could not index or orient |
//! | [`count_degrees`] | half-edges from each vertex, and the smallest of them |
//! | [`key_edges`] | which of its two ends an edge is filed under |
//! | `collective::bucket` | half-edges that start at the end they are filed under |
//! | [`match_twins`] | each other half-edge finds its twin there |
//! | [`check_twins`] | edges without a twin, a bit each; an edge claimed twice |
//! | [`key_border`], [`check_border`] | an edge of the boundary that is there twice |
//! | [`number_border`], [`link_border`] | border half-edges, and their order along the boundary |
//!
//! The authors build all this on the host (41 s for the 25M grid). An edge is filed under its end of lower degree: a
//! bucket is then never longer than the root of twice the number of edges, whatever fan the mesh holds, and short on
//! average (at most 3 in a planar mesh). Non-manifold edges and inconsistent orientation are found on the way: a half-edge
//! that finds its own double in the bucket, or whose twin belongs to another.

mod border;
mod check;
mod twins;

pub use border::*;
pub use check::*;
pub use twins::*;

use crate::view::In;

/// Next half-edge around the triangle.
#[inline(always)]
pub fn next(h: u32) -> u32 {
    if h % 3 == 2 { h - 2 } else { h + 1 }
}

/// Previous half-edge around the triangle.
#[inline(always)]
pub fn prev(h: u32) -> u32 {
    if h.is_multiple_of(3) { h + 2 } else { h - 1 }
}

/// Vertex that `h` ends at.
#[inline(always)]
pub fn target(origins: In<u32>, h: u32) -> u32 {
    origins.at(next(h))
}
