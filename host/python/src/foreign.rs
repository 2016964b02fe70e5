//! Arrays of other packages on a GPU: their description by the CUDA array interface.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use trioxide::Device;

use crate::exception::exception;
use crate::number::Number;

/// An array of another package.
pub struct Found {
    pub address: u64,
    pub shape: Vec<usize>,
    pub number: Number,
    /// The owner of the memory, if it is not the object itself.
    pub keeper: Option<Py<PyAny>>,
}

/// Reads the CUDA array interface, version 2 or 3.
pub fn described(interface: &Bound<'_, PyAny>, on: &Device, py: Python<'_>) -> PyResult<Found> {
    let item = |name: &str| interface.get_item(name);
    let shape: Vec<usize> = item("shape")?.extract()?;
    let typestr: String = item("typestr")?.extract()?;
    let number = Number::of_typestr(&typestr).ok_or_else(|| unknown_type(&typestr))?;
    let (address, _): (u64, bool) = item("data")?.extract()?;
    if let Ok(strides) = item("strides")
        && !strides.is_none()
    {
        let strides: Vec<i64> = strides.extract()?;
        check_strides(&shape, &strides, number.size() as i64)?;
    }
    if let Ok(mask) = item("mask")
        && !mask.is_none()
    {
        return Err(PyValueError::new_err(
            "a masked device array is not taken: fill it first",
        ));
    }
    match item("stream") {
        // Its package has waited.
        Ok(stream) if stream.is_none() => {}
        Ok(stream) => {
            let stream: u64 = stream.extract()?;
            // SAFETY: the array's package names a stream of its own, or 1 and 2 for the default ones.
            py.detach(|| unsafe { on.wait_for_stream(stream) })
                .map_err(exception)?;
        }
        // Version 2 says nothing.
        Err(_) => py.detach(|| on.wait_for_all()).map_err(exception)?,
    }
    Ok(Found {
        address,
        shape,
        number,
        keeper: None,
    })
}

pub fn unknown_type(name: &str) -> PyErr {
    PyValueError::new_err(format!(
        "a device array of type {name} is not taken: coordinates are float64, ids and tags int32 or uint32, colours uint8; convert it \
         there, such as by astype"
    ))
}

/// Refuses an array whose rows do not follow each other. `unit` is the stride of one number.
pub fn check_strides(shape: &[usize], strides: &[i64], unit: i64) -> PyResult<()> {
    let mut expected = unit;
    for (&count, &stride) in shape.iter().zip(strides).rev() {
        if count > 1 && stride != expected {
            return Err(PyValueError::new_err(
                "a device array with strides is not taken: make it contiguous there (ascontiguousarray, contiguous)",
            ));
        }
        expected *= count as i64;
    }
    Ok(())
}
