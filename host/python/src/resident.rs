//! The families on arrays of a GPU, in place: what goes in stays there, and so does what comes out.

use glam::{DVec2, DVec3};
use gpu::ids::Vertex;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use trioxide::convert;
use trioxide::half_edges::DeviceTriangulation;
use trioxide::polylla;
use trioxide::smooth::{self, DeviceMesh};
use trioxide::weld::{self, DeviceCarried};

use crate::device::PyDevice;
use crate::device_array::{Number, PyDeviceArray};
use crate::families::{option, smooth_options, weld_options};
use crate::work::run_on;

type Dict<'py> = Bound<'py, PyDict>;
const INDICES: &[Number] = &[Number::U32, Number::I32];

/// Welds points and triangles.
#[pyfunction]
pub fn weld_on_device<'py>(
    py: Python<'py>,
    device: &PyDevice,
    points: &PyDeviceArray,
    triangles: &PyDeviceArray,
    options: &Dict<'py>,
    watch: Option<&Bound<'py, PyAny>>,
) -> PyResult<Dict<'py>> {
    points.check("points", &[Number::F64], 3)?;
    triangles.check("triangles", INDICES, 3)?;
    let epsilon: Option<f64> = option(options, "epsilon", None)?;
    let ratio: Option<f64> = option(options, "ratio", None)?;
    let mut settings = weld_options(options, epsilon.unwrap_or(0.0))?;
    let (on, gpu) = (device.get()?, points.gpu());
    // SAFETY: a weld reads its input only.
    let arrays = unsafe { (points.read::<DVec3>(), triangles.read::<[Vertex; 3]>()) };
    let (points, triangles) = (arrays.0, arrays.1);
    let (welded, epsilon) = run_on(py, watch, device, move |on| {
        let mesh = weld::DeviceMesh::new(points?, triangles?, DeviceCarried::none(on)?)?;
        if let Some(ratio) = ratio {
            settings.epsilon = weld::epsilon_for_ratio(on, &mesh, settings.guards, ratio)?.epsilon;
        }
        let welded = weld::weld(on, &mesh, settings)?.into_arrays();
        Ok((welded, settings.epsilon))
    })?;
    let array =
        |buffer, columns| PyDeviceArray::of_buffer::<u8>(&on, gpu, buffer, Number::U32, columns);
    let result = PyDict::new(py);
    let points = PyDeviceArray::of_buffer(&on, gpu, welded.points, Number::F64, 3);
    result.set_item("points", Py::new(py, points)?)?;
    result.set_item("triangles", Py::new(py, array(welded.faces.cast(), 3))?)?;
    result.set_item("map", Py::new(py, array(welded.map.cast(), 0))?)?;
    result.set_item(
        "representatives",
        Py::new(py, array(welded.representatives.cast(), 0))?,
    )?;
    result.set_item("epsilon", epsilon)?;
    Ok(result)
}

/// Smooths a surface of triangles.
#[pyfunction]
pub fn smooth_on_device<'py>(
    py: Python<'py>,
    device: &PyDevice,
    points: &PyDeviceArray,
    triangles: &PyDeviceArray,
    options: &Dict<'py>,
    watch: Option<&Bound<'py, PyAny>>,
) -> PyResult<Dict<'py>> {
    points.check("points", &[Number::F64], 3)?;
    triangles.check("triangles", INDICES, 3)?;
    let settings = smooth_options(options)?;
    let (on, gpu) = (device.get()?, points.gpu());
    // SAFETY: smoothing reads its input, and writes to new points.
    let arrays = unsafe { (points.read::<DVec3>(), triangles.read::<[u32; 3]>()) };
    let (points, triangles) = (arrays.0, arrays.1);
    let (points, moving, sweeps) = run_on(py, watch, device, move |on| {
        let mesh = DeviceMesh::of_triangles(on, points?, triangles?)?;
        let smoothed = smooth::smooth(on, &mesh, &[], &settings)?;
        let (moving, sweeps) = (smoothed.moving(), smoothed.moves().sweeps);
        let points = smoothed.into_points();
        Ok((points, moving, sweeps))
    })?;
    let result = PyDict::new(py);
    let points = PyDeviceArray::of_buffer(&on, gpu, points, Number::F64, 3);
    result.set_item("points", Py::new(py, points)?)?;
    result.set_item("moving", moving)?;
    result.set_item("sweeps", sweeps)?;
    Ok(result)
}

/// Makes polygons of a triangulation in the plane; of points of space z is left out.
#[pyfunction]
pub fn polylla_on_device<'py>(
    py: Python<'py>,
    device: &PyDevice,
    points: &PyDeviceArray,
    triangles: &PyDeviceArray,
    options: &Dict<'py>,
    watch: Option<&Bound<'py, PyAny>>,
) -> PyResult<Dict<'py>> {
    let is_planar = points.shape().get(1) == Some(&2);
    points.check("points", &[Number::F64], if is_planar { 2 } else { 3 })?;
    triangles.check("triangles", INDICES, 3)?;
    let settings = polylla::Options {
        strict: option(options, "strict", false)?,
        prev: false,
        ..polylla::Options::default()
    };
    let (on, gpu) = (device.get()?, points.gpu());
    // SAFETY: Polylla reads its input only.
    let (plane, space, triangles) = unsafe {
        (
            is_planar.then(|| points.read::<DVec2>()),
            (!is_planar).then(|| points.read::<DVec3>()),
            triangles.read::<[u32; 3]>(),
        )
    };
    let (offsets, vertices, half_edges, counts) = run_on(py, watch, device, move |on| {
        let triangles = triangles?;
        let mesh: DeviceTriangulation<DVec2> = match (plane, space) {
            (Some(points), _) => {
                DeviceTriangulation::build(on, points?, convert::origins(triangles))?
            }
            (_, Some(points)) => convert::triangulation(on, &points?, triangles)?,
            _ => unreachable!("one of both is there"),
        };
        let result = polylla::polylla(on, &mesh, None, settings)?;
        let counts = result.counts();
        let (half_edges, lists) = result.into_arrays();
        let (offsets, vertices) = lists.expect("the options ask for lists").into_parts();
        Ok((offsets, vertices, half_edges, counts))
    })?;
    let array = |buffer| PyDeviceArray::of_buffer::<u8>(&on, gpu, buffer, Number::U32, 0);
    let result = PyDict::new(py);
    result.set_item("offsets", Py::new(py, array(offsets.cast()))?)?;
    result.set_item("vertices", Py::new(py, array(vertices.cast()))?)?;
    result.set_item("half_edges", Py::new(py, array(half_edges.cast()))?)?;
    let numbers = PyDict::new(py);
    numbers.set_item("polygons", counts.polygons)?;
    numbers.set_item("regions", counts.regions)?;
    numbers.set_item("frontier_edges", counts.frontier_edges)?;
    numbers.set_item("barrier_tips", counts.barrier_tips)?;
    numbers.set_item("weakly_simple", counts.weakly_simple)?;
    result.set_item("counts", numbers)?;
    Ok(result)
}
