//! `trioxide info`: the counts, measures and faults of a mesh.

mod text;

use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use trioxide::Result;
use trioxide::formats::format_name;
use trioxide::formats::volume::VolumeFormat;
use trioxide::formats::{Format, PolyhedraFormat, ReadOptions, is_polyhedra_as};
use trioxide_arguments::device::Report;
use trioxide_arguments::names::worded;
use trioxide_arguments::{account, is_standard_output, print, write_json};
use trioxide_operations as operations;

use super::help;
use text::NAME_WIDTH;

/// Count what a mesh holds, check it, and measure the quality of a planar one or of the cells of a volume mesh, and how
/// a surface bends
#[derive(Args)]
pub struct Options {
    #[arg(help = help::any_mesh_to_read("Mesh to read"))]
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

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    let (input, reading, quiet) = (&options.mesh, options.reading, options.quiet);
    let named = |format: &dyn Fn() -> Result<&'static str>| match super::is_generated(input) {
        true => Ok("generated"),
        false => format(),
    };
    let is_polyhedra = is_polyhedra_as(input, reading);
    let is_volume = !is_polyhedra && super::is_volume(input, reading);
    let (format, counts, mut text, run) = if is_polyhedra {
        let format = PolyhedraFormat::of(input).map_or("", |format| format.name);
        let mesh = super::read_polyhedra(input, reading, quiet)?;
        let report = operations::info_polyhedra(&mesh);
        let text = text::of_polyhedra(&report);
        (format, report.values(), text, report.run)
    } else if is_volume {
        let format = named(&|| Ok(format_name(input, VolumeFormat::to_read(input)?.name)))?;
        let mesh = super::read_volume(input, reading, quiet)?;
        let report = operations::info_volume(&mesh).map_err(worded)?;
        (
            format,
            report.values(),
            text::of_volume(&report),
            report.run,
        )
    } else {
        let format = named(&|| Ok(format_name(input, Format::to_read(input)?.name)))?;
        let mesh = super::read_mesh(input, reading, quiet)?;
        let report = operations::info(mesh)?;
        (
            format,
            report.values(),
            text::of_surface(&report),
            report.run,
        )
    };
    let report = Report {
        command: "info",
        input,
        device: run.device,
        stages: run.stages,
        counts,
        peak_bytes: run.peak_bytes,
    };
    account::stages(&report.stages);
    if let Some(path) = &options.json {
        let mut object = report.to_json();
        object["format"] = json!(format);
        object["whole_run"] = account::to_json();
        write_json(path, &object)?;
    }
    if quiet || options.json.as_deref().is_some_and(is_standard_output) {
        return Ok(());
    }
    if options.timings {
        let stages = report.stages.iter();
        text.extend(stages.map(|stage| text::time(stage.name, stage.milliseconds)));
        if !is_polyhedra && !is_volume {
            text += &text::time("time without files", report.milliseconds());
        }
        text += &account::to_text(NAME_WIDTH, &report.stages);
    }
    print(&format!("{:<NAME_WIDTH$} {format}\n{text}", "format"))
}
