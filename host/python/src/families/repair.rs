//! Repair of meshes.

use glam::{DVec2, DVec3};
use gpu::ids::Vertex;
use pyo3::prelude::*;
use trioxide::Buffer;
use trioxide_operations as operations;

use super::Family;
use crate::arrays::list;
use crate::call::{Call, Dict, put_counts, put_notes};
use crate::meshes::{dict_of_mesh, dict_of_volume, mesh_of, volume_of};
use crate::number::Number;
use crate::options::{command, parse};
use crate::resident::{FLOATS, INDICES, Results, buffer, check_length, needed};

pub const FAMILY: Family = Family {
    name: "repair",
    options: command::<operations::repair::Options>,
    step: Some(|command| command),
    runs: &[
        ("repair", repair),
        ("repair_volume", repair_volume),
        ("repair_on_device", repair_on_device),
    ],
};

/// A repaired mesh with its maps.
fn repair<'py>(call: &Call<'_, 'py>, mesh: &Dict<'py>) -> PyResult<Dict<'py>> {
    let options: operations::repair::Options = parse(call.options)?;
    let mesh = mesh_of(mesh)?;
    let (mesh, report) = call.operate(move |on| {
        let (mesh, report) = operations::repair(on, mesh, &options)?;
        Ok((report.run.clone(), (mesh, report)))
    })?;
    put_maps(call, dict_of_mesh(call.py, mesh)?, report)
}

/// A repaired mesh of cells with its maps.
fn repair_volume<'py>(call: &Call<'_, 'py>, mesh: &Dict<'py>) -> PyResult<Dict<'py>> {
    let options: operations::repair::Options = parse(call.options)?;
    let mesh = volume_of(mesh)?;
    let (mesh, report) = call.operate(move |on| {
        let (mesh, report) = operations::repair_volume(on, mesh, &options)?;
        Ok((report.run.clone(), (mesh, report)))
    })?;
    put_maps(call, dict_of_volume(call.py, mesh)?, report)
}

fn put_maps<'py>(
    call: &Call<'_, 'py>,
    result: Dict<'py>,
    report: operations::repair::Report,
) -> PyResult<Dict<'py>> {
    put_counts(&result, report.totals.counts())?;
    put_notes(&result, &report.notes)?;
    result.set_item("old_vertices", list(call.py, report.vertices))?;
    result.set_item("old_cells", list(call.py, report.faces))?;
    Ok(result)
}

/// Repairs points and triangles, with their attributes and regions.
fn repair_on_device<'py>(call: &Call<'_, 'py>, arrays: &Dict<'py>) -> PyResult<Dict<'py>> {
    let options: operations::repair::Options = parse(call.options)?;
    let points: Buffer<DVec3> = needed(arrays, "points", FLOATS, 3)?;
    let triangles: Buffer<[Vertex; 3]> = needed(arrays, "triangles", INDICES, 3)?;
    let regions: Option<Buffer<u32>> = buffer(arrays, "regions", INDICES, 0)?;
    let normals: Option<Buffer<DVec3>> = buffer(arrays, "normals", FLOATS, 3)?;
    // Four bytes in a row are the word that kernels take.
    let colors: Option<Buffer<u32>> = buffer(arrays, "colors", &[Number::U8], 4)?;
    let uvs: Option<Buffer<DVec2>> = buffer(arrays, "uvs", FLOATS, 2)?;
    check_length(&regions, "regions", triangles.len(), "triangle")?;
    check_length(&normals, "normals", points.len(), "vertex")?;
    check_length(&colors, "colors", points.len(), "vertex")?;
    check_length(&uvs, "uvs", points.len(), "vertex")?;
    let (repaired, carried, report) = call.operate(move |on| {
        let (repaired, mut report) =
            operations::repair::resident(on, &points, &triangles, &options)?;
        let carried = on.stage("carry data", || {
            let points = repaired.of_vertices(on, &points)?;
            let regions = regions.map(|regions| repaired.of_faces(on, &regions));
            let normals = normals.map(|normals| repaired.of_vertices(on, &normals));
            let colors = colors.map(|colors| repaired.of_vertices(on, &colors));
            let uvs = uvs.map(|uvs| repaired.of_vertices(on, &uvs));
            let (regions, normals) = (regions.transpose()?, normals.transpose()?);
            Ok((
                points,
                regions,
                normals,
                colors.transpose()?,
                uvs.transpose()?,
            ))
        })?;
        report.run.stages.extend(on.take_stages()?);
        Ok((report.run.clone(), (repaired, carried, report)))
    })?;
    let results = Results::new(call)?;
    let (points, regions, normals, colors, uvs) = carried;
    results.put("points", points, Number::F64, 3)?;
    results.put("triangles", repaired.triangles, Number::U32, 3)?;
    results.put("old_vertices", repaired.vertices, Number::U32, 0)?;
    results.put("old_cells", repaired.faces, Number::U32, 0)?;
    results.put_as_given(("regions", false), regions, Number::I32, 0)?;
    results.put_as_given(("normals", false), normals, Number::F64, 3)?;
    results.put_as_given(("colors", false), colors, Number::U8, 4)?;
    results.put_as_given(("uvs", false), uvs, Number::F64, 2)?;
    put_counts(&results.dict, report.totals.counts())?;
    put_notes(&results.dict, &report.notes)?;
    Ok(results.dict)
}
