//! Smoothing of surfaces and of volume meshes.

use glam::DVec3;
use gpu::ids::Vertex;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use trioxide::device::BitSet;
use trioxide::smooth::{self, DeviceMesh};
use trioxide::{Buffer, Device};
use trioxide_operations as operations;

use super::Family;
use crate::arrays::flags;
use crate::call::{Call, Dict, put_counts, put_notes};
use crate::meshes::{dict_of_mesh, dict_of_volume, mesh_of, volume_of};
use crate::number::Number;
use crate::options::{command, parse};
use crate::resident::{Chosen, FLOATS, INDICES, Results, buffer, check_length, needed, surface};

pub const FAMILY: Family = Family {
    name: "smooth",
    options: command::<operations::smooth::Options>,
    step: Some(|command| command),
    runs: &[
        ("smooth", smooth_surface),
        ("smooth_volume", smooth_volume),
        ("smooth_on_device", smooth_surface_on_device),
        ("smooth_tets_on_device", smooth_tets_on_device),
    ],
};

/// A smoothed surface: the new points, or all arrays if triangles were turned.
fn smooth_surface<'py>(call: &Call<'_, 'py>, mesh: &Dict<'py>) -> PyResult<Dict<'py>> {
    let (options, mesh) = (smooth_options(call)?, mesh_of(mesh)?);
    let (mesh, report) = call.operate(move |on| {
        let (mesh, report) = operations::smooth(on, mesh, &options)?;
        Ok((report.run.clone(), (mesh, report)))
    })?;
    let result = match report.notes.is_empty() {
        true => dict_of_points(call, mesh.points)?,
        false => dict_of_mesh(call.py, mesh)?,
    };
    with_report(call, result, &report)
}

/// A smoothed volume mesh: the new points, or all arrays if cells were turned.
fn smooth_volume<'py>(call: &Call<'_, 'py>, mesh: &Dict<'py>) -> PyResult<Dict<'py>> {
    let (options, mesh) = (smooth_options(call)?, volume_of(mesh)?);
    let (mesh, report) = call.operate(move |on| {
        let (mesh, report) = operations::smooth_volume(on, mesh, &options)?;
        Ok((report.run.clone(), (mesh, report)))
    })?;
    let result = match report.notes.is_empty() {
        true => dict_of_points(call, mesh.points)?,
        false => dict_of_volume(call.py, mesh)?,
    };
    with_report(call, result, &report)
}

fn smooth_options(call: &Call<'_, '_>) -> PyResult<operations::smooth::Options> {
    Ok(operations::smooth::Options {
        fixed: flags(call.options, "fixed")?,
        ..parse(call.options)?
    })
}

fn dict_of_points<'py>(call: &Call<'_, 'py>, points: Vec<DVec3>) -> PyResult<Dict<'py>> {
    let result = PyDict::new(call.py);
    result.set_item("points", crate::arrays::points(call.py, points)?)?;
    Ok(result)
}

/// The result with the counts and the notes of a report.
fn with_report<'py>(
    call: &Call<'_, 'py>,
    result: Dict<'py>,
    report: &operations::smooth::Report,
) -> PyResult<Dict<'py>> {
    put_notes(&result, &report.notes)?;
    result.set_item("moving", report.totals.moving)?;
    result.set_item("sweeps", report.totals.moves.sweeps)?;
    let inverted = report.untangling.as_ref().map(|done| done.inverted.clone());
    let inverted = PyArray1::from_vec(call.py, inverted.unwrap_or_default());
    result.set_item("inverted", inverted)?;
    put_counts(&result, report.counts())?;
    Ok(result)
}

/// Smooths a surface of triangles on a device.
fn smooth_surface_on_device<'py>(call: &Call<'_, 'py>, arrays: &Dict<'py>) -> PyResult<Dict<'py>> {
    let surface = surface(arrays, 3)?;
    let count = surface.triangles();
    smooth_cells(
        call,
        arrays,
        (count, "triangle"),
        move |on, fixed, regions, options| {
            let smoothed = smooth::smooth_surface(on, surface, fixed, regions, options)?;
            let (points, _) = smoothed.surface.into_arrays();
            Ok((points, smoothed.moving, smoothed.moves.sweeps))
        },
    )
}

/// Smooths a mesh of tetrahedra on a device.
fn smooth_tets_on_device<'py>(call: &Call<'_, 'py>, arrays: &Dict<'py>) -> PyResult<Dict<'py>> {
    let points: Buffer<DVec3> = needed(arrays, "points", FLOATS, 3)?;
    let tetrahedra: Buffer<[u32; 4]> = needed(arrays, "tetrahedra", INDICES, 4)?;
    smooth_cells(
        call,
        arrays,
        (tetrahedra.len(), "tetrahedron"),
        move |on, fixed, regions, options| {
            let mut mesh = DeviceMesh::of_tetrahedra(on, points, tetrahedra)?;
            if let Some(regions) = regions {
                mesh = mesh.with_regions(regions)?;
            }
            let smoothed = match fixed {
                Some(fixed) => smooth::smooth_fixed(on, &mesh, fixed, options)?,
                None => smooth::smooth(on, &mesh, &[], options)?,
            };
            let (moving, sweeps) = (smoothed.moving(), smoothed.moves().sweeps);
            Ok((smoothed.into_points(), moving, sweeps))
        },
    )
}

/// Points, number of moving points, and number of sweeps.
type Smoothed = (Buffer<DVec3>, u32, u32);

/// Smooths a mesh of `count` cells by `smooth`, given the fixed nodes and the regions.
fn smooth_cells<'py>(
    call: &Call<'_, 'py>,
    arrays: &Dict<'py>,
    (count, element): (usize, &str),
    smooth: impl FnOnce(
        &Device,
        Option<BitSet<Vertex>>,
        Option<Buffer<i32>>,
        &smooth::Options,
    ) -> smooth::Result<Smoothed>
    + Send
    + 'static,
) -> PyResult<Dict<'py>> {
    let nodes = needed::<DVec3>(arrays, "points", FLOATS, 3)?.len();
    let options: operations::smooth::Options = parse(call.options)?;
    let regions: Option<Buffer<i32>> = buffer(arrays, "regions", INDICES, 0)?;
    check_length(&regions, "regions", count, element)?;
    let fixed = Chosen::of(arrays, "fixed", nodes, "vertex")?;
    let (points, moving, sweeps) = call.work(move |on| {
        options.check_resident()?;
        let settings = options.settings()?;
        let fixed = fixed.map(|fixed| fixed.bits(on, "fixed", nodes));
        Ok(smooth(on, fixed.transpose()?, regions, &settings)?)
    })?;
    let results = Results::new(call)?;
    results.put("points", points, Number::F64, 3)?;
    results.dict.set_item("moving", moving)?;
    results.dict.set_item("sweeps", sweeps)?;
    Ok(results.dict)
}
