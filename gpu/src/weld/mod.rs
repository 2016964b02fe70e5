//! Deterministic vertex clustering (gpu-vertex-clustering-2026).
//!
//! The neighbours of the vertices are found and decided by one of four methods, with the same result. Bytes a vertex
//! are the peak in addition to its position; p is the number of pairs of neighbours that a vertex takes part in:
//!
//! | method | of the paper | neighbours | rounds | bytes a vertex | good for |
//! | --- | --- | --- | --- | --- | --- |
//! | `grid` | ours | found twice at most, a few listed; in crowded cells only representatives | until lists suffice | 60 to 85 | every mesh that fits |
//! | `dependency` | 3.6, P-Weld | all stored | sweeps over the undecided | 41 + 2 p | comparison |
//! | `on_the_fly` | 4 | found in each round | frontiers | 41 | meshes that do not fit otherwise |
//! | `sparse_grid` | 5 | all stored | frontiers | 45 + 2 p | comparison; the paper's method for crowded cells |
//!
//! The last three search in `hashed_cells`, the paper's sparse hash; if a cell has thousands of vertices, the grid
//! collapses equal ones first. The stages, by their labels:
//!
//! | stage | kernels in | of the paper |
//! | --- | --- | --- |
//! | choose cells, grid | `grid` | ours |
//! | note neighbours | `note_neighbours` | ours, for `count_neighbors_compact`, `build_neighbors_compact` |
//! | decide | `decide`, `chains` | ours |
//! | assign | `assign`, `crowded` | ours |
//! | decide crowded | `crowded` | ours: in place of noting neighbours and deciding |
//! | hashed cells | `hashed_cells` | 4.3, 5.3.1, 5.4.1 |
//! | count neighbours, list neighbours, sweeps | `dependency` | Algorithm 2 |
//! | count dependencies, frontiers | `on_the_fly` | Algorithms 4, 5 |
//! | crowded cells, count neighbours, list neighbours, frontiers | `sparse_grid` | Algorithms 8, 9 |
//! | number clusters | `clusters` | |
//! | positions, attributes, faces | `positions`, `attributes`, `faces` | |
//!
//! Slabs of a mesh that is larger than the device's memory also use `slabs`; ranks that weld one mesh together also use
//! `share`.

mod assign;
mod attributes;
mod chains;
mod clusters;
mod crowded;
mod decide;
mod dependency;
mod faces;
mod grid;
mod guards;
mod hashed_cells;
mod ids;
mod note_neighbours;
mod on_the_fly;
mod positions;
mod rows;
mod search;
mod share;
mod slabs;
mod sparse_grid;
mod states;

pub use assign::*;
pub use attributes::*;
pub use chains::*;
pub use clusters::*;
pub use crowded::*;
pub use decide::*;
pub use dependency::*;
pub use faces::*;
pub use grid::*;
pub use guards::*;
pub use hashed_cells::*;
pub use ids::*;
pub use note_neighbours::*;
pub use on_the_fly::*;
pub use positions::*;
pub use rows::*;
pub use search::*;
pub use share::*;
pub use slabs::*;
pub use sparse_grid::*;
pub use states::*;
