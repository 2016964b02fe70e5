//! GPolylla: a triangulation becomes a polygonal mesh by rewriting `next` and `prev` (gpolylla-2023, section 6).
//!
//! Triangles whose longest edges lead to the same terminal edge form a terminal-edge region. Its polygon is bounded by
//! the *frontier edges*, which are the longest edge of neither neighbour. A *barrier tip* is a vertex with a single
//! frontier edge: a polygon would run there and back, so an interior edge of the tip becomes a frontier edge too.
//!
//! | stage | kernels | in the paper |
//! | --- | --- | --- |
//! | mark constraints | [`mark_region_borders()`], [`mark_segments()`] | not there |
//! | mark angles, of a surface | [`measure_normals()`], [`mark_sharp_edges()`], [`mark_steep_edges()`] | not there |
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
//! | cut into convex pieces | [`find_needless_edges()`], [`find_cuts()`], [`mark_cuts()`]; for the option `convex_pieces` | not there |
//! | remove short edges | [`link_sides_of_polygons()`], [`pair_linked_sides()`], [`measure_diameters()`], [`judge_short_edges()`], [`choose_short_edges()`], [`collapse_short_edges()`], [`mark_edges_around()`], [`find_short_edges()`], [`is_side_left()`], [`count_sides_left()`]; for the option `min_edge` | not there |
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
//!
//! # Surfaces in space
//!
//! The same kernels make polygons of a triangulated surface, by edge lengths in space. Nothing above needs a plane,
//! only that an edge has one or two triangles, which run along it in opposite directions:
//!
//! - **Regions.** That edges are totally ordered, and a triangle has three different vertices, makes a region a tree,
//!   whatever it looks like in space. Seen by itself, with its sides apart, a region is a disk: k triangles, k + 2
//!   sides, one polygon. An *annulus*, or a region that touches itself, is such a disk two of whose sides are one edge:
//!   the polygon runs along that edge twice. A closed surface may be one region too: then each of its edges is inside
//!   the region, or has it on both sides. The edges between its vertices that remain form a tree on a sphere, and on a
//!   surface with handles a graph with two independent cycles a handle. Without a border nothing is missing, since a
//!   seed is a terminal edge, of which each region has one.
//! - **Tips.** A vertex is taken fan by fan: where two cones touch at a vertex, each has its own shortest spoke, which
//!   is a frontier edge. A fan of the border has two. A closed fan of n triangles has n spokes and n >= 2, so a tip has
//!   an interior edge, which repairs it. In the plane n >= 3; n = 2 says that two triangles share two edges, thus their
//!   vertices and the third edge: a closed surface of two triangles, in which both tips choose the only interior edge.
//! - **After the repair** no polygon runs there and back. One that runs along an edge twice visits both ends twice, and
//!   `strict` cuts it: the proof at [`cut_weakly_simple()`] is about the tree. A polygon without repeated vertices has
//!   three sides or more and no edge twice, so then each interior edge has two polygons.
//! - **Euler's number** V - E + F stays, of each part: merging k triangles takes k - 1 edges and k - 1 faces, and each
//!   vertex keeps a frontier edge.
//! - **Area.** The polygons are the triangles, each in one; a polygon in space has no other area than theirs.
//!
//! # Angles
//!
//! Angles lie between *normals*: that of a triangle is the unit vector along the cross product of its sides from its
//! first corner, in double precision, each operation rounded; or zero, where the product's square is zero. Two normals
//! are *over* D degrees apart if their inner product is below c(D), the cosine of D less 2^-48: rounding of normals in
//! one plane does not count as an angle (5e-6 degrees). The product is the same from either side. The host computes
//! c(D) once, with a cosine in software, so it is one number on every machine. Zero is at 90 degrees to all.
//!
//! - **Feature angle** D: an edge stays if the normals of its two triangles are over D apart. That is a constraint like
//!   others, a function of the edge alone.
//! - **Flatness** D: in a region no triangle's normal is over D from the normals of its terminal edge's triangles. Let
//!   the regions be those by all other constraints, each triangle t but the terminal ones with its *parent*, the
//!   neighbour across its longest edge. The *base* of a triangle is a set of one or two triangles:
//!   - a terminal triangle: itself and the triangle across the terminal edge, if that is there, the edge is not
//!     constrained, and their normals are not over D apart; else itself alone, and the edge stays;
//!   - another triangle t: the base of its parent, if t's normal is over D from no normal of that base; else t alone,
//!     and the edge to the parent stays.
//!
//!   A parent's longest edge is longer than its child's, so this defines one base for each triangle, by no order of
//!   evaluation. The edges that stay make regions of the triangles with one base: an edge to a parent that stays is the
//!   longest of its child, thus the terminal edge of the triangles below it. So the promise holds, and two normals of a
//!   polygon are at most 2 D apart. [`mark_steep_edges()`] evaluates it down each tree by one thread. Repairs and cuts
//!   only divide regions: the terminal edge is the region's, also for a polygon that a cut took from it.

pub mod assign_triangles;
pub mod cut_convex;
pub mod cut_weakly_simple;
pub mod digest_polygons;
mod exchange_flags;
mod find_polygons;
pub mod label_frontier_edges;
pub mod label_longest_edges;
pub mod link_frontier_edges;
mod list_polygons;
mod mark_constraints;
pub mod mark_sharp_edges;
pub mod mark_steep_edges;
pub mod measure_normals;
mod repair_barrier_tips;
pub mod short_edges;
pub mod take_regions;
mod walk;

pub use kernels::*;

/// The kernels and their launches. In the family's own module a stage's file hides the launch of its name.
pub mod kernels {
    pub use super::assign_triangles::*;
    pub use super::cut_convex::*;
    pub use super::cut_weakly_simple::*;
    pub use super::digest_polygons::*;
    pub use super::exchange_flags::*;
    pub use super::find_polygons::*;
    pub use super::label_frontier_edges::*;
    pub use super::label_longest_edges::*;
    pub use super::link_frontier_edges::*;
    pub use super::list_polygons::*;
    pub use super::mark_constraints::*;
    pub use super::mark_sharp_edges::*;
    pub use super::mark_steep_edges::*;
    pub use super::measure_normals::*;
    pub use super::repair_barrier_tips::*;
    pub use super::short_edges::*;
    pub use super::take_regions::*;
    pub use super::walk::*;
}
