//! Delaunay triangulation on a device, exact, with one result for any order of the points. The kernels are in
//! [`gpu::delaunay`], with the definition and its proof.
//!
//! ```
//! use glam::DVec2;
//! use trioxide::{Device, delaunay};
//!
//! # fn main() -> trioxide::Result<()> {
//! let on = Device::cpu(None)?;
//! let corners = [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0)].map(DVec2::from);
//! let result = delaunay::triangulate(&on, &on.upload(&corners)?)?;
//! // Of the two diagonals the one that does not meet the first point by (x, y).
//! assert_eq!(on.download_rows::<_, [u32; 3]>(result.triangles())?, [[0, 1, 2], [2, 1, 3]]);
//! # Ok(())
//! # }
//! ```

mod insert;
mod order;
mod rank;
mod stars;

use glam::DVec2;
use gpu::ids::{Place, Vertex};
use trioxide_kernel::launch::Buffer;

use crate::device::Device;
use crate::half_edges::Point;
use crate::{Error, Result};

/// Most points: each has [`RING`](gpu::delaunay::RING) places for the neighbours of its star.
const MOST_POINTS: usize = u32::MAX as usize / gpu::delaunay::RING;

/// The Delaunay triangulation of points, on a device.
pub struct Delaunay {
    triangles: Buffer<Vertex>,
    hard_points: usize,
}

impl Delaunay {
    /// Vertices of the triangles, three each, counter-clockwise. A triangle starts at its vertex of the lowest rank,
    /// and triangles ascend by the ranks of their first, then second vertices. Ranks follow a Hilbert curve.
    pub fn triangles(&self) -> &Buffer<Vertex> {
        &self.triangles
    }

    /// [`Self::triangles`].
    pub fn into_triangles(self) -> Buffer<Vertex> {
        self.triangles
    }

    /// Number of points that were inserted, since they could not make their stars alone. For statistics.
    pub fn hard_points(&self) -> usize {
        self.hard_points
    }
}

/// Points in the order of their ranks.
struct Ranked {
    /// The vertex of each rank.
    order: Buffer<Vertex>,
    /// The points in double precision.
    sorted: Buffer<DVec2>,
    frame: gpu::delaunay::Frame,
    low: DVec2,
    extent: f64,
}

/// A star for each point that is not hard.
struct Stars {
    degrees: Buffer<u32>,
    stars: Buffer<Place>,
}

impl Stars {
    /// The parameter of kernels.
    fn parameter(&self) -> gpu::delaunay::StarsBuffers<'_> {
        gpu::delaunay::StarsBuffers {
            degrees: &self.degrees,
            stars: &self.stars,
        }
    }
}

/// The Delaunay triangulation of distinct points that are not all on a line.
///
/// # Errors
/// [`Error::Invalid`] for a coordinate that is no finite number, and for two equal points: the lowest that equals one
/// before it, and that one. [`Error::Argument`] for fewer than three points, points on a line, more than 268 million
/// points, and hard points whose lists 32 bits do not number. Errors of the device.
pub fn triangulate<P: Point>(on: &Device, points: &Buffer<P>) -> Result<Delaunay> {
    if points.len() < 3 {
        let message = "fewer than three points have no triangles".into();
        return Err(Error::Argument(message));
    }
    if points.len() > MOST_POINTS {
        let message = format!(
            "{} points are too many: at most {MOST_POINTS} have 32-bit places for their stars",
            points.len()
        );
        return Err(Error::Argument(message));
    }
    let bounds = rank::bounds(on, points)?;
    let ranked = on.stage("rank points", || rank::rank(on, points, bounds))?;
    let (stars, hard) = on.stage("build stars", || stars::build(on, &ranked))?;
    let inserted = on.stage("insert hard points", || {
        insert::insert(on, &ranked, &stars, &hard)
    })?;
    let triangles = on.stage("order triangles", || {
        order::order(on, &ranked, &stars, &inserted)
    })?;
    Ok(Delaunay {
        triangles,
        hard_points: hard.len(),
    })
}
