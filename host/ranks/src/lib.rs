//! Meshes that several processes hold together: the results of the single run, bit for bit, for any number of ranks.
//!
//! | to find | look in |
//! | --- | --- |
//! | messages between ranks, by MPI or between threads of one process | [`transport`], [`threads`], `mpi` |
//! | the exchange between owned elements and ghosts | [`halo`] |
//! | the input, a block of ids for each rank; directories of elements | [`block`] |
//! | owners of elements | [`ownership`] |
//! | grids of which each rank makes its own part | [`Part::of_grid`], [`Block::of_grid`] |
//! | a rank's part of the mesh, with its ghosts; its points and corners | [`part`], [`shape`] |
//! | numbers of new elements in an order of the whole mesh | [`numbers`] |
//! | meshes of tetrahedra | [`tets`] |
//! | a family on ranks | [`polylla`](mod@polylla), [`levels`](mod@levels), [`polyhedra`](mod@polyhedra), [`refine`](mod@refine), [`refine_tets`], [`smooth`](mod@smooth), [`weld`](mod@weld) |
//! | errors on which all ranks agree | [`fault`] |
//!
//! # Why the bits are the same
//!
//! - Elements have ids in the whole mesh, 64 bits wide. A rank's local ids ascend with them, so a tie that goes by ids
//!   falls as in the single run, and the kernels and pipelines of the single run work on a rank's part as they are.
//! - The owner of an element decides about it, since its part has all elements that the decision depends on, and sends
//!   the result to the others. No sum of floats has an order that depends on ranks: values of several ranks are joined
//!   by minimum, maximum, bits or sums of integers.
//! - New ids are places in an order of the whole mesh: each rank sorts a block of it, and counts are scanned over
//!   ranks.
//!
//! Owners change the time alone. Blocks of ids stay with their ranks where few vertices are in several of them.
//! Else the cells are dealt along a Morton curve. Its equal parts have short borders: a part of n triangles has about
//! sqrt(n) ghosts.

pub mod block;
mod cells;
pub mod check;
mod curve;
mod directory;
pub mod fault;
mod grid;
pub mod halo;
pub mod ids;
mod layers;
pub mod levels;
mod merged;
#[cfg(feature = "mpi")]
pub mod mpi;
pub mod numbers;
pub mod output;
mod owned;
pub mod ownership;
pub mod part;
pub mod polyhedra;
pub mod polylla;
mod records;
pub mod refine;
pub mod refine_tets;
pub mod shape;
mod shared;
pub mod smooth;
pub mod tets;
pub mod threads;
pub mod transport;
pub mod weld;

pub use block::Block;
pub use fault::{Fault, Result};
pub use ownership::Ownership;
pub use part::Part;
pub use shape::Shape;
pub use transport::{Ranks, Transport};
