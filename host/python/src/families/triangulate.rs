//! Outlines and points into triangles.

use std::path::PathBuf;

use glam::{DVec2, DVec3};
use pyo3::prelude::*;
use trioxide::formats::poly::read_outline_as;
use trioxide::outline::OutlineMesh;
use trioxide::{Buffer, forms};
use trioxide_operations as operations;

use super::Family;
use crate::arrays::{entry, list};
use crate::call::{Call, Dict, option, put_counts, put_notes};
use crate::files::visible;
use crate::meshes::{dict_of_mesh, mesh_of};
use crate::number::Number;
use crate::options::{KEYWORDS, command, parse};
use crate::resident::{FLOATS, Results, found, needed};

pub const FAMILY: Family = Family {
    name: "triangulate",
    options: command::<operations::triangulate::Options>,
    step: Some(|command| command),
    runs: &[
        ("triangulate", triangulate),
        ("triangulate_on_device", triangulate_on_device),
    ],
};

/// Triangulates the outline in the file `path`, or the points and segments of `mesh` with its `holes`, `region_points`
/// and `region_ids`.
fn triangulate<'py>(call: &Call<'_, 'py>, mesh: &Dict<'py>) -> PyResult<Dict<'py>> {
    let settings: operations::triangulate::Options = parse(call.options)?;
    let reading = parse(call.options)?;
    let path: Option<PathBuf> = option(mesh, "path", None)?;
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
    call.device.get().note(report.run.stages);
    notes.extend(report.notes);
    let result = dict_of_mesh(call.py, mesh)?;
    put_counts(&result, report.totals.counts())?;
    put_notes(&result, &visible(notes))?;
    result.set_item("firsts", list(call.py, report.firsts))?;
    if let Some(order) = report.order {
        result.set_item("old_vertices", list(call.py, order.vertices))?;
        result.set_item("old_cells", list(call.py, order.triangles))?;
    }
    Ok(result)
}

/// Points in two or three columns.
enum Points {
    Plane(Buffer<DVec2>),
    Space(Buffer<DVec3>),
}

/// Triangulates points of a device by x and y.
fn triangulate_on_device<'py>(call: &Call<'_, 'py>, arrays: &Dict<'py>) -> PyResult<Dict<'py>> {
    let options: operations::triangulate::Options = parse(call.options)?;
    let is_planar = found(arrays, "points")?.is_some_and(|p| p.get().shape().get(1) == Some(&2));
    let points: Points = match is_planar {
        true => Points::Plane(needed(arrays, "points", FLOATS, 2)?),
        false => Points::Space(needed(arrays, "points", FLOATS, 3)?),
    };
    let (result, totals) = call.work(move |on| {
        let points = match points {
            Points::Plane(points) => points,
            Points::Space(points) => forms::flatten(on, &points)?,
        };
        operations::triangulate::resident(on, &points, &options)
    })?;
    let results = Results::new(call)?;
    let (triangles, firsts) = result.into_arrays();
    results.put("triangles", triangles, Number::U32, 3)?;
    if let Some(firsts) = firsts {
        results.put("firsts", firsts, Number::U32, 0)?;
    }
    put_counts(&results.dict, totals.counts())?;
    Ok(results.dict)
}
