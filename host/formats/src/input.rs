//! The bytes of input files: regular files are mapped, all others read once.

use std::fs::File;
use std::io::Read;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use memmap2::Mmap;

use crate::maps;
use trioxide_mesh::{Error, Result};

/// The bytes of a file.
pub(crate) enum Bytes {
    Mapped(Mapped),
    Read(Vec<u8>),
}

/// A mapped file, whose pages all threads take out of the map before one of them drops it.
pub(crate) struct Mapped(Mmap);

impl Drop for Mapped {
    fn drop(&mut self) {
        maps::unmap_by_all(&self.0);
    }
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Bytes::Mapped(map) => &map.0,
            Bytes::Read(bytes) => bytes,
        }
    }
}

/// Pipes that [`peek_file`] has read, for the reader that comes next: they can be read once.
static PEEKED: Mutex<Vec<(PathBuf, Vec<u8>)>> = Mutex::new(Vec::new());

/// Whether there is something at `path` that is no regular file: a pipe.
pub(crate) fn is_pipe(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
}

/// The file at `path`, for its reader.
pub(crate) fn map_file(path: &Path) -> Result<Bytes> {
    let mut peeked = PEEKED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(i) = peeked.iter().position(|(name, _)| name == path) {
        return Ok(Bytes::Read(peeked.swap_remove(i).1));
    }
    drop(peeked);
    open(path).map_err(|source| Error::file(path, source))
}

/// The file at `path`, before its reader asks for it, for `look`. A pipe's bytes are kept for the reader.
pub(crate) fn peek_file<R>(path: &Path, look: impl FnOnce(&[u8]) -> R) -> Result<R> {
    let bytes = map_file(path)?;
    let found = look(&bytes);
    if let Bytes::Read(bytes) = bytes {
        let mut peeked = PEEKED.lock().unwrap_or_else(PoisonError::into_inner);
        peeked.push((path.to_owned(), bytes));
    }
    Ok(found)
}

fn open(path: &Path) -> std::io::Result<Bytes> {
    let mut file = File::open(path)?;
    if file.metadata()?.is_file() {
        // SAFETY: the map is private and read only, and nothing is written through it. If another process shortens the file
        // meanwhile, the system sends SIGBUS to the thread that reads beyond the new end: the command line makes an error of it
        // (host/cli/src/signals.rs), and a program that uses the library and reads such files must do so too.
        let map = unsafe { Mmap::map(&file) }?;
        return Ok(Bytes::Mapped(Mapped(map)));
    }
    // Pipes cannot be mapped.
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(Bytes::Read(bytes))
}
