//! The files of a run: no output is also an input, or another output.
//!
//! A program that performs one run, as the command line, names its inputs and outputs here before it reads
//! ([`will_read`], [`will_write`]). From then on each file that a reader opens is compared with the outputs, whether an
//! option, the name of a neighbouring file, a list of pieces or a reference led to it. And no file that was read is
//! replaced ([`AtomicFile`](super::atomic_file::AtomicFile)). A program that names no outputs is not checked: it may
//! read a file and then replace it.
//!
//! Files are compared, not their names: a link and a hard link lead to the same file.

use std::fs::Metadata;
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use trioxide_mesh::{Error, Result};

/// Most links in a chain, as in Linux.
const MOST_LINKS: usize = 40;

/// Device, and number of a file on it.
type Identity = (u64, u64);

/// A file that a run reads or writes.
struct Known {
    /// Its name in errors.
    name: String,
    /// Its path without links, as far as it exists.
    path: PathBuf,
    /// `None` if the file does not exist yet, and on systems without file numbers.
    identity: Option<Identity>,
}

impl Known {
    /// `None` for a path that is no regular file, as a pipe or `/dev/null`: one run may read and write it.
    fn new(name: &str, path: &Path, metadata: Option<Metadata>) -> Option<Known> {
        if metadata.as_ref().is_some_and(|found| !found.is_file()) {
            return None;
        }
        Some(Known {
            name: name.to_owned(),
            path: resolve(path, MOST_LINKS),
            identity: metadata.as_ref().and_then(identity),
        })
    }

    fn at(name: &str, path: &Path) -> Option<Known> {
        Known::new(name, path, path.metadata().ok())
    }

    fn is(&self, other: &Known) -> bool {
        self.path == other.path || (self.identity.is_some() && self.identity == other.identity)
    }

    fn refuse(&self, other: &Known) -> Error {
        Error::Argument(format!(
            "{} and {} are one file, {}: choose another name for one of them",
            self.name,
            other.name,
            other.path.display()
        ))
    }
}

#[cfg(unix)]
fn identity(metadata: &Metadata) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt;
    Some((metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn identity(_metadata: &Metadata) -> Option<Identity> {
    None
}

/// The path without links and dots, also for a file that does not exist yet.
fn resolve(path: &Path, links: usize) -> PathBuf {
    if let Ok(path) = path.canonicalize() {
        return path;
    }
    let Some(folder) = path.parent() else {
        return path.to_owned();
    };
    // A link to a missing file: writing creates that file.
    if let Ok(target) = path.read_link()
        && links > 0
    {
        return resolve(&folder.join(target), links - 1);
    }
    let mut resolved = match folder == Path::new("") {
        true => Path::new(".").canonicalize().unwrap_or_default(),
        false => resolve(folder, links),
    };
    match path.components().next_back() {
        Some(Component::ParentDir) => _ = resolved.pop(),
        Some(last) => resolved.push(last),
        None => {}
    }
    resolved
}

/// The known inputs and outputs of a run.
struct Files {
    read: Vec<Known>,
    written: Vec<Known>,
}

impl Files {
    const NONE: Files = Files {
        read: Vec::new(),
        written: Vec::new(),
    };

    fn will_write(&mut self, file: Known) -> Result<()> {
        let mut others = self.read.iter().chain(&self.written);
        if let Some(other) = others.find(|other| other.is(&file)) {
            return Err(file.refuse(other));
        }
        self.written.push(file);
        Ok(())
    }

    fn will_read(&mut self, file: Known) -> Result<()> {
        if let Some(written) = self.written.iter().find(|written| written.is(&file)) {
            return Err(written.refuse(&file));
        }
        if !self.read.iter().any(|known| known.is(&file)) {
            self.read.push(file);
        }
        Ok(())
    }

    fn creates(&self, file: &Known) -> Result<()> {
        let read = self.read.iter().find(|read| read.is(file));
        read.map_or(Ok(()), |read| Err(file.refuse(read)))
    }
}

static FILES: Mutex<Files> = Mutex::new(Files::NONE);

fn files() -> MutexGuard<'static, Files> {
    FILES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Notes that this run reads the file `path`, which errors call `name`. It need not exist.
///
/// # Errors
/// [`Error::Argument`] if the run writes that file.
pub fn will_read(name: &str, path: &Path) -> Result<()> {
    Known::at(name, path).map_or(Ok(()), |file| files().will_read(file))
}

/// Notes that this run writes the file `path`, which errors call `name`.
///
/// # Errors
/// [`Error::Argument`] if the run reads that file, or already writes it.
pub fn will_write(name: &str, path: &Path) -> Result<()> {
    Known::at(name, path).map_or(Ok(()), |file| files().will_write(file))
}

/// Notes that a reader has opened a file.
///
/// # Errors
/// As [`will_read`].
pub(crate) fn opened(path: &Path, metadata: Metadata) -> Result<()> {
    if files().written.is_empty() {
        return Ok(());
    }
    Known::new("an input", path, Some(metadata)).map_or(Ok(()), |file| files().will_read(file))
}

/// Checks that a run has not read a file that it is about to write.
///
/// # Errors
/// [`Error::Argument`] if it has.
pub(crate) fn creates(path: &Path) -> Result<()> {
    if files().written.is_empty() {
        return Ok(());
    }
    Known::at("an output", path).map_or(Ok(()), |file| files().creates(&file))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(name: &str, path: &Path) -> Known {
        Known::at(name, path).unwrap()
    }

    #[cfg(unix)]
    #[test]
    fn an_output_is_not_an_input_by_any_name() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("in"), b"in").unwrap();
        std::fs::create_dir(at("folder")).unwrap();
        symlink(at("in"), at("link")).unwrap();
        std::fs::hard_link(at("in"), at("hard")).unwrap();
        for name in ["in", "./in", "folder/../in", "link", "hard"] {
            let mut files = Files::NONE;
            files.will_read(known("the input", &at("in"))).unwrap();
            let error = files.will_write(known("--json", &at(name))).unwrap_err();
            let text = error.to_string();
            assert!(
                text.starts_with("--json and the input are one file, "),
                "{text}"
            );
            // In the opposite order, and for an unnamed output.
            let mut files = Files::NONE;
            files.will_write(known("--json", &at(name))).unwrap();
            assert!(files.will_read(known("an input", &at("in"))).is_err());
            let mut files = Files::NONE;
            files.will_read(known("an input", &at("in"))).unwrap();
            assert!(files.creates(&known("an output", &at(name))).is_err());
            files.creates(&known("an output", &at("other"))).unwrap();
        }
        assert!(Known::at("--json", Path::new("/dev/null")).is_none());
        assert!(Known::at("--json", &at("folder")).is_none());
    }

    #[cfg(unix)]
    #[test]
    fn two_outputs_that_are_not_there_yet_are_compared_without_links_and_dots() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::os::unix::fs::symlink("new", at("dangling")).unwrap();
        std::os::unix::fs::symlink("loop", at("loop")).unwrap();
        for name in [
            "new",
            "./new",
            "none/../new",
            "none/./deep/../../new",
            "dangling",
        ] {
            let mut files = Files::NONE;
            files.will_write(known("--map", &at("new"))).unwrap();
            assert!(
                files.will_write(known("--json", &at(name))).is_err(),
                "{name}"
            );
            files.will_write(known("--json", &at("none/new"))).unwrap();
            files.will_write(known("--removed", &at("loop"))).unwrap();
        }
        assert_eq!(
            resolve(Path::new("none"), 1),
            resolve(Path::new("./none"), 1)
        );
        assert!(resolve(Path::new("none/deep"), 1).is_absolute());
    }
}
