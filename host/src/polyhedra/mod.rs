//! Polylla in three dimensions, on a device: tetrahedra become polyhedra. The kernels are in [`gpu::polyhedra`], with
//! the definitions and the proofs; those of the rule of cavities in [`gpu::polyhedra::cavity`].
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

mod cavity;
mod fields;
mod forest;
mod lists;
mod pinched;
mod result;
mod share;

use gpu::ids::{FaceSide, Tet};
use gpu::polyhedra::{Link, kernels as kernel, tally};
use trioxide_kernel::launch::Buffer;
use trioxide_kernel::{Bits, words};

pub use fields::tets_of_polyhedra;
pub use result::DevicePolyhedra;
pub use share::{LabelShare, SharePolyhedra, Taken, boundary_faces_of, largest_faces, of_taken};

use crate::collective::tally_bits;
use crate::device::{BitSet, Device};
use crate::polyhedra_mesh::PolyhedraCounts;
use crate::refine_tets::{DeviceTets, SpacePoint};
use crate::tet_faces::DeviceFaces;
use crate::{Error, Result};
use forest::{Cells, Forest, find_roots};

/// By which rule tetrahedra are joined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Rule {
    /// Across the largest face of each
    #[default]
    LargestFaces,
    /// Small circumspheres absorb the tetrahedra whose circumcentres they have (3D-GPolylla)
    Cavity,
}

/// By which measure a tetrahedron chooses its largest face.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Measure {
    /// Area
    #[default]
    Area,
    /// Radius of the circle through the vertices
    Circumradius,
}

/// Options of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// How tetrahedra are joined.
    pub rule: Rule,
    /// Which face of a tetrahedron is its largest, for the rule of largest faces.
    pub by: Measure,
    /// Cross neither faces between regions of the input nor its tagged faces.
    pub constrained: bool,
    /// Count the polyhedra whose surface is no 2-manifold; for the rule of largest faces.
    pub count_pinched: bool,
    /// Split polyhedra whose surface is no 2-manifold; for the rule of largest faces.
    pub strict: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            rule: Rule::LargestFaces,
            by: Measure::Area,
            constrained: true,
            count_pinched: true,
            strict: false,
        }
    }
}

/// Bytes that a run takes at once with its mesh, for V points and T tetrahedra; for the lists a polyhedron is taken for
/// each two tetrahedra.
pub fn bytes_needed<P: SpacePoint>(points: usize, tetrahedra: usize, options: Options) -> u64 {
    let words = |n: usize| n * size_of::<u32>();
    let mesh = points * size_of::<P>() + words(8 * tetrahedra);
    let bit_sets = 5 * words(tetrahedra / 8 + 1);
    // Links, polyhedra, places; then lists of tetrahedra and of sides.
    let lists = words(3 * tetrahedra) + words(5 * tetrahedra);
    let by_rule = match options.rule {
        Rule::LargestFaces if options.count_pinched || options.strict => words(3 * tetrahedra),
        Rule::LargestFaces => 0,
        Rule::Cavity => cavity::bytes_needed(tetrahedra),
    };
    (mesh + bit_sets + lists + by_rule) as u64
}

/// Makes polyhedra of tetrahedra.
///
/// # Errors
/// [`Error::Argument`] for faces of other tetrahedra, and for the option `strict` with the rule of cavities; errors of
/// the device.
pub fn polyhedra<P: SpacePoint>(
    on: &Device,
    mesh: &DeviceTets<P>,
    faces: &DeviceFaces,
    options: Options,
) -> Result<DevicePolyhedra> {
    let cells = Cells::of(mesh, faces)?;
    if options.rule == Rule::Cavity {
        if options.strict {
            return Err(Error::Argument(
                "strict splits trees of largest faces, but cavities are no trees: leave it out"
                    .to_owned(),
            ));
        }
        let (labels, rounds) = cavity::label(on, mesh, faces, options)?;
        let mut result = of_labels(on, cells, labels, options, false)?;
        result.rounds = rounds;
        return Ok(result);
    }
    let constrained = constraints(on, mesh, faces, options)?;
    let largest = label_largest(on, mesh, faces, options.by)?;
    let labels = label_frontier(on, faces, &largest, &constrained)?;
    drop((largest, constrained));
    of_trees(on, cells, labels, options)
}

/// Labelled tetrahedra: their frontier faces, and their links, which lead to the root of each region.
type Labels = (BitSet<FaceSide>, Buffer<Link>);

/// The polyhedra of labelled tetrahedra whose regions are trees.
fn of_trees(
    on: &Device,
    cells: Cells,
    labels: Labels,
    options: Options,
) -> Result<DevicePolyhedra> {
    of_labels(on, cells, labels, options, true)
}

/// The polyhedra of labelled tetrahedra. Tips and pinched polyhedra are found in trees: if the regions are none, they
/// stay as they are.
fn of_labels(
    on: &Device,
    cells: Cells,
    (frontier, links): Labels,
    options: Options,
    are_trees: bool,
) -> Result<DevicePolyhedra> {
    let mut counts = PolyhedraCounts::default();
    let mut found = on.filled(tally::COUNT, 0)?;
    let (mut forest, roots) = on.stage("find roots", || {
        let (roots, is_root) = find_roots(on, &links, &mut found)?;
        tally_bits(on, &is_root, &mut found, tally::REGIONS)?;
        let forest = Forest {
            frontier,
            links,
            is_root,
            are_trees,
            is_deep: false,
        };
        Ok((forest, roots))
    })?;
    let (barriers, roots) = on.stage("find barrier faces", || {
        forest.barrier_faces(on, cells, roots, &mut found)
    })?;
    counts.barrier_faces = barriers.len() as u32;
    if are_trees {
        on.stage("repair barrier tips", || {
            forest.repair_tips(on, cells, &roots, &barriers, &mut found)
        })?;
    } else {
        count_barrier_regions(on, &roots, &barriers, &mut found)?;
    }
    drop(roots);
    let mut lists = forest.list(on, &mut found)?;
    let count = |slot: u32| lists.counts[slot as usize];
    counts.regions = count(tally::REGIONS);
    counts.regions_with_barriers = count(tally::REGIONS_WITH_BARRIERS);
    counts.barrier_tips = count(tally::TIPS);
    if are_trees && (options.strict || options.count_pinched) {
        loop {
            if options.strict {
                lists.finish(on, &forest, &mut found)?;
            }
            let (pinched, tops) = pinched::find(on, cells, &forest, &lists)?;
            counts.pinched = Some(pinched.len() as u32);
            if !options.strict || pinched.is_empty() {
                break;
            }
            counts.split_rounds += 1;
            on.stage("split pinched polyhedra", || {
                let cuts = pinched::split(on, cells, &forest, &lists, &pinched, &tops)?;
                forest.cut(on, cells, &cuts)
            })?;
            found = on.filled(tally::COUNT, 0)?;
            lists = forest.list(on, &mut found)?;
        }
    }
    on.stage("check barrier faces", || {
        lists.check_barriers(on, cells, &barriers, &mut found)
    })?;
    lists.finish(on, &forest, &mut found)?;
    counts.barrier_faces_left = lists.counts[tally::BARRIERS_LEFT as usize];
    counts.most_tetrahedra = lists.counts[tally::LONGEST as usize];
    counts.polyhedra = lists.tets.keys() as u32;
    Ok(DevicePolyhedra {
        list: cells.list,
        frontier: forest.frontier,
        is_root: forest.is_root,
        polyhedra: lists.polyhedra,
        tets: lists.tets,
        side_offsets: lists.side_offsets,
        sides: lists.sides,
        counts,
        rounds: 0,
    })
}

/// Adds the number of regions with barrier faces to `found`.
fn count_barrier_regions(
    on: &Device,
    roots: &Buffer<Link>,
    barriers: &Buffer<FaceSide>,
    found: &mut Buffer<u32>,
) -> Result<()> {
    let n = barriers.len() as u32;
    if n == 0 {
        return Ok(());
    }
    let mut regions: BitSet<Tet> = on.filled(words(roots.len()), Bits::EMPTY)?;
    kernel::mark_barrier_regions::launch(on, n, barriers, roots, &mut regions)?;
    tally_bits(on, &regions, found, tally::REGIONS_WITH_BARRIERS)?;
    Ok(())
}

/// The largest face of each tetrahedron, by its sides.
fn label_largest<P: SpacePoint>(
    on: &Device,
    mesh: &DeviceTets<P>,
    faces: &DeviceFaces,
    by: Measure,
) -> Result<BitSet<FaceSide>> {
    let count = mesh.count();
    on.stage("label largest faces", || {
        let mut labels = on.uninitialized(words(4 * count as usize))?;
        let largest = &mut labels;
        let (tetrahedra, points, twins) = (mesh.tetrahedra(), mesh.points(), faces.twins());
        let launch = match by {
            Measure::Area => kernel::label_largest_faces::launch::<P>,
            Measure::Circumradius => kernel::label_widest_faces::launch::<P>,
        };
        // SAFETY: tetrahedra of a checked mesh, and their twins.
        unsafe { launch(on, count, tetrahedra, points, twins, largest) }?;
        Ok(labels)
    })
}

/// Frontier faces, and the link of each tetrahedron.
fn label_frontier(
    on: &Device,
    faces: &DeviceFaces,
    largest: &BitSet<FaceSide>,
    constrained: &BitSet<FaceSide>,
) -> Result<Labels> {
    on.stage("label frontier faces", || {
        let twins = faces.twins();
        let count = twins.len() / 4;
        let mut frontier = on.uninitialized(largest.len())?;
        let mut links = on.uninitialized(count)?;
        // SAFETY: twins are sides or `NONE`.
        unsafe {
            kernel::label_frontier_faces::launch(
                on,
                count as u32,
                twins,
                largest,
                constrained,
                &mut links,
                &mut frontier,
            )
        }?;
        Ok((frontier, links))
    })
}

/// The sides of faces that no polyhedron may cross; empty if there are none, or the options say so.
fn constraints<P: SpacePoint>(
    on: &Device,
    mesh: &DeviceTets<P>,
    faces: &DeviceFaces,
    options: Options,
) -> Result<BitSet<FaceSide>> {
    match options.constrained {
        true => on.stage("mark constraints", || mark_constraints(on, mesh, faces)),
        false => on.uninitialized(0),
    }
}

fn mark_constraints<P: SpacePoint>(
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
            kernel::mark_region_faces::launch(on, sides, faces.twins(), &regions, &mut borders)?;
            borders
        }
        None if faces.tagged().is_empty() => return on.uninitialized(0),
        None => on.filled(bits, Bits::EMPTY)?,
    };
    let tagged = faces.tagged();
    let n = tagged.len() as u32;
    kernel::mark_constrained_faces::launch(on, n, tagged, faces.twins(), &mut constrained)?;
    Ok(constrained)
}
