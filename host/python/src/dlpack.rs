//! DLPack's C structures (version 0.8 and before, which every package gives and takes), and the way in and out.

use std::ffi::{CStr, c_void};
use std::ptr;

use pyo3::exceptions::PyBufferError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyCapsuleMethods, PyDict};
use trioxide::Device;

use crate::foreign::{Found, check_strides, unknown_type};
use crate::number::Number;

/// `kDLCUDA`.
pub const CUDA: u32 = 2;
/// `kDLCPU`.
pub const CPU: u32 = 1;
/// `kDLInt`, `kDLUInt`, `kDLFloat`, `kDLBool`.
const INT: u8 = 0;
const UINT: u8 = 1;
const FLOAT: u8 = 2;
const BOOL: u8 = 6;
/// Name of a capsule that nobody has taken yet, and of one that is taken.
const GIVEN: &CStr = c"dltensor";
const TAKEN: &CStr = c"used_dltensor";

#[repr(C)]
struct Type {
    code: u8,
    bits: u8,
    lanes: u16,
}

#[repr(C)]
struct Tensor {
    data: *mut c_void,
    device_type: i32,
    device_id: i32,
    ndim: i32,
    dtype: Type,
    shape: *mut i64,
    strides: *mut i64,
    byte_offset: u64,
}

#[repr(C)]
struct Managed {
    tensor: Tensor,
    manager: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Managed)>,
}

/// An array that is given to another package.
pub struct Given<'a> {
    pub address: u64,
    pub shape: &'a [usize],
    pub number: Number,
    /// Kind and number of its device, as DLPack has them.
    pub place: (u32, u32),
    /// Keeps the memory.
    pub keeper: Box<dyn Send>,
}

/// The data that the manager of a given array owns.
struct Owned {
    shape: Vec<i64>,
    #[expect(dead_code, reason = "keeps the memory")]
    keeper: Box<dyn Send>,
}

/// Gives an array to another package: a capsule that it takes.
pub fn export<'py>(py: Python<'py>, array: Given) -> PyResult<Bound<'py, PyAny>> {
    let (code, bits) = match array.number {
        Number::F64 => (FLOAT, 64),
        Number::U32 => (UINT, 32),
        Number::I32 => (INT, 32),
        Number::U8 => (UINT, 8),
        Number::Bool => (BOOL, 8),
    };
    let (device_type, device_id) = array.place;
    let mut owned = Box::new(Owned {
        shape: array.shape.iter().map(|&count| count as i64).collect(),
        keeper: array.keeper,
    });
    let managed = Box::into_raw(Box::new(Managed {
        tensor: Tensor {
            data: array.address as *mut c_void,
            device_type: device_type as i32,
            device_id: device_id as i32,
            ndim: owned.shape.len() as i32,
            dtype: Type {
                code,
                bits,
                lanes: 1,
            },
            shape: owned.shape.as_mut_ptr(),
            strides: ptr::null_mut(),
            byte_offset: 0,
        },
        manager: Box::into_raw(owned).cast(),
        deleter: Some(delete),
    }));
    // SAFETY: a new capsule around a structure that its destructor, or the package that takes it, deletes once.
    unsafe {
        let capsule =
            pyo3::ffi::PyCapsule_New(managed.cast(), GIVEN.as_ptr(), Some(delete_if_not_taken));
        Bound::from_owned_ptr_or_err(py, capsule).inspect_err(|_| delete(managed))
    }
}

/// Deletes the structure that [`export`] made.
unsafe extern "C" fn delete(managed: *mut Managed) {
    // SAFETY: both boxes were made by `export`, and DLPack calls a deleter once.
    unsafe {
        let managed = Box::from_raw(managed);
        drop(Box::from_raw(managed.manager.cast::<Owned>()));
    }
}

unsafe extern "C" fn delete_if_not_taken(capsule: *mut pyo3::ffi::PyObject) {
    // SAFETY: Python calls it with a capsule of `export`; a package that takes the structure renames the capsule.
    unsafe {
        if pyo3::ffi::PyCapsule_IsValid(capsule, GIVEN.as_ptr()) == 1 {
            let managed = pyo3::ffi::PyCapsule_GetPointer(capsule, GIVEN.as_ptr());
            delete(managed.cast());
        }
    }
}

/// Keeps a taken structure, and deletes it.
#[pyclass(frozen, module = "trioxide._trioxide")]
struct Taken(*mut Managed);

// SAFETY: the deleter may be called by any thread, which DLPack asks of it; nothing else uses the pointer.
unsafe impl Send for Taken {}
// SAFETY: as above.
unsafe impl Sync for Taken {}

impl Drop for Taken {
    fn drop(&mut self) {
        // SAFETY: the structure was taken over with the capsule; its deleter is called once.
        unsafe {
            if let Some(deleter) = (*self.0).deleter {
                deleter(self.0);
            }
        }
    }
}

/// Takes an array of another package. The device's stream waits for the package's work on the array.
pub fn import(object: &Bound<'_, PyAny>, on: &Device) -> PyResult<Found> {
    let py = object.py();
    let arguments = PyDict::new(py);
    if let Some(stream) = on.stream() {
        arguments.set_item("stream", stream)?;
    }
    let capsule = object.call_method("__dlpack__", (), Some(&arguments))?;
    let capsule = capsule.cast_into::<PyCapsule>()?;
    let managed: *mut Managed = capsule.pointer_checked(Some(GIVEN))?.as_ptr().cast();
    // SAFETY: the capsule is renamed, so that the structure is ours.
    if unsafe { pyo3::ffi::PyCapsule_SetName(capsule.as_ptr(), TAKEN.as_ptr()) } != 0 {
        return Err(PyErr::fetch(py));
    }
    let keeper = Py::new(py, Taken(managed))?.into_any();
    // SAFETY: the structure lives as long as the keeper; shape and strides have `ndim` elements, or strides are null.
    let (tensor, shape, strides) = unsafe {
        let tensor = &(*managed).tensor;
        let ndim = tensor.ndim.max(0) as usize;
        let shape = match ndim {
            0 => &[][..],
            ndim => std::slice::from_raw_parts(tensor.shape, ndim),
        };
        let strides = (!tensor.strides.is_null() && ndim > 0)
            .then(|| std::slice::from_raw_parts(tensor.strides, ndim));
        (tensor, shape, strides)
    };
    let shape: Vec<usize> = shape.iter().map(|&count| count.max(0) as usize).collect();
    let Type { code, bits, lanes } = tensor.dtype;
    let number = match (code, bits, lanes) {
        (FLOAT, 64, 1) => Number::F64,
        (INT, 32, 1) => Number::I32,
        (UINT, 32, 1) => Number::U32,
        (UINT, 8, 1) => Number::U8,
        (BOOL, 8, 1) => Number::Bool,
        _ => {
            return Err(unknown_type(&format!(
                "{code}, {bits} bits, {lanes} lanes (DLPack)"
            )));
        }
    };
    if let Some(strides) = strides {
        check_strides(&shape, strides, 1)?;
    }
    if tensor.device_type != CUDA as i32 {
        return Err(PyBufferError::new_err("the array is not in a GPU's memory"));
    }
    Ok(Found {
        address: tensor.data as u64 + tensor.byte_offset,
        shape,
        number,
        keeper: Some(keeper),
    })
}
