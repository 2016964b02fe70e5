//! Vertices and cells along a curve.

use glam::{DVec2, DVec3};
use pyo3::prelude::*;
use trioxide::Buffer;
use trioxide_operations as operations;
use trioxide_operations::reorder::{DeviceCells, DeviceMesh, DevicePoint};

use super::Family;
use crate::arrays::list;
use crate::call::{Call, Dict, put_counts};
use crate::meshes::{dict_of_mesh, dict_of_volume, mesh_of, volume_of};
use crate::number::Number;
use crate::options::bare_command;
use crate::resident::{FLOATS, INDICES, Results, buffer, check_length, found, needed};

pub const FAMILY: Family = Family {
    name: "reorder",
    options: bare_command,
    step: Some(|command| command),
    runs: &[
        ("reorder", reorder),
        ("reorder_volume", reorder_volume),
        ("reorder_on_device", reorder_on_device),
        ("reorder_tets_on_device", reorder_tets_on_device),
    ],
};

/// A surface or a cloud in its order.
fn reorder<'py>(call: &Call<'_, 'py>, mesh: &Dict<'py>) -> PyResult<Dict<'py>> {
    let mesh = mesh_of(mesh)?;
    let (mesh, report) = call.operate(move |on| {
        let (mesh, report) = operations::reorder(on, mesh)?;
        Ok((report.run.clone(), (mesh, report)))
    })?;
    put_maps(call, dict_of_mesh(call.py, mesh)?, report)
}

/// A mesh of tetrahedra in its order.
fn reorder_volume<'py>(call: &Call<'_, 'py>, mesh: &Dict<'py>) -> PyResult<Dict<'py>> {
    let mesh = volume_of(mesh)?;
    let (mesh, report) = call.operate(move |on| {
        let (mesh, report) = operations::reorder_volume(on, mesh)?;
        Ok((report.run.clone(), (mesh, report)))
    })?;
    put_maps(call, dict_of_volume(call.py, mesh)?, report)
}

fn put_maps<'py>(
    call: &Call<'_, 'py>,
    result: Dict<'py>,
    report: operations::reorder::Report,
) -> PyResult<Dict<'py>> {
    put_counts(&result, report.totals.counts())?;
    result.set_item("old_vertices", list(call.py, report.vertices))?;
    result.set_item("old_cells", list(call.py, report.cells))?;
    Ok(result)
}

/// A surface of points in two or three columns, with its attributes, regions and segments.
fn reorder_on_device<'py>(call: &Call<'_, 'py>, arrays: &Dict<'py>) -> PyResult<Dict<'py>> {
    let is_planar = found(arrays, "points")?.is_some_and(|p| p.get().shape().get(1) == Some(&2));
    let triangles: Buffer<[u32; 3]> = needed(arrays, "triangles", INDICES, 3)?;
    let count = triangles.len();
    let cells = DeviceCells::Triangles(triangles.cast());
    match is_planar {
        true => order::<DVec2>(call, arrays, (2, cells, count)),
        false => order::<DVec3>(call, arrays, (3, cells, count)),
    }
}

/// Tetrahedra with their regions.
fn reorder_tets_on_device<'py>(call: &Call<'_, 'py>, arrays: &Dict<'py>) -> PyResult<Dict<'py>> {
    let tetrahedra: Buffer<[u32; 4]> = needed(arrays, "tetrahedra", INDICES, 4)?;
    let count = tetrahedra.len();
    let cells = DeviceCells::Tetrahedra(tetrahedra.cast());
    order::<DVec3>(call, arrays, (3, cells, count))
}

/// Orders points in `columns` columns, and `count` cells.
fn order<'py, P: DevicePoint>(
    call: &Call<'_, 'py>,
    arrays: &Dict<'py>,
    (columns, cells, count): (usize, DeviceCells, usize),
) -> PyResult<Dict<'py>> {
    let points: Buffer<P> = needed(arrays, "points", FLOATS, columns)?;
    let segments: Option<Buffer<[u32; 2]>> = buffer(arrays, "segments", INDICES, 2)?;
    let mesh = DeviceMesh {
        regions: buffer(arrays, "regions", INDICES, 0)?,
        segments: segments.map(Buffer::cast),
        normals: buffer(arrays, "normals", FLOATS, 3)?,
        // Four bytes in a row are the word that kernels take.
        colors: buffer(arrays, "colors", &[Number::U8], 4)?,
        uvs: buffer(arrays, "uvs", FLOATS, 2)?,
        points,
        cells,
    };
    let vertices = mesh.points.len();
    check_length(&mesh.normals, "normals", vertices, "vertex")?;
    check_length(&mesh.colors, "colors", vertices, "vertex")?;
    check_length(&mesh.uvs, "uvs", vertices, "vertex")?;
    check_length(&mesh.regions, "regions", count, "cell")?;
    let (ordered, report) = call.operate(move |on| {
        let (ordered, report) = operations::reorder::resident(on, mesh)?;
        Ok((report.run.clone(), (ordered, report)))
    })?;
    let results = Results::new(call)?;
    let mesh = ordered.mesh;
    results.put("points", mesh.points, Number::F64, columns)?;
    match mesh.cells {
        DeviceCells::Triangles(corners) => results.put("triangles", corners, Number::U32, 3)?,
        DeviceCells::Tetrahedra(corners) => results.put("tetrahedra", corners, Number::U32, 4)?,
    }
    results.put("old_vertices", ordered.vertices, Number::U32, 0)?;
    results.put("old_cells", ordered.cells, Number::U32, 0)?;
    results.put_as_given(("regions", false), mesh.regions, Number::I32, 0)?;
    results.put_as_given(("segments", false), mesh.segments, Number::U32, 2)?;
    results.put_as_given(("normals", false), mesh.normals, Number::F64, 3)?;
    results.put_as_given(("colors", false), mesh.colors, Number::U8, 4)?;
    results.put_as_given(("uvs", false), mesh.uvs, Number::F64, 2)?;
    put_counts(&results.dict, report.totals.counts())?;
    Ok(results.dict)
}
