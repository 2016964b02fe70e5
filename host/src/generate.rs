//! Meshes from a seed, the same bits on every machine: those of the crate `trioxide-generate`, and Delaunay
//! triangulations of its points, which a device makes.
//!
//! ```
//! use trioxide::{Device, generate};
//!
//! # fn main() -> trioxide::Result<()> {
//! let on = Device::cpu(None)?;
//! let mesh = generate::random(&on, 1000, 1)?;
//! // Each vertex is the lowest of some triangles; the triangles ascend by it.
//! assert!(mesh.triangles.is_sorted());
//! assert!(mesh.triangles.iter().all(|&[a, b, c]| a < b && a < c));
//! # Ok(())
//! # }
//! ```

pub use trioxide_generate::*;

use glam::DVec2;
use trioxide_mesh::mesh::Triangulation;

use crate::Result;
use crate::delaunay;
use crate::device::Device;

/// The Delaunay triangulation of [`random_points`]: a "random mesh" of gpolylla-2023, section 7.1. It covers the unit
/// square.
///
/// Vertices follow a Hilbert curve, in the order of [`reorder::vertices`](crate::reorder::vertices()); triangles follow
/// their vertices.
///
/// # Errors
/// [`Error::Argument`](crate::Error::Argument) if `n` is under 4 or more than [`delaunay::triangulate`] takes; errors
/// of the device.
pub fn random(on: &Device, n: usize, seed: u64) -> Result<Triangulation> {
    triangulated(on, n, || random_points(n, seed))
}

/// The Delaunay triangulation of [`disk_points`]: a regular polygon filled with random triangles.
///
/// Vertices and triangles are in the order of [`random`].
///
/// # Errors
/// As [`random`], if `n` is under 3.
pub fn disk(on: &Device, n: usize, seed: u64) -> Result<Triangulation> {
    triangulated(on, n, || disk_points(n, seed))
}

/// The triangulation of the `n` distinct points that `draw` gives.
fn triangulated(
    on: &Device,
    n: usize,
    draw: impl FnOnce() -> Result<Vec<DVec2>>,
) -> Result<Triangulation> {
    delaunay::check_most(n)?;
    on.require(delaunay::bytes_needed(n))?;
    let drawn = on.stage("draw points", draw)?;
    let uploaded = on.stage("copy to the device", || on.upload(&drawn))?;
    drop(drawn);
    let (points, triangles) = delaunay::triangulate_in_order(on, &uploaded)?;
    on.stage("copy to the host", || {
        Ok(Triangulation {
            points: on.download_rows(&points)?,
            triangles: on.download_rows(&triangles)?,
            ..Triangulation::default()
        })
    })
}
