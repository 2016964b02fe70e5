//! Errors as Python's exceptions.

use pyo3::exceptions::{
    PyKeyboardInterrupt, PyMemoryError, PyOSError, PyRuntimeError, PyValueError,
};
use pyo3::prelude::*;
use trioxide::Error;

/// The exception of an error: `ValueError` for a mesh or an argument, with element and rule; `MemoryError`; `OSError` for a file;
/// `RuntimeError` for a device.
pub fn exception(error: Error) -> PyErr {
    let text = in_python(&error.to_string());
    match error {
        Error::OutOfMemory { .. } => PyMemoryError::new_err(text),
        Error::File { path, source } => match source.raw_os_error() {
            Some(number) => {
                let reason = source.to_string();
                let of_system = format!(" (os error {number})");
                let reason = reason.strip_suffix(&of_system).unwrap_or(&reason);
                PyOSError::new_err((number, reason.to_owned(), path))
            }
            None => PyOSError::new_err(text),
        },
        Error::Interrupted => PyKeyboardInterrupt::new_err(text),
        Error::NoDevice(_) | Error::Device { .. } => PyRuntimeError::new_err(text),
        _ => PyValueError::new_err(text),
    }
}

/// A message with options as the package's functions have them: `--device cpu` is `device="cpu"`, `--max-cells` is `max_cells`.
pub fn in_python(message: &str) -> String {
    let message = message.replace("--device cpu", "device=\"cpu\"");
    let mut words = message.split(' ').map(|word| {
        let start = word.find(|c: char| !"(`,".contains(c)).unwrap_or(0);
        match word[start..].strip_prefix("--") {
            Some(option) => format!("{}{}", &word[..start], option.replace('-', "_")),
            None => word.to_owned(),
        }
    });
    let first = words.next().unwrap_or_default();
    words.fold(first, |text, word| text + " " + &word)
}
