//! A call of a family from Python: its device, its options, and the entries of dictionaries.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use trioxide::Device;

use crate::device::PyDevice;
use crate::{families, refinement, resident, resident_refinement, work};

pub type Dict<'py> = Bound<'py, PyDict>;

/// The device of a call, its options, and the function that is told of its progress.
pub struct Call<'a, 'py> {
    pub py: Python<'py>,
    pub device: &'a Bound<'py, PyDevice>,
    pub options: &'a Dict<'py>,
    watch: Option<&'a Bound<'py, PyAny>>,
}

impl Call<'_, '_> {
    /// As [`work::run_on`].
    pub fn run<R: Send + 'static>(
        &self,
        work: impl FnOnce(&Device) -> trioxide::Result<R> + Send + 'static,
    ) -> PyResult<R> {
        work::run_on(self.py, self.watch, self.device.get(), work)
    }
}

/// Runs a family: on arrays of the host, where `input` is a mesh; or, with `_on_device` behind its name, on arrays of a device, which
/// `input` has by their names.
#[pyfunction(name = "run")]
pub fn run_family<'py>(
    family: &str,
    device: &Bound<'py, PyDevice>,
    input: &Dict<'py>,
    options: &Dict<'py>,
    watch: Option<&Bound<'py, PyAny>>,
) -> PyResult<Dict<'py>> {
    let call = Call {
        py: input.py(),
        device,
        options,
        watch,
    };
    match family {
        "polylla" => families::polylla(&call, input),
        "polylla_on_device" => resident::polylla(&call, input),
        "refine" => refinement::refine(&call, input),
        "refine_on_device" => resident_refinement::refine(&call, input),
        "refine_tets" => refinement::refine_tets(&call, input),
        "refine_tets_on_device" => resident_refinement::refine_tets(&call, input),
        "smooth" => families::smooth_surface(&call, input),
        "smooth_on_device" => resident::smooth(&call, input),
        "smooth_tets_on_device" => resident::smooth_tets(&call, input),
        "smooth_volume" => families::smooth_volume(&call, input),
        "weld" => families::weld(&call, input),
        "weld_on_device" => resident::weld(&call, input),
        _ => Err(PyValueError::new_err(format!(
            "{family:?} is no family: use the package's functions"
        ))),
    }
}

/// An option of a dictionary; the default where it is missing or None.
pub fn option<'py, T>(options: &Dict<'py>, name: &str, default: T) -> PyResult<T>
where
    T: for<'a> FromPyObject<'a, 'py, Error: Into<PyErr>>,
{
    match options.get_item(name)? {
        Some(value) if !value.is_none() => value
            .extract()
            .map_err(|error: <T as FromPyObject<'_, 'py>>::Error| error.into()),
        _ => Ok(default),
    }
}

/// One of several words.
pub fn choice<T: Copy>(
    options: &Dict<'_>,
    name: &str,
    default: T,
    words: &[(&str, T)],
) -> PyResult<T> {
    let Some(word) = option::<Option<String>>(options, name, None)? else {
        return Ok(default);
    };
    let found = words.iter().find(|(known, _)| *known == word);
    found.map(|(_, value)| *value).ok_or_else(|| {
        let known: Vec<&str> = words.iter().map(|(known, _)| *known).collect();
        PyValueError::new_err(format!(
            "{name}={word:?} is not known: it is {}",
            known.join(", ")
        ))
    })
}

pub fn is_single(options: &Dict<'_>) -> PyResult<bool> {
    choice(
        options,
        "precision",
        false,
        &[("f64", false), ("f32", true)],
    )
}
