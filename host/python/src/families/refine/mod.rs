//! Refinement of triangles, in the plane and in space, and of tetrahedra.

mod on_device;

use clap::Arg;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use trioxide::prolongation::Prolongation;
use trioxide_operations as operations;
use trioxide_operations::refine::{Marking, Options};

use super::Family;
use crate::arrays::{entry, flags, list, table};
use crate::call::{Call, Dict, option, put_counts, put_notes};
use crate::meshes::{dict_of_mesh, dict_of_volume, mesh_of, volume_of};
use crate::options::{command, parse};

pub use on_device::PyMidpoints;

pub const FAMILY: Family = Family {
    name: "refine",
    options: command::<Options>,
    step: Some(|command| command.arg(Arg::new("mark").long("mark"))),
    runs: &[
        ("refine", refine),
        ("refine_tets", refine_tets),
        ("refine_on_device", on_device::refine),
        ("refine_tets_on_device", on_device::refine_tets),
    ],
};

/// The options of refinement, with the cells to be marked: by a text, by flags or by values.
pub fn refine_options(options: &Dict<'_>) -> PyResult<Options> {
    let mark: Option<String> = option(options, "mark", None)?;
    let mark = match mark {
        Some(text) => {
            let wrong = |cause| PyValueError::new_err(format!("mark={text:?}: {cause}"));
            Some(text.parse().map_err(wrong)?)
        }
        None if options.contains("flags")? => Some(Marking::Flags(flags(options, "flags")?)),
        None => None,
    };
    Ok(Options {
        mark,
        values: entry::<f64, f64>(options, "values")?,
        maps: true,
        ..parse(options)?
    })
}

/// A refined triangulation.
fn refine<'py>(call: &Call<'_, 'py>, mesh: &Dict<'py>) -> PyResult<Dict<'py>> {
    let options = refine_options(call.options)?;
    let mesh = mesh_of(mesh)?;
    let (mesh, report, matrix) = call.operate(move |on| {
        let (mesh, report) = operations::refine(on, mesh, &options)?;
        let matrix = report.prolongation();
        Ok((report.run.clone(), (mesh, report, matrix)))
    })?;
    let result = dict_of_mesh(call.py, mesh)?;
    put_counts(&result, report.totals.counts())?;
    put_notes(&result, &report.notes)?;
    result.set_item("parents", list(call.py, report.parents))?;
    put_prolongation(call.py, &result, matrix)?;
    Ok(result)
}

pub fn put_prolongation(py: Python<'_>, result: &Dict<'_>, matrix: Prolongation) -> PyResult<()> {
    let offsets: Vec<i64> = matrix.offsets.iter().map(|&start| start as i64).collect();
    result.set_item("prolongation_offsets", list(py, offsets))?;
    result.set_item("prolongation_columns", list(py, matrix.columns))?;
    result.set_item("prolongation_weights", list(py, matrix.weights))
}

/// A refined mesh of tetrahedra.
fn refine_tets<'py>(call: &Call<'_, 'py>, mesh: &Dict<'py>) -> PyResult<Dict<'py>> {
    let options = refine_options(call.options)?;
    let mesh = volume_of(mesh)?;
    let (mesh, report, matrix) = call.operate(move |on| {
        let (mesh, report) = operations::refine_tets(on, mesh, &options)?;
        let matrix = report.prolongation();
        Ok((report.run.clone(), (mesh, report, matrix)))
    })?;
    let result = dict_of_volume(call.py, mesh)?;
    put_counts(&result, report.totals.counts())?;
    put_notes(&result, &report.notes)?;
    result.set_item("parents", list(call.py, report.parents))?;
    let ends = report.vertex_parents.into_flattened();
    result.set_item("vertex_parents", table(call.py, ends, 2)?)?;
    put_prolongation(call.py, &result, matrix)?;
    Ok(result)
}
