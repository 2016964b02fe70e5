//! Requirements of operations on their input meshes.

use glam::DVec3;
use trioxide::Error;
use trioxide::contact::Contacts;
use trioxide::edges::boundary_edges;
use trioxide::fields::MeshFields;
use trioxide::mesh::Mesh;
use trioxide::volume::{TetMesh, VolumeMesh};
use trioxide_work::parallel;

use crate::error::Result;
use crate::precision::Precision;
use crate::report::Note;
use crate::scale::Scale;

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

/// A mesh of tetrahedra, turned to their positive side, its fields, and the notes on it.
///
/// # Errors
/// A cell that is no tetrahedron; a field of another length than the mesh's.
pub fn tetrahedra(mut mesh: VolumeMesh) -> Result<(TetMesh, MeshFields, Vec<Note>)> {
    let fields = std::mem::take(&mut mesh.fields);
    fields.check(mesh.points.len(), mesh.cells.len(), mesh.faces.len())?;
    let points = mesh.points.len();
    let scale = Scale::take(&mut mesh.points, Precision::F64)?;
    let is_in_range = |c: usize| mesh.cells.get(c).iter().all(|&v| (v as usize) < points);
    // A cell with another vertex is refused later.
    let contacts = match parallel::find(mesh.cells.len(), |c| !is_in_range(c)) {
        None => Contacts::of_cells(&mesh),
        Some(_) => Contacts::default(),
    };
    let mut mesh = mesh.into_tet_mesh()?;
    let turned = Note::turned(mesh.orient(), "inverted tetrahedron");
    scale.back_all(&mut mesh.points);
    let notes = turned.into_iter().chain(Note::apart(&contacts));
    Ok((mesh, fields, notes.collect()))
}

/// A note for each way in which the parts of a mesh of triangles touch without sharing vertices. Vertex ids must be in
/// range. Takes a fraction of the time of an edge table where most edges are inside.
pub(crate) fn apart(
    point: impl Fn(u32) -> DVec3 + Sync,
    vertices: usize,
    triangles: &[[u32; 3]],
) -> Vec<Note> {
    Note::apart(&contacts(point, vertices, triangles)).collect()
}

/// The ways in which the parts of a mesh of triangles touch without sharing vertices, as [`apart`] notes them.
pub(crate) fn contacts(
    point: impl Fn(u32) -> DVec3 + Sync,
    vertices: usize,
    triangles: &[[u32; 3]],
) -> Contacts {
    Contacts::of_boundary(point, &boundary_edges(vertices, triangles))
}

/// Works on a mesh of the plane of `count` elements. Where the work is refused and `turn` turns some of them, works
/// again, and notes it: so a mesh that is right is not looked at twice.
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
