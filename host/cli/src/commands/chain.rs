//! `trioxide chain`: several commands on one mesh, in one process.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::{ArgMatches, Args, CommandFactory, FromArgMatches, Parser};
use serde_json::{Value, json};
use trioxide::device::{Choice, Device};
use trioxide::formats::volume::VolumeFormat;
use trioxide::formats::{Format, ReadOptions};
use trioxide::{Error, Result};
use trioxide_arguments::auto::Work;
use trioxide_arguments::device::{DeviceOptions, Opening, Report};
use trioxide_arguments::{account, is_standard_output, print, write_json};

use super::AnyStep;
use super::step::{AnyMesh, Step};
use crate::outputs;

/// Run several commands on one mesh, in one process: IN.ply : weld --epsilon 1e-3 : polylla : -o OUT.vtu
///
/// Steps stand after colons: triangulate, reorder, repair, weld, decimate, smooth, refine and polylla with their
/// options, without an input; each takes the mesh of the one before. -o FILE, as an option of a step or a step of its
/// own, writes the mesh there. The result has the same bits as by separate runs with files between that keep all of a
/// mesh (.vtu). The device starts once, and no file is written or read between steps. --device, --threads, --timings,
/// --json and --quiet stand before the first colon or after the last step.
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
    step: AnyStep,
}

/// Write the mesh
// `-o FILE` as a step of its own.
#[derive(Args)]
pub struct Write {
    /// The mesh that is written
    input: PathBuf,
    /// File to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

impl Step for Write {
    fn name(&self) -> &'static str {
        "write"
    }

    fn reading(&self) -> ReadOptions {
        ReadOptions::default()
    }

    fn device(&mut self) -> Option<&mut DeviceOptions> {
        None
    }

    fn output(&self) -> Option<&Path> {
        Some(&self.output)
    }

    fn work(&self) -> Work {
        Work { cpu: 0.0 }
    }

    fn apply(&self, mesh: AnyMesh, _: &Opening) -> Result<(AnyMesh, Option<Report<'_>>)> {
        Ok((mesh, None))
    }
}

/// The steps, with clap's view of their options.
fn parse(options: &Options) -> Result<Vec<(AnyStep, ArgMatches)>> {
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
        let step = parsed.step.get_mut();
        take_over(step, &options.device)?;
        label = format!("{} after {}", options.input.display(), step.name()).into();
        steps.push((parsed.step, of_step.clone()));
    }
    Ok(steps)
}

/// Gives a step the chain's machine. Only the precision is its own.
fn take_over(step: &mut dyn Step, of_chain: &DeviceOptions) -> Result<()> {
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
            "--device, --threads, --timings, --json and --quiet are the same for all steps: give them before the first colon or \
             after the last step, not to {name}"
        )));
    }
    device.device = of_chain.device;
    device.threads = of_chain.threads;
    device.quiet = of_chain.quiet;
    Ok(())
}

/// Checks what can be checked before the input is read.
fn check(options: &Options, steps: &[(AnyStep, ArgMatches)], is_volume: bool) -> Result<()> {
    // The first step's input is the chain's.
    let of_steps: Vec<&ArgMatches> = steps.iter().map(|(_, matches)| matches).collect();
    outputs::check_all(&of_steps, options.device.json.as_deref())?;
    for (step, _) in steps {
        let step = step.get();
        if let Some(output) = step.output() {
            match is_volume {
                true => _ = VolumeFormat::to_write(output)?,
                false => _ = Format::to_write(output)?,
            }
        }
        step.check(is_volume)?;
    }
    Ok(())
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    let steps = parse(options)?;
    let is_volume = super::is_volume(&options.input, options.reading);
    check(options, &steps, is_volume)?;
    let quiet = options.device.quiet;
    let works = steps.iter().map(|(step, _)| step.get().work());
    let work = works.fold(Work { cpu: 0.0 }, Work::and);
    let opening = options.device.begin(&options.input, work);
    let mut mesh = match is_volume {
        true => AnyMesh::Volume(super::read_volume(&options.input, options.reading, quiet)?),
        false => AnyMesh::Surface(super::read_mesh(&options.input, options.reading, quiet)?),
    };
    let machine = opening.open()?.for_several();
    let mut reports = Vec::new();
    for (step, _) in &steps {
        let step = step.get();
        machine.device().inspect(|device| device.reset_peak());
        let (result, report) = step.apply(mesh, &Opening::Open(machine.clone()))?;
        mesh = result;
        reports.extend(report);
        if let Some(output) = step.file()? {
            match &mesh {
                AnyMesh::Surface(mesh) => super::write_mesh(&output, mesh, quiet)?,
                AnyMesh::Volume(mesh) => {
                    super::write_volume(&output, mesh, Default::default(), quiet)?;
                }
            }
        }
    }
    if steps.iter().all(|(step, _)| step.get().output().is_none()) {
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
