//! GPolylla: a triangulation becomes a polygonal mesh by rewriting `next` and `prev` (gpolylla-2023, section 6).
//!
//! Triangles that send each other along their longest edges form a terminal-edge region; its polygon is bounded by the
//! *frontier edges*, which are the longest edge of neither neighbour. A *barrier tip* is a vertex with a single frontier
//! edge: a polygon would run there and back, so an interior edge of the tip becomes a frontier edge too.
//!
//! | stage | covers, in the paper |
//! | --- | --- |
//! | [`label_longest_edges()`] | 6.1, Algorithm 8 |
//! | [`label_frontier_edges()`] | 6.2 and 6.3, Algorithms 9 and 10: both read each half-edge's twin |
//! | [`link_frontier_edges()`] | 6.5, Algorithm 12, and the search for tips of 6.4, Algorithm 11 |
//! | [`mark_middle_edges()`], [`link_middle_edges()`] | the rest of 6.4 |
//! | [`mark_polygons()`] | 6.5.1 and 6.6, Algorithms 13 and 14 |
//! | `collective::compact` | 6.7 |
//! | [`count_vertices()`], [`write_polygons()`] | polygons as lists, which the paper leaves to the host |
//! | [`cut_weakly_simple()`] | beyond the paper: `--strict` |
//!
//! # How this differs from the paper
//!
//! - **Ties.** The paper compares `f32` lengths with an epsilon. Here edges are totally ordered: by squared length, and of
//!   two equal ones the edge with the smaller id (its smaller half-edge) counts as longer. Then no ring of triangles can
//!   point at each other: each region has exactly one terminal edge. And every vertex has a frontier edge: the shortest
//!   edge at it is the longest of neither neighbour, since each holds another, longer edge at the vertex.
//!   For comparison with the papers' counts `Ties::First` takes the first of a triangle's equal edges, exactly compared;
//!   a ring of triangles without a seed is then possible, and reported as an error.
//! - **Tips come free.** A frontier half-edge into a tip has its own twin as successor. The paper walks around every vertex
//!   to count frontier edges; here the walk that links half-edges finds the tip, and one bit records it.
//! - **Repair after linking.** All middle edges are chosen with the labels of before the repair, so their choice depends on
//!   no order, and are spliced into the links of both their ends. The paper labels them before it links, in the same
//!   launch in which other threads still count.
//! - **Half-edges inside of a polygon** get `NONE` in `next` and `prev`; the paper leaves them a value that means nothing.
//! - **Labels are bit sets** (a ballot packs a warp's): one bit for a half-edge, so that they stay in the L2 cache.
//!
//! A region's triangles form a tree (each but the last two has one longest edge to leave by), so its boundary is one
//! closed walk and one seed finds it.

mod cut;
mod label;
mod link;
mod polygons;
mod repair;

pub use cut::*;
pub use label::*;
pub use link::*;
pub use polygons::*;
pub use repair::*;
