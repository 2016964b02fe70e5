//! Files without a name, which Linux forgets when the process ends, however it ends.

use std::fs::{File, Permissions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, OFlags, linkat};

use super::folder_of;

/// A file in `folder` without a name; `None` where the file system knows none such, or the system does not let one name
/// it later.
pub(super) fn create(folder: &Path, permissions: Option<&Permissions>) -> Option<File> {
    // As any new file: the umask takes away what the user does not grant. Never more open than the file that it
    // replaces.
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

/// The name by which the system lets a process find its open file.
fn descriptor(file: &File) -> String {
    format!("/proc/self/fd/{}", file.as_raw_fd())
}

/// Gives the file the name `path`, in place of a file that has it.
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
    // A link replaces nothing: under a second name the file is renamed, which replaces at once.
    let mut builder = tempfile::Builder::new();
    builder.prefix(".trioxide-");
    let second = builder.make_in(folder_of(path), link)?;
    second
        .into_temp_path()
        .persist(path)
        .map_err(|refused| refused.error)
}
