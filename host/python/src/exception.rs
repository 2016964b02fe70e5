//! Errors as Python's exceptions.

use std::io;
use std::path::PathBuf;

use pyo3::exceptions::{
    PyKeyboardInterrupt, PyMemoryError, PyOSError, PyRuntimeError, PyValueError,
};
use pyo3::prelude::*;
use trioxide::Error;
use trioxide::error::Conversion;
use trioxide::terminal::visible;

/// The exception of an error: `ValueError` for a mesh or an argument, with element and rule; `MemoryError`; `OSError`
/// for a file; `RuntimeError` for a device.
pub fn exception(error: Error) -> PyErr {
    let mut text = visible(&worded(&error)).into_owned();
    if error.is_not_finite() {
        text += ": the mesh's drop_invalid() leaves it out";
    }
    match error {
        Error::OutOfMemory { .. } | Error::NoMemory(_) => PyMemoryError::new_err(text),
        Error::File { path, source } => of_file(path, &source),
        Error::Interrupted => PyKeyboardInterrupt::new_err(text),
        Error::NoDevice(_) | Error::Device { .. } | Error::Launch(_) => {
            PyRuntimeError::new_err(text)
        }
        _ => PyValueError::new_err(text),
    }
}

/// The sentence of an error, with Python's name of a conversion.
fn worded(error: &Error) -> String {
    match error {
        Error::InFile { path, source } => format!("{}: {}", path.display(), worded(source)),
        Error::Unconverted { reason, conversion } => {
            let method = match conversion {
                Conversion::Triangles => "to_triangles",
                Conversion::Tetrahedra => "to_tetrahedra",
                Conversion::Boundary { .. } => "boundary",
            };
            format!("{reason}: use the mesh's {method}()")
        }
        _ => error.to_string(),
    }
}

/// `OSError`, or its class for the reason, with `errno`, `strerror` and `filename` as Python's own have them.
fn of_file(path: PathBuf, source: &io::Error) -> PyErr {
    let path = path.into_os_string();
    let reason = source.to_string();
    let Some(number) = number_of(source) else {
        // An error of a format or a compressor, which is not the system's.
        let error = PyOSError::new_err(format!("{}: {reason}", path.display()));
        let named = Python::attach(|py| error.value(py).setattr("filename", path));
        return named.err().unwrap_or(error);
    };
    let of_system = format!(" (os error {number})");
    let reason = reason.strip_suffix(&of_system).unwrap_or(&reason);
    PyOSError::new_err((number, reason.to_owned(), path))
}

/// The system's number of an error: its own, that of the error that it is made of, or that of its kind.
fn number_of(error: &io::Error) -> Option<i32> {
    if let Some(number) = error.raw_os_error() {
        return Some(number);
    }
    let mut cause = error.get_ref().map(|inner| inner as &dyn std::error::Error);
    while let Some(inner) = cause {
        if let Some(number) = inner.downcast_ref().and_then(io::Error::raw_os_error) {
            return Some(number);
        }
        cause = inner.source();
    }
    // The numbers of errno that are the same on every system.
    match error.kind() {
        io::ErrorKind::NotFound => Some(2),
        io::ErrorKind::PermissionDenied => Some(13),
        io::ErrorKind::AlreadyExists => Some(17),
        io::ErrorKind::NotADirectory => Some(20),
        io::ErrorKind::IsADirectory => Some(21),
        _ => None,
    }
}
