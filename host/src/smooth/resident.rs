//! Surfaces whose arrays are on the device already.

use glam::DVec3;
use gpu::smooth::Vector;
use trioxide_kernel::NONE;
use trioxide_kernel::launch::Buffer;

use super::cells::{DeviceCells, DeviceMesh, MOST_CELLS};
use crate::backend::Device;
use crate::collective::exclusive_scan;
use crate::convert::bounds;
use crate::{Error, Result};

impl<P: Vector> DeviceMesh<P> {
    /// A surface of V points and T triangles that are on the device: of a welded mesh, or of another package. It is checked there,
    /// and no array is copied to the host.
    ///
    /// # Errors
    /// As [`DeviceMesh::upload`]; [`Error::Argument`] for buffers of another device.
    pub fn of_triangles(
        on: &Device,
        points: Buffer<P>,
        triangles: Buffer<[u32; 3]>,
    ) -> Result<Self> {
        let (nodes, count) = (points.len(), triangles.len());
        if count > MOST_CELLS || 3 * count >= NONE as usize || nodes >= NONE as usize {
            return Err(Error::Argument(format!(
                "a surface of {nodes} nodes and {count} triangles exceeds 32-bit ids"
            )));
        }
        on.require(Self::bytes_needed(nodes, 3 * count, false))?;
        let cells = on.stage("corners", || {
            let mut offsets = on.filled(count + 1, 3)?;
            exclusive_scan(on, &mut offsets)?;
            // SAFETY: offsets ascend by 3 to the number of corners; vertices are checked below.
            unsafe { DeviceCells::of_corners(on, offsets, triangles.cast(), nodes as u32) }
        })?;
        let mut mesh = Self::new(points, cells, (DVec3::ZERO, DVec3::ZERO));
        mesh.check(on, "face")?;
        let bounds = bounds(on, mesh.points())?;
        mesh.set_bounds(bounds);
        Ok(mesh)
    }
}
