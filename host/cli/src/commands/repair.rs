//! `trioxide repair`: faults of meshes, step by step.

use std::path::PathBuf;

use clap::Args;
use trioxide::Result;
use trioxide::formats::volume::VolumeFormat;
use trioxide::formats::{Format, ReadOptions, order_maps};
use trioxide::mesh::Mesh;
use trioxide::volume::VolumeMesh;
use trioxide_arguments::account;
use trioxide_arguments::auto::Work;
use trioxide_arguments::device::{DeviceOptions, Opening, Report};
use trioxide_arguments::names::worded;
use trioxide_arguments::note_all;
use trioxide_operations::repair;

use super::help;
use super::step::{AnyMesh, Step, step_fields};

const DEFAULTS: &str = "Where defaults come from: no step is on by itself; this machine (--device auto, --threads: all cores).";

/// Several sorts of edges.
const WORK: Work = Work { cpu: 12.0 };

/// Repair a mesh: each step is an option, and they are taken in the order of the options below
///
/// Most steps are for triangles; --orient, --flip and --unused take polygons too, --orient, --folded and --unused
/// cells.
/// Positions do not change. Vertices that lose all their faces are dropped, copies of vertices come last; the others
/// keep their order. Data of vertices and faces, regions and segments go along; segments that are no edge of a face are
/// left out, with a note. Where elements compete, the lowest id
/// wins: the result is the same on every machine, and a second run changes nothing, except by --flip. `info` counts
/// what each step would find.
#[derive(Args)]
#[command(after_help = DEFAULTS, mut_arg("device", help::without_serial))]
pub struct Options {
    #[arg(help = help::mesh_to_read("Mesh to read"))]
    pub input: PathBuf,
    /// Mesh to write
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub repair: repair::Options,
    /// Write the old id of each vertex and of each face to this folder: old_vertices.txt and old_cells.txt; a copy has
    /// its vertex's, a face in a hole that of a face at the hole
    #[arg(long, value_name = "DIR")]
    pub maps: Option<PathBuf>,
    #[command(flatten)]
    pub reading: ReadOptions,
    #[command(flatten)]
    pub device: DeviceOptions,
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    let is_volume = super::is_volume(&options.input, options.reading);
    Step::check(options, is_volume)?;
    let quiet = options.device.quiet;
    if let Some(output) = &options.output {
        match is_volume {
            true => _ = VolumeFormat::to_write(output)?,
            false => _ = Format::to_write(output)?,
        }
    }
    let opening = options.device.begin(&options.input, WORK);
    if is_volume {
        let mesh = super::read_volume(&options.input, options.reading, quiet)?;
        let (mesh, report) = apply_to_volume(options, mesh, &opening)?;
        if let Some(output) = &options.output {
            super::write_volume(output, &mesh, Default::default(), quiet)?;
        }
        return report.give(&options.device);
    }
    let mesh = super::read_mesh(&options.input, options.reading, quiet)?;
    let (mesh, report) = apply(options, mesh, &opening)?;
    if let Some(output) = &options.output {
        super::write_mesh(output, &mesh, quiet)?;
    }
    report.give(&options.device)
}

impl Step for Options {
    fn name(&self) -> &'static str {
        "repair"
    }

    step_fields!();

    fn work(&self) -> Work {
        WORK
    }

    fn check(&self, _: bool) -> Result<()> {
        self.repair.steps().map(drop).map_err(worded)
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

/// Repairs a mesh on the machine that `opening` gives, and writes the maps.
fn apply<'a>(options: &'a Options, mesh: Mesh, opening: &Opening) -> Result<(Mesh, Report<'a>)> {
    let (mesh, report) = trioxide_operations::repair(opening, mesh, &options.repair)
        .map_err(|error| worded(error).in_file(&options.input))?;
    Ok((mesh, give_maps(options, report)?))
}

/// Repairs a mesh of cells, and writes the maps.
fn apply_to_volume<'a>(
    options: &'a Options,
    mesh: VolumeMesh,
    opening: &Opening,
) -> Result<(VolumeMesh, Report<'a>)> {
    let (mesh, report) = trioxide_operations::repair_volume(opening, mesh, &options.repair)
        .map_err(|error| worded(error).in_file(&options.input))?;
    Ok((mesh, give_maps(options, report)?))
}

/// Writes the maps, prints the notes, and returns the report of the command.
fn give_maps(options: &Options, report: repair::Report) -> Result<Report<'_>> {
    if let Some(folder) = &options.maps {
        account::part("work of the host");
        order_maps::write(folder, &report.vertices, &report.faces)?;
        account::part("write");
    }
    note_all(&report.notes, options.device.quiet);
    let counts = report.totals.counts();
    Ok(Report::of("repair", &options.input, report.run, counts))
}
