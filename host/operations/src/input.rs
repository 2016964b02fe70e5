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
/// [`NoFaces`](Error::NoFaces).
pub fn check_faces(mesh: &Mesh) -> trioxide::Result<()> {
    let points = mesh.points.len();
    match mesh.faces.is_empty() {
        true => Err(Error::NoFaces { points }),
        false => Ok(()),
    }
}

/// As [`check_faces`], of a mesh of the plane. Points in space are refused for that: triangles would not help.
///
/// # Errors
/// [`NoFaces`](Error::NoFaces); a point with another z than the first.
pub fn check_planar_faces(mesh: &Mesh) -> trioxide::Result<()> {
    let Err(error) = check_faces(mesh) else {
        return Ok(());
    };
    let cloud = Mesh {
        points: mesh.points.clone(),
        ..Mesh::default()
    };
    cloud.into_triangulation()?;
    Err(error)
}

/// Refuses an element with a vertex that is not there.
///
/// # Errors
/// [`Invalid`](Error::Invalid).
pub(crate) fn check_ids(
    element: &str,
    i: usize,
    ids: &[u32],
    vertices: usize,
) -> trioxide::Result<()> {
    match ids.iter().find(|&&v| v as usize >= vertices) {
        None => Ok(()),
        Some(v) => Err(Error::Invalid {
            element: format!("{element} {i}"),
            rule: format!("has vertex {v}, but the mesh has {vertices} vertices"),
        }),
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
    Ok((mesh, fields, Note::turned(turned, "inverted tetrahedron")))
}

/// Works on a mesh of the plane of `count` elements. Where the work is refused and `turn` turns some of them, works again,
/// and notes it: so a mesh that is right is not looked at twice.
///
/// # Errors
/// Those of `work`. If only some elements were turned and the mesh is still refused, it may be tangled: then the first
/// error, on the mesh as it is given, says more.
pub(crate) fn turning<M, T>(
    (mesh, count): (&mut M, usize),
    work: impl Fn(&M) -> Result<T>,
    turn: impl FnOnce(&mut M) -> usize,
    element: &'static str,
) -> Result<(T, Option<Note>)> {
    let error = match work(mesh) {
        Ok(done) => return Ok((done, None)),
        Err(error) => error,
    };
    match turn(mesh) {
        0 => Err(error),
        turned => match work(mesh) {
            Ok(done) => Ok((done, Note::turned(turned, element))),
            Err(other) => Err(if turned == count { other } else { error }),
        },
    }
}
