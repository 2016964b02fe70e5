//! The families on arrays of the host: polylla, weld, smooth; refine is in `refinement`.

use glam::DVec3;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use trioxide::weld::Locks;
use trioxide_operations as operations;

use crate::arrays::{entry, list};
use crate::call::{Call, Dict, option};
use crate::meshes::{dict_of_mesh, mesh_of, volume_of};
use crate::options::parse;

/// Polygons of a triangulation.
pub fn polylla<'py>(call: &Call<'_, 'py>, mesh: &Dict<'py>) -> PyResult<Dict<'py>> {
    let mut options: operations::polylla::Options = parse(call.options)?;
    crate::options::check_plane(call.options)?;
    options.parents = true;
    let mesh = mesh_of(mesh)?;
    let (mesh, report) = call.operate(move |on| {
        let (mesh, report) = operations::polylla(on, mesh, &options)?;
        Ok((report.run.clone(), (mesh, report)))
    })?;
    let result = dict_of_mesh(call.py, mesh)?;
    put_counts(&result, report.totals.counts())?;
    let parents = report.parents.expect("the options ask for them");
    result.set_item("triangle_offsets", list(call.py, parents.offsets))?;
    result.set_item("triangles_of_polygons", list(call.py, parents.triangles))?;
    result.set_item("half_edges", list(call.py, report.half_edges))?;
    Ok(result)
}

/// A welded mesh.
pub fn weld<'py>(call: &Call<'_, 'py>, mesh: &Dict<'py>) -> PyResult<Dict<'py>> {
    let mut options: operations::weld::Options = parse(call.options)?;
    options.locks = Locks {
        boundary: option(call.options, "lock_boundary", false)?,
        vertices: flags(call.options, "locked")?,
    };
    let mesh = mesh_of(mesh)?;
    let (mesh, report) = call.operate(move |on| {
        let (mesh, report) = operations::weld(on, mesh, &options)?;
        Ok((report.run.clone(), (mesh, report)))
    })?;
    let result = dict_of_mesh(call.py, mesh)?;
    put_counts(&result, report.totals.counts())?;
    put_notes(&result, &report.notes)?;
    result.set_item("map", list(call.py, report.map))?;
    result.set_item("representatives", list(call.py, report.representatives))?;
    Ok(result)
}

/// The counts of a report, as `counts`.
pub fn put_counts(result: &Dict<'_>, counts: operations::Counts) -> PyResult<()> {
    let dict = PyDict::new(result.py());
    for (name, count) in counts {
        match count {
            operations::Count::Whole(count) => dict.set_item(name, count)?,
            operations::Count::Real(number) => dict.set_item(name, number)?,
            operations::Count::Flag(flag) => dict.set_item(name, flag)?,
            operations::Count::Word(word) => dict.set_item(name, word)?,
            operations::Count::Digest(digest) => dict.set_item(name, format!("{digest:016x}"))?,
        }
    }
    result.set_item("counts", dict)
}

/// Puts notes for the user into a result, as `notes`.
pub fn put_notes(result: &Dict<'_>, notes: &[impl ToString]) -> PyResult<()> {
    let notes: Vec<String> = notes.iter().map(ToString::to_string).collect();
    result.set_item("notes", notes)
}

/// A smoothed surface: the new points.
pub fn smooth_surface<'py>(call: &Call<'_, 'py>, mesh: &Dict<'py>) -> PyResult<Dict<'py>> {
    let (options, mesh) = (smooth_options(call)?, mesh_of(mesh)?);
    let (points, report) = call.operate(move |on| {
        let (mesh, report) = operations::smooth(on, mesh, &options)?;
        Ok((report.run.clone(), (mesh.points, report)))
    })?;
    dict_of_smoothed(call, points, &report)
}

/// A smoothed volume mesh: the new points.
pub fn smooth_volume<'py>(call: &Call<'_, 'py>, mesh: &Dict<'py>) -> PyResult<Dict<'py>> {
    let (options, mesh) = (smooth_options(call)?, volume_of(mesh)?);
    let (points, report) = call.operate(move |on| {
        let (mesh, report) = operations::smooth_volume(on, mesh, &options)?;
        Ok((report.run.clone(), (mesh.points, report)))
    })?;
    dict_of_smoothed(call, points, &report)
}

fn smooth_options(call: &Call<'_, '_>) -> PyResult<operations::smooth::Options> {
    Ok(operations::smooth::Options {
        fixed: flags(call.options, "fixed")?,
        ..parse(call.options)?
    })
}

fn dict_of_smoothed<'py>(
    call: &Call<'_, 'py>,
    points: Vec<DVec3>,
    report: &operations::smooth::Report,
) -> PyResult<Dict<'py>> {
    let result = PyDict::new(call.py);
    result.set_item("points", crate::arrays::points(call.py, points)?)?;
    result.set_item("moving", report.totals.moving)?;
    result.set_item("sweeps", report.totals.moves.sweeps)?;
    put_counts(&result, report.totals.counts())?;
    Ok(result)
}

/// Flags of a dictionary; none where they are missing.
pub fn flags(options: &Dict<'_>, name: &str) -> PyResult<Vec<bool>> {
    let flags = entry::<u8, u8>(options, name)?.unwrap_or_default();
    Ok(flags.into_iter().map(|flag| flag != 0).collect())
}
