//! Indexed Polylla on a device: polygons from arrays of triangles and neighbours. The kernels, what they cover of the
//! paper and how they differ from it are in `gpu::indexed`.

use gpu::indexed as kernel;
use trioxide_kernel::launch::Buffer;

use crate::backend::Device;
use crate::collective::{compact, count_bits, exclusive_scan};
use crate::half_edges::{DeviceTriangulation, Point};
use crate::mesh::{Polygons, PolyllaCounts, PolyllaLists, Ties};
use crate::polylla::{Constraints, DeviceLists};
use crate::reference::indexed as reference;
use crate::{Error, Result};

/// Where polygons with barrier tips are repaired.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Repair {
    /// On the device, in rounds.
    #[default]
    Device,
    /// On the host, one after the other: the paper's mixed version.
    Host,
}

/// How to run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Which of two equally long edges counts as longer.
    pub ties: Ties,
    /// Where polygons are repaired.
    pub repair: Repair,
}

/// The arrays that triangles and their half-edges do not hold yet: T triangles, V vertices.
pub struct Neighbours {
    /// Triangle across each edge, `NONE` on the boundary; 3T.
    pub neighbours: Buffer<u32>,
    /// Smallest triangle at each vertex, `NONE` if there is none; V.
    pub trivertex: Buffer<u32>,
}

impl Neighbours {
    /// The neighbours in `mesh`.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new<P: Point>(on: &Device, mesh: &DeviceTriangulation<P>) -> Result<Self> {
        let first = mesh.half_edges_of_vertices(on)?;
        on.stage("find neighbours", || {
            let mut neighbours = on.uninitialized(mesh.twins.len())?;
            unsafe {
                kernel::find_neighbours::launch(on, mesh.half_edges(), &mesh.twins, &mut neighbours)
            }?;
            let mut trivertex = on.uninitialized(first.len())?;
            unsafe {
                kernel::find_trivertex::launch(on, first.len() as u32, &first, &mut trivertex)
            }?;
            Ok(Self {
                neighbours,
                trivertex,
            })
        })
    }
}

/// A polygonal mesh on a device: P polygons.
pub struct DevicePolygonLists {
    /// Smallest half-edge of each polygon, ascending; P.
    pub half_edges: Buffer<u32>,
    /// Vertices of each polygon, from the origin of its smallest half-edge.
    pub lists: DeviceLists,
    /// Counts of the run.
    pub counts: PolyllaCounts,
    /// Rounds of the repair on the device.
    pub rounds: u32,
}

/// Polygons as the paper stores them, on a device: P polygons, some of them broken.
struct PolygonArrays {
    /// Smallest half-edge of each polygon; P.
    starts: Buffer<u32>,
    /// Where each polygon begins in `mesh`; P, and on the way the end of the last.
    positions: Buffer<u32>,
    /// Number of vertices of each polygon, and behind it its vertices.
    mesh: Buffer<u32>,
    /// Polygons that are split later, a bit each; P bits, or empty for none.
    broken_bits: Buffer<u32>,
}

/// Bytes that a run takes at once with its mesh, for V points and T triangles.
///
/// As in [`crate::polylla::bytes_needed`], at most 2T frontier half-edges and T / 2 polygons are counted on.
pub fn bytes_needed<P: Point>(points: usize, triangles: usize) -> u64 {
    let words = |n: usize| n * size_of::<u32>();
    let mesh = points * size_of::<P>() + words(6 * triangles);
    let arrays = words(3 * triangles + points);
    // The Mesh array and the lists, each with what starts at half a triangle: starts, positions, lengths; offsets.
    let polygons = words(2 * triangles + 3 * triangles / 2) + words(2 * triangles + triangles);
    let bit_sets = 3 * words(3 * triangles) / 32;
    (mesh + arrays + polygons + bit_sets) as u64
}

/// Makes polygons of a triangulation, whose neighbours are `arrays`.
///
/// # Errors
/// [`Error::Invalid`] when [`Ties::First`] leaves a ring of triangles without terminal edge; [`Error::OutOfMemory`], or
/// what the device reports.
pub fn indexed<P: Point>(
    on: &Device,
    mesh: &DeviceTriangulation<P>,
    arrays: &Neighbours,
    constraints: &Constraints,
    options: Options,
) -> Result<DevicePolygonLists> {
    let n = mesh.half_edges();
    let triangles = n / 3;
    let Neighbours { neighbours, .. } = arrays;
    let mut counts = PolyllaCounts::default();

    // Label phase.
    let max = on.stage("label max", || {
        let mut max = on.uninitialized((2 * triangles as usize).div_ceil(32))?;
        unsafe {
            kernel::label_max::launch(
                on,
                triangles,
                &mesh.origins,
                &mesh.points,
                neighbours,
                u32::from(options.ties == Ties::Edge),
                &mut max,
            )
        }?;
        Ok(max)
    })?;
    let seeds = on.stage("label seeds", || {
        let mut seeds = on.uninitialized(triangles.div_ceil(32) as usize)?;
        unsafe {
            kernel::label_seed::launch(on, triangles, neighbours, &max, &constraints.0, &mut seeds)
        }?;
        compact(on, &seeds)
    })?;
    counts.regions = seeds.len() as u32;
    let mut frontier = on.stage("label frontier", || {
        let mut frontier = on.uninitialized(n.div_ceil(32) as usize)?;
        unsafe {
            kernel::label_frontier::launch(on, n, neighbours, &max, &constraints.0, &mut frontier)
        }?;
        Ok(frontier)
    })?;

    // Traversal phase.
    let (polygons, broken) = on.stage("traversal", || {
        let labelled = count_bits(on, &frontier)?;
        let boundary = mesh.border.len() as u32;
        counts.frontier_edges = (labelled - boundary) / 2 + boundary;
        traverse(on, mesh, neighbours, &max, &seeds, &frontier, labelled)
    })?;
    drop((max, seeds));

    // Reparation phase.
    let mut all = vec![polygons];
    let mut rounds = 0;
    if !broken.is_empty() {
        on.stage("reparation", || {
            (counts.barrier_tips, rounds) = match options.repair {
                Repair::Device => {
                    repair_on_device(on, mesh, arrays, &mut frontier, &mut all, broken)?
                }
                Repair::Host => {
                    let (parts, tips) =
                        repair_on_host(on, mesh, arrays, &frontier, &all[0], &broken)?;
                    all.push(parts);
                    (tips, 0)
                }
            };
            Ok(())
        })?;
    }
    drop(frontier);

    let (half_edges, lists) = on.stage("order polygons", || {
        let (half_edges, lists, weak) = order(on, n, &mut all)?;
        counts.weakly_simple = weak;
        Ok((half_edges, lists))
    })?;
    counts.polygons = half_edges.len() as u32;
    Ok(DevicePolygonLists {
        half_edges,
        lists,
        counts,
        rounds,
    })
}

/// The polygon of each seed, and the list of those that have barrier tips. `labelled` is the number of half-edges in
/// `frontier`.
fn traverse<P: Point>(
    on: &Device,
    mesh: &DeviceTriangulation<P>,
    neighbours: &Buffer<u32>,
    max: &Buffer<u32>,
    seeds: &Buffer<u32>,
    frontier: &Buffer<u32>,
    labelled: u32,
) -> Result<(PolygonArrays, Buffer<u32>)> {
    let n = seeds.len() as u32;
    let mut starts = on.uninitialized(seeds.len())?;
    // Scanned, the element behind the last polygon's is the end of all, whatever it held before.
    let mut positions = on.uninitialized(seeds.len() + 1)?;
    unsafe {
        kernel::measure_polygons::launch(
            on,
            n,
            seeds,
            max,
            neighbours,
            frontier,
            &mut starts,
            &mut positions,
        )
    }?;
    exclusive_scan(on, &mut positions)?;
    let size = on.read(&positions, seeds.len())?;
    if size - n != labelled {
        // With ties by edge, each region has its seed.
        return Err(Error::Invalid {
            element: "a ring of triangles".to_owned(),
            rule: "has equally long edges and, with ties to the first edge of a triangle, no terminal edge: use --ties edge"
                .to_owned(),
        });
    }
    let mut polygons = on.uninitialized(size as usize)?;
    let mut broken_bits = on.uninitialized(seeds.len().div_ceil(32))?;
    unsafe {
        kernel::append_polygons::launch(
            on,
            n,
            &mesh.origins,
            neighbours,
            frontier,
            &starts,
            &positions,
            &mut polygons,
            &mut broken_bits,
        )
    }?;
    let broken = compact(on, &broken_bits)?;
    let arrays = PolygonArrays {
        starts,
        positions,
        mesh: polygons,
        broken_bits,
    };
    Ok((arrays, broken))
}

/// Splits the `broken` ones of the polygons in `all`, a list of one, round by round; `all` gets the parts of each round.
/// The number of tips and of rounds.
fn repair_on_device<P: Point>(
    on: &Device,
    mesh: &DeviceTriangulation<P>,
    Neighbours {
        neighbours,
        trivertex,
    }: &Neighbours,
    frontier: &mut Buffer<u32>,
    all: &mut Vec<PolygonArrays>,
    mut broken: Buffer<u32>,
) -> Result<(u32, u32)> {
    let polygons = &all[0];
    let mut middle = on.filled(frontier.len(), 0)?;
    let mut cuts = on.uninitialized(polygons.starts.len())?;
    let mut tips = on.uninitialized(broken.len())?;
    unsafe {
        kernel::label_middle_edges::launch(
            on,
            broken.len() as u32,
            &broken,
            &mesh.origins,
            neighbours,
            trivertex,
            frontier,
            &polygons.starts,
            &polygons.positions,
            &polygons.mesh,
            &mut middle,
            &mut cuts,
            &mut tips,
        )
    }?;
    let total = exclusive_scan(on, &mut tips)?;
    let tips = on.read(&total, 0)?;

    // The paper's `Total bet` is the number of polygons to split.
    let mut rounds = 0;
    while !broken.is_empty() {
        rounds += 1;
        unsafe {
            kernel::label_cuts::launch(
                on,
                broken.len() as u32,
                &broken,
                &cuts,
                neighbours,
                frontier,
            )
        }?;
        let parts = 2 * broken.len();
        let mut starts = on.uninitialized(parts)?;
        let mut positions = on.uninitialized(parts + 1)?;
        unsafe {
            kernel::measure_parts::launch(
                on,
                parts as u32,
                &broken,
                &cuts,
                neighbours,
                frontier,
                &mut starts,
                &mut positions,
            )
        }?;
        exclusive_scan(on, &mut positions)?;
        let size = on.read(&positions, parts)?;
        let mut aux_mesh = on.uninitialized(size as usize)?;
        let mut broken_bits = on.uninitialized(parts.div_ceil(32))?;
        cuts = on.uninitialized(parts)?;
        unsafe {
            kernel::append_parts::launch(
                on,
                parts as u32,
                &mesh.origins,
                neighbours,
                frontier,
                &middle,
                &starts,
                &positions,
                &mut aux_mesh,
                &mut cuts,
                &mut broken_bits,
            )
        }?;
        broken = compact(on, &broken_bits)?;
        all.push(PolygonArrays {
            starts,
            positions,
            mesh: aux_mesh,
            broken_bits,
        });
    }
    Ok((tips, rounds))
}

/// The parts of the `broken` ones of `polygons`, split by the host, and the number of tips.
fn repair_on_host<P: Point>(
    on: &Device,
    mesh: &DeviceTriangulation<P>,
    arrays: &Neighbours,
    frontier: &Buffer<u32>,
    polygons: &PolygonArrays,
    broken: &Buffer<u32>,
) -> Result<(PolygonArrays, u32)> {
    let triples =
        |buffer| -> Result<Vec<[u32; 3]>> { Ok(on.download(buffer)?.as_chunks().0.to_vec()) };
    let triangulation = reference::IndexedTriangulation {
        triangles: triples(&mesh.origins)?,
        neighbours: triples(&arrays.neighbours)?,
        trivertex: on.download(&arrays.trivertex)?,
    };
    let words = on.download(frontier)?;
    let mut frontier: Vec<bool> = (0..mesh.half_edges())
        .map(|h| words[h as usize / 32] >> (h % 32) & 1 != 0)
        .collect();
    let polygons = reference::PolygonArrays {
        mesh: on.download(&polygons.mesh)?,
        positions: on.download(&polygons.positions)?,
        starts: on.download(&polygons.starts)?,
    };
    let broken = on.download(broken)?;
    let (parts, tips) = reference::reparation(&triangulation, &mut frontier, &polygons, &broken);
    let parts = PolygonArrays {
        starts: on.upload(&parts.starts)?,
        positions: on.upload(&parts.positions)?,
        mesh: on.upload(&parts.mesh)?,
        broken_bits: on.uninitialized(0)?,
    };
    Ok((parts, tips))
}

/// The polygons of `all` that no later round has split, in the order of their smallest half-edges, of which there are
/// `half_edges`: these, the lists, and the number of lists that have a vertex more than once.
fn order(
    on: &Device,
    half_edges: u32,
    all: &mut [PolygonArrays],
) -> Result<(Buffer<u32>, DeviceLists, u32)> {
    let words = half_edges.div_ceil(32);
    let mut start_bits = on.filled(words as usize, 0)?;
    for arrays in &*all {
        unsafe {
            kernel::mark_starts::launch(
                on,
                arrays.starts.len() as u32,
                &arrays.starts,
                &arrays.broken_bits,
                &mut start_bits,
            )
        }?;
    }
    let mut ranks = on.uninitialized(words as usize)?;
    unsafe { kernel::count_starts::launch(on, words, &start_bits, &mut ranks) }?;
    let total = exclusive_scan(on, &mut ranks)?;
    let polygons = on.read(&total, 0)? as usize;

    let mut half_edges = on.uninitialized(polygons)?;
    let mut offsets = on.uninitialized(polygons + 1)?;
    for arrays in &*all {
        unsafe {
            kernel::place_polygons::launch(
                on,
                arrays.starts.len() as u32,
                &arrays.starts,
                &arrays.broken_bits,
                &arrays.positions,
                &arrays.mesh,
                &start_bits,
                &ranks,
                &mut half_edges,
                &mut offsets,
            )
        }?;
    }
    exclusive_scan(on, &mut offsets)?;
    let listed = on.read(&offsets, polygons)?;
    let mut vertices = on.uninitialized(listed as usize)?;
    let mut weakly_simple = 0;
    for arrays in all {
        let n = arrays.starts.len();
        let mut weak = on.uninitialized(n.div_ceil(32))?;
        unsafe {
            kernel::gather_polygons::launch(
                on,
                n as u32,
                &arrays.starts,
                &arrays.broken_bits,
                &arrays.positions,
                &start_bits,
                &ranks,
                &offsets,
                &mut arrays.mesh,
                &mut vertices,
                &mut weak,
            )
        }?;
        weakly_simple += count_bits(on, &weak)?;
    }
    Ok((half_edges, DeviceLists { offsets, vertices }, weakly_simple))
}

impl DevicePolygonLists {
    /// The whole result in host memory.
    ///
    /// # Errors
    /// Those of the device.
    pub fn download(&self, on: &Device) -> Result<PolyllaLists> {
        on.stage("copy to the host", || {
            Ok(PolyllaLists {
                half_edges: on.download(&self.half_edges)?,
                polygons: Polygons {
                    offsets: on.download(&self.lists.offsets)?,
                    vertices: on.download(&self.lists.vertices)?,
                },
                counts: self.counts,
            })
        })
    }
}
