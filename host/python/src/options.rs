//! Keyword arguments as the options of operations, which clap knows: names, defaults, limits and refusals have no other
//! place.

use std::error::Error as _;
use std::num::{ParseFloatError, ParseIntError};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgAction, Args, Command};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PySequence, PyString};
use trioxide_operations::error::Names;

type Dict<'py> = Bound<'py, PyDict>;

/// The names of options in Python: `memory_limit`, `method="grid"`.
pub const KEYWORDS: Names = Names {
    option: keyword,
    value: |option, value| format!("{}={value:?}", keyword(option)),
};

pub fn keyword(option: &str) -> String {
    match option {
        // Elements are named by arrays.
        "lock" => "lock_boundary or locked".to_owned(),
        // A word of the language.
        "lambda" => "lambda_".to_owned(),
        option => option.replace('-', "_"),
    }
}

/// The options `T`, as clap has them.
pub fn command<T: Args>() -> Command {
    T::augment_args(bare_command())
}

/// A command without options.
pub fn bare_command() -> Command {
    let command = Command::new("options").no_binary_name(true);
    command.disable_help_flag(true)
}

/// An option: its `name`, `default` (None, False, or as text), the words that it may be as `values`, and its `help`.
pub fn row<'py>(py: Python<'py>, arg: &Arg) -> PyResult<Dict<'py>> {
    let row = PyDict::new(py);
    row.set_item("name", keyword(arg.get_id().as_str()))?;
    let default = arg.get_default_values().first();
    match default.map(|default| default.to_string_lossy()) {
        _ if is_flag(arg) => row.set_item("default", false)?,
        Some(default) => row.set_item("default", default)?,
        None => row.set_item("default", py.None())?,
    }
    let values = arg.get_possible_values();
    let values = values.iter().filter(|_| !is_flag(arg));
    let values: Vec<&str> = values.map(|value| value.get_name()).collect();
    row.set_item("values", values)?;
    let help = arg.get_long_help().or(arg.get_help());
    row.set_item("help", help.map(ToString::to_string))?;
    Ok(row)
}

pub fn is_flag(arg: &Arg) -> bool {
    matches!(arg.get_action(), ArgAction::SetTrue)
}

/// The options `T` from keyword arguments; None is the default.
///
/// # Errors
/// `ValueError` for a value that is not one of the option's, and for options that do not go together; `TypeError` for a
/// value that is no word and no number.
pub fn parse<T: Args>(arguments: &Dict<'_>) -> PyResult<T> {
    let command = command::<T>();
    let mut words = Vec::new();
    for arg in command.get_arguments() {
        let name = keyword(arg.get_id().as_str());
        let value = arguments.get_item(&name)?;
        let Some(value) = value.filter(|value| !value.is_none()) else {
            continue;
        };
        let long = arg.get_long().expect("options have names");
        let may_be_bare = arg
            .get_num_args()
            .is_some_and(|count| count.min_values() == 0);
        if is_flag(arg) || may_be_bare && value.is_instance_of::<PyBool>() {
            words.extend(value.is_truthy()?.then(|| format!("--{long}")));
            continue;
        }
        // A default goes with every other option.
        let (text, default) = (text(&name, &value)?, arg.get_default_values().first());
        if default.is_none_or(|default| *default != *text) {
            words.push(format!("--{long}={text}"));
        }
    }
    let matches = command.try_get_matches_from(words);
    let parsed = matches.and_then(|matches| T::from_arg_matches(&matches));
    parsed.map_err(|error| refused(&error, arguments).unwrap_or_else(|error| error))
}

/// A value as on a command line: a word, a number, or several with commas between them.
fn text(name: &str, value: &Bound<'_, PyAny>) -> PyResult<String> {
    let wrong = || match value.repr() {
        Ok(repr) => PyTypeError::new_err(format!("{name} is {repr}: a word or a number is needed")),
        Err(error) => error,
    };
    if value.is_instance_of::<PyBool>() {
        return Err(wrong());
    }
    if let Ok(word) = value.cast::<PyString>() {
        return Ok(word.to_string_lossy().into_owned());
    }
    if value.is_instance_of::<PyInt>() {
        return Ok(value.str()?.to_string());
    }
    if let Ok(number) = value.cast::<PyFloat>() {
        return Ok(format!("{:?}", number.extract::<f64>()?));
    }
    // Numbers of NumPy.
    if let Ok(whole) = value.call_method0("__index__") {
        return Ok(whole.str()?.to_string());
    }
    if let Ok(number) = value.call_method0("__float__") {
        return Ok(format!("{:?}", number.extract::<f64>()?));
    }
    let parts = value.cast::<PySequence>().map_err(|_| wrong())?;
    let parts = parts.try_iter()?.map(|part| text(name, &part?));
    Ok(parts.collect::<PyResult<Vec<_>>>()?.join(","))
}

/// The option that a part of an error names: `memory_limit` of `--memory-limit <BYTES>`.
fn named(argument: &str) -> Option<String> {
    let argument = argument.trim_start_matches('<').strip_prefix("--")?;
    let end = argument.find([' ', '=']).unwrap_or(argument.len());
    Some(keyword(&argument[..end]))
}

/// The exception for arguments that clap refuses, with the names and values of Python.
fn refused(error: &clap::Error, arguments: &Dict<'_>) -> PyResult<PyErr> {
    let context = |kind| match error.get(kind) {
        Some(ContextValue::String(word)) => vec![&**word],
        Some(ContextValue::Strings(words)) => words.iter().map(|word| &**word).collect(),
        _ => Vec::new(),
    };
    let of = context(ContextKind::InvalidArg);
    let named_in = |words: &[&str]| -> Vec<String> {
        let words = words.iter().flat_map(|word| word.split('|'));
        words.filter_map(named).collect()
    };
    let names = named_in(&of);
    let name = names.first().map_or("an option", |name| name);
    let repr = match arguments.get_item(name)? {
        Some(value) => value.repr()?.to_string(),
        None => String::new(),
    };
    let cause = error.source();
    let text = match error.kind() {
        ErrorKind::InvalidValue => {
            let known = context(ContextKind::ValidValue).join(", ");
            format!("{name}={repr} is not known: it is {known}")
        }
        ErrorKind::ArgumentConflict => {
            let prior = named_in(&context(ContextKind::PriorArg));
            format!("{name} cannot be used with {}", prior.join(", "))
        }
        ErrorKind::MissingRequiredArgument => format!("give {}", names.join(" or ")),
        _ if cause.is_some_and(|cause| cause.is::<ParseFloatError>()) => {
            format!("{name} is {repr}: a number is needed")
        }
        _ if cause.is_some_and(|cause| cause.is::<ParseIntError>()) => {
            format!("{name} is {repr}: an integer is needed")
        }
        _ => match cause {
            Some(cause) => format!("{name} is {repr}: {cause}"),
            None => format!("{name} is {repr}, which it cannot be"),
        },
    };
    Ok(PyValueError::new_err(text))
}
