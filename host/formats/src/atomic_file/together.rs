//! Several files that take their names together.

use std::fs::File;
use std::path::{Path, PathBuf};

use tempfile::{NamedTempFile, TempPath};

use super::{AtomicFile, Target, folder_of};
use trioxide_mesh::Result;

impl AtomicFile {
    /// Gives all files their names, or none: if the system refuses one, those before it are what they were.
    ///
    /// Of two processes that write the same files the second waits for the first, so that in the end all are those of
    /// one. The folder of the first file is locked for that, where its file system locks folders (NFS does not).
    ///
    /// # Errors
    /// [`Error::File`](trioxide_mesh::Error::File) when the system refuses.
    pub fn commit_all(files: impl IntoIterator<Item = AtomicFile>) -> Result<()> {
        let has_name = |file: &AtomicFile| !matches!(file.target, Target::Direct(_));
        let files: Vec<AtomicFile> = files.into_iter().filter(has_name).collect();
        let _lock = files.first().and_then(|first| lock(folder_of(&first.path)));
        let mut done: Vec<(PathBuf, Option<TempPath>)> = Vec::new();
        for file in files {
            let path = file.path.clone();
            let old = keep_old(&path);
            if let Err(error) = file.commit() {
                // What cannot be undone stays: the first error is the one to report.
                for (path, old) in done.into_iter().rev() {
                    match old {
                        Some(old) => _ = old.persist(path),
                        None => _ = std::fs::remove_file(path),
                    }
                }
                return Err(error);
            }
            done.push((path, old));
        }
        Ok(())
    }
}

/// A lock of the folder that other processes wait for, until it is dropped; `None` where the system locks no folders.
fn lock(folder: &Path) -> Option<File> {
    let folder = File::open(folder).ok()?;
    folder.lock().ok()?;
    Some(folder)
}

/// A second name of the file at `path`, which goes when dropped; `None` where there is no file.
fn keep_old(path: &Path) -> Option<TempPath> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".trioxide-old-");
    let second = builder.make_in(folder_of(path), |name| std::fs::hard_link(path, name));
    second.ok().map(NamedTempFile::into_temp_path)
}
