//! Meshes and their attributes: no device, no file, no picture. [`trioxide_work`] is handed on: errors, progress,
//! threads.
//!
//! Start at [`mesh::Mesh`] (faces in the plane or in space) and [`volume::VolumeMesh`] (cells).
//!
//! | module | holds |
//! | --- | --- |
//! | [`mesh`] | triangulations, polygons, attributes; results of Polylla and refinement |
//! | [`half_edges`] | [`mesh::HalfEdges`] of triangles, and their queries |
//! | [`outline`] | what is triangulated: points, segments, holes, regions |
//! | [`rules`] | the rules that meshes keep |
//! | [`volume`] | cells of volume meshes, tetrahedra; faces of cells |
//! | [`polyhedra`] | meshes of polyhedra, and the lists that Polylla gives |
//! | [`edges`] | undirected edges of faces |
//! | [`edge_table`] | directed edges grouped by their undirected edge; a triangulation by its edges |
//! | [`partition`] | rows sorted by groups |
//! | [`fields`] | named numbers of points and cells, and how a new mesh gets them from an old one |
//! | [`prolongation`] | values on a refined mesh from values on its input |
//! | [`corner_rows`] | the same on triangles, in little memory |
//! | [`bit_set`] | flags as bit sets |
//! | [`terminal`] | text of files without commands to a terminal |
//! | [`random`] | random bits from a seed |
//! | [`digest`](mod@digest) | hashes of arrays |

pub mod bit_set;
mod boundary;
pub mod corner_rows;
pub mod digest;
pub mod edge_table;
pub mod edges;
pub mod fields;
pub mod half_edges;
pub mod mesh;
pub mod outline;
pub mod partition;
pub mod polyhedra;
pub mod prolongation;
pub mod random;
pub mod rules;
pub mod terminal;
pub mod volume;

pub use trioxide_work::{Error, Result, ahead, error, memory, parallel, progress};
