//! Summaries of tiles, by a kernel of blocks.

use glam::DVec2;
use own_kernels_gpu as kernel;
use trioxide_device::{Buffer, Device, Result};

use crate::distances;

/// The results of [`summarize_tiles`] for each tile of distances.
#[derive(Clone, Debug, PartialEq)]
pub struct Summaries {
    /// Sum of the distances, in the order of `Block::sum`.
    pub sums: Vec<f64>,
    /// The nearest point; the first of equally near ones.
    pub nearest: Vec<u32>,
    /// The smallest and the largest difference of a distance from 1000, rounded toward 0.
    pub differences: Vec<[i32; 2]>,
    /// Sum of the distances' whole parts.
    pub whole: Vec<u64>,
    /// Points that are further away than the point before, in rows of 32.
    pub ascents: Vec<u32>,
}

/// Summaries of tiles of 32, 96 or 256 squared distances to `centre`.
///
/// # Errors
/// Errors of the device.
///
/// # Panics
/// For another width of tiles, or no points.
pub fn summarize_tiles(
    on: &Device,
    points: &Buffer<DVec2>,
    centre: DVec2,
    width: usize,
) -> Result<Summaries> {
    let distances = distances(on, points, centre)?;
    let tiles = points.len().div_ceil(width);
    let mut sums = on.uninitialized(tiles)?;
    let mut nearest = on.uninitialized(tiles)?;
    let mut differences = on.uninitialized(tiles)?;
    let mut whole = on.uninitialized(tiles)?;
    let mut ascents = on.uninitialized(tiles)?;
    let launch = match width {
        32 => kernel::summarize_tiles::launch::<32>,
        96 => kernel::summarize_tiles::launch::<96>,
        256 => kernel::summarize_tiles::launch::<256>,
        _ => panic!("a tile has 32, 96 or 256 points, not {width}"),
    };
    launch(
        on,
        tiles as u32,
        &distances,
        &mut sums,
        &mut nearest,
        &mut differences,
        &mut whole,
        &mut ascents,
    )?;
    Ok(Summaries {
        sums: on.download(&sums)?,
        nearest: on.download_rows(&nearest)?,
        differences: on.download(&differences)?,
        whole: on.download(&whole)?,
        ascents: on.download(&ascents)?,
    })
}

/// The number of classes in each 4096 values: values with the same remainder by 16384 are a class.
///
/// # Errors
/// [`trioxide_device::Error::Launch`] on a device with less than 64.25 KiB of shared memory for a block; errors of the
/// device.
pub fn count_classes(on: &Device, values: &Buffer<u32>) -> Result<Vec<u32>> {
    let blocks = values.len().div_ceil(kernel::COUNTED);
    let mut classes = on.uninitialized(blocks)?;
    kernel::count_classes::launch(on, blocks as u32, values, &mut classes)?;
    on.download(&classes)
}
