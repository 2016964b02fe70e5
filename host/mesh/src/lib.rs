//! Meshes and their attributes, without devices, files or pictures. It re-exports [`trioxide_work`]: errors, progress,
//! threads.
//!
//! Start at [`mesh::Mesh`] (faces in the plane or in space) and [`volume::VolumeMesh`] (cells).
//!
//! | module | holds |
//! | --- | --- |
//! | [`mesh`] | triangulations, polygons, attributes; results of Polylla and refinement |
//! | [`half_edges`] | [`mesh::HalfEdges`] of triangles, and their queries |
//! | [`outline`] | the input of a triangulation: points, segments, holes, regions |
//! | [`rules`] | the rules that meshes keep |
//! | [`volume`] | cells of volume meshes, tetrahedra; faces of cells |
//! | [`polyhedra`] | meshes of polyhedra, and Polylla's lists |
//! | [`about`] | data on a mesh as a whole: its unit, names |
//! | [`conform`] | meshes with hanging vertices made conforming |
//! | [`contact`] | parts that touch without sharing vertices |
//! | [`divide`] | faces into triangles, cells into tetrahedra |
//! | [`edges`] | undirected edges of faces |
//! | [`edge_table`] | directed edges grouped by their undirected edge; a triangulation by its edges |
//! | [`partition`] | rows sorted by groups |
//! | [`finite`] | meshes without vertices that are not finite |
//! | [`fields`] | named numbers of points and cells, and their values on a new mesh |
//! | [`prolongation`] | values on a refined mesh from values on its input |
//! | [`corner_rows`] | the same for triangles, in little memory |
//! | [`bit_set`] | flags as bit sets |
//! | [`terminal`] | text of files without control characters for a terminal |
//! | [`random`] | random bits from a seed |
//! | [`digest`](mod@digest) | hashes of arrays |

pub mod about;
pub mod bit_set;
mod boundary;
pub mod conform;
pub mod contact;
pub mod corner_rows;
pub mod digest;
pub mod divide;
pub mod edge_table;
pub mod edges;
pub mod fields;
pub mod finite;
pub mod half_edges;
mod links;
pub mod mesh;
mod orient;
pub mod outline;
pub mod partition;
pub mod polyhedra;
pub mod prolongation;
pub mod random;
pub mod rules;
pub mod terminal;
pub mod unfold;
pub mod volume;

pub use trioxide_work::{Error, Result, error, memory, parallel, progress};
