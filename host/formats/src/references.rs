//! Files that a file names: pieces of `.pvtu` and `.pvtp`, binary data of XDMF, buffers of glTF, includes of Abaqus.
//!
//! A mesh file may come from anyone, and the files that it names are read with the rights of the user: their bytes
//! become coordinates and leave with the result. So a name leads below the folder of the file that names it, unless the
//! user asks for [`FollowReferences::Anywhere`]. A symbolic link counts as the file it leads to. Devices, pipes and
//! sockets are never opened: they may have no end. [`Copies`] bounds the memory of data that is named many times.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::path::{Component, Path, PathBuf};

use crate::text::show;

/// Where the files may lie that a mesh file names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum FollowReferences {
    /// Below the folder of the file that names them, also behind symbolic links.
    #[default]
    Below,
    /// Anywhere: also absolute paths, `..`, and links that lead out of the folder.
    Anywhere,
}

/// How to read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct ReadOptions {
    /// Where the files may lie that the input names (.pvtu, .pvtp, .xdmf, .gltf, .inp): below its folder, or anywhere
    #[cfg_attr(
        feature = "clap",
        arg(long, value_enum, value_name = "WHERE", default_value = "below")
    )]
    pub follow_references: FollowReferences,
}

/// The resolver of the names in one file.
#[derive(Clone, Copy)]
pub(crate) struct References<'a> {
    /// The file's folder; `None` for bytes that come from no file.
    folder: Option<&'a Path>,
    follow: FollowReferences,
}

impl<'a> References<'a> {
    /// Those of the file at `path`.
    pub(crate) fn of(path: &'a Path, options: ReadOptions) -> References<'a> {
        References {
            folder: path.parent(),
            follow: options.follow_references,
        }
    }

    /// Those of bytes that come from no file: none can be followed.
    #[cfg(test)]
    pub(crate) fn nowhere() -> References<'static> {
        References {
            folder: None,
            follow: FollowReferences::Below,
        }
    }

    /// The path of the file `name`, or why it is not followed. Whoever opens it says whether it is there.
    pub(crate) fn find(&self, name: &str) -> Result<PathBuf, String> {
        let shown = show(name.as_bytes());
        let Some(folder) = self.folder else {
            return Err(format!("the data is in another file, `{shown}`"));
        };
        let path = folder.join(name);
        if self.follow == FollowReferences::Below && !is_below(folder, name, &path) {
            return Err(format!(
                "the file `{shown}` is not below the folder of the file that names it: move it there, or follow \
                 references anywhere"
            ));
        }
        let is_special = |metadata: std::fs::Metadata| !metadata.is_file() && !metadata.is_dir();
        if path.metadata().is_ok_and(is_special) {
            return Err(format!(
                "`{shown}` is no regular file, but a device, a pipe or a socket: copy its data to a file"
            ));
        }
        Ok(path)
    }
}

/// Whether `path`, the file `name` in `folder`, lies below it: by its name, and where links lead.
fn is_below(folder: &Path, name: &str, path: &Path) -> bool {
    let is_plain = |part| matches!(part, Component::Normal(_) | Component::CurDir);
    if !Path::new(name).components().all(is_plain) {
        return false;
    }
    let folder = match folder == Path::new("") {
        true => Path::new("."),
        false => folder,
    };
    match (folder.canonicalize(), path.canonicalize()) {
        (Ok(folder), Ok(path)) => path.starts_with(folder),
        // It is not there.
        _ => true,
    }
}

/// A file by whatever name: of Unix its device and number.
#[cfg(unix)]
pub(crate) type Identity = (u64, u64);
#[cfg(not(unix))]
pub(crate) type Identity = PathBuf;

/// The identity of the file at `path`, if it is there.
#[cfg(unix)]
pub(crate) fn identity(path: &Path) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt;
    let metadata = path.metadata().ok()?;
    Some((metadata.dev(), metadata.ino()))
}

/// The identity of the file at `path`, if it is there.
#[cfg(not(unix))]
pub(crate) fn identity(path: &Path) -> Option<Identity> {
    path.canonicalize().ok()
}

/// Most that becomes of data that is named again, for each byte of the files.
const MOST_COPIES: usize = 64;

/// Counts what becomes of the data of files, which may name it any number of times: a name takes a few bytes, a copy
/// any number.
pub(crate) struct Copies {
    /// Bytes of the files.
    stored: Cell<usize>,
    /// Files that are counted: one may have several names.
    files: RefCell<HashSet<Identity>>,
    /// Bytes of all parts so far: as long as they are no more than the files have, none need be a copy.
    used: Cell<usize>,
    /// Size of all parts beyond.
    copied: Cell<usize>,
}

impl Copies {
    /// Of a file of `stored` bytes.
    pub(crate) fn new(stored: usize) -> Copies {
        Copies {
            stored: Cell::new(stored),
            files: RefCell::default(),
            used: Cell::new(0),
            copied: Cell::new(0),
        }
    }

    /// Counts the file at `path`, which has `bytes` bytes, once by all its names.
    pub(crate) fn add_file(&self, path: &Path, bytes: usize) {
        let is_new = identity(path).is_some_and(|file| self.files.borrow_mut().insert(file));
        if is_new {
            self.stored.set(self.stored.get().saturating_add(bytes));
        }
    }

    /// Counts a part of `bytes` bytes, which becomes `numbers` vertices, indices and other numbers.
    ///
    /// # Errors
    /// Copies of data become more than [`MOST_COPIES`] numbers for each byte of the files.
    pub(crate) fn count(&self, bytes: usize, numbers: usize) -> Result<(), String> {
        self.used.set(self.used.get().saturating_add(bytes));
        if self.used.get() > self.stored.get() {
            let copied = self.copied.get().saturating_add(bytes.max(numbers));
            self.copied.set(copied);
        }
        match self.copied.get() <= self.stored.get().saturating_mul(MOST_COPIES) {
            true => Ok(()),
            false => Err(format!(
                "the same data is named so often that its copies have more than {MOST_COPIES} numbers for each of the {} bytes \
                 that the files have: write it once",
                self.stored.get()
            )),
        }
    }
}
