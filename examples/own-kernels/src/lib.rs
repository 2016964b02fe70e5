//! Kernels of one's own beside trioxide's: the far points of a cloud, and how far the farthest is.
//!
//! ```
//! use own_kernels::{far_points, open};
//! use trioxide::Device;
//! use trioxide::glam::DVec2;
//!
//! # fn main() -> trioxide::Result<()> {
//! let on = open(Device::cpu(None)?)?;
//! let points = on.upload(&[DVec2::ZERO, DVec2::new(3.0, 4.0), DVec2::X])?;
//! let far = far_points(&on, &points, DVec2::ZERO, 2.0)?;
//! assert_eq!(on.download_rows::<_, u32>(&far.points)?, [1]);
//! assert_eq!(far.largest_distance, 5.0);
//! # Ok(())
//! # }
//! ```

pub use own_kernels_gpu::Side;
use own_kernels_gpu::{self as kernel, LANES, SummariesBuffers};
use trioxide::glam::DVec2;
use trioxide::ids::Vertex;
use trioxide::{Buffer, Device, Ptx, Result, collective};

/// The kernels, for [`Device::load`]. The text is empty where no device compiler was found.
// SAFETY: the build script makes it of the sources of own-kernels-gpu.
pub const PTX: Ptx = unsafe {
    Ptx::new(
        "own-kernels-gpu",
        include_str!(concat!(env!("OUT_DIR"), "/kernels.ptx")),
    )
};

/// Loads the kernels on a device, beside trioxide's.
///
/// # Errors
/// [`trioxide::Error::NoDevice`] on a GPU, if there is no PTX or the driver refuses it.
pub fn open(on: Device) -> Result<Device> {
    on.load(PTX)?;
    Ok(on)
}

/// What [`far_points`] gives.
pub struct FarPoints {
    /// The far points, in ascending order.
    pub points: Buffer<Vertex>,
    /// Distance of the farthest of all points.
    pub largest_distance: f64,
}

/// Squared distances of points to `centre`.
fn distances(on: &Device, points: &Buffer<DVec2>, centre: DVec2) -> Result<Buffer<f64>> {
    let n = points.len() as u32;
    let mut distances = on.uninitialized(points.len())?;
    // SAFETY: each point reads and writes its own elements; the lengths are checked at the launch.
    unsafe { kernel::square_distances::launch(on, n, points, centre.x, centre.y, &mut distances) }?;
    Ok(distances)
}

/// The points on a side of a circle, in ascending order; with the points of the circle if it `is_closed`.
///
/// # Errors
/// Those of the device.
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
    // SAFETY: a point reads its own distance.
    unsafe { launch(on, n, distances, radius * radius, side, &mut selected) }?;
    // One of trioxide's collectives, on the bit set that a kernel of ours gave.
    collective::compact(on, &selected)
}

/// The points that are at least `least` away from `centre`, and the largest distance.
///
/// # Errors
/// Those of the device.
pub fn far_points(
    on: &Device,
    points: &Buffer<DVec2>,
    centre: DVec2,
    least: f64,
) -> Result<FarPoints> {
    let distances = distances(on, points, centre)?;
    let tiles = points.len().div_ceil(LANES) as u32;
    let mut largest = on.uninitialized(tiles as usize)?;
    if tiles > 0 {
        // SAFETY: a block reads its tile, as far as there are values, and writes its own element.
        unsafe { kernel::reduce_tiles::launch(on, tiles, &distances, &mut largest) }?;
    }
    let largest = on.download(&largest)?.into_iter().fold(0.0, f64::max);
    Ok(FarPoints {
        points: select(on, &distances, least, Side::Far, true)?,
        largest_distance: largest.sqrt(),
    })
}

/// What [`summarize_tiles`] finds of each tile of distances.
#[derive(Clone, Debug, PartialEq)]
pub struct Summaries {
    /// Sum of the distances, in the order of `Block::sum`.
    pub sums: Vec<f64>,
    /// The nearest point, of equally near ones the first.
    pub nearest: Vec<u32>,
    /// The smallest and the largest difference of a distance to 1000, rounded toward 0.
    pub differences: Vec<[i32; 2]>,
    /// Sum of the distances' whole parts.
    pub whole: Vec<u64>,
    /// Points that are further away than the point before, in rows of 32.
    pub ascents: Vec<u32>,
}

/// Summaries of tiles of 32, 96 or 256 squared distances to `centre`.
///
/// # Errors
/// Those of the device.
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
    let found = SummariesBuffers {
        sums: &mut sums,
        nearest: &mut nearest,
        differences: &mut differences,
        whole: &mut whole,
        ascents: &mut ascents,
    };
    let launch = match width {
        32 => kernel::summarize_tiles::launch::<32>,
        96 => kernel::summarize_tiles::launch::<96>,
        256 => kernel::summarize_tiles::launch::<256>,
        _ => panic!("a tile has 32, 96 or 256 points, not {width}"),
    };
    // SAFETY: a block reads its tile, as far as there are distances, and writes its own elements.
    unsafe { launch(on, tiles as u32, &distances, found) }?;
    Ok(Summaries {
        sums: on.download(&sums)?,
        nearest: on.download_rows(&nearest)?,
        differences: on.download(&differences)?,
        whole: on.download(&whole)?,
        ascents: on.download(&ascents)?,
    })
}
