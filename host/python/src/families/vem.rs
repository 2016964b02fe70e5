//! Poisson problems by virtual elements.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use trioxide_operations as operations;

use super::Family;
use crate::arrays::list;
use crate::call::{Dict, put_counts, put_notes};
use crate::files::{check_surface, check_volume};
use crate::meshes::{dict_of_mesh, mesh_of, volume_of};
use crate::options::{KEYWORDS, command, parse};
use crate::polyhedra::polyhedra_of;
use crate::work::run;

/// It runs on no device, by [`solve_poisson`].
pub(super) const FAMILY: Family = Family {
    name: "vem",
    options: command::<operations::vem::Options>,
    step: None,
    runs: &[],
};

/// Solves a Poisson problem by virtual elements, on polygons, cells or polyhedra.
#[pyfunction]
pub fn solve_poisson<'py>(
    py: Python<'py>,
    mesh: &Dict<'py>,
    options: &Dict<'py>,
    watch: Option<&Bound<'py, PyAny>>,
) -> PyResult<Dict<'py>> {
    let options: operations::vem::Options = parse(options)?;
    let result = PyDict::new(py);
    let report = if mesh.contains("sides")? {
        let mesh = polyhedra_of(mesh)?;
        let (_, report) = run(py, watch, move || {
            operations::vem_in_space(mesh, &options).map_err(|error| error.worded(KEYWORDS))
        })?;
        report
    } else if mesh.contains("tetrahedra")? {
        let mesh = volume_of(mesh)?;
        let (_, report) = run(py, watch, move || {
            check_volume(&mesh)?;
            operations::vem_of_cells(mesh, &options).map_err(|error| error.worded(KEYWORDS))
        })?;
        report
    } else {
        let mesh = mesh_of(mesh)?;
        let (mesh, report) = run(py, watch, move || {
            check_surface(&mesh)?;
            operations::vem(mesh, &options).map_err(|error| error.worded(KEYWORDS))
        })?;
        result.set_item("mesh", dict_of_mesh(py, mesh)?)?;
        report
    };
    put_counts(&result, report.totals.counts())?;
    put_notes(&result, &report.notes)?;
    result.set_item("values", list(py, report.values))?;
    result.set_item("exact", list(py, report.exact))?;
    Ok(result)
}
