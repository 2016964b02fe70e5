//! GPolylla: a triangulation becomes a polygonal mesh by rewriting `next` and `prev` (gpolylla-2023, section 6).
//!
//! Triangles whose longest edges lead to the same terminal edge form a terminal-edge region. Its polygon is bounded by
//! the *frontier edges*, which are the longest edge of neither neighbour. A *barrier tip* is a vertex with a single
//! frontier edge: a polygon would run there and back, so an interior edge of the tip becomes a frontier edge too.
//!
//! | stage | kernels | in the paper |
//! | --- | --- | --- |
//! | mark constraints | [`mark_region_borders()`], [`mark_segments()`] | not there |
//! | label longest edges | [`label_longest_edges()`] | 6.1, Algorithm 8 |
//! | label frontier edges | [`label_frontier_edges()`]: seeds too, since both read each half-edge's twin | 6.2 and 6.3, Algorithms 9 and 10 |
//! | compact seeds, compact polygons | `collective::compact` | 6.7 |
//! | link frontier edges | [`link_frontier_edges()`], which finds barrier tips too | 6.5 "change attributes", Algorithm 12; 6.4, Algorithm 11 |
//! | repair barrier tips | [`mark_middle_edges()`], [`link_middle_edges()`] | the rest of 6.4 |
//! | find polygons | [`mark_polygons()`] | 6.5.1 and 6.6, Algorithms 13 and 14 |
//! | list polygons | [`count_vertices()`], [`write_polygons()`]; [`write_cycles()`] for cycles through other ranks' triangles | on the host |
//! | regions of polygons | [`take_regions()`], where triangles have regions | not there |
//! | triangles of polygons | [`assign_triangles()`], then `collective::bucket`, on request | not there |
//! | exchange flags | [`take_flags()`], [`give_flags()`], [`mask_bits()`], for a rank's part of a mesh | not there |
//! | digest polygons | [`digest_polygons()`], on request | not there |
//! | cut weakly simple polygons | [`cut_weakly_simple()`], [`mark_cuts()`]; for the option `strict` | not there |
//!
//! # How this differs from the paper
//!
//! - **Ties.** The paper compares `f32` lengths with an epsilon. Here edges are totally ordered: by squared length, and
//!   of two equal ones the edge with the smaller id (its smaller half-edge) counts as longer. Then longest edges cannot
//!   lead around a ring of triangles: each region has exactly one terminal edge. And every vertex has a frontier edge:
//!   the shortest edge at it is the longest of neither neighbour, since each holds another, longer edge at the vertex.
//!   For comparison with the papers' counts `Ties::First` takes the first of a triangle's equal edges, compared
//!   exactly; a ring of triangles without a seed is then possible, and is reported as an error.
//! - **Tips cost no pass.** The successor of a frontier half-edge into a tip is its own twin. The paper walks around
//!   every vertex to count frontier edges; here the walk that links half-edges finds the tip, and one bit records it.
//! - **Repair after linking.** All middle edges are chosen with the labels from before the repair, so their choice
//!   depends on no order, and are spliced into the links of both their ends. The paper labels them before it links, in
//!   the same launch in which other threads still count.
//! - **Half-edges inside a polygon** get `NONE` in `next` and `prev`; the paper leaves a meaningless value there.
//! - **Labels are bit sets** (a ballot packs a warp's labels): one bit for a half-edge, so that they stay in the L2
//!   cache.
//!
//! A region's triangles form a tree (each but the last two has one longest edge to leave through), so its boundary is
//! one closed walk and one seed finds it.

pub mod assign_triangles;
pub mod cut_weakly_simple;
pub mod digest_polygons;
mod exchange_flags;
mod find_polygons;
pub mod label_frontier_edges;
pub mod label_longest_edges;
pub mod link_frontier_edges;
mod list_polygons;
mod mark_constraints;
mod repair_barrier_tips;
pub mod take_regions;
mod walk;

pub use kernels::*;

/// The kernels and their launches. In the family's own module a stage's file hides the launch of its name.
pub mod kernels {
    pub use super::assign_triangles::*;
    pub use super::cut_weakly_simple::*;
    pub use super::digest_polygons::*;
    pub use super::exchange_flags::*;
    pub use super::find_polygons::*;
    pub use super::label_frontier_edges::*;
    pub use super::label_longest_edges::*;
    pub use super::link_frontier_edges::*;
    pub use super::list_polygons::*;
    pub use super::mark_constraints::*;
    pub use super::repair_barrier_tips::*;
    pub use super::take_regions::*;
    pub use super::walk::*;
}
