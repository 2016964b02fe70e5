//! Files that ranks write of a mesh which rank 0 holds, and `.pvtu`, of which each rank writes a piece.

use std::path::Path;

use trioxide::formats::Format;
use trioxide::formats::pvtu::Cells;
use trioxide::formats::volume::VolumeFormat;
use trioxide::mesh::Mesh;
use trioxide::volume::VolumeMesh;
use trioxide_ranks::output::pieces;
use trioxide_ranks::{Ranks, Result};

use super::rank::has_extension;
use crate::commands;

/// Whether a file is a list of pieces, which ranks write and one process does not.
pub fn is_pvtu(path: &Path) -> bool {
    has_extension(path, "pvtu")
}

/// Whether all ranks write a file of a surface that no rank holds.
pub fn is_written_by_all(path: &Path) -> bool {
    has_extension(path, "ply") || is_pvtu(path)
}

/// Refuses a file to which ranks write no surface, or no volume mesh.
///
/// # Errors
/// That of the format.
pub fn check_output(output: Option<&Path>, is_volume: bool) -> trioxide::Result<()> {
    match output.filter(|path| !is_pvtu(path)) {
        None => Ok(()),
        Some(path) if is_volume => VolumeFormat::to_write(path).map(drop),
        Some(path) => Format::to_write(path).map(drop),
    }
}

/// Writes the surface that rank 0 has; the others have none. Collective.
///
/// # Errors
/// A file that cannot be written.
pub fn write_surface(ranks: &Ranks, path: &Path, mesh: Option<Mesh>, quiet: bool) -> Result<()> {
    if is_pvtu(path) {
        return pieces::write_whole(ranks, path, mesh.map(Cells::Surface));
    }
    ranks.agree(mesh.map_or(Ok(()), |mesh| commands::write_mesh(path, &mesh, quiet)))
}

/// Writes the volume mesh that rank 0 has; the others have none. Collective.
///
/// # Errors
/// A file that cannot be written.
pub fn write_volume(
    ranks: &Ranks,
    path: &Path,
    mesh: Option<VolumeMesh>,
    quiet: bool,
) -> Result<()> {
    if is_pvtu(path) {
        return pieces::write_whole(ranks, path, mesh.map(Cells::Volume));
    }
    let written = mesh.map_or(Ok(()), |mesh| {
        commands::write_volume(path, &mesh, Default::default(), quiet)
    });
    ranks.agree(written)
}
