//! Distances between surfaces: from points to the nearest point of a surface, from vertices or from samples.
//!
//! A *shape* is a surface of T triangles, or a cloud of V points: then point v is a triangle whose corners are all v.
//! So a cloud, a mesh of the plane (z = 0) and a surface in space are compared by the same code.
//!
//! # The definition
//!
//! **The distance of a point p to a triangle** is computed in double precision by one formula, [`square_to()`]. Four
//! points of the triangle are candidates: the nearest point of each edge, and the foot of the perpendicular where its
//! barycentric coordinates are not negative. Their squared distances are computed, and the least of the four counts,
//! but not less than the squared distance of p to the box around the triangle's corners, (x² + y²) + z² of the rounded
//! differences: the box corrects at most rounding.
//!
//! **The distance of p to a shape** is the root of the least of these numbers over all triangles; the *nearest
//! triangle* is the one with the lowest id among the triangles that have it.
//!
//! - *Any order of search gives the same bits.* The minimum of a set of numbers, and the lowest id that has it, do not
//!   depend on an order.
//! - *A box that is further away holds no nearer triangle, in computed numbers.* Rounding is monotone, so along each
//!   axis the computed gap between p and a box is at most that between p and a box inside it. Squares and sums of
//!   numbers that are not negative are monotone too. So the computed square to a box is at most that to the box around
//!   a triangle in it, and this is at most the triangle's: no tolerance is needed. A box at exactly the least square
//!   is entered, for its ids.
//! - *The result is close to the exact distance.* Candidates are points of the triangle but for their rounding, so the
//!   distance is never too small by more; and if the perpendicular of a sliver is off, its edges are near.
//!
//! **Samples** are points of triangles, with a density that is the same everywhere. The areas of [`CHUNK`] triangles
//! are added in the order of ids, and so are the sums of the chunks. Sample i of N is at the fraction (i + r) / N of
//! the whole sum, with r from 0 to 1: so each N-th part of the surface has one sample. r and the place in the triangle
//! follow from the seed and i alone.
//!
//! **Means** are sums over [`LANES`] distances by `Block::sum`, and over these in their order.
//!
//! # Stages
//!
//! | stage | kernels |
//! | --- | --- |
//! | check the surface | [`check_corners()`] |
//! | order triangles | [`find_centers()`], then the order of [`reorder`](crate::reorder) |
//! | bound triangles | [`bound_leaves()`], [`bound_nodes()`] a level |
//! | draw samples | [`add_areas()`], [`draw_samples()`] |
//! | measure distances | [`measure_distances()`], [`sum_distances()`] |
//! | compare normals | [`compare_normals()`] |
//!
//! # The tree
//!
//! The order along a Hilbert curve is cut into leaves of [`LEAF`] triangles, which end a complete binary tree. Node 1
//! is the root, nodes 2i and 2i + 1 are below node i, and the leaves follow from 2^d on. A search enters the nearer box
//! first; a bit a level remembers whether the other one is done, so that there is no stack. Boxes adapt to the mesh, so
//! graded meshes, huge triangles and outliers need no parameter.

pub mod bound_leaves;
pub mod bound_nodes;
pub mod check_corners;
pub mod compare_normals;
mod distance;
pub mod draw_samples;
pub mod find_centers;
pub mod measure_distances;
mod shape;
pub mod sum_distances;
mod tree;

pub use distance::{Bounds, square_to};
pub use kernels::*;
pub use shape::*;
pub use tree::*;

/// The kernels and their launches. In the family's own module a stage's file hides the launch of its name.
pub mod kernels {
    pub use super::bound_leaves::*;
    pub use super::bound_nodes::*;
    pub use super::check_corners::*;
    pub use super::compare_normals::*;
    pub use super::draw_samples::*;
    pub use super::find_centers::*;
    pub use super::measure_distances::*;
    pub use super::sum_distances::*;
}
