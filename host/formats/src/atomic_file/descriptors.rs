//! Paths that name a descriptor of this process.

use std::fs::File;
use std::io;
use std::path::Path;

/// The number of the descriptor that `path` names, as 1 for `/dev/stdout`.
#[cfg(unix)]
pub(super) fn descriptor(path: &Path) -> Option<u32> {
    let path = path.to_str()?;
    match path {
        "/dev/stdin" => return Some(0),
        "/dev/stdout" => return Some(1),
        "/dev/stderr" => return Some(2),
        _ => {}
    }
    let folders = ["/dev/fd/", "/proc/self/fd/"];
    let number = folders
        .iter()
        .find_map(|folder| path.strip_prefix(folder))?;
    number.parse().ok()
}

/// Whether `path` names standard output, as `/dev/stdout`.
pub fn is_standard_output(path: &Path) -> bool {
    descriptor(path) == Some(1)
}

#[cfg(not(unix))]
pub(super) fn descriptor(_path: &Path) -> Option<u32> {
    None
}

/// The file of a descriptor that `path` names. Opening the name would open the file again, at its start.
#[cfg(unix)]
pub(super) fn open_descriptor(path: &Path) -> Option<io::Result<File>> {
    use std::os::fd::AsFd;
    let number = descriptor(path)?;
    Some(match number {
        1 => io::stdout().as_fd().try_clone_to_owned().map(File::from),
        2 => io::stderr().as_fd().try_clone_to_owned().map(File::from),
        _ => File::options().append(true).open(path),
    })
}

#[cfg(not(unix))]
pub(super) fn open_descriptor(_path: &Path) -> Option<io::Result<File>> {
    None
}
