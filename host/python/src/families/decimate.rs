//! Meshes of a wanted number of triangles.

use glam::DVec3;
use gpu::ids::Vertex;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use trioxide::Buffer;
use trioxide::decimate::Surface;
use trioxide_operations as operations;

use super::Family;
use super::locks::{locks, with_lock};
use crate::arrays::list;
use crate::call::{Call, Dict, option, put_counts, put_notes};
use crate::meshes::{dict_of_mesh, mesh_of};
use crate::number::Number;
use crate::options::{command, parse};
use crate::resident::{Chosen, FLOATS, INDICES, Results, buffer, check_length, needed};

pub const FAMILY: Family = Family {
    name: "decimate",
    options: command::<operations::decimate::Options>,
    step: Some(with_lock),
    runs: &[
        ("decimate", decimate),
        ("decimate_on_device", decimate_on_device),
    ],
};

/// Decimated meshes: `each` of them.
fn decimate<'py>(call: &Call<'_, 'py>, mesh: &Dict<'py>) -> PyResult<Dict<'py>> {
    let mut options: operations::decimate::Options = parse(call.options)?;
    options.locks = locks(call)?;
    let mesh = mesh_of(mesh)?;
    let each = call.operate(move |on| {
        let each = operations::decimate::to_each(on, mesh, &options)?;
        let run = each.first().map(|(_, report)| report.run.clone());
        Ok((run.unwrap_or_default(), each))
    })?;
    let each = each.into_iter().map(|(mesh, report)| {
        let result = dict_of_mesh(call.py, mesh)?;
        put_counts(&result, report.totals.counts())?;
        put_notes(&result, &report.notes)?;
        result.set_item("map", list(call.py, report.map))?;
        result.set_item("survivors", list(call.py, report.survivors))?;
        result.set_item("triangle_ids", list(call.py, report.triangle_ids))?;
        Ok(result)
    });
    each_of(call, each)
}

/// The results of each mesh, as `each` of a dictionary.
fn each_of<'py>(
    call: &Call<'_, 'py>,
    each: impl Iterator<Item = PyResult<Dict<'py>>>,
) -> PyResult<Dict<'py>> {
    let result = PyDict::new(call.py);
    result.set_item("each", each.collect::<PyResult<Vec<_>>>()?)?;
    Ok(result)
}

/// Decimates points and triangles, within their regions and locks.
fn decimate_on_device<'py>(call: &Call<'_, 'py>, arrays: &Dict<'py>) -> PyResult<Dict<'py>> {
    let points: Buffer<DVec3> = needed(arrays, "points", FLOATS, 3)?;
    let triangles: Buffer<[Vertex; 3]> = needed(arrays, "triangles", INDICES, 3)?;
    let mut options: operations::decimate::Options = parse(call.options)?;
    options.locks.boundary = option(call.options, "lock_boundary", false)?;
    let chosen = Chosen::of(arrays, "locked", points.len(), "vertex")?;
    let regions: Option<Buffer<i32>> = buffer(arrays, "regions", INDICES, 0)?;
    check_length(&regions, "regions", triangles.len(), "triangle")?;
    let each = call.operate(move |on| {
        let locked = chosen.map(|chosen| chosen.bits(on, "locked", points.len()));
        let locked = locked.transpose()?;
        let surface = Surface {
            regions: regions.as_ref(),
            locked: locked.as_ref(),
            ..Surface::new(&points, &triangles)
        };
        let each = operations::decimate::resident_to_each(on, &surface, &options)?;
        let run = each.first().map(|(_, report)| report.run.clone());
        Ok((run.unwrap_or_default(), each))
    })?;
    let each = each.into_iter().map(|(done, report)| {
        let results = Results::new(call)?;
        results.put("points", done.points, Number::F64, 3)?;
        results.put("triangles", done.triangles, Number::U32, 3)?;
        results.put("map", done.map, Number::U32, 0)?;
        results.put("survivors", done.survivors, Number::U32, 0)?;
        results.put("triangle_ids", done.triangle_ids, Number::U32, 0)?;
        put_counts(&results.dict, report.totals.counts())?;
        put_notes(&results.dict, &report.notes)?;
        Ok(results.dict)
    });
    each_of(call, each)
}
