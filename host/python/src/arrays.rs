//! NumPy arrays from and to vectors. Arrays from Python are copied before the GIL is released: no other thread can
//! change them meanwhile, and no array has to outlive a call.

use bytemuck::Pod;
use glam::{DVec2, DVec3};
use numpy::{Element, PyArray1, PyArrayDyn, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use trioxide::fields::{Field, Fields, Values};

/// The rows of an array: `name` is for messages, `R` has the numbers of a row.
///
/// # Errors
/// `TypeError` for other numbers than `T`, `ValueError` for rows of another length.
pub fn rows<T: Element + Pod, R: Pod>(array: &Bound<'_, PyAny>, name: &str) -> PyResult<Vec<R>> {
    let array = array.cast::<PyArrayDyn<T>>().map_err(|_| {
        PyTypeError::new_err(format!(
            "{name} is no array of {}: the package's functions convert it",
            std::any::type_name::<T>()
        ))
    })?;
    let width = size_of::<R>() / size_of::<T>();
    let shape = array.shape();
    let fits = match shape {
        [_] => width == 1,
        [_, columns] => *columns == width,
        _ => false,
    };
    if !fits {
        return Err(PyValueError::new_err(format!(
            "{name} has the shape {shape:?}: rows of {width} are needed"
        )));
    }
    let array = array.readonly();
    let numbers = array
        .as_slice()
        .map_err(|_| PyValueError::new_err(format!("{name} is not contiguous")))?;
    // A copy by bytes: the array may be aligned to less than a row.
    let mut rows = vec![R::zeroed(); numbers.len() / width];
    bytemuck::cast_slice_mut(&mut rows).copy_from_slice(bytemuck::cast_slice::<T, u8>(numbers));
    Ok(rows)
}

/// As [`rows`], of an entry of a dictionary; `None` where it is missing or None.
pub fn entry<T: Element + Pod, R: Pod>(
    dict: &Bound<'_, PyDict>,
    name: &str,
) -> PyResult<Option<Vec<R>>> {
    match dict.get_item(name)? {
        Some(array) if !array.is_none() => rows::<T, R>(&array, name).map(Some),
        _ => Ok(None),
    }
}

/// An array of one dimension, without a copy.
pub fn list<T: Element>(py: Python<'_>, numbers: Vec<T>) -> Bound<'_, PyAny> {
    PyArray1::from_vec(py, numbers).into_any()
}

/// An array of rows, without a copy.
pub fn table<T: Element>(
    py: Python<'_>,
    numbers: Vec<T>,
    columns: usize,
) -> PyResult<Bound<'_, PyAny>> {
    let count = numbers.len() / columns;
    Ok(PyArray1::from_vec(py, numbers)
        .reshape([count, columns])?
        .into_any())
}

/// Points of space as an array of three columns, without a copy.
pub fn points(py: Python<'_>, points: Vec<DVec3>) -> PyResult<Bound<'_, PyAny>> {
    table(py, bytemuck::cast_vec::<DVec3, f64>(points), 3)
}

/// Pairs as an array of two columns.
pub fn pairs<'py>(py: Python<'py>, pairs: &[DVec2]) -> PyResult<Bound<'py, PyAny>> {
    table(py, bytemuck::cast_slice::<DVec2, f64>(pairs).to_vec(), 2)
}

/// Fields from a dictionary of arrays.
pub fn fields_of(dict: &Bound<'_, PyDict>, name: &str) -> PyResult<Fields> {
    let mut fields = Fields::default();
    let Some(arrays) = dict.get_item(name)?.filter(|arrays| !arrays.is_none()) else {
        return Ok(fields);
    };
    for (name, array) in arrays.cast::<PyDict>()?.iter() {
        fields.push(field_of(name.extract()?, &array)?);
    }
    Ok(fields)
}

fn field_of(name: String, array: &Bound<'_, PyAny>) -> PyResult<Field> {
    fn numbers<T: Element + Copy>(array: &Bound<'_, PyAny>) -> Option<(Vec<T>, usize)> {
        let array = array.cast::<PyArrayDyn<T>>().ok()?;
        let components = match array.shape() {
            [_] => 1,
            [_, components] => *components,
            _ => return None,
        };
        Some((array.readonly().as_slice().ok()?.to_vec(), components))
    }
    macro_rules! first_of {
        ($($type:ty),*) => {
            $(if let Some((values, components)) = numbers::<$type>(array) {
                return Ok(Field { name, components, values: values.into() });
            })*
        };
    }
    first_of!(f64, f32, i32, u32, i64, u64, u8, i8, u16, i16);
    Err(PyTypeError::new_err(format!(
        "field {name:?} is no array of numbers with one or two dimensions"
    )))
}

/// Fields as a dictionary of arrays.
pub fn dict_of_fields<'py>(py: Python<'py>, fields: &Fields) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for field in fields {
        let array = match field.values.clone() {
            Values::I8(values) => list(py, values),
            Values::U8(values) => list(py, values),
            Values::I16(values) => list(py, values),
            Values::U16(values) => list(py, values),
            Values::I32(values) => list(py, values),
            Values::U32(values) => list(py, values),
            Values::I64(values) => list(py, values),
            Values::U64(values) => list(py, values),
            Values::F32(values) => list(py, values),
            Values::F64(values) => list(py, values),
        };
        let array = match field.components {
            1 => array,
            components => array.call_method1("reshape", (-1, components))?,
        };
        dict.set_item(&field.name, array)?;
    }
    Ok(dict)
}

/// A value of JSON as Python has it.
pub fn of_json<'py>(py: Python<'py>, value: &serde_json::Value) -> PyResult<Bound<'py, PyAny>> {
    use serde_json::Value;
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Bool(flag) => flag.into_pyobject(py)?.to_owned().into_any(),
        Value::Number(number) => match (number.as_u64(), number.as_i64()) {
            (Some(number), _) => number.into_pyobject(py)?.into_any(),
            (_, Some(number)) => number.into_pyobject(py)?.into_any(),
            _ => number.as_f64().into_pyobject(py)?.into_any(),
        },
        Value::String(text) => text.into_pyobject(py)?.into_any(),
        Value::Array(values) => {
            let list = PyList::empty(py);
            for value in values {
                list.append(of_json(py, value)?)?;
            }
            list.into_any()
        }
        Value::Object(entries) => {
            let dict = PyDict::new(py);
            for (name, value) in entries {
                dict.set_item(name, of_json(py, value)?)?;
            }
            dict.into_any()
        }
    })
}

/// Flags of a dictionary; none where they are missing.
pub fn flags(options: &Bound<'_, PyDict>, name: &str) -> PyResult<Vec<bool>> {
    let flags = entry::<u8, u8>(options, name)?.unwrap_or_default();
    Ok(flags.into_iter().map(|flag| flag != 0).collect())
}
