//! Polylla in three dimensions, on a device: tetrahedra become polyhedra. The kernels are in [`gpu::polyhedra`], with the
//! definitions and the proofs.
//!
//! ```
//! use glam::DVec3;
//! use trioxide::polyhedra::{self, Options, polyhedra};
//! use trioxide::refine_tets::DeviceTets;
//! use trioxide::{Device, generate};
//!
//! # fn main() -> trioxide::Result<()> {
//! let mesh = generate::tet_grid(1000, 1)?;
//! let on = Device::cpu(None)?;
//! let (tets, faces) = DeviceTets::<DVec3>::upload_with_faces(&on, &mesh)?;
//! let result = polyhedra(&on, &tets, &faces, Options::default())?;
//! let lists = result.download(&on, &faces)?;
//! assert_eq!(lists.tets.len(), mesh.tetrahedra.len());
//! // n tetrahedra have 2n + 2 sides.
//! assert_eq!(lists.sides.len(), 2 * mesh.tetrahedra.len() + 2 * lists.len());
//! # Ok(())
//! # }
//! ```

mod pinched;
mod result;

use gpu::ids::{FaceSide, Polyhedron, Tet};
use gpu::polyhedra as kernel;
use trioxide_kernel::launch::Buffer;
use trioxide_kernel::{Bits, words};

pub use result::DevicePolyhedra;

use crate::Result;
use crate::backend::{BitSet, Device};
use crate::collective::{Csr, bucket_long, compact, count_bits, most_alone};
use crate::polyhedra_mesh::PolyhedraCounts;
use crate::refine_tets::{DeviceTets, SpacePoint};
use crate::tet_faces::DeviceFaces;

/// By which measure a tetrahedron chooses its largest face.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Measure {
    /// Area.
    #[default]
    Area,
    /// Radius of the circle through the vertices.
    Circumradius,
}

/// Options of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Which face of a tetrahedron is its largest.
    pub by: Measure,
    /// Cross neither faces between regions of the input nor its tagged faces.
    pub constrained: bool,
    /// Count the polyhedra whose surface is no 2-manifold.
    pub count_pinched: bool,
    /// Split polyhedra whose surface is no 2-manifold.
    pub strict: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            by: Measure::Area,
            constrained: true,
            count_pinched: true,
            strict: false,
        }
    }
}

/// Bytes that a run takes at once with its mesh, for V points and T tetrahedra; for the lists a polyhedron is taken for each two
/// tetrahedra.
pub fn bytes_needed<P: SpacePoint>(points: usize, tetrahedra: usize, options: Options) -> u64 {
    let words = |n: usize| n * size_of::<u32>();
    let mesh = points * size_of::<P>() + words(8 * tetrahedra);
    let bit_sets = 5 * words(tetrahedra / 8 + 1);
    // Parents, roots, polyhedra; then lists of tetrahedra and of sides.
    let lists = words(3 * tetrahedra) + words(5 * tetrahedra);
    let tops = words(3 * tetrahedra) * usize::from(options.count_pinched || options.strict);
    (mesh + bit_sets + lists + tops) as u64
}

/// The forest of tetrahedra: labels, and what follows from them.
struct Forest {
    largest: BitSet<FaceSide>,
    frontier: BitSet<FaceSide>,
    seeds: BitSet<FaceSide>,
    parents: Buffer<Tet>,
}

/// Makes polyhedra of tetrahedra.
///
/// # Errors
/// [`crate::Error::Argument`] for faces of another mesh; errors of the device.
pub fn polyhedra<P: SpacePoint>(
    on: &Device,
    mesh: &DeviceTets<P>,
    faces: &DeviceFaces,
    options: Options,
) -> Result<DevicePolyhedra> {
    if faces.twins().len() != mesh.tetrahedra().len() {
        return Err(crate::Error::Argument(format!(
            "the faces are of {} tetrahedra, but the mesh has {}",
            faces.twins().len() / 4,
            mesh.count()
        )));
    }
    let mut forest = label(on, mesh, faces, options)?;
    let mut counts = PolyhedraCounts::default();
    let roots = on.stage("find roots", || forest.roots(on))?;
    let barriers = on.stage("find barrier faces", || {
        let (barriers, found) = forest.barrier_faces(on, faces, &roots)?;
        counts.barrier_faces = barriers.len() as u32;
        counts.regions_with_barriers = found.regions;
        counts.regions = count_bits(on, &forest.seeds)?;
        Ok(barriers)
    })?;
    let mut roots = on.stage("repair barrier tips", || {
        counts.barrier_tips = forest.repair_tips(on, mesh, faces, &barriers)?;
        match counts.barrier_tips {
            0 => Ok(roots),
            _ => forest.roots(on),
        }
    })?;
    let mut lists = forest.list_tets(on, &roots)?;
    if options.strict || options.count_pinched {
        loop {
            let (pinched, tops) = pinched::find(on, mesh, &forest, &lists)?;
            counts.pinched = Some(pinched.len() as u32);
            if !options.strict || pinched.is_empty() {
                break;
            }
            counts.split_rounds += 1;
            roots = on.stage("split pinched polyhedra", || {
                let cuts = pinched::split(on, mesh, &forest, &lists, &pinched, &tops)?;
                forest.cut(on, faces, &cuts)?;
                forest.roots(on)
            })?;
            lists = forest.list_tets(on, &roots)?;
        }
    }
    counts.barrier_faces_left = on.stage("check barrier faces", || {
        Ok(forest.check_barriers(on, faces, &roots, &barriers)?.faces)
    })?;
    counts.polyhedra = lists.tets.keys() as u32;
    counts.most_tetrahedra = lists.longest;
    let (side_offsets, sides) = on.stage("list faces", || forest.list_faces(on, &lists.tets))?;
    Ok(DevicePolyhedra {
        frontier: forest.frontier,
        polyhedra: lists.polyhedra,
        tets: lists.tets,
        side_offsets,
        sides,
        counts,
    })
}

/// Largest faces, frontier faces, seeds and parents.
fn label<P: SpacePoint>(
    on: &Device,
    mesh: &DeviceTets<P>,
    faces: &DeviceFaces,
    options: Options,
) -> Result<Forest> {
    let count = mesh.count();
    let bits = words(4 * count as usize);
    let constrained = match options.constrained {
        true => on.stage("mark constraints", || constraints(on, mesh, faces))?,
        false => on.uninitialized(0)?,
    };
    let largest = on.stage("label largest faces", || {
        let mut largest = on.uninitialized(bits)?;
        let by = match options.by {
            Measure::Area => kernel::BY_AREA,
            Measure::Circumradius => kernel::BY_CIRCUMRADIUS,
        };
        // SAFETY: tetrahedra of a checked mesh, and their twins.
        unsafe {
            kernel::label_largest_faces::launch(
                on,
                count,
                mesh.tetrahedra(),
                mesh.points(),
                faces.twins(),
                by,
                &mut largest,
            )
        }?;
        Ok(largest)
    })?;
    on.stage("label frontier faces", || {
        let (mut frontier, mut seeds) = (on.uninitialized(bits)?, on.uninitialized(bits)?);
        let mut parents = on.uninitialized(count as usize)?;
        // SAFETY: twins are sides or `NONE`; each tetrahedron chooses one side, which writes its parent.
        unsafe {
            kernel::label_frontier_faces::launch(
                on,
                4 * count,
                faces.twins(),
                &largest,
                &constrained,
                &mut parents,
                &mut frontier,
                &mut seeds,
            )
        }?;
        Ok(Forest {
            largest,
            frontier,
            seeds,
            parents,
        })
    })
}

/// The sides of faces that no polyhedron may cross; empty if there are none.
fn constraints<P: SpacePoint>(
    on: &Device,
    mesh: &DeviceTets<P>,
    faces: &DeviceFaces,
) -> Result<BitSet<FaceSide>> {
    let sides = 4 * mesh.count();
    let bits = words(sides as usize);
    let mut constrained = match mesh.regions() {
        Some(regions) => {
            let regions = on.upload(regions)?;
            let mut borders = on.uninitialized(bits)?;
            // SAFETY: twins are sides or `NONE`, and each tetrahedron has a region.
            unsafe {
                kernel::mark_region_faces::launch(on, sides, faces.twins(), &regions, &mut borders)
            }?;
            borders
        }
        None if faces.tagged().is_empty() => return on.uninitialized(0),
        None => on.filled(bits, Bits::EMPTY)?,
    };
    let tagged = faces.tagged();
    let n = tagged.len() as u32;
    // SAFETY: tagged triangles have sides of tetrahedra.
    unsafe {
        kernel::mark_constrained_faces::launch(on, n, tagged, faces.twins(), &mut constrained)
    }?;
    Ok(constrained)
}

/// Numbers of barrier faces, and of regions that have one.
struct Barriers {
    faces: u32,
    regions: u32,
}

/// Tetrahedra of each polyhedron.
struct Lists {
    /// Polyhedron of each tetrahedron.
    polyhedra: Buffer<Polyhedron>,
    tets: Csr<Polyhedron, Tet>,
    /// Tetrahedra of the largest polyhedron.
    longest: u32,
}

impl Forest {
    /// The root of each tetrahedron.
    fn roots(&self, on: &Device) -> Result<Buffer<Tet>> {
        let n = self.parents.len();
        let round = |from: &Buffer<Tet>| -> Result<(Buffer<Tet>, bool)> {
            let mut roots = on.uninitialized(n)?;
            let mut unfinished = on.filled(1, 0)?;
            // SAFETY: parents are tetrahedra.
            unsafe { kernel::find_roots::launch(on, n as u32, from, &mut roots, &mut unfinished) }?;
            Ok((roots, on.read(&unfinished, 0)? != 0))
        };
        let (mut roots, mut is_unfinished) = round(&self.parents)?;
        while is_unfinished {
            (roots, is_unfinished) = round(&roots)?;
        }
        Ok(roots)
    }

    /// Lower sides of barrier faces, ascending.
    fn barrier_faces(
        &self,
        on: &Device,
        faces: &DeviceFaces,
        roots: &Buffer<Tet>,
    ) -> Result<(Buffer<FaceSide>, Barriers)> {
        let n = faces.twins().len() as u32;
        let mut barriers: BitSet<FaceSide> = on.uninitialized(self.frontier.len())?;
        // SAFETY: twins are sides or `NONE`.
        unsafe {
            kernel::find_barrier_faces::launch(
                on,
                n,
                faces.twins(),
                &self.frontier,
                roots,
                &mut barriers,
            )
        }?;
        let barriers = compact(on, &barriers)?;
        let counts = self.check_barriers(on, faces, roots, &barriers)?;
        Ok((barriers, counts))
    }

    /// Counts the faces of `barriers` that are barrier faces with these roots, and their regions.
    fn check_barriers(
        &self,
        on: &Device,
        faces: &DeviceFaces,
        roots: &Buffer<Tet>,
        barriers: &Buffer<FaceSide>,
    ) -> Result<Barriers> {
        let mut regions: BitSet<Tet> = on.filled(words(roots.len()), Bits::EMPTY)?;
        let mut left: Buffer<u32> = on.uninitialized(words(barriers.len()))?;
        let n = barriers.len() as u32;
        // SAFETY: the list has inner sides.
        unsafe {
            kernel::check_barrier_faces::launch(
                on,
                n,
                barriers,
                faces.twins(),
                roots,
                &mut regions,
                &mut left,
            )
        }?;
        Ok(Barriers {
            faces: count_bits(on, &left)?,
            regions: count_bits(on, &regions)?,
        })
    }

    /// Cuts a face at each barrier tip. Returns the number of tips.
    fn repair_tips<P: SpacePoint>(
        &mut self,
        on: &Device,
        mesh: &DeviceTets<P>,
        faces: &DeviceFaces,
        barriers: &Buffer<FaceSide>,
    ) -> Result<u32> {
        let mut cuts = on.uninitialized(barriers.len())?;
        let mut tips: Buffer<u32> = on.uninitialized(words(barriers.len()))?;
        let sides = kernel::SidesBuffers {
            tetrahedra: mesh.tetrahedra(),
            twins: faces.twins(),
        };
        let n = barriers.len() as u32;
        // SAFETY: the list has inner sides of frontier faces; boundary faces are frontier faces, so no walk leaves the tetrahedra, and
        // a walk around an edge ends at the face that it began at, if at no other.
        unsafe {
            kernel::find_tips::launch(on, n, barriers, sides, &self.frontier, &mut cuts, &mut tips)
        }?;
        self.cut(on, faces, &cuts)?;
        count_bits(on, &tips)
    }

    /// Makes faces frontier faces.
    fn cut(&mut self, on: &Device, faces: &DeviceFaces, cuts: &Buffer<FaceSide>) -> Result<()> {
        // SAFETY: cuts are inner sides or `NONE`.
        unsafe {
            kernel::cut_faces::launch(
                on,
                cuts.len() as u32,
                cuts,
                faces.twins(),
                &self.largest,
                &mut self.frontier,
                &mut self.seeds,
                &mut self.parents,
            )
        }?;
        Ok(())
    }

    /// Numbers the polyhedra, and lists their tetrahedra.
    fn list_tets(&self, on: &Device, roots: &Buffer<Tet>) -> Result<Lists> {
        on.stage("number polyhedra", || {
            let seeds = compact(on, &self.seeds)?;
            let n = roots.len();
            let mut numbers = on.uninitialized(n)?;
            let count = seeds.len();
            // SAFETY: seeds are sides of different tetrahedra.
            unsafe { kernel::number_polyhedra::launch(on, count as u32, &seeds, &mut numbers) }?;
            let mut polyhedra: Buffer<Polyhedron> = on.uninitialized(n)?;
            // SAFETY: each root has a seed, so its number is written; others are not read.
            unsafe {
                kernel::assign_tetrahedra::launch(on, n as u32, roots, &numbers, &mut polyhedra)
            }?;
            drop(numbers);
            // SAFETY: every tetrahedron has a polyhedron below the count.
            let (tets, longest) = unsafe { bucket_long(on, &polyhedra, count, n, most_alone(on)) }?;
            Ok(Lists {
                polyhedra,
                tets,
                longest,
            })
        })
    }

    /// Start of each polyhedron's sides, and the sides.
    fn list_faces(
        &self,
        on: &Device,
        tets: &Csr<Polyhedron, Tet>,
    ) -> Result<(Buffer<u32>, Buffer<FaceSide>)> {
        let count = tets.keys();
        let mut offsets = match count {
            0 => on.filled(1, 0)?,
            _ => on.uninitialized(count + 1)?,
        };
        let mut sides = on.uninitialized(2 * tets.items().len() + 2 * count)?;
        let n = count as u32;
        // SAFETY: a tree of n tetrahedra has 2n + 2 frontier sides.
        unsafe {
            kernel::list_faces::launch(on, n, tets.rows(), &self.frontier, &mut offsets, &mut sides)
        }?;
        Ok((offsets, sides))
    }
}
