//! Deterministic vertex clustering (gpu-vertex-clustering-2026).
//!
//! The vertices near each other are found and decided in one of four ways, with the same result; bytes a vertex are the most at
//! once beside its position, p the pairs of neighbours that a vertex has a part in:
//!
//! | method | of the paper | neighbours | rounds | bytes a vertex | good for |
//! | --- | --- | --- | --- | --- | --- |
//! | `grid`: `grid`, `decide` | ours | found twice at most, a few noted | until lists say enough | 60 to 85 | all that fits |
//! | `dependency` | 3.6, P-Weld | all stored | sweeps over the undecided | 41 + 2 p | comparison |
//! | `on_the_fly` | 4 | found in each round | frontiers | 41 | what does not fit otherwise |
//! | `sparse_grid` | 5 | all stored | frontiers | 45 + 2 p | comparison; crowded cells, of the paper's ways |
//!
//! The last three search in `cells`, the paper's sparse hash.

mod attributes;
mod cells;
mod clusters;
mod complete;
mod decide;
mod dependency;
mod faces;
mod grid;
mod near;
mod on_the_fly;
mod slabs;
mod sparse_grid;

pub use attributes::*;
pub use cells::*;
pub use clusters::*;
pub use complete::*;
pub use decide::*;
pub use dependency::*;
pub use faces::*;
pub use grid::*;
pub use near::*;
pub use on_the_fly::*;
pub use slabs::*;
pub use sparse_grid::*;
