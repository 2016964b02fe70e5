//! Your own kernels on trioxide's devices: the far points of a cloud, and the distance of the farthest.
//!
//! ```
//! use glam::DVec2;
//! use own_kernels::far_points;
//! use trioxide_device::Device;
//!
//! # fn main() -> trioxide_device::Result<()> {
//! let on = Device::cpu(None)?;
//! let points = on.upload(&[DVec2::ZERO, DVec2::new(3.0, 4.0), DVec2::X])?;
//! let far = far_points(&on, &points, DVec2::ZERO, 2.0)?;
//! assert_eq!(on.download_rows::<_, u32>(&far.points)?, [1]);
//! assert_eq!(far.largest_distance, 5.0);
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]

mod blocks;
mod report;

pub use blocks::{Summaries, count_classes, summarize_tiles};
use glam::DVec2;
pub use own_kernels_gpu::Side;
use own_kernels_gpu::{self as kernel, TILE};
pub use report::print_far;
use trioxide_device::{Buffer, Device, Result, collective};
use trioxide_ids::Vertex;

trioxide_device::kernels! {
    /// The kernels.
    pub PTX = "own-kernels-gpu";
}

/// The result of [`far_points`].
pub struct FarPoints {
    /// The far points, in ascending order.
    pub points: Buffer<Vertex>,
    /// Distance of the farthest point.
    pub largest_distance: f64,
}

/// Squared distances of points to `centre`.
fn distances(on: &Device, points: &Buffer<DVec2>, centre: DVec2) -> Result<Buffer<f64>> {
    let n = points.len() as u32;
    let mut distances = on.uninitialized(points.len())?;
    kernel::square_distances::launch(on, n, points, centre.x, centre.y, &mut distances)?;
    Ok(distances)
}

/// The points on a side of a circle, in ascending order; with the points of the circle if it `is_closed`.
///
/// # Errors
/// Errors of the device.
pub fn select_points(
    on: &Device,
    points: &Buffer<DVec2>,
    centre: DVec2,
    radius: f64,
    side: Side,
    is_closed: bool,
) -> Result<Buffer<Vertex>> {
    let distances = distances(on, points, centre)?;
    select(on, &distances, radius, side, is_closed)
}

fn select(
    on: &Device,
    distances: &Buffer<f64>,
    radius: f64,
    side: Side,
    is_closed: bool,
) -> Result<Buffer<Vertex>> {
    let n = distances.len() as u32;
    let mut selected = on.uninitialized(distances.len().div_ceil(32))?;
    let launch = match is_closed {
        false => kernel::select_points::launch::<false>,
        true => kernel::select_points::launch::<true>,
    };
    launch(on, n, distances, radius * radius, side, &mut selected)?;
    // One of trioxide's collectives, on the bit set that our kernel returned.
    collective::compact(on, &selected)
}

/// The points that are at least `least` away from `centre`, and the largest distance.
///
/// # Errors
/// Errors of the device.
pub fn far_points(
    on: &Device,
    points: &Buffer<DVec2>,
    centre: DVec2,
    least: f64,
) -> Result<FarPoints> {
    let distances = distances(on, points, centre)?;
    let tiles = points.len().div_ceil(TILE) as u32;
    let mut largest = on.uninitialized(tiles as usize)?;
    kernel::reduce_tiles::launch(on, tiles, &distances, &mut largest)?;
    let largest = on.download(&largest)?.into_iter().fold(0.0, f64::max);
    Ok(FarPoints {
        points: select(on, &distances, least, Side::Far, true)?,
        largest_distance: largest.sqrt(),
    })
}

/// Squared distances of the `listed` points to `centre`.
///
/// # Errors
/// [`trioxide_device::Error::Launch`] for a number that no point has; errors of the device.
pub fn listed_distances(
    on: &Device,
    points: &Buffer<DVec2>,
    listed: &Buffer<Vertex>,
    centre: DVec2,
) -> Result<Vec<f64>> {
    let distances = distances(on, points, centre)?;
    let mut gathered = on.uninitialized(listed.len())?;
    let n = listed.len() as u32;
    kernel::gather_distances::launch(on, n, listed, &distances, &mut gathered)?;
    on.download(&gathered)
}
