//! `trioxide smooth`: Laplacian smoothing of volume and surface meshes.

use std::path::PathBuf;
use std::time::Instant;

use clap::{Args, ValueEnum};
use glam::{DVec3, Vec3};
use gpu::smooth::Vector;
use trioxide::device::{Device, Stage};
use trioxide::formats::volume::VolumeFormat;
use trioxide::formats::{Format, ReadOptions};
use trioxide::mesh::Mesh;
use trioxide::quality3d::{Quality3d, quality};
use trioxide::smooth::{
    self, Blocks, BoundaryRule, DeviceMesh, Form, Layout, Method, Renumber, Smoothed, Weights,
    serial,
};
use trioxide::volume::VolumeMesh;
use trioxide::{Error, Result, progress};

use super::ids::read_flags;
use report::report;
use trioxide_arguments::account;
use trioxide_arguments::auto::Work;
use trioxide_arguments::device::{self, DeviceOptions, Opening, Report};
use trioxide_operations::Precision;

#[path = "smooth_report.rs"]
mod report;

const DEFAULTS: &str = "Where defaults come from: this machine (--device auto, --threads: all cores); the mesh (--renumber auto: from 65,536 nodes on); MeshLab (--lambda 0.5, --mu -0.53). The others are \
    trioxide's own: a form that gives the same bits on every machine, and what changes least.";

/// Smooth a volume or surface mesh: every free node goes to the mean of its neighbours (Laplacian smoothing)
///
/// Nodes of the boundary, unless they slide, and nodes between cells of two regions stay where they are.
///
/// Under mpirun several processes smooth one mesh of triangles or tetrahedra by form a or b-coloured, each on its own
/// GPU (cargo xtask build --mpi), to the same bits, and write the file of one, or a .pvtu with a piece of each.
#[derive(Args)]
#[command(after_help = DEFAULTS)]
pub struct Options {
    /// Mesh to read: of volumes .vtu, .vtk, .msh, .mesh, .meshb, or .node and .ele; of surfaces these,
    /// .off, .obj, .ply, .vtp, .inp and others
    pub input: PathBuf,
    /// Mesh to write
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    way: WayOptions,
    /// Stop after a sweep that moves each node by less than this; 0: never
    #[arg(long, value_name = "LENGTH", default_value_t = 0.0)]
    tolerance: f64,
    /// Most sweeps
    #[arg(long, value_name = "N", default_value_t = 100)]
    max_iterations: u32,
    /// File with ids of nodes that stay, one a line (0 is the first)
    #[arg(long, value_name = "FILE")]
    pub fixed: Option<PathBuf>,
    /// Precision of coordinates on the device
    #[arg(long, value_enum, default_value_t)]
    pub precision: Precision,
    #[command(flatten)]
    pub reading: ReadOptions,
    #[command(flatten)]
    pub device: DeviceOptions,
}

/// How nodes move.
#[derive(Args, Clone, Copy)]
pub struct WayOptions {
    /// Positions of the neighbours: a, before the sweep; b, of the moment (over many blocks a race: another result in
    /// each run); b-coloured, of the moment by colours; b-exact, of the moment in the order of ids
    /// [default: a; with --guard b-coloured]
    #[arg(long, value_enum)]
    form: Option<FormOption>,
    /// Layout of nodes in memory: structure of arrays, array of structures, array of aligned structures
    #[arg(long, value_enum, default_value = "aligned")]
    layout: LayoutOption,
    /// Blocks of threads that sweep
    #[arg(long, value_enum, default_value = "many")]
    blocks: BlocksOption,
    /// Whether nodes lie along a space-filling curve during the sweeps; the result has the order of the input
    #[arg(long, value_enum, default_value = "auto")]
    renumber: RenumberOption,
    /// Take a move only if no cell around the node is turned around, and the worst quality around it does not fall
    #[arg(long)]
    guard: bool,
    /// Weights of a node's neighbours, measured before the first sweep: each the same; one over the distance;
    /// cotangents opposite to the edge (triangles and tetrahedra only), 0 where their sum is negative: obtuse angles
    /// would push a node away
    #[arg(long, value_enum, default_value = "uniform")]
    weights: WeightsOption,
    /// How far sweeps go: laplacian, to the mean; taubin, alternately --lambda of the way there and --mu of it back,
    /// which keeps the volume (two sweeps are a step); hc, to the mean and back by the excess, which keeps the volume
    /// too
    #[arg(long, value_enum, default_value = "laplacian")]
    method: MethodOption,
    /// Taubin's factor of the way to the mean, above 0 [default: 0.5]
    #[arg(long, value_name = "FACTOR")]
    lambda: Option<f64>,
    /// Taubin's factor of the way back: from -1 to below minus lambda
    /// [default: -0.53; with --lambda 0.03 below minus it]
    #[arg(long, value_name = "FACTOR", allow_negative_numbers = true)]
    mu: Option<f64>,
    /// Parameters of hc, from 0 to 1: the part of the way that nodes go back to where they were at first, and the part
    /// of the push that is their own and not their neighbours' [default: 0.1,0.6]
    #[arg(long, value_name = "ALPHA,BETA", value_parser = parse_hc)]
    hc: Option<Hc>,
    /// Nodes of the boundary: fixed; or sliding, in a volume mesh on planar patches and along straight edges between
    /// them, in a surface along a straight border
    #[arg(long, value_enum, default_value = "fixed")]
    boundary: BoundaryOption,
}

#[derive(Clone, Copy, ValueEnum)]
enum WeightsOption {
    Uniform,
    InverseLength,
    Cotangent,
}

#[derive(Clone, Copy, ValueEnum)]
enum MethodOption {
    Laplacian,
    Taubin,
    Hc,
}

/// As alpha, beta.
#[derive(Clone, Copy)]
struct Hc([f64; 2]);

fn parse_hc(text: &str) -> Result<Hc, String> {
    let parts: Vec<_> = text.split(',').map(|part| part.trim().parse()).collect();
    match parts[..] {
        [Ok(alpha), Ok(beta)] => Ok(Hc([alpha, beta])),
        _ => Err("is not ALPHA,BETA, two numbers from 0 to 1".to_owned()),
    }
}

#[derive(Clone, Copy, ValueEnum)]
enum BoundaryOption {
    Fixed,
    Slide,
}

#[derive(Clone, Copy, ValueEnum)]
enum FormOption {
    A,
    B,
    BColoured,
    BExact,
}

#[derive(Clone, Copy, ValueEnum)]
enum LayoutOption {
    Soa,
    Aos,
    Aligned,
}

#[derive(Clone, Copy, ValueEnum)]
enum BlocksOption {
    One,
    Many,
}

#[derive(Clone, Copy, ValueEnum)]
enum RenumberOption {
    Auto,
    On,
    Off,
}

impl WayOptions {
    /// Taubin's factors; mu is 0.03 below minus lambda unless it is given.
    fn taubin(&self) -> Method {
        match (self.lambda, self.mu) {
            (None, None) => Method::TAUBIN,
            (Some(lambda), Some(mu)) => Method::Taubin { lambda, mu },
            (Some(lambda), None) => Method::Taubin {
                lambda,
                mu: -lambda - 0.03,
            },
            (None, Some(mu)) => Method::Taubin { lambda: 0.5, mu },
        }
    }

    /// The library's options.
    fn options(&self) -> Result<smooth::Options> {
        let has_factors = self.lambda.is_some() || self.mu.is_some();
        if has_factors && !matches!(self.method, MethodOption::Taubin) {
            let cause = "--lambda and --mu are the factors of --method taubin: add --method taubin, or leave them out";
            return Err(Error::Argument(cause.to_owned()));
        }
        let method = match (self.method, self.hc) {
            (MethodOption::Hc, None) => Method::HC,
            (MethodOption::Hc, Some(Hc([alpha, beta]))) => Method::Hc { alpha, beta },
            (_, Some(_)) => {
                let cause =
                    "--hc has the parameters of --method hc: add --method hc, or leave --hc out";
                return Err(Error::Argument(cause.to_owned()));
            }
            (MethodOption::Laplacian, None) => Method::Laplacian,
            (MethodOption::Taubin, None) => self.taubin(),
        };
        let form = match self.form {
            None if self.guard => Form::BColoured,
            None | Some(FormOption::A) => Form::A,
            Some(FormOption::B) => Form::B,
            Some(FormOption::BColoured) => Form::BColoured,
            Some(FormOption::BExact) => Form::BExact,
        };
        Ok(smooth::Options {
            form,
            layout: match self.layout {
                LayoutOption::Soa => Layout::Soa,
                LayoutOption::Aos => Layout::Aos,
                LayoutOption::Aligned => Layout::Aligned,
            },
            blocks: match self.blocks {
                BlocksOption::One => Blocks::One,
                BlocksOption::Many => Blocks::Many,
            },
            renumber: match self.renumber {
                RenumberOption::Auto => Renumber::Auto,
                RenumberOption::On => Renumber::On,
                RenumberOption::Off => Renumber::Off,
            },
            guard: self.guard,
            weights: match self.weights {
                WeightsOption::Uniform => Weights::Uniform,
                WeightsOption::InverseLength => Weights::InverseLength,
                WeightsOption::Cotangent => Weights::Cotangent,
            },
            method,
            boundary: match self.boundary {
                BoundaryOption::Fixed => BoundaryRule::Fixed,
                BoundaryOption::Slide => BoundaryRule::Slide,
            },
            ..smooth::Options::default()
        })
    }
}

/// The result of a run.
struct Outcome {
    smoothed: Smoothed,
    device: String,
    stages: Vec<Stage>,
    peak_bytes: Option<u64>,
    /// Quality before and after, of a volume mesh.
    quality: Option<[Quality3d; 2]>,
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    let is_volume = super::is_volume(&options.input, options.reading);
    if let Some(output) = &options.output {
        if is_volume {
            VolumeFormat::to_write(output)?;
        } else {
            Format::to_write(output)?;
        }
    }
    let quiet = options.device.quiet;
    // A bad combination is refused before a long read.
    options.settings()?;
    let opening = options.device.begin(&options.input, options.work());
    let report = if is_volume {
        let mut mesh = super::read_volume(&options.input, options.reading, quiet)?;
        let report = apply_to_volume(options, &mut mesh, opening)?;
        if let Some(output) = &options.output {
            super::write_volume(output, &mesh, Default::default(), quiet)?;
        }
        report
    } else {
        let mut mesh = super::read_mesh(&options.input, options.reading, quiet)?;
        let report = apply_to_surface(options, &mut mesh, opening)?;
        if let Some(output) = &options.output {
            super::write_mesh(output, &mesh, quiet)?;
        }
        report
    };
    report.give(&options.device)
}

/// Smooths a volume mesh on the machine that `opening` gives.
pub fn apply_to_volume<'a>(
    options: &'a Options,
    mesh: &mut VolumeMesh,
    opening: Opening,
) -> Result<Report<'a>> {
    let in_file = |error| options.in_file(error);
    let settings = options.settings()?;
    check_cells(mesh.points.len(), mesh.cells.len(), "cells").map_err(in_file)?;
    let outcome = volume(mesh, &settings, options, opening).map_err(in_file)?;
    let counts = [mesh.points.len(), mesh.cells.len()];
    let report = report(options, &outcome, counts, "cells");
    mesh.points = outcome.smoothed.points;
    Ok(report)
}

/// Smooths a surface on the machine that `opening` gives.
pub fn apply_to_surface<'a>(
    options: &'a Options,
    mesh: &mut Mesh,
    opening: Opening,
) -> Result<Report<'a>> {
    let in_file = |error| options.in_file(error);
    let settings = options.settings()?;
    check_cells(mesh.points.len(), mesh.faces.len(), "faces").map_err(in_file)?;
    let outcome = surface(mesh, &settings, options, opening).map_err(in_file)?;
    let counts = [mesh.points.len(), mesh.faces.len()];
    let report = report(options, &outcome, counts, "faces");
    mesh.points = outcome.smoothed.points;
    Ok(report)
}

impl Options {
    /// The library's options.
    pub fn settings(&self) -> Result<smooth::Options> {
        Ok(smooth::Options {
            tolerance: self.tolerance,
            max_iterations: self.max_iterations,
            ..self.way.options()?
        })
    }

    /// The work for the choice of a machine.
    pub fn work(&self) -> Work {
        Work::SMOOTH.and(Work::SWEEP.times(f64::from(self.max_iterations)))
    }

    pub fn in_file(&self, error: Error) -> Error {
        super::with_precision(error, self.precision).in_file(&self.input)
    }
}

/// Refuses a mesh in which no node has a neighbour.
pub fn check_cells(vertices: usize, cells: usize, what: &str) -> Result<()> {
    match cells {
        0 => Err(Error::Invalid {
            element: "the mesh".to_owned(),
            rule: format!(
                "has {vertices} vertices and no {what}: vertices move to the mean of their neighbours in {what}, so give a \
                 mesh that has some"
            ),
        }),
        _ => Ok(()),
    }
}

fn volume(
    mesh: &VolumeMesh,
    settings: &smooth::Options,
    options: &Options,
    opening: Opening,
) -> Result<Outcome> {
    let fixed = fixed(options, mesh.points.len())?;
    device::run(&opening.open()?, |device| {
        match (device, options.precision) {
            (Some(on), Precision::F64) => volume_on::<DVec3>(on, mesh, &fixed, settings),
            (Some(on), Precision::F32) => volume_on::<Vec3>(on, mesh, &fixed, settings),
            (None, Precision::F64) => volume_serially::<DVec3>(mesh, &fixed, settings),
            (None, Precision::F32) => volume_serially::<Vec3>(mesh, &fixed, settings),
        }
    })
}

fn volume_on<P: Vector>(
    on: &Device,
    mesh: &VolumeMesh,
    fixed: &[bool],
    settings: &smooth::Options,
) -> Result<Outcome> {
    settings.check(fixed, mesh.points.len()).map_err(by_flags)?;
    let resident = DeviceMesh::<P>::upload(on, mesh)?;
    let before = quality(on, resident.cells(), resident.points())?;
    let result = smooth::smooth(on, &resident, fixed, settings).map_err(by_flags)?;
    let after = quality(on, resident.cells(), result.points())?;
    Ok(Outcome {
        smoothed: result.download(on)?,
        device: on.name(),
        stages: account::take_stages(on)?,
        peak_bytes: Some(on.peak_bytes()),
        quality: Some([before, after]),
    })
}

/// The sequential algorithm; its result is measured by the CPU.
fn volume_serially<P: Vector>(
    mesh: &VolumeMesh,
    fixed: &[bool],
    settings: &smooth::Options,
) -> Result<Outcome> {
    settings.check(fixed, mesh.points.len()).map_err(by_flags)?;
    let on = Device::cpu(Some(1))?;
    let resident = DeviceMesh::<P>::upload(&on, mesh)?;
    let outcome = serially(|| serial::volume::<P>(mesh, fixed, settings))?;
    let points: Vec<P> = outcome
        .smoothed
        .points
        .iter()
        .map(|&p| P::from_f64(p))
        .collect();
    let before = quality(&on, resident.cells(), resident.points())?;
    let after = quality(&on, resident.cells(), &on.upload(&points)?)?;
    Ok(Outcome {
        quality: Some([before, after]),
        ..outcome
    })
}

fn surface(
    mesh: &Mesh,
    settings: &smooth::Options,
    options: &Options,
    opening: Opening,
) -> Result<Outcome> {
    let fixed = fixed(options, mesh.points.len())?;
    device::run(&opening.open()?, |device| {
        match (device, options.precision) {
            (Some(on), Precision::F64) => surface_on::<DVec3>(on, mesh, &fixed, settings),
            (Some(on), Precision::F32) => surface_on::<Vec3>(on, mesh, &fixed, settings),
            (None, Precision::F64) => surface_serially::<DVec3>(mesh, &fixed, settings),
            (None, Precision::F32) => surface_serially::<Vec3>(mesh, &fixed, settings),
        }
    })
}

fn surface_on<P: Vector>(
    on: &Device,
    mesh: &Mesh,
    fixed: &[bool],
    settings: &smooth::Options,
) -> Result<Outcome> {
    Ok(Outcome {
        smoothed: smooth::run_surface::<P>(on, mesh, fixed, settings).map_err(by_flags)?,
        device: on.name(),
        stages: account::take_stages(on)?,
        peak_bytes: Some(on.peak_bytes()),
        quality: None,
    })
}

/// The sequential algorithm, after the check of the devices: every machine refuses the same meshes in the same words.
fn surface_serially<P: Vector>(
    mesh: &Mesh,
    fixed: &[bool],
    settings: &smooth::Options,
) -> Result<Outcome> {
    settings.check(fixed, mesh.points.len()).map_err(by_flags)?;
    drop(DeviceMesh::<P>::upload_surface(
        &Device::cpu(Some(1))?,
        mesh,
    )?);
    serially(|| serial::surface::<P>(mesh, fixed, settings))
}

fn serially(run: impl FnOnce() -> smooth::Result<Smoothed>) -> Result<Outcome> {
    progress::stage("smooth, sequentially");
    let start = Instant::now();
    let smoothed = run().map_err(by_flags)?;
    let stages = vec![Stage {
        name: "smooth",
        milliseconds: start.elapsed().as_secs_f64() * 1e3,
    }];
    account::stages(&stages);
    Ok(Outcome {
        smoothed,
        device: "serial".to_owned(),
        stages,
        peak_bytes: None,
        quality: None,
    })
}

/// The cause, with the flags that remedy it.
pub fn by_flags(error: smooth::Error) -> Error {
    let remedy = match error {
        smooth::Error::OneBlock => {
            "coloured and exact sweeps need many blocks: with --blocks one use --form b, which is deterministic there"
        }
        smooth::Error::GuardedForm(_) => {
            "guarded sweeps go by colours: use --form b-coloured, or leave --form out"
        }
        smooth::Error::HcForm => {
            "HC smoothing moves all nodes at the same time: it needs form a over many blocks"
        }
        smooth::Error::GuardedSurface => {
            "the guard is for volume meshes only: smooth a surface without --guard"
        }
        smooth::Error::CotangentCells => {
            "cotangent weights are for triangles and tetrahedra only: use --weights uniform or inverse-length"
        }
        smooth::Error::Race => {
            "form b over many blocks is a race, which --device serial cannot run: use --form b-exact"
        }
        other => return other.into(),
    };
    Error::Argument(remedy.to_owned())
}

/// The nodes that the file of `--fixed` names, as flags; none without it.
pub fn fixed(options: &Options, nodes: usize) -> Result<Vec<bool>> {
    let Some(path) = &options.fixed else {
        return Ok(Vec::new());
    };
    let what = format!("a node: the mesh has {nodes} nodes, from 0 on");
    read_flags(path, nodes, &what)
}
