//! The arrays of neighbours, from half-edges.

use gpu::ids::Triangle;
use gpu::indexed::kernels as kernel;
use trioxide_kernel::launch::Buffer;

use super::Result;
use crate::device::Device;
use crate::half_edges::{DeviceTriangulation, MeshId, Point};

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
            let (n, twins) = (mesh.half_edges(), mesh.twins());
            let mut neighbours = on.uninitialized(n as usize)?;
            kernel::find_neighbours::launch(on, n, twins, &mut neighbours)?;
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
