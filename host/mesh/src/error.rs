//! What can go wrong, each with its cause and remedy.

use std::path::{Path, PathBuf};

/// Result of a trioxide operation.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A failure: one sentence that names the cause, and the remedy where there is one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file cannot be opened, read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// A file does not follow its format.
    #[error("{}:{line}: {reason}", path.display())]
    Parse {
        /// The file.
        path: PathBuf,
        /// Line, from 1; for binary parts the byte offset, said so in `reason`.
        line: usize,
        /// What is wrong there.
        reason: String,
    },
    /// A file name's extension names no format that does this.
    #[error("{}: {reason}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// What was expected.
        reason: String,
    },
    /// A mesh breaks a rule that the operation needs.
    #[error("{element} {rule}")]
    Invalid {
        /// The offending element: `triangle 17`.
        element: String,
        /// The rule: `has vertex 3 twice`.
        rule: String,
    },
    /// A mesh of a file breaks a rule.
    #[error("{}: {source}", path.display())]
    InFile {
        /// The file.
        path: PathBuf,
        /// The rule.
        source: Box<Error>,
    },
    /// An argument is outside of its range.
    #[error("{0}")]
    Argument(String),
    /// A mesh does not fit the device.
    #[error(
        "{device} has {free} bytes free, but {needed} bytes are needed: use a smaller mesh or another --device"
    )]
    OutOfMemory {
        /// The device.
        device: String,
        /// Bytes needed at once.
        needed: u64,
        /// Bytes free.
        free: u64,
    },
    /// There is no device to run on.
    #[error("{0}")]
    NoDevice(String),
    /// The device failed.
    #[error("{device}: {reason}")]
    Device {
        /// The device.
        device: String,
        /// The driver's reason.
        reason: String,
    },
}

impl Error {
    /// This error, told of the file that the mesh came from.
    pub fn in_file(self, path: &Path) -> Error {
        match self {
            Error::Invalid { .. } => Error::InFile {
                path: path.to_owned(),
                source: Box::new(self),
            },
            other => other,
        }
    }

    /// An error of reading or writing `path`.
    pub fn file(path: &Path, source: std::io::Error) -> Error {
        Error::File {
            path: path.to_owned(),
            source,
        }
    }
}

#[cfg(feature = "launch")]
impl From<trioxide_kernel::launch::LaunchError> for Error {
    fn from(error: trioxide_kernel::launch::LaunchError) -> Self {
        Error::Device {
            device: "launch".to_owned(),
            reason: error.to_string(),
        }
    }
}

impl From<Error> for String {
    fn from(error: Error) -> String {
        error.to_string()
    }
}
