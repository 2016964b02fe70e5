//! Conversions on a device, so that families chain without leaving it. The kernels are in `gpu::forms`.
//!
//! | from | to | by |
//! | --- | --- | --- |
//! | points of the plane | points of space, z = 0 | [`lift`] |
//! | points of space | points of the plane, without z | [`flatten`] |
//! | triangles, `[u32; 3]` each | origins of half-edges | [`origins`] |
//! | origins of half-edges | triangles | [`triangles`] |
//! | [`DeviceSurface`] of points of space: a scan, a welded mesh | [`DeviceTriangulation`] | [`triangulation`] |
//! | [`DeviceEdgeMesh`](crate::refine::DeviceEdgeMesh) | [`DeviceTriangulation`] | [`into_triangulation`](crate::refine::DeviceEdgeMesh::into_triangulation) |
//!
//! A mesh is refined and becomes polygons; nothing but counts leaves the device in between:
//!
//! ```
//! use trioxide::prelude::*;
//! use trioxide::{polylla, refine};
//!
//! # fn main() -> trioxide::Result<()> {
//! let on = Device::cpu(None)?;
//! let mesh = trioxide::generate::random(&on, 1000, 1)?;
//! let triangulation = DeviceTriangulation::<DVec2>::upload(&on, &mesh)?;
//! let mut edges = refine::DeviceEdgeMesh::build(&on, triangulation)?;
//! refine::refine(&on, &mut edges, &refine::Options::default())?;
//! let refined = edges.into_triangulation(&on)?;
//! assert!(refined.triangles() as usize > mesh.triangles.len());
//! let result = polylla(&on, &refined, None, polylla::Options::default())?;
//! let polygons = result.download_lists(&on)?;
//! assert_eq!(polygons.len(), result.counts().polygons as usize);
//! # Ok(())
//! # }
//! ```

use glam::DVec3;
use gpu::forms as kernel;
pub use gpu::forms::Lift;
use gpu::ids::Vertex;
use trioxide_kernel::launch::Buffer;

use crate::device::Device;
use crate::half_edges::{self, DeviceSurface, DeviceTriangulation, Point};
pub use crate::points::bounds;
use crate::points::count;
use crate::{Error, Result};

/// Points of the plane as points of space with z = 0.
///
/// # Errors
/// [`Error::Argument`] for more points than ids; errors of the device.
pub fn lift<P: Lift>(on: &Device, points: &Buffer<P>) -> Result<Buffer<P::Lifted>> {
    let mut lifted = on.uninitialized(points.len())?;
    kernel::lift_points::launch(on, count(points.len())?, points, &mut lifted)?;
    Ok(lifted)
}

/// Points of space without their z.
///
/// # Errors
/// As [`lift`].
pub fn flatten<P: Lift>(on: &Device, points: &Buffer<P::Lifted>) -> Result<Buffer<P>> {
    let mut flattened = on.uninitialized(points.len())?;
    kernel::flatten_points::launch::<P>(on, count(points.len())?, points, &mut flattened)?;
    Ok(flattened)
}

/// Whether the points of a surface share one z, so that it can be one of the plane; no points do.
///
/// # Errors
/// As [`lift`].
pub fn is_planar(on: &Device, surface: &DeviceSurface<DVec3>) -> Result<bool> {
    let (low, high) = surface.bounds(on)?;
    Ok(low.z >= high.z)
}

/// Triangles as origins of half-edges, three each; the same memory.
pub fn origins(triangles: Buffer<[u32; 3]>) -> Buffer<Vertex> {
    triangles.cast()
}

/// Origins of half-edges as triangles; the same memory.
///
/// # Errors
/// [`Error::Argument`] when the number of origins is no multiple of 3.
pub fn triangles(origins: Buffer<Vertex>) -> Result<Buffer<[u32; 3]>> {
    if !origins.len().is_multiple_of(3) {
        let message = format!("{} origins are no whole number of triangles", origins.len());
        return Err(Error::Argument(message));
    }
    Ok(origins.cast())
}

/// The triangulation of a surface, seen along z: of a welded mesh, for example. Half-edges that are known stay so.
///
/// # Errors
/// [`half_edges::Error`] when the triangles, seen so, are no triangulation; errors of the device.
pub fn triangulation<P: Point + Lift>(
    on: &Device,
    surface: DeviceSurface<P::Lifted>,
) -> half_edges::Result<DeviceTriangulation<P>> {
    let points = on.stage("flatten points", || flatten(on, surface.points()))?;
    DeviceTriangulation::of_surface(on, surface.with_points(points))
}
