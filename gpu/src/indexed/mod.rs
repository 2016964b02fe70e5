//! Indexed Polylla: polygons from arrays of triangles and neighbours (gpu-polylla-imr22).
//!
//! The *Triangle array* T holds three vertices of each triangle, the *Neighbour array* N the triangle across each of
//! its edges, `NONE` where there is none, the *Trivertex array* one triangle at each vertex. Edge k of a triangle runs
//! from its vertex k to vertex (k + 1) % 3; N[3t + k] lies across it. So 3t + k names the same edge of the same
//! triangle as a half-edge of [`crate::half_edges`] does, and is called a half-edge here. There is no twin: the other
//! half is the edge of `N[h]` whose neighbour is h / 3. (Only one is: two counter-clockwise triangles share one edge at
//! most.)
//!
//! | stage | kernels | in the paper |
//! | --- | --- | --- |
//! | find neighbours | [`find_neighbours()`], [`find_trivertex()`] | section 2: the arrays, which the paper reads from files |
//! | label max | [`label_max()`] | Algorithm 2, LabelMax |
//! | label seed | [`label_seed()`] | Algorithm 2, LabelSeed |
//! | label frontier | [`label_frontier()`] | Algorithm 2, LabelFrontier |
//! | traversal | [`measure_polygons()`], [`append_polygons()`] | Algorithm 3, TraversalTriangulation, with Algorithm 4, PolyConstruction |
//! | reparation | [`label_middle_edges()`], [`label_cuts()`] | Algorithm 5, PolygonReparation: its search for tips and for middle edges |
//! | | [`measure_parts()`], [`append_parts()`] | Algorithm 5: PolyConstruction of both parts into the auxiliary arrays |
//! | order polygons | [`mark_starts()`], [`count_starts()`], [`place_polygons()`], [`gather_polygons()`] | not in the paper: the canonical order |
//!
//! A polygon in the *Mesh array* is its number of vertices and the vertices; the *Position array* holds where each
//! polygon begins.
//!
//! # How this differs from the paper
//!
//! - **Order.** The paper appends polygons with `atomicAdd`, so that they stand in another order in every run. Here
//!   each polygon is walked twice: once to measure it, and, after a scan, once to write it to its own place. A polygon
//!   starts with its smallest half-edge, and at the end polygons are put in the order of these half-edges, as in
//!   [`crate::polylla`].
//! - **Labels are bit sets**; the Max array is two bits a triangle. Only a triangle's longest edge can be a terminal
//!   edge, so `label_seed` has a thread for each triangle, not for each edge, and no two of them write one element.
//! - **Ties** are broken as in [`crate::polylla`]. Constrained edges count as boundary on both sides.
//! - **Tips** (vertices a, b, a in a row) are also found where the pattern runs across the end of the list; the
//!   authors' code misses these.
//! - **Which edges are added.** The paper takes one tip of each polygon in each round. If its new edge ends at a second
//!   tip, that one is no tip any more and gets no edge of its own: the result depends on which tip comes first. Here
//!   the first round finds the middle edges of all tips, and the rounds add them, one to each polygon, until none is
//!   left inside of a polygon.
//!   A round works on the parts of the polygons that the round before has split; the paper copies the other polygons
//!   along.
//!
//! # The polygons equal the half-edge method's
//!
//! Let F be the frontier edges before the repair and M the middle edges that the half-edge method adds at once
//! ([`crate::polylla::mark_middle_edges()`]): the middle edges of all tips, chosen by a rotation around the tip from
//! its one edge of F.
//!
//! 1. *The first round finds M.* In a list of vertices, a, b, a stands where the half-edge from a to b is followed by
//!    the one from b to a (an ordered pair of vertices has one half-edge at most), which is where b has no other edge
//!    of F. `label_middle_edges` runs before any edge is added, and its rotation from the edge b-a reads no labels at
//!    all.
//! 2. *The rounds add M, nothing else.* Every edge of M that is no frontier edge yet lies inside of exactly one
//!    polygon, since it has the same polygon on both sides. The walk of [`append_parts()`] crosses every edge inside of
//!    its polygon and keeps the first of M; so as long as one is left, some polygon is split. Each round adds at least
//!    one, and the rounds end with the labels F and M, whatever the order.
//! 3. *The polygons are the cycles of these labels.* A region's triangles form a tree, bounded by one cycle. An edge
//!    inside of it splits the tree into two, and the cycles through the edge's two halves bound them: these are the two
//!    parts. So after each round the arrays hold every cycle of the labels of that time, each once.
//!
//! A polygon with k tips may take k rounds, and each round walks it: unlike the half-edge method, this one is quadratic
//! for a single region with very many tips. In triangulations of random points the rounds are few.

mod arrays;
pub mod find_neighbours;
pub mod label_frontier;
pub mod label_max;
pub mod label_seed;
mod order_polygons;
mod reparation;
mod traversal;

pub use kernels::*;

/// The kernels and their launches. In the family's own module a stage's file hides the launch of its name.
pub mod kernels {
    pub use super::arrays::*;
    pub use super::find_neighbours::*;
    pub use super::label_frontier::*;
    pub use super::label_max::*;
    pub use super::label_seed::*;
    pub use super::order_polygons::*;
    pub use super::reparation::*;
    pub use super::traversal::*;
}
