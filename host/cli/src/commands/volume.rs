//! `trioxide convert` and `generate tets` of volume meshes.

use std::path::Path;

use clap::{Args, ValueEnum};
use trioxide::fields::MeshFields;
use trioxide::formats::names_of_groups;
use trioxide::formats::volume::{Encoding, MshVersion, WriteOptions};
use trioxide::generate::Sample;
use trioxide::volume::{TetMesh, VolumeMesh};
use trioxide::{Result, generate, progress};

use trioxide_arguments::names::worded;
use trioxide_arguments::{note, print};

use super::help;

/// How a volume mesh is written.
#[derive(Args, Clone, Copy)]
pub struct VolumeOutput {
    #[arg(long, value_enum, value_name = "ENCODING", help = help::volume_encoded())]
    pub volume_encoding: Option<Encoding>,
    /// Version of a .msh file
    #[arg(long, value_enum, value_name = "VERSION", default_value = "4.1")]
    pub msh_version: MshVersion,
}

impl From<VolumeOutput> for WriteOptions {
    fn from(options: VolumeOutput) -> WriteOptions {
        WriteOptions {
            encoding: options.volume_encoding,
            msh_version: options.msh_version,
        }
    }
}

/// Writes a volume mesh, and prints its counts.
pub fn write(output: &Path, mesh: &VolumeMesh, options: VolumeOutput, quiet: bool) -> Result<()> {
    super::write_volume(output, mesh, options.into(), quiet)?;
    match quiet {
        true => Ok(()),
        false => print(&format!("{}: {}\n", output.display(), counts(mesh))),
    }
}

/// Points of a mesh of tetrahedra.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TetPoints {
    /// A grid, every small cube split into six
    Grid,
    /// Random points with regular ones on the sides of the cube, Delaunay
    Random,
    /// Random points, those near a side moved onto it, Delaunay
    Uniform,
    /// No two points nearer than a radius, those near a side moved onto it, Delaunay
    Poisson,
    /// A grid whose inner points are moved by up to a quarter of its spacing, Delaunay
    SemiUniform,
}

/// Makes a mesh of about `n` points in the unit cube; of the grid the part `tangle` of the tetrahedra is inverted.
pub fn make_tets(
    n: usize,
    sample: Option<TetPoints>,
    tangle: Option<f64>,
    seed: u64,
) -> Result<VolumeMesh> {
    progress::stage(format!("make {n} points and their tetrahedra"));
    if let Some(share) = tangle {
        return Ok(generate::tangled_tets(n, share, seed)?.into());
    }
    let mesh = match sample.unwrap_or(TetPoints::Grid) {
        TetPoints::Grid => generate::tet_grid(n, seed)?,
        TetPoints::Random => generate::random_tets(n, seed)?,
        TetPoints::Uniform => generate::sampled_tets(n, Sample::Uniform, seed)?,
        TetPoints::Poisson => generate::sampled_tets(n, Sample::Poisson, seed)?,
        TetPoints::SemiUniform => generate::sampled_tets(n, Sample::SemiUniform, seed)?,
    };
    Ok(mesh.into())
}

/// A mesh of tetrahedra, turned to their positive side, and its fields; with notes, also on names of groups, which are
/// left out.
pub fn tetrahedra(mesh: VolumeMesh, input: &Path, quiet: bool) -> Result<(TetMesh, MeshFields)> {
    if let Some(names) = names_of_groups(&mesh.about) {
        let lost = format_args!("names of groups are not in the output: {names}");
        note(quiet, lost);
    }
    let (mesh, fields, notes) = trioxide_operations::input::tetrahedra(mesh)
        .map_err(|error| worded(error).in_file(input))?;
    notes.into_iter().for_each(|found| note(quiet, found));
    Ok((mesh, fields))
}

fn counts(mesh: &VolumeMesh) -> String {
    format!(
        "{} vertices, {} cells, {} tagged faces",
        mesh.points.len(),
        mesh.cells.len(),
        mesh.faces.len()
    )
}
