//! Lines that a kernel prints.

use glam::DVec2;
use own_kernels_gpu as kernel;
use trioxide_device::{Buffer, Device, Result};

use crate::distances;

/// Prints the points whose squared distance to `centre` is over `most`.
///
/// # Errors
/// Errors of the device.
pub fn print_far(on: &Device, points: &Buffer<DVec2>, centre: DVec2, most: f64) -> Result<()> {
    let distances = distances(on, points, centre)?;
    kernel::print_far::launch(on, points.len() as u32, &distances, most)?;
    Ok(())
}
