//! Deterministic vertex clustering (gpu-vertex-clustering-2026).

mod clusters;
mod decide;
mod faces;
mod grid;
mod slabs;

pub use clusters::*;
pub use decide::*;
pub use faces::*;
pub use grid::*;
pub use slabs::*;
