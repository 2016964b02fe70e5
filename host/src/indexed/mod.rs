//! Indexed Polylla on a device: polygons from arrays of triangles and neighbours. The kernels are in `gpu::indexed`,
//! with the parts of the paper that they cover and the differences from it.
//!
//! ```
//! use trioxide::prelude::*;
//! use trioxide::indexed::{self, Neighbours, indexed};
//!
//! # fn main() -> trioxide::Result<()> {
//! let on = Device::cpu(None)?;
//! let mesh = trioxide::generate::random(&on, 1000, 1)?;
//! let triangulation = DeviceTriangulation::<DVec2>::upload(&on, &mesh)?;
//! let neighbours = Neighbours::new(&on, &triangulation)?;
//! let result = indexed(&on, &triangulation, &neighbours, None, indexed::Options::default())?;
//! assert_eq!(result.download(&on)?.polygons.len(), 316);
//! # Ok(())
//! # }
//! ```

use gpu::ids::{HalfEdge, Polygon, Triangle, Vertex};
use gpu::indexed::kernels as kernel;
use trioxide_kernel::launch::Buffer;
use trioxide_kernel::{Bits, words};

use crate::collective::{Csr, compact, count_bits, exclusive_scan, lengths};
use crate::device::Device;
use crate::half_edges::{DeviceTriangulation, Point};
use crate::mesh::{PolyllaCounts, PolyllaLists, Ties};
use crate::polylla::download_lists;
pub use crate::polylla::{Constraints, Error, Result};

pub mod by_host;
mod neighbours;
mod order;

pub use neighbours::{Neighbours, opposite_to_corners};
use order::{PolygonArrays, order};

/// The machine that repairs polygons with barrier tips.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Repair {
    /// In rounds, all broken polygons at once
    #[default]
    Device,
    /// On the host, one polygon after the other: the paper's mixed version
    Host,
}

/// How to run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Which of two equally long edges counts as longer.
    pub ties: Ties,
    /// The machine that repairs polygons.
    pub repair: Repair,
}

/// A polygonal mesh on a device: P polygons.
pub struct DevicePolygonLists {
    half_edges: Buffer<HalfEdge>,
    lists: Csr<Polygon, Vertex>,
    counts: PolyllaCounts,
    rounds: u32,
}

/// Arguments of all stages.
struct Run<'a, P> {
    on: &'a Device,
    mesh: &'a DeviceTriangulation<P>,
    arrays: &'a Neighbours,
}

/// Bytes that a run takes at once with its mesh, for V points and T triangles.
///
/// As in [`crate::polylla::bytes_needed`], at most 2T frontier half-edges and T / 2 polygons are counted on.
pub fn bytes_needed<P: Point>(points: usize, triangles: usize) -> u64 {
    let words = |n: usize| n * size_of::<u32>();
    let mesh = points * size_of::<P>() + words(6 * triangles);
    let arrays = words(3 * triangles + points);
    // The Mesh array, and the lists, each with its arrays for half as many polygons as triangles: starts, positions,
    // lengths; offsets.
    let polygons = words(2 * triangles + 3 * triangles / 2) + words(2 * triangles + triangles);
    let bit_sets = 3 * words(3 * triangles) / 32;
    (mesh + arrays + polygons + bit_sets) as u64
}

/// Makes polygons of a triangulation, whose neighbours are `arrays`; without constraints only the boundary stops them.
///
/// # Errors
/// [`Error::TiedRing`] when [`Ties::First`] leaves a ring of triangles without terminal edge; [`Error::OtherMesh`];
/// [`crate::Error::OutOfMemory`], or another error of the device.
pub fn indexed<P: Point>(
    on: &Device,
    mesh: &DeviceTriangulation<P>,
    arrays: &Neighbours,
    constraints: Option<&Constraints>,
    options: Options,
) -> Result<DevicePolygonLists> {
    if arrays.mesh != mesh.id() {
        return Err(Error::OtherMesh {
            arrays: "the neighbours",
        });
    }
    let constrained = Constraints::edges(constraints, mesh)?;
    let none = on.uninitialized(0)?;
    let constrained = constrained.unwrap_or(&none);
    let run = Run { on, mesh, arrays };
    let mut counts = PolyllaCounts::default();

    let Labels {
        max,
        seeds,
        mut frontier,
    } = run.label(constrained, options.ties)?;
    counts.regions = seeds.len() as u32;
    let (polygons, broken) = on.try_stage("traversal", || {
        let labelled = count_bits(on, &frontier)?;
        let boundary = mesh.border().len() as u32;
        counts.frontier_edges = (labelled - boundary) / 2 + boundary;
        run.traverse(&max, &seeds, &frontier, labelled)
    })?;
    drop((max, seeds));

    let mut all = vec![polygons];
    let mut rounds = 0;
    if !broken.is_empty() {
        on.stage("reparation", || {
            (counts.barrier_tips, rounds) = match options.repair {
                Repair::Device => run.repair_on_device(&mut frontier, &mut all, broken)?,
                Repair::Host => {
                    let (parts, tips) = run.repair_on_host(&frontier, &all[0], &broken)?;
                    all.push(parts);
                    (tips, 0)
                }
            };
            Ok(())
        })?;
    }
    drop(frontier);

    let (half_edges, lists) = on.stage("order polygons", || {
        let (half_edges, lists, weak) = order(on, mesh.half_edges(), &mut all)?;
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

/// Results of the label phase.
struct Labels {
    /// Two bits a triangle: its longest edge.
    max: Buffer<u32>,
    seeds: Buffer<Triangle>,
    frontier: Buffer<Bits<HalfEdge>>,
}

impl<P: Point> Run<'_, P> {
    fn labelled<'b>(&'b self, frontier: &'b Buffer<Bits<HalfEdge>>) -> kernel::LabelledBuffers<'b> {
        kernel::LabelledBuffers {
            neighbours: &self.arrays.neighbours,
            frontier,
        }
    }

    fn label(&self, constrained: &Buffer<Bits<HalfEdge>>, ties: Ties) -> Result<Labels> {
        let Self { on, mesh, arrays } = *self;
        let (n, triangles) = (mesh.half_edges(), mesh.triangles());
        let neighbours = &arrays.neighbours;
        let max = on.stage("label max", || {
            let mut max = on.uninitialized(words(2 * triangles as usize))?;
            let launch = match ties {
                Ties::Edge => kernel::label_max::launch::<P, true>,
                Ties::First => kernel::label_max::launch::<P, false>,
            };
            // SAFETY: half-edges and vertices of a checked triangulation.
            unsafe {
                launch(
                    on,
                    triangles,
                    mesh.origins(),
                    mesh.points(),
                    neighbours,
                    &mut max,
                )
            }?;
            Ok(max)
        })?;
        let seeds = on.stage("label seed", || {
            let mut seeds: Buffer<Bits<Triangle>> = on.uninitialized(words(triangles as usize))?;
            let to = &mut seeds;
            kernel::label_seed::launch(on, triangles, neighbours, &max, constrained, to)?;
            compact(on, &seeds)
        })?;
        let frontier = on.stage("label frontier", || {
            let mut frontier = on.uninitialized(words(n as usize))?;
            let to = &mut frontier;
            kernel::label_frontier::launch(on, n, neighbours, &max, constrained, to)?;
            Ok(frontier)
        })?;
        Ok(Labels {
            max,
            seeds,
            frontier,
        })
    }

    /// The polygon of each seed, and the list of the polygons with barrier tips. `labelled` is the number of half-edges
    /// in `frontier`.
    fn traverse(
        &self,
        max: &Buffer<u32>,
        seeds: &Buffer<Triangle>,
        frontier: &Buffer<Bits<HalfEdge>>,
        labelled: u32,
    ) -> Result<(PolygonArrays, Buffer<Polygon>)> {
        let on = self.on;
        let n = seeds.len() as u32;
        let edges = self.labelled(frontier);
        let mut starts = on.uninitialized(seeds.len())?;
        let mut positions = lengths(on, seeds.len())?;
        let (to, sizes) = (&mut starts, &mut positions);
        kernel::measure_polygons::launch(on, n, seeds, max, edges, to, sizes)?;
        exclusive_scan(on, &mut positions)?;
        let size = on.read(&positions, seeds.len())?;
        if size - n != labelled {
            // With ties by edge, each region has its seed.
            return Err(Error::TiedRing);
        }
        let mut mesh = on.uninitialized(size as usize)?;
        let mut broken_bits: Buffer<Bits<Polygon>> = on.uninitialized(words(seeds.len()))?;
        kernel::append_polygons::launch(
            on,
            n,
            self.mesh.origins(),
            edges,
            &starts,
            &positions,
            &mut mesh,
            &mut broken_bits,
        )?;
        let broken = compact(on, &broken_bits)?;
        let arrays = PolygonArrays {
            starts,
            positions,
            mesh,
            broken_bits,
        };
        Ok((arrays, broken))
    }

    /// Splits the `broken` polygons in `all` round by round; `all` starts with one list and gets the parts of each
    /// round. Returns the number of tips and of rounds.
    fn repair_on_device(
        &self,
        frontier: &mut Buffer<Bits<HalfEdge>>,
        all: &mut Vec<PolygonArrays>,
        mut broken: Buffer<Polygon>,
    ) -> crate::Result<(u32, u32)> {
        let Self { on, mesh, arrays } = *self;
        let polygons = &all[0];
        let mut middle = on.filled(frontier.len(), Bits::EMPTY)?;
        let mut cuts = on.uninitialized(polygons.starts.len())?;
        let mut tips = on.uninitialized(broken.len())?;
        kernel::label_middle_edges::launch(
            on,
            broken.len() as u32,
            &broken,
            mesh.origins(),
            &arrays.trivertex,
            self.labelled(frontier),
            polygons.buffers(),
            &mut middle,
            &mut cuts,
            &mut tips,
        )?;
        let total = exclusive_scan(on, &mut tips)?;
        let tips = on.read(&total, 0)?;

        // The paper's `Total bet` is the number of polygons to split.
        let mut rounds = 0;
        while !broken.is_empty() {
            rounds += 1;
            let (parts, next) = self.split(frontier, &middle, &broken, &mut cuts)?;
            all.push(parts);
            broken = next;
        }
        Ok((tips, rounds))
    }

    /// A round of the repair: splits the `broken` polygons by their `cuts`. Returns the parts, and the list of the
    /// broken ones among them, whose cuts `cuts` gets.
    fn split(
        &self,
        frontier: &mut Buffer<Bits<HalfEdge>>,
        middle: &Buffer<Bits<HalfEdge>>,
        broken: &Buffer<Polygon>,
        cuts: &mut Buffer<HalfEdge>,
    ) -> crate::Result<(PolygonArrays, Buffer<Polygon>)> {
        let on = self.on;
        let (n, neighbours) = (broken.len() as u32, &self.arrays.neighbours);
        kernel::label_cuts::launch(on, n, broken, cuts, neighbours, frontier)?;
        let parts = 2 * broken.len();
        let n = parts as u32;
        let edges = self.labelled(frontier);
        let mut starts = on.uninitialized(parts)?;
        let mut positions = lengths(on, parts)?;
        let (to, sizes) = (&mut starts, &mut positions);
        kernel::measure_parts::launch(on, n, broken, cuts, edges, to, sizes)?;
        exclusive_scan(on, &mut positions)?;
        let size = on.read(&positions, parts)?;
        let mut mesh = on.uninitialized(size as usize)?;
        let mut broken_bits: Buffer<Bits<Polygon>> = on.uninitialized(words(parts))?;
        *cuts = on.uninitialized(parts)?;
        kernel::append_parts::launch(
            on,
            n,
            self.mesh.origins(),
            edges,
            middle,
            &starts,
            &positions,
            &mut mesh,
            cuts,
            &mut broken_bits,
        )?;
        let broken = compact(on, &broken_bits)?;
        let parts = PolygonArrays {
            starts,
            positions,
            mesh,
            broken_bits,
        };
        Ok((parts, broken))
    }

    /// The parts of the `broken` polygons among `polygons`, split by the host, and the number of tips.
    fn repair_on_host(
        &self,
        frontier: &Buffer<Bits<HalfEdge>>,
        polygons: &PolygonArrays,
        broken: &Buffer<Polygon>,
    ) -> crate::Result<(PolygonArrays, u32)> {
        let Self { on, mesh, arrays } = *self;
        let triangulation = by_host::IndexedTriangulation {
            triangles: on.download_rows(mesh.origins())?,
            neighbours: on.download_rows(&arrays.neighbours)?,
            trivertex: on.download_rows(&arrays.trivertex)?,
        };
        let words = on.download(frontier.as_words())?;
        let mut frontier: Vec<bool> = (0..mesh.half_edges())
            .map(|h| words[h as usize / 32] >> (h % 32) & 1 != 0)
            .collect();
        let polygons = by_host::PolygonArrays {
            mesh: on.download(&polygons.mesh)?,
            positions: on.download(&polygons.positions)?,
            starts: on.download_rows(&polygons.starts)?,
        };
        let broken: Vec<u32> = on.download_rows(broken)?;
        let (parts, tips) = by_host::reparation(&triangulation, &mut frontier, &polygons, &broken);
        let parts = PolygonArrays {
            starts: on.upload(&parts.starts)?.cast(),
            positions: on.upload(&parts.positions)?,
            mesh: on.upload(&parts.mesh)?,
            broken_bits: on.uninitialized(0)?,
        };
        Ok((parts, tips))
    }
}

impl DevicePolygonLists {
    /// The smallest half-edge of each polygon, ascending; P.
    pub fn half_edges(&self) -> &Buffer<HalfEdge> {
        &self.half_edges
    }

    /// The vertices of each polygon, from the origin of its smallest half-edge.
    pub fn lists(&self) -> &Csr<Polygon, Vertex> {
        &self.lists
    }

    /// Counts of the run.
    pub fn counts(&self) -> PolyllaCounts {
        self.counts
    }

    /// Rounds of the repair on the device.
    pub fn rounds(&self) -> u32 {
        self.rounds
    }

    /// The whole result in host memory.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn download(&self, on: &Device) -> Result<PolyllaLists> {
        on.try_stage("copy to the host", || {
            Ok(PolyllaLists {
                half_edges: on.download_rows(&self.half_edges)?,
                polygons: download_lists(on, &self.lists)?,
                counts: self.counts,
            })
        })
    }
}
