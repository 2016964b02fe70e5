//! Requirements of operations on their input meshes.

use trioxide::Error;
use trioxide::fields::MeshFields;
use trioxide::mesh::Mesh;
use trioxide::volume::{TetMesh, VolumeMesh};

use crate::error::Result;
use crate::report::Note;

/// Refuses a mesh without faces: points are no mesh to compute on.
///
/// # Errors
/// [`Invalid`](Error::Invalid).
pub fn check_faces(mesh: &Mesh) -> trioxide::Result<()> {
    match mesh.faces.len() {
        0 => Err(Error::Invalid {
            element: "the mesh".to_owned(),
            rule: format!(
                "has {} vertices and no faces: triangulate them first",
                mesh.points.len()
            ),
        }),
        _ => Ok(()),
    }
}

/// A mesh of tetrahedra, turned to their positive side, and its fields.
///
/// # Errors
/// A cell that is no tetrahedron; a field of another length than the mesh's.
pub fn tetrahedra(mut mesh: VolumeMesh) -> Result<(TetMesh, MeshFields, Option<Note>)> {
    let fields = std::mem::take(&mut mesh.fields);
    fields.check(mesh.points.len(), mesh.cells.len(), mesh.faces.len())?;
    let mut mesh = mesh.into_tet_mesh()?;
    let turned = mesh.orient();
    Ok((mesh, fields, (turned > 0).then_some(Note::Turned(turned))))
}
