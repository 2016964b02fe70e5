//! Operations: a whole mesh and options in, a mesh and a report out. **A program that uses trioxide starts here.**
//!
//! ```
//! use trioxide::device::Device;
//! use trioxide_operations as operations;
//! use trioxide_operations::weld;
//!
//! # fn main() -> operations::Result<()> {
//! let (device, _) = Device::auto(None)?;
//! # let mesh = trioxide::mesh::Mesh::from(trioxide::generate::random(&device, 1000, 1)?);
//! let (welded, report) = operations::weld(&device, mesh, &weld::Options::new(0.01))?;
//! assert_eq!(welded.points.len(), report.representatives.len());
//! # Ok(())
//! # }
//! ```
//!
//! An operation decides the points that the families of the crate [`trioxide`] leave open: the fields, regions and
//! segments of the result, the memory that may be taken, the way to do a mesh that takes more, and the other device
//! that goes on where the first one's memory does not suffice ([`Machine`]). Its options are declared once, with their
//! names, defaults, limits and help: with the feature `clap` they are options of a command line, and the functions of
//! Python take the same. An [`Error`] is data until a front end words it.
//!
//! | feature | adds |
//! | --- | --- |
//! | `clap` | options as those of a command line |
//! | `compare` | [`compare()`]: distances between two meshes |
//! | `info` | [`info()`]: counts, measures and faults of a mesh |
//! | `serial` | the papers' sequential algorithms as a machine, [`On::Serial`] |
//! | `triangulate` | [`triangulate()`]: outlines and points into triangles |
//! | `vem` | [`vem()`]: Poisson problems by virtual elements |

#[cfg(feature = "compare")]
pub mod compare;
pub mod count;
pub mod decimate;
pub mod error;
#[cfg(feature = "info")]
pub mod info;
pub mod input;
mod machine;
pub mod polyhedra;
pub mod polylla;
mod precision;
pub mod refine;
pub mod refine_tets;
pub mod reorder;
pub mod repair;
mod report;
mod scale;
pub mod smooth;
#[cfg(feature = "triangulate")]
pub mod triangulate;
#[cfg(feature = "vem")]
pub mod vem;
pub mod weld;

#[cfg(feature = "compare")]
pub use compare::compare;
pub use decimate::decimate;
pub use error::{Error, Result};
#[cfg(feature = "info")]
pub use info::{info, info_polyhedra, info_volume};
pub use machine::{Machine, On, Start};
pub use polyhedra::polyhedra;
pub use polylla::polylla;
pub use precision::Precision;
pub use refine::refine;
pub use refine_tets::refine_tets;
pub use reorder::{reorder, reorder_volume};
pub use repair::{repair, repair_volume};
pub use report::{Count, Counts, Note, Run};
pub use smooth::{smooth, smooth_volume};
#[cfg(feature = "triangulate")]
pub use triangulate::triangulate;
#[cfg(feature = "vem")]
pub use vem::{vem, vem_in_space, vem_of_cells};
pub use weld::{weld, weld_volume};
