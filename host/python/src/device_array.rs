//! Arrays in a device's memory: trioxide's own, and those of other packages on a GPU.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

use bytemuck::Pod;
use glam::DVec3;
use numpy::{Element, PyArrayDyn, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::{PyAttributeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use trioxide::device::{DeviceId, Memory};
use trioxide::half_edges::Known;
use trioxide::{Buffer, Device};

use crate::device::PyDevice;
use crate::dlpack;
use crate::exception::exception;
use crate::foreign::described;
use crate::number::Number;

/// An array in a device's memory. CuPy, PyTorch, JAX and Numba take it without a copy, by `__dlpack__` or
/// `__cuda_array_interface__`, and NumPy by `numpy.from_dlpack` where the device is the CPU; the memory stays as long
/// as any of them uses it.
#[pyclass(frozen, name = "DeviceArray", module = "trioxide")]
pub struct PyDeviceArray {
    memory: Arc<Held>,
    address: u64,
    shape: Vec<usize>,
    number: Number,
    /// Number of the GPU; `None` on the CPU.
    gpu: Option<u32>,
    device: Device,
}

/// The owner of the memory: a buffer of trioxide, or an object of another package.
enum Held {
    Own {
        buffer: Buffer<u8>,
        device: Device,
        /// Whether another package was given its address.
        is_shared: AtomicBool,
        notes: Notes,
    },
    Foreign {
        id: DeviceId,
        #[expect(dead_code, reason = "kept alive")]
        object: Py<PyAny>,
    },
}

/// Known properties of the content, which never changes unless another package writes to it.
#[derive(Default)]
struct Notes {
    /// The structure of a list of triangles.
    known: Arc<Known>,
    /// The bounds of points in space.
    bounds: OnceLock<Bounds>,
}

/// Lowest and highest coordinates.
pub type Bounds = (DVec3, DVec3);

impl Drop for Held {
    fn drop(&mut self) {
        // Another package's queue may still read the memory, which goes back to trioxide's queue. A failure here means
        // that an earlier one is reported where its results are used.
        if let Self::Own {
            device, is_shared, ..
        } = self
            && is_shared.load(Relaxed)
        {
            let _ = device.wait_for_all();
        }
    }
}

/// A buffer's part in memory that others use too.
struct Shared(Arc<Held>);

impl Memory for Shared {
    fn device(&self) -> DeviceId {
        match &*self.0 {
            Held::Own { buffer, .. } => buffer.device(),
            Held::Foreign { id, .. } => *id,
        }
    }
}

impl PyDeviceArray {
    /// The result of a computation: rows of `columns` numbers, or a list for 0 columns.
    pub fn of_buffer<T: Pod>(
        device: &Device,
        gpu: Option<u32>,
        buffer: Buffer<T>,
        number: Number,
        columns: usize,
    ) -> Self {
        Self::with_notes(device, gpu, buffer, number, columns, Notes::default())
    }

    /// The triangles of a surface of which this is known.
    ///
    /// # Safety
    /// It is of these triangles.
    pub unsafe fn of_triangles(
        device: &Device,
        gpu: Option<u32>,
        triangles: Buffer<[u32; 3]>,
        known: Arc<Known>,
    ) -> Self {
        let notes = Notes {
            known,
            ..Notes::default()
        };
        Self::with_notes(device, gpu, triangles, Number::U32, 3, notes)
    }

    fn with_notes<T: Pod>(
        device: &Device,
        gpu: Option<u32>,
        buffer: Buffer<T>,
        number: Number,
        columns: usize,
        notes: Notes,
    ) -> Self {
        let count = buffer.bytes() / number.size();
        let shape = match columns {
            0 => vec![count],
            columns => vec![count / columns, columns],
        };
        let address = buffer.address();
        Self {
            memory: Arc::new(Held::Own {
                buffer: buffer.cast(),
                device: device.clone(),
                is_shared: AtomicBool::new(false),
                notes,
            }),
            address,
            shape,
            number,
            gpu,
            device: device.clone(),
        }
    }

    /// The array's memory as a buffer that a computation reads: of rows `T`.
    ///
    /// # Safety
    /// Nobody writes to it.
    pub unsafe fn read<T: Pod>(&self) -> trioxide::Result<Buffer<T>> {
        let bytes = self.shape.iter().product::<usize>() * self.number.size();
        let memory = Box::new(Shared(self.memory.clone()));
        // SAFETY: the memory is kept, and initialised; nobody writes to it (the caller's promise). Memory of another
        // package that is aligned to less than 16 bytes is copied below, and not used by a kernel.
        let alias = unsafe { Buffer::from_raw(self.address, bytes / size_of::<T>(), memory) };
        if self.address.is_multiple_of(16) || bytes == 0 {
            return Ok(alias);
        }
        self.device.duplicate(&alias)
    }

    /// The notes on the content; `None` for an array that another package made or can write to.
    fn notes(&self) -> Option<&Notes> {
        match &*self.memory {
            Held::Own {
                is_shared, notes, ..
            } if !is_shared.load(Relaxed) => Some(notes),
            _ => None,
        }
    }

    /// The known structure of a list of triangles. It is empty, and not kept, if another package can write to the
    /// array.
    pub fn known(&self) -> Arc<Known> {
        let known = self.notes().map(|notes| notes.known.clone());
        known.unwrap_or_default()
    }

    /// The bounds of points in space, if they are known.
    pub fn bounds(&self) -> Option<Bounds> {
        self.notes()?.bounds.get().copied()
    }

    /// Notes the bounds of points in space.
    ///
    /// # Safety
    /// They are.
    pub unsafe fn set_bounds(&self, bounds: Bounds) {
        if let Some(notes) = self.notes() {
            _ = notes.bounds.set(bounds);
        }
    }

    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    pub fn number(&self) -> Number {
        self.number
    }

    /// Type and number of its device, as DLPack has them.
    pub fn place(&self) -> (u32, u32) {
        match self.gpu {
            Some(gpu) => (dlpack::CUDA, gpu),
            None => (dlpack::CPU, 0),
        }
    }

    /// Its device in words.
    fn device_name(&self) -> String {
        match self.gpu {
            Some(gpu) => format!("cuda:{gpu}"),
            None => "the CPU".to_owned(),
        }
    }

    pub fn address(&self) -> u64 {
        self.address
    }

    /// A part in its memory, for another package.
    pub fn keeper(&self) -> Box<dyn Send> {
        self.share();
        Box::new(self.memory.clone())
    }

    /// Notes that another package has the address.
    fn share(&self) {
        if let Held::Own { is_shared, .. } = &*self.memory {
            is_shared.store(true, Relaxed);
        }
    }

    /// Rows of `columns` numbers of one of the types, or a list for 0 columns.
    pub fn check(&self, name: &str, numbers: &[Number], columns: usize) -> PyResult<()> {
        let fits = match self.shape[..] {
            [_] => columns == 0,
            [_, found] => found == columns,
            _ => false,
        };
        if fits && numbers.contains(&self.number) {
            return Ok(());
        }
        let types: Vec<&str> = numbers.iter().map(|number| number.typestr()).collect();
        Err(PyValueError::new_err(format!(
            "{name} is a device array of the shape {:?} and type {}: the shape {} and type {} are needed; convert it there, such as by \
             astype or reshape",
            self.shape,
            self.number.typestr(),
            if columns == 0 {
                "(n,)".to_owned()
            } else {
                format!("(n, {columns})")
            },
            types.join(" or ")
        )))
    }
}

#[pymethods]
impl PyDeviceArray {
    /// Takes an array of another package, on `device`, without a copy. Its stream's work so far is waited for.
    #[staticmethod]
    fn of(py: Python<'_>, object: &Bound<'_, PyAny>, device: &PyDevice) -> PyResult<Self> {
        let on = device.get()?;
        if let Ok(array) = object.cast::<Self>() {
            let array = array.get();
            if array.gpu != device.gpu {
                return Err(PyValueError::new_err(format!(
                    "the array is on {} and the computation on {}: use that device, or copy the array by .numpy()",
                    array.device_name(),
                    device
                        .gpu
                        .map_or("the CPU".to_owned(), |gpu| format!("cuda:{gpu}")),
                )));
            }
            // Another object for the same GPU has the same context, and arrays are complete when a function returns
            // them.
            let memory = match array.device.id() == on.id() {
                true => array.memory.clone(),
                false => Arc::new(Held::Foreign {
                    id: on.id(),
                    object: object.clone().unbind(),
                }),
            };
            return Ok(Self {
                memory,
                address: array.address,
                shape: array.shape.clone(),
                number: array.number,
                gpu: device.gpu,
                device: on,
            });
        }
        let Some(gpu) = device.gpu else {
            return Err(PyValueError::new_err(
                "arrays of other packages are used in place on their GPU alone, and the device is the CPU: \
                 DeviceArray.copy_of takes a copy of one in host memory",
            ));
        };
        if object.hasattr("__dlpack_device__")? {
            let place: (i64, i64) = object.call_method0("__dlpack_device__")?.extract()?;
            if place != (i64::from(dlpack::CUDA), i64::from(gpu)) {
                return Err(PyValueError::new_err(format!(
                    "the array is on device {} of kind {} (DLPack), and the computation on cuda:{gpu}: use that device, or copy the \
                     array",
                    place.1, place.0
                )));
            }
        }
        // DLPack first: its packages order their work before this device's queue. PyTorch's interface names no stream.
        let found = match object.hasattr("__dlpack__")? {
            true => dlpack::import(object, &on)?,
            false => {
                let interface = object.getattr("__cuda_array_interface__").map_err(|_| {
                    PyTypeError::new_err(
                        "the array is in no GPU's memory: it has neither __dlpack__ nor __cuda_array_interface__",
                    )
                })?;
                described(&interface, &on, py)?
            }
        };
        let held = Held::Foreign {
            id: on.id(),
            object: found.keeper.unwrap_or_else(|| object.clone().unbind()),
        };
        Ok(Self {
            memory: Arc::new(held),
            address: found.address,
            shape: found.shape,
            number: found.number,
            gpu: device.gpu,
            device: on,
        })
    }

    /// A copy of a NumPy array in the memory of `device`: of float64, int32, uint32, uint8 or bool, contiguous, of one
    /// or two dimensions.
    #[staticmethod]
    fn copy_of(
        py: Python<'_>,
        array: &Bound<'_, PyAny>,
        device: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let device = device.cast::<PyDevice>().map_err(|_| {
            PyTypeError::new_err(
                "device is no trioxide.Device: give one, such as trioxide.Device(\"cuda:0\")",
            )
        })?;
        let device = device.get();
        let on = device.get()?;
        macro_rules! first_of {
            ($($type:ty, $number:expr, $as:expr);*) => {
                $(if let Some((values, shape)) = values_of::<$type>(array)? {
                    let values: Vec<_> = $as(values);
                    let buffer = py.detach(|| complete(&on, on.upload(&values)?)).map_err(exception)?;
                    let list = Self::of_buffer(&on, device.gpu, buffer, $number, 0);
                    return Ok(Self { shape, ..list });
                })*
            };
        }
        let flags = |values: Vec<bool>| values.into_iter().map(u8::from).collect();
        first_of!(
            f64, Number::F64, |values| values;
            u32, Number::U32, |values| values;
            i32, Number::I32, |values| values;
            u8, Number::U8, |values| values;
            bool, Number::Bool, flags
        );
        Err(PyTypeError::new_err(
            "a NumPy array of float64, int32, uint32, uint8 or bool can be on a device: convert it, such as by astype",
        ))
    }

    /// Its content as a NumPy array: a copy.
    fn numpy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let array = match self.number {
            Number::F64 => crate::arrays::list(py, self.download::<f64>(py)?),
            Number::U32 => crate::arrays::list(py, self.download::<u32>(py)?),
            Number::I32 => crate::arrays::list(py, self.download::<i32>(py)?),
            Number::U8 => crate::arrays::list(py, self.download::<u8>(py)?),
            Number::Bool => {
                crate::arrays::list(py, self.download::<u8>(py)?).call_method1("view", ("?",))?
            }
        };
        array.call_method1("reshape", (PyTuple::new(py, &self.shape)?,))
    }

    #[getter(shape)]
    fn shape_of<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.shape)
    }

    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("numpy")?
            .call_method1("dtype", (self.number.typestr(),))
    }

    fn __len__(&self) -> usize {
        self.shape[0]
    }

    fn __repr__(&self) -> String {
        format!(
            "<trioxide.DeviceArray {:?} {} on {}>",
            self.shape,
            self.number.typestr(),
            self.device_name()
        )
    }

    /// Version 3. The content is complete when a function returns it, so there is no stream to wait for.
    #[getter]
    fn __cuda_array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        if self.gpu.is_none() {
            return Err(PyAttributeError::new_err(
                "the array is in the CPU's memory: take it by numpy.from_dlpack",
            ));
        }
        self.share();
        let dict = PyDict::new(py);
        dict.set_item("shape", PyTuple::new(py, &self.shape)?)?;
        dict.set_item("typestr", self.number.typestr())?;
        let is_empty = self.shape.contains(&0);
        dict.set_item("data", (if is_empty { 0 } else { self.address }, false))?;
        dict.set_item("strides", py.None())?;
        dict.set_item("version", 3)?;
        dict.set_item("stream", py.None())?;
        Ok(dict)
    }

    fn __dlpack_device__(&self) -> (u32, u32) {
        self.place()
    }

    #[pyo3(signature = (*, stream = None, max_version = None, dl_device = None, copy = None))]
    fn __dlpack__<'py>(
        &self,
        py: Python<'py>,
        stream: Option<i64>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(u32, u32)>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        // Whatever stream the consumer uses: the content is complete.
        let _ = (stream, max_version);
        if dl_device.is_some_and(|place| place != self.place()) || copy == Some(true) {
            return Err(pyo3::exceptions::PyBufferError::new_err(
                "a device array is given without a copy on its own device only: copy it with the other package",
            ));
        }
        let array = dlpack::Given {
            address: self.address(),
            shape: self.shape(),
            number: self.number(),
            place: self.place(),
            keeper: self.keeper(),
        };
        dlpack::export(py, array)
    }
}

impl PyDeviceArray {
    fn download<T: Pod + Send>(&self, py: Python<'_>) -> PyResult<Vec<T>> {
        py.detach(|| {
            // SAFETY: a copy to the host reads only.
            let buffer = unsafe { self.read::<T>() }?;
            self.device.download(&buffer)
        })
        .map_err(exception)
    }
}

/// A buffer whose content is there: other packages read it by queues of their own.
pub fn complete<T: Pod>(on: &Device, buffer: Buffer<T>) -> trioxide::Result<Buffer<T>> {
    on.synchronize()?;
    Ok(buffer)
}

/// The numbers and the shape of a NumPy array, if they are of this type.
fn values_of<T: Element + Copy>(
    array: &Bound<'_, PyAny>,
) -> PyResult<Option<(Vec<T>, Vec<usize>)>> {
    let Ok(array) = array.cast::<PyArrayDyn<T>>() else {
        return Ok(None);
    };
    let shape = array.shape().to_vec();
    if !matches!(shape.len(), 1 | 2) {
        return Err(PyValueError::new_err(format!(
            "an array of the shape {shape:?} cannot be on a device: it has one or two dimensions there"
        )));
    }
    let array = array.readonly();
    let values = array.as_slice().map_err(|_| {
        PyValueError::new_err("the array is not contiguous: take numpy.ascontiguousarray of it")
    })?;
    Ok(Some((values.to_vec(), shape)))
}
