//! Operations that run on the host's threads, at least for some input: triangulation, virtual elements.

use std::path::PathBuf;

use glam::DVec2;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use trioxide::formats::poly::read_outline_as;
use trioxide::outline::OutlineMesh;
use trioxide_operations as operations;

use crate::arrays::{entry, list};
use crate::call::{Call, Dict};
use crate::device::PyDevice;
use crate::families::{put_counts, put_notes};
use crate::files::{check_surface, visible};
use crate::meshes::{dict_of_mesh, mesh_of};
use crate::options::{KEYWORDS, parse};
use crate::polyhedra::polyhedra_of;
use crate::work::run;

/// Triangulates the outline in a file, or the points and segments of `mesh` with its `holes`, `region_points` and
/// `region_ids`. Points alone are triangulated on the device.
#[pyfunction]
pub fn triangulate<'py>(
    device: &Bound<'py, PyDevice>,
    path: Option<PathBuf>,
    mesh: &Dict<'py>,
    options: &Dict<'py>,
    watch: Option<&Bound<'py, PyAny>>,
) -> PyResult<Dict<'py>> {
    let py = mesh.py();
    let call = Call {
        py,
        device,
        options,
        watch,
    };
    let settings: operations::triangulate::Options = parse(options)?;
    let reading = parse(options)?;
    let mut given = match path {
        Some(_) => OutlineMesh::default(),
        // The package gives no faces.
        None => OutlineMesh::of_mesh(mesh_of(mesh)?).0,
    };
    given.holes = entry::<f64, DVec2>(mesh, "holes")?.unwrap_or_default();
    let places = entry::<f64, DVec2>(mesh, "region_points")?.unwrap_or_default();
    let ids = entry::<i32, i32>(mesh, "region_ids")?.unwrap_or_default();
    given.regions = places.into_iter().zip(ids).collect();
    let (mesh, mut notes, report) = call.run(move |on| {
        let (outline, notes) = match &path {
            Some(path) => read_outline_as(path, reading)?,
            None => (given, Vec::new()),
        };
        let done = operations::triangulate(on, outline, &settings);
        let (mesh, report) = done.map_err(|error| {
            let error = error.worded(KEYWORDS);
            match &path {
                Some(path) => error.in_file(path),
                None => error,
            }
        })?;
        Ok((mesh, notes, report))
    })?;
    device.get().note(report.run.stages);
    notes.extend(report.notes);
    let result = dict_of_mesh(py, mesh)?;
    put_counts(&result, report.totals.counts())?;
    put_notes(&result, &visible(notes))?;
    result.set_item("firsts", list(py, report.firsts))?;
    Ok(result)
}

/// Solves a Poisson problem by virtual elements, on polygons or on polyhedra.
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
        run(py, watch, move || {
            operations::vem_in_space(mesh, &options).map_err(|error| error.worded(KEYWORDS))
        })?
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
    result.set_item("values", list(py, report.values))?;
    result.set_item("exact", list(py, report.exact))?;
    Ok(result)
}
