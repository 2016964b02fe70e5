//! Delaunay triangulation on a device, exact, with one result for any order of the points. The kernels are in
//! [`gpu::delaunay`], with the definition and its proof.
//!
//! ```
//! use glam::DVec2;
//! use trioxide::Device;
//! use trioxide::delaunay::{self, Duplicates};
//!
//! # fn main() -> trioxide::Result<()> {
//! let on = Device::cpu(None)?;
//! let corners = [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0)].map(DVec2::from);
//! let result = delaunay::triangulate(&on, &on.upload(&corners)?, Duplicates::Refuse)?;
//! // Of the two diagonals the one that does not meet the first point by (x, y).
//! assert_eq!(on.download_rows::<_, [u32; 3]>(result.triangles())?, [[0, 1, 2], [2, 1, 3]]);
//! # Ok(())
//! # }
//! ```

pub mod constrained;
pub mod crossings;
mod error;
mod gaps;
mod hull;
mod illegal;
mod insert;
mod one_block;
mod order;
mod rank;
pub mod refinement;
mod stars;

use glam::DVec2;
use gpu::ids::{Place, Vertex};
use trioxide_kernel::launch::Buffer;
use trioxide_mesh::outline::no_triangle;

use crate::device::Device;
use crate::half_edges::Point;

pub use error::{Error, Result};
pub use hull::is_convex_loop;
pub use illegal::{Diagonals, IllegalEdges, find_illegal_edges};

/// Most points: each has [`RING`](gpu::delaunay::RING) places for the neighbours of its star.
const MOST_POINTS: usize = u32::MAX as usize / gpu::delaunay::RING;

/// The treatment of points that are equal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Duplicates {
    /// They are an error, which names two of them
    #[default]
    Refuse,
    /// The first of them by its id is a vertex of triangles, the others are not
    First,
}

/// The Delaunay triangulation of points, on a device.
pub struct Delaunay {
    triangles: Buffer<Vertex>,
    firsts: Option<Buffer<Vertex>>,
    duplicates: usize,
    hard_points: usize,
}

impl Delaunay {
    /// Vertices of the triangles, three each, counter-clockwise. A triangle starts at its vertex of the lowest rank,
    /// and triangles ascend by the ranks of their first, then second vertices. Ranks follow a Hilbert curve.
    pub fn triangles(&self) -> &Buffer<Vertex> {
        &self.triangles
    }

    /// For each point the first by its id of the points that equal it; `None` where all are distinct.
    pub fn firsts(&self) -> Option<&Buffer<Vertex>> {
        self.firsts.as_ref()
    }

    /// Number of points that are no vertices, since they equal a point before them.
    pub fn duplicates(&self) -> usize {
        self.duplicates
    }

    /// [`Self::triangles`] and [`Self::firsts`].
    pub fn into_arrays(self) -> (Buffer<Vertex>, Option<Buffer<Vertex>>) {
        (self.triangles, self.firsts)
    }

    /// Number of points that could not make their stars alone. For statistics.
    pub fn hard_points(&self) -> usize {
        self.hard_points
    }
}

/// Distinct points in the order of their ranks.
struct Ranked {
    /// The vertex of each rank.
    order: Buffer<Vertex>,
    /// For each point its first equal, if there are equal points.
    firsts: Option<Buffer<Vertex>>,
    /// The points in double precision.
    sorted: Buffer<DVec2>,
    frame: gpu::curve::Frame,
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

/// The triangulation of the hard points alone.
struct HardMesh {
    /// Corners of the triangles that there have been, three each.
    corners: Buffer<u32>,
    /// The first point in each triangle's circle: none in those of the result.
    minima: Buffer<u32>,
    /// Faces of the result, four words each.
    done: Buffer<u32>,
}

/// Bytes that a run takes at once with its points, if few are hard: while triangles are ordered, as
/// `trioxide bench delaunay` prints. Hard points take more, by a number that the points decide.
pub fn bytes_needed(points: usize) -> u64 {
    172 * points as u64
}

/// Refuses more points than a triangulation has.
pub(crate) fn check_most(points: usize) -> crate::Result<()> {
    if points <= MOST_POINTS {
        return Ok(());
    }
    let message = format!(
        "{points} points are too many: at most {MOST_POINTS} have 32-bit places for their stars"
    );
    Err(crate::Error::Argument(message))
}

/// The Delaunay triangulation of points that are not all on a line.
///
/// # Errors
/// [`Error::Repeated`]; [`Invalid`](crate::Error::Invalid) for a coordinate that is no finite number, for fewer than
/// three distinct points and for points on a line; [`Argument`](crate::Error::Argument) for more than 268 million
/// points, and hard points whose lists 32 bits do not number. Errors of the device.
pub fn triangulate<P: Point>(
    on: &Device,
    points: &Buffer<P>,
    duplicates: Duplicates,
) -> Result<Delaunay> {
    triangulate_with(on, points, duplicates, Ways::of(on))
}

/// As [`triangulate`], of distinct points, with the points in the order of their ranks, which is that of
/// [`reorder::vertices`](crate::reorder::vertices()): they are the vertices of the triangles.
pub fn triangulate_in_order<P: Point>(
    on: &Device,
    points: &Buffer<P>,
) -> Result<(Buffer<DVec2>, Buffer<Vertex>)> {
    let found = find(on, points, Duplicates::Refuse, Ways::of(on))?;
    let (ranked, triangles) = found.in_order(on)?;
    Ok((ranked.sorted, triangles.cast()))
}

/// Most hard points that are triangulated in each way: more are inserted by launches for each round.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Ways {
    /// Whose gaps are filled, if there are stars.
    pub by_gaps: usize,
    /// That one block inserts.
    pub by_block: usize,
}

impl Ways {
    /// The quickest on a device.
    fn of(on: &Device) -> Self {
        Self {
            by_gaps: gaps::most(on),
            by_block: one_block::MOST,
        }
    }
}

/// As [`triangulate`], in other ways, for tests: the result is the same.
#[doc(hidden)]
pub fn triangulate_with<P: Point>(
    on: &Device,
    points: &Buffer<P>,
    duplicates: Duplicates,
    ways: Ways,
) -> Result<Delaunay> {
    let found = find(on, points, duplicates, ways)?;
    let n = found.ranked.order.len();
    let triangles = on.stage("order triangles", || {
        order::order(
            on,
            n,
            &found.ranked.order,
            &found.stars,
            &found.between_hard,
        )
    })?;
    Ok(Delaunay {
        triangles,
        duplicates: points.len() - n,
        firsts: found.ranked.firsts,
        hard_points: found.hard_points,
    })
}

/// The triangles, not yet in order.
struct Found {
    ranked: Ranked,
    stars: Stars,
    /// Places of the corners of the triangles between hard points.
    between_hard: Buffer<Place>,
    hard_points: usize,
}

impl Found {
    /// The points, and the triangles of their places.
    fn in_order(self, on: &Device) -> crate::Result<(Ranked, Buffer<Place>)> {
        let n = self.ranked.order.len();
        let triangles = on.stage("order triangles", || {
            let mut places = on.uninitialized(n)?;
            gpu::forms::count_up::launch(on, n as u32, &mut places)?;
            order::order(on, n, &places, &self.stars, &self.between_hard)
        })?;
        Ok((self.ranked, triangles.cast()))
    }
}

/// The words for fewer points than a triangle has.
fn number_of(points: usize) -> String {
    match points {
        0 => "there is none".to_owned(),
        1 => "there is 1".to_owned(),
        count => format!("there are {count}"),
    }
}

fn find<P: Point>(
    on: &Device,
    points: &Buffer<P>,
    duplicates: Duplicates,
    ways: Ways,
) -> Result<Found> {
    if points.len() < 3 {
        return Err(no_triangle(&number_of(points.len())).into());
    }
    check_most(points.len())?;
    let bounds = rank::bounds(on, points)?;
    let ranked = on.try_stage("rank points", || rank::rank(on, points, bounds, duplicates))?;
    if ranked.order.len() < 3 {
        let places = number_of(ranked.order.len());
        return Err(no_triangle(&format!("{places} of different places")).into());
    }
    let (stars, hard) = on.stage("build stars", || stars::build(on, &ranked))?;
    let between_hard = on.stage("triangulate hard points", || {
        let are_few = hard.len() <= ways.by_gaps && hard.len() < ranked.order.len();
        let found = match are_few {
            true => gaps::fill(on, &ranked, &stars, &hard, gaps::MOST_EXACT)?,
            false => None,
        };
        match found {
            Some(found) => Ok(found),
            None => insert::insert(on, &ranked, &stars, &hard, ways.by_block),
        }
    })?;
    Ok(Found {
        ranked,
        stars,
        between_hard,
        hard_points: hard.len(),
    })
}
