//! Repair of triangle meshes.

use pyo3::prelude::*;
use trioxide_operations as operations;

use super::Family;
use crate::arrays::list;
use crate::call::{Call, Dict, put_counts};
use crate::meshes::{dict_of_mesh, mesh_of};
use crate::options::{command, parse};

pub const FAMILY: Family = Family {
    name: "repair",
    options: command::<operations::repair::Options>,
    step: Some(|command| command),
    runs: &[("repair", repair)],
};

/// A repaired mesh with its maps.
fn repair<'py>(call: &Call<'_, 'py>, mesh: &Dict<'py>) -> PyResult<Dict<'py>> {
    let options: operations::repair::Options = parse(call.options)?;
    let mesh = mesh_of(mesh)?;
    let (mesh, report) = call.operate(move |on| {
        let (mesh, report) = operations::repair(on, mesh, &options)?;
        Ok((report.run.clone(), (mesh, report)))
    })?;
    let result = dict_of_mesh(call.py, mesh)?;
    put_counts(&result, report.totals.counts())?;
    result.set_item("old_vertices", list(call.py, report.vertices))?;
    result.set_item("old_cells", list(call.py, report.faces))?;
    Ok(result)
}
