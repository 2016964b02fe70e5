//! GPolylla on a device: a half-edge triangulation becomes a polygonal mesh. The kernels, what they cover of the paper and
//! how they differ from it are in `gpu::polylla`.

use gpu::polylla as kernel;
use trioxide_kernel::launch::Buffer;

use crate::backend::Device;
use crate::collective::{bucket, compact, count_bits, exclusive_scan};
use crate::half_edges::{DeviceTriangulation, Point};
use crate::mesh::{NONE, Polygons, PolyllaCounts, PolyllaMesh, Ties, Triangulation};
use crate::{Error, Result};

/// What a run gives beyond its counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Split polygons that visit a vertex twice.
    pub strict: bool,
    /// Which of two equally long edges counts as longer.
    pub ties: Ties,
    /// Give `prev` too: the whole half-edge mesh. Lists of vertices do without.
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

/// Edges that no polygon may cross, besides the boundary: a bit for each half-edge; empty for none.
pub struct Constraints(pub(crate) Buffer<u32>);

impl Constraints {
    /// No constraint.
    ///
    /// # Errors
    /// Those of the device.
    pub fn none(on: &Device) -> Result<Self> {
        on.uninitialized(0).map(Self)
    }

    /// The edges between triangles of different regions, and the segments of `of`, whose half-edges are `mesh`.
    ///
    /// # Errors
    /// [`Error::Invalid`] when a segment is no edge of the triangulation.
    pub fn new<P: Point>(
        on: &Device,
        mesh: &DeviceTriangulation<P>,
        of: &Triangulation,
    ) -> Result<Self> {
        if of.regions.is_none() && of.segments.is_empty() {
            return Self::none(on);
        }
        on.stage("mark constraints", || {
            let n = mesh.half_edges();
            let mut bits = on.filled(n.div_ceil(32) as usize, 0)?;
            if let Some(regions) = &of.regions {
                let regions = on.upload(bytemuck::cast_slice::<i32, u32>(regions))?;
                unsafe {
                    kernel::mark_region_borders::launch(on, n, &mesh.twins, &regions, &mut bits)
                }?;
            }
            if !of.segments.is_empty() {
                let ends: Vec<[u32; 2]> = of.segments.iter().map(|segment| segment.ends).collect();
                if let Some(i) = ends
                    .iter()
                    .position(|ends| ends.iter().any(|&v| v as usize >= of.points.len()))
                {
                    return Err(Error::Invalid {
                        element: format!("segment {i}"),
                        rule: "has a vertex index that is out of range".to_owned(),
                    });
                }
                let ends = on.upload(bytemuck::cast_slice::<_, u32>(&ends))?;
                let around = bucket(on, &mesh.origins, of.points.len())?;
                let mut found = on.filled(1, NONE)?;
                unsafe {
                    kernel::mark_segments::launch(
                        on,
                        ends.len() as u32 / 2,
                        &ends,
                        &mesh.origins,
                        &mesh.twins,
                        &around.offsets,
                        &around.items,
                        &mut bits,
                        &mut found,
                    )
                }?;
                let missing = on.read(&found, 0)?;
                if missing != NONE {
                    let [a, b] = of.segments[missing as usize].ends;
                    return Err(Error::Invalid {
                        element: format!("segment {missing}, from vertex {a} to vertex {b},"),
                        rule: "is no edge of the triangulation".to_owned(),
                    });
                }
            }
            Ok(Self(bits))
        })
    }
}

/// A polygonal mesh on a device, over the half-edges of the triangulation that it was made from: P polygons.
pub struct DevicePolygons {
    /// Next half-edge around the polygon, `NONE` inside of polygons; 3T.
    pub next: Buffer<u32>,
    /// Previous half-edge around the polygon, `NONE` inside of polygons; 3T, or empty.
    pub prev: Buffer<u32>,
    /// A bit for each half-edge that bounds a polygon; 3T bits.
    pub frontier: Buffer<u32>,
    /// Smallest half-edge of each polygon, ascending; P.
    pub half_edges: Buffer<u32>,
    /// Polygons as lists of vertices.
    pub lists: Option<DeviceLists>,
    /// Counts of the run.
    pub counts: PolyllaCounts,
}

/// Polygons as lists of vertices on a device.
pub struct DeviceLists {
    /// Start of each polygon in `vertices`, and the end of the last; P + 1.
    pub offsets: Buffer<u32>,
    /// Vertices of each polygon, from the origin of its smallest half-edge.
    pub vertices: Buffer<u32>,
}

/// Bytes that a run takes at once with its mesh, for V points and T triangles.
///
/// A triangle's longest edge is no frontier edge unless it lies on the boundary, so there are at most 2T frontier
/// half-edges and T / 2 seeds and polygons besides those of the boundary, which is taken for small.
pub fn bytes_needed<P: Point>(points: usize, triangles: usize, options: Options) -> u64 {
    let words = |n: usize| n * size_of::<u32>();
    let mesh = points * size_of::<P>() + words(6 * triangles);
    let bit_sets = 4 * words(3 * triangles) / 32;
    let links = words(3 * triangles) * if options.prev { 2 } else { 1 };
    let seeds = words(triangles / 2);
    let lists = words(3 * triangles) * usize::from(options.lists || options.strict);
    (mesh + bit_sets + links + seeds + lists) as u64
}

/// Makes polygons of a triangulation.
///
/// # Errors
/// [`Error::Invalid`] when [`Ties::First`] leaves a ring of triangles without terminal edge; [`Error::OutOfMemory`], or
/// what the device reports.
pub fn polylla<P: Point>(
    on: &Device,
    mesh: &DeviceTriangulation<P>,
    constraints: &Constraints,
    options: Options,
) -> Result<DevicePolygons> {
    let n = mesh.half_edges();
    let words = n.div_ceil(32) as usize;
    let prev_len = if options.prev { n as usize } else { 0 };
    let mut counts = PolyllaCounts::default();

    // Label phase.
    let longest = on.stage("label longest edges", || {
        let mut longest = on.uninitialized(words)?;
        unsafe {
            kernel::label_longest_edges::launch(
                on,
                n / 3,
                &mesh.origins,
                &mesh.points,
                &mesh.twins,
                u32::from(options.ties == Ties::Edge),
                &mut longest,
            )
        }?;
        Ok(longest)
    })?;
    let (mut frontier, seed_bits) = on.stage("label frontier and seed edges", || {
        let (mut frontier, mut seeds) = (on.uninitialized(words)?, on.uninitialized(words)?);
        unsafe {
            kernel::label_frontier_edges::launch(
                on,
                n,
                &mesh.twins,
                &longest,
                &constraints.0,
                &mut frontier,
                &mut seeds,
            )
        }?;
        Ok((frontier, seeds))
    })?;
    drop(longest);
    let seeds = on.stage("compact seeds", || {
        let labelled = count_bits(on, &frontier)?;
        let boundary = mesh.border.len() as u32;
        counts.frontier_edges = (labelled - boundary) / 2 + boundary;
        compact(on, &seed_bits)
    })?;
    drop(seed_bits);
    counts.regions = seeds.len() as u32;

    // Links, and their repair at barrier tips.
    let (mut next, mut prev) = (on.uninitialized(n as usize)?, on.uninitialized(prev_len)?);
    let tip_bits = on.stage("change attributes", || {
        let mut tips = on.uninitialized(words)?;
        unsafe {
            kernel::link_frontier_edges::launch(
                on,
                n,
                &mesh.twins,
                &frontier,
                &mut next,
                &mut prev,
                &mut tips,
            )
        }?;
        Ok(tips)
    })?;
    let middles = on.stage("repair barrier tips", || {
        let tips = compact(on, &tip_bits)?;
        counts.barrier_tips = tips.len() as u32;
        let mut middles = on.uninitialized(2 * tips.len())?;
        unsafe {
            kernel::mark_middle_edges::launch(
                on,
                tips.len() as u32,
                &tips,
                &mesh.twins,
                &mut frontier,
                &mut middles,
            )
        }?;
        link_new_edges(on, mesh, &middles, &frontier, &mut next, &mut prev)?;
        Ok(middles)
    })?;
    drop(tip_bits);

    // Polygons.
    let mut polygon_bits = on.filled(words, 0)?;
    on.stage("find polygons", || {
        for seeds in [&seeds, &middles] {
            unsafe {
                kernel::mark_polygons::launch(
                    on,
                    seeds.len() as u32,
                    seeds,
                    &mesh.twins,
                    &frontier,
                    &next,
                    &mut polygon_bits,
                )
            }?;
        }
        Ok(())
    })?;
    drop((seeds, middles));
    let mut half_edges = on.stage("compact polygons", || compact(on, &polygon_bits))?;
    if options.ties == Ties::First {
        refuse_lost_polygons(on, &next, &half_edges, &frontier)?;
    }
    let mut lists = None;
    if options.lists || options.strict {
        let (mut listed, mut weak) = list_polygons(on, mesh, &next, &half_edges)?;
        counts.weakly_simple = weak.len() as u32;
        while options.strict && !weak.is_empty() {
            on.stage("cut weakly simple polygons", || {
                let count = weak.len() as u32;
                let mut cuts = on.uninitialized(2 * weak.len())?;
                unsafe {
                    kernel::cut_weakly_simple::launch(
                        on,
                        count,
                        &weak,
                        &half_edges,
                        &listed.offsets,
                        &listed.vertices,
                        &next,
                        &mesh.twins,
                        &frontier,
                        &mut cuts,
                    )
                }?;
                unsafe { kernel::mark_cuts::launch(on, 2 * count, &cuts, &mut frontier) }?;
                link_new_edges(on, mesh, &cuts, &frontier, &mut next, &mut prev)?;
                unsafe {
                    kernel::mark_polygons::launch(
                        on,
                        2 * count,
                        &cuts,
                        &mesh.twins,
                        &frontier,
                        &next,
                        &mut polygon_bits,
                    )
                }?;
                half_edges = compact(on, &polygon_bits)?;
                Ok(())
            })?;
            (listed, weak) = list_polygons(on, mesh, &next, &half_edges)?;
        }
        lists = Some(listed);
    }
    counts.polygons = half_edges.len() as u32;
    Ok(DevicePolygons {
        next,
        prev,
        frontier,
        half_edges,
        lists,
        counts,
    })
}

/// Every frontier half-edge bounds a polygon that a seed found, unless ties left a region without one.
fn refuse_lost_polygons(
    on: &Device,
    next: &Buffer<u32>,
    half_edges: &Buffer<u32>,
    frontier: &Buffer<u32>,
) -> Result<()> {
    let mut sizes = on.uninitialized(half_edges.len())?;
    unsafe {
        kernel::count_vertices::launch(on, half_edges.len() as u32, half_edges, next, &mut sizes)
    }?;
    let listed = exclusive_scan(on, &mut sizes)?;
    if on.read(&listed, 0)? == count_bits(on, frontier)? {
        return Ok(());
    }
    Err(Error::Invalid {
        element: "a ring of triangles".to_owned(),
        rule: "with equally long edges has no terminal edge when ties go to the first edge: use --ties edge".to_owned(),
    })
}

/// Splices new frontier half-edges, which come in pairs, into the links.
fn link_new_edges<P: Point>(
    on: &Device,
    mesh: &DeviceTriangulation<P>,
    new: &Buffer<u32>,
    frontier: &Buffer<u32>,
    next: &mut Buffer<u32>,
    prev: &mut Buffer<u32>,
) -> Result<()> {
    unsafe {
        kernel::link_middle_edges::launch(
            on,
            new.len() as u32,
            new,
            &mesh.twins,
            frontier,
            next,
            prev,
        )
    }?;
    Ok(())
}

/// The polygons as lists, and the list of those that visit a vertex more than once.
fn list_polygons<P: Point>(
    on: &Device,
    mesh: &DeviceTriangulation<P>,
    next: &Buffer<u32>,
    half_edges: &Buffer<u32>,
) -> Result<(DeviceLists, Buffer<u32>)> {
    let polygons = half_edges.len() as u32;
    on.stage("list polygons", || {
        // Scanned, the element behind the last polygon's is the end of all, whatever it held before.
        let mut offsets = on.uninitialized(half_edges.len() + 1)?;
        unsafe { kernel::count_vertices::launch(on, polygons, half_edges, next, &mut offsets) }?;
        exclusive_scan(on, &mut offsets)?;
        let total = on.read(&offsets, half_edges.len())?;
        let mut vertices = on.uninitialized(total as usize)?;
        let mut weak = on.uninitialized(half_edges.len().div_ceil(32))?;
        unsafe {
            kernel::write_polygons::launch(
                on,
                polygons,
                half_edges,
                next,
                &mesh.origins,
                &offsets,
                &mut vertices,
                &mut weak,
            )
        }?;
        let weak = compact(on, &weak)?;
        Ok((DeviceLists { offsets, vertices }, weak))
    })
}

impl DevicePolygons {
    /// The polygons as lists, in host memory.
    ///
    /// # Errors
    /// Those of the device.
    pub fn download_lists(&self, on: &Device) -> Result<Polygons> {
        let lists = self.lists.as_ref().expect("options.lists");
        on.stage("copy to the host", || {
            Ok(Polygons {
                offsets: on.download(&lists.offsets)?,
                vertices: on.download(&lists.vertices)?,
            })
        })
    }

    /// The whole result in host memory; border half-edges keep their place along the boundary.
    ///
    /// # Errors
    /// Those of the device.
    pub fn download<P: Point>(
        &self,
        on: &Device,
        mesh: &DeviceTriangulation<P>,
    ) -> Result<PolyllaMesh> {
        let mut next = on.download(&self.next)?;
        let mut prev = on.download(&self.prev)?;
        next.extend(on.download(&mesh.border_next)?);
        if self.prev.len() == self.next.len() {
            prev.extend(on.download(&mesh.border_prev)?);
        }
        Ok(PolyllaMesh {
            next,
            prev,
            half_edges: on.download(&self.half_edges)?,
            polygons: self.download_lists(on)?,
            counts: self.counts,
        })
    }
}
