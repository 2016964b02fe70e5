//! Is this a conforming mesh of tetrahedra?

use rayon::slice::ParallelSliceMut;

use super::{ensure, invalid};
use crate::volume::{TaggedTriangle, TetMesh, orientation};
use crate::{Error, Result, parallel};

/// Counts of a valid mesh of tetrahedra.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TetSummary {
    /// Faces that two tetrahedra share.
    pub interior_faces: usize,
    /// Faces of one tetrahedron.
    pub boundary_faces: usize,
}

/// Checks a mesh of tetrahedra: indices, coordinates, orientation (exact), faces.
///
/// A face belongs to one tetrahedron, or to one on each side; a tagged triangle is a face.
///
/// # Errors
/// [`Error::Invalid`](crate::Error::Invalid) with the first element that breaks a rule.
pub fn tets(mesh: &TetMesh) -> Result<TetSummary> {
    check_arrays(mesh)?;
    tet_faces(mesh)
}

/// Checks the faces of a mesh of tetrahedra that are positively oriented and have vertices in range, as [`tets`] does.
///
/// # Errors
/// [`Error::Invalid`](crate::Error::Invalid) with the first face that breaks a rule.
pub fn tet_faces(mesh: &TetMesh) -> Result<TetSummary> {
    let uses = face_uses(&mesh.tetrahedra);
    // The uses of one face, of which use i is the first.
    let group = |i: usize| {
        let is_first = i == 0 || uses[i - 1].0 != uses[i].0;
        is_first.then(|| {
            let rest = &uses[i..];
            let end = rest.iter().position(|other| other.0 != rest[0].0);
            &rest[..end.unwrap_or(rest.len())]
        })
    };
    let fault = |i| group(i).and_then(|group| check_group(group).err());
    if let Some(error) = parallel::find_map(uses.len(), fault) {
        return Err(error);
    }
    let is_none = |face: &TaggedTriangle| {
        let found = uses.binary_search_by_key(&sorted(face.vertices), |&(face, _)| face);
        found.is_err()
    };
    if let Some(i) = parallel::position(&mesh.faces, is_none) {
        return Err(invalid(
            format!("tagged face {i}"),
            "is no face of a tetrahedron",
        ));
    }
    let is_interior = |i| group(i).is_some_and(|group| group.len() == 2);
    let interior_faces = parallel::count(uses.len(), is_interior);
    Ok(TetSummary {
        interior_faces,
        boundary_faces: uses.len() - 2 * interior_faces,
    })
}

/// Checks the uses of one face.
fn check_group(group: &[([u32; 3], u64)]) -> Result<()> {
    let names = || {
        let names: Vec<String> = group.iter().map(|&(_, f)| (f / 8).to_string()).collect();
        names.join(", ")
    };
    let face = || {
        let [a, b, c] = group[0].0;
        format!("face {a}-{b}-{c}")
    };
    ensure(group.len() <= 2, face, || {
        format!(
            "belongs to {} tetrahedra ({}), but at most two can share a face: `repair --folded` drops the others",
            group.len(),
            names()
        )
    })?;
    // Bit 2 of a use is the side of the face that its tetrahedron lies on.
    ensure(
        group.len() == 1 || (group[0].1 ^ group[1].1) & 4 != 0,
        face,
        || {
            format!(
                "has tetrahedra {} on the same side: they overlap (`repair --folded` drops one)",
                names()
            )
        },
    )
}

fn check_arrays(mesh: &TetMesh) -> Result<()> {
    let vertices = mesh.points.len();
    if let Some(v) = parallel::position(&mesh.points, |p| !p.is_finite()) {
        return Err(Error::not_finite(v));
    }
    let broken = parallel::find_map(mesh.tetrahedra.len(), |t| {
        let tetrahedron = &mesh.tetrahedra[t];
        let rule = if let Some(v) = tetrahedron.iter().find(|&&v| v as usize >= vertices) {
            format!("has vertex {v}, but the mesh has {vertices} vertices")
        } else if orientation(&mesh.points, tetrahedron) > 0.0 {
            return None;
        } else if orientation(&mesh.points, tetrahedron) < 0.0 {
            "is inverted: swap two of its vertices".to_owned()
        } else {
            "is flat: its volume is zero".to_owned()
        };
        Some(invalid(format!("tetrahedron {t}"), rule))
    });
    if let Some(error) = broken {
        return Err(error);
    }
    let regions = mesh
        .regions
        .as_ref()
        .map_or(mesh.tetrahedra.len(), Vec::len);
    ensure(
        regions == mesh.tetrahedra.len(),
        || "mesh".to_owned(),
        || {
            format!(
                "has region ids for {regions} tetrahedra of {}",
                mesh.tetrahedra.len()
            )
        },
    )
}

/// Its vertices, ascending.
pub fn sorted(mut face: [u32; 3]) -> [u32; 3] {
    face.sort_unstable();
    face
}

/// The faces of all tetrahedra, sorted: vertices ascending, and the use: eight times the tetrahedron, plus 4 if the
/// face, seen from outside of it, runs against that order, plus the corner opposite to it.
pub fn face_uses(tetrahedra: &[[u32; 4]]) -> Vec<([u32; 3], u64)> {
    let uses = parallel::collect(tetrahedra.len(), |t| {
        let [a, b, c, d] = tetrahedra[t];
        let faces = [[b, c, d], [a, d, c], [a, b, d], [a, c, b]];
        std::array::from_fn::<_, 4, _>(|k| {
            // Odd permutations turn the face around.
            let [x, y, z] = faces[k];
            let odd = (x > y) ^ (y > z) ^ (x > z);
            (
                sorted(faces[k]),
                8 * t as u64 + 4 * u64::from(odd) + k as u64,
            )
        })
    });
    let mut uses = uses.into_flattened();
    uses.par_sort_unstable();
    uses
}
