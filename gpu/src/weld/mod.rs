//! Deterministic vertex clustering (gpu-vertex-clustering-2026).

mod cells;
mod clusters;
mod decide;
mod dependency;
mod faces;
mod grid;
mod on_the_fly;
mod sparse_grid;

pub use cells::*;
pub use clusters::*;
pub use decide::*;
pub use dependency::*;
pub use faces::*;
pub use grid::*;
pub use on_the_fly::*;
pub use sparse_grid::*;
