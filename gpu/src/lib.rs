//! trioxide's kernels. Each is one function, run by the GPU and by the CPU.
//!
//! | family | stages |
//! | --- | --- |
//! | [`forms`] | points of the plane and of space; kernels that several families launch |
//! | [`grid`] | rows of a plain grid |
//! | [`half_edges`] | a half-edge triangulation from triangles |
//! | [`polylla`] | GPolylla: polygons from a half-edge triangulation |
//! | [`indexed`] | Polylla on arrays of triangles and neighbours |
//! | [`levels`] | nested levels of polygons |
//! | [`refine`] | longest-edge bisection of triangulations |
//! | [`refine_tets`] | longest-edge bisection of tetrahedral meshes |
//! | [`tet_faces`] | the two sides of each face of tetrahedra |
//! | [`polyhedra`] | Polylla in space: polyhedra from tetrahedra |
//! | [`delaunay`] | triangulations of points and outlines, refined |
//! | [`repair`] | faults of triangle meshes, step by step |
//! | [`reorder`] | vertices and cells along a Hilbert curve |
//! | [`compare`] | distances between surfaces |
//! | [`weld`] | deterministic vertex clustering |
//! | [`decimate`] | quadric edge collapse in rounds |
//! | [`smooth`] | Laplacian smoothing of volume and surface meshes |
//! | [`untangle`] | inverted cells become valid; valid cells become better |
//!
//! A stage is a file: the kernel's function under `#[kernel]` (see [`macro@trioxide_kernel::kernel`]), nothing else.
//! How to write one is in docs/KERNELS.md.
#![cfg_attr(
    target_arch = "nvptx64",
    no_std,
    feature(abi_ptx, core_float_math),
    allow(internal_features, missing_docs)
)]
// Views are passed as `In<T>`: a reader does not need their lifetime.
#![allow(elided_lifetimes_in_paths)]

pub mod compare;
pub mod curve;
pub mod decimate;
pub mod delaunay;
pub mod forms;
pub mod grid;
pub mod half_edges;
pub mod handedness;
pub mod indexed;
pub mod levels;
pub mod ordered;
pub mod orientation;
#[cfg(feature = "checked")]
pub mod plant_bad_index;
pub mod point;
pub mod point3;
pub mod polyhedra;
pub mod polylla;
pub mod refine;
pub mod refine_tets;
pub mod reorder;
pub mod repair;
#[doc(hidden)]
pub mod slots;
pub mod smooth;
pub mod tet_faces;
pub mod untangle;
pub mod weld;

pub use trioxide_ids as ids;
