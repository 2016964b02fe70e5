//! Vertices and cells in the order of a Hilbert curve, on a device. The kernels are in [`gpu::reorder`], with the
//! definition and its proof.
//!
//! ```
//! use glam::DVec2;
//! use trioxide::{Device, reorder};
//!
//! # fn main() -> trioxide::Result<()> {
//! let on = Device::cpu(None)?;
//! let mesh = trioxide::generate::random(&on, 1000, 1)?;
//! let points = on.upload(&mesh.points)?;
//! let corners = on.upload(mesh.triangles.as_flattened())?.cast();
//!
//! let vertices = reorder::vertices(&on, &points)?;
//! let triangles = reorder::triangles(&on, &corners, &vertices)?;
//! // Vertex i was `old[i]`, and vertex v is `new[v]`.
//! let old: Vec<u32> = on.download_rows(vertices.old())?;
//! let new: Vec<u32> = on.download_rows(vertices.new_ids())?;
//! assert!(old.iter().zip(0..).all(|(&v, i)| new[v as usize] == i));
//! // Triangle j was `cells[j]`.
//! let cells: Vec<u32> = on.download_rows(triangles.old())?;
//! assert_eq!(cells.len(), mesh.triangles.len());
//! # Ok(())
//! # }
//! ```

mod carry;
mod cells;
mod vertices;

use gpu::ids::{Cell, Vertex};
use gpu::point::MeshPoint;
use gpu::reorder::CurvePoint;
use trioxide_kernel::launch::Buffer;

pub(crate) use carry::pick;
pub use carry::{Carried, carry, renumber};
pub use cells::{polygons, tetrahedra, triangles};
pub(crate) use vertices::order;
pub use vertices::{vertices, vertices_in_space};

/// Points that can be ordered: of the plane or of space, in single or double precision.
pub trait Point: CurvePoint + MeshPoint {}
impl<P: CurvePoint + MeshPoint> Point for P {}

/// Bytes that a run takes at once with its input, as `trioxide bench reorder` prints.
pub fn bytes_needed<P>(points: usize, corners: usize, cells: usize) -> u64 {
    let (points, corners, cells) = (points as u64, corners as u64, cells as u64);
    points * (2 * size_of::<P>() as u64 + 20) + 8 * corners + 28 * cells
}

/// Vertices in their order.
pub struct Vertices<P> {
    points: Buffer<P>,
    old: Buffer<Vertex>,
    new: Buffer<Vertex>,
}

impl<P> Vertices<P> {
    /// The points in the order; V.
    pub fn points(&self) -> &Buffer<P> {
        &self.points
    }

    /// The old id of each vertex; V.
    pub fn old(&self) -> &Buffer<Vertex> {
        &self.old
    }

    /// The new id of each old vertex; V.
    pub fn new_ids(&self) -> &Buffer<Vertex> {
        &self.new
    }

    /// [`Self::points`], [`Self::old`] and [`Self::new_ids`].
    pub fn into_arrays(self) -> (Buffer<P>, Buffer<Vertex>, Buffer<Vertex>) {
        (self.points, self.old, self.new)
    }
}

/// Triangles or tetrahedra in their order.
pub struct Cells {
    corners: Buffer<Vertex>,
    old: Buffer<Cell>,
}

impl Cells {
    /// Vertices of the cells by their new ids, three or four each.
    pub fn corners(&self) -> &Buffer<Vertex> {
        &self.corners
    }

    /// The old id of each cell.
    pub fn old(&self) -> &Buffer<Cell> {
        &self.old
    }

    /// [`Self::corners`] and [`Self::old`].
    pub fn into_arrays(self) -> (Buffer<Vertex>, Buffer<Cell>) {
        (self.corners, self.old)
    }
}

/// Polygons in their order.
pub struct Polygons {
    offsets: Buffer<u32>,
    vertices: Buffer<Vertex>,
    old: Buffer<Cell>,
}

impl Polygons {
    /// Start of each polygon in [`Self::vertices`], and the end of the last.
    pub fn offsets(&self) -> &Buffer<u32> {
        &self.offsets
    }

    /// Vertices of all polygons by their new ids.
    pub fn vertices(&self) -> &Buffer<Vertex> {
        &self.vertices
    }

    /// The old id of each polygon.
    pub fn old(&self) -> &Buffer<Cell> {
        &self.old
    }
}
