//! Polygons of triangles and polyhedra of tetrahedra.

use std::sync::Arc;

use clap::{Args, Command};
use glam::{DVec2, DVec3};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use trioxide::half_edges::DeviceTriangulation;
use trioxide::levels::Nested;
use trioxide::polylla::WayBack;
use trioxide::{Buffer, forms};
use trioxide_operations as operations;

use super::Family;
use crate::arrays::list;
use crate::call::{Call, Dict, put_counts, put_notes};
use crate::device::PyDevice;
use crate::device_array::PyDeviceArray;
use crate::exception::exception;
use crate::meshes::{dict_of_mesh, mesh_of, volume_of};
use crate::number::Number;
use crate::options::{KEYWORDS, command, parse};
use crate::polyhedra::dict_of_polyhedra;
use crate::resident::{INDICES, Results, Surface, buffer, check_length};
use crate::work::run_on;

pub const FAMILY: Family = Family {
    name: "polylla",
    options,
    step: Some(|command| command),
    runs: &[
        ("polylla", polylla),
        ("polylla_volume", polyhedra),
        ("polylla_on_device", polylla_on_device),
    ],
};

/// The options of triangles and of tetrahedra.
fn options() -> Command {
    operations::polyhedra::Options::augment_args(command::<operations::polylla::Options>())
}

/// Polygons of a triangulation.
fn polylla<'py>(call: &Call<'_, 'py>, mesh: &Dict<'py>) -> PyResult<Dict<'py>> {
    let mut options: operations::polylla::Options = parse(call.options)?;
    check_plane(call.options)?;
    options.parents = true;
    let mesh = mesh_of(mesh)?;
    let (mesh, report) = call.operate(move |on| {
        let (mesh, report) = operations::polylla(on, mesh, &options)?;
        Ok((report.run.clone(), (mesh, report)))
    })?;
    let result = dict_of_mesh(call.py, mesh)?;
    put_counts(&result, report.totals.counts())?;
    put_notes(&result, &report.notes)?;
    let parents = report.parents.expect("the options ask for them");
    result.set_item("triangle_offsets", list(call.py, parents.offsets))?;
    result.set_item("triangles_of_polygons", list(call.py, parents.triangles))?;
    result.set_item("half_edges", list(call.py, report.half_edges))?;
    result.set_item("places", report.places.map(|places| list(call.py, places)))?;
    put_levels(call.py, &result, report.nested)?;
    Ok(result)
}

/// The piece of each level that each piece of the level before belongs to.
fn put_levels(py: Python<'_>, result: &Dict<'_>, nested: Option<Nested>) -> PyResult<()> {
    let lists = PyList::empty(py);
    if let Some(nested) = nested {
        for level in 1..=nested.levels() {
            lists.append(list(py, nested.parents(level).to_vec()))?;
        }
    }
    result.set_item("level_parents", lists)
}

/// Polyhedra of tetrahedra.
fn polyhedra<'py>(call: &Call<'_, 'py>, mesh: &Dict<'py>) -> PyResult<Dict<'py>> {
    let mut options: operations::polyhedra::Options = parse(call.options)?;
    options.shared = parse(call.options)?;
    options.shared.parents = true;
    let mesh = volume_of(mesh)?;
    let (mesh, report) = call.operate(move |on| {
        let (mesh, report) = operations::polyhedra(on, mesh, &options)?;
        Ok((report.run.clone(), (mesh, report)))
    })?;
    let result = dict_of_polyhedra(call.py, mesh)?;
    put_counts(&result, report.totals.counts())?;
    put_notes(&result, &report.notes)?;
    let [offsets, tetrahedra] = report.parents.expect("the options ask for them");
    result.set_item("parent_offsets", list(call.py, offsets))?;
    result.set_item("parents", list(call.py, tetrahedra))?;
    put_levels(call.py, &result, report.nested)?;
    Ok(result)
}

/// Makes polygons of a triangulation in the plane, of points in three columns where all z are the same; else of a
/// surface in space.
fn polylla_on_device<'py>(call: &Call<'_, 'py>, arrays: &Dict<'py>) -> PyResult<Dict<'py>> {
    check_plane(call.options)?;
    let surface = Surface::of(arrays)?;
    let options: operations::polylla::Options = parse(call.options)?;
    let regions = buffer::<i32>(arrays, "regions", INDICES, 0)?;
    let segments = buffer::<[u32; 2]>(arrays, "segments", INDICES, 2)?;
    check_length(&regions, "regions", surface.sizes().1, "triangle")?;
    let (lists, half_edges, way_back, regions, totals) = call.work(move |on| {
        options.check_resident()?;
        let (regions, segments) = (regions.as_ref(), segments.as_ref());
        let in_plane = |mesh: DeviceTriangulation<DVec2>| {
            let found = operations::polylla::resident(on, &mesh, regions, segments, &options)?;
            let way_back = found.0.way_back(on, &mesh)?;
            Ok::<_, operations::Error>((found, way_back))
        };
        let ((result, regions, totals), way_back) = match surface {
            Surface::Plane(surface) => in_plane(DeviceTriangulation::of_surface(on, surface)?)?,
            Surface::Space(surface) if forms::is_planar(on, &surface)? => {
                in_plane(forms::triangulation(on, surface)?)?
            }
            Surface::Space(surface) => {
                let mesh = DeviceTriangulation::<DVec3>::of_surface(on, surface)?;
                let found =
                    operations::polylla::resident_surface(on, &mesh, regions, segments, &options)?;
                let way_back = found.0.way_back(on, &mesh)?;
                (found, way_back)
            }
        };
        let (half_edges, lists) = result.into_arrays();
        let lists = lists.expect("the options ask for lists");
        Ok((lists, half_edges, way_back, regions, totals))
    })?;
    let results = Results::new(call)?;
    let (offsets, vertices) = lists.into_parts();
    results.put("offsets", offsets, Number::U32, 0)?;
    results.put("vertices", vertices, Number::U32, 0)?;
    let way_back = PyWayBack {
        way_back: Arc::new(way_back),
        device: call.device.clone().unbind(),
    };
    results
        .dict
        .set_item("way_back", Py::new(call.py, way_back)?)?;
    results.put("half_edges", half_edges, Number::U32, 0)?;
    if let Some(regions) = regions {
        results.put("regions", regions, Number::I32, 0)?;
    }
    put_counts(&results.dict, totals.counts())?;
    Ok(results.dict)
}

/// The way back from polygons to triangles.
#[pyclass(frozen, name = "WayBack", module = "trioxide._trioxide")]
pub struct PyWayBack {
    way_back: Arc<WayBack>,
    device: Py<PyDevice>,
}

#[pymethods]
impl PyWayBack {
    /// The arrays `parent_offsets`, `parents` and `map`, found now.
    fn triangles<'py>(&self, py: Python<'py>) -> PyResult<Dict<'py>> {
        let (way_back, device) = (self.way_back.clone(), self.device.get());
        let (map, parents) = run_on(py, None, device, move |on| {
            Ok(way_back.triangles(on).map_err(operations::Error::from)?)
        })?;
        let (on, arrays) = (device.get()?, PyDict::new(py));
        let (offsets, parents) = parents.into_parts();
        let put = |name, list: Buffer<u32>| {
            let array = PyDeviceArray::of_buffer(&on, device.gpu, list, Number::U32, 0);
            arrays.set_item(name, Py::new(py, array)?)
        };
        put("parent_offsets", offsets)?;
        put("parents", parents.cast())?;
        put("map", map.cast())?;
        Ok(arrays)
    }
}

/// Refuses options of tetrahedra on triangles.
fn check_plane(options: &Dict<'_>) -> PyResult<()> {
    let options: trioxide_operations::polyhedra::Options = parse(options)?;
    let checked = options.check_plane();
    checked.map_err(|error| exception(error.worded(KEYWORDS)))
}
