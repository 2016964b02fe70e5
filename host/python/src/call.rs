//! A call of a family from Python: its device, its options, and the entries of dictionaries.

use clap::ValueEnum;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use trioxide::Device;
use trioxide_operations::{self as operations, Run};

use crate::device::PyDevice;
use crate::options::KEYWORDS;
use crate::work;

pub type Dict<'py> = Bound<'py, PyDict>;

/// The device of a call, its options, and the function that receives its progress.
pub struct Call<'a, 'py> {
    pub py: Python<'py>,
    pub device: &'a Bound<'py, PyDevice>,
    pub options: &'a Dict<'py>,
    pub watch: Option<&'a Bound<'py, PyAny>>,
}

impl Call<'_, '_> {
    /// As [`work::run_on`].
    pub fn run<R: Send + 'static>(
        &self,
        work: impl FnOnce(&Device) -> trioxide::Result<R> + Send + 'static,
    ) -> PyResult<R> {
        work::run_on(self.py, self.watch, self.device.get(), work)
    }

    /// As [`Call::run`], for an operation, whose run is noted with its stages.
    pub fn operate<R: Send + 'static>(
        &self,
        work: impl FnOnce(&Device) -> operations::Result<(Run, R)> + Send + 'static,
    ) -> PyResult<R> {
        let (run, result) = self.work(work)?;
        self.device.get().note(run.stages);
        Ok(result)
    }

    /// As [`Call::run`], for work with the errors of operations.
    pub fn work<R: Send + 'static>(
        &self,
        work: impl FnOnce(&Device) -> operations::Result<R> + Send + 'static,
    ) -> PyResult<R> {
        self.run(|on: &Device| work(on).map_err(|error| error.worded(KEYWORDS)))
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

/// One of the words of an option; its default where it is missing or None.
pub fn choice<T: ValueEnum + Default>(options: &Dict<'_>, name: &str) -> PyResult<T> {
    chosen(options, name).map(Option::unwrap_or_default)
}

/// As [`choice`], where there is no default.
pub fn chosen<T: ValueEnum>(options: &Dict<'_>, name: &str) -> PyResult<Option<T>> {
    let Some(word) = option::<Option<String>>(options, name, None)? else {
        return Ok(None);
    };
    T::from_str(&word, false).map(Some).map_err(|_| {
        let known = T::value_variants().iter().filter_map(T::to_possible_value);
        let known: Vec<String> = known.map(|value| value.get_name().to_owned()).collect();
        PyValueError::new_err(format!(
            "{name}={word:?} is not known: it is {}",
            known.join(", ")
        ))
    })
}

/// The counts of a report, as `counts`.
pub fn put_counts(result: &Dict<'_>, counts: operations::Counts) -> PyResult<()> {
    result.set_item("counts", dict_of_counts(result.py(), counts)?)
}

/// Counts by their names.
pub fn dict_of_counts<'py>(py: Python<'py>, counts: operations::Counts) -> PyResult<Dict<'py>> {
    let dict = PyDict::new(py);
    for (name, count) in counts {
        match count {
            operations::Count::Whole(count) => dict.set_item(name, count)?,
            operations::Count::Real(number) => dict.set_item(name, number)?,
            operations::Count::Flag(flag) => dict.set_item(name, flag)?,
            operations::Count::Word(word) => dict.set_item(name, word)?,
            operations::Count::Digest(digest) => dict.set_item(name, format!("{digest:016x}"))?,
        }
    }
    Ok(dict)
}

/// Puts notes for the user into a result, as `notes`.
pub fn put_notes(result: &Dict<'_>, notes: &[impl ToString]) -> PyResult<()> {
    let notes: Vec<String> = notes.iter().map(ToString::to_string).collect();
    result.set_item("notes", notes)
}
