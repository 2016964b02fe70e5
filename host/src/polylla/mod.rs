//! GPolylla on a device: a half-edge triangulation becomes a polygonal mesh. The kernels are in `gpu::polylla`, with
//! the parts of the paper that they cover and the differences from it.
//!
//! From a file to a file:
//!
//! ```
//! # #[cfg(feature = "formats")]
//! # fn main() -> trioxide::Result<()> {
//! use trioxide::prelude::*;
//! use trioxide::{formats, polylla};
//!
//! # let input = std::env::temp_dir().join("trioxide-doc-polylla.off");
//! # let output = std::env::temp_dir().join("trioxide-doc-polygons.off");
//! let on = Device::cpu(None)?;
//! # formats::write(&input, &trioxide::generate::random(&on, 100, 1)?.into())?;
//! let mesh = formats::read(&input)?.into_triangulation()?;
//! let triangulation = DeviceTriangulation::<DVec2>::upload(&on, &mesh)?;
//! let constraints = polylla::Constraints::of(&on, &triangulation, &mesh)?;
//! let result = polylla(&on, &triangulation, constraints.as_ref(), polylla::Options::default())?;
//! let polygons = result.download_lists(&on)?;
//! let polygons = PolygonMesh { points: mesh.points, polygons, ..PolygonMesh::default() };
//! formats::write(&output, &polygons.into())?;
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "formats"))]
//! # fn main() {}
//! ```
//!
//! A surface in space, whose edges of more than 30 degrees stay:
//!
//! ```
//! use trioxide::prelude::*;
//! use trioxide::polylla::{self, Angles, Constraints};
//!
//! # fn main() -> trioxide::Result<()> {
//! let on = Device::cpu(None)?;
//! let scan = trioxide::generate::scan(1000, 1)?.into_surface()?;
//! let surface = DeviceTriangulation::<glam::DVec3>::upload(&on, &scan)?;
//! let angles = Angles { feature: Some(30.0), flatness: None };
//! let options = polylla::Options::default();
//! let constraints = Constraints::with_angles(&on, &surface, None, angles, options.ties)?;
//! let result = polylla(&on, &surface, constraints.as_ref(), options)?;
//! assert!(result.counts().polygons < surface.triangles());
//! # Ok(())
//! # }
//! ```

use gpu::ids::{HalfEdge, Polygon, Vertex};
use gpu::polylla::kernels as kernel;
use trioxide_kernel::launch::Buffer;
use trioxide_kernel::{Bits, words};

use crate::collective::{Csr, Tiled, compact, count_bits, exclusive_scan, lengths, tally_bits};
use crate::device::{BitSet, Device};
use crate::half_edges::{AnyPoint, DeviceTriangulation};
use crate::mesh::{PolyllaCounts, Ties};

mod angles;
mod constraints;
mod convex;
mod digest;
mod error;
mod fields;
mod result;
mod share;
mod short_edges;

pub use angles::{Angles, least_cosine};
pub use constraints::Constraints;
pub use convex::convex_pieces;
pub use digest::{WholeIds, digest_of_part};
pub use error::{Error, Result};
pub use fields::{PolygonTriangles, triangles_of_polygons};
pub(crate) use result::download_lists;
pub use result::{DevicePolygons, WayBack};
pub use share::{Owners, PolygonShare, Slopes, polylla_share};
pub use short_edges::{
    ShortEdgeCounts, ShortEdges, Shortened, bytes_of_short_edges, remove_short_edges,
};

/// Options of a run: further results, and the method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Split polygons that visit a vertex twice.
    pub strict: bool,
    /// Which of two equally long edges counts as longer.
    pub ties: Ties,
    /// Give `prev` too: the whole half-edge mesh. Lists of vertices do not need it.
    pub prev: bool,
    /// Give the polygons as lists of vertices.
    pub lists: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            strict: false,
            ties: Ties::Edge,
            prev: true,
            lists: true,
        }
    }
}

/// Bytes that a run takes at once with its mesh, for V points and T triangles.
///
/// A triangle's longest edge is no frontier edge unless it lies on the boundary, so there are at most 2T frontier
/// half-edges, and T / 2 seeds and polygons besides the ones at the boundary, whose number is taken for small.
pub fn bytes_needed<P: AnyPoint>(points: usize, triangles: usize, options: Options) -> u64 {
    let words = |n: usize| n * size_of::<u32>();
    let mesh = points * size_of::<P>() + words(6 * triangles);
    let bit_sets = 4 * words(3 * triangles) / 32;
    let links = words(3 * triangles) * if options.prev { 2 } else { 1 };
    let seeds = words(triangles / 2);
    let lists = words(3 * triangles) * usize::from(options.lists || options.strict);
    (mesh + bit_sets + links + seeds + lists) as u64
}

/// Makes polygons of a triangulation, of the plane or of a surface in space; without constraints only the boundary
/// stops them. [`Constraints::with_angles`] stops them at angles of a surface.
///
/// # Errors
/// [`Error::TiedRing`] when [`Ties::First`] leaves a ring of triangles without terminal edge; [`Error::OtherMesh`];
/// [`crate::Error::OutOfMemory`], or another error of the device.
pub fn polylla<P: AnyPoint>(
    on: &Device,
    mesh: &DeviceTriangulation<P>,
    constraints: Option<&Constraints>,
    options: Options,
) -> Result<DevicePolygons> {
    let (mut frontier, seed_bits) = label(on, mesh, constraints, options.ties)?;
    let mut counts = PolyllaCounts::default();
    let mut labelled = on.filled(1, 0)?;
    let seeds = on.stage("compact seeds", || {
        tally_bits(on, &frontier, &mut labelled, 0)?;
        Tiled::new(on, &seed_bits)
    })?;
    // The device goes on while the host waits for a number.
    let (seeds, (mut links, tip_bits)) =
        seeds.count_beside(on, || find_links(on, mesh, &frontier, options.prev))?;
    counts.regions = seeds.total();

    let (seeds, middles, mut found) = on.stage("repair barrier tips", || {
        let (tips, (seeds, found)) = Tiled::new(on, &tip_bits)?.count_beside(on, || {
            Ok((seeds.list(on)?, on.filled(frontier.len(), Bits::EMPTY)?))
        })?;
        let middles = mark_middles(on, mesh, &tips.list(on)?, &mut frontier)?;
        link_new_edges(on, mesh, &middles, &frontier, &mut links)?;
        Ok((seeds, middles, found))
    })?;
    counts.barrier_tips = middles.len() as u32 / 2;
    drop((seed_bits, tip_bits));

    on.stage("find polygons", || {
        for seeds in [&seeds, &middles] {
            mark_polygons(on, mesh, seeds, &frontier, &links.next, &mut found)?;
        }
        Ok(())
    })?;
    drop((seeds, middles));
    let mut half_edges = on.stage("compact polygons", || {
        let found = Tiled::new(on, &found)?;
        let (found, labelled) = found.count_beside(on, || on.read(&labelled, 0))?;
        let boundary = mesh.border().len() as u32;
        counts.frontier_edges = (labelled - boundary) / 2 + boundary;
        found.list(on)
    })?;
    if options.ties == Ties::First {
        refuse_lost_polygons(on, &links.next, &half_edges, &frontier)?;
    }
    let mut lists = None;
    if options.lists || options.strict {
        let (mut listed, weak) = list_polygons(on, mesh, &links.next, &half_edges)?;
        if options.strict {
            let labels = (&mut frontier, &mut links);
            (half_edges, listed) =
                split_weakly_simple(on, mesh, (half_edges, listed, weak), labels, &mut found)?;
        } else {
            counts.weakly_simple = weak.len() as u32;
        }
        lists = Some(listed);
    }
    counts.polygons = half_edges.len() as u32;
    Ok(DevicePolygons {
        mesh: mesh.id(),
        next: links.next,
        prev: links.prev,
        frontier,
        half_edges,
        lists,
        counts,
    })
}

/// The frontier edges and the seeds.
fn label<P: AnyPoint>(
    on: &Device,
    mesh: &DeviceTriangulation<P>,
    constraints: Option<&Constraints>,
    ties: Ties,
) -> Result<(BitSet<HalfEdge>, BitSet<HalfEdge>)> {
    let longest = label_longest(on, mesh, ties)?;
    label_frontier(on, mesh, constraints, &longest)
}

/// The longest edge of each triangle.
fn label_longest<P: AnyPoint>(
    on: &Device,
    mesh: &DeviceTriangulation<P>,
    ties: Ties,
) -> Result<BitSet<HalfEdge>> {
    let longest = on.stage("label longest edges", || {
        let mut longest = on.uninitialized(words(mesh.half_edges() as usize))?;
        let launch = match ties {
            Ties::Edge => kernel::label_longest_edges::launch::<P, true>,
            Ties::First => kernel::label_longest_edges::launch::<P, false>,
        };
        // SAFETY: half-edges and vertices of a checked triangulation.
        unsafe {
            launch(
                on,
                mesh.triangles(),
                mesh.origins(),
                mesh.points(),
                mesh.twins(),
                &mut longest,
            )
        }?;
        Ok(longest)
    })?;
    Ok(longest)
}

/// The frontier edges and the seeds, by the longest edges.
fn label_frontier<P: AnyPoint>(
    on: &Device,
    mesh: &DeviceTriangulation<P>,
    constraints: Option<&Constraints>,
    longest: &BitSet<HalfEdge>,
) -> Result<(BitSet<HalfEdge>, BitSet<HalfEdge>)> {
    let n = mesh.half_edges();
    let words = words(n as usize);
    let constrained = Constraints::edges(constraints, mesh)?;
    on.try_stage("label frontier edges", || {
        let (mut frontier, mut seeds) = (on.uninitialized(words)?, on.uninitialized(words)?);
        let none = on.uninitialized(0)?;
        let constrained = constrained.unwrap_or(&none);
        // SAFETY: a twin after the half-edges of triangles, along the boundary, is no index.
        unsafe {
            kernel::label_frontier_edges::launch(
                on,
                n,
                mesh.twins(),
                longest,
                constrained,
                &mut frontier,
                &mut seeds,
            )
        }?;
        Ok((frontier, seeds))
    })
}

/// Links between frontier half-edges around polygons; `NONE` for other half-edges.
struct Links {
    next: Buffer<HalfEdge>,
    /// May be empty.
    prev: Buffer<HalfEdge>,
}

/// The links of frontier edges before the repair, and the half-edges that end at barrier tips.
fn find_links<P: AnyPoint>(
    on: &Device,
    mesh: &DeviceTriangulation<P>,
    frontier: &Buffer<Bits<HalfEdge>>,
    with_prev: bool,
) -> crate::Result<(Links, BitSet<HalfEdge>)> {
    let n = mesh.half_edges();
    let mut links = Links {
        next: on.uninitialized(n as usize)?,
        prev: on.uninitialized(if with_prev { n as usize } else { 0 })?,
    };
    let tip_bits = on.stage("link frontier edges", || {
        let mut tips: Buffer<Bits<HalfEdge>> = on.uninitialized(frontier.len())?;
        let (next, prev) = (&mut links.next, &mut links.prev);
        // SAFETY: boundary edges are frontier edges, so that no walk leaves the triangles; every vertex has a frontier
        // edge.
        unsafe {
            kernel::link_frontier_edges::launch(
                on,
                n,
                labelled(mesh, frontier),
                next,
                prev,
                &mut tips,
            )
        }?;
        Ok(tips)
    })?;
    Ok((links, tip_bits))
}

/// Makes the middle edge of each tip a frontier edge; both half-edges of each.
fn mark_middles<P: AnyPoint>(
    on: &Device,
    mesh: &DeviceTriangulation<P>,
    tips: &Buffer<HalfEdge>,
    frontier: &mut Buffer<Bits<HalfEdge>>,
) -> crate::Result<Buffer<HalfEdge>> {
    let mut middles = on.uninitialized(2 * tips.len())?;
    let (n, twins) = (tips.len() as u32, mesh.twins());
    kernel::mark_middle_edges::launch(on, n, tips, twins, frontier, &mut middles)?;
    Ok(middles)
}

fn labelled<'a, P: AnyPoint>(
    mesh: &'a DeviceTriangulation<P>,
    frontier: &'a Buffer<Bits<HalfEdge>>,
) -> kernel::LabelledBuffers<'a> {
    kernel::LabelledBuffers {
        twins: mesh.twins(),
        frontier,
    }
}

/// Splices new frontier half-edges, which come in pairs, into the links.
fn link_new_edges<P: AnyPoint>(
    on: &Device,
    mesh: &DeviceTriangulation<P>,
    new: &Buffer<HalfEdge>,
    frontier: &Buffer<Bits<HalfEdge>>,
    links: &mut Links,
) -> crate::Result<()> {
    let edges = labelled(mesh, frontier);
    let (n, next, prev) = (new.len() as u32, &mut links.next, &mut links.prev);
    kernel::link_middle_edges::launch(on, n, new, edges, next, prev)?;
    Ok(())
}

/// Sets the bit of the smallest half-edge of each seed's polygon.
fn mark_polygons<P: AnyPoint>(
    on: &Device,
    mesh: &DeviceTriangulation<P>,
    seeds: &Buffer<HalfEdge>,
    frontier: &Buffer<Bits<HalfEdge>>,
    next: &Buffer<HalfEdge>,
    polygons: &mut Buffer<Bits<HalfEdge>>,
) -> crate::Result<()> {
    let (n, edges) = (seeds.len() as u32, labelled(mesh, frontier));
    // SAFETY: seeds are half-edges; as in `find_links`, no walk leaves the triangles, and links of frontier edges are
    // cycles.
    unsafe { kernel::mark_polygons::launch(on, n, seeds, edges, next, polygons) }?;
    Ok(())
}

/// Cuts weakly simple polygons until there is none.
///
/// `polygons` are the half-edges of all polygons, their lists, and the weakly simple ones among them; `found` has the
/// bits of these half-edges.
fn split_weakly_simple<P: AnyPoint>(
    on: &Device,
    mesh: &DeviceTriangulation<P>,
    polygons: (Buffer<HalfEdge>, Csr<Polygon, Vertex>, Buffer<Polygon>),
    (frontier, links): (&mut Buffer<Bits<HalfEdge>>, &mut Links),
    found: &mut Buffer<Bits<HalfEdge>>,
) -> crate::Result<(Buffer<HalfEdge>, Csr<Polygon, Vertex>)> {
    let (mut half_edges, mut lists, mut weak) = polygons;
    while !weak.is_empty() {
        half_edges = on.stage("cut weakly simple polygons", || {
            let cuts = cut(on, mesh, &weak, &half_edges, &lists, frontier, links)?;
            let n = weak.len() as u32;
            kernel::unmark_weakly_simple::launch(on, n, &weak, &half_edges, found)?;
            mark_polygons(on, mesh, &cuts, frontier, &links.next, found)?;
            compact(on, found)
        })?;
        (lists, weak) = list_polygons(on, mesh, &links.next, &half_edges)?;
    }
    Ok((half_edges, lists))
}

/// Cuts each weakly simple polygon once; the half-edges of the cuts, in pairs.
fn cut<P: AnyPoint>(
    on: &Device,
    mesh: &DeviceTriangulation<P>,
    weak: &Buffer<Polygon>,
    half_edges: &Buffer<HalfEdge>,
    lists: &Csr<Polygon, Vertex>,
    frontier: &mut Buffer<Bits<HalfEdge>>,
    links: &mut Links,
) -> crate::Result<Buffer<HalfEdge>> {
    let n = weak.len() as u32;
    let mut cuts = on.uninitialized(2 * weak.len())?;
    let cycles = kernel::CyclesBuffers {
        half_edges,
        next: &links.next,
    };
    let (lists, edges) = (lists.rows(), labelled(mesh, frontier));
    kernel::cut_weakly_simple::launch(on, n, weak, cycles, lists, edges, &mut cuts)?;
    kernel::mark_cuts::launch(on, 2 * n, &cuts, frontier)?;
    link_new_edges(on, mesh, &cuts, frontier, links)?;
    Ok(cuts)
}

/// Every frontier half-edge bounds a polygon that a seed found, unless ties left a region without one.
fn refuse_lost_polygons(
    on: &Device,
    next: &Buffer<HalfEdge>,
    half_edges: &Buffer<HalfEdge>,
    frontier: &Buffer<Bits<HalfEdge>>,
) -> Result<()> {
    let mut sizes = on.uninitialized(half_edges.len())?;
    count_vertices(on, next, half_edges, &mut sizes)?;
    let listed = exclusive_scan(on, &mut sizes)?;
    match on.read(&listed, 0)? == count_bits(on, frontier)? {
        true => Ok(()),
        false => Err(Error::TiedRing),
    }
}

/// Number of vertices of each polygon.
fn count_vertices(
    on: &Device,
    next: &Buffer<HalfEdge>,
    half_edges: &Buffer<HalfEdge>,
    counts: &mut Buffer<u32>,
) -> crate::Result<()> {
    let cycles = kernel::CyclesBuffers { half_edges, next };
    kernel::count_vertices::launch(on, half_edges.len() as u32, cycles, counts)?;
    Ok(())
}

/// The polygons as lists, and the list of polygons that visit a vertex more than once.
fn list_polygons<P: AnyPoint>(
    on: &Device,
    mesh: &DeviceTriangulation<P>,
    next: &Buffer<HalfEdge>,
    half_edges: &Buffer<HalfEdge>,
) -> crate::Result<(Csr<Polygon, Vertex>, Buffer<Polygon>)> {
    on.stage("list polygons", || {
        let mut offsets = lengths(on, half_edges.len())?;
        count_vertices(on, next, half_edges, &mut offsets)?;
        exclusive_scan(on, &mut offsets)?;
        let total = on.read(&offsets, half_edges.len())?;
        let mut vertices = on.uninitialized(total as usize)?;
        let mut weak: Buffer<Bits<Polygon>> = on.uninitialized(words(half_edges.len()))?;
        let cycles = kernel::CyclesBuffers { half_edges, next };
        // SAFETY: each polygon writes to the place between its offsets, which are scanned counts of its vertices.
        unsafe {
            kernel::write_polygons::launch(
                on,
                half_edges.len() as u32,
                cycles,
                mesh.origins(),
                &offsets,
                &mut vertices,
                &mut weak,
            )
        }?;
        let weak = compact(on, &weak)?;
        // SAFETY: scanned counts, the end of the last among them.
        Ok((unsafe { Csr::from_parts(offsets, vertices) }, weak))
    })
}
