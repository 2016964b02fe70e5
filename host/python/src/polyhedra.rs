//! Polyhedra as dictionaries of arrays, as the class `Polyhedra` of the package holds them.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use trioxide::polyhedra_mesh::{PolyhedralMesh, TaggedFace};

use crate::arrays::{entry, list, points};
use crate::call::Dict;
use crate::meshes::{check_offsets, mesh_fields, missing, polygons, put_fields};

/// The arrays of polyhedra.
pub fn dict_of_polyhedra(py: Python<'_>, mut mesh: PolyhedralMesh) -> PyResult<Dict<'_>> {
    let dict = PyDict::new(py);
    for offsets in [&mut mesh.offsets, &mut mesh.faces.offsets] {
        if offsets.is_empty() {
            offsets.push(0);
        }
    }
    let (faces, tags): (Vec<u32>, Vec<i32>) = mesh
        .tagged
        .iter()
        .map(|tagged| (tagged.face, tagged.tag))
        .unzip();
    put_fields(py, &dict, &mesh.fields)?;
    dict.set_item("points", points(py, mesh.points)?)?;
    dict.set_item("offsets", list(py, mesh.offsets))?;
    dict.set_item("sides", list(py, mesh.sides))?;
    dict.set_item("face_offsets", list(py, mesh.faces.offsets))?;
    dict.set_item("face_vertices", list(py, mesh.faces.vertices))?;
    if let Some(regions) = mesh.regions {
        dict.set_item("regions", list(py, regions))?;
    }
    if !tags.is_empty() {
        dict.set_item("tagged_faces", list(py, faces))?;
        dict.set_item("face_tags", list(py, tags))?;
    }
    Ok(dict)
}

/// The polyhedra of a dictionary, whose ids are checked.
pub fn polyhedra_of(dict: &Bound<'_, PyDict>) -> PyResult<PolyhedralMesh> {
    let points = entry::<f64, _>(dict, "points")?.ok_or_else(|| missing("points"))?;
    let faces = polygons(dict, "face_offsets", "face_vertices")?;
    let faces = faces.ok_or_else(|| missing("face_offsets"))?;
    let offsets = entry::<u32, u32>(dict, "offsets")?.ok_or_else(|| missing("offsets"))?;
    let sides = entry::<u32, u32>(dict, "sides")?.ok_or_else(|| missing("sides"))?;
    check_offsets("offsets", &offsets, sides.len())?;
    let tagged = entry::<u32, u32>(dict, "tagged_faces")?.unwrap_or_default();
    let tags = entry::<i32, i32>(dict, "face_tags")?.unwrap_or_default();
    let mesh = PolyhedralMesh {
        regions: entry::<i32, i32>(dict, "regions")?,
        tagged: tagged
            .iter()
            .zip(&tags)
            .map(|(&face, &tag)| TaggedFace { face, tag })
            .collect(),
        fields: mesh_fields(dict)?,
        points,
        faces,
        offsets,
        sides,
    };
    let refused = |rule: String| Err(PyValueError::new_err(rule));
    if let Some(face) = mesh.faces.iter().position(|face| face.len() < 3) {
        return refused(format!("face {face} has fewer than 3 vertices"));
    }
    let vertices = mesh.points.len();
    if let Some(v) = mesh
        .faces
        .vertices
        .iter()
        .find(|&&v| v as usize >= vertices)
    {
        return refused(format!(
            "face_vertices has {v}: there are {vertices} points"
        ));
    }
    let faces = mesh.faces.len();
    let mut is_used = vec![false; 2 * faces];
    for &side in &mesh.sides {
        match is_used.get_mut(side as usize) {
            None => return refused(format!("sides has {side}: {faces} faces have two each")),
            Some(true) => return refused(format!("sides has {side} twice")),
            Some(is_used) => *is_used = true,
        }
    }
    if tagged.len() != tags.len() || tagged.iter().any(|&face| face as usize >= faces) {
        return refused("tagged_faces are ids of faces, with as many face_tags".to_owned());
    }
    let regions = mesh.regions.as_ref().map_or(mesh.len(), Vec::len);
    if regions != mesh.len() {
        return refused(format!(
            "there are {regions} regions for {} polyhedra",
            mesh.len()
        ));
    }
    let checked = mesh.fields.check(vertices, mesh.len(), tagged.len());
    checked.map_err(crate::exception::exception)?;
    Ok(mesh)
}
