//! Compressed arrays of VTK's XML files: all threads compress blocks by zlib, VTK's default.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::ZlibEncoder;

use super::vtu_array::{Array, Numbers};
use trioxide_mesh::parallel;

/// Bytes of a block before compression: large arrays have enough blocks for all threads, and a block is far larger than
/// zlib's window of 32 KiB.
const BLOCK: usize = if cfg!(test) { 100 } else { 256 << 10 };
/// Points or cells that a task formats.
const RECORDS: usize = if cfg!(test) { 7 } else { 16384 };
/// VTK's level.
const LEVEL: u32 = 5;

/// The array in the form of the file: the number of blocks, the bytes of a block, the bytes of the last one if it is
/// shorter, the compressed bytes of each, all as 64-bit integers; then the blocks.
pub(crate) fn compress(array: &Array) -> Vec<Vec<u8>> {
    let parts = parallel::map_pieces(array.records, RECORDS, |records| {
        let mut bytes = Vec::with_capacity(array.size * records.len());
        for i in records {
            let mut numbers = Numbers::binary(&mut bytes, array.size);
            (array.record)(i, &mut numbers);
        }
        bytes
    });
    let bytes = parallel::concat(parts);
    let blocks = parallel::map_pieces(bytes.len(), BLOCK, |range| deflate(&bytes[range]));
    let sizes = [blocks.len(), BLOCK, bytes.len() % BLOCK].into_iter();
    let sizes = sizes.chain(blocks.iter().map(Vec::len));
    let header = sizes.flat_map(|size| (size as u64).to_le_bytes()).collect();
    let mut all = vec![header];
    all.extend(blocks);
    all
}

fn deflate(block: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::new(LEVEL));
    let written = encoder.write_all(block).and_then(|()| encoder.finish());
    written.expect("a Vec takes everything")
}
