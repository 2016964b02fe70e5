//! `trioxide decimate`: the mesh of a wanted number of triangles with a small error.

use std::path::{Path, PathBuf};

use clap::Args;
use trioxide::formats::{Format, ReadOptions, run_files};
use trioxide::{Error, Result};
use trioxide_arguments::auto::Work;
use trioxide_arguments::device::{DeviceOptions, Opening, Report};
use trioxide_arguments::names::worded;
use trioxide_arguments::{is_standard_output, note_all};
use trioxide_operations::{Run, decimate};

use super::help;
use super::merging::{Merging, write_numbers};
use super::placeholder::{KEEP, has_place, with_number};
use super::step::{AnyMesh, Step, step_fields};

const DEFAULTS: &str = "Where defaults come from: this machine (--device auto, --threads: all cores). --place optimal is Garland and Heckbert's.";

/// Collapse edges until a number of triangles is reached, with a small error
///
/// Quadric edge collapse in rounds: in each, the edges that cost least where they are collapse, if the surface keeps
/// its topology and no triangle turns over. The result is the same on every machine. Closed surfaces stay closed;
/// vertices on segments, where regions meet, and of the boundary at one place, as at the seams of a texture, stay where
/// they are. Vertices get the attributes and the values of fields of floats that fit best where they go; regions and
/// other fields of the vertices and triangles that are left are kept.
#[derive(Args)]
#[command(after_help = DEFAULTS, mut_arg("device", help::without_serial))]
pub struct Options {
    #[arg(help = help::mesh_to_read("Mesh of triangles to read"))]
    pub input: PathBuf,
    /// Mesh to write; with --keep, {keep} in the name stands for each fraction
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub decimate: decimate::Options,
    #[command(flatten)]
    pub merging: Merging,
    /// Text file for the new vertex that each old one went into, one a line, from 0 on; - for standard output; {keep}
    /// as in --output
    #[arg(long, value_name = "FILE|-")]
    pub map: Option<PathBuf>,
    #[command(flatten)]
    pub reading: ReadOptions,
    #[command(flatten)]
    pub device: DeviceOptions,
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    options.check_usage()?;
    let opening = options.device.begin(&options.input, options.work());
    let mesh = super::read_mesh(&options.input, options.reading, options.device.quiet)?;
    let settings = options.settings(mesh.points.len())?;
    let each = decimate::to_each(&opening, mesh, &settings)
        .map_err(|error| worded(error).in_file(&options.input))?;
    // The report has the times of all, and the counts of the smallest mesh.
    let (mut run, mut counts, mut fewest) = (Run::default(), Vec::new(), u64::MAX);
    for (i, (mesh, report)) in each.into_iter().enumerate() {
        let keep = options.decimate.keep.get(i);
        note_all(&report.notes, options.device.quiet);
        if let Some(path) = &options.map {
            write_numbers(&file_of("--map", path, keep)?, report.map.iter().copied())?;
        }
        if let Some(output) = &options.output {
            let output = file_of("the output", output, keep)?;
            super::write_mesh(&output, &mesh, options.device.quiet)?;
        }
        if report.totals.decimated_faces < fewest {
            (fewest, counts) = (report.totals.decimated_faces, report.totals.counts());
        }
        if i == 0 {
            run = report.run;
        }
    }
    let report = Report::of("decimate", &options.input, run, counts);
    report.give_beside(&options.device, options.takes_output())
}

/// The file of the mesh of a fraction, if its name has a place for it.
fn file_of(name: &str, path: &Path, keep: Option<&f64>) -> Result<PathBuf> {
    let Some(keep) = keep.filter(|_| has_place(path, KEEP)) else {
        return Ok(path.to_owned());
    };
    let path = with_number(path, KEEP, keep);
    run_files::will_write(name, &path)?;
    Ok(path)
}

impl Options {
    /// Whether ids go to standard output, in place of the report.
    fn takes_output(&self) -> bool {
        self.map.as_deref().is_some_and(is_standard_output)
    }

    /// The options of the operation, for a mesh of that many vertices.
    fn settings(&self, vertices: usize) -> Result<decimate::Options> {
        Ok(decimate::Options {
            locks: self.merging.locks(vertices)?,
            ..self.decimate.clone()
        })
    }

    /// Refuses options that contradict each other, and names that do not go with several meshes.
    fn check_usage(&self) -> Result<()> {
        if let Some(output) = &self.output {
            Format::to_write(output)?;
        }
        self.merging.check("decimate")?;
        let json = self.device.json.as_deref();
        if self.takes_output() && json.is_some_and(is_standard_output) {
            return Err(Error::Argument(
                "only one of --map and --json can go to standard output: name a file for the other"
                    .to_owned(),
            ));
        }
        self.decimate.check().map_err(worded)?;
        let several = self.decimate.keep.len();
        for (name, path) in [("--output", &self.output), ("--map", &self.map)] {
            if let Some(path) = path
                && several > 1
                && !has_place(path, KEEP)
            {
                return Err(Error::Argument(format!(
                    "--keep gives {several} meshes, each with its own file: write {KEEP} in the name of {name}, as in \
                     out-{KEEP}.ply"
                )));
            }
        }
        Ok(())
    }
}

impl Step for Options {
    fn name(&self) -> &'static str {
        "decimate"
    }

    step_fields!();

    fn work(&self) -> Work {
        Work::DECIMATE
    }

    fn file(&self) -> Result<Option<PathBuf>> {
        let keep = self.decimate.keep.first();
        let file = |path: &PathBuf| file_of("the output", path, keep);
        self.output.as_ref().map(file).transpose()
    }

    fn check(&self, _: bool) -> Result<()> {
        self.check_usage()?;
        self.decimate.check_one().map_err(worded)
    }

    fn apply(&self, mesh: AnyMesh, opening: &Opening) -> Result<(AnyMesh, Option<Report<'_>>)> {
        let mesh = mesh.surface(self.name())?;
        let settings = self.settings(mesh.points.len())?;
        let (mesh, report) = trioxide_operations::decimate(opening, mesh, &settings)
            .map_err(|error| worded(error).in_file(&self.input))?;
        note_all(&report.notes, self.device.quiet);
        if let Some(path) = &self.map {
            let path = file_of("--map", path, self.decimate.keep.first())?;
            write_numbers(&path, report.map.iter().copied())?;
        }
        let (run, counts) = (report.run, report.totals.counts());
        let report = Report::of("decimate", &self.input, run, counts);
        Ok((AnyMesh::Surface(mesh), Some(report)))
    }
}
