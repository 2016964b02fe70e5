//! Compressed blocks of VTK's XML files.
//!
//! VTK's compressors are zlib (its default), LZ4 blocks without a frame, and LZMA in the `.xz` container. Of the
//! crates, lz4_flex is the fastest in safe Rust. lzma-rust2 is maintained and has no C; lzma-rs was last released in
//! January 2023.

use std::io::Read;

/// The compression of a file's blocks.
#[derive(Clone, Copy, Debug)]
pub(super) enum Compressor {
    Zlib,
    Lz4,
    Lzma,
}

impl Compressor {
    /// The compressor that a file names; `None` for an empty name.
    pub(super) fn of(name: &str) -> Result<Option<Compressor>, String> {
        Ok(match name {
            "" => None,
            "vtkZLibDataCompressor" => Some(Compressor::Zlib),
            "vtkLZ4DataCompressor" => Some(Compressor::Lz4),
            "vtkLZMADataCompressor" => Some(Compressor::Lzma),
            other => {
                return Err(format!(
                    "the data is compressed by {other}, but vtkZLibDataCompressor, vtkLZ4DataCompressor and \
                     vtkLZMADataCompressor are read: write it by one of these, or uncompressed"
                ));
            }
        })
    }

    /// Approximate largest ratio of its output to its input.
    pub(super) fn most(self) -> usize {
        match self {
            Compressor::Zlib => 1032,
            Compressor::Lz4 => 256,
            Compressor::Lzma => 8192,
        }
    }

    /// Fills `to` with the decompressed content of `from`.
    pub(super) fn decompress(self, from: &[u8], to: &mut [u8]) -> Result<(), String> {
        let wrong_length = |to: &[u8]| {
            Err(format!(
                "it does not hold {} bytes, as its header says",
                to.len()
            ))
        };
        match self {
            Compressor::Zlib => {
                let mut decoder = flate2::Decompress::new(true);
                let status = decoder
                    .decompress(from, to, flate2::FlushDecompress::Finish)
                    .map_err(|error| error.to_string())?;
                if status != flate2::Status::StreamEnd || decoder.total_out() != to.len() as u64 {
                    return wrong_length(to);
                }
            }
            Compressor::Lz4 => {
                let length = lz4_flex::block::decompress_into(from, to)
                    .map_err(|error| error.to_string())?;
                if length != to.len() {
                    return wrong_length(to);
                }
            }
            Compressor::Lzma => {
                check_dictionary(from)?;
                let mut decoder = lzma_rust2::XzReader::new(from, false);
                decoder.read_exact(to).map_err(|error| error.to_string())?;
                if decoder.read(&mut [0]).map_err(|error| error.to_string())? != 0 {
                    return wrong_length(to);
                }
            }
        }
        Ok(())
    }
}

/// Largest dictionary, in bytes: the one of xz's strongest preset, 9.
const LARGEST_DICTIONARY: u64 = 64 << 20;

/// Refuses a dictionary that takes more memory than any writer of such blocks requests.
fn check_dictionary(xz: &[u8]) -> Result<(), String> {
    // After the stream's header of 12 bytes: the size of the block's header, flags, then two sizes if the flags
    // announce them.
    let header = xz.get(12..).unwrap_or_default();
    let Some(&flags) = header.get(1) else {
        return Err("it ends in its header".to_owned());
    };
    let mut at = 2;
    for bit in [0x40, 0x80] {
        if flags & bit != 0 {
            let length = header[at..].iter().position(|byte| byte & 0x80 == 0);
            at += 1 + length.ok_or("it ends in its header")?;
        }
    }
    match header.get(at..at + 3) {
        // The filter LZMA2, with one byte of properties.
        Some(&[0x21, 1, size @ 0..=39]) => {
            let bytes = (2 | u64::from(size & 1)) << (size / 2 + 11);
            match bytes <= LARGEST_DICTIONARY {
                true => Ok(()),
                false => Err(format!(
                    "its dictionary has {bytes} bytes, more than the {LARGEST_DICTIONARY} of any preset"
                )),
            }
        }
        _ => Err("its filter is not LZMA2, or is not the only one".to_owned()),
    }
}
