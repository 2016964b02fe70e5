//! Files in memory, as in `/dev/shm` and often in `/tmp`, written by all threads.
//!
//! `write` fills new pages on one thread: 1 GB takes 0.32 to 0.6 s on a machine with 16 cores. There `fallocate`, which
//! does not clear the pages that it allocates, takes 0.10 s, and filling them with all threads through a map takes
//! another 0.10 s. On disks `write` is quicker: a mapped page costs the file system more than a written one.

use std::fs::File;
use std::io::{IoSlice, Result, Seek, SeekFrom};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use memmap2::{MmapOptions, MmapRaw};
use rustix::fs::{FallocateFlags, FsWord, fallocate, fstatfs};

use super::ahead::Ahead;
use super::records::Records;
use crate::maps;
use trioxide_mesh::parallel;

/// Fewest bytes of a write that all threads share: waking them takes as long as writing some megabytes.
const LEAST: usize = if cfg!(test) { 1 << 14 } else { 4 << 20 };
/// Bytes that are allocated, then filled. Overlapping the next allocation with the filling is slower.
const STEP: usize = if cfg!(test) { 1 << 15 } else { 64 << 20 };
/// From this size on, all threads unmap the bytes that they filled. Smaller pieces are written while other work runs,
/// which the inter-processor interrupts of unmapping would disturb.
const LARGE: usize = STEP / 2;
/// Bytes that one thread copies at a time.
const PIECE: usize = if cfg!(test) { 1 << 12 } else { 1 << 20 };
/// With two threads `write` is quicker, with four it is not; three were not measured.
const LEAST_THREADS: usize = if cfg!(test) { 1 } else { 4 };

/// `TMPFS_MAGIC` of Linux.
const TMPFS: FsWord = 0x0102_1994;

/// Whether a file lies in memory and there are enough threads.
pub(super) fn is_worth_threads(file: &File) -> bool {
    fstatfs(file).is_ok_and(|system| system.f_type == TMPFS)
        && rayon::current_num_threads() >= LEAST_THREADS
}

/// Writes consecutive `parts` at the position of a file without a name: all of them, or the first of them. Returns the
/// number of bytes. `None` for few bytes, and if the system cannot allocate: then `write` reports the reason.
pub(super) fn write(
    file: &mut File,
    ahead: Option<&mut Ahead>,
    parts: &[IoSlice],
) -> Option<usize> {
    if parts.iter().map(|part| part.len()).sum::<usize>() < LEAST {
        return None;
    }
    let pieces = parts.iter().flat_map(|part| part.chunks(PIECE));
    let pieces = pieces.map(|piece| (piece.len(), piece));
    let copy = |place: &mut [u8], piece: &&[u8]| place.copy_from_slice(piece);
    let written: usize = write_steps(file, ahead, pieces, copy)?
        .iter()
        .map(|piece| piece.len())
        .sum();
    (written > 0).then_some(written)
}

/// As [`write`], for records that the threads write into the file's pages. Returns the number of records.
pub(super) fn make(file: &mut File, ahead: Option<&mut Ahead>, records: &Records) -> Option<usize> {
    let Records { count, bytes, make } = *records;
    let length = bytes(0..count);
    if length < LEAST {
        return None;
    }
    let grain = count.div_ceil(length.div_ceil(PIECE));
    let pieces = (0..count).step_by(grain).map(|begin| {
        let piece = begin..count.min(begin + grain);
        (bytes(piece.clone()), piece)
    });
    let make = |place: &mut [u8], piece: &Range<usize>| make(place, piece.clone());
    let made = write_steps(file, ahead, pieces, make)?;
    made.last().map(|piece| piece.end)
}

/// Writes consecutive pieces of known sizes at the position of a file without a name; `make` fills their places.
/// Returns the written pieces: all of them, or the first of them.
fn write_steps<P: Send + Sync>(
    file: &mut File,
    ahead: Option<&mut Ahead>,
    mut pieces: impl Iterator<Item = (usize, P)>,
    make: impl Fn(&mut [u8], &P) + Sync,
) -> Option<Vec<P>> {
    let mut written = Vec::new();
    let mut at = file.stream_position().ok()?;
    let set_aside = ahead.map_or(0, Ahead::end);
    loop {
        let (mut step, mut length) = (Vec::new(), 0);
        while length < STEP
            && let Some(piece) = pieces.next()
        {
            length += piece.0;
            step.push(piece);
        }
        let end = at + length as u64;
        if length == 0
            || make_room(file, at, end, end <= set_aside).is_err()
            || fill(file, at, length, &step, &make).is_err()
        {
            break;
        }
        written.extend(step.into_iter().map(|(_, piece)| piece));
        at = end;
    }
    file.seek(SeekFrom::Start(at)).ok()?;
    Some(written)
}

/// Extends a file to `end`, with pages from `at` on, unless they are allocated.
fn make_room(file: &File, at: u64, end: u64, are_set_aside: bool) -> Result<()> {
    // If the pages exist, allocating the last byte moves the end. Setting a length could truncate bytes that another
    // process has written after it.
    let at = if are_set_aside { end - 1 } else { at };
    Ok(fallocate(file, FallocateFlags::empty(), at, end - at)?)
}

/// Writes `pieces` into `length` bytes of a file.
fn fill<P: Send + Sync>(
    file: &File,
    at: u64,
    length: usize,
    pieces: &[(usize, P)],
    make: &(impl Fn(&mut [u8], &P) + Sync),
) -> Result<()> {
    let mut map = MmapOptions::new();
    map.offset(at).len(length);
    // SAFETY: the file has these bytes, and no name by which another process could shorten it.
    let mut map = unsafe { map.map_mut(file) }?;
    let mut rest = &mut map[..];
    let mut places = Vec::with_capacity(pieces.len());
    for (bytes, piece) in pieces {
        let place = rest.split_off_mut(..*bytes);
        places.push((place.expect("the pieces are as long together"), piece));
    }
    parallel::for_each_mut(&mut places, |_, (place, piece)| {
        make(place, piece);
        if length >= LARGE {
            // SAFETY: a place in a shared map of a file, which keeps the pages.
            unsafe { maps::unmap(place) };
        }
    });
    Ok(())
}

/// Bytes mapped at once for blocks that come one by one. Each map costs inter-processor interrupts.
const WINDOW: usize = STEP;

/// A mapped part of a file. It may extend past the end of the file.
#[derive(Debug)]
pub(super) struct Window {
    file: File,
    begin: u64,
    map: MmapRaw,
}

impl Window {
    fn new(file: &File, begin: u64, length: usize) -> Result<Window> {
        Ok(Window {
            file: file.try_clone()?,
            begin,
            map: MmapOptions::new().offset(begin).len(length).map_raw(file)?,
        })
    }

    fn holds(&self, begin: u64, end: u64) -> bool {
        self.begin <= begin && end <= self.begin + self.map.len() as u64
    }
}

/// Bytes of a file, for one thread.
#[derive(Debug)]
pub struct Place {
    window: Arc<Window>,
    at: u64,
    length: usize,
    /// Whether its pages are allocated.
    is_set_aside: bool,
}

/// Advances by the next `length` bytes of a file without a name. `None` if the system cannot map it.
pub(super) fn place(
    file: &mut File,
    ahead: Option<&mut Ahead>,
    window: &mut Option<Arc<Window>>,
    length: usize,
) -> Option<Place> {
    let at = file.stream_position().ok()?;
    let end = at + length as u64;
    let is_set_aside = end <= ahead.map_or(0, Ahead::end);
    if is_set_aside {
        make_room(file, at, end, true).ok()?;
    }
    let held = window.take().filter(|window| window.holds(at, end));
    let window = window.insert(match held {
        Some(window) => window,
        None => Arc::new(Window::new(file, at, length.max(WINDOW)).ok()?),
    });
    file.seek(SeekFrom::Start(end)).ok()?;
    Some(Place {
        window: window.clone(),
        at,
        length,
        is_set_aside,
    })
}

impl Place {
    /// Fills it with `bytes`.
    pub(super) fn fill(&self, bytes: &[u8]) -> Result<()> {
        assert_eq!(bytes.len(), self.length, "as many as it was made for");
        let Window { file, begin, map } = &*self.window;
        // One thread at a time, while the others format. Without pages, writing reports the reason.
        if !self.is_set_aside
            && fallocate(file, FallocateFlags::empty(), self.at, self.length as u64).is_err()
        {
            return file.write_all_at(bytes, self.at);
        }
        let offset = (self.at - begin) as usize;
        // SAFETY: the window holds the place, and no other place shares a byte with it. The file is long enough, and
        // has no name by which another process could shorten it.
        let place =
            unsafe { std::slice::from_raw_parts_mut(map.as_mut_ptr().add(offset), self.length) };
        maps::populate(place);
        place.copy_from_slice(bytes);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::atomic_file::{AtomicFile, Out};

    #[test]
    fn files_in_memory_are_those_of_write() {
        // Only if there is such a folder.
        let Ok(folder) = tempfile::tempdir_in("/dev/shm") else {
            return;
        };
        let path = folder.path().join("a");
        let all: Vec<u8> = (0..500_000).map(|i| (i % 251) as u8).collect();
        let mut file = AtomicFile::create(&path).unwrap();
        // Writes of all sizes: small ones, one of several steps, one of three parts the first of which is empty, and
        // one over existing data.
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

    #[test]
    fn records_made_in_files_in_memory_are_those_of_write() {
        // Only if there is such a folder.
        let Ok(folder) = tempfile::tempdir_in("/dev/shm") else {
            return;
        };
        let path = folder.path().join("a");
        let all: Vec<u8> = (0..200_000).map(|i| (i % 251) as u8).collect();
        // Records of 0, 1, 2, … bytes up to 12, and records of equal size.
        let rising = |i: usize| (i / 13) * 78 + (i % 13) * (i % 13).saturating_sub(1) / 2;
        let even = |i: usize| 13 * i;
        let cases: [(&(dyn Fn(usize) -> usize + Sync), usize); 4] =
            [(&rising, 20_000), (&even, 9_000), (&even, 50), (&even, 0)];
        for (begin_of, count) in cases {
            // Without allocated pages, and with some.
            for bytes in [0, 50_000] {
                AtomicFile::begin(&path, bytes);
                let mut file = AtomicFile::create(&path).unwrap();
                file.write_all(&all[..1000]).unwrap();
                let records = Records {
                    count,
                    bytes: &|range| begin_of(range.end) - begin_of(range.start),
                    make: &|place, range| {
                        let begin = 1000 + begin_of(range.start);
                        place.copy_from_slice(&all[begin..1000 + begin_of(range.end)]);
                    },
                };
                let made = file.make(&records);
                let are_many = begin_of(count) >= LEAST;
                assert_eq!(made, if are_many { count } else { 0 });
                let at = 1000 + begin_of(made);
                file.write_all(&all[at..]).unwrap();
                file.commit().unwrap();
                assert!(std::fs::read(&path).unwrap() == all, "{count} {bytes}");
            }
        }
    }

    #[test]
    fn places_of_a_file_in_memory_are_filled_in_any_order() {
        // Only if there is such a folder.
        let Ok(folder) = tempfile::tempdir_in("/dev/shm") else {
            return;
        };
        let path = folder.path().join("a");
        let all: Vec<u8> = (0..200_000).map(|i| (i % 251) as u8).collect();
        // Without allocated pages, with some, and with more than needed.
        for bytes in [0, 100_000, 1 << 20] {
            AtomicFile::begin(&path, bytes);
            let mut file = AtomicFile::create(&path).unwrap();
            file.write_all(&all[..1000]).unwrap();
            let parts = [1000..1007, 1007..50_000, 50_000..190_000];
            let mut places = parts.map(|range| {
                let place = file.place(range.len()).expect("a place in memory");
                (place, &all[range])
            });
            places.reverse();
            for (place, bytes) in places {
                place.fill(bytes).unwrap();
            }
            file.write_all(&all[190_000..]).unwrap();
            file.commit().unwrap();
            assert!(std::fs::read(&path).unwrap() == all, "{bytes}");
        }
    }
}
