//! Vertices and cells in the order of a Hilbert curve, so that neighbours in space are neighbours in memory.
//!
//! V points of the plane or of space and C cells: triangles, tetrahedra or polygons, or none. Nothing is dropped: equal
//! points, vertices without a cell and repeated cells stay.
//!
//! # The order
//!
//! **Vertices** ascend by their keys, then x, then y, then z, then their old ids. A vertex's *key* is the number of its
//! cell along a Hilbert curve:
//!
//! | points of | the curve runs through | cells along a side | bits of a key | key |
//! | --- | --- | --- | --- | --- |
//! | the plane | the square around the points | 2^32 | 64 | that of [`Frame`](crate::curve::Frame) |
//! | space | the cube around the points | 2^21 | 63 | [`Curve::key()`] |
//!
//! **Cells** have the new numbers of their vertices, and begin at a vertex that their other order does not decide:
//!
//! | cell | its vertices afterwards |
//! | --- | --- |
//! | triangle, polygon | rotated to begin at the lowest one; of several places at which it stands, at that with the lowest next vertex, then the lowest after the next, then at the first of these places |
//! | tetrahedron | ascending; if that order is an odd permutation of the old one, and all four differ, the last two are exchanged |
//!
//! So the orientation stays. Cells then ascend by their first four vertices in this order, where a missing vertex
//! counts as larger than all others, then by their old ids.
//!
//! - *The order is unique.* Old ids differ, so no two vertices are equal by all that is compared, and no two cells are.
//!   Each comparison is one of tuples of numbers, so the order is total: a finite set has one sequence in it.
//! - *Coordinates alone decide it where points are distinct*: keys are functions of coordinates and of the bounds, and
//!   distinct points differ in x, y or z. -0 equals 0, which every step from a coordinate to a key keeps, and f32 is
//!   widened exactly. So any numbering of the old vertices gives the same points in the same order.
//! - *The old order of a cell's vertices does not matter, up to orientation*, where these are distinct. A rotation
//!   begins at one place, the lowest vertex. Of the 24 orders of a tetrahedron's vertices 12 have its orientation: the
//!   ascending one or, if this is not among them, the ascending one with the last two exchanged. This is the least of
//!   the 12, compared vertex by vertex.
//! - *Old ids of cells decide only between cells with the same first four vertices*: equal triangles and tetrahedra,
//!   and polygons that no mesh of a surface has. So any order of distinct cells gives the same cells in the same order.
//! - *Triangulations of the plane keep the order of their triangles.* [`delaunay`](crate::delaunay) ranks distinct
//!   points by this order; a triangle starts at its lowest rank, and triangles ascend by ranks.
//!
//! # Stages
//!
//! | stage | kernels |
//! | --- | --- |
//! | bounds | [`measure_bounds()`](crate::forms::measure_bounds()) |
//! | order vertices | [`read_value()`], `collective::order_by_keys`, [`carry_values()`], [`place_vertices()`] |
//! | order cells | [`turn_triangles()`], [`turn_tetrahedra()`] or [`turn_polygons()`]; [`group_cells()`], [`rank_cells()`]; of polygons [`measure_turned()`], [`write_turned()`] |
//!
//! [`carry_values()`] and [`renumber_vertices()`] bring other arrays of a mesh into the order.
//!
//! **Vertices.** A sort by all 64 bits of a key would move 153 bytes a vertex for each 32 of them. The highest 32
//! distinguish nearly all points that are spread evenly: 2^16 rows of cells. In space points often lie on a surface, so
//! the highest 42 are sorted: 2^14 layers. Vertices whose highest bits are equal form a *run*. [`place_vertices()`]
//! orders runs of up to [`LONGEST_RUN`] by all that is compared. If a longer one is not in order already, all bits of
//! the keys are sorted, and if that does not suffice, coordinates too. Each sort is stable and begins with ascending
//! ids, so equal points are in order.
//!
//! **Cells** are counted by their first vertices with atomics, which give each cell a place in its vertex's group, in
//! any order. Then each cell finds its place among the cells of its group, by comparison with all of them: groups have
//! two triangles or six tetrahedra on average. If a group has more than [`LARGEST_GROUP`], all cells are sorted by all
//! their vertices.

mod carry;
mod order_cells;
mod order_vertices;
mod polygons;

pub use carry::*;
pub use order_cells::*;
pub use order_vertices::*;
pub use polygons::*;
