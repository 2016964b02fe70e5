//! `trioxide decimate`: the mesh of a wanted number of triangles with a small error.

use std::path::PathBuf;

use clap::Args;
use trioxide::formats::{Format, ReadOptions};
use trioxide::mesh::Mesh;
use trioxide::{Error, Result};
use trioxide_arguments::auto::Work;
use trioxide_arguments::device::{DeviceOptions, Opening, Report};
use trioxide_arguments::names::worded;
use trioxide_arguments::{is_standard_output, note_all};
use trioxide_operations::{Precision, decimate};

use super::help;
use super::step::{AnyMesh, Step, step_fields};
use super::weld::{Lock, locks, write_numbers};

const DEFAULTS: &str = "Where defaults come from: this machine (--device auto, --threads: all cores). --place optimal is Garland and Heckbert's.";

/// Collapse edges until a number of triangles is reached, with a small error
///
/// Quadric edge collapse in rounds: in each, the edges that cost least where they are collapse, if the surface keeps
/// its topology and no triangle turns over. The result is the same on every machine. Closed surfaces stay closed;
/// vertices on segments and where regions meet stay where they are. Attributes, fields and regions of the vertices and
/// triangles that are left are kept.
#[derive(Args)]
#[command(after_help = DEFAULTS)]
pub struct Options {
    #[arg(help = help::mesh_to_read("Mesh of triangles to read"))]
    pub input: PathBuf,
    /// Mesh to write
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub decimate: decimate::Options,
    /// Vertices that stay where they are: boundary, those at edges that one triangle alone has; file:PATH, ids of
    /// vertices, one a line (0 is the first); may be given several times
    #[arg(long, value_name = "WHICH")]
    pub lock: Vec<Lock>,
    /// Text file for the new vertex that each old one went into, one a line, from 0 on; - for standard output
    #[arg(long, value_name = "FILE|-")]
    pub map: Option<PathBuf>,
    /// Precision of coordinates on the device: f64
    #[arg(long, value_enum, default_value_t)]
    precision: Precision,
    #[command(flatten)]
    pub reading: ReadOptions,
    #[command(flatten)]
    pub device: DeviceOptions,
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    Step::check(options)?;
    let opening = options.device.begin(&options.input, options.work());
    let mesh = super::read_mesh(&options.input, options.reading, options.device.quiet)?;
    let (mesh, report) = apply(options, mesh, opening)?;
    if let Some(output) = &options.output {
        super::write_mesh(output, &mesh, options.device.quiet)?;
    }
    report.give_beside(&options.device, options.takes_output())
}

impl Options {
    /// Whether ids go to standard output, in place of the report.
    fn takes_output(&self) -> bool {
        self.map.as_deref().is_some_and(is_standard_output)
    }
}

fn apply(options: &Options, mesh: Mesh, opening: Opening) -> Result<(Mesh, Report<'_>)> {
    let settings = decimate::Options {
        locks: locks(&options.lock, mesh.points.len())?,
        ..options.decimate.clone()
    };
    let (mesh, report) = trioxide_operations::decimate(opening, mesh, &settings)
        .map_err(|error| worded(error).in_file(&options.input))?;
    note_all(&report.notes, options.device.quiet);
    if let Some(path) = &options.map {
        write_numbers(path, report.map.iter().copied())?;
    }
    let (run, counts) = (report.run, report.totals.counts());
    let report = Report::of("decimate", &options.input, run, counts);
    Ok((mesh, report))
}

impl Step for Options {
    fn name(&self) -> &'static str {
        "decimate"
    }

    step_fields!();

    fn work(&self) -> Work {
        Work::DECIMATE
    }

    fn check(&self) -> Result<()> {
        if let Some(output) = &self.output {
            Format::to_write(output)?;
        }
        if self.precision == Precision::F32 {
            return Err(Error::Argument(
                "decimate computes in double precision: leave --precision f32 out".to_owned(),
            ));
        }
        let json = self.device.json.as_deref();
        if self.takes_output() && json.is_some_and(is_standard_output) {
            return Err(Error::Argument(
                "only one of --map and --json can go to standard output: name a file for the other"
                    .to_owned(),
            ));
        }
        self.decimate.check().map_err(worded)
    }

    fn apply(&self, mesh: AnyMesh, opening: Opening) -> Result<(AnyMesh, Option<Report<'_>>)> {
        let (mesh, report) = apply(self, mesh.surface(self.name())?, opening)?;
        Ok((AnyMesh::Surface(mesh), Some(report)))
    }
}
