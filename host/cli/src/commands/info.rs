//! `trioxide info`: what a mesh file holds.

mod text;

use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use trioxide::Result;
use trioxide::formats::volume::VolumeFormat;
use trioxide::formats::{Format, ReadOptions, is_polyhedra, read_polyhedra};
use trioxide_arguments::device::Report;
use trioxide_arguments::names::worded;
use trioxide_arguments::{account, is_standard_output, print, write_json};
use trioxide_operations as operations;
use trioxide_operations::Run;
use trioxide_operations::info::Values;

use super::help;
use text::NAME_WIDTH;

/// Count what a mesh holds, check it, and measure the quality of a planar one or of the cells of a volume mesh
#[derive(Args)]
pub struct Options {
    #[arg(help = help::mesh_to_read("Mesh to read"))]
    mesh: PathBuf,
    #[command(flatten)]
    reading: ReadOptions,
    /// Print the time of each stage
    #[arg(long)]
    timings: bool,
    /// Write the counts as JSON to this file, or to standard output for -
    #[arg(long, value_name = "FILE|-")]
    json: Option<PathBuf>,
    /// Print errors only
    #[arg(long)]
    quiet: bool,
}

/// What a file holds.
#[derive(PartialEq, Eq)]
enum Kind {
    Surface,
    Cells,
    Polyhedra,
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    let Options {
        mesh: input,
        reading,
        quiet,
        ..
    } = options;
    let is_generated = super::is_generated(input);
    let format = |named: Result<&'static str>| match is_generated {
        true => Ok("generated"),
        false => named,
    };
    if is_polyhedra(input) {
        let report = operations::info_polyhedra(&read_polyhedra(input)?);
        let text = text::of_polyhedra(&report);
        let values = report.values();
        return give(options, Kind::Polyhedra, "VTU", (report.run, values), text);
    }
    if super::is_volume(input, *reading) {
        let format = format(VolumeFormat::to_read(input).map(|format| format.name))?;
        let mesh = super::read_volume(input, *reading, *quiet)?;
        let report = operations::info_volume(&mesh).map_err(worded)?;
        let text = text::of_volume(&report);
        let values = report.values();
        return give(options, Kind::Cells, format, (report.run, values), text);
    }
    let format = format(Format::to_read(input).map(|format| format.name))?;
    let report = operations::info(super::read_mesh(input, *reading, *quiet)?);
    let text = text::of_surface(&report);
    let values = report.values();
    give(options, Kind::Surface, format, (report.run, values), text)
}

/// Writes a report on a file of this format as JSON, and prints it as text, as the options ask.
fn give(
    options: &Options,
    kind: Kind,
    format: &str,
    (run, counts): (Run, Values),
    mut text: String,
) -> Result<()> {
    let report = Report {
        command: "info",
        input: &options.mesh,
        device: run.device,
        stages: run.stages,
        counts,
        peak_bytes: run.peak_bytes,
    };
    let has_account = kind != Kind::Polyhedra;
    if has_account {
        account::stages(&report.stages);
    }
    if let Some(path) = &options.json {
        let mut object = report.to_json();
        object["format"] = json!(format);
        if has_account {
            object["whole_run"] = account::to_json();
        }
        write_json(path, &object)?;
    }
    if options.quiet || options.json.as_deref().is_some_and(is_standard_output) {
        return Ok(());
    }
    if options.timings {
        for stage in &report.stages {
            text += &text::time(stage.name, stage.milliseconds);
        }
        if kind == Kind::Surface {
            text += &text::time("time without files", report.milliseconds());
        }
        if has_account {
            text += &account::to_text(NAME_WIDTH, &report.stages);
        }
    }
    print(&format!("{:<NAME_WIDTH$} {format}\n{text}", "format"))
}
