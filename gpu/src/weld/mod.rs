//! Deterministic vertex clustering (gpu-vertex-clustering-2026).

mod attributes;
mod clusters;
mod complete;
mod decide;
mod faces;
mod grid;
mod near;

pub use attributes::*;
pub use clusters::*;
pub use complete::*;
pub use decide::*;
pub use faces::*;
pub use grid::*;
pub use near::*;
