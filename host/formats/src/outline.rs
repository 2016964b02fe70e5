//! Triangle's `.poly` files as meshes of points and segments without faces. [`crate::poly`] reads holes and regions,
//! for `trioxide triangulate`.

use std::path::Path;

use super::Loaded;
use super::atomic_file::write_atomically;
use super::poly::read_outline;
use super::triangle::{write_nodes, write_segment_rows};
use trioxide_mesh::mesh::Mesh;
use trioxide_mesh::{Error, Result};

pub(crate) fn read(path: &Path) -> Result<Loaded> {
    let (outline, mut notes) = read_outline(path)?;
    let (holes, regions) = (outline.holes.len(), outline.regions.len());
    if holes + regions > 0 {
        notes.push(format!(
            "its points of {holes} holes and {regions} regions are left out: trioxide triangulate takes them"
        ));
    }
    Ok(Loaded {
        mesh: outline.mesh,
        notes,
    })
}

/// Writes points with their attributes and markers, and segments, numbered from 0.
pub(crate) fn write(path: &Path, mesh: &Mesh) -> Result<()> {
    if let Some(i) = mesh.points.iter().position(|p| p.z != 0.0) {
        let reason = format!(
            "the format holds points of the plane, but vertex {i} has z = {}: write .ply or .vtu",
            mesh.points[i].z
        );
        return Err(Error::format(path, reason));
    }
    write_atomically(path, |file| {
        write_nodes(file, &mesh.points, &mesh.fields.points)?;
        write_segment_rows(file, &mesh.segments)
    })
}
