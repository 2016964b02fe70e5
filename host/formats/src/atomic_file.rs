//! Files that appear whole or not at all.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use trioxide_mesh::{Error, Result};

/// A file that is written under another name in the same folder and takes its own name in [`AtomicFile::commit`]; dropped
/// before that, it leaves nothing behind.
///
/// A path that names something other than a file, as `/dev/null` or a pipe, is written straight. A symbolic link stays
/// one: the file that it points to is replaced.
///
/// Writes go to the system unbuffered: write large pieces, or wrap it in a [`std::io::BufWriter`].
#[derive(Debug)]
pub struct AtomicFile {
    path: PathBuf,
    target: Target,
}

#[derive(Debug)]
enum Target {
    Temporary(NamedTempFile),
    Direct(File),
}

impl AtomicFile {
    /// Starts to write the file `path`.
    ///
    /// # Errors
    /// [`Error::File`] when the folder does not exist or cannot be written to, or `path` is a folder.
    pub fn create(path: &Path) -> Result<AtomicFile> {
        AtomicFile::create_at(path).map_err(|source| Error::file(path, source))
    }

    fn create_at(path: &Path) -> io::Result<AtomicFile> {
        let (path, target) = match path.metadata() {
            Ok(metadata) if !metadata.is_file() => {
                let file = File::options().write(true).open(path)?;
                (path.to_owned(), Target::Direct(file))
            }
            existing => {
                let path = match existing {
                    Ok(_) => path.canonicalize()?,
                    Err(_) => path.to_owned(),
                };
                let folder = match path.parent() {
                    Some(folder) if folder != Path::new("") => folder,
                    _ => Path::new("."),
                };
                if !folder.is_dir() {
                    let reason = format!("there is no folder {}", folder.display());
                    return Err(io::Error::new(io::ErrorKind::NotFound, reason));
                }
                let mut builder = tempfile::Builder::new();
                builder.prefix(".trioxide-");
                // As any new file: the umask takes away what the user does not grant.
                #[cfg(unix)]
                builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
                let file = builder.tempfile_in(folder)?;
                (path, Target::Temporary(file))
            }
        };
        Ok(AtomicFile { path, target })
    }

    /// Gives the file its name.
    ///
    /// # Errors
    /// [`Error::File`] when the system refuses.
    pub fn commit(self) -> Result<()> {
        match self.target {
            Target::Direct(_) => Ok(()),
            Target::Temporary(file) => match file.persist(&self.path) {
                Ok(_) => Ok(()),
                Err(refused) => Err(Error::file(&self.path, refused.error)),
            },
        }
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.target {
            Target::Temporary(file) => file.write(bytes),
            Target::Direct(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for AtomicFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match &mut self.target {
            Target::Temporary(file) => file.seek(to),
            Target::Direct(file) => file.seek(to),
        }
    }
}

/// Writes the file `path` by `write`, whole or not at all.
///
/// # Errors
/// [`Error::File`] when the file cannot be made or `write` fails.
pub fn write_atomically(
    path: &Path,
    write: impl FnOnce(&mut AtomicFile) -> io::Result<()>,
) -> Result<()> {
    let mut file = AtomicFile::create(path)?;
    write(&mut file).map_err(|source| Error::file(path, source))?;
    file.commit()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_write_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.off");
        write_atomically(&path, |file| file.write_all(b"old")).unwrap();
        let failed = write_atomically(&path, |file| {
            file.write_all(b"half")?;
            Err(io::Error::other("full"))
        });
        assert!(failed.unwrap_err().to_string().ends_with("a.off: full"));
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        assert_eq!(folder.path().read_dir().unwrap().count(), 1);
        write_atomically(&path, |file| file.write_all(b"new")).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
    }

    #[cfg(unix)]
    #[test]
    fn devices_and_links_stay_what_they_are() {
        use std::os::unix::fs::FileTypeExt;
        let null = Path::new("/dev/null");
        write_atomically(null, |file| file.write_all(b"gone")).unwrap();
        assert!(null.metadata().unwrap().file_type().is_char_device());

        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        std::fs::write(&file, b"old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write_atomically(&link, |file| file.write_all(b"new")).unwrap();
        assert!(link.is_symlink());
        assert_eq!(std::fs::read(&file).unwrap(), b"new");
        assert!(write_atomically(folder.path(), |_| Ok(())).is_err());
        assert!(AtomicFile::create(&folder.path().join("none/file")).is_err());
    }
}
