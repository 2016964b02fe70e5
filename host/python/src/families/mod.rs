//! The families by their names: the runs of each, its options, and its step of a chain. A file each.

mod compare;
mod decimate;
mod locks;
mod polylla;
mod refine;
mod reorder;
mod repair;
mod smooth;
mod triangulate;
pub mod vem;
mod weld;

use clap::parser::ValueSource;
use clap::{Arg, Command, Id};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::call::{Call, Dict};
use crate::device::PyDevice;
use crate::options::{bare_command, is_flag, keyword, row};

pub use polylla::PyWayBack;
pub use refine::PyMidpoints;

/// A family: the package has a function of its name.
struct Family {
    name: &'static str,
    /// Its options, as clap has them.
    options: fn() -> Command,
    /// Adds the options that a step of a chain has besides; `None` where it is no step.
    step: Option<fn(Command) -> Command>,
    /// Its runs, by their names.
    runs: &'static [(&'static str, Run)],
}

/// Runs a family: on arrays of the host, where the second argument is a mesh; or, if its name ends in `_on_device`, on
/// arrays of a device, by their names.
type Run = for<'py> fn(&Call<'_, 'py>, &Dict<'py>) -> PyResult<Dict<'py>>;

const FAMILIES: [&Family; 10] = [
    &triangulate::FAMILY,
    &reorder::FAMILY,
    &repair::FAMILY,
    &weld::FAMILY,
    &decimate::FAMILY,
    &smooth::FAMILY,
    &refine::FAMILY,
    &polylla::FAMILY,
    &compare::FAMILY,
    &vem::FAMILY,
];

/// The family whose function has this name.
fn family(name: &str) -> Option<&'static Family> {
    FAMILIES.into_iter().find(|family| family.name == name)
}

/// Runs a family, by the name of the run.
#[pyfunction(name = "run")]
pub fn run_family<'py>(
    family: &str,
    device: &Bound<'py, PyDevice>,
    input: &Dict<'py>,
    options: &Dict<'py>,
    watch: Option<&Bound<'py, PyAny>>,
) -> PyResult<Dict<'py>> {
    let mut runs = FAMILIES.iter().flat_map(|family| family.runs);
    let Some((_, run)) = runs.find(|(name, _)| *name == family) else {
        return Err(PyValueError::new_err(format!(
            "{family:?} is no family: use the package's functions"
        )));
    };
    let call = Call {
        py: input.py(),
        device,
        options,
        watch,
    };
    run(&call, input)
}

/// The names of the families.
#[pyfunction]
pub fn families() -> Vec<&'static str> {
    FAMILIES.iter().map(|family| family.name).collect()
}

/// The options of a family: of each its `name`, `default` (None, False, or as text), the words that it may be as
/// `values`, and its `help`.
#[pyfunction]
pub fn options<'py>(py: Python<'py>, family: &str) -> PyResult<Vec<Dict<'py>>> {
    let found = self::family(family);
    let found = found.ok_or_else(|| PyValueError::new_err(format!("{family:?} has no options")))?;
    let command = (found.options)();
    command.get_arguments().map(|arg| row(py, arg)).collect()
}

/// The options of a step of a chain, without its output.
fn command_of_step(name: &str) -> PyResult<Command> {
    if name == "write" {
        return Ok(bare_command());
    }
    let found = family(name).and_then(|family| Some((family.options, family.step?)));
    let Some((options, add)) = found else {
        let steps = FAMILIES.iter().filter(|family| family.step.is_some());
        let steps: Vec<_> = steps.map(|family| family.name).collect();
        return Err(PyValueError::new_err(format!(
            "{name:?} is no step of a chain: it is {} or -o FILE",
            steps.join(", ")
        )));
    };
    Ok(add(options()))
}

/// The step of a chain that the words of a command line name: its function, and the keyword arguments. `-o FILE` is the
/// argument `output`, and alone the step `write`.
#[pyfunction]
pub fn step<'py>(py: Python<'py>, words: Vec<String>) -> PyResult<(String, Dict<'py>)> {
    let is_write = words.first().is_some_and(|word| word.starts_with('-'));
    let (name, options) = match words.split_first() {
        _ if is_write => ("write", &words[..]),
        Some((name, options)) => (&**name, options),
        None => return Err(PyValueError::new_err("a step of the chain is empty")),
    };
    let output = Arg::new("output")
        .short('o')
        .long("output")
        .required(is_write);
    let command = command_of_step(name)?.arg(output);
    // Groups have ids too.
    let ids = command
        .get_arguments()
        .map(|arg| (arg.get_id().clone(), is_flag(arg)));
    let ids: Vec<(Id, bool)> = ids.collect();
    let matches = command.try_get_matches_from(options);
    let matches = matches.map_err(|error| {
        let text = error.to_string();
        let text = text.split("\n\n").next().unwrap_or_default();
        PyValueError::new_err(format!("{name}: {}", text.trim_start_matches("error: ")))
    })?;
    let arguments = PyDict::new(py);
    for (id, is_flag) in ids {
        if matches.value_source(id.as_str()) != Some(ValueSource::CommandLine) {
            continue;
        }
        let words = matches.get_raw(id.as_str()).into_iter().flatten();
        let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
        match id.as_str() {
            "lock" => arguments.set_item("lock_boundary", true)?,
            name if is_flag => arguments.set_item(keyword(name), true)?,
            name => arguments.set_item(keyword(name), words.join(","))?,
        }
    }
    Ok((name.to_owned(), arguments))
}
