//! Delaunay triangulations of points of the plane, with one result for any order of the points.
//!
//! # The triangulation
//!
//! Lift each point to the height x² + y². The Delaunay triangulation is the lower hull of the lifted points, seen from
//! below: a triangle is part of it if no other point lies within its circle. Where four or more points lie on one
//! circle, the lower hull has a flat face with more than three corners, and a rule must divide it.
//!
//! **The rule.** Each height is raised by a positive amount that is smaller than any positive number and than all
//! amounts of points before it: the first point in ascending order of (x, y) is raised most. (Symbolic perturbation,
//! after Edelsbrunner and Mücke, Simulation of Simplicity, 1990, of the heights alone.)
//!
//! - *The triangulation is unique.* The sign of a perturbed determinant of four lifted points is that of the exact one.
//!   If this is zero, the determinant changes by the amount of each point times the signed area of the other three, and
//!   the first point's amount is larger than all the others. The four points lie on one circle, which no line meets
//!   three times, so the area of the other three is not zero, and it decides. No perturbed determinant is zero, so each
//!   face of the perturbed lower hull is a triangle.
//! - *No triangle is flat.* Three points on one line lie, lifted, in a vertical plane, and no lower face is vertical.
//! - *Every point is a vertex.* The paraboloid is strictly convex: each lifted point is a vertex of the lower hull, and
//!   stays one when it moves by less than any positive number.
//! - *The hull is covered*, with each point on its boundary as a vertex of it: the points on a line lie, lifted, on a
//!   parabola, so the same holds within its vertical plane.
//! - *The order of the points does not matter*: coordinates alone decide. -0 equals 0, and f32 is widened exactly.
//!
//! **In a test.** Let a, b, c run counter-clockwise, and d lie on their circle. If d is the first of the four, it is
//! raised above their plane: it is not within. If a is the first, the plane is raised at d by a's amount times d's
//! barycentric coordinate of a, which has the sign of the area of d, b, c: d is within if d lies on a's side of the
//! line through b and c. The same holds of b and c.
//!
//! # Stages
//!
//! | stage | kernels |
//! | --- | --- |
//! | bounds | [`measure_bounds()`](crate::forms::measure_bounds()) |
//! | rank points | those of [`reorder`](crate::reorder)'s "order vertices", [`take_sorted()`]; of equal points [`find_firsts()`], [`map_to_firsts()`] |
//! | build stars | [`find_cells()`], [`wrap_stars()`], [`build_stars()`], [`find_degrees()`], [`take_every()`], [`give_up()`] |
//! | triangulate hard points | [`cover_sides()`]; of few [`find_gaps()`], [`fill_gaps()`]; of others those of the next table |
//! | order triangles | [`count_triangles()`], [`count_loose()`], [`write_loose()`], [`append_words()`], [`read_corner()`], [`order_loose()`], [`write_star_triangles()`], [`write_loose_triangles()`] |
//! | find illegal edges, of any triangulation | [`find_illegal_edges()`] |
//!
//! Most points make their stars alone (`wrapped_stars`, and `stars` of the rest). The others are *hard*. Where they are
//! few, each finds the triangles in the gaps between stars around it alone (`gaps`). Otherwise they are triangulated by
//! insertion, and the triangles of theirs that no star covers complete the mesh:
//!
//! | step of insertion | kernels |
//! | --- | --- |
//! | order points | [`scatter_numbers()`], [`take_sites()`], [`find_off_line()`] |
//! | all rounds in one block, `one_block_rounds` | [`insert_in_block()`] |
//! | or the beginning by launches, `insert_points` | [`test_first()`], [`take_first()`] |
//! | and each round | [`compare_faces()`], [`make_triangles()`], [`test_candidates()`], [`take_candidates()`], [`list_sides()`], [`claim_places()`], [`match_sides()`], [`write_faces()`] |
//! | choose triangles, `join_parts` | [`find_final_triangles()`], [`join_triangles()`], [`keep_parts()`], [`select_parts()`], [`take_hard_triangles()`] |
//!
//! # Is a mesh Delaunay?
//!
//! An edge of two triangles is *locally Delaunay* if the far corner of one is not within the circle of the other. A
//! triangulation of the convex hull is the Delaunay triangulation if all its inner edges are: Delaunay's lemma holds
//! for every lower hull, so for the perturbed one. [`find_illegal_edges()`] finds the others.

mod accumulator;
pub mod constrained;
mod gaps;
mod illegal_edges;
mod insert_points;
mod join_parts;
mod near;
mod one_block_rounds;
mod order_triangles;
#[doc(hidden)]
pub mod pairs;
#[doc(hidden)]
pub mod predicates;
mod rank_points;
pub mod refinement;
mod stars;
mod wrapped_stars;

pub use gaps::*;
pub use illegal_edges::*;
pub use insert_points::*;
pub use join_parts::*;
pub use one_block_rounds::*;
pub use order_triangles::*;
pub use predicates::{circle, is_in_circle, orientation};
pub use rank_points::*;
pub use stars::*;
pub use wrapped_stars::*;
