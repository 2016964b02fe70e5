//! Outlines and points into triangles.

use std::path::PathBuf;

use glam::{DVec2, DVec3};
use pyo3::prelude::*;
use trioxide::Buffer;
use trioxide::formats::poly::read_outline_as;
use trioxide::outline::{OutlineMesh, Region};
use trioxide_operations as operations;
use trioxide_operations::triangulate::ResidentLimits;

use super::Family;
use crate::arrays::{entry, list, table};
use crate::call::{Call, Dict, option, put_counts, put_notes};
use crate::files::visible;
use crate::meshes::{dict_of_mesh, mesh_of};
use crate::number::Number;
use crate::options::{KEYWORDS, command, parse};
use crate::resident::{FLOATS, INDICES, Results, buffer, found, needed};

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
/// `region_ids` and `region_areas`. With `neighbours` these are there too.
fn triangulate<'py>(call: &Call<'_, 'py>, mesh: &Dict<'py>) -> PyResult<Dict<'py>> {
    let settings = settings(call, mesh)?;
    let reading = parse(call.options)?;
    let path: Option<PathBuf> = option(mesh, "path", None)?;
    let mut given = match path {
        Some(_) => OutlineMesh::default(),
        // The package gives no faces.
        None => OutlineMesh::of_mesh(mesh_of(mesh)?).0,
    };
    let limits = limits(mesh)?;
    (given.holes, given.regions) = (limits.holes, limits.regions);
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
    if let Some(neighbours) = report.neighbours {
        // The id of no triangle is -1.
        let neighbours: Vec<i32> = bytemuck::cast_vec(neighbours.into_flattened());
        result.set_item("neighbours", table(call.py, neighbours, 3)?)?;
    }
    if let Some(order) = report.order {
        result.set_item("old_vertices", list(call.py, order.vertices))?;
        result.set_item("old_cells", list(call.py, order.triangles))?;
    }
    Ok(result)
}

/// The options, with the mesh `background` of `arrays`, and whether these ask for `neighbours`.
fn settings<'py>(
    call: &Call<'_, 'py>,
    arrays: &Dict<'py>,
) -> PyResult<operations::triangulate::Options> {
    let background: Option<Dict<'py>> = option(arrays, "background", None)?;
    Ok(operations::triangulate::Options {
        background: background.as_ref().map(mesh_of).transpose()?,
        neighbours: option(arrays, "neighbours", false)?,
        ..parse(call.options)?
    })
}

/// A point in each of the holes, and the regions.
fn limits(arrays: &Dict<'_>) -> PyResult<ResidentLimits> {
    let holes = entry::<f64, DVec2>(arrays, "holes")?.unwrap_or_default();
    let places = entry::<f64, DVec2>(arrays, "region_points")?.unwrap_or_default();
    let ids = entry::<i32, i32>(arrays, "region_ids")?.unwrap_or_default();
    let areas = entry::<f64, f64>(arrays, "region_areas")?.unwrap_or_default();
    Ok(ResidentLimits {
        segments: None,
        holes,
        regions: places
            .into_iter()
            .zip(ids)
            .zip(areas)
            .map(|((point, id), area)| Region {
                point,
                id,
                // 0 stands for none.
                largest_area: Some(area).filter(|area| *area != 0.0),
            })
            .collect(),
    })
}

/// Points in two or three columns.
enum Points {
    Plane(Buffer<DVec2>),
    Space(Buffer<DVec3>),
}

/// Triangulates points of a device by x and y, with `segments` there, `holes`, `region_points`, `region_ids` and
/// `region_areas`. With `neighbours` these are there too.
fn triangulate_on_device<'py>(call: &Call<'_, 'py>, arrays: &Dict<'py>) -> PyResult<Dict<'py>> {
    let options = settings(call, arrays)?;
    let is_planar = found(arrays, "points")?.is_some_and(|p| p.get().shape().get(1) == Some(&2));
    let points: Points = match is_planar {
        true => Points::Plane(needed(arrays, "points", FLOATS, 2)?),
        false => Points::Space(needed(arrays, "points", FLOATS, 3)?),
    };
    let limits = ResidentLimits {
        segments: buffer(arrays, "segments", INDICES, 2)?,
        ..limits(arrays)?
    };
    let found = call.work(move |on| {
        let points = match points {
            Points::Plane(points) => points,
            Points::Space(points) => operations::triangulate::flatten(on, &points, &options)?,
        };
        operations::triangulate::resident(on, &points, &limits, &options)
    })?;
    let results = Results::new(call)?;
    if let Some(points) = found.points {
        results.put("points", points, Number::F64, 2)?;
    }
    // SAFETY: it is known of these triangles.
    unsafe { results.put_triangles(found.triangles, found.known) }?;
    if let Some(regions) = found.regions {
        results.put("regions", regions, Number::I32, 0)?;
    }
    if let Some(pieces) = found.pieces {
        results.put("segments", pieces.ends, Number::U32, 2)?;
        results.put("parents", pieces.parents, Number::U32, 0)?;
    }
    if let Some(firsts) = found.firsts {
        results.put("firsts", firsts, Number::U32, 0)?;
    }
    if let Some(neighbours) = found.neighbours {
        // The id of no triangle is -1.
        results.put("neighbours", neighbours, Number::I32, 3)?;
    }
    put_counts(&results.dict, found.totals.counts())?;
    put_notes(&results.dict, &visible(found.notes))?;
    Ok(results.dict)
}
