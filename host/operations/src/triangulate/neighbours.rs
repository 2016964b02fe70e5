//! The neighbours of triangles, from their half-edges on a device.

use glam::DVec2;
use trioxide::Buffer;
use trioxide::device::Device;
use trioxide::half_edges::{DeviceSurface, DeviceTriangulation};
use trioxide::ids::Triangle;
use trioxide::indexed::opposite_to_corners;
use trioxide::mesh::{Faces, Mesh};

use super::Report;
use crate::error::Result;
use crate::machine::{Machine, On};
use crate::report::Run;

/// Reports the neighbours of the triangles of a mesh.
pub(super) fn of_mesh(on: &Machine, mesh: Mesh, mut report: Report) -> Result<(Mesh, Report)> {
    let Faces::Triangles(triangles) = &mesh.faces else {
        unreachable!("a triangulation has triangles");
    };
    let points: Vec<DVec2> = mesh.points.iter().map(|p| p.truncate()).collect();
    let (neighbours, run) = on.run(|on| match on {
        On::Device(device) => {
            let surface = DeviceSurface::upload(device, &points, triangles, [0, 0], None)?;
            let (_, neighbours) = find(device, surface)?;
            let neighbours =
                device.stage("copy to the host", || device.download_rows(&neighbours))?;
            Ok((neighbours, Run::of(device, Vec::new())?))
        }
        #[cfg(feature = "serial")]
        On::Serial => Err(super::Refusal::Serial.into()),
    })?;
    report.add(run);
    report.neighbours = Some(neighbours);
    Ok((mesh, report))
}

/// The neighbours of triangles on a device; the surface knows its half-edges then.
pub(super) fn find(
    on: &Device,
    surface: DeviceSurface<DVec2>,
) -> Result<(DeviceSurface<DVec2>, Buffer<Triangle>)> {
    let (points, triangles) = (surface.points().len(), surface.triangles());
    on.require(DeviceTriangulation::<DVec2>::bytes_needed(
        points, triangles,
    ))?;
    let mesh = DeviceTriangulation::of_surface(on, surface)?;
    let neighbours = opposite_to_corners(on, &mesh)?;
    Ok((mesh.into_surface(), neighbours))
}
