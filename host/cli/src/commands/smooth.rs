//! `trioxide smooth`: Laplacian smoothing of volume and surface meshes.

use std::path::PathBuf;
use std::time::Instant;

use clap::{Args, ValueEnum};
use glam::{DVec3, Vec3};
use gpu::smooth::Vector;
use serde_json::json;
use trioxide::backend::{Device, Stage};
use trioxide::formats::volume::VolumeFormat;
use trioxide::formats::{self, Format};
use trioxide::mesh::Mesh;
use trioxide::quality3d::{Quality3d, quality};
use trioxide::smooth::cells::DeviceMesh;
use trioxide::smooth::{
    self, Blocks, BoundaryRule, Form, Layout, Method, Renumber, Smoothed, Weights, serial,
};
use trioxide::volume::VolumeMesh;
use trioxide::{Error, Result};

use super::cell_quality;
use super::ids::read_flags;
use trioxide_arguments::device::{DeviceOptions, Precision, Report};

/// Smooth a volume or surface mesh: every free node goes to the mean of its neighbours (Laplacian smoothing)
///
/// Nodes of the boundary, unless they slide, and nodes between cells of two regions stay where they are.
#[derive(Args)]
pub struct Options {
    /// Mesh to read: of volumes .vtu, .vtk, .msh, .mesh, .meshb, or .node and .ele; of surfaces .off, .obj, .ply, .vtu
    input: PathBuf,
    /// Mesh to write
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
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
    fixed: Option<PathBuf>,
    #[command(flatten)]
    device: DeviceOptions,
}

/// How nodes move.
#[derive(Args, Clone, Copy)]
pub struct WayOptions {
    /// Which positions a sweep takes: a, those before it; b, those of the moment (over many blocks a race: another result in
    /// each run); b-coloured, by colours; b-exact, in the order of ids [default: a; with --guard b-coloured]
    #[arg(long, value_enum)]
    form: Option<FormOption>,
    /// Layout of nodes in memory: structure of arrays, array of structures, array of aligned structures
    #[arg(long, value_enum, default_value = "aligned")]
    layout: LayoutOption,
    /// Blocks of threads that sweep
    #[arg(long, value_enum, default_value = "many")]
    blocks: BlocksOption,
    /// Whether nodes lie along a space-filling curve meanwhile; the result comes in the order of the input
    #[arg(long, value_enum, default_value = "auto")]
    renumber: RenumberOption,
    /// Take a move only if no cell around the node is turned around, and the worst quality around it does not fall
    #[arg(long)]
    guard: bool,
    /// What a node's neighbours weigh, before the first sweep: each the same; one over its distance; cotangents opposite to the
    /// edge (of triangles and tetrahedra)
    #[arg(long, value_enum, default_value = "uniform")]
    weights: WeightsOption,
    /// How far sweeps go: laplacian, to the mean; taubin, in turn half of the way there and 0.53 of it back, which keeps the
    /// volume (two sweeps are a step); hc, to the mean and back by what that was too far, which keeps it too
    #[arg(long, value_enum, default_value = "laplacian")]
    method: MethodOption,
    /// Of hc: what part of the way nodes go back to where they were at first, and what part of the push is their own and not their
    /// neighbours'; from 0 to 1 [default: 0.1,0.6]
    #[arg(long, value_name = "ALPHA,BETA", value_parser = parse_hc)]
    hc: Option<Hc>,
    /// Nodes of the boundary: fixed; or sliding, of a volume mesh on planar patches and along straight edges between them, of a
    /// surface along a straight border
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
    /// The library's options.
    fn options(&self) -> Result<smooth::Options> {
        let method = match (self.method, self.hc) {
            (MethodOption::Hc, None) => Method::HC,
            (MethodOption::Hc, Some(Hc([alpha, beta]))) => Method::Hc { alpha, beta },
            (_, Some(_)) => {
                let cause = "--hc says how --method hc goes: add --method hc, or leave --hc out";
                return Err(Error::Argument(cause.to_owned()));
            }
            (MethodOption::Laplacian, None) => Method::Laplacian,
            (MethodOption::Taubin, None) => Method::Taubin,
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

/// What a run gives besides the nodes.
struct Outcome {
    smoothed: Smoothed,
    device: String,
    stages: Vec<Stage>,
    peak_bytes: Option<u64>,
    /// Of volume meshes: before and after.
    quality: Option<[Quality3d; 2]>,
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    let settings = smooth::Options {
        tolerance: options.tolerance,
        max_iterations: options.max_iterations,
        ..options.way.options()?
    };
    let is_volume = formats::is_volume(&options.input);
    if let Some(output) = &options.output {
        if is_volume {
            VolumeFormat::to_write(output)?;
        } else {
            Format::to_write(output)?;
        }
    }
    let in_file = |error: Error| error.in_file(&options.input);
    if is_volume {
        let mut mesh = formats::read_volume(&options.input)?;
        let outcome = volume(&mesh, &settings, options).map_err(in_file)?;
        let cells = mesh.cells.len();
        report(options, &outcome, mesh.points.len(), "cells", cells)?;
        if let Some(output) = &options.output {
            mesh.points = outcome.smoothed.points;
            formats::write_volume(output, &mesh)?;
        }
    } else {
        let mut mesh = formats::read(&options.input)?;
        let outcome = surface(&mesh, &settings, options).map_err(in_file)?;
        report(
            options,
            &outcome,
            mesh.points.len(),
            "faces",
            mesh.faces.len(),
        )?;
        if let Some(output) = &options.output {
            mesh.points = outcome.smoothed.points;
            formats::write(output, &mesh)?;
            if !options.device.quiet {
                super::note_losses(Format::to_write(output)?, &mesh);
            }
        }
    }
    Ok(())
}

fn volume(mesh: &VolumeMesh, settings: &smooth::Options, options: &Options) -> Result<Outcome> {
    let fixed = fixed(options, mesh.points.len())?;
    match (options.device.open()?, options.device.precision) {
        (Some(on), Precision::F64) => volume_on::<DVec3>(&on, mesh, &fixed, settings),
        (Some(on), Precision::F32) => volume_on::<Vec3>(&on, mesh, &fixed, settings),
        (None, Precision::F64) => volume_serially::<DVec3>(mesh, &fixed, settings),
        (None, Precision::F32) => volume_serially::<Vec3>(mesh, &fixed, settings),
    }
}

fn volume_on<P: Vector>(
    on: &Device,
    mesh: &VolumeMesh,
    fixed: &[bool],
    settings: &smooth::Options,
) -> Result<Outcome> {
    smooth::check_options(settings, fixed, mesh.points.len())?;
    let resident = DeviceMesh::<P>::upload(on, mesh)?;
    let before = quality(on, &resident.cells, &resident.points)?;
    let bounds = smooth::bounds(&mesh.points);
    let result = smooth::smooth(on, &resident, bounds, fixed, settings)?;
    let after = quality(on, &resident.cells, &result.points)?;
    Ok(Outcome {
        smoothed: result.download(on)?,
        device: on.name(),
        stages: on.take_stages()?,
        peak_bytes: Some(on.peak_bytes()),
        quality: Some([before, after]),
    })
}

/// The sequential algorithm; what it made is measured as ever.
fn volume_serially<P: Vector>(
    mesh: &VolumeMesh,
    fixed: &[bool],
    settings: &smooth::Options,
) -> Result<Outcome> {
    let on = Device::cpu(Some(1))?;
    let resident = DeviceMesh::<P>::upload(&on, mesh)?;
    let outcome = serially(|| serial::volume::<P>(mesh, fixed, settings))?;
    let points: Vec<P> = outcome
        .smoothed
        .points
        .iter()
        .map(|&p| P::from_f64(p))
        .collect();
    let before = quality(&on, &resident.cells, &resident.points)?;
    let after = quality(&on, &resident.cells, &on.upload(&points)?)?;
    Ok(Outcome {
        quality: Some([before, after]),
        ..outcome
    })
}

fn surface(mesh: &Mesh, settings: &smooth::Options, options: &Options) -> Result<Outcome> {
    let fixed = fixed(options, mesh.points.len())?;
    match (options.device.open()?, options.device.precision) {
        (Some(on), Precision::F64) => surface_on::<DVec3>(&on, mesh, &fixed, settings),
        (Some(on), Precision::F32) => surface_on::<Vec3>(&on, mesh, &fixed, settings),
        (None, Precision::F64) => serially(|| serial::surface::<DVec3>(mesh, &fixed, settings)),
        (None, Precision::F32) => serially(|| serial::surface::<Vec3>(mesh, &fixed, settings)),
    }
}

fn surface_on<P: Vector>(
    on: &Device,
    mesh: &Mesh,
    fixed: &[bool],
    settings: &smooth::Options,
) -> Result<Outcome> {
    Ok(Outcome {
        smoothed: smooth::run_surface::<P>(on, mesh, fixed, settings)?,
        device: on.name(),
        stages: on.take_stages()?,
        peak_bytes: Some(on.peak_bytes()),
        quality: None,
    })
}

fn serially(run: impl FnOnce() -> Result<Smoothed>) -> Result<Outcome> {
    let start = Instant::now();
    Ok(Outcome {
        smoothed: run()?,
        device: "serial".to_owned(),
        stages: vec![Stage {
            name: "smooth",
            milliseconds: start.elapsed().as_secs_f64() * 1e3,
        }],
        peak_bytes: None,
        quality: None,
    })
}

/// Which nodes the file of `--fixed` names.
fn fixed(options: &Options, nodes: usize) -> Result<Vec<bool>> {
    let Some(path) = &options.fixed else {
        return Ok(Vec::new());
    };
    let what = format!("a node: the mesh has {nodes} nodes, from 0 on");
    read_flags(path, nodes, &what)
}

fn report(
    options: &Options,
    outcome: &Outcome,
    nodes: usize,
    elements: &'static str,
    count: usize,
) -> Result<()> {
    let moves = outcome.smoothed.moves;
    let mut counts = vec![
        ("vertices", json!(nodes)),
        (elements, json!(count)),
        ("moving_vertices", json!(outcome.smoothed.moving)),
        ("iterations", json!(moves.sweeps)),
        ("converged", json!(moves.converged)),
        ("max_displacement", json!(moves.max_displacement)),
        ("rms_displacement", json!(moves.rms_displacement)),
    ];
    if let Some([before, after]) = &outcome.quality {
        counts.extend([
            ("inverted_before", json!(before.inverted)),
            ("inverted_after", json!(after.inverted)),
            ("worst_quality_before", json!(before.worst_jacobian)),
            ("worst_quality_after", json!(after.worst_jacobian)),
        ]);
        if let (Some(before), Some(after)) = (&before.tetrahedra, &after.tetrahedra) {
            counts.extend([
                ("smallest_angle_before", json!(before.smallest_angle)),
                ("smallest_angle_after", json!(after.smallest_angle)),
                ("largest_radius_ratio_before", json!(before.largest_ratio)),
                ("largest_radius_ratio_after", json!(after.largest_ratio)),
            ]);
        }
        counts.extend([
            ("quality_before", cell_quality::to_json(before)),
            ("quality_after", cell_quality::to_json(after)),
        ]);
    }
    Report {
        command: "smooth",
        input: &options.input,
        device: outcome.device.clone(),
        stages: outcome.stages.clone(),
        counts,
        peak_bytes: outcome.peak_bytes,
    }
    .give(&options.device)
}
