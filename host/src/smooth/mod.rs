//! Laplacian smoothing on a device. The kernels, and what they cover of the paper, are in `gpu::smooth`.

pub mod cells;
pub mod order;
pub mod serial;
pub mod sweeps;
mod weights;

use glam::DVec3;
use gpu::smooth::{self as kernel, Nodes, Vector};
use trioxide_kernel::launch::Buffer;

use crate::backend::Device;
use crate::mesh::Mesh;
use crate::volume::VolumeMesh;
pub use crate::volume::bounds;
use crate::{Error, Result};
use cells::{Boundary, DeviceMesh, Incidence, Neighbours, Relation};
use order::{Classes, Moving, Ordered};
use sweeps::{Moves, Schedule};

/// Which positions a sweep takes of a node's neighbours (section 2.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// Those before the sweep: Jacobi's iteration.
    #[default]
    A,
    /// Those of the moment: over one block in chunks of 512 nodes, over many as they race.
    B,
    /// As Gauss-Seidel's iteration in the order of colours, then ids: no two neighbours have one colour.
    BColoured,
    /// As Gauss-Seidel's iteration in the order of ids.
    BExact,
}

/// Data layout of nodes (section 2.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    /// Structure of arrays.
    Soa,
    /// Array of structures of three coordinates.
    Aos,
    /// Array of structures of four coordinates.
    #[default]
    Aligned,
}

/// Blocks of threads that sweep (section 3.2.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Blocks {
    /// One.
    One,
    /// As many as there are nodes for.
    #[default]
    Many,
}

/// Whether nodes lie along a space-filling curve in memory while they are smoothed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Renumber {
    /// From [`RENUMBERED_FROM`] nodes on.
    #[default]
    Auto,
    /// Always.
    On,
    /// Never.
    Off,
}

/// What a node's neighbours weigh in the mean. Those of the mesh before the first sweep, which stay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Weights {
    /// Each the same.
    #[default]
    Uniform,
    /// One over its distance.
    InverseLength,
    /// The cotangents opposite to the edge: of angles in triangles, of dihedral angles, times the edge, in tetrahedra. Of an edge
    /// where their sum is negative, 0.
    Cotangent,
}

/// How far sweeps go.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Method {
    /// To the mean.
    #[default]
    Laplacian,
    /// Half of the way to the mean, and in the next sweep 0.53 of it away: what is smooth keeps its size (Taubin, A signal
    /// processing approach to fair surface design, 1995, section 4).
    Taubin,
    /// To the mean, and back by what that was too far, of the node and of its neighbours: noise goes, size stays (Vollmer, Mencl
    /// and Müller, Improved Laplacian smoothing of noisy surface meshes, 1999). Numbers from 0 to 1.
    Hc {
        /// Part of the way back to where nodes were at first.
        alpha: f64,
        /// What the node itself counts for, and not its neighbours.
        beta: f64,
    },
}

impl Method {
    /// HC smoothing that holds on a little to where nodes were at first.
    pub const HC: Method = Method::Hc {
        alpha: 0.1,
        beta: 0.6,
    };

    /// How far sweeps of even and of odd number go to the mean: 1 is all the way.
    pub fn factors(self) -> [f64; 2] {
        match self {
            Method::Laplacian | Method::Hc { .. } => [1.0; 2],
            Method::Taubin => [0.5, -0.53],
        }
    }
}

/// What nodes of the boundary of a volume mesh, or of the border of a surface, do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BoundaryRule {
    /// Stay.
    #[default]
    Fixed,
    /// Go to the mean of their neighbours on the same planar patch of the boundary, or on the same straight edge between two; of a
    /// surface, on the same straight border. Others stay.
    Slide,
}

/// Nodes from which a mesh is renumbered by itself.
pub const RENUMBERED_FROM: usize = 1 << 16;

/// How to smooth.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Which positions a sweep takes.
    pub form: Form,
    /// Layout of nodes.
    pub layout: Layout,
    /// Blocks that sweep.
    pub blocks: Blocks,
    /// A sweep that moves each node by less is the last; 0 for none.
    pub tolerance: f64,
    /// Most sweeps.
    pub max_iterations: u32,
    /// Whether nodes are renumbered. Shows in the result only of form B by one block.
    pub renumber: Renumber,
    /// Whether a move is taken only if it harms no cell: by colours, in place.
    pub guard: bool,
    /// What neighbours weigh.
    pub weights: Weights,
    /// How far sweeps go.
    pub method: Method,
    /// What nodes of the boundary do.
    pub boundary: BoundaryRule,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            form: Form::default(),
            layout: Layout::default(),
            blocks: Blocks::default(),
            tolerance: 0.0,
            max_iterations: 100,
            renumber: Renumber::default(),
            guard: false,
            weights: Weights::default(),
            method: Method::default(),
            boundary: BoundaryRule::default(),
        }
    }
}

/// A smoothed mesh's nodes, in the order of the input.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Smoothed {
    /// Coordinates.
    pub points: Vec<DVec3>,
    /// Number of nodes that may move.
    pub moving: u32,
    /// What the sweeps did.
    pub moves: Moves,
}

/// What smoothing needs to know of a mesh on a device.
pub struct Relations {
    /// Cells of each node.
    pub incidence: Incidence,
    /// Neighbours of each node.
    pub neighbours: Neighbours,
    /// Boundary.
    pub boundary: Boundary,
}

impl Relations {
    /// Finds them.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new<P: Vector>(on: &Device, mesh: &DeviceMesh<P>) -> Result<Self> {
        let incidence = mesh.cells.incidence(on)?;
        Ok(Self {
            neighbours: mesh.cells.neighbours(on, &incidence, Relation::Edge)?,
            boundary: mesh.cells.boundary(on, &incidence)?,
            incidence,
        })
    }
}

/// Smooths a volume mesh: from host arrays to host arrays. Nodes of the boundary, of interfaces between regions, and those for
/// which `fixed` is true stay; `fixed` has an element for each node, or none.
///
/// # Errors
/// [`Error::Argument`] for options out of range, [`Error::Invalid`] for a mesh that breaks a rule, with the element;
/// [`Error::OutOfMemory`].
pub fn run<P: Vector>(
    on: &Device,
    mesh: &VolumeMesh,
    fixed: &[bool],
    options: &Options,
) -> Result<Smoothed> {
    check_options(options, fixed, mesh.points.len())?;
    let resident = DeviceMesh::<P>::upload(on, mesh)?;
    smooth(on, &resident, bounds(&mesh.points), fixed, options)?.download(on)
}

/// Smooths a surface mesh as [`run`] does a volume mesh.
///
/// # Errors
/// As [`run`].
pub fn run_surface<P: Vector>(
    on: &Device,
    mesh: &Mesh,
    fixed: &[bool],
    options: &Options,
) -> Result<Smoothed> {
    check_options(options, fixed, mesh.points.len())?;
    let resident = DeviceMesh::<P>::upload_surface(on, mesh)?;
    smooth(on, &resident, bounds(&mesh.points), fixed, options)?.download(on)
}

/// The error of options that mean nothing.
///
/// # Errors
/// [`Error::Argument`].
pub fn check_options(options: &Options, fixed: &[bool], nodes: usize) -> Result<()> {
    let wrong = if !(options.tolerance >= 0.0 && options.tolerance.is_finite()) {
        format!(
            "a tolerance of {} stops nothing: give a length, or 0 for none",
            options.tolerance
        )
    } else if !fixed.is_empty() && fixed.len() != nodes {
        format!(
            "{} nodes are told to be fixed or not, but the mesh has {nodes}",
            fixed.len()
        )
    } else if options.blocks == Blocks::One
        && matches!(options.form, Form::BColoured | Form::BExact)
    {
        "coloured and exact sweeps are of many blocks: one block's form B is deterministic as it is"
            .to_owned()
    } else if options.guard && options.form != Form::BColoured {
        "guarded sweeps are by colours: they need form b-coloured".to_owned()
    } else if let Some(wrong) = wrong_hc(options) {
        wrong
    } else {
        return Ok(());
    };
    Err(Error::Argument(wrong))
}

/// Why HC smoothing cannot be done with these options.
fn wrong_hc(options: &Options) -> Option<String> {
    let Method::Hc { alpha, beta } = options.method else {
        return None;
    };
    let range = 0.0..=1.0;
    if !range.contains(&alpha) || !range.contains(&beta) {
        Some(format!(
            "alpha and beta of HC smoothing are parts of a whole, not {alpha} and {beta}: give numbers from 0 to 1"
        ))
    } else if options.form != Form::A || options.blocks != Blocks::Many {
        let needs =
            "HC smoothing moves all nodes at the same time: it needs form a over many blocks";
        Some(needs.to_owned())
    } else {
        None
    }
}

/// The error of options that this mesh cannot be smoothed with. `is_simplicial`: all cells are tetrahedra, or triangles.
///
/// # Errors
/// [`Error::Argument`].
pub(crate) fn check_kind(options: &Options, is_surface: bool, is_simplicial: bool) -> Result<()> {
    let wrong = if is_surface && options.guard {
        "the guard is of volume meshes: smooth a surface without it"
    } else if options.weights == Weights::Cotangent && !is_simplicial {
        "cotangent weights are of triangles and tetrahedra only: take uniform or inverse-length ones"
    } else {
        return Ok(());
    };
    Err(Error::Argument(wrong.to_owned()))
}

/// A smoothed mesh on a device.
pub struct DeviceSmoothed<P> {
    /// Coordinates, in the order of the input; V.
    pub points: Buffer<P>,
    /// Number of nodes that may move.
    pub moving: u32,
    /// What the sweeps did.
    pub moves: Moves,
}

impl<P: Vector> DeviceSmoothed<P> {
    /// The result in host memory.
    ///
    /// # Errors
    /// Those of the device.
    pub fn download(&self, on: &Device) -> Result<Smoothed> {
        on.stage("copy to the host", || {
            let points = on.download(&self.points)?;
            Ok(Smoothed {
                points: points.into_iter().map(P::to_f64).collect(),
                moving: self.moving,
                moves: self.moves,
            })
        })
    }
}

/// A bit set of booleans.
fn pack(flags: &[bool], bits: usize) -> Vec<u32> {
    let mut words = vec![0; bits.div_ceil(32)];
    for (i, _) in flags.iter().enumerate().filter(|(_, flag)| **flag) {
        words[i / 32] |= 1 << (i % 32);
    }
    words
}

/// Smooths a mesh on the device; `bounds` are those of its points.
///
/// # Errors
/// Those of the device.
pub fn smooth<P: Vector>(
    on: &Device,
    mesh: &DeviceMesh<P>,
    bounds: (DVec3, DVec3),
    fixed: &[bool],
    options: &Options,
) -> Result<DeviceSmoothed<P>> {
    let relations = Relations::new(on, mesh)?;
    let ordered = prepare(on, mesh, &relations, bounds, fixed, options)?;
    relax(on, mesh, &relations, &ordered, options)
}

/// Decides which nodes move, and orders them.
///
/// # Errors
/// Those of the device.
pub fn prepare<P: Vector>(
    on: &Device,
    mesh: &DeviceMesh<P>,
    relations: &Relations,
    bounds: (DVec3, DVec3),
    fixed: &[bool],
    options: &Options,
) -> Result<Ordered> {
    let nodes = mesh.points.len();
    let cells = &mesh.cells;
    check_kind(options, cells.is_surface, cells.is_simplicial())?;
    let mut stays = on.upload(&pack(fixed, nodes))?;
    let words = stays.len() as u32;
    let mut weights = weights::weigh(on, mesh, relations, options.weights)?;
    match options.boundary {
        BoundaryRule::Fixed => {
            unsafe { kernel::join_bits::launch(on, words, &relations.boundary.nodes, &mut stays) }?;
        }
        BoundaryRule::Slide => {
            let on_boundary = weights::slide(on, mesh, relations, &mut weights)?;
            unsafe { kernel::join_bits::launch(on, words, &on_boundary, &mut stays) }?;
        }
    }
    mesh.cells
        .add_interfaces(on, &relations.incidence, &mut stays)?;
    let moving = Moving::new(on, &stays, &relations.neighbours)?;
    let is_renumbered = match options.renumber {
        Renumber::Auto => nodes >= RENUMBERED_FROM,
        Renumber::On => nodes > 0,
        Renumber::Off => false,
    };
    let classes = match options.form {
        Form::A | Form::B => Classes::One,
        Form::BColoured => Classes::Colours,
        Form::BExact => Classes::Levels,
    };
    // Guarded nodes of one colour share no cell; in tetrahedra edges say as much.
    let by_cell = if options.guard && !mesh.cells.offsets.is_empty() {
        let incidence = &relations.incidence;
        Some(mesh.cells.neighbours(on, incidence, Relation::Cell)?)
    } else {
        None
    };
    Ordered::new(
        on,
        &mesh.points,
        &moving,
        &relations.neighbours,
        &weights,
        is_renumbered.then_some(bounds),
        classes,
        by_cell.as_ref().unwrap_or(&relations.neighbours),
    )
}

/// Sweeps over ordered nodes.
///
/// # Errors
/// Those of the device.
pub fn relax<P: Vector>(
    on: &Device,
    mesh: &DeviceMesh<P>,
    relations: &Relations,
    ordered: &Ordered,
    options: &Options,
) -> Result<DeviceSmoothed<P>> {
    match options.layout {
        Layout::Soa => relax_in::<P::Soa>(on, mesh, relations, ordered, options),
        Layout::Aos => relax_in::<P::Aos>(on, mesh, relations, ordered, options),
        Layout::Aligned => relax_in::<P::Aligned>(on, mesh, relations, ordered, options),
    }
}

fn relax_in<L: Nodes>(
    on: &Device,
    mesh: &DeviceMesh<L::Point>,
    relations: &Relations,
    ordered: &Ordered,
    options: &Options,
) -> Result<DeviceSmoothed<L::Point>> {
    let nodes = mesh.points.len();
    let mut arranged = on.uninitialized::<L>(L::ELEMENTS * nodes)?;
    on.stage("into the layout", || {
        Ok(unsafe {
            kernel::arrange::launch(
                on,
                nodes as u32,
                &ordered.order,
                &mesh.points,
                &mut arranged,
            )
        }?)
    })?;
    let schedule = Schedule {
        tolerance: options.tolerance,
        max_sweeps: options.max_iterations,
        method: options.method,
    };
    let guard = options.guard.then_some(sweeps::Guard {
        cells: &mesh.cells,
        incidence: &relations.incidence,
    });
    let way = sweeps::Way {
        form: options.form,
        blocks: options.blocks,
        guard,
    };
    let (arranged, moves) = sweeps::sweep(on, ordered, arranged, way, schedule)?;
    let mut points = on.uninitialized(nodes)?;
    on.stage("out of the layout", || {
        Ok(unsafe {
            kernel::restore::launch(on, nodes as u32, &ordered.order, &arranged, &mut points)
        }?)
    })?;
    Ok(DeviceSmoothed {
        points,
        moving: ordered.moving,
        moves,
    })
}
