//! Meshes whose arrays are on the device already.

use glam::DVec3;
use gpu::smooth::Vector;
use trioxide_kernel::NONE;
use trioxide_kernel::launch::Buffer;

use super::cells::{DeviceCells, DeviceMesh, MOST_CELLS};
use crate::collective::exclusive_scan;
use crate::device::Device;
use crate::points::bounds;
use crate::{Error, Result};

impl<P: Vector> DeviceMesh<P> {
    /// A surface of V points and T triangles that are on the device: of a welded mesh, or of another package. It is
    /// checked there, and no array is copied to the host.
    ///
    /// # Errors
    /// As [`DeviceMesh::upload`]; [`Error::Argument`] for buffers of another device.
    pub fn of_triangles(
        on: &Device,
        points: Buffer<P>,
        triangles: Buffer<[u32; 3]>,
    ) -> Result<Self> {
        let (nodes, count) = (points.len(), triangles.len());
        check_ids("a surface", nodes, (count, 3, "triangles"))?;
        on.require(Self::bytes_needed(nodes, 3 * count, false))?;
        let cells = on.stage("corners", || {
            let mut offsets = on.filled(count + 1, 3)?;
            exclusive_scan(on, &mut offsets)?;
            // SAFETY: offsets ascend by 3 to the number of corners; vertices are checked below.
            unsafe { DeviceCells::of_corners(on, offsets, triangles.cast(), nodes as u32) }
        })?;
        Self::checked(on, points, cells, "face")
    }

    /// A volume mesh of V points and N tetrahedra that are on the device, as [`DeviceMesh::of_triangles`] takes a
    /// surface.
    ///
    /// # Errors
    /// As [`DeviceMesh::of_triangles`].
    ///
    /// ```
    /// # use trioxide::Device;
    /// # use trioxide::smooth::{DeviceMesh, Options, smooth};
    /// # fn main() -> trioxide::Result<()> {
    /// let on = Device::cpu(None)?;
    /// let mesh = trioxide::generate::tet_grid(1000, 1)?;
    /// let (points, tetrahedra) = (on.upload(&mesh.points)?, on.upload(&mesh.tetrahedra)?);
    /// let resident = DeviceMesh::of_tetrahedra(&on, points, tetrahedra)?;
    /// let smoothed = smooth(&on, &resident, &[], &Options::default())?.into_points();
    /// assert_eq!(smoothed.len(), mesh.points.len());
    /// # Ok(())
    /// # }
    /// ```
    pub fn of_tetrahedra(
        on: &Device,
        points: Buffer<P>,
        tetrahedra: Buffer<[u32; 4]>,
    ) -> Result<Self> {
        let (nodes, count) = (points.len(), tetrahedra.len());
        check_ids("a volume mesh", nodes, (count, 4, "tetrahedra"))?;
        on.require(Self::bytes_needed(nodes, 4 * count, true))?;
        // SAFETY: there are no offsets; vertices are checked below.
        let cells = unsafe { DeviceCells::of_tetrahedra(on, tetrahedra.cast(), nodes as u32) }?;
        Self::checked(on, points, cells, "cell")
    }

    /// The mesh of cells that are still to be checked, each an `element`.
    fn checked(on: &Device, points: Buffer<P>, cells: DeviceCells, element: &str) -> Result<Self> {
        let mut mesh = Self::new(points, cells, (DVec3::ZERO, DVec3::ZERO));
        mesh.check(on, element)?;
        let bounds = bounds(on, mesh.points())?;
        mesh.set_bounds(bounds);
        Ok(mesh)
    }
}

/// Refuses numbers of nodes, cells and corners that 32-bit ids cannot name.
fn check_ids(
    mesh: &str,
    nodes: usize,
    (count, corners, cells): (usize, usize, &str),
) -> Result<()> {
    if count > MOST_CELLS || corners * count >= NONE as usize || nodes >= NONE as usize {
        return Err(Error::Argument(format!(
            "{mesh} of {nodes} nodes and {count} {cells} exceeds 32-bit ids"
        )));
    }
    Ok(())
}
