//! Vertices within epsilon of each other become one.

use glam::DVec3;
use gpu::ids::Vertex;
use pyo3::prelude::*;
use trioxide::Buffer;
use trioxide::weld::{self, CarriedArrays, DeviceCarried};
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
    name: "weld",
    options: command::<operations::weld::Options>,
    step: Some(with_lock),
    runs: &[("weld", weld), ("weld_on_device", weld_on_device)],
};

/// A welded mesh.
fn weld<'py>(call: &Call<'_, 'py>, mesh: &Dict<'py>) -> PyResult<Dict<'py>> {
    let mut options: operations::weld::Options = parse(call.options)?;
    options.locks = locks(call)?;
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

/// Welds points and triangles, with their attributes, regions and locks.
fn weld_on_device<'py>(call: &Call<'_, 'py>, arrays: &Dict<'py>) -> PyResult<Dict<'py>> {
    let points: Buffer<DVec3> = needed(arrays, "points", FLOATS, 3)?;
    let triangles: Buffer<[Vertex; 3]> = needed(arrays, "triangles", INDICES, 3)?;
    let mut options: operations::weld::Options = parse(call.options)?;
    options.locks.boundary = option(call.options, "lock_boundary", false)?;
    let locked = Chosen::of(arrays, "locked", points.len(), "vertex")?;
    let mut carried = CarriedArrays {
        normals: buffer(arrays, "normals", FLOATS, 3)?,
        uvs: buffer(arrays, "uvs", FLOATS, 2)?,
        // Four bytes in a row are the word that kernels take.
        colors: buffer(arrays, "colors", &[Number::U8], 4)?,
        regions: buffer(arrays, "regions", INDICES, 0)?,
        locked: None,
    };
    check_length(&carried.normals, "normals", points.len(), "vertex")?;
    check_length(&carried.uvs, "uvs", points.len(), "vertex")?;
    check_length(&carried.colors, "colors", points.len(), "vertex")?;
    check_length(&carried.regions, "regions", triangles.len(), "triangle")?;
    let given = [
        carried.normals.is_some(),
        carried.uvs.is_some(),
        carried.colors.is_some(),
        carried.regions.is_some(),
    ];
    let (welded, removed, report) = call.operate(move |on| {
        if let Some(locked) = locked {
            carried.locked = Some(locked.bits(on, "locked", points.len())?);
        }
        let carried = DeviceCarried::of_arrays(on, carried)?;
        let mesh = weld::DeviceMesh::new(points, triangles, carried)?;
        let (welded, mut report) = operations::weld::resident(on, mesh, &options)?;
        let removed = welded.removed(on)?;
        report.run.stages.extend(on.take_stages()?);
        let run = report.run.clone();
        Ok((run, (welded.into_arrays(), removed, report)))
    })?;
    let results = Results::new(call)?;
    results.put("points", welded.points, Number::F64, 3)?;
    results.put("triangles", welded.faces, Number::U32, 3)?;
    results.put("map", welded.map, Number::U32, 0)?;
    results.put("representatives", welded.representatives, Number::U32, 0)?;
    results.put("removed", removed, Number::U32, 0)?;
    let [normals, uvs, colors, regions] = given;
    let carried = welded.carried;
    results.put_as_given(("normals", normals), carried.normals, Number::F64, 3)?;
    results.put_as_given(("uvs", uvs), carried.uvs, Number::F64, 2)?;
    results.put_as_given(("colors", colors), carried.colors, Number::U8, 4)?;
    results.put_as_given(("regions", regions), carried.regions, Number::I32, 0)?;
    put_counts(&results.dict, report.totals.counts())?;
    put_notes(&results.dict, &report.notes)?;
    Ok(results.dict)
}
