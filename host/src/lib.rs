//! trioxide: mesh processing on the GPU and on the CPU, with the same bits. **Start here.**
//!
//! A mesh comes from a file ([`formats`]) or a generator ([`generate`]). It goes to a [`Device`] once, flows through
//! pipelines there, and comes back once:
//!
//! ```
//! use trioxide::polylla;
//! use trioxide::prelude::*;
//!
//! # fn main() -> trioxide::Result<()> {
//! // All cores. `Device::cuda(0)` is the first GPU, `Device::auto(None)` the best machine there is.
//! let on = Device::cpu(None)?;
//!
//! // The Delaunay triangulation of 1000 random points; the seed is 1.
//! let mesh = trioxide::generate::random(&on, 1000, 1)?;
//!
//! // Points and triangles are copied; the mesh is checked, and its half-edges are built, on the device.
//! let triangulation = DeviceTriangulation::<DVec2>::upload(&on, &mesh)?;
//!
//! // Triangles merge into polygons, without constraints; only counts leave the device.
//! let result = polylla(&on, &triangulation, None, polylla::Options::default())?;
//! assert_eq!(result.counts().polygons, 316);
//!
//! // Polygon i has the vertices vertices[offsets[i]..offsets[i + 1]], counter-clockwise.
//! let polygons = result.download_lists(&on)?;
//! assert_eq!(polygons.len(), 316);
//! assert!(polygons.iter().all(|polygon| polygon.len() >= 3));
//!
//! // How long each stage took.
//! for stage in on.take_stages()? {
//!     println!("{:<32} {:.3} ms", stage.name, stage.milliseconds);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! | to find | look in |
//! | --- | --- |
//! | a kernel | `gpu/src/<family>/<stage>.rs` |
//! | the names that most programs use | [`prelude`] |
//! | the pipeline that launches it | here: [`half_edges`], [`polylla`](mod@polylla), [`collective`] |
//! | the way from one family to the next, on the device | [`forms`] |
//! | the rules that meshes keep | [`rules`], and of triangulations [`half_edges::rules`] |
//! | the paper's sequential algorithm, the oracle | the crate in `reference/`, above this one |
//! | the rules for results, the cases that every device must pass | the crate in `verify/`, above all others |
//! | devices, buffers, collectives; the rules that kernels of any crate keep | [`trioxide_device`], re-exported here |
//! | meshes, files, generators, pictures | the crates in `mesh/`, `formats/`, `generate/`, `render/`, re-exported here |
//! | whole meshes with all that they carry, in one call | the crate in `operations/`, above this one |
//! | the command line | `cli/src/commands/` |
//!
//! | feature | brings |
//! | --- | --- |
//! | `formats` (default) | [`formats`] |
//! | `generate` (default) | [`generate`] |
//! | `render` (default) | [`render`] |
//! | `cuda` (default) | GPUs: [`Device::cuda`]; without it they are an error |
//! | `clap` | encodings, colours and views as values of a command line's options |
//!
//! docs/ARCHITECTURE.md has the map, docs/KERNELS.md the way to a kernel of your own.

pub mod compare;
pub mod decimate;
pub mod delaunay;
pub mod forms;
#[cfg(any(feature = "generate", test))]
pub mod generate;
pub mod grid;
pub mod half_edges;
pub mod indexed;
pub mod levels;
pub mod marking;
pub mod points;
pub mod polyhedra;
pub mod polylla;
pub mod prelude;
pub mod quality;
pub mod quality3d;
pub mod quality_polyhedra;
pub mod refine;
pub mod refine_tets;
pub mod reorder;
pub mod repair;
pub mod smooth;
pub mod tet_faces;
pub mod volume_summary;
pub mod weld;

pub use glam;
pub use gpu::ids;
pub use trioxide_device::{Buffer, Device, Ptx, bench, collective, conformance, device};

trioxide_device::kernels! {
    /// The kernels of all families, for compute capability 7.5 and later: the driver compiles them for the device at
    /// hand.
    pub PTX = "trioxide-gpu";
}

#[cfg(feature = "formats")]
pub use trioxide_formats as formats;
pub use trioxide_mesh::polyhedra as polyhedra_mesh;
pub use trioxide_mesh::{
    Error, Result, about, bit_set, conform, contact, digest, divide, edge_table, edges, error,
    fields, finite, mesh, outline, progress, prolongation, random, rules, terminal, volume,
};
#[cfg(feature = "render")]
pub use trioxide_render as render;
