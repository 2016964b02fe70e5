//! Files that are replaced as a whole or not at all.

use std::fs::{File, Permissions};
use std::io::{self, IoSlice, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
#[cfg(target_os = "linux")]
use std::sync::Arc;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::NamedTempFile;

use crate::run_files;
use trioxide_mesh::{Error, Result};

/// A file written under another name in the same folder. [`AtomicFile::commit`] gives it its name; dropped before that,
/// it leaves no file.
///
/// A path that is no regular file, as `/dev/null` or a pipe, is written directly. So is a descriptor of this process,
/// as `/dev/stdout`, whatever file it refers to: `/dev/stdout >> log` appends. A symbolic link remains: the file that
/// it points to is replaced, or created. The new file gets the permissions of the replaced file, except the set-user-ID
/// and set-group-ID bits: it may have another owner, and the system also drops these bits when a file is written in
/// place. A file without write permission is refused.
///
/// On Linux the new file has no name before the commit, if the file system supports this: not even a killed process
/// leaves it behind.
///
/// Writes are unbuffered: write large pieces, or wrap the file in a [`std::io::BufWriter`]. If the file lies in memory,
/// all threads write pieces of many megabytes.
#[derive(Debug)]
pub struct AtomicFile {
    path: PathBuf,
    target: Target,
}

#[cfg(target_os = "linux")]
mod ahead;
mod descriptors;
#[cfg(target_os = "linux")]
mod in_memory;
mod out;
mod records;
mod together;
#[cfg(target_os = "linux")]
mod unnamed;

#[cfg(target_os = "linux")]
use ahead::Ahead;
pub use descriptors::is_standard_output;
use descriptors::{descriptor, open_descriptor};
#[cfg(target_os = "linux")]
use in_memory::Window;
pub use out::{Out, Place};
pub use records::Records;

#[derive(Debug)]
enum Target {
    /// A file without a name.
    #[cfg(target_os = "linux")]
    Unnamed {
        file: File,
        /// Whether all threads share the writing of large pieces.
        is_shared_out: bool,
        /// Its pages that are allocated before there is data to write.
        ahead: Option<Ahead>,
        /// The mapped last part of it, which threads fill.
        window: Option<Arc<Window>>,
    },
    /// A file under another name.
    Temporary(NamedTempFile),
    Direct(File),
}

/// Most links in a chain, as in Linux.
const MOST_LINKS: usize = 40;

impl AtomicFile {
    /// Begins to write the file `path`.
    ///
    /// # Errors
    /// [`Error::File`] when the folder does not exist or is not writable, or `path` is a folder or a file without write
    /// permission. [`Error::Argument`] for a file that this [run](crate::run_files) has read.
    pub fn create(path: &Path) -> Result<AtomicFile> {
        check_not_read(path)?;
        if let Some(file) = take_begun(path) {
            return Ok(file);
        }
        AtomicFile::create_at(path, false).map_err(|source| Error::file(path, source))
    }

    /// Begins a file for a later [`AtomicFile::create`], of about `bytes` bytes. If it lies in memory, a thread
    /// allocates its pages meanwhile; pages that are not needed are freed. Elsewhere this call has no effect.
    pub fn begin(path: &Path, bytes: u64) {
        #[cfg(target_os = "linux")]
        {
            let is_no_file = path.metadata().is_ok_and(|metadata| !metadata.is_file());
            // The writer reports errors.
            if is_no_file || descriptor(path).is_some() {
                return;
            }
            let Ok(mut file) = AtomicFile::create_at(path, false) else {
                return;
            };
            if let Target::Unnamed {
                file: unnamed,
                is_shared_out: true,
                ahead,
                ..
            } = &mut file.target
                && let Some(begins) = Ahead::begin(unnamed, bytes)
            {
                *ahead = Some(begins);
                begun().push((path.to_owned(), file));
            }
        }
        #[cfg(not(target_os = "linux"))]
        let _ = (path, bytes);
    }

    /// As [`AtomicFile::create`], for a file that other processes also write, through [`AtomicFile::name_for_others`].
    /// `elsewhere` means that some of them run on other machines with the same folder: then a begun file is not used,
    /// because it has no name there.
    ///
    /// # Errors
    /// As [`AtomicFile::create`], and [`Error::Argument`] for a path that is no regular file.
    pub fn create_shared(path: &Path, elsewhere: bool) -> Result<AtomicFile> {
        check_not_read(path)?;
        let file = match take_begun(path).filter(|_| !elsewhere) {
            Some(file) => file,
            None => AtomicFile::create_at(path, elsewhere)
                .map_err(|source| Error::file(path, source))?,
        };
        match file.target {
            Target::Direct(_) => Err(Error::Argument(format!(
                "{} is no file, and several processes write no other output: name a file",
                path.display()
            ))),
            _ => Ok(file),
        }
    }

    /// Ends the allocation that [`AtomicFile::begin`] has begun. Returns the number of bytes with pages, from the start
    /// of the file.
    pub fn set_aside(&mut self) -> u64 {
        match &mut self.target {
            #[cfg(target_os = "linux")]
            Target::Unnamed {
                ahead: Some(ahead), ..
            } => ahead.end(),
            _ => 0,
        }
    }

    /// A path by which other processes of the same user can open the file for writing before the commit. `None` if it
    /// is no regular file.
    pub fn name_for_others(&self) -> Option<PathBuf> {
        match &self.target {
            Target::Direct(_) => None,
            #[cfg(target_os = "linux")]
            Target::Unnamed { file, .. } => {
                use std::os::fd::AsRawFd;
                let (process, descriptor) = (std::process::id(), file.as_raw_fd());
                Some(format!("/proc/{process}/fd/{descriptor}").into())
            }
            Target::Temporary(file) => Some(file.path().to_owned()),
        }
    }

    fn create_at(path: &Path, needs_name: bool) -> io::Result<AtomicFile> {
        if let Some(file) = open_descriptor(path) {
            let (path, target) = (path.to_owned(), Target::Direct(file?));
            return Ok(AtomicFile { path, target });
        }
        let existing = path.metadata().ok();
        if existing
            .as_ref()
            .is_some_and(|metadata| !metadata.is_file())
        {
            let file = File::options().write(true).open(path)?;
            let (path, target) = (path.to_owned(), Target::Direct(file));
            return Ok(AtomicFile { path, target });
        }
        let path = follow_links(path)?;
        let permissions = existing.map(|metadata| without_set_ids(metadata.permissions()));
        if permissions.as_ref().is_some_and(Permissions::readonly) {
            let reason = "the file is read-only: make it writable, or choose another name";
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, reason));
        }
        let folder = folder_of(&path);
        if !folder.is_dir() {
            let reason = format!("there is no folder {}", folder.display());
            return Err(io::Error::new(io::ErrorKind::NotFound, reason));
        }
        #[cfg(target_os = "linux")]
        if !needs_name && let Some(file) = unnamed::create(folder, permissions.as_ref()) {
            if let Some(permissions) = permissions {
                file.set_permissions(permissions)?;
            }
            let target = Target::Unnamed {
                is_shared_out: in_memory::is_worth_threads(&file),
                file,
                ahead: None,
                window: None,
            };
            return Ok(AtomicFile { path, target });
        }
        #[cfg(not(target_os = "linux"))]
        let _ = needs_name;
        let mut builder = tempfile::Builder::new();
        builder.prefix(".trioxide-");
        // As for any new file, the umask removes permissions that the user does not grant. The file is never more
        // accessible than the replaced one.
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = permissions.as_ref().map_or(0o666, |p| p.mode() & 0o777);
            builder.permissions(Permissions::from_mode(mode));
        }
        let file = builder.tempfile_in(folder)?;
        if let Some(permissions) = permissions {
            file.as_file().set_permissions(permissions)?;
        }
        let target = Target::Temporary(file);
        Ok(AtomicFile { path, target })
    }

    /// Gives the file its name.
    ///
    /// # Errors
    /// [`Error::File`] when the system refuses.
    pub fn commit(self) -> Result<()> {
        match self.target {
            Target::Direct(_) => Ok(()),
            #[cfg(target_os = "linux")]
            Target::Unnamed { file, ahead, .. } => ahead
                .map_or(Ok(()), |ahead| ahead.give_back(&file))
                .and_then(|()| unnamed::give_name(&file, &self.path))
                .map_err(|source| Error::file(&self.path, source)),
            Target::Temporary(file) => match file.persist(&self.path) {
                Ok(_) => Ok(()),
                Err(refused) => Err(Error::file(&self.path, refused.error)),
            },
        }
    }

    /// The file `path` with the content that `write` writes, before the commit.
    ///
    /// # Errors
    /// As [`AtomicFile::create`], and [`Error::File`] when `write` fails.
    pub fn written(
        path: &Path,
        write: impl FnOnce(&mut AtomicFile) -> io::Result<()>,
    ) -> Result<AtomicFile> {
        let mut file = AtomicFile::create(path)?;
        write(&mut file).map_err(|source| Error::file(path, source))?;
        Ok(file)
    }
}

/// This process's part of a file that another process has created by [`AtomicFile::create_shared`] and commits.
#[derive(Debug)]
pub struct SharedPart(AtomicFile);

impl SharedPart {
    /// Opens the file by its [name for others](AtomicFile::name_for_others), with `set_aside` bytes
    /// [allocated](AtomicFile::set_aside).
    ///
    /// # Errors
    /// Those of the system.
    pub fn open(name: &Path, set_aside: u64) -> io::Result<SharedPart> {
        Ok(SharedPart(AtomicFile {
            target: SharedPart::target(name, set_aside)?,
            path: name.to_owned(),
        }))
    }

    #[cfg(target_os = "linux")]
    fn target(name: &Path, set_aside: u64) -> io::Result<Target> {
        use std::os::unix::fs::MetadataExt;
        // Mapping a file requires the right to read it.
        let file = File::options().read(true).write(true).open(name);
        let file = file.or_else(|_| File::options().write(true).open(name))?;
        let has_name = file.metadata()?.nlink() > 0;
        Ok(Target::Unnamed {
            is_shared_out: !has_name && in_memory::is_worth_threads(&file),
            file,
            ahead: Some(Ahead::done(set_aside)),
            window: None,
        })
    }

    #[cfg(not(target_os = "linux"))]
    fn target(name: &Path, _set_aside: u64) -> io::Result<Target> {
        File::options().write(true).open(name).map(Target::Direct)
    }

    /// The file. A seek reaches any place.
    pub fn file(&mut self) -> &mut AtomicFile {
        &mut self.0
    }
}

/// Refuses a file that this run has read. Writing to a descriptor replaces no file.
fn check_not_read(path: &Path) -> Result<()> {
    match descriptor(path) {
        Some(_) => Ok(()),
        None => run_files::creates(path),
    }
}

/// The permissions without set-user-ID and set-group-ID.
fn without_set_ids(permissions: Permissions) -> Permissions {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        Permissions::from_mode(permissions.mode() & 0o1777)
    }
    #[cfg(not(unix))]
    permissions
}

/// Begun files, by their paths.
static BEGUN: Mutex<Vec<(PathBuf, AtomicFile)>> = Mutex::new(Vec::new());

fn begun() -> MutexGuard<'static, Vec<(PathBuf, AtomicFile)>> {
    BEGUN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes the begun file at `path`.
fn take_begun(path: &Path) -> Option<AtomicFile> {
    let mut begun = begun();
    let i = begun.iter().position(|(name, _)| name == path)?;
    Some(begun.swap_remove(i).1)
}

/// The folder that the file `path` lies in.
fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

/// The path that the links at `path` lead to. The file may not exist.
fn follow_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        let Ok(target) = path.read_link() else {
            return Ok(path);
        };
        path = match path.parent() {
            Some(folder) => folder.join(target),
            None => target,
        };
    }
    Err(io::Error::other("the link leads to links without end"))
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_vectored(&[IoSlice::new(bytes)])
    }

    fn write_vectored(&mut self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        match &mut self.target {
            Target::Temporary(file) => file.write_vectored(parts),
            #[cfg(target_os = "linux")]
            Target::Unnamed {
                file,
                is_shared_out,
                ahead,
                ..
            } => {
                let written = match is_shared_out {
                    true => in_memory::write(file, ahead.as_mut(), parts),
                    false => None,
                };
                written.map_or_else(|| file.write_vectored(parts), Ok)
            }
            Target::Direct(file) => file.write_vectored(parts),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Out for AtomicFile {
    fn place(&mut self, length: usize) -> Option<Place> {
        match &mut self.target {
            #[cfg(target_os = "linux")]
            Target::Unnamed {
                file,
                is_shared_out,
                ahead,
                window,
            } if *is_shared_out && length > 0 => {
                let place = in_memory::place(file, ahead.as_mut(), window, length);
                // If the system cannot map the window, one thread writes: waiting for others could deadlock.
                *is_shared_out = place.is_some();
                place.map(Place::InMemory)
            }
            _ => {
                let _ = length;
                None
            }
        }
    }

    fn make(&mut self, records: &Records) -> usize {
        match &mut self.target {
            #[cfg(target_os = "linux")]
            Target::Unnamed {
                file,
                is_shared_out: true,
                ahead,
                ..
            } => in_memory::make(file, ahead.as_mut(), records).unwrap_or(0),
            _ => {
                let _ = records;
                0
            }
        }
    }
}

impl Seek for AtomicFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match &mut self.target {
            Target::Temporary(file) => file.seek(to),
            #[cfg(target_os = "linux")]
            Target::Unnamed { file, .. } => file.seek(to),
            Target::Direct(file) => file.seek(to),
        }
    }
}

/// Writes the file `path` by `write`, as a whole or not at all.
///
/// # Errors
/// [`Error::File`] when the file cannot be created or `write` fails.
pub fn write_atomically(
    path: &Path,
    write: impl FnOnce(&mut AtomicFile) -> io::Result<()>,
) -> Result<()> {
    AtomicFile::written(path, write)?.commit()
}

#[cfg(test)]
mod tests;
