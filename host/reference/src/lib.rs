//! The papers' sequential algorithms, written for clarity in linear (or n log n) time: the oracle of every parallel
//! pipeline's tests, and the `serial` device of the command line.
//!
//! | to find | look in |
//! | --- | --- |
//! | polygons of triangles | [`polylla`](mod@polylla); [`indexed`](mod@indexed), by arrays of neighbours |
//! | nested levels of polygons and polyhedra | [`levels`](mod@levels) |
//! | polyhedra of tetrahedra | [`polyhedra`](mod@polyhedra) |
//! | refinement | [`refine`](mod@refine); [`refine_tets`](mod@refine_tets), of tetrahedra |
//! | smoothing | [`smooth`]; [`smooth_weights`] |
//! | welding | [`weld`](mod@weld) |
//!
//! The feature `proptest` brings random meshes for tests.

mod constraints;
pub mod indexed;
pub mod levels;
pub mod polyhedra;
pub mod polylla;
#[cfg(any(test, feature = "proptest"))]
pub mod random_mesh;
pub mod refine;
pub mod refine_tets;
pub mod smooth;
pub mod smooth_weights;
pub mod weld;
mod weld_attributes;

pub use constraints::constrained_edges;
pub use indexed::indexed;
pub use levels::{levels, levels_of_polyhedra};
pub use polyhedra::polyhedra;
pub use polylla::polylla;
pub use refine::{edges, refine};
pub use refine_tets::refine_tets;
pub use trioxide_mesh::half_edges::half_edges;
pub use weld::{weld, weld_carrying};
