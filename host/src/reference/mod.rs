//! The papers' sequential algorithms, written for clarity in linear (or n log n) time: the oracle of every parallel
//! pipeline's tests, and the `serial` device of the command line.

mod constraints;
pub mod half_edges;
pub mod indexed;
pub mod polyhedra;
pub mod polylla;
pub mod refine;
pub mod refine_tets;
pub mod smooth;
pub mod smooth_weights;
pub mod weld;
mod weld_attributes;

pub use constraints::constrained_edges;
pub use half_edges::half_edges;
pub use indexed::indexed;
pub use polyhedra::polyhedra;
pub use polylla::polylla;
pub use refine::{edges, refine};
pub use refine_tets::refine_tets;
pub use weld::{weld, weld_carrying};
