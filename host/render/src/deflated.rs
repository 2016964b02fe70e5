//! PNG files, compressed on all threads.

use flate2::{Compress, Compression, FlushCompress};
use rayon::prelude::*;

/// Fewest bytes of rows that one task compresses. Each part is compressed without the preceding ones, which costs a
/// hundredth of the size.
const PART: usize = 1 << 18;
/// Bytes of a pixel.
const PIXEL: usize = 3;

/// Pixels as a PNG file: RGB, 8 bits a channel, row by row. The same bytes for any number of threads.
pub fn write([width, height]: [u32; 2], pixels: &[u8]) -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let data = compressed(pixels, width as usize * PIXEL);
    encoder
        .write_header()
        .and_then(|mut writer| {
            writer.write_chunk(png::chunk::IDAT, &data)?;
            writer.finish()
        })
        .expect("a Vec takes everything, and the header is valid");
    file
}

/// The rows in PNG's form: each with its filter before it, as one zlib stream.
fn compressed(pixels: &[u8], row: usize) -> Vec<u8> {
    let rows = PART.div_ceil(row);
    let count = pixels.len().div_ceil(rows * row);
    let parts: Vec<(Vec<u8>, u32, usize)> = (0..count)
        .into_par_iter()
        .map(|i| {
            let first = i * rows * row;
            let filtered = filter(&pixels[..pixels.len().min(first + rows * row)], first, row);
            let is_last = i + 1 == count;
            let sum = adler(&filtered);
            (deflate(&filtered, is_last), sum, filtered.len())
        })
        .collect();
    // A window of 32 KiB, and the default level.
    let mut stream = vec![0x78, 0x9c];
    let mut sum = 1;
    for (part, of_part, length) in parts {
        stream.extend(part);
        sum = adler_behind(sum, of_part, length);
    }
    stream.extend(sum.to_be_bytes());
    stream
}

/// The rows from byte `first` of `pixels` on, each with the filter that gives the smallest sum of absolute differences
/// (the heuristic of the PNG specification, 12.8).
fn filter(pixels: &[u8], first: usize, row: usize) -> Vec<u8> {
    // Rows with a pixel of zeros before them: the byte to the left of a byte is a pixel before it.
    let padded = |begin: usize, padded: &mut Vec<u8>| {
        padded.resize(PIXEL, 0);
        padded.extend_from_slice(&pixels[begin..begin + row]);
    };
    let (mut current, mut above) = (Vec::new(), vec![0; PIXEL + row]);
    if first > 0 {
        above.clear();
        padded(first - row, &mut above);
    }
    let mut filtered = Vec::with_capacity((pixels.len() - first) / row * (row + 1));
    let mut tried = [(); 5].map(|()| vec![0; row]);
    for begin in (first..pixels.len()).step_by(row) {
        current.clear();
        padded(begin, &mut current);
        let mut best = (u64::MAX, 0);
        for (kind, tried) in tried.iter_mut().enumerate() {
            predict(kind, &current, &above, tried);
            let sizes = tried.iter().map(|&b| u32::from((b as i8).unsigned_abs()));
            best = best.min((u64::from(sizes.sum::<u32>()), kind));
        }
        filtered.push(best.1 as u8);
        filtered.extend_from_slice(&tried[best.1]);
        std::mem::swap(&mut current, &mut above);
    }
    filtered
}

/// The differences between a padded row and the prediction of this filter.
fn predict(kind: usize, current: &[u8], above: &[u8], differences: &mut [u8]) {
    match kind {
        0 => each(current, above, differences, |_, _, _| 0),
        1 => each(current, above, differences, |left, _, _| left),
        2 => each(current, above, differences, |_, above, _| above),
        3 => each(current, above, differences, |left, above, _| {
            ((u16::from(left) + u16::from(above)) / 2) as u8
        }),
        _ => each(current, above, differences, paeth),
    }
}

/// The differences between bytes and `prediction` of the bytes to the left, above, and above to the left.
fn each(
    current: &[u8],
    above: &[u8],
    differences: &mut [u8],
    prediction: impl Fn(u8, u8, u8) -> u8,
) {
    let now = current[PIXEL..].iter().zip(current);
    let before = above[PIXEL..].iter().zip(above);
    for ((difference, (byte, &left)), (&above, &corner)) in
        differences.iter_mut().zip(now).zip(before)
    {
        *difference = byte.wrapping_sub(prediction(left, above, corner));
    }
}

/// The neighbour of three that is nearest to left + above - corner.
fn paeth(left: u8, above: u8, corner: u8) -> u8 {
    let [a, b, c] = [left, above, corner].map(i16::from);
    let [to_left, to_above, to_corner] = [b - c, a - c, a + b - 2 * c].map(i16::abs);
    if to_left <= to_above && to_left <= to_corner {
        left
    } else if to_above <= to_corner {
        above
    } else {
        corner
    }
}

/// A part of a deflate stream that ends at a byte.
fn deflate(bytes: &[u8], is_last: bool) -> Vec<u8> {
    let mut compress = Compress::new(Compression::default(), false);
    let flush = match is_last {
        true => FlushCompress::Finish,
        false => FlushCompress::Sync,
    };
    let mut out = Vec::with_capacity(bytes.len() / 2 + 64);
    loop {
        let read = compress.total_in() as usize;
        compress
            .compress_vec(&bytes[read..], &mut out, flush)
            .expect("compression without a dictionary has no error");
        // Room left in the output means that all output is written.
        if compress.total_in() as usize == bytes.len() && out.len() < out.capacity() {
            return out;
        }
        out.reserve(out.capacity());
    }
}

const MODULUS: u32 = 65_521;

/// The Adler-32 checksum (RFC 1950).
fn adler(bytes: &[u8]) -> u32 {
    let (mut a, mut b) = (1u32, 0u32);
    // As many bytes as 32-bit sums hold.
    for part in bytes.chunks(5552) {
        for &byte in part {
            a += u32::from(byte);
            b += a;
        }
        a %= MODULUS;
        b %= MODULUS;
    }
    b << 16 | a
}

/// The checksum of bytes with checksum `first` followed by `length` bytes with checksum `second`.
fn adler_behind(first: u32, second: u32, length: usize) -> u32 {
    let [a0, b0, a1, b1] =
        [first & 0xffff, first >> 16, second & 0xffff, second >> 16].map(u64::from);
    let modulus = u64::from(MODULUS);
    let a = (a0 + a1 + modulus - 1) % modulus;
    let b = (b0 + b1 + (length as u64 % modulus) * (a0 + modulus - 1)) % modulus;
    (b << 16 | a) as u32
}
