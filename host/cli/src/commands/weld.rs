//! `trioxide weld`: vertices near each other become one.

use std::path::PathBuf;

use clap::Args;
use trioxide::formats::volume::VolumeFormat;
use trioxide::formats::{Format, ReadOptions};
use trioxide::mesh::Mesh;
use trioxide::volume::VolumeMesh;
use trioxide::{Error, Result};
use trioxide_arguments::auto::Work;
use trioxide_arguments::device::{DeviceOptions, Opening, Report};
use trioxide_arguments::names::worded;
use trioxide_arguments::{is_standard_output, note_all};
use trioxide_operations::weld;

use super::help;
use super::merging::{Merging, write_numbers};
use super::step::{AnyMesh, Step, step_fields};

const DEFAULTS: &str = "Where defaults come from: this machine (--device auto, --threads: all cores); free memory (--memory-limit, --method auto). --epsilon and --ratio have none: they depend on the \
    mesh. --position mean is trioxide's own.";

/// Merge vertices that are within epsilon of each other
///
/// Deterministic vertex clustering: a vertex represents those within epsilon of it that no vertex of a lower id
/// represents. The result is the same on every machine, by every method. Faces, cells and segments get the new
/// vertices; repeated ones, and those without extent, are dropped. Regions and markers stay; normals, colours, texture
/// coordinates and fields of floats are averaged, and fields of integers, which are labels, are those of the first
/// vertex.
///
/// Under mpirun several processes weld one mesh or cloud by the method grid, each on its own GPU (cargo xtask build
/// --mpi), and write the files of one, or a .pvtu with a piece of each.
#[derive(Args)]
#[command(after_help = DEFAULTS)]
pub struct Options {
    #[arg(help = help::mesh_to_read("Mesh of faces or cells, or point cloud to read"))]
    pub input: PathBuf,
    /// Mesh to write
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub weld: weld::Options,
    #[command(flatten)]
    pub merging: Merging,
    /// Text file for the new vertex of each old one, one a line, from 0 on; - for standard output
    #[arg(long, value_name = "FILE|-")]
    pub map: Option<PathBuf>,
    /// Text file for the ids of the old vertices that are gone, one a line, ascending; - for standard output
    #[arg(long, value_name = "FILE|-")]
    pub removed: Option<PathBuf>,
    #[command(flatten)]
    pub reading: ReadOptions,
    #[command(flatten)]
    pub device: DeviceOptions,
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    check(options)?;
    let quiet = options.device.quiet;
    let is_volume = super::is_volume(&options.input, options.reading);
    if let Some(output) = options.output.as_ref().filter(|_| is_volume) {
        VolumeFormat::to_write(output)?;
    }
    let opening = options.device.begin(&options.input, options.work());
    let report = if is_volume {
        let mesh = super::read_volume(&options.input, options.reading, quiet)?;
        let (mesh, report) = apply_to_volume(options, mesh, &opening)?;
        if let Some(output) = &options.output {
            super::write_volume(output, &mesh, Default::default(), quiet)?;
        }
        report
    } else {
        let mesh = super::read_mesh(&options.input, options.reading, quiet)?;
        let (mesh, report) = apply(options, mesh, &opening)?;
        if let Some(output) = &options.output {
            super::write_mesh(output, &mesh, quiet)?;
        }
        report
    };
    report.give_beside(&options.device, options.takes_output())
}

impl Options {
    /// Whether ids go to standard output, in place of the report.
    pub fn takes_output(&self) -> bool {
        to_output(&self.map) || to_output(&self.removed)
    }

    /// The operation's options for a mesh of this number of vertices, with the locks that the options name.
    fn settings(&self, vertices: usize) -> Result<weld::Options> {
        Ok(weld::Options {
            locks: self.merging.locks(vertices)?,
            ..self.weld.clone()
        })
    }

    /// Notes and maps of a weld are written; an error has the mesh's file.
    fn finish<M>(
        &self,
        done: trioxide_operations::Result<(M, weld::Report)>,
    ) -> Result<(M, Report<'_>)> {
        let (mesh, report) = done.map_err(|error| worded(error).in_file(&self.input))?;
        note_all(&report.notes, self.device.quiet);
        write_maps(self, &report.map, report.removed())?;
        let (run, counts) = (report.run, report.totals.counts());
        Ok((mesh, Report::of("weld", &self.input, run, counts)))
    }
}

/// Welds a mesh on the machine that `opening` gives, and writes the map and the removed vertices to the files that the
/// options name.
pub fn apply<'a>(
    options: &'a Options,
    mesh: Mesh,
    opening: &Opening,
) -> Result<(Mesh, Report<'a>)> {
    let settings = options.settings(mesh.points.len())?;
    let done = trioxide_operations::weld(opening, mesh, &settings);
    options.finish(done)
}

/// As [`apply`], for a mesh of cells.
fn apply_to_volume<'a>(
    options: &'a Options,
    mesh: VolumeMesh,
    opening: &Opening,
) -> Result<(VolumeMesh, Report<'a>)> {
    let settings = options.settings(mesh.points.len())?;
    let done = weld::weld_volume(opening, mesh, &settings);
    options.finish(done)
}

/// Writes the map and the removed vertices to the files that the options name.
pub fn write_maps(
    options: &Options,
    map: &[u32],
    removed: impl Iterator<Item = u32>,
) -> Result<()> {
    if let Some(path) = &options.map {
        write_numbers(path, map.iter().copied())?;
    }
    if let Some(path) = &options.removed {
        write_numbers(path, removed)?;
    }
    Ok(())
}

/// Refuses an output of no format, and arguments that contradict each other, before anything is read.
pub fn check(options: &Options) -> Result<()> {
    if let Some(output) = &options.output {
        Format::to_write(output)?;
    }
    check_arguments(options)
}

/// As [`check`], without the output's format: ranks write a list of pieces too.
pub fn check_arguments(options: &Options) -> Result<()> {
    options.merging.check("weld")?;
    options.weld.check().map_err(worded)?;
    let outputs = [&options.map, &options.removed, &options.device.json];
    if outputs.into_iter().filter(|path| to_output(path)).count() > 1 {
        return Err(Error::Argument(
            "only one of --map, --removed and --json can go to standard output: name files for the others"
                .to_owned(),
        ));
    }
    Ok(())
}

fn to_output(path: &Option<PathBuf>) -> bool {
    path.as_deref().is_some_and(is_standard_output)
}

impl Step for Options {
    fn name(&self) -> &'static str {
        "weld"
    }

    step_fields!();

    fn work(&self) -> Work {
        match self.weld.ratio {
            Some(_) => Work::WELD_RATIO,
            None => Work::WELD,
        }
    }

    fn check(&self, _: bool) -> Result<()> {
        check(self)
    }

    fn apply(&self, mesh: AnyMesh, opening: &Opening) -> Result<(AnyMesh, Option<Report<'_>>)> {
        Ok(match mesh {
            AnyMesh::Surface(mesh) => {
                let (mesh, report) = apply(self, mesh, opening)?;
                (AnyMesh::Surface(mesh), Some(report))
            }
            AnyMesh::Volume(mesh) => {
                let (mesh, report) = apply_to_volume(self, mesh, opening)?;
                (AnyMesh::Volume(mesh), Some(report))
            }
        })
    }
}
