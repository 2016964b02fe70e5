//! Conversions on a device, so that families chain without leaving it. The kernels are in `gpu::convert`.
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
//! let mesh = trioxide::generate::random(1000, 1)?;
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
use gpu::convert as kernel;
pub use gpu::convert::Lift;
use gpu::ids::Vertex;
use gpu::smooth::{COPIES, EXTREMES, Vector, from_ordered_bits, measure_bounds};
use trioxide_kernel::launch::Buffer;

use crate::device::Device;
use crate::half_edges::{self, DeviceSurface, DeviceTriangulation, Point};
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

/// Lowest and highest coordinates of finite points: infinite where there is none, the lowest above the highest.
///
/// # Errors
/// As [`lift`].
pub fn bounds<P: Vector>(on: &Device, points: &Buffer<P>) -> Result<(DVec3, DVec3)> {
    let n = count(points.len())?;
    on.stage("bounds", || {
        let mut extremes = on.filled(2 * (EXTREMES * COPIES) as usize, 0u32)?.cast();
        measure_bounds::launch(on, n, points, &mut extremes)?;
        let keys: Vec<u64> = on.download(&extremes)?;
        let mut highest = keys.chunks(COPIES as usize).map(|copies| {
            let key = copies.iter().copied().max().filter(|&key| key > 0);
            key.map_or(f64::NEG_INFINITY, from_ordered_bits)
        });
        let mut next = || highest.next().expect("six extremes");
        let high = DVec3::new(next(), next(), next());
        let low = -DVec3::new(next(), next(), next());
        Ok((low, high))
    })
}

/// Whether the points of a surface share one z, so that it can be one of the plane; no points do.
///
/// # Errors
/// As [`lift`].
pub fn is_planar(on: &Device, surface: &DeviceSurface<DVec3>) -> Result<bool> {
    let (low, high) = surface.bounds(on)?;
    Ok(low.z >= high.z)
}

fn count(points: usize) -> Result<u32> {
    let too_many = |_| Error::Argument(format!("{points} points are too many for 32-bit ids"));
    points.try_into().map_err(too_many)
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

/// The triangulation of a surface, seen along z: of a welded mesh, for example. Half-edges that are known of it are its.
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
