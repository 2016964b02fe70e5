//! Errors of a build from a crate to its PTX.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::CompilerSearch;

/// The reason why a kernel crate was not built.
#[derive(Debug)]
#[non_exhaustive]
pub enum CudaBuilderError {
    /// There is no crate (no `Cargo.toml`) at this path.
    CratePathDoesntExist(PathBuf),
    /// No compiler for the device was found; the search lists the missing parts and the commands that install them.
    NoDeviceCompiler(Box<CompilerSearch>),
    /// A step of the build failed.
    BuildFailed {
        /// The command that failed.
        command: String,
        /// Its standard error.
        stderr: String,
    },
    /// The crate has no `extern "ptx-kernel"` function, so its PTX would be empty.
    NoKernels(PathBuf),
    /// Kernels call functions that nothing defines; the driver would refuse the PTX.
    UndefinedFunctions(Vec<String>),
    /// The PTX could not be written to the given path.
    FailedToCopyPtxFile(io::Error),
    /// A file or directory of the build could not be read or written.
    Io {
        /// The action that failed, as "creating /path".
        action: String,
        /// The system's answer.
        source: io::Error,
    },
}

impl CudaBuilderError {
    pub(crate) fn io(verb: &str, path: &Path, source: io::Error) -> Self {
        CudaBuilderError::Io {
            action: format!("{verb} {}", path.display()),
            source,
        }
    }
}

impl fmt::Display for CudaBuilderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CudaBuilderError::CratePathDoesntExist(path) => {
                write!(f, "no crate at {}: there is no Cargo.toml", path.display())
            }
            CudaBuilderError::NoDeviceCompiler(search) => {
                write!(f, "no compiler for the device was found\n{search}")
            }
            CudaBuilderError::BuildFailed { command, stderr } => {
                write!(
                    f,
                    "the device build failed: {command}\n{}",
                    stderr.trim_end()
                )
            }
            CudaBuilderError::NoKernels(archive) => {
                write!(
                    f,
                    "no `extern \"ptx-kernel\"` function in {}",
                    archive.display()
                )
            }
            CudaBuilderError::UndefinedFunctions(names) => write!(
                f,
                "kernels call functions that nothing defines (is it a libm call?): {}",
                names.join(", ")
            ),
            CudaBuilderError::FailedToCopyPtxFile(source) => {
                write!(f, "the PTX file could not be written: {source}")
            }
            CudaBuilderError::Io { action, source } => write!(f, "{action}: {source}"),
        }
    }
}

impl std::error::Error for CudaBuilderError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            CudaBuilderError::FailedToCopyPtxFile(source) | CudaBuilderError::Io { source, .. } => {
                Some(source)
            }
            _ => None,
        }
    }
}
