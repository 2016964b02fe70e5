//! Constrained Delaunay triangulation on a device, exact, with one result for any order of the points and the segments.
//! The kernels are in [`gpu::delaunay::constrained`], with the definition and its proof.
//!
//! ```
//! use glam::DVec2;
//! use trioxide::Device;
//! use trioxide::delaunay::Duplicates;
//! use trioxide::delaunay::constrained::{Limits, triangulate};
//!
//! # fn main() -> trioxide::Result<()> {
//! let on = Device::cpu(None)?;
//! let corners = [(0.0, 0.0), (4.0, -1.0), (4.0, 1.0), (8.0, 0.0)].map(DVec2::from);
//! let segments = on.upload(&[[0, 3]])?;
//! let limits = Limits { convex: true, ..Limits::of(&segments) };
//! let result = triangulate(&on, &on.upload(&corners)?, &limits, Duplicates::Refuse)?;
//! // Without the segment its two triangles would have the shorter edge from 1 to 2.
//! assert_eq!(on.download_rows::<_, [u32; 3]>(result.triangles())?, [[0, 1, 3], [0, 3, 2]]);
//! assert_eq!(on.download_rows::<_, [u32; 2]>(result.pieces())?, [[0, 3]]);
//! # Ok(())
//! # }
//! ```

mod enclosed;
mod flips;
mod inner;
pub(super) mod pieces;
pub(super) mod select;
pub(super) mod sides;

use glam::DVec2;
use gpu::delaunay::constrained as kernel;
use gpu::ids::{HalfEdge, Item, Place, Vertex};
use trioxide_kernel::NONE;
use trioxide_kernel::launch::Buffer;
use trioxide_mesh::outline::check_segment;

pub use gpu::delaunay::constrained::NO_REGION;

use super::{Duplicates, Error, Ranked, Result, Ways};
use crate::device::{BitSet, Device};
use crate::half_edges::Point;
use crate::reorder::pick;

/// Segments, holes and regions of a triangulation.
#[derive(Clone, Copy)]
pub struct Limits<'a> {
    /// Vertices at the ends of segments, which differ; their points may be equal where equal points are taken.
    pub segments: &'a Buffer<[u32; 2]>,
    /// A point in each hole: triangles up to the segments around it are left out.
    pub holes: &'a [DVec2],
    /// Whether rings nested in others are holes, too: `delaunay/constrained/inner.rs` has the rule.
    pub inner_holes: bool,
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
            inner_holes: false,
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
    pub(super) firsts: Option<Buffer<Vertex>>,
    pub(super) duplicates: usize,
    pub(super) collapsed: u32,
    pub(super) shared_regions: Vec<[u32; 2]>,
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

    /// The id of each triangle's region, where `ids` has one for each of [`Limits::regions`]; 0 without a region.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn region_ids(&self, on: &Device, ids: &[i32]) -> crate::Result<Option<Buffer<i32>>> {
        let Some(regions) = &self.regions else {
            return Ok(None);
        };
        let n = regions.len();
        let mut of_triangles = on.uninitialized(n)?;
        let ids = on.upload(ids)?;
        kernel::identify_regions::launch(on, n as u32, regions, &ids, &mut of_triangles)?;
        Ok(Some(of_triangles))
    }

    /// Vertices of the pieces of segments that are edges of triangles, two each: segment by segment, in the direction
    /// of each.
    pub fn pieces(&self) -> &Buffer<Vertex> {
        &self.pieces
    }

    /// The segment of each piece.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn parents(&self, on: &Device) -> crate::Result<Buffer<u32>> {
        let mut parents = on.uninitialized(self.pieces.len() / 2)?;
        let segments = self.starts.len() as u32 - 1;
        kernel::name_parents::launch(on, segments, &self.starts, &mut parents)?;
        Ok(parents)
    }

    /// Where the pieces of each segment start, and the end of the last's; S + 1.
    pub fn starts(&self) -> &Buffer<u32> {
        &self.starts
    }

    /// Number of segments that lack pieces, since these lie outside of the triangles.
    pub fn left_out(&self) -> u32 {
        self.left_out
    }

    /// As [`Delaunay::firsts`](super::Delaunay::firsts). A segment with an end at equal points has it at the first.
    pub fn firsts(&self) -> Option<&Buffer<Vertex>> {
        self.firsts.as_ref()
    }

    /// As [`Delaunay::duplicates`](super::Delaunay::duplicates).
    pub fn duplicates(&self) -> usize {
        self.duplicates
    }

    /// Number of segments between equal points: they have no pieces.
    pub fn collapsed(&self) -> u32 {
        self.collapsed
    }

    /// Regions in parts that regions before them have, and these.
    pub fn shared_regions(&self) -> &[[u32; 2]] {
        &self.shared_regions
    }

    /// [`Self::triangles`], [`Self::pieces`] and [`Self::firsts`].
    pub fn into_arrays(self) -> (Buffer<Vertex>, Buffer<Vertex>, Option<Buffer<Vertex>>) {
        (self.triangles, self.pieces, self.firsts)
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
    /// Number of those whose ends are one place.
    pub collapsed: u32,
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
/// for a segment without two different vertices, for a hole or a region on a segment or outside of the triangles, and
/// for limits that enclose no triangle. The errors of [`triangulate`](super::triangulate()).
pub fn triangulate<P: Point>(
    on: &Device,
    points: &Buffer<P>,
    limits: &Limits<'_>,
    duplicates: Duplicates,
) -> Result<Constrained> {
    let Limited {
        mesh,
        segments,
        mut selected,
    } = find(on, points, limits, duplicates)?;
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
        duplicates: points.len() - mesh.ranked.order.len(),
        firsts: mesh.ranked.firsts,
        collapsed: segments.collapsed,
        shared_regions: selected.shared,
    })
}

/// The triangulation, and its triangles that are kept.
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
    duplicates: Duplicates,
) -> Result<Limited> {
    check_segments(on, limits.segments, points.len())?;
    let found = super::find(on, points, duplicates, Ways::of(on))?;
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
    let selected = on.stage("select triangles", || select::select(on, &mesh, limits))?;
    let Some(selected) = selected else {
        return Err(select::why_none(on, &mesh, limits)?);
    };
    Ok(Limited {
        mesh,
        segments,
        selected,
    })
}

/// Refuses segments without two different vertices.
fn check_segments(on: &Device, segments: &Buffer<[u32; 2]>, vertices: usize) -> crate::Result<()> {
    let mut found = on.filled(1, NONE)?;
    let n = segments.len() as u32;
    kernel::check_segments::launch(on, n, segments, vertices as u32, &mut found)?;
    match on.read(&found, 0)? {
        NONE => Ok(()),
        i => check_segment(i as usize, on.read(segments, i as usize)?, vertices),
    }
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
