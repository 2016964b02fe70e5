//! Meshes as dictionaries of arrays, as the classes `Mesh` and `VolumeMesh` of the package hold them.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use trioxide::fields::MeshFields;
use trioxide::mesh::{Faces, Mesh, Polygons, Segment, VertexAttributes};
use trioxide::volume::{CellKind, Cells, MixedCells, VolumeMesh};

use crate::about::{about_of, put_about};
use crate::arrays::{dict_of_fields, entry, fields_of, list, pairs, points, table};

/// The error for an array that a mesh needs.
pub fn missing(name: &str) -> PyErr {
    PyValueError::new_err(format!("the mesh has no {name}"))
}

/// Refuses offsets that do not run from 0 to the number of vertices.
pub fn check_offsets(name: &str, offsets: &[u32], vertices: usize) -> PyResult<()> {
    let is_ascending = offsets.is_sorted();
    let first = offsets.first().copied();
    let last = offsets.last().map(|&last| last as usize);
    if is_ascending && first == Some(0) && last == Some(vertices) {
        return Ok(());
    }
    Err(PyValueError::new_err(format!(
        "{name} must ascend from 0 to the number of vertices, {vertices}, with one entry more than there are elements"
    )))
}

/// Lists of vertices of a dictionary, whose offsets are checked; none where they are missing.
pub fn polygons(
    dict: &Bound<'_, PyDict>,
    offsets: &str,
    vertices: &str,
) -> PyResult<Option<Polygons>> {
    let Some(starts) = entry::<u32, u32>(dict, offsets)? else {
        return Ok(None);
    };
    let vertices = entry::<u32, u32>(dict, vertices)?.ok_or_else(|| missing(vertices))?;
    check_offsets(offsets, &starts, vertices.len())?;
    Ok(Some(Polygons {
        offsets: starts,
        vertices,
    }))
}

/// The fields of a dictionary.
pub fn mesh_fields(dict: &Bound<'_, PyDict>) -> PyResult<MeshFields> {
    Ok(MeshFields {
        points: fields_of(dict, "point_data")?,
        cells: fields_of(dict, "cell_data")?,
        sides: fields_of(dict, "side_data")?,
    })
}

/// Fields into a dictionary.
pub fn put_fields(py: Python<'_>, dict: &Bound<'_, PyDict>, fields: &MeshFields) -> PyResult<()> {
    dict.set_item("point_data", dict_of_fields(py, &fields.points)?)?;
    dict.set_item("cell_data", dict_of_fields(py, &fields.cells)?)?;
    dict.set_item("side_data", dict_of_fields(py, &fields.sides)?)
}

/// The mesh of a dictionary: `points`, then `triangles`, or `offsets` and `vertices`; the rest may be missing.
pub fn mesh_of(dict: &Bound<'_, PyDict>) -> PyResult<Mesh> {
    let faces = match entry::<u32, [u32; 3]>(dict, "triangles")? {
        Some(triangles) => Faces::Triangles(triangles),
        None => match polygons(dict, "offsets", "vertices")? {
            Some(polygons) => Faces::Polygons(polygons),
            None => Faces::default(),
        },
    };
    let ends = entry::<u32, [u32; 2]>(dict, "segments")?.unwrap_or_default();
    let markers = entry::<i32, i32>(dict, "markers")?.unwrap_or_else(|| vec![0; ends.len()]);
    if markers.len() != ends.len() {
        return Err(PyValueError::new_err(format!(
            "there are {} markers for {} segments",
            markers.len(),
            ends.len()
        )));
    }
    let segments = ends
        .into_iter()
        .zip(markers)
        .map(|(ends, marker)| Segment { ends, marker })
        .collect();
    Ok(Mesh {
        points: entry::<f64, _>(dict, "points")?.ok_or_else(|| missing("points"))?,
        faces,
        regions: entry::<i32, i32>(dict, "regions")?,
        segments,
        attributes: VertexAttributes {
            normals: entry::<f64, _>(dict, "normals")?,
            colors: entry::<u8, [u8; 4]>(dict, "colors")?,
            uvs: entry::<f64, _>(dict, "uvs")?,
        },
        fields: mesh_fields(dict)?,
        about: about_of(dict)?,
    })
}

/// The arrays of a mesh.
pub fn dict_of_mesh(py: Python<'_>, mesh: Mesh) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("points", points(py, mesh.points)?)?;
    match mesh.faces {
        Faces::Triangles(triangles) => {
            dict.set_item("triangles", table(py, triangles.into_flattened(), 3)?)?;
        }
        Faces::Polygons(mut polygons) => {
            if polygons.offsets.is_empty() {
                polygons.offsets.push(0);
            }
            dict.set_item("offsets", list(py, polygons.offsets))?;
            dict.set_item("vertices", list(py, polygons.vertices))?;
        }
    }
    if let Some(regions) = mesh.regions {
        dict.set_item("regions", list(py, regions))?;
    }
    if !mesh.segments.is_empty() {
        let ends: Vec<u32> = mesh.segments.iter().flat_map(|s| s.ends).collect();
        let markers: Vec<i32> = mesh.segments.iter().map(|s| s.marker).collect();
        dict.set_item("segments", table(py, ends, 2)?)?;
        dict.set_item("markers", list(py, markers))?;
    }
    let VertexAttributes {
        normals,
        colors,
        uvs,
    } = mesh.attributes;
    if let Some(normals) = normals {
        dict.set_item("normals", points(py, normals)?)?;
    }
    if let Some(colors) = colors {
        dict.set_item("colors", table(py, colors.into_flattened(), 4)?)?;
    }
    if let Some(uvs) = uvs {
        dict.set_item("uvs", pairs(py, &uvs)?)?;
    }
    put_fields(py, &dict, &mesh.fields)?;
    put_about(&dict, &mesh.about)?;
    Ok(dict)
}

/// The volume mesh of a dictionary: `points`, then `tetrahedra`, or `offsets` and `vertices` of cells; the rest may be
/// missing.
pub fn volume_of(dict: &Bound<'_, PyDict>) -> PyResult<VolumeMesh> {
    let cells = match entry::<u32, [u32; 4]>(dict, "tetrahedra")? {
        Some(tetrahedra) => Cells::Tetrahedra(tetrahedra),
        None => {
            let cells =
                polygons(dict, "offsets", "vertices")?.ok_or_else(|| missing("tetrahedra"))?;
            for (i, cell) in cells.iter().enumerate() {
                if CellKind::of(cell.len()).is_none() {
                    return Err(PyValueError::new_err(format!(
                        "cell {i} has {} vertices: 4, 5, 6 and 8 make a cell",
                        cell.len()
                    )));
                }
            }
            Cells::Mixed(MixedCells {
                offsets: cells.offsets,
                vertices: cells.vertices,
            })
        }
    };
    let faces = polygons(dict, "face_offsets", "face_vertices")?.unwrap_or_default();
    let face_tags = entry::<i32, i32>(dict, "face_tags")?.unwrap_or_else(|| vec![0; faces.len()]);
    if face_tags.len() != faces.len() {
        return Err(PyValueError::new_err(format!(
            "there are {} tags for {} faces",
            face_tags.len(),
            faces.len()
        )));
    }
    Ok(VolumeMesh {
        points: entry::<f64, _>(dict, "points")?.ok_or_else(|| missing("points"))?,
        cells,
        regions: entry::<i32, i32>(dict, "regions")?,
        faces,
        face_tags,
        fields: mesh_fields(dict)?,
        about: about_of(dict)?,
    })
}

/// The arrays of a volume mesh.
pub fn dict_of_volume(py: Python<'_>, mesh: VolumeMesh) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("points", points(py, mesh.points)?)?;
    match mesh.cells {
        Cells::Tetrahedra(tetrahedra) => {
            dict.set_item("tetrahedra", table(py, tetrahedra.into_flattened(), 4)?)?;
        }
        Cells::Mixed(mut cells) => {
            if cells.offsets.is_empty() {
                cells.offsets.push(0);
            }
            dict.set_item("offsets", list(py, cells.offsets))?;
            dict.set_item("vertices", list(py, cells.vertices))?;
        }
    }
    if let Some(regions) = mesh.regions {
        dict.set_item("regions", list(py, regions))?;
    }
    if !mesh.face_tags.is_empty() {
        dict.set_item("face_offsets", list(py, mesh.faces.offsets))?;
        dict.set_item("face_vertices", list(py, mesh.faces.vertices))?;
        dict.set_item("face_tags", list(py, mesh.face_tags))?;
    }
    put_fields(py, &dict, &mesh.fields)?;
    put_about(&dict, &mesh.about)?;
    Ok(dict)
}
