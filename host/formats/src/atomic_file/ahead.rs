//! Allocates the pages of files in memory before there is data to write.
//!
//! The system takes half as long to allocate the pages of a file in memory as all threads take to fill them. While a
//! command's input is read and its device starts, cores are idle: a thread then allocates the pages of an output whose
//! size is roughly known. The file's length stays the written length, and excess pages are freed before the commit.

use std::fs::{File, read_to_string};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::{self, JoinHandle};

use rustix::fs::{FallocateFlags, fallocate, fstatvfs};
use trioxide_mesh::memory;

/// Fewest bytes that are worth a thread.
const LEAST: u64 = if cfg!(test) { 1 << 14 } else { 32 << 20 };
/// Bytes allocated at once: the writer waits for them.
const STEP: u64 = if cfg!(test) { 1 << 13 } else { 8 << 20 };
/// Available memory must be this multiple of the bytes: the run's own needs are not known yet.
const SHARE_OF_MEMORY: u64 = 8;
/// The same for the file system, which holds other files.
const SHARE_OF_FILES: u64 = 2;

/// Pages of a file, from its beginning.
#[derive(Debug)]
pub(super) struct Ahead {
    /// `None` after it has ended.
    thread: Option<JoinHandle<u64>>,
    is_over: Arc<AtomicBool>,
    /// Bytes with pages, once the thread has ended.
    bytes: u64,
}

impl Ahead {
    /// Begins to allocate pages of an empty file in memory. `None` for few bytes, and if other uses may need the memory
    /// more.
    pub(super) fn begin(file: &File, bytes: u64) -> Option<Ahead> {
        if bytes < LEAST || !is_room_for(file, bytes) {
            return None;
        }
        let file = file.try_clone().ok()?;
        let is_over = Arc::new(AtomicBool::new(false));
        let is_over_there = is_over.clone();
        let set_aside = move || {
            let mut at = 0;
            while at < bytes && !is_over_there.load(Relaxed) {
                let length = STEP.min(bytes - at);
                // The writer reports an error, if it needs the pages.
                if fallocate(&file, FallocateFlags::KEEP_SIZE, at, length).is_err() {
                    break;
                }
                at += length;
            }
            at
        };
        Some(Ahead {
            thread: Some(thread::Builder::new().spawn(set_aside).ok()?),
            is_over,
            bytes: 0,
        })
    }

    /// For a file whose first `bytes` bytes another process has allocated.
    pub(super) fn done(bytes: u64) -> Ahead {
        Ahead {
            thread: None,
            is_over: Arc::default(),
            bytes,
        }
    }

    /// Ends the thread. Returns the number of bytes with pages.
    pub(super) fn end(&mut self) -> u64 {
        self.is_over.store(true, Relaxed);
        if let Some(thread) = self.thread.take() {
            self.bytes = thread.join().unwrap_or(0);
        }
        self.bytes
    }

    /// Frees the pages that were not written.
    pub(super) fn give_back(mut self, file: &File) -> io::Result<()> {
        self.end();
        // Sets the length to itself: the system frees pages past the end.
        file.set_len(file.metadata()?.len())
    }
}

/// Whether far more than `bytes` of memory is available.
fn is_room_for(file: &File, bytes: u64) -> bool {
    let of_files = fstatvfs(file).map_or(0, |system| system.f_bavail * system.f_frsize);
    of_files / SHARE_OF_FILES >= bytes
        && available().is_some_and(|memory| memory / SHARE_OF_MEMORY >= bytes)
}

/// Bytes of memory that the process may still use, by the machine and by its control groups.
fn available() -> Option<u64> {
    let mut least = memory::available()?;
    let groups = read_to_string("/proc/self/cgroup").unwrap_or_default();
    for group in groups.lines().filter_map(|line| line.strip_prefix("0::/")) {
        for folder in Path::new("/sys/fs/cgroup").join(group).ancestors() {
            let number = |name: &str| -> Option<u64> {
                read_to_string(folder.join(name)).ok()?.trim().parse().ok()
            };
            // "max" is no number.
            if let (Some(most), Some(used)) = (number("memory.max"), number("memory.current")) {
                least = least.min(most.saturating_sub(used));
            }
        }
    }
    Some(least)
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::fs::MetadataExt;

    use crate::atomic_file::AtomicFile;

    #[test]
    fn pages_that_are_not_needed_are_given_back() {
        // Only if there is such a folder.
        let Ok(folder) = tempfile::tempdir_in("/dev/shm") else {
            return;
        };
        let path = folder.path().join("a");
        let all: Vec<u8> = (0..300_000).map(|i| (i % 251) as u8).collect();
        // More bytes than are written, fewer bytes, and a file that is not written.
        for bytes in [1 << 20, 100_000] {
            AtomicFile::begin(&path, bytes);
            assert_eq!(folder.path().read_dir().unwrap().count(), 0);
            let mut file = AtomicFile::create(&path).unwrap();
            file.write_all(&all[..10]).unwrap();
            file.write_all(&all[10..]).unwrap();
            file.commit().unwrap();
            assert!(std::fs::read(&path).unwrap() == all, "{bytes}");
            let blocks = path.metadata().unwrap().blocks();
            assert!(blocks * 512 < 310_000, "{bytes}: {blocks} blocks");
            std::fs::remove_file(&path).unwrap();
        }
        AtomicFile::begin(&path, 1 << 20);
        assert_eq!(folder.path().read_dir().unwrap().count(), 0);
    }

    #[test]
    fn what_is_no_file_is_not_opened_before_it_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let status = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(status.unwrap().success());
        // Opening it would wait for a reader.
        AtomicFile::begin(&pipe, 1 << 20);
        AtomicFile::begin(std::path::Path::new("/dev/stdout"), 1 << 20);
        AtomicFile::begin(&folder.path().join("none/a"), 1 << 20);
    }
}
