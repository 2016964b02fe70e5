//! Validators: the rules of meshes, and the promises of each family.
//!
//! The rules of inputs are the library's ([`trioxide::rules`], [`trioxide::half_edges::rules`]): its pipelines check by
//! them. The first broken rule comes back as [`trioxide::Error::Invalid`], with the smallest element that breaks it.

pub mod compare;
mod decimate;
mod delaunay;
mod exact;
pub mod half_edges;
mod levels;
pub mod polygons;
pub mod polyhedra;
pub mod refine;
mod refined;
mod repair;
pub mod smooth;
pub mod untangle;

pub use decimate::decimated;
pub use delaunay::{constrained_delaunay, delaunay};
pub use half_edges::half_edges;
pub use levels::{levels, levels_of_polyhedra, levels_of_surface};
pub use polyhedra::polyhedra;
pub use refined::refined_tets;
pub use repair::{is_closed, repair};
pub use trioxide::half_edges::rules::{
    check_triangulation, check_triangulation_with, surface, triangles_and_edges, triangulation,
};
pub use trioxide::rules::tets;
pub use trioxide::volume_summary::volume_summary;
