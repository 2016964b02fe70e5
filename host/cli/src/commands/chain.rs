//! `trioxide chain`: several commands on one mesh, in one process.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::{ArgMatches, Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use serde_json::{Value, json};
use trioxide::device::{Choice, Device};
use trioxide::formats::volume::VolumeFormat;
use trioxide::formats::{Format, ReadOptions};
use trioxide::mesh::{Faces, Mesh};
use trioxide::outline::OutlineMesh;
use trioxide::volume::VolumeMesh;
use trioxide::{Error, Result};
use trioxide_arguments::auto::Work;
use trioxide_arguments::device::{DeviceOptions, Opening, Report};
use trioxide_arguments::{account, is_standard_output, print, write_json};

use super::{polylla, refine, smooth, triangulate, weld};
use crate::outputs;

/// Run several commands on one mesh, in one process: IN.ply : weld --epsilon 1e-3 : polylla : -o OUT.vtu
///
/// Steps stand after colons: triangulate, weld, smooth, refine and polylla with their options, without an input; each
/// takes the mesh of the one before. -o FILE, as an option of a step or a step of its own, writes the mesh there. The
/// result has the same bits as by separate runs with files between that keep all of a mesh (.vtu). The device starts
/// once, and no file is written or read between steps.
/// --device, --threads, --timings, --json and --quiet stand before the first colon.
#[derive(Args)]
pub struct Options {
    /// Mesh to read, of any format that the first step reads
    input: PathBuf,
    #[command(flatten)]
    reading: ReadOptions,
    #[command(flatten)]
    device: DeviceOptions,
    /// Steps, each after a colon
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        required = true,
        value_name = ": STEP"
    )]
    steps: Vec<OsString>,
}

/// The words between two colons.
#[derive(Parser)]
#[command(
    name = "trioxide chain IN :",
    disable_help_subcommand = true,
    subcommand_required = true
)]
struct Line {
    #[command(subcommand)]
    step: Step,
}

#[derive(Subcommand)]
enum Step {
    Triangulate(Box<triangulate::Options>),
    Weld(Box<weld::Options>),
    Smooth(Box<smooth::Options>),
    Refine(Box<refine::Options>),
    Polylla(Box<polylla::Options>),
    /// Write the mesh
    Write(Write),
}

/// `-o FILE` as a step of its own.
#[derive(Args)]
struct Write {
    /// The mesh that is written
    input: PathBuf,
    /// File to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

/// The mesh between two steps.
enum AnyMesh {
    Surface(Mesh),
    Volume(VolumeMesh),
}

impl Step {
    fn device(&mut self) -> Option<&mut DeviceOptions> {
        match self {
            Step::Triangulate(options) => Some(&mut options.device),
            Step::Weld(options) => Some(&mut options.device),
            Step::Smooth(options) => Some(&mut options.device),
            Step::Refine(options) => Some(&mut options.device),
            Step::Polylla(options) => Some(&mut options.device),
            Step::Write(_) => None,
        }
    }

    fn reading(&self) -> ReadOptions {
        match self {
            Step::Triangulate(options) => options.reading,
            Step::Weld(options) => options.reading,
            Step::Smooth(options) => options.reading,
            Step::Refine(options) => options.reading,
            Step::Polylla(options) => options.reading,
            Step::Write(_) => ReadOptions::default(),
        }
    }

    fn name(&self) -> &'static str {
        match self {
            Step::Triangulate(_) => "triangulate",
            Step::Weld(_) => "weld",
            Step::Smooth(_) => "smooth",
            Step::Refine(_) => "refine",
            Step::Polylla(_) => "polylla",
            Step::Write(_) => "write",
        }
    }

    fn output(&self) -> Option<&Path> {
        match self {
            Step::Triangulate(options) => options.output.as_deref(),
            Step::Weld(options) => options.output.as_deref(),
            Step::Smooth(options) => options.output.as_deref(),
            Step::Refine(options) => options.output.as_deref(),
            Step::Polylla(options) => options.output.as_deref(),
            Step::Write(write) => Some(&write.output),
        }
    }

    fn work(&self) -> Work {
        match self {
            Step::Triangulate(_) => Work::TRIANGULATE,
            Step::Weld(options) => options.work(),
            Step::Smooth(options) => options.work(),
            Step::Refine(options) => options.work(),
            Step::Polylla(_) => Work::POLYLLA,
            Step::Write(_) => Work { cpu: 0.0 },
        }
    }

    /// Runs the step on a machine that is open.
    fn apply(&self, mesh: AnyMesh, opening: Opening) -> Result<(AnyMesh, Option<Report<'_>>)> {
        Ok(match (self, mesh) {
            (Step::Triangulate(options), AnyMesh::Surface(mesh)) => {
                let (outline, left_out) = OutlineMesh::of_mesh(mesh);
                triangulate::say(options, left_out.as_slice());
                let (mesh, report) = triangulate::apply(options, outline, opening)?;
                (AnyMesh::Surface(mesh), Some(report))
            }
            (Step::Weld(options), AnyMesh::Surface(mesh)) => {
                let (mesh, report) = weld::apply(options, mesh, opening)?;
                (AnyMesh::Surface(mesh), Some(report))
            }
            (Step::Smooth(options), AnyMesh::Surface(mesh)) => {
                let (mesh, report) = smooth::apply_to_surface(options, mesh, opening)?;
                (AnyMesh::Surface(mesh), Some(report))
            }
            (Step::Smooth(options), AnyMesh::Volume(mesh)) => {
                let (mesh, report) = smooth::apply_to_volume(options, mesh, opening)?;
                (AnyMesh::Volume(mesh), Some(report))
            }
            (Step::Refine(options), AnyMesh::Surface(mesh)) => {
                let (mesh, report) = refine::apply(options, mesh, opening)?;
                (AnyMesh::Surface(mesh), Some(report))
            }
            (Step::Refine(options), AnyMesh::Volume(mesh)) => {
                let (mesh, report) = refine::apply_to_volume(options, mesh, opening)?;
                (AnyMesh::Volume(mesh), Some(report))
            }
            (Step::Polylla(options), AnyMesh::Surface(mesh)) => {
                let (mesh, report) = polylla::apply(options, mesh, opening.open()?)?;
                (AnyMesh::Surface(as_read(mesh)), Some(report))
            }
            (Step::Write(_), mesh) => (mesh, None),
            (Step::Triangulate(_) | Step::Weld(_) | Step::Polylla(_), AnyMesh::Volume(_)) => {
                return Err(Error::Argument(format!(
                    "{} takes a surface or a planar mesh, and this mesh has cells: smooth and refine take it",
                    self.name()
                )));
            }
        })
    }
}

/// The mesh as a reader gives it: polygons that are all triangles are triangles.
fn as_read(mut mesh: Mesh) -> Mesh {
    if let Faces::Polygons(polygons) = &mesh.faces
        && polygons.iter().all(|polygon| polygon.len() == 3)
    {
        mesh.faces = Faces::Triangles(polygons.vertices.as_chunks().0.to_vec());
    }
    mesh
}

/// The steps, with clap's view of their options.
fn parse(options: &Options) -> Result<Vec<(Step, ArgMatches)>> {
    let mut steps = Vec::new();
    let words = options.steps.split(|word| word == ":");
    let mut groups = words.enumerate();
    if groups.next().is_none_or(|(_, before)| !before.is_empty()) {
        return Err(Error::Argument(
            "the steps of a chain stand after colons: trioxide chain IN : weld --epsilon 1e-3 : -o OUT"
                .to_owned(),
        ));
    }
    let mut label = options.input.clone();
    for (number, words) in groups {
        let Some((first, rest)) = words.split_first() else {
            return Err(Error::Argument(format!(
                "step {number} of the chain is empty: each colon has a command behind it"
            )));
        };
        let is_write = first.to_string_lossy().starts_with('-');
        let name: &OsString = if is_write { &"write".into() } else { first };
        let rest = if is_write { words } else { rest };
        let line = [
            "trioxide chain IN :".as_ref(),
            name.as_os_str(),
            label.as_os_str(),
        ];
        let line = line.into_iter().chain(rest.iter().map(OsString::as_os_str));
        // clap exits with status 2 on bad usage.
        let matches = Line::command()
            .try_get_matches_from(line)
            .unwrap_or_else(|error| error.exit());
        let mut parsed = Line::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
        let (_, of_step) = matches.subcommand().expect("clap asks for a command");
        take_over(&mut parsed.step, &options.device)?;
        label = format!("{} after {}", options.input.display(), parsed.step.name()).into();
        steps.push((parsed.step, of_step.clone()));
    }
    Ok(steps)
}

/// Gives a step the chain's machine. Only the precision is its own.
fn take_over(step: &mut Step, of_chain: &DeviceOptions) -> Result<()> {
    let name = step.name();
    if step.reading() != ReadOptions::default() {
        return Err(Error::Argument(format!(
            "--follow-references goes with the input of the chain: give it before the first colon, not to {name}"
        )));
    }
    let Some(device) = step.device() else {
        return Ok(());
    };
    let is_default = device.device == Choice::Auto
        && device.threads.is_none()
        && device.json.is_none()
        && !device.timings
        && !device.quiet;
    if !is_default {
        return Err(Error::Argument(format!(
            "--device, --threads, --timings, --json and --quiet are the same for all steps: give them before the first colon, not \
             to {name}"
        )));
    }
    device.device = of_chain.device;
    device.threads = of_chain.threads;
    device.quiet = of_chain.quiet;
    Ok(())
}

/// Checks what can be checked before the input is read.
fn check(options: &Options, steps: &[(Step, ArgMatches)], is_volume: bool) -> Result<()> {
    // The first step's input is the chain's.
    let of_steps: Vec<&ArgMatches> = steps.iter().map(|(_, matches)| matches).collect();
    outputs::check_all(&of_steps, options.device.json.as_deref())?;
    for (step, _) in steps {
        if let Some(output) = step.output() {
            match is_volume {
                true => _ = VolumeFormat::to_write(output)?,
                false => _ = Format::to_write(output)?,
            }
        }
        match step {
            Step::Triangulate(options) => triangulate::check(options)?,
            Step::Weld(options) => weld::check(options)?,
            Step::Polylla(options) => polylla::check_usage(options)?,
            _ => {}
        }
    }
    Ok(())
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    let steps = parse(options)?;
    let is_volume = super::is_volume(&options.input, options.reading);
    check(options, &steps, is_volume)?;
    let quiet = options.device.quiet;
    let work = steps
        .iter()
        .fold(Work { cpu: 0.0 }, |sum, (step, _)| sum.and(step.work()));
    let opening = options.device.begin(&options.input, work);
    let mut mesh = match is_volume {
        true => AnyMesh::Volume(super::read_volume(&options.input, options.reading, quiet)?),
        false => AnyMesh::Surface(super::read_mesh(&options.input, options.reading, quiet)?),
    };
    let machine = opening.open()?.for_several();
    let mut reports = Vec::new();
    for (step, _) in &steps {
        machine.device().inspect(|device| device.reset_peak());
        let (result, report) = step.apply(mesh, Opening::Open(machine.clone()))?;
        mesh = result;
        reports.extend(report);
        if let Some(output) = step.output() {
            match &mesh {
                AnyMesh::Surface(mesh) => super::write_mesh(output, mesh, quiet)?,
                AnyMesh::Volume(mesh) => {
                    super::write_volume(output, mesh, Default::default(), quiet)?;
                }
            }
        }
    }
    if steps.iter().all(|(step, _)| step.output().is_none()) {
        trioxide_arguments::note(
            quiet,
            "nothing is written: -o FILE writes the mesh of a step",
        );
    }
    report(options, machine.device(), &reports)
}

fn report(options: &Options, device: Option<&Device>, reports: &[Report]) -> Result<()> {
    if let Some(path) = &options.device.json {
        let steps: Vec<Value> = reports.iter().map(Report::to_json).collect();
        let object = json!({
            "command": "chain",
            "input": options.input.to_string_lossy(),
            "device": device.map_or("serial".to_owned(), Device::name),
            "steps": steps,
            "milliseconds": reports.iter().map(Report::milliseconds).sum::<f64>(),
            "whole_run": account::to_json(),
        });
        write_json(path, &object)?;
        if is_standard_output(path) {
            return Ok(());
        }
    }
    if options.device.quiet || reports.is_empty() {
        return Ok(());
    }
    let mut text = String::new();
    let mut stages = Vec::new();
    for (i, report) in reports.iter().enumerate() {
        text += &format!("step {}: {}\n", i + 1, report.command);
        text += &report.to_text(options.device.timings);
        stages.extend(report.stages.iter().cloned());
    }
    if options.device.timings {
        text += &account::to_text(32, &stages);
    }
    print(&text)
}
