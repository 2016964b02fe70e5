//! Arrays of a device for the families, in place: inputs and results stay on the device.

use std::sync::Arc;

use bytemuck::Pod;
use glam::{DVec2, DVec3};
use gpu::ids::Vertex;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use trioxide::device::BitSet;
use trioxide::half_edges::{DeviceSurface, Known};
use trioxide::{Buffer, Device, Error, collective};

use crate::call::{Call, Dict};
use crate::device_array::PyDeviceArray;
use crate::exception::exception;
use crate::number::Number;

pub const INDICES: &[Number] = &[Number::U32, Number::I32];
pub const FLOATS: &[Number] = &[Number::F64];

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
    pub fn put_as_given<T: Pod>(
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
pub fn surface<P: Pod>(arrays: &Dict<'_>, columns: usize) -> PyResult<DeviceSurface<P>> {
    let points = needed(arrays, "points", FLOATS, columns)?;
    let triangles: Buffer<[u32; 3]> = needed(arrays, "triangles", INDICES, 3)?;
    let known = found(arrays, "triangles")?.map(|array| array.get().known());
    let bounds = found(arrays, "points")?.and_then(|array| array.get().bounds());
    // SAFETY: the notes are of the arrays' memory, to which nobody writes while a function runs.
    Ok(unsafe { DeviceSurface::with_known(points, triangles, known.unwrap_or_default(), bounds) })
}
