//! Writing by all threads: into the file's pages in memory.
//!
//! The system lets one thread at a time write to a file. Its pages in memory are open to all, once they have their place on the
//! disk: without it a full disk would be a signal, not an error.

use std::fs::File;
use std::io::{self, Seek, SeekFrom};

use memmap2::MmapOptions;
use rayon::prelude::*;
use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;

/// Fewest threads: a page that is mapped takes twice the time of one that is written.
const THREADS: usize = 8;
/// Fewest bytes: each call asks the system for their place, and for the map.
const BYTES: usize = 1 << 20;

/// Whether it is faster than to write the pieces one after the other.
pub(super) fn pays(pieces: &[Vec<u8>]) -> bool {
    rayon::current_num_threads() >= THREADS && pieces.iter().map(Vec::len).sum::<usize>() >= BYTES
}

/// Writes the pieces at the file's position, one behind the other, and moves it behind them; `false` on file systems that cannot
/// set aside a place.
pub(super) fn append(file: &mut File, pieces: &[Vec<u8>]) -> io::Result<bool> {
    let first = file.stream_position()?;
    let total: usize = pieces.iter().map(Vec::len).sum();
    match fallocate(&*file, FallocateFlags::empty(), first, total as u64) {
        Ok(()) => {}
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => return Ok(false),
        Err(error) => return Err(error.into()),
    }
    // SAFETY: the file has no name yet, so no other process makes it shorter or writes to it.
    let mut map = unsafe { MmapOptions::new().offset(first).len(total).map_mut(&*file) }?;
    let mut rest = &mut map[..];
    let mut places = Vec::with_capacity(pieces.len());
    for piece in pieces {
        let (place, behind) = rest.split_at_mut(piece.len());
        places.push((place, piece));
        rest = behind;
    }
    places
        .into_par_iter()
        .for_each(|(place, piece)| place.copy_from_slice(piece));
    file.seek(SeekFrom::Start(first + total as u64))?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use super::*;

    #[test]
    fn pieces_stand_one_behind_the_other() {
        let mut file = tempfile::tempfile().unwrap();
        let mut expected = b"before".to_vec();
        file.write_all(&expected).unwrap();
        for round in 0..3u8 {
            let pieces: Vec<Vec<u8>> = (0..9u8)
                .map(|k| vec![16 * round + k; 1111 * usize::from(k)])
                .collect();
            assert!(append(&mut file, &pieces).unwrap());
            file.write_all(b"between").unwrap();
            expected.extend(pieces.concat());
            expected.extend(b"between");
        }
        let mut found = Vec::new();
        file.rewind().unwrap();
        file.read_to_end(&mut found).unwrap();
        assert!(found == expected);
    }
}
