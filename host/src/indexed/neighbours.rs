//! The arrays of neighbours, from half-edges.

use gpu::ids::{HalfEdge, Triangle};
use gpu::indexed::kernels as kernel;
use gpu::polylla::kernels::{self as polylla, LabelledBuffers};
use trioxide_kernel::launch::Buffer;
use trioxide_kernel::{Bits, words};

use super::Result;
use crate::device::{BitSet, Device};
use crate::half_edges::{DeviceTriangulation, MeshId, Point};
use crate::reorder;

/// The arrays of neighbours, which triangles and their half-edges do not hold: T triangles, V vertices.
pub struct Neighbours {
    pub(super) mesh: MeshId,
    pub(super) neighbours: Buffer<Triangle>,
    pub(super) trivertex: Buffer<Triangle>,
}

impl Neighbours {
    /// The neighbours in `mesh`.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn new<P: Point>(on: &Device, mesh: &DeviceTriangulation<P>) -> Result<Self> {
        let first = mesh.half_edges_of_vertices(on)?;
        on.try_stage("find neighbours", || {
            let neighbours = across_edges(on, mesh)?;
            let (n, mut trivertex) = (first.len() as u32, on.uninitialized(first.len())?);
            kernel::find_trivertex::launch(on, n, &first, &mut trivertex)?;
            Ok(Self {
                mesh: mesh.id(),
                neighbours,
                trivertex,
            })
        })
    }

    /// The triangle across each edge, `NONE` on the boundary; 3T.
    pub fn neighbours(&self) -> &Buffer<Triangle> {
        &self.neighbours
    }

    /// The smallest triangle at each vertex, `NONE` where there is none; V.
    pub fn trivertex(&self) -> &Buffer<Triangle> {
        &self.trivertex
    }
}

/// The triangle across each edge, `NONE` on the boundary; 3T.
fn across_edges<P: Point>(
    on: &Device,
    mesh: &DeviceTriangulation<P>,
) -> crate::Result<Buffer<Triangle>> {
    let (n, twins) = (mesh.half_edges(), mesh.twins());
    let mut neighbours = on.uninitialized(n as usize)?;
    kernel::find_neighbours::launch(on, n, twins, &mut neighbours)?;
    Ok(neighbours)
}

/// The triangle across the edge opposite to each corner, `NONE` on the boundary; 3T.
///
/// # Errors
/// Errors of the device.
pub fn opposite_to_corners<P: Point>(
    on: &Device,
    mesh: &DeviceTriangulation<P>,
) -> crate::Result<Buffer<Triangle>> {
    on.stage("find neighbours", || {
        let across = across_edges(on, mesh)?;
        let next = next_in_triangles(on, mesh)?;
        Ok(reorder::pick(on, across.as_words(), &next)?.cast())
    })
}

/// The next half-edge in the triangle of each, which is opposite to its origin: the link between frontier edges, where
/// all edges are such.
fn next_in_triangles<P: Point>(
    on: &Device,
    mesh: &DeviceTriangulation<P>,
) -> crate::Result<Buffer<HalfEdge>> {
    let n = mesh.half_edges();
    let frontier: BitSet<HalfEdge> = on.filled(words(n as usize), Bits::new(u32::MAX))?;
    let mut tips: BitSet<HalfEdge> = on.uninitialized(frontier.len())?;
    let (mut next, mut prev) = (on.uninitialized(n as usize)?, on.uninitialized(0)?);
    let edges = LabelledBuffers {
        twins: mesh.twins(),
        frontier: &frontier,
    };
    // SAFETY: all half-edges are frontier edges, so no walk leaves its triangle.
    unsafe { polylla::link_frontier_edges::launch(on, n, edges, &mut next, &mut prev, &mut tips) }?;
    Ok(next)
}
