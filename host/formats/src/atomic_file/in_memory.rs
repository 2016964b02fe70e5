//! Files in memory, as in `/dev/shm` and in many a `/tmp`, written by all threads.
//!
//! `write` fills new pages one after the other, in one thread: 1 GB takes it 0.32 to 0.6 s on a machine with 16 cores. There
//! `fallocate`, which does not clear the pages that it sets aside, takes 0.10 s, and to fill them by all threads through a map another
//! 0.10. On disks `write` is quicker: there a mapped page costs the file system more than a written one.

use std::fs::File;
use std::io::{IoSlice, Result, Seek, SeekFrom};

use memmap2::MmapOptions;
use rustix::fs::{FallocateFlags, FsWord, fallocate, fstatfs};

use super::ahead::Ahead;
use crate::maps;
use trioxide_mesh::parallel;

/// Least bytes of a write that all threads share: to wake them takes as long as to write some.
const LEAST: usize = if cfg!(test) { 1 << 14 } else { 4 << 20 };
/// Bytes that are set aside, then filled. To set the next ones aside meanwhile takes longer than one after the other.
const STEP: usize = if cfg!(test) { 1 << 15 } else { 64 << 20 };
/// Bytes from which on all threads unmap what they have filled. Smaller pieces are written beside other work, which the messages between
/// processors that go with it would disturb.
const LARGE: usize = STEP / 2;
/// Bytes that one thread copies at a time.
const PIECE: usize = if cfg!(test) { 1 << 12 } else { 1 << 20 };
/// With two `write` is quicker, with four not; between them it was not measured.
const LEAST_THREADS: usize = if cfg!(test) { 1 } else { 4 };

/// `TMPFS_MAGIC` of Linux.
const TMPFS: FsWord = 0x0102_1994;

/// Whether a file lies in memory, and there are threads that write it.
pub(super) fn is_worth_threads(file: &File) -> bool {
    fstatfs(file).is_ok_and(|system| system.f_type == TMPFS)
        && rayon::current_num_threads() >= LEAST_THREADS
}

/// Writes `parts`, one behind the other, to where a file without a name stands: all of them, or the first of them. The number of bytes;
/// `None` for few, and where the system sets none aside: `write` gives the reason, if there is one.
pub(super) fn write(
    file: &mut File,
    ahead: Option<&mut Ahead>,
    parts: &[IoSlice],
) -> Option<usize> {
    if parts.iter().map(|part| part.len()).sum::<usize>() < LEAST {
        return None;
    }
    let begin = file.stream_position().ok()?;
    let set_aside = ahead.map_or(0, Ahead::end);
    let mut at = begin;
    let mut pieces = parts.iter().flat_map(|part| part.chunks(PIECE));
    loop {
        let (mut step, mut length) = (Vec::new(), 0);
        while length < STEP
            && let Some(piece) = pieces.next()
        {
            step.push(piece);
            length += piece.len();
        }
        let end = at + length as u64;
        if length == 0
            || make_room(file, at, end, end <= set_aside).is_err()
            || fill(file, at, length, &step).is_err()
        {
            break;
        }
        at = end;
    }
    file.seek(SeekFrom::Start(at)).ok()?;
    (at > begin).then(|| (at - begin) as usize)
}

/// Makes a file as long as to `end`, with pages from `at` on, unless they are set aside.
fn make_room(file: &File, at: u64, end: u64, are_set_aside: bool) -> Result<()> {
    if !are_set_aside {
        return Ok(fallocate(file, FallocateFlags::empty(), at, end - at)?);
    }
    match file.metadata()?.len() < end {
        true => file.set_len(end),
        false => Ok(()),
    }
}

/// Copies `pieces` to `length` bytes of a file.
fn fill(file: &File, at: u64, length: usize, pieces: &[&[u8]]) -> Result<()> {
    let mut map = MmapOptions::new();
    map.offset(at).len(length);
    // SAFETY: the file has these bytes, and no name by which another process could shorten it.
    let mut map = unsafe { map.map_mut(file) }?;
    let mut rest = &mut map[..];
    let mut places = Vec::with_capacity(pieces.len());
    for &piece in pieces {
        let place = rest.split_off_mut(..piece.len());
        places.push((place.expect("the pieces are as long together"), piece));
    }
    parallel::for_each_mut(&mut places, |_, (place, piece)| {
        place.copy_from_slice(piece);
        if length >= LARGE {
            // SAFETY: a place in a shared map of a file, which keeps the pages.
            unsafe { maps::unmap(place) };
        }
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::atomic_file::AtomicFile;

    #[test]
    fn files_in_memory_are_those_of_write() {
        // Where there is such a folder.
        let Ok(folder) = tempfile::tempdir_in("/dev/shm") else {
            return;
        };
        let path = folder.path().join("a");
        let all: Vec<u8> = (0..500_000).map(|i| (i % 251) as u8).collect();
        let mut file = AtomicFile::create(&path).unwrap();
        // Writes of all sizes: small ones, one of several steps, parts of which one is empty, and one over what is there.
        file.write_all(&all[..1000]).unwrap();
        file.write_all(&all[1000..300_000]).unwrap();
        file.write_all(&all[300_000..300_007]).unwrap();
        let parts = [300_007..300_007, 300_007..350_000, 350_000..450_000];
        let parts = parts.map(|range| IoSlice::new(&all[range]));
        assert_eq!(file.write_vectored(&parts).unwrap(), 149_993);
        file.seek(SeekFrom::Start(5)).unwrap();
        file.write_all(&all[5..100_000]).unwrap();
        assert_eq!(file.seek(SeekFrom::End(0)).unwrap(), 450_000);
        file.write_all(&all[450_000..]).unwrap();
        file.commit().unwrap();
        assert!(std::fs::read(&path).unwrap() == all);
    }
}
