//! The families on arrays of a device, in place: inputs and results stay on the device.

use std::sync::Arc;

use bytemuck::Pod;
use glam::{DVec2, DVec3};
use gpu::ids::Vertex;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use trioxide::device::BitSet;
use trioxide::forms;
use trioxide::half_edges::{DeviceSurface, DeviceTriangulation, Known};
use trioxide::polylla::WayBack;
use trioxide::smooth::{self, DeviceMesh};
use trioxide::weld::{self, CarriedArrays, DeviceCarried};
use trioxide::{Buffer, Device, Error, collective};
use trioxide_operations as operations;

use crate::call::{Call, Dict, option};
use crate::device::PyDevice;
use crate::device_array::PyDeviceArray;
use crate::exception::exception;
use crate::families::{put_counts, put_notes};
use crate::number::Number;
use crate::options::parse;
use crate::work::run_on;

pub const INDICES: &[Number] = &[Number::U32, Number::I32];
const FLOATS: &[Number] = &[Number::F64];

/// The array of that name, if it is there.
pub fn found<'py>(arrays: &Dict<'py>, name: &str) -> PyResult<Option<Bound<'py, PyDeviceArray>>> {
    match arrays.get_item(name)? {
        Some(array) if !array.is_none() => Ok(Some(array.cast_into()?)),
        _ => Ok(None),
    }
}

/// The memory of an array, if it is there: rows `R` of `columns` numbers, or a list for 0 columns, in place.
/// Computations read it only.
pub fn buffer<R: Pod>(
    arrays: &Dict<'_>,
    name: &str,
    numbers: &[Number],
    columns: usize,
) -> PyResult<Option<Buffer<R>>> {
    let Some(array) = found(arrays, name)? else {
        return Ok(None);
    };
    let array = array.get();
    array.check(name, numbers, columns)?;
    // SAFETY: each family reads its input, and writes to memory of its own.
    unsafe { array.read() }.map(Some).map_err(exception)
}

/// As [`buffer`], of an array that is needed.
pub fn needed<R: Pod>(
    arrays: &Dict<'_>,
    name: &str,
    numbers: &[Number],
    columns: usize,
) -> PyResult<Buffer<R>> {
    buffer(arrays, name, numbers, columns)?
        .ok_or_else(|| PyValueError::new_err(format!("{name} are missing")))
}

/// Refuses a list of another length than there are elements.
pub fn check_length<T: Pod>(
    list: &Option<Buffer<T>>,
    name: &str,
    length: usize,
    element: &str,
) -> PyResult<()> {
    match list {
        Some(list) if list.len() != length => Err(PyValueError::new_err(format!(
            "{name} has {} entries: one for each {element} is needed, {length}",
            list.len()
        ))),
        _ => Ok(()),
    }
}

/// Some of the elements: by a flag for each, or by their ids.
pub enum Chosen {
    Flags(Buffer<u8>),
    Ids(Buffer<u32>),
}

impl Chosen {
    /// The array of that name, if it is there; of `count` elements, each an `element`.
    pub fn of(
        arrays: &Dict<'_>,
        name: &str,
        count: usize,
        element: &str,
    ) -> PyResult<Option<Self>> {
        let Some(array) = found(arrays, name)? else {
            return Ok(None);
        };
        if INDICES.contains(&array.get().number()) {
            return Ok(buffer(arrays, name, INDICES, 0)?.map(Self::Ids));
        }
        let flags = buffer(arrays, name, &[Number::Bool, Number::U8], 0)?;
        check_length(&flags, name, count, element)?;
        Ok(flags.map(Self::Flags))
    }

    /// As a bit set of `count` elements.
    pub fn bits(&self, on: &Device, name: &str, count: usize) -> trioxide::Result<BitSet<Vertex>> {
        match self {
            Self::Flags(flags) => collective::pack_flags(on, flags),
            Self::Ids(ids) => match collective::mark_ids(on, ids, count)? {
                (bits, None) => Ok(bits),
                (_, Some(place)) => Err(Error::Argument(format!(
                    "{name}[{place}] is {}: ids run from 0 to {count}, without {count}",
                    on.read(ids, place as usize)? as i32
                ))),
            },
        }
    }
}

/// Puts arrays of a device into a result.
pub struct Results<'a, 'py> {
    pub dict: Dict<'py>,
    on: Device,
    call: &'a Call<'a, 'py>,
}

impl<'a, 'py> Results<'a, 'py> {
    pub fn new(call: &'a Call<'a, 'py>) -> PyResult<Self> {
        Ok(Self {
            dict: PyDict::new(call.py),
            on: call.device.get().get()?,
            call,
        })
    }

    /// Rows of `columns` numbers, or a list for 0 columns.
    pub fn put<T: Pod>(
        &self,
        name: &str,
        buffer: Buffer<T>,
        number: Number,
        columns: usize,
    ) -> PyResult<()> {
        let gpu = self.call.device.get().gpu;
        let array = PyDeviceArray::of_buffer(&self.on, gpu, buffer, number, columns);
        self.dict.set_item(name, Py::new(self.call.py, array)?)
    }

    /// Puts the triangles of a surface, with their known structure.
    ///
    /// # Safety
    /// `known` is the structure of these triangles.
    pub unsafe fn put_triangles(
        &self,
        triangles: Buffer<[u32; 3]>,
        known: Arc<Known>,
    ) -> PyResult<()> {
        let gpu = self.call.device.get().gpu;
        // SAFETY: the caller's promise.
        let array = unsafe { PyDeviceArray::of_triangles(&self.on, gpu, triangles, known) };
        self.dict
            .set_item("triangles", Py::new(self.call.py, array)?)
    }

    /// As [`Results::put`]. Without a buffer, puts an empty array if the input had an array of this name.
    fn put_as_given<T: Pod>(
        &self,
        (name, is_given): (&str, bool),
        buffer: Option<Buffer<T>>,
        number: Number,
        columns: usize,
    ) -> PyResult<()> {
        match (buffer, is_given) {
            (Some(buffer), _) => self.put(name, buffer, number, columns),
            (None, true) => {
                let empty = self.on.uninitialized::<T>(0).map_err(exception)?;
                self.put(name, empty, number, columns)
            }
            (None, false) => Ok(()),
        }
    }
}

/// Welds points and triangles, with their attributes, regions and locks.
pub fn weld<'py>(call: &Call<'_, 'py>, arrays: &Dict<'py>) -> PyResult<Dict<'py>> {
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

/// Points in two or three columns.
enum Points {
    Plane(Buffer<DVec2>),
    Space(Buffer<DVec3>),
}

/// Triangulates points by x and y.
pub fn triangulate<'py>(call: &Call<'_, 'py>, arrays: &Dict<'py>) -> PyResult<Dict<'py>> {
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

/// Smooths a surface of triangles.
pub fn smooth<'py>(call: &Call<'_, 'py>, arrays: &Dict<'py>) -> PyResult<Dict<'py>> {
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

/// Smooths a mesh of tetrahedra.
pub fn smooth_tets<'py>(call: &Call<'_, 'py>, arrays: &Dict<'py>) -> PyResult<Dict<'py>> {
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

/// A surface over points in two or three columns.
pub enum Surface {
    Plane(DeviceSurface<DVec2>),
    Space(DeviceSurface<DVec3>),
}

impl Surface {
    pub fn of(arrays: &Dict<'_>) -> PyResult<Self> {
        let is_planar = match found(arrays, "points")? {
            Some(points) => points.get().shape().get(1) == Some(&2),
            None => false,
        };
        Ok(match is_planar {
            true => Self::Plane(surface(arrays, 2)?),
            false => Self::Space(surface(arrays, 3)?),
        })
    }

    /// Number of vertices, and of triangles.
    pub fn sizes(&self) -> (usize, usize) {
        match self {
            Self::Plane(surface) => (surface.points().len(), surface.triangles()),
            Self::Space(surface) => (surface.points().len(), surface.triangles()),
        }
    }
}

/// The surface of the arrays `points`, which has `columns` columns, and `triangles`, with their known structure and
/// bounds.
fn surface<P: Pod>(arrays: &Dict<'_>, columns: usize) -> PyResult<DeviceSurface<P>> {
    let points = needed(arrays, "points", FLOATS, columns)?;
    let triangles: Buffer<[u32; 3]> = needed(arrays, "triangles", INDICES, 3)?;
    let known = found(arrays, "triangles")?.map(|array| array.get().known());
    let bounds = found(arrays, "points")?.and_then(|array| array.get().bounds());
    // SAFETY: the notes are of the arrays' memory, to which nobody writes while a function runs.
    Ok(unsafe { DeviceSurface::with_known(points, triangles, known.unwrap_or_default(), bounds) })
}

/// Makes polygons of a triangulation in the plane; of points of space z is left out.
pub fn polylla<'py>(call: &Call<'_, 'py>, arrays: &Dict<'py>) -> PyResult<Dict<'py>> {
    let surface = Surface::of(arrays)?;
    let options: operations::polylla::Options = parse(call.options)?;
    let regions = buffer::<i32>(arrays, "regions", INDICES, 0)?;
    let segments = buffer::<[u32; 2]>(arrays, "segments", INDICES, 2)?;
    check_length(&regions, "regions", surface.sizes().1, "triangle")?;
    let (lists, half_edges, way_back, regions, totals) = call.work(move |on| {
        options.check_resident()?;
        let mesh: DeviceTriangulation<DVec2> = match surface {
            Surface::Plane(surface) => DeviceTriangulation::of_surface(on, surface)?,
            Surface::Space(surface) => forms::triangulation(on, surface)?,
        };
        let (regions, segments) = (regions.as_ref(), segments.as_ref());
        let (result, regions, totals) =
            operations::polylla::resident(on, &mesh, regions, segments, &options)?;
        let way_back = result.way_back(on, &mesh)?;
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
