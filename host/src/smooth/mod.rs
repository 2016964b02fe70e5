//! Laplacian smoothing on a device. The kernels are in `gpu::smooth`, with a table of the paper's stages.
//!
//! ```
//! use glam::DVec3;
//! use trioxide::device::Device;
//! use trioxide::formats::{read_volume, write_volume};
//! use trioxide::smooth::{DeviceMesh, Options, smooth};
//!
//! # fn main() -> trioxide::Result<()> {
//! # let input = std::env::temp_dir().join(format!("trioxide-smooth-{}.vtu", std::process::id()));
//! # let output = input.with_extension("vtk");
//! # write_volume(&input, &trioxide::generate::tet_grid(1000, 1)?.into())?;
//! let on = Device::cpu(None)?;
//! let mut mesh = read_volume(&input)?;
//! let resident = DeviceMesh::<DVec3>::upload(&on, &mesh)?;
//!
//! // Only the nodes of the boundary are fixed.
//! let result = smooth(&on, &resident, &[], &Options::default())?;
//! assert_eq!(result.moves().sweeps, 100);
//!
//! mesh.points = result.download(&on)?.points;
//! write_volume(&output, &mesh)?;
//! # for file in [input, output] {
//! #     std::fs::remove_file(file).unwrap();
//! # }
//! # Ok(())
//! # }
//! ```
//!
//! [`smooth()`] does all steps. To sweep several times over one mesh, find its [`Relations`] and its [`Prepared`] nodes
//! once, and [`relax()`] them.

mod cells;
mod error;
mod form;
mod options;
mod order;
mod relations;
mod resident;
mod schedule;
mod share;
mod surface;
mod sweeps;
mod untangle;
mod weights;

use glam::DVec3;
use gpu::ids::Vertex;
use gpu::smooth::{self as kernel, Nodes, Vector};
use trioxide_kernel::launch::Buffer;
use trioxide_kernel::{Bits, words};
use trioxide_mesh::bit_set;

use crate::device::{BitSet, Device};
use crate::half_edges::AnyPoint;
use crate::mesh::Mesh;
use crate::volume::VolumeMesh;
pub use cells::{DeviceCells, DeviceMesh, MOST_CELLS};
pub use error::{Error, Result};
pub use form::Form;
pub use options::{
    Blocks, BoundaryRule, Filter, Layout, Options, RENUMBERED_FROM, Renumber, Weights,
};
use order::{Classes, Moving, Ordered};
pub use relations::Relations;
pub(crate) use relations::join_bits;
pub use schedule::{Moves, Schedule};
pub use share::{Others, SharePart, SmoothedShare, check_share, smooth_share};
pub use surface::{SmoothedSurface, run_surface_with, smooth_surface};
use sweeps::{Guard, Sweeps};
pub use untangle::{
    DeviceUntangled, Goal, RATIO_BINS, Ratios, UntangleOptions, Untangling, measure_ratios,
    untangle,
};

/// A smoothed mesh's nodes, in the order of the input.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Smoothed {
    /// Coordinates.
    pub points: Vec<DVec3>,
    /// Number of nodes that may move.
    pub moving: u32,
    /// Number of sweeps, and the moves of the last one.
    pub moves: Moves,
}

/// Smooths a volume mesh: from host arrays to host arrays. Nodes of the boundary, nodes between regions, and nodes for
/// which `fixed` is true stay; `fixed` has an element for each node, or none.
///
/// # Errors
/// An [`Error`] for options that do not go together; [`Error::Shared`] for a mesh that breaks a rule, with the element,
/// or does not fit the device.
pub fn run<P: Vector>(
    on: &Device,
    mesh: &VolumeMesh,
    fixed: &[bool],
    options: &Options,
) -> Result<Smoothed> {
    options.check(fixed, mesh.points.len())?;
    let resident = DeviceMesh::<P>::upload(on, mesh)?;
    Ok(smooth(on, &resident, fixed, options)?.download(on)?)
}

/// Smooths a surface mesh as [`run`] does a volume mesh.
///
/// # Errors
/// As [`run`].
pub fn run_surface<P: Vector + AnyPoint>(
    on: &Device,
    mesh: &Mesh,
    fixed: &[bool],
    options: &Options,
) -> Result<Smoothed> {
    Ok(run_surface_with::<P>(on, mesh, fixed, options, None)?.0)
}

/// A smoothed mesh on a device.
pub struct DeviceSmoothed<P> {
    points: Buffer<P>,
    moving: u32,
    moves: Moves,
}

impl<P: Vector> DeviceSmoothed<P> {
    /// Coordinates, in the order of the input; V.
    pub fn points(&self) -> &Buffer<P> {
        &self.points
    }

    /// Coordinates, for further work on the device; V.
    pub fn into_points(self) -> Buffer<P> {
        self.points
    }

    /// Number of nodes that may move.
    pub fn moving(&self) -> u32 {
        self.moving
    }

    /// Number of sweeps, and the moves of the last one.
    pub fn moves(&self) -> Moves {
        self.moves
    }

    /// The result in host memory.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn download(&self, on: &Device) -> crate::Result<Smoothed> {
        Smoothed::download(on, &self.points, self.moving, self.moves)
    }
}

impl Smoothed {
    fn download<P: Vector>(
        on: &Device,
        points: &Buffer<P>,
        moving: u32,
        moves: Moves,
    ) -> crate::Result<Self> {
        on.stage("copy to the host", || {
            let points = on.download(points)?;
            Ok(Self {
                points: points.into_iter().map(P::to_f64).collect(),
                moving,
                moves,
            })
        })
    }
}

/// Smooths a mesh on the device. Nodes for which `fixed` is true stay; it has an element for each node, or none.
///
/// # Errors
/// As [`run`].
pub fn smooth<P: Vector>(
    on: &Device,
    mesh: &DeviceMesh<P>,
    fixed: &[bool],
    options: &Options,
) -> Result<DeviceSmoothed<P>> {
    let relations = Relations::new(on, mesh)?;
    let prepared = prepare(on, &relations, fixed, options)?;
    relax(on, &prepared, options)
}

/// As [`smooth()`], with the nodes that stay as a bit set on the device.
///
/// # Errors
/// As [`run`].
pub fn smooth_fixed<P: Vector>(
    on: &Device,
    mesh: &DeviceMesh<P>,
    fixed: BitSet<Vertex>,
    options: &Options,
) -> Result<DeviceSmoothed<P>> {
    let relations = Relations::new(on, mesh)?;
    let prepared = prepare_fixed(on, &relations, fixed, options)?;
    relax(on, &prepared, options)
}

/// The nodes of a mesh, ordered for sweeps of one form.
pub struct Prepared<'r, P> {
    relations: &'r Relations<'r, P>,
    ordered: Ordered,
    form: Form,
    guard: bool,
}

impl<P> Prepared<'_, P> {
    /// Number of nodes that may move.
    pub fn moving(&self) -> u32 {
        self.ordered.moving
    }

    /// Number of neighbours of all nodes that may move.
    pub fn neighbour_count(&self) -> usize {
        self.ordered.neighbours.len()
    }
}

/// Decides which nodes move, and orders them for the form of the options.
///
/// # Errors
/// As [`run`].
pub fn prepare<'r, P: Vector>(
    on: &Device,
    relations: &'r Relations<'_, P>,
    fixed: &[bool],
    options: &Options,
) -> Result<Prepared<'r, P>> {
    let stays = stays(on, relations, fixed, options)?;
    prepare_fixed(on, relations, stays, options)
}

/// As [`prepare`], with colours from elsewhere: `colour` gets the nodes that move, and gives one for each node.
fn prepare_coloured<'r, P: Vector>(
    on: &Device,
    relations: &'r Relations<'_, P>,
    fixed: &[bool],
    options: &Options,
    colour: order::Colour<'_>,
) -> Result<Prepared<'r, P>> {
    let stays = stays(on, relations, fixed, options)?;
    prepare_with(on, relations, stays, options, Some(colour))
}

/// The nodes for which `fixed` is true.
fn stays<P: Vector>(
    on: &Device,
    relations: &Relations<'_, P>,
    fixed: &[bool],
    options: &Options,
) -> Result<BitSet<Vertex>> {
    let nodes = relations.mesh.points().len();
    options.check(fixed, nodes)?;
    Ok(if fixed.is_empty() {
        on.filled(words(nodes), Bits::EMPTY)?
    } else {
        on.upload(&bit_set::pack_list(fixed))?.cast()
    })
}

/// As [`prepare`], with the nodes that stay as a bit set on the device.
///
/// # Errors
/// As [`run`].
pub fn prepare_fixed<'r, P: Vector>(
    on: &Device,
    relations: &'r Relations<'_, P>,
    fixed: BitSet<Vertex>,
    options: &Options,
) -> Result<Prepared<'r, P>> {
    prepare_with(on, relations, fixed, options, None)
}

fn prepare_with<'r, P: Vector>(
    on: &Device,
    relations: &'r Relations<'_, P>,
    fixed: BitSet<Vertex>,
    options: &Options,
    colour: Option<order::Colour<'_>>,
) -> Result<Prepared<'r, P>> {
    let (mesh, mut stays) = (relations.mesh, fixed);
    let (cells, nodes) = (mesh.cells(), mesh.points().len());
    options.check(&[], nodes)?;
    if stays.len() != words(nodes) {
        let entries = 32 * stays.len();
        return Err(Error::FixedNodes { entries, nodes });
    }
    let (low, high) = mesh.bounds();
    let is_in_space = cells.is_surface() && low.z < high.z;
    options.check_kind(is_in_space, cells.is_simplicial())?;
    let mut weights = weights::weigh(on, relations, options.weights)?;
    match options.boundary {
        BoundaryRule::Fixed => join_bits(on, &relations.boundary.nodes, &mut stays)?,
        BoundaryRule::Slide => {
            let on_boundary = weights::slide(on, relations, &mut weights)?;
            join_bits(on, &on_boundary, &mut stays)?;
        }
    }
    cells.add_interfaces(on, &relations.incidence, &mut stays)?;
    let moving = Moving::new(on, &stays, &relations.neighbours)?;
    let classes = match options.form {
        Form::A | Form::B => Classes::One,
        Form::BColoured => Classes::Colours,
        Form::BExact => Classes::Levels,
    };
    // Guarded nodes of one colour share no cell; two nodes of a tetrahedron are neighbours by an edge.
    let by_cell = if options.guard && !cells.buffers().offsets.is_empty() {
        let relation = relations::Relation::Cell;
        Some(cells.neighbours(on, &relations.incidence, relation)?)
    } else {
        None
    };
    let way = order::OrderRule {
        along_curve: along_curve(options, nodes).then(|| mesh.bounds()),
        classes,
        conflicts: by_cell.as_ref().unwrap_or(&relations.neighbours),
    };
    let neighbours = &relations.neighbours;
    let ordered = Ordered::new(
        on,
        mesh.points(),
        &moving,
        neighbours,
        &weights,
        &way,
        colour,
    )?;
    Ok(Prepared {
        relations,
        ordered,
        form: options.form,
        guard: options.guard,
    })
}

/// Sweeps over prepared nodes, in the layout of the options.
///
/// # Errors
/// [`Error::OtherSweeps`] for options of another form or guard than the nodes were prepared for; else as [`run`].
pub fn relax<P: Vector>(
    on: &Device,
    prepared: &Prepared<'_, P>,
    options: &Options,
) -> Result<DeviceSmoothed<P>> {
    let Prepared { form, guard, .. } = *prepared;
    if (options.form, options.guard) != (form, guard) {
        return Err(Error::OtherSweeps { form, guard });
    }
    options.check(&[], 0)?;
    let Prepared {
        relations, ordered, ..
    } = prepared;
    let guard = options.guard.then(|| Guard {
        stars: relations.stars(),
        is_surface: relations.mesh.cells().is_surface(),
    });
    relax_ordered(on, ordered, relations.mesh.points(), guard, options)
}

/// Whether nodes lie along a curve during the sweeps.
fn along_curve(options: &Options, nodes: usize) -> bool {
    match options.renumber {
        Renumber::Auto => nodes >= RENUMBERED_FROM,
        Renumber::On => nodes > 0,
        Renumber::Off => false,
    }
}

/// Sweeps over ordered nodes; `guard` has the cells that no move may harm.
fn relax_ordered<'a, P: Vector>(
    on: &'a Device,
    ordered: &'a Ordered,
    points: &Buffer<P>,
    guard: Option<Guard<'a>>,
    options: &Options,
) -> Result<DeviceSmoothed<P>> {
    Ok(match options.layout {
        Layout::Soa => relax_in::<P::Soa>(on, ordered, points, guard, options),
        Layout::Aos => relax_in::<P::Aos>(on, ordered, points, guard, options),
        Layout::Aligned => relax_in::<P::Aligned>(on, ordered, points, guard, options),
    }?)
}

fn relax_in<'a, L: Nodes>(
    on: &'a Device,
    ordered: &'a Ordered,
    points: &Buffer<L::Point>,
    guard: Option<Guard<'a>>,
    options: &Options,
) -> crate::Result<DeviceSmoothed<L::Point>> {
    let arranged = arrange::<L>(on, ordered, points)?;
    let sweeps = Sweeps {
        on,
        ordered,
        form: options.form,
        blocks: options.blocks,
        guard,
        schedule: Schedule::new(options),
    };
    let (arranged, moves) = sweeps.run(arranged)?;
    Ok(DeviceSmoothed {
        points: restore(on, ordered, &arranged)?,
        moving: ordered.moving,
        moves,
    })
}

/// The points of all nodes, put into the layout and the order.
fn arrange<L: Nodes>(
    on: &Device,
    ordered: &Ordered,
    points: &Buffer<L::Point>,
) -> crate::Result<Buffer<L>> {
    let order = &ordered.order;
    let mut arranged = on.uninitialized(L::ELEMENTS * order.len())?;
    on.stage("into the layout", || {
        // SAFETY: the order is a permutation of the nodes.
        unsafe { kernel::arrange::launch(on, order.len() as u32, order, points, &mut arranged) }?;
        Ok(())
    })?;
    Ok(arranged)
}

/// The points of nodes that [`arrange`] put into the layout.
fn restore<L: Nodes>(
    on: &Device,
    ordered: &Ordered,
    arranged: &Buffer<L>,
) -> crate::Result<Buffer<L::Point>> {
    let ranks = &ordered.ranks;
    let mut points = on.uninitialized(ranks.len())?;
    on.stage("out of the layout", || {
        // SAFETY: ranks are places of the nodes.
        unsafe { kernel::restore::launch(on, ranks.len() as u32, ranks, arranged, &mut points) }?;
        Ok(())
    })?;
    Ok(points)
}
