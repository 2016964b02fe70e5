//! The bytes of input files: regular files are mapped, others are read once. Every file that is read is opened here.

use std::cell::RefCell;
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use memmap2::Mmap;

use crate::text::Parsed;
use crate::{maps, run_files};
use trioxide_mesh::{Error, Result};

/// The bytes of a file.
pub(crate) enum Bytes {
    Mapped(Mapped),
    Read(Vec<u8>),
}

/// A mapped file. All threads unmap its pages before one of them drops the map.
pub(crate) struct Mapped {
    map: Mmap,
    file: File,
    path: PathBuf,
}

impl Mapped {
    /// Checks that the file is as long as when it was mapped: missing bytes of its last page read as zeros, without a
    /// signal.
    fn check(&self) -> Result<()> {
        let is_shorter = |now: Metadata| now.len() < self.map.len() as u64;
        match self.file.metadata().is_ok_and(is_shorter) {
            false => Ok(()),
            true => {
                let reason =
                    "the file became shorter while it was read: read it again when it is complete";
                Err(Error::file(&self.path, io::Error::other(reason)))
            }
        }
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        if let Err(error) = self.check() {
            SHORTER.with_borrow_mut(|first| _ = first.get_or_insert(error));
        }
        maps::unmap_by_all(&self.map);
    }
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Bytes::Mapped(mapped) => &mapped.map,
            Bytes::Read(bytes) => bytes,
        }
    }
}

/// Pipes read by [`peek_file`], kept for the next reader: they can be read only once.
static PEEKED: Mutex<Vec<(PathBuf, Vec<u8>)>> = Mutex::new(Vec::new());

/// Whether `path` exists but is no regular file, as a pipe.
pub(crate) fn is_pipe(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
}

/// The file at `path`, for a reader.
pub(crate) fn map_file(path: &Path) -> Result<Bytes> {
    let mut peeked = PEEKED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(i) = peeked.iter().position(|(name, _)| name == path) {
        return Ok(Bytes::Read(peeked.swap_remove(i).1));
    }
    drop(peeked);
    open(path)
}

/// The result of `parse` on the text file at `path`.
pub(crate) fn parse_file<T>(path: &Path, parse: impl FnOnce(&[u8]) -> Parsed<T>) -> Result<T> {
    let file = map_file(path)?;
    parse(&file).map_err(|fault| fault.in_text(path, &file))
}

/// As [`parse_file`]; `None` if there is no file.
pub(crate) fn parse_existing<T>(
    path: &Path,
    parse: impl FnOnce(&[u8]) -> Parsed<T>,
) -> Result<Option<T>> {
    match path.try_exists() {
        Ok(true) => parse_file(path, parse).map(Some),
        Ok(false) => Ok(None),
        Err(source) => Err(Error::file(path, source)),
    }
}

/// The text of the file at `path`.
///
/// # Errors
/// [`Error::File`] when the file cannot be read or is no UTF-8, [`Error::Argument`] when this run
/// [writes](run_files::will_write) it.
pub fn read_text(path: &Path) -> Result<String> {
    let in_file = |source| Error::file(path, source);
    let mut file = File::open(path).map_err(in_file)?;
    run_files::opened(path, file.metadata().map_err(in_file)?)?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(in_file)?;
    text_of(path, bytes)
}

/// The text of a file's bytes, without the byte order mark that some editors write.
fn text_of(path: &Path, mut bytes: Vec<u8>) -> Result<String> {
    if bytes.starts_with(b"\xef\xbb\xbf") {
        bytes.drain(..3);
    }
    let is_utf_16 = bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff");
    String::from_utf8(bytes).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        Error::Parse {
            path: path.to_owned(),
            line: 1 + before.iter().filter(|byte| **byte == b'\n').count(),
            reason: match is_utf_16 {
                true => "the text is UTF-16: save it as UTF-8",
                false => "the text is not UTF-8: save it as UTF-8",
            }
            .to_owned(),
        }
    })
}

/// Passes the file at `path` to `look` before its reader opens it. A pipe's bytes are kept for the reader.
pub(crate) fn peek_file<R>(path: &Path, look: impl FnOnce(&[u8]) -> R) -> Result<R> {
    let bytes = map_file(path)?;
    let found = look(&bytes);
    if let Bytes::Read(bytes) = bytes {
        let mut peeked = PEEKED.lock().unwrap_or_else(PoisonError::into_inner);
        peeked.push((path.to_owned(), bytes));
    }
    Ok(found)
}

fn open(path: &Path) -> Result<Bytes> {
    let in_file = |source| Error::file(path, source);
    let mut file = File::open(path).map_err(in_file)?;
    let metadata = file.metadata().map_err(in_file)?;
    let is_file = metadata.is_file();
    run_files::opened(path, metadata)?;
    if is_file {
        // SAFETY: the map is private and read only, and nothing is written through it. If another process shortens the
        // file meanwhile, the system sends SIGBUS to the thread that reads beyond the new last page: the command line
        // turns it into an error (host/cli/src/signals.rs), and a program that uses the library and reads such files
        // must do so too. Missing bytes of the last page read as zeros: [`complete`] turns this into an error.
        let map = unsafe { Mmap::map(&file) }.map_err(in_file)?;
        let path = path.to_owned();
        return Ok(Bytes::Mapped(Mapped { map, file, path }));
    }
    // Pipes cannot be mapped.
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(in_file)?;
    Ok(Bytes::Read(bytes))
}

thread_local! {
    /// The first error of a mapped file that this thread has dropped since its reader began.
    static SHORTER: RefCell<Option<Error>> = const { RefCell::new(None) };
}

/// The result of a reader, if the files that it mapped kept their length: otherwise neither its result nor its fault is
/// meaningful. The reader must drop its files on this thread.
///
/// # Errors
/// The errors of the reader, and [`Error::File`] for a file that became shorter.
pub(crate) fn complete<T>(read: impl FnOnce() -> Result<T>) -> Result<T> {
    let of_outer_reader = SHORTER.take();
    let result = read();
    let shorter = SHORTER.replace(of_outer_reader);
    shorter.map_or(result, Err)
}

impl Bytes {
    /// Checks that the file is as long as when it was opened, for a reader that keeps it open.
    ///
    /// # Errors
    /// [`Error::File`] for a file that became shorter.
    pub(crate) fn check(&self) -> Result<()> {
        match self {
            Bytes::Mapped(mapped) => mapped.check(),
            Bytes::Read(_) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The missing rest of the last page reads as zeros, without a signal.
    #[test]
    fn a_file_that_shrinks_within_its_last_page_while_it_is_read_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let (path, other) = (folder.path().join("a"), folder.path().join("b"));
        let shorten = |file: &Bytes, length: u64| {
            let shorter = File::options().write(true).open(&path);
            shorter.unwrap().set_len(length).unwrap();
            assert!(file.check().is_err());
            file.iter().filter(|&&byte| byte == 0).count()
        };
        let read = |length: Option<u64>, fails: bool| {
            std::fs::write(&path, [1; 100]).unwrap();
            complete(|| {
                let file = map_file(&path)?;
                drop(map_file(&other)?);
                let zeros = length.map_or(0, |length| shorten(&file, length));
                match fails {
                    true => Err(Error::Argument("what was read".to_owned())),
                    false => Ok(zeros),
                }
            })
        };
        std::fs::write(&other, [1; 100]).unwrap();
        for length in [99, 52] {
            for fails in [false, true] {
                let error = read(Some(length), fails).unwrap_err().to_string();
                let expected = "a: the file became shorter while it was read";
                assert!(error.contains(expected), "{error}");
            }
        }
        assert_eq!(read(None, false).unwrap(), 0);
        let error = read(None, true).unwrap_err().to_string();
        assert!(error.contains("what was read"), "{error}");
    }
}
