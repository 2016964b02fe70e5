//! Meshes of one kind made of another: triangles of polygons, tetrahedra and surfaces of cells.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use trioxide::divide::{self, Divided};
use trioxide::finite::Kept;

use crate::files::{check_surface, check_volume, visible};
use crate::meshes::{dict_of_mesh, dict_of_volume, mesh_of, volume_of};
use crate::work::run;

type Dict<'py> = Bound<'py, PyDict>;

/// The arrays of a mesh converted to "triangles", "tetrahedra" or its "boundary", or without vertices that are not
/// "finite" (of cells "finite cells"), and notes on parts without a proper division, or that were dropped.
#[pyfunction]
pub fn convert<'py>(
    py: Python<'py>,
    mesh: &Dict<'py>,
    conversion: &str,
    watch: Option<&Bound<'py, PyAny>>,
) -> PyResult<(Dict<'py>, Vec<String>)> {
    match conversion {
        "triangles" => {
            let mesh = mesh_of(mesh)?;
            let Divided { mesh, notes, .. } = run(py, watch, move || {
                check_surface(&mesh)?;
                divide::triangles(mesh)
            })?;
            Ok((dict_of_mesh(py, mesh)?, visible(notes)))
        }
        "tetrahedra" => {
            let mesh = volume_of(mesh)?;
            let Divided { mesh, notes, .. } = run(py, watch, move || {
                check_volume(&mesh)?;
                divide::tetrahedra(mesh)
            })?;
            Ok((dict_of_volume(py, mesh)?, visible(notes)))
        }
        "boundary" => {
            let mesh = volume_of(mesh)?;
            let surface = run(py, watch, move || {
                check_volume(&mesh)?;
                Ok(mesh.boundary())
            })?;
            Ok((dict_of_mesh(py, surface)?, Vec::new()))
        }
        "finite" => {
            let mut mesh = mesh_of(mesh)?;
            let (mesh, kept) = run(py, watch, move || {
                check_surface(&mesh)?;
                let kept = mesh.drop_invalid();
                Ok((mesh, kept))
            })?;
            Ok((dict_of_mesh(py, mesh)?, sentences(kept)))
        }
        "finite cells" => {
            let mut mesh = volume_of(mesh)?;
            let (mesh, kept) = run(py, watch, move || {
                check_volume(&mesh)?;
                let kept = mesh.drop_invalid();
                Ok((mesh, kept))
            })?;
            Ok((dict_of_volume(py, mesh)?, sentences(kept)))
        }
        _ => Err(PyValueError::new_err("no such conversion")),
    }
}

fn sentences(kept: Option<Kept>) -> Vec<String> {
    kept.iter().map(Kept::sentence).collect()
}
