//! Files named by a file: pieces of `.pvtu` and `.pvtp`, binary data of XDMF, buffers of glTF, includes of Abaqus.
//!
//! A mesh file may come from anyone, and the files that it names are read with the rights of the user: their bytes
//! become coordinates, and the result may be published. So a name must lead below the folder of the file that names it,
//! unless the user chooses [`FollowReferences::Anywhere`]. A symbolic link counts as the file it leads to. Devices,
//! pipes and sockets are never opened: they may be endless. [`Copies`] bounds the memory of data that is named many
//! times.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::path::{Component, Path, PathBuf};

use crate::text::show;
use crate::xyz::Columns;

/// Allowed places of the files that a mesh file names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum FollowReferences {
    /// Below the folder of the file that names them, also behind symbolic links.
    #[default]
    Below,
    /// Anywhere: also absolute paths, `..`, and links that lead out of the folder.
    Anywhere,
}

/// Options of reading.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct ReadOptions {
    /// Where the files may lie that the input names (.pvtu, .pvtp, .xdmf, .gltf, .inp): below its folder, or anywhere
    #[cfg_attr(
        feature = "clap",
        arg(long, value_enum, value_name = "WHERE", default_value = "below")
    )]
    pub follow_references: FollowReferences,
    /// Names of the columns of a text of points, with commas between them: x,y,z; nx,ny,nz for a normal, r,g,b for a
    /// colour, `_` to skip a column; others are fields [default: those in the file, or the likeliest]
    #[cfg_attr(feature = "clap", arg(long, value_name = "NAMES"))]
    pub columns: Option<Columns>,
}

/// Resolves the names in one file.
#[derive(Clone, Copy)]
pub(crate) struct References<'a> {
    /// The file's folder; `None` for bytes that come from no file.
    folder: Option<&'a Path>,
    follow: FollowReferences,
}

impl<'a> References<'a> {
    /// The resolver for the file at `path`.
    pub(crate) fn of(path: &'a Path, options: ReadOptions) -> References<'a> {
        References {
            folder: path.parent(),
            follow: options.follow_references,
        }
    }

    /// The resolver for bytes without a file: it follows no name.
    #[cfg(test)]
    pub(crate) fn nowhere() -> References<'static> {
        References {
            folder: None,
            follow: FollowReferences::Below,
        }
    }

    /// The path of the file `name`, or the reason why it is not followed. The file may be missing: opening it reports
    /// this.
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

/// Whether `path`, the file `name` in `folder`, lies below the folder, both by its name and after resolving links.
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
        // The file does not exist.
        _ => true,
    }
}

/// A file independent of its name: on Unix its device and number.
#[cfg(unix)]
pub(crate) type Identity = (u64, u64);
#[cfg(not(unix))]
pub(crate) type Identity = PathBuf;

/// The identity of the file at `path`, if it exists.
#[cfg(unix)]
pub(crate) fn identity(path: &Path) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt;
    let metadata = path.metadata().ok()?;
    Some((metadata.dev(), metadata.ino()))
}

/// The identity of the file at `path`, if it exists.
#[cfg(not(unix))]
pub(crate) fn identity(path: &Path) -> Option<Identity> {
    path.canonicalize().ok()
}

/// Most numbers from repeated data per byte of the files.
const MOST_COPIES: usize = 64;

/// Counts the numbers made of files' data. A file may name data any number of times: a name takes a few bytes, its copy
/// may take many.
pub(crate) struct Copies {
    /// Bytes of the files.
    stored: Cell<usize>,
    /// Counted files: one may have several names.
    files: RefCell<HashSet<Identity>>,
    /// Bytes of all parts so far. While they do not exceed the bytes of the files, none need be a copy.
    used: Cell<usize>,
    /// Numbers of all later parts.
    copied: Cell<usize>,
}

impl Copies {
    /// For a file of `stored` bytes.
    pub(crate) fn new(stored: usize) -> Copies {
        Copies {
            stored: Cell::new(stored),
            files: RefCell::default(),
            used: Cell::new(0),
            copied: Cell::new(0),
        }
    }

    /// Counts the `bytes` bytes of the file at `path`, once for all its names.
    pub(crate) fn add_file(&self, path: &Path, bytes: usize) {
        let is_new = identity(path).is_some_and(|file| self.files.borrow_mut().insert(file));
        if is_new {
            self.stored.set(self.stored.get().saturating_add(bytes));
        }
    }

    /// Counts a part of `bytes` bytes, which gives `numbers` vertices, indices and other numbers.
    ///
    /// # Errors
    /// When copies of data have more than [`MOST_COPIES`] numbers per byte of the files.
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
