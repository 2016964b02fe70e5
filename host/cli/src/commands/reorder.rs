//! `trioxide reorder`: vertices and cells along a Hilbert curve.

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
use trioxide_operations::reorder;

use super::help;
use super::step::{AnyMesh, Step, step_fields};

const DEFAULTS: &str =
    "Where defaults come from: this machine (--device auto, --threads: all cores).";

/// Vertices and cells along a curve.
const WORK: Work = Work { cpu: 12.0 };

/// Renumber vertices and cells along a Hilbert curve, so that neighbours in space are neighbours in memory
///
/// Vertices are ordered along the curve, faces and cells by their vertices. Nothing is dropped: equal points and unused
/// vertices stay. Data of vertices and cells, regions, segments and tags go along. Faces and tetrahedra keep their
/// orientation, and begin at their lowest vertex. Where points are distinct, the result does not depend on the order of
/// the input; it is the same on every machine.
#[derive(Args)]
#[command(after_help = DEFAULTS, mut_arg("device", help::without_serial))]
pub struct Options {
    #[arg(help = format!(
        "{}; or tetrahedra: {}",
        help::mesh_to_read("Mesh or point cloud to read"),
        help::volumes()
    ))]
    pub input: PathBuf,
    /// Mesh to write
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Write the old id of each vertex and of each face or cell to this folder: old_vertices.txt and old_cells.txt
    #[arg(long, value_name = "DIR")]
    pub maps: Option<PathBuf>,
    #[command(flatten)]
    pub reading: ReadOptions,
    #[command(flatten)]
    pub device: DeviceOptions,
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    let Options { input, output, .. } = options;
    let is_volume = super::is_volume(input, options.reading);
    if let Some(output) = output {
        match is_volume {
            true => _ = VolumeFormat::to_write(output)?,
            false => _ = Format::to_write(output)?,
        }
    }
    let quiet = options.device.quiet;
    let opening = options.device.begin(input, WORK);
    let report = if is_volume {
        let mesh = super::read_volume(input, options.reading, quiet)?;
        let (mesh, report) = apply_to_volume(options, mesh, &opening)?;
        if let Some(output) = output {
            super::write_volume(output, &mesh, Default::default(), quiet)?;
        }
        report
    } else {
        let mesh = super::read_mesh(input, options.reading, quiet)?;
        let (mesh, report) = apply(options, mesh, &opening)?;
        if let Some(output) = output {
            super::write_mesh(output, &mesh, quiet)?;
        }
        report
    };
    report.give(&options.device)
}

impl Step for Options {
    fn name(&self) -> &'static str {
        "reorder"
    }

    step_fields!();

    fn work(&self) -> Work {
        WORK
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

/// Reorders a surface or a cloud on the machine that `opening` gives.
fn apply<'a>(options: &'a Options, mesh: Mesh, opening: &Opening) -> Result<(Mesh, Report<'a>)> {
    let (mesh, report) = trioxide_operations::reorder(opening, mesh)
        .map_err(|error| worded(error).in_file(&options.input))?;
    Ok((mesh, give_maps(options, report)?))
}

/// Reorders a mesh of tetrahedra on the machine that `opening` gives.
fn apply_to_volume<'a>(
    options: &'a Options,
    mesh: VolumeMesh,
    opening: &Opening,
) -> Result<(VolumeMesh, Report<'a>)> {
    let (mesh, report) = trioxide_operations::reorder_volume(opening, mesh)
        .map_err(|error| worded(error).in_file(&options.input))?;
    Ok((mesh, give_maps(options, report)?))
}

/// Writes the maps, and returns the report of the command.
fn give_maps(options: &Options, report: reorder::Report) -> Result<Report<'_>> {
    if let Some(folder) = &options.maps {
        account::part("work of the host");
        order_maps::write(folder, &report.vertices, &report.cells)?;
        account::part("write");
    }
    let counts = report.totals.counts();
    Ok(Report::of("reorder", &options.input, report.run, counts))
}
