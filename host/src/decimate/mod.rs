//! Quadric edge collapse on a device: the mesh of a wanted number of triangles with a small error.
//!
//! The kernels, and the definition with its proof, are in `gpu::decimate`.
//!
//! ```
//! use trioxide::Device;
//! use trioxide::decimate::{Options, Surface, decimate};
//!
//! # fn main() -> Result<(), trioxide::decimate::Error> {
//! # #[cfg(feature = "generate")] {
//! let on = Device::cpu(None)?;
//! let scan = trioxide::generate::scan(1000, 1)?;
//! let points = on.upload(&scan.points)?;
//! let triangles = on.upload(trioxide::weld::triangles(&scan))?.cast();
//! let surface = Surface::new(&points, &triangles);
//! let decimated = decimate(&on, &surface, &Options::new(100))?.download(&on)?;
//! assert_eq!(decimated.triangles.len(), 100);
//! # }
//! # Ok(())
//! # }
//! ```

mod error;
mod options;
mod result;
mod rounds;
mod state;

use glam::DVec3;
use gpu::decimate as kernel;
use gpu::half_edges::{check_points, rule};
use gpu::ids::{Triangle, Vertex};
use gpu::smooth::to_unit;
use trioxide_kernel::launch::Buffer;
use trioxide_kernel::{NONE, words};

use crate::device::{BitSet, Device};
use crate::points;

pub use error::{Error, Result};
pub use options::{Options, Place};
pub use result::{Decimated, DeviceDecimated};

use state::State;

/// A surface of V vertices and T triangles on a device.
#[derive(Clone, Copy)]
pub struct Surface<'a> {
    /// Positions; V.
    pub points: &'a Buffer<DVec3>,
    /// Triangles; T.
    pub triangles: &'a Buffer<[Vertex; 3]>,
    /// Region of each triangle, T, or none. Vertices where regions meet are locked.
    pub regions: Option<&'a Buffer<i32>>,
    /// Locked vertices, or none.
    pub locked: Option<&'a BitSet<Vertex>>,
}

impl<'a> Surface<'a> {
    /// Without regions and locks.
    pub fn new(points: &'a Buffer<DVec3>, triangles: &'a Buffer<[Vertex; 3]>) -> Self {
        Self {
            points,
            triangles,
            regions: None,
            locked: None,
        }
    }

    fn check_lengths(&self) -> Result<()> {
        let (points, triangles) = (self.points.len(), self.triangles.len());
        let (most_points, most_triangles) = (NONE as usize, NONE as usize / 3);
        if points > most_points || triangles > most_triangles {
            return Err(Error::TooLarge {
                points,
                triangles,
                most_points,
                most_triangles,
            });
        }
        let arrays = [
            (self.regions.map(Buffer::len), triangles, "regions"),
            (
                self.locked.map(|bits| bits.len()),
                words(points),
                "words of locks",
            ),
        ];
        for (length, needed, array) in arrays {
            if let Some(length) = length.filter(|&length| length != needed) {
                return Err(Error::Length {
                    array,
                    length,
                    needed,
                });
            }
        }
        Ok(())
    }
}

/// Runs `work` as a named stage.
fn stage<R>(on: &Device, name: &'static str, work: impl FnOnce() -> Result<R>) -> Result<R> {
    on.stage(name, || Ok(work()))?
}

/// Bytes that a run takes at once besides the mesh, for V points and T triangles.
pub fn bytes_needed(points: usize, triangles: usize) -> u64 {
    // Positions, quadrics, choices, and six lists of 4 bytes; corners, next corners and costs, and the lists by which
    // corners are linked.
    (points * (24 + 88 + 8 + 24) + triangles * 3 * 12 + (triangles * 3 * 8 + points * 8)) as u64
}

/// Decimates a surface that is on the device.
///
/// # Errors
/// [`Error::Coordinate`], [`Error::Range`] or [`Error::Degenerate`] with the vertex or the triangle; [`Error::Length`];
/// [`Error::TooLarge`]; those of [`Options::check`]; those of the device.
pub fn decimate(on: &Device, surface: &Surface, options: &Options) -> Result<DeviceDecimated> {
    options.check()?;
    surface.check_lengths()?;
    let vertices = surface.points.len();
    on.require(bytes_needed(vertices, surface.triangles.len()))?;
    let corners = on.duplicate(surface.triangles)?.cast();
    stage(on, "check the mesh", || check(on, surface.points, &corners))?;
    let unit = match vertices {
        0 => 1.0,
        _ => {
            let (low, high) = points::bounds(on, surface.points)?;
            let extent = (high - low).max_element();
            // An extent below this has no reciprocal; costs are zero then.
            if extent > f64::MIN_POSITIVE {
                to_unit(extent)
            } else {
                1.0
            }
        }
    };
    let mut state = State::new(on, surface, corners, options, unit)?;
    let rounds = rounds::run(on, &mut state, options.triangles)?;
    state.finish(on, rounds)
}

/// Refuses points and triangles that other kernels may not take.
fn check(on: &Device, points: &Buffer<DVec3>, corners: &Buffer<Vertex>) -> Result<()> {
    let mut found = on.filled(rule::COUNT, NONE)?;
    check_points::launch(on, points.len() as u32, points, &mut found)?;
    let found = on.download(&found)?;
    let bad = found[rule::FINITE as usize].min(found[rule::LARGE as usize]);
    if bad != NONE {
        return Err(Error::Coordinate {
            vertex: bad as usize,
        });
    }
    let mut found = on.filled(2, Triangle::NONE)?;
    let (vertices, triangles) = (points.len() as u32, corners.len() as u32 / 3);
    kernel::check_distinct_corners::launch(on, triangles, corners, vertices, &mut found)?;
    let [range, twice] = [0, 1].map(|rule| on.read(&found, rule));
    let (range, twice) = (range?, twice?);
    if range.is_some() {
        let triangle = range.index() as usize;
        return Err(Error::Range { triangle });
    }
    if twice.is_some() {
        let triangle = twice.index() as usize;
        return Err(Error::Degenerate { triangle });
    }
    Ok(())
}
