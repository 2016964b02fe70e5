//! Files without a name, which Linux deletes when the process ends for any reason.

use std::fs::{File, Permissions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, OFlags, linkat};

use super::folder_of;

/// A file in `folder` without a name. `None` if the file system does not support it, or the system does not allow
/// naming it later.
pub(super) fn create(folder: &Path, permissions: Option<&Permissions>) -> Option<File> {
    // As for any new file, the umask removes permissions that the user does not grant. The file is never more
    // accessible than the replaced one.
    let mode = permissions.map_or(0o666, |p| p.mode() & 0o777);
    let file = File::options()
        .read(true)
        .write(true)
        .custom_flags(OFlags::TMPFILE.bits() as i32)
        .mode(mode)
        .open(folder)
        .ok()?;
    Path::new(&descriptor(&file)).exists().then_some(file)
}

/// The system's path to an open file of this process.
fn descriptor(file: &File) -> String {
    format!("/proc/self/fd/{}", file.as_raw_fd())
}

/// Gives the file the name `path`, and replaces a file of this name.
pub(super) fn give_name(file: &File, path: &Path) -> io::Result<()> {
    let descriptor = descriptor(file);
    let link = |name: &Path| -> io::Result<()> {
        Ok(linkat(
            CWD,
            &descriptor,
            CWD,
            name,
            AtFlags::SYMLINK_FOLLOW,
        )?)
    };
    match link(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        result => return result,
    }
    // A link cannot replace a file. So the file gets a temporary name and is renamed, which replaces atomically.
    let mut builder = tempfile::Builder::new();
    builder.prefix(".trioxide-");
    let second = builder.make_in(folder_of(path), link)?;
    second
        .into_temp_path()
        .persist(path)
        .map_err(|refused| refused.error)
}
