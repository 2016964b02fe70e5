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
mod fans;
mod options;
mod result;
mod rounds;
mod seams;
mod state;
mod weighed;

use std::cmp::Reverse;

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
pub use weighed::{Channel, Numbers};

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
    /// Numbers of the vertices that count in the quadrics, or are fitted, or none.
    pub numbers: Option<Numbers<'a>>,
}

impl<'a> Surface<'a> {
    /// Without regions, locks and numbers.
    pub fn new(points: &'a Buffer<DVec3>, triangles: &'a Buffer<[Vertex; 3]>) -> Self {
        Self {
            points,
            triangles,
            regions: None,
            locked: None,
            numbers: None,
        }
    }

    fn check_lengths(&self) -> Result<()> {
        let (points, triangles) = (self.points.len(), self.triangles.len());
        // Corners move: there are places for twice as many.
        let (most_points, most_triangles) = (NONE as usize, NONE as usize / 6);
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
        self.numbers.map_or(Ok(()), |numbers| numbers.check(points))
    }

    /// Numbers of a vertex.
    fn channels(&self) -> usize {
        self.numbers.map_or(0, |numbers| numbers.channels.len())
    }
}

/// Runs `work` as a named stage.
fn stage<R>(on: &Device, name: &'static str, work: impl FnOnce() -> Result<R>) -> Result<R> {
    on.stage(name, || Ok(work()))?
}

/// Bytes that a run takes at once besides the mesh, for V points and T triangles, down to each of these numbers of
/// triangles, with this count of `numbers` of each vertex in the quadrics. With several numbers of triangles a surface
/// with a boundary needs room for a copy besides: [`decimate_to_each`] refuses a run without it before the first round.
pub fn bytes_needed(points: usize, triangles: usize, targets: &[usize], numbers: usize) -> u64 {
    let (v, t) = (points as u64, triangles as u64);
    // Corners and their lists, beside the places and half-edges.
    let linking = 16 * v + 48 * t;
    let of_vertex = size_of::<kernel::Site>() + numbers * size_of::<kernel::Trend>();
    // Sites, trends, places, choices, parents and touched vertices; half-edges, corners and room for as many, and
    // before the first round their former places.
    let state = (of_vertex as u64 + 29) * v + 60 * t;
    // The touched vertices, or a sixth of the vertices as nominees.
    let round = 8 * v;
    // Maps; positions, ids and triangles of each result. The numbers of its vertices take some more for a while.
    let numbering = 6 * v;
    let result = |&target: &usize| {
        let share = (target as f64 / triangles as f64).min(1.0);
        5 * v + (share * ((28 + 8 * numbers as u64) * v + 16 * t) as f64) as u64
    };
    let results: u64 = targets.iter().map(result).sum();
    linking.max(state + round.max(numbering + results))
}

/// Decimates a surface that is on the device.
///
/// # Errors
/// [`Error::Coordinate`], [`Error::Number`], [`Error::Range`] or [`Error::Degenerate`] with the vertex or the triangle;
/// [`Error::Length`]; [`Error::Weight`]; [`Error::TooLarge`]; those of [`Options::check`]; those of the device.
pub fn decimate(on: &Device, surface: &Surface, options: &Options) -> Result<DeviceDecimated> {
    let mut one = decimate_to_each(on, surface, options, &[options.triangles])?;
    Ok(one.remove(0))
}

/// Decimates a surface that is on the device to each of several numbers of triangles, in place of that of `options`, in
/// one run. Each result is that of a run of its own.
///
/// # Errors
/// As [`decimate()`].
pub fn decimate_to_each(
    on: &Device,
    surface: &Surface,
    options: &Options,
    targets: &[usize],
) -> Result<Vec<DeviceDecimated>> {
    options.check()?;
    surface.check_lengths()?;
    let (vertices, triangles) = (surface.points.len(), surface.triangles.len());
    let numbers = surface.channels();
    let needed = bytes_needed(vertices, triangles, targets, numbers);
    on.require(needed)?;
    let corners = on.duplicate(surface.triangles)?.cast();
    let starts = stage(on, "check the mesh", || check(on, surface.points, &corners))?;
    if let Some(numbers) = &surface.numbers {
        numbers.check_values(on)?;
    }
    let (unit, diagonal) = match vertices {
        0 => (1.0, 0.0),
        _ => {
            let (low, high) = points::bounds(on, surface.points)?;
            let extent = (high - low).max_element();
            // An extent below this has no reciprocal; costs are zero then.
            let unit = if extent > f64::MIN_POSITIVE {
                to_unit(extent)
            } else {
                1.0
            };
            (unit, ((high - low) * unit).length())
        }
    };
    let mut state = State::new(on, surface, corners, starts, options, [unit, diagonal])?;
    if targets.len() > 1 && state.has_border(on)? {
        // An odd number of triangles is reached in a copy.
        on.require(needed)?;
    }
    // Each target once, from the most triangles to the fewest.
    let mut order: Vec<usize> = (0..targets.len()).collect();
    order.sort_by_key(|&i| Reverse(targets[i]));
    let descending: Vec<usize> = order.iter().map(|&i| targets[i]).collect();
    let mut places = order.into_iter();
    let mut done: Vec<Option<DeviceDecimated>> = targets.iter().map(|_| None).collect();
    rounds::run(on, state, &descending, |state, rounds| {
        let place = places.next().expect("a place for each target");
        done[place] = Some(state.finish(on, rounds)?);
        Ok(())
    })?;
    Ok(done.into_iter().flatten().collect())
}

/// The half-edges of the triangles, without costs. Refuses points and triangles that other kernels may not take.
fn check(
    on: &Device,
    points: &Buffer<DVec3>,
    corners: &Buffer<Vertex>,
) -> Result<Buffer<kernel::Start>> {
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
    let mut starts = on.uninitialized(corners.len())?;
    kernel::check_distinct_corners::launch(
        on,
        triangles,
        corners,
        vertices,
        &mut found,
        &mut starts,
    )?;
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
    Ok(starts)
}
