//! Constrained Delaunay triangulation on a device, exact, with one result for any order of the points and the segments.
//! The kernels are in [`gpu::delaunay::constrained`], with the definition and its proof.
//!
//! ```
//! use glam::DVec2;
//! use trioxide::Device;
//! use trioxide::delaunay::constrained::{Limits, triangulate};
//!
//! # fn main() -> trioxide::Result<()> {
//! let on = Device::cpu(None)?;
//! let corners = [(0.0, 0.0), (4.0, -1.0), (4.0, 1.0), (8.0, 0.0)].map(DVec2::from);
//! let segments = on.upload(&[[0, 3]])?;
//! let limits = Limits { convex: true, ..Limits::of(&segments) };
//! let result = triangulate(&on, &on.upload(&corners)?, &limits)?;
//! // Without the segment its two triangles would have the shorter edge from 1 to 2.
//! assert_eq!(on.download_rows::<_, [u32; 3]>(result.triangles())?, [[0, 1, 3], [0, 3, 2]]);
//! assert_eq!(on.download_rows::<_, [u32; 2]>(result.pieces())?, [[0, 3]]);
//! # Ok(())
//! # }
//! ```

mod flips;
pub(super) mod pieces;
pub(super) mod select;
pub(super) mod sides;

use glam::DVec2;
use gpu::delaunay::constrained as kernel;
use gpu::ids::{HalfEdge, Item, Place, Vertex};
use trioxide_kernel::launch::Buffer;

pub use gpu::delaunay::constrained::NO_REGION;

use super::{Duplicates, Error, Ranked, Result, one_block};
use crate::device::{BitSet, Device};
use crate::half_edges::Point;
use crate::reorder::pick;

/// Segments, holes and regions of a triangulation.
#[derive(Clone, Copy)]
pub struct Limits<'a> {
    /// Vertices at the ends of segments, which differ.
    pub segments: &'a Buffer<[u32; 2]>,
    /// A point in each hole: triangles up to the segments around it are left out.
    pub holes: &'a [DVec2],
    /// A point in each region.
    pub regions: &'a [DVec2],
    /// Whether triangles outside of the segments are kept, up to the convex hull.
    pub convex: bool,
}

impl<'a> Limits<'a> {
    /// Segments alone.
    pub fn of(segments: &'a Buffer<[u32; 2]>) -> Self {
        Self {
            segments,
            holes: &[],
            regions: &[],
            convex: false,
        }
    }
}

/// A constrained Delaunay triangulation, on a device.
pub struct Constrained {
    pub(super) triangles: Buffer<Vertex>,
    pub(super) regions: Option<Buffer<u32>>,
    pub(super) pieces: Buffer<Vertex>,
    pub(super) starts: Buffer<u32>,
    pub(super) left_out: u32,
}

impl Constrained {
    /// Vertices of the triangles, three each, in the order of [`Delaunay::triangles`](super::Delaunay::triangles).
    pub fn triangles(&self) -> &Buffer<Vertex> {
        &self.triangles
    }

    /// The number of each triangle's region in [`Limits::regions`], or [`NO_REGION`]; `None` without
    /// regions. Where two points lie in one region, the first one counts.
    pub fn regions(&self) -> Option<&Buffer<u32>> {
        self.regions.as_ref()
    }

    /// Vertices of the pieces of segments that are edges of triangles, two each: segment by segment, in the direction
    /// of each.
    pub fn pieces(&self) -> &Buffer<Vertex> {
        &self.pieces
    }

    /// Where the pieces of each segment start, and the end of the last's; S + 1.
    pub fn starts(&self) -> &Buffer<u32> {
        &self.starts
    }

    /// Number of segments that lack pieces, since these lie outside of the triangles.
    pub fn left_out(&self) -> u32 {
        self.left_out
    }
}

/// A triangulation that segments change.
pub(super) struct Mesh {
    pub ranked: Ranked,
    pub corners: Buffer<Place>,
    pub twins: Buffer<HalfEdge>,
    /// The segment on which each half-edge lies.
    pub lines: Buffer<u32>,
}

impl Mesh {
    /// The parameter of kernels.
    fn parameter(&self) -> kernel::MeshBuffers<'_> {
        kernel::MeshBuffers {
            corners: &self.corners,
            twins: &self.twins,
            sorted: &self.ranked.sorted,
        }
    }

    fn triangles(&self) -> usize {
        self.corners.len() / 3
    }
}

/// Segments by the places of their ends.
pub(super) struct Segments {
    /// The number that each has in the input.
    order: Buffer<u32>,
    ends: Buffer<[u32; 2]>,
    /// Whether the ends are in reverse.
    reversed: BitSet<Item>,
}

/// Bytes that a run takes at once with its points and segments, if few points are hard and each segment crosses few
/// edges, as `trioxide bench delaunay --mesh outlines` prints.
pub fn bytes_needed(points: usize, segments: usize) -> u64 {
    206 * points as u64 + 60 * segments as u64
}

/// The constrained Delaunay triangulation of points, which are not all on a line, and segments.
///
/// # Errors
/// [`Error::Crossing`] for segments that cross each other elsewhere than at points; [`Invalid`](crate::Error::Invalid)
/// for a hole or a region on a segment or outside of the triangles, and for limits that enclose no triangle. The errors
/// of [`triangulate`](super::triangulate()), with equal points among them.
pub fn triangulate<P: Point>(
    on: &Device,
    points: &Buffer<P>,
    limits: &Limits<'_>,
) -> Result<Constrained> {
    let Limited {
        mesh,
        segments,
        mut selected,
    } = find(on, points, limits)?;
    let pieces = on.stage("list pieces", || {
        pieces::list(on, &mesh, &segments, &selected.kept)
    })?;
    let (triangles, regions) = on.stage("order triangles", || {
        let ordered = select::order(on, &mesh, &mut selected)?;
        let triangles = pick(on, mesh.ranked.order.as_words(), &ordered.corners)?;
        Ok((triangles.cast(), ordered.regions))
    })?;
    Ok(Constrained {
        triangles,
        regions,
        pieces: pieces.vertices,
        starts: pieces.starts,
        left_out: pieces.left_out,
    })
}

/// The triangulation, with what is kept of it.
pub(super) struct Limited {
    pub mesh: Mesh,
    pub segments: Segments,
    pub selected: select::Selected,
}

/// As [`triangulate`], not yet in order.
pub(super) fn find<P: Point>(
    on: &Device,
    points: &Buffer<P>,
    limits: &Limits<'_>,
) -> Result<Limited> {
    let found = super::find(on, points, Duplicates::Refuse, one_block::MOST)?;
    let (ranked, corners) = found.in_order(on)?;
    let mut mesh = on.stage("pair sides", || sides::pair(on, ranked, corners))?;
    let (segments, crossed) = on.stage("insert segments", || {
        let segments = sides::direct(on, &mesh, limits.segments)?;
        let crossed = flips::insert(on, &mut mesh, &segments)?;
        Ok((segments, crossed))
    })?;
    let changed = match crossed {
        Ok(changed) => changed,
        Err(pair) => return Err(crossing(on, points, limits, pair)?),
    };
    on.stage("restore Delaunay", || {
        flips::restore(on, &mut mesh, &segments, changed)
    })?;
    let selected = on.try_stage("select triangles", || select::select(on, &mesh, limits))?;
    Ok(Limited {
        mesh,
        segments,
        selected,
    })
}

/// The error of two segments that cross.
fn crossing<P: Point>(
    on: &Device,
    points: &Buffer<P>,
    limits: &Limits<'_>,
    segments: [u32; 2],
) -> crate::Result<Error> {
    let end = |v: u32| Ok::<_, crate::Error>(on.read(points, v as usize)?.to_f64());
    let ends = |segment: u32| {
        let [a, b] = on.read(limits.segments, segment as usize)?;
        Ok::<_, crate::Error>([end(a)?, end(b)?])
    };
    Ok(Error::Crossing {
        segments,
        ends: [ends(segments[0])?, ends(segments[1])?],
    })
}
