//! Files, generators, pictures, measures: functions that need no device, or take any.

use std::path::PathBuf;

use glam::DVec3;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use serde_json::{Value, json};
use trioxide::mesh::Mesh;
use trioxide::quality::{Distribution, Quality};
use trioxide::quality3d::{Histogram, Quality3d};
use trioxide::terminal::visible_line;
use trioxide::volume::VolumeMesh;
use trioxide::{formats, generate, progress, render};
use trioxide_operations as operations;
use trioxide_view::{Drawn, Figure, MOST_ELEMENTS};

use crate::arrays::of_json;
use crate::call::{choice, chosen, option};
use crate::device::PyDevice;
use crate::exception::exception;
use crate::meshes::{dict_of_mesh, dict_of_volume, mesh_of, volume_of};
use crate::options::parse;
use crate::polyhedra::{dict_of_polyhedra, polyhedra_of};
use crate::work::{run, run_on};

type Dict<'py> = Bound<'py, PyDict>;

/// Reads a file: the kind of its mesh (surface, volume or polyhedra), its arrays, and notes on the parts that are not
/// kept.
#[pyfunction]
pub fn read<'py>(
    py: Python<'py>,
    path: PathBuf,
    options: &Dict<'py>,
    watch: Option<&Bound<'py, PyAny>>,
) -> PyResult<(&'static str, Dict<'py>, Vec<String>)> {
    let options = parse(options)?;
    if formats::is_polyhedra_as(&path, options) {
        let (mesh, notes) = run(py, watch, move || {
            formats::read_polyhedra_as(&path, options)
        })?;
        return Ok(("polyhedra", dict_of_polyhedra(py, mesh)?, visible(notes)));
    }
    if formats::is_volume_as(&path, options) {
        let (mesh, notes) = run(py, watch, move || formats::read_volume_as(&path, options))?;
        return Ok(("volume", dict_of_volume(py, mesh)?, visible(notes)));
    }
    let (mesh, notes) = run(py, watch, move || formats::read_as(&path, options))?;
    Ok(("surface", dict_of_mesh(py, mesh)?, visible(notes)))
}

/// Notes in which characters are escaped that a terminal takes for commands: Python prints warnings as they are.
pub fn visible(notes: Vec<String>) -> Vec<String> {
    let line = |note: String| visible_line(&note).into_owned();
    notes.into_iter().map(line).collect()
}

/// Writes a mesh. Returns notes on the parts that the format does not hold.
#[pyfunction]
pub fn write<'py>(
    py: Python<'py>,
    path: PathBuf,
    mesh: &Dict<'py>,
    kind: &str,
    options: &Dict<'py>,
    watch: Option<&Bound<'py, PyAny>>,
) -> PyResult<Vec<String>> {
    let is_given = options
        .get_item("encoding")?
        .is_some_and(|it| !it.is_none());
    let encoding = is_given.then(|| choice(options, "encoding")).transpose()?;
    let options = formats::WriteOptions {
        encoding,
        ..formats::WriteOptions::default()
    };
    if kind == "polyhedra" {
        let mesh = polyhedra_of(mesh)?;
        return run(py, watch, move || {
            formats::write_polyhedra(&path, &mesh, encoding).map(visible)
        });
    }
    if kind == "volume" {
        let mesh = volume_of(mesh)?;
        return run(py, watch, move || {
            check_volume(&mesh)?;
            let losses = formats::volume::VolumeFormat::to_write(&path)?.losses(&mesh);
            formats::volume::write_volume_as(&path, &mesh, options)?;
            Ok(visible(losses))
        });
    }
    let mesh = mesh_of(mesh)?;
    run(py, watch, move || {
        check_surface(&mesh)?;
        let format = formats::Format::to_write(&path)?;
        let losses = format.losses(&mesh, encoding.unwrap_or_default());
        formats::write_as(&path, &mesh, options)?;
        Ok(visible(losses))
    })
}

fn invalid(element: String, rule: impl Into<String>) -> trioxide::Error {
    trioxide::Error::Invalid {
        element,
        rule: rule.into(),
    }
}

/// Refuses a face or a segment with a vertex that the mesh does not have, and arrays of another length than the mesh's.
pub fn check_surface(mesh: &Mesh) -> trioxide::Result<()> {
    let (points, faces) = (mesh.points.len(), mesh.faces.len());
    let is_far = |v: &u32| *v as usize >= points;
    if let Some(face) = (0..faces).find(|&i| mesh.faces.get(i).iter().any(is_far)) {
        return Err(invalid(
            format!("face {face}"),
            "has a vertex index that is out of range",
        ));
    }
    if let Some(segment) =
        (mesh.segments.iter()).position(|segment| segment.ends.iter().any(is_far))
    {
        return Err(invalid(
            format!("segment {segment}"),
            "has a vertex index that is out of range",
        ));
    }
    let attributes = &mesh.attributes;
    for (array, length, needed) in [
        ("regions", mesh.regions.as_ref().map(Vec::len), faces),
        ("normals", attributes.normals.as_ref().map(Vec::len), points),
        ("colors", attributes.colors.as_ref().map(Vec::len), points),
        ("uvs", attributes.uvs.as_ref().map(Vec::len), points),
    ] {
        if let Some(length) = length.filter(|&length| length != needed) {
            return Err(invalid(
                array.to_owned(),
                format!("have {length} rows: {needed} are needed"),
            ));
        }
    }
    mesh.fields.check(points, faces, mesh.segments.len())
}

/// As [`check_surface`], of a volume mesh.
pub fn check_volume(mesh: &VolumeMesh) -> trioxide::Result<()> {
    let (points, cells) = (mesh.points.len(), mesh.cells.len());
    let is_far = |v: &u32| *v as usize >= points;
    if let Some(cell) = (mesh.cells.iter()).position(|cell| cell.iter().any(is_far)) {
        return Err(invalid(
            format!("cell {cell}"),
            "has a vertex index that is out of range",
        ));
    }
    if let Some(face) = (mesh.faces.iter()).position(|face| face.iter().any(is_far)) {
        return Err(invalid(
            format!("tagged face {face}"),
            "has a vertex index that is out of range",
        ));
    }
    if let Some(regions) = mesh.regions.as_ref().filter(|list| list.len() != cells) {
        return Err(invalid(
            "regions".to_owned(),
            format!("have {} rows: {cells} are needed", regions.len()),
        ));
    }
    mesh.fields.check(points, cells, mesh.faces.len())
}

/// A generated mesh: whether it is a volume mesh, and its arrays. `device` triangulates "random" and "disk", which need
/// it.
#[pyfunction]
pub fn generate_mesh(
    py: Python<'_>,
    device: Option<&PyDevice>,
    kind: String,
    n: usize,
    seed: u64,
    random: bool,
    watch: Option<&Bound<'_, PyAny>>,
) -> PyResult<(bool, Py<PyDict>)> {
    if kind == "tets" {
        let mesh = run(py, watch, move || match random {
            true => generate::random_tets(n, seed),
            false => generate::tet_grid(n, seed),
        })?;
        return Ok((true, dict_of_volume(py, mesh.into())?.unbind()));
    }
    if random {
        return Err(PyValueError::new_err(
            "random=True goes with kind=\"tets\"; kind=\"random\" makes a planar mesh",
        ));
    }
    if let Some(device) = device {
        let mesh = run_on(py, watch, device, move |on| {
            let mesh = match &*kind {
                "disk" => generate::disk(on, n, seed)?,
                _ => generate::random(on, n, seed)?,
            };
            // Here, since a forked process has none of its parent's other threads.
            Ok(Mesh::from(mesh))
        })?;
        return Ok((false, dict_of_mesh(py, mesh)?.unbind()));
    }
    let mesh = run(py, watch, move || {
        Ok(match &*kind {
            "grid" => generate::grid(n)?.into(),
            "jittered" => generate::jittered(n, seed)?.into(),
            "scan" => generate::scan(n, seed)?,
            "cloud" => generate::cloud(n, seed)?,
            _ => {
                return Err(trioxide::Error::Argument(format!(
                    "kind={kind:?} is not known: it is grid, jittered, random, disk, scan, cloud or tets"
                )));
            }
        })
    })?;
    Ok((false, dict_of_mesh(py, mesh)?.unbind()))
}

/// The picture of a mesh of a kind (surface, volume or polyhedra): the bytes of a .png or .svg file.
#[pyfunction]
pub fn draw<'py>(
    py: Python<'py>,
    mesh: &Dict<'py>,
    kind: &str,
    options: &Dict<'py>,
    watch: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyBytes>> {
    use render::{Format, Options, View};
    let values: Option<Vec<f64>> = crate::arrays::entry::<f64, f64>(options, "values")?;
    let format = match option(options, "format", String::new())?.as_str() {
        "svg" => Format::Svg,
        _ => Format::Png,
    };
    let azimuth: Option<f64> = option(options, "azimuth", None)?;
    let elevation: Option<f64> = option(options, "elevation", None)?;
    let default = View::default();
    let view = (azimuth.is_some() || elevation.is_some()).then(|| View {
        azimuth: azimuth.unwrap_or(default.azimuth),
        elevation: elevation.unwrap_or(default.elevation),
    });
    let Ok(color) = option(options, "color", "auto".to_owned())?.parse();
    let settings = Options {
        width: option(options, "width", None)?,
        color,
        range: option(options, "range", None)?,
        colormap: chosen(options, "colormap")?,
        log: option(options, "log", false)?,
        shading: choice(options, "shading")?,
        scale_bar: option(options, "scale_bar", false)?,
        axes: option(options, "axes", false)?,
        legend: option(options, "legend", false)?,
        edges: choice(options, "edges")?,
        window: option(options, "window", None)?,
        view,
        up: chosen(options, "up")?,
        ..Options::default()
    };
    let bytes = match kind {
        "polyhedra" => {
            let mesh = polyhedra_of(mesh)?;
            run(py, watch, move || {
                render::render_polyhedra(&mesh, &settings, format)
            })?
        }
        "volume" => {
            let mesh = volume_of(mesh)?;
            run(py, watch, move || {
                check_volume(&mesh)?;
                render::render_volume(&mesh, &settings, format)
            })?
        }
        _ => {
            let mesh = mesh_of(mesh)?;
            run(py, watch, move || {
                check_surface(&mesh)?;
                match values {
                    None => render::render(&mesh, &settings, format),
                    Some(values) => render::render_values(&mesh, &values, &settings, format),
                }
            })?
        }
    };
    Ok(PyBytes::new(py, &bytes))
}

/// A page with meshes, each with its name and its kind (surface, volume or polyhedra): to turn and to zoom.
#[pyfunction]
pub fn view<'py>(
    py: Python<'py>,
    meshes: Vec<(String, String, Dict<'py>)>,
    options: &Dict<'py>,
    watch: Option<&Bound<'py, PyAny>>,
) -> PyResult<String> {
    let steps: bool = option(options, "steps", false)?;
    let color: Option<String> = option(options, "color", None)?;
    let max_cells: usize = option(options, "max_cells", MOST_ELEMENTS)?;
    let up: Option<render::Up> = chosen(options, "up")?;
    let mut all = Vec::with_capacity(meshes.len());
    for (name, kind, arrays) in meshes {
        let drawn = match kind.as_str() {
            "polyhedra" => {
                let mesh = polyhedra_of(&arrays)?;
                run(py, watch, move || Drawn::of_polyhedra(mesh, max_cells))?
            }
            "volume" => {
                let mesh = volume_of(&arrays)?;
                run(py, watch, move || {
                    check_volume(&mesh)?;
                    Drawn::of_volume(mesh, max_cells)
                })?
            }
            _ => {
                let mesh = mesh_of(&arrays)?;
                run(py, watch, move || {
                    check_surface(&mesh)?;
                    Drawn::of_mesh(mesh, max_cells)
                })?
            }
        };
        all.push((name, drawn.with_up(up)));
    }
    run(py, watch, move || {
        let figure = Figure::of_meshes(all, steps, color.as_deref())?;
        Ok(trioxide_view::page(&figure))
    })
}

/// Counts and measures of a surface or planar mesh.
#[pyfunction]
pub fn measure<'py>(
    py: Python<'py>,
    mesh: &Dict<'py>,
    watch: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let mesh = mesh_of(mesh)?;
    let measured = run(py, watch, move || {
        check_surface(&mesh)?;
        let mut report = json!({
            "vertices": mesh.points.len(),
            "faces": mesh.faces.len(),
            "segments": mesh.segments.len(),
            "planar": mesh.is_planar(),
            "bounds": bounds(&mesh.points),
            "fields": mesh.fields.names(),
        });
        if mesh.is_planar() && !mesh.faces.is_empty() {
            // Of polygons, so that the sentence names one.
            let found = operations::info(mesh.into_polygon_mesh()?.into())?;
            report["problem"] = json!(found.problems.first());
            if let Some(quality) = &found.quality {
                report["quality"] = quality_of(quality);
            }
        } else if !mesh.faces.is_empty() {
            let found = operations::info(mesh)?;
            report["problem"] = json!(found.problems.first());
            let measures = found.values().into_iter();
            for (name, value) in measures.filter(|(name, _)| OF_SURFACES.contains(name)) {
                report[name] = value;
            }
        }
        Ok(report)
    })?;
    of_json(py, &measured)
}

/// Counts and measures of polyhedra, with the command's names.
#[pyfunction]
pub fn measure_polyhedra<'py>(
    py: Python<'py>,
    mesh: &Dict<'py>,
    watch: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let mesh = polyhedra_of(mesh)?;
    let measured = run(py, watch, move || {
        let found = operations::info_polyhedra(&mesh);
        let mut report = json!({});
        for (name, value) in found.values() {
            report[name] = value;
        }
        report["fields"] = json!(mesh.fields.names());
        report["bounds"] = bounds(&mesh.points);
        report["problem"] = json!(found.problem);
        Ok(report)
    })?;
    of_json(py, &measured)
}

/// Measures of a surface in space, with the command's names.
const OF_SURFACES: [&str; 10] = [
    "area",
    "volume",
    "edges",
    "boundary_edges",
    "boundary_parts",
    "pinch_vertices",
    "problems",
    "repairs",
    "planarity",
    "dihedral_angle",
];

fn bounds(points: &[DVec3]) -> Value {
    match points.is_empty() {
        true => Value::Null,
        false => {
            let (low, high) = trioxide::volume::bounds(points);
            json!([low.to_array(), high.to_array()])
        }
    }
}

fn distribution(of: &Distribution) -> Value {
    json!({"min": of.min, "mean": of.mean, "max": of.max})
}

fn quality_of(quality: &Quality) -> Value {
    json!({
        "polygons": quality.polygons,
        "vertices_per_polygon": quality.vertices_per_polygon,
        "area": distribution(&quality.area),
        "perimeter": distribution(&quality.perimeter),
        "convex": quality.convex,
        "convexity": distribution(&quality.convexity),
        "shortest_edge_to_diameter": distribution(&quality.shortest_edge_to_diameter),
        "star_shaped": quality.star_shaped,
        "kernel": distribution(&quality.kernel),
    })
}

/// Counts and measures of a volume mesh, its quality on the device.
#[pyfunction]
pub fn measure_volume<'py>(
    py: Python<'py>,
    device: &PyDevice,
    mesh: &Dict<'py>,
    watch: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let mesh = volume_of(mesh)?;
    let measured = run_on(py, watch, device, move |on| {
        check_volume(&mesh)?;
        let (quality, ratios) = operations::info::quality_of_cells(on, &mesh)?;
        Ok(json!({
            "vertices": mesh.points.len(),
            "cells": mesh.cells.len(),
            "tagged_faces": mesh.faces.len(),
            "bounds": bounds(&mesh.points),
            "fields": mesh.fields.names(),
            "quality": quality_3d(&quality),
            "mean_ratio": operations::info::ratios_to_json(&ratios),
        }))
    })?;
    of_json(py, &measured)
}

fn histogram(of: &Histogram) -> Value {
    json!({"bounds": of.bounds, "counts": of.counts})
}

fn quality_3d(quality: &Quality3d) -> Value {
    json!({
        "inverted": quality.inverted,
        "worst_jacobian": quality.worst_jacobian,
        "jacobians": histogram(&quality.jacobians),
        "tetrahedra": quality.tetrahedra.as_ref().map(|tets| json!({
            "smallest_angle": tets.smallest_angle,
            "angles": histogram(&tets.angles),
            "largest_ratio": tets.largest_ratio,
            "ratios": histogram(&tets.ratios),
        })),
    })
}

/// The machine's GPUs and the driver's CUDA version, or the reason why there are none.
#[pyfunction]
pub fn cuda_devices(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    let found = match py.detach(trioxide::device::cuda_devices) {
        Ok(((major, minor), devices)) => {
            let devices: Vec<Value> = devices
                .iter()
                .map(|device| {
                    json!({
                        "device": format!("cuda:{}", device.index),
                        "name": device.name,
                        "capability": [device.capability.0, device.capability.1],
                        "memory": device.memory,
                        "multiprocessors": device.multiprocessors,
                    })
                })
                .collect();
            json!({"cuda": [major, minor], "devices": devices, "reason": null})
        }
        Err(reason) => {
            json!({"cuda": null, "devices": [], "reason": reason.to_string()})
        }
    };
    of_json(py, &found)
}

/// Runs the self-test's cases whose names contain `only`: names with the failure, or None.
#[pyfunction]
pub fn run_selftest(
    py: Python<'_>,
    device: &PyDevice,
    only: String,
    watch: Option<&Bound<'_, PyAny>>,
) -> PyResult<Vec<(String, Option<String>)>> {
    use trioxide_verify::selftest::{LAUNCHES, Size, cases};
    let outcomes = run_on(py, watch, device, move |on| {
        let mut outcomes = Vec::new();
        for case in cases(Size::Tiny, Vec::new())? {
            let is_wanted = case.family == only || case.name.contains(&only);
            // The case of all launches counts on the others.
            if is_wanted && case.family != LAUNCHES {
                outcomes.push((case.name.to_string(), case.run(on).err()));
                // A case that was interrupted has failed.
                progress::check()?;
            }
        }
        Ok(outcomes)
    })?;
    if outcomes.is_empty() {
        return Err(exception(trioxide::Error::Argument(
            "no case of the self-test has this in its name".to_owned(),
        )));
    }
    Ok(outcomes)
}
