//! Short edges of polygons collapse. The definition and its proofs are in `gpu::polylla::short_edges`.

use gpu::ids::{Corner, Item, Polygon, Vertex};
use gpu::polylla::kernels as kernel;
use trioxide_kernel::launch::Buffer;
use trioxide_kernel::{Bits, NONE, words};

use super::{Constraints, DevicePolygons, Error, Result, list_polygons};
use crate::collective::{Csr, compact, count_bits, exclusive_scan, lengths};
use crate::device::{BitSet, Device};
use crate::half_edges::{DeviceTriangulation, Point};
use crate::mesh::Polygons;
use crate::reorder::pick;

/// Edges that are short, and vertices that stay.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ShortEdges<'a> {
    /// An edge is short below this part of the diameter of a polygon beside it: the greatest distance of two vertices.
    pub ratio: f64,
    /// Keep convex polygons convex.
    pub keeps_convex: bool,
    /// Vertices that stay where they are, besides the ends of constrained edges.
    pub pinned: &'a [u32],
}

/// Numbers of edges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShortEdgeCounts {
    /// Short edges before.
    pub short: u32,
    /// Vertices that are gone, each along a short edge.
    pub removed: u32,
    /// Short edges that are left.
    pub left: u32,
    /// Short edges that are left since the border, constrained edges or pins hold both ends; a polygon would not stay
    /// simple, or convex, without the others.
    pub held: u32,
}

/// Polygons without the edges that collapsed, on a device.
pub struct Shortened {
    lists: Csr<Polygon, Vertex>,
    parents: Buffer<Vertex>,
    counts: ShortEdgeCounts,
}

impl Shortened {
    /// The vertices of each polygon, by their ids before; the order of the polygons, and where each begins, is that of
    /// before, less the vertices that are gone.
    pub fn lists(&self) -> &Csr<Polygon, Vertex> {
        &self.lists
    }

    /// The polygons as lists, in host memory.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn download_lists(&self, on: &Device) -> Result<Polygons> {
        on.try_stage("copy to the host", || {
            Ok(super::download_lists(on, &self.lists)?)
        })
    }

    /// For each vertex itself, or the vertex that took its place; V.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn download_places(&self, on: &Device) -> Result<Vec<u32>> {
        let parents: Vec<u32> = on.download_rows(&self.parents)?;
        let place = |v: u32| {
            let mut place = v;
            while parents[place as usize] != NONE {
                place = parents[place as usize];
            }
            place
        };
        Ok((0..parents.len() as u32).map(place).collect())
    }

    /// Numbers of edges.
    pub fn counts(&self) -> ShortEdgeCounts {
        self.counts
    }
}

/// Bytes that a run takes besides the mesh and its polygons, for T triangles.
pub fn bytes_of_short_edges(points: usize, triangles: usize) -> u64 {
    // At most 2T sides: a vertex, three links, a polygon and a half-edge of each; a move, an edge; a place of each
    // half-edge.
    8 * points as u64 + 2 * triangles as u64 * 32 + 3 * triangles as u64 * 4
}

/// Collapses short edges of polygons of the plane, where all polygons stay simple. No vertex moves; the border, edges
/// that `constraints` hold, and regions keep their place.
///
/// ```
/// use trioxide::prelude::*;
/// use trioxide::polylla::{self, ShortEdges, remove_short_edges};
///
/// # fn main() -> trioxide::Result<()> {
/// let on = Device::cpu(None)?;
/// let mesh = trioxide::generate::random(&on, 1000, 1)?;
/// let mesh = DeviceTriangulation::<DVec2>::upload(&on, &mesh)?;
/// let options = polylla::Options { strict: true, ..Default::default() };
/// let polygons = polylla(&on, &mesh, None, options)?;
/// let short = ShortEdges { ratio: 0.1, ..ShortEdges::default() };
/// let counts = remove_short_edges(&on, &mesh, &polygons, None, short)?.counts();
/// assert!(counts.short > 0 && counts.left < counts.short);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`Error::WeaklySimple`] for polygons that visit a vertex twice; [`Error::NoLists`]; [`Error::OtherMesh`];
/// [`Error::Pinned`]; errors of the device.
pub fn remove_short_edges<P: Point>(
    on: &Device,
    mesh: &DeviceTriangulation<P>,
    polygons: &DevicePolygons,
    constraints: Option<&Constraints>,
    short: ShortEdges<'_>,
) -> Result<Shortened> {
    if polygons.mesh != mesh.id() {
        return Err(Error::OtherMesh {
            arrays: "the polygons",
        });
    }
    let lists = polygons.lists.as_ref().ok_or(Error::NoLists)?;
    if polygons.counts.weakly_simple > 0 {
        let (_, weak) = list_polygons(on, mesh, &polygons.next, &polygons.half_edges)?;
        if !weak.is_empty() {
            let polygon = on.read(weak.as_words(), 0)?;
            return Err(Error::WeaklySimple { polygon });
        }
    }
    let vertices = mesh.points().len();
    if let Some(&vertex) = short.pinned.iter().find(|&&v| v as usize >= vertices) {
        return Err(Error::Pinned { vertex, vertices });
    }
    let (mut sides, edges) = on.try_stage("link sides", || {
        Sides::new(on, mesh, polygons, lists, constraints, short.pinned)
    })?;
    on.try_stage("remove short edges", || {
        let mut counts = ShortEdgeCounts::default();
        let mut all = on.uninitialized(lists.keys())?;
        gpu::forms::count_up::launch(on, lists.keys() as u32, &mut all)?;
        sides.measure(on, mesh, lists, &all.cast())?;
        [counts.short, _] = sides.count_short(on, mesh, short.ratio)?;
        let mut parents = on.filled(vertices, Vertex::NONE)?;
        counts.removed = sides.collapse(on, mesh, (lists, edges), short, &mut parents)?;
        [counts.left, counts.held] = sides.count_short(on, mesh, short.ratio)?;
        Ok(Shortened {
            lists: sides.lists(on, lists)?,
            parents,
            counts,
        })
    })
}

/// The sides of polygons, as [`gpu::polylla::short_edges`] has them.
struct Sides {
    origins: Buffer<Vertex>,
    nexts: Buffer<Corner>,
    prevs: Buffer<Corner>,
    twins: Buffer<Corner>,
    owners: Buffer<Polygon>,
    fixed: BitSet<Corner>,
    degrees: Buffer<u32>,
    diameters: Buffer<f64>,
}

impl Sides {
    /// Links sides; also returns the edges, each by its lower side.
    fn new<P: Point>(
        on: &Device,
        mesh: &DeviceTriangulation<P>,
        polygons: &DevicePolygons,
        lists: &Csr<Polygon, Vertex>,
        constraints: Option<&Constraints>,
        pinned: &[u32],
    ) -> Result<(Self, BitSet<Corner>)> {
        let (count, vertices) = (lists.items().len(), mesh.points().len());
        let none = on.uninitialized(0)?;
        let constrained = Constraints::edges(constraints, mesh)?.unwrap_or(&none);
        let mut degrees = vec![0; if pinned.is_empty() { 0 } else { vertices }];
        // More than the two with which a vertex may move along a line.
        pinned.iter().for_each(|&v| degrees[v as usize] = 3);
        let mut degrees = match pinned.is_empty() {
            true => on.filled(vertices, 0)?,
            false => on.upload(&degrees)?,
        };
        let mut places = on.uninitialized(mesh.half_edges() as usize)?;
        let mut half_edges = on.uninitialized(count)?;
        let (mut nexts, mut prevs) = (on.uninitialized(count)?, on.uninitialized(count)?);
        let mut owners = on.uninitialized(count)?;
        let cycles = kernel::CyclesBuffers {
            half_edges: &polygons.half_edges,
            next: &polygons.next,
        };
        kernel::link_sides_of_polygons::launch(
            on,
            lists.keys() as u32,
            cycles,
            lists.offsets(),
            &mut places,
            &mut half_edges,
            &mut nexts,
            &mut prevs,
            &mut owners,
        )?;
        let mut twins = on.uninitialized(count)?;
        let (mut fixed, mut edges) = (
            on.uninitialized(words(count))?,
            on.uninitialized(words(count))?,
        );
        kernel::pair_linked_sides::launch(
            on,
            count as u32,
            &half_edges,
            mesh.twins(),
            constrained,
            &places,
            &nexts,
            lists.items(),
            &mut twins,
            &mut degrees,
            &mut fixed,
            &mut edges,
        )?;
        let sides = Self {
            origins: on.duplicate(lists.items())?,
            nexts,
            prevs,
            twins,
            owners,
            fixed,
            degrees,
            diameters: on.uninitialized(lists.keys())?,
        };
        Ok((sides, edges))
    }

    fn buffers(&self) -> kernel::SidesBuffers<'_> {
        kernel::SidesBuffers {
            origins: &self.origins,
            nexts: &self.nexts,
            prevs: &self.prevs,
            twins: &self.twins,
            owners: &self.owners,
        }
    }

    fn outlines<'a, P: Point>(
        &'a self,
        mesh: &'a DeviceTriangulation<P>,
        ratio: f64,
    ) -> kernel::OutlinesBuffers<'a, P> {
        kernel::OutlinesBuffers {
            sides: self.buffers(),
            points: mesh.points(),
            fixed: &self.fixed,
            degrees: &self.degrees,
            diameters: &self.diameters,
            ratio_squared: ratio * ratio,
        }
    }

    /// Measures the diameters of some polygons.
    fn measure<P: Point>(
        &mut self,
        on: &Device,
        mesh: &DeviceTriangulation<P>,
        lists: &Csr<Polygon, Vertex>,
        polygons: &Buffer<Polygon>,
    ) -> Result<()> {
        kernel::measure_diameters::launch(
            on,
            polygons.len() as u32,
            polygons,
            lists.offsets(),
            &self.origins,
            mesh.points(),
            &mut self.diameters,
        )?;
        Ok(())
    }

    /// Numbers of short edges, and of short edges neither of whose ends may leave.
    fn count_short<P: Point>(
        &self,
        on: &Device,
        mesh: &DeviceTriangulation<P>,
        ratio: f64,
    ) -> Result<[u32; 2]> {
        let n = self.origins.len();
        let mut short: BitSet<Corner> = on.uninitialized(words(n))?;
        let mut held: BitSet<Corner> = on.uninitialized(words(n))?;
        let outlines = self.outlines(mesh, ratio);
        kernel::find_short_edges::launch(on, n as u32, outlines, &mut short, &mut held)?;
        Ok([count_bits(on, &short)?, count_bits(on, &held)?])
    }

    /// Collapses edges in rounds, of which the first judges `edges`; returns their number.
    fn collapse<P: Point>(
        &mut self,
        on: &Device,
        mesh: &DeviceTriangulation<P>,
        (lists, mut edges): (&Csr<Polygon, Vertex>, BitSet<Corner>),
        short: ShortEdges<'_>,
        parents: &mut Buffer<Vertex>,
    ) -> Result<u32> {
        let polygons = lists.keys();
        let mut removed = 0;
        loop {
            let judged = compact(on, &edges)?;
            let n = judged.len() as u32;
            let mut moves = on.uninitialized(judged.len())?;
            let mut least: Buffer<u64> = on.filled(2 * polygons, NONE)?.cast();
            let outlines = self.outlines(mesh, short.ratio);
            let are_convex = short.keeps_convex;
            kernel::judge_short_edges::launch(
                on, n, &judged, outlines, are_convex, &mut moves, &mut least,
            )?;
            edges = on.filled(edges.len(), Bits::EMPTY)?;
            let mut chosen: BitSet<Item> = on.uninitialized(words(judged.len()))?;
            kernel::choose_short_edges::launch(
                on,
                n,
                &judged,
                &moves,
                self.buffers(),
                &least,
                &mut edges,
                &mut chosen,
            )?;
            let collapses = count_bits(on, &chosen)?;
            // A ready edge has the least key of all.
            if collapses == 0 {
                return Ok(removed);
            }
            removed += collapses;
            let mut changed: BitSet<Polygon> = on.filled(words(polygons), Bits::EMPTY)?;
            let sides = kernel::MovingSidesBuffers {
                origins: &mut self.origins,
                nexts: &mut self.nexts,
                prevs: &mut self.prevs,
            };
            kernel::collapse_short_edges::launch(
                on,
                n,
                &judged,
                &moves,
                &chosen,
                sides,
                &self.twins,
                &self.owners,
                parents,
                &mut changed,
            )?;
            let changed = compact(on, &changed)?;
            self.measure(on, mesh, lists, &changed)?;
            let n = changed.len() as u32;
            let (offsets, sides) = (lists.offsets(), self.buffers());
            kernel::mark_edges_around::launch(on, n, &changed, offsets, sides, &mut edges)?;
        }
    }

    /// The lists of vertices that are left.
    fn lists(&self, on: &Device, before: &Csr<Polygon, Vertex>) -> Result<Csr<Polygon, Vertex>> {
        let n = self.origins.len();
        let mut left: BitSet<Corner> = on.uninitialized(words(n))?;
        kernel::is_side_left::launch(on, n as u32, &self.origins, &mut left)?;
        let left = compact(on, &left)?;
        let vertices = pick(on, self.origins.as_words(), &left)?.cast();
        let mut offsets = lengths(on, before.keys())?;
        let (n, starts) = (before.keys() as u32, before.offsets());
        kernel::count_sides_left::launch(on, n, starts, &self.origins, &mut offsets)?;
        exclusive_scan(on, &mut offsets)?;
        // SAFETY: scanned counts of the sides that are left.
        Ok(unsafe { Csr::from_parts(offsets, vertices) })
    }
}
