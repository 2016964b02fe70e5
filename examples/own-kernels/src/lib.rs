//! Kernels of one's own, on trioxide's devices: the far points of a cloud, and how far the farthest is.
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

use glam::DVec2;
use own_kernels_gpu::{self as kernel, LANES};
use trioxide_device::{Buffer, Device, Result, collective};
use trioxide_ids::Vertex;

trioxide_device::kernels! {
    /// The kernels.
    pub PTX = "own-kernels-gpu";
}

/// What [`far_points`] gives.
pub struct FarPoints {
    /// The far points, in ascending order.
    pub points: Buffer<Vertex>,
    /// Distance of the farthest of all points.
    pub largest_distance: f64,
}

/// The points that are at least `least` away from `centre`.
///
/// # Errors
/// Those of the device.
pub fn far_points(
    on: &Device,
    points: &Buffer<DVec2>,
    centre: DVec2,
    least: f64,
) -> Result<FarPoints> {
    let n = points.len() as u32;
    let mut distances = on.uninitialized(points.len())?;
    let mut far = on.uninitialized(points.len().div_ceil(32))?;
    let tiles = n.div_ceil(LANES as u32);
    let mut largest = on.uninitialized(tiles as usize)?;
    // SAFETY: each point reads and writes its own elements; the lengths are checked at the launch.
    unsafe { kernel::square_distances::launch(on, n, points, centre.x, centre.y, &mut distances) }?;
    // SAFETY: as above, and a distance of each point was written.
    unsafe { kernel::select_far_points::launch(on, n, &distances, least * least, &mut far) }?;
    if tiles > 0 {
        // SAFETY: a block reads its tile, as far as there are values, and writes its own element.
        unsafe { kernel::reduce_tiles::launch(on, tiles, &distances, &mut largest) }?;
    }
    // A collective, on the bit set that a kernel of ours gave.
    let points = collective::compact(on, &far)?;
    let largest = on.download(&largest)?.into_iter().fold(0.0, f64::max);
    Ok(FarPoints {
        points,
        largest_distance: largest.sqrt(),
    })
}
