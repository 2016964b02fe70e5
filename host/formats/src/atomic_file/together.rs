//! Several files that are committed together.

use std::fs::File;
use std::path::{Path, PathBuf};

use tempfile::{NamedTempFile, TempPath};

use super::{AtomicFile, Target, folder_of};
use trioxide_mesh::Result;

impl AtomicFile {
    /// Commits all files or none: if the system refuses one, the earlier ones are restored.
    ///
    /// If two processes write the same files, the second waits for the first, so in the end all files come from one of
    /// them. For that the folder of the first file is locked, if its file system can lock folders (NFS cannot).
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
                // An undo that fails is ignored: the first error is the one to report.
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

/// A lock of the folder, which other processes wait for until it is dropped. `None` if the system cannot lock folders.
fn lock(folder: &Path) -> Option<File> {
    let folder = File::open(folder).ok()?;
    folder.lock().ok()?;
    Some(folder)
}

/// A second name of the file at `path`, which is removed when dropped. `None` if there is no file.
fn keep_old(path: &Path) -> Option<TempPath> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".trioxide-old-");
    let second = builder.make_in(folder_of(path), |name| std::fs::hard_link(path, name));
    second.ok().map(NamedTempFile::into_temp_path)
}
