//! Errors, each with its cause and remedy.

use std::path::{Path, PathBuf};

/// Result of a trioxide operation.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The rule that a vertex breaks whose coordinate is NaN or infinite, in the words of every operation.
pub const NOT_FINITE: &str = "has a coordinate that is not a finite number";

/// A failure: one sentence that names the cause, and the remedy where there is one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file cannot be opened, read or written.
    #[error("{}: {}", path.display(), with_remedy(source))]
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
        /// Line, from 1. For binary parts the byte offset; then `reason` says so.
        line: usize,
        /// The problem there.
        reason: String,
    },
    /// The extension of a file name belongs to no format with this use.
    #[error("{}: {reason}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// The expected extensions.
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
    /// A mesh has no faces, and the operation needs some.
    #[error("{}", without_faces(*points))]
    NoFaces {
        /// Number of its points.
        points: usize,
    },
    /// A mesh, or a file to write, is of another kind than the mesh at hand, and a conversion leads from one to the
    /// other.
    #[error("{reason}: {}", conversion.in_library())]
    Unconverted {
        /// Both kinds: `cell 0 is a hexahedron, but this operation takes tetrahedra only`.
        reason: String,
        /// The remedy, which each front end names in its words.
        conversion: Conversion,
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
    #[error("{}", out_of_memory(device, *needed, *free))]
    OutOfMemory {
        /// The device.
        device: String,
        /// Bytes needed at once.
        needed: u64,
        /// Bytes free.
        free: u64,
    },
    /// A device's memory does not suffice and the number of missing bytes is unknown: it is for the driver's own use,
    /// or the memory is fragmented.
    #[error("{0}")]
    NoMemory(String),
    /// There is no device to run on.
    #[error("{0}")]
    NoDevice(String),
    /// Another thread ended the computation ([`Interrupt`](crate::progress::Interrupt)).
    #[error("the computation was interrupted")]
    Interrupted,
    /// The device failed.
    #[error("{device}: {reason}")]
    Device {
        /// The device.
        device: String,
        /// The driver's reason.
        reason: String,
    },
    /// A launch of a kernel failed. The source names the kernel, array and index.
    #[cfg(feature = "launch")]
    #[error("{0}")]
    Launch(trioxide_kernel::launch::LaunchError),
}

/// From one kind of mesh to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conversion {
    /// Faces into triangles.
    Triangles,
    /// Cells into tetrahedra.
    Tetrahedra,
    /// Cells to the surface around them.
    Boundary {
        /// Whether the cells are tetrahedra, of which polyhedra are made.
        of_tetrahedra: bool,
    },
}

impl Conversion {
    fn in_library(self) -> &'static str {
        match self {
            Conversion::Triangles => "divide its faces by `divide::triangles`",
            Conversion::Tetrahedra => "divide its cells by `divide::tetrahedra`",
            Conversion::Boundary { .. } => {
                "read it by `formats::read_volume` and take its `boundary()`"
            }
        }
    }
}

/// The system's reason, and a remedy.
fn with_remedy(source: &std::io::Error) -> String {
    use std::io::ErrorKind;
    let remedy = match source.kind() {
        // An error of trioxide's own has its remedy.
        _ if source.raw_os_error().is_none() => return source.to_string(),
        ErrorKind::NotFound => "check its name and folder",
        ErrorKind::IsADirectory => "name a file, not a folder",
        ErrorKind::NotADirectory => "a part of its path is a file, not a folder",
        ErrorKind::PermissionDenied => "change its permissions, or use another file",
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "make room, or write to another disk",
        ErrorKind::ReadOnlyFilesystem => "write to another folder",
        ErrorKind::InvalidFilename => "choose a shorter name",
        _ => return source.to_string(),
    };
    format!("{source}: {remedy}")
}

/// The sentence of [`Error::OutOfMemory`]. If more bytes are free than needed, a limit of the process is the cause.
fn out_of_memory(device: &str, needed: u64, free: u64) -> String {
    let cause = match free < needed {
        true => format!("{device} has {free} bytes free, but {needed} bytes are needed"),
        false => format!(
            "{device} cannot allocate {needed} bytes, though {free} are free: a limit of this process, such as ulimit -v, or \
             fragmented memory is in the way"
        ),
    };
    format!("{cause}: use a smaller mesh or another device")
}

/// The sentence of [`Error::NoFaces`].
fn without_faces(points: usize) -> String {
    match points {
        0 => "the mesh has no points and no triangles: give one that has some".to_owned(),
        _ => format!("the mesh has {points} points and no triangles: triangulate them first"),
    }
}

impl Error {
    /// The error of a vertex with a coordinate that is NaN or infinite.
    pub fn not_finite(vertex: usize) -> Error {
        Error::Invalid {
            element: format!("vertex {vertex}"),
            rule: NOT_FINITE.to_owned(),
        }
    }

    /// Whether a vertex has a coordinate that is NaN or infinite, also as another process words it.
    pub fn is_not_finite(&self) -> bool {
        self.to_string().contains(NOT_FINITE)
    }

    /// Whether the memory of a device does not suffice: another device may have more.
    pub fn is_out_of_memory(&self) -> bool {
        matches!(self, Error::OutOfMemory { .. } | Error::NoMemory(_))
    }

    /// This error, with the file that the mesh came from.
    pub fn in_file(self, path: &Path) -> Error {
        match self {
            Error::Invalid { .. } | Error::NoFaces { .. } | Error::Unconverted { .. } => {
                Error::InFile {
                    path: path.to_owned(),
                    source: Box::new(self),
                }
            }
            other => other,
        }
    }

    /// The error of an element, from the sentence that begins with it.
    pub fn of_element(element: String, sentence: &str) -> Error {
        let rule = sentence.strip_prefix(&element).unwrap_or(sentence);
        Error::Invalid {
            rule: rule.trim_start().to_owned(),
            element,
        }
    }

    /// An error of the format of `path`: its extension, or a mesh that it cannot hold.
    pub fn format(path: &Path, reason: impl Into<String>) -> Error {
        Error::Format {
            path: path.to_owned(),
            reason: reason.into(),
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

/// Start of a launch's reason when the device has no memory left: the driver's name of the error.
pub const OUT_OF_MEMORY: &str = "CUDA_ERROR_OUT_OF_MEMORY";

#[cfg(feature = "launch")]
impl From<trioxide_kernel::launch::LaunchError> for Error {
    fn from(error: trioxide_kernel::launch::LaunchError) -> Self {
        use trioxide_kernel::launch::LaunchError;
        match &error {
            LaunchError::Device { reason, .. } if reason.starts_with(OUT_OF_MEMORY) => {
                Error::NoMemory(error.to_string())
            }
            _ => Error::Launch(error),
        }
    }
}

impl From<Error> for String {
    fn from(error: Error) -> String {
        error.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_s_reasons_have_remedies() {
        let missing = std::fs::read("no/such/file").unwrap_err();
        let text = Error::file(Path::new("no/such/file"), missing).to_string();
        assert!(text.ends_with(": check its name and folder"), "{text}");
        let own = std::io::Error::other("the file is read-only: make it writable");
        let text = Error::file(Path::new("a"), own).to_string();
        assert_eq!(text, "a: the file is read-only: make it writable");
    }

    /// `ulimit -v` gave "has 20122591232 bytes free, but 2320176 bytes are needed".
    #[test]
    fn a_limit_of_the_process_is_no_lack_of_memory() {
        let error = |needed, free| {
            let device = "CPU (2 threads)".to_owned();
            Error::OutOfMemory {
                device,
                needed,
                free,
            }
            .to_string()
        };
        assert_eq!(
            error(5, 4),
            "CPU (2 threads) has 4 bytes free, but 5 bytes are needed: use a smaller mesh or another device"
        );
        let limited = error(2_320_176, 20_122_591_232);
        assert!(limited.starts_with(
            "CPU (2 threads) cannot allocate 2320176 bytes, though 20122591232 are free: "
        ));
        assert!(limited.contains("ulimit -v"));
    }
}
