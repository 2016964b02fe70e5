//! Writing of many small records: formatted in parallel, written in order.

use std::io::{self, ErrorKind, IoSlice, Write};
use std::ops::Range;

use trioxide_mesh::{parallel, progress};

/// Records that one task formats at first: some 100 KiB.
const RECORDS: usize = if cfg!(test) { 4 } else { 4096 };
/// Bytes of a batch up to which the next one has twice as many records, where many threads wait for each other behind each batch.
const BATCH: usize = if cfg!(test) { 1 << 10 } else { 16 << 20 };
const MANY_THREADS: usize = if cfg!(test) { 1 } else { 4 };

/// Writes `count` records to `out`; `format` appends record `i` to a buffer. The next batch is formatted while one is
/// written.
pub(crate) fn write_records(
    out: &mut (dyn Write + Send),
    count: usize,
    format: impl Fn(&mut Vec<u8>, usize) + Sync,
) -> io::Result<()> {
    write_blocks(out, count, &|buffer, range| {
        range.for_each(|i| format(buffer, i));
    })
}

/// As [`write_records`], with `format` for a range of records.
pub(crate) fn write_blocks(
    out: &mut (dyn Write + Send),
    count: usize,
    format: &(dyn Fn(&mut Vec<u8>, Range<usize>) + Sync),
) -> io::Result<()> {
    // Enough tasks to keep every thread busy, few enough for the buffers of a few threads to stay in the cache.
    let threads = rayon::current_num_threads();
    let tasks = 4 * threads;
    let format_batch = |buffers: &mut Vec<Vec<u8>>, batch: &Range<usize>| {
        let records = batch.len().div_ceil(tasks);
        parallel::for_each_mut(buffers, |k, buffer| {
            buffer.clear();
            let begin = batch.end.min(batch.start + k * records);
            format(buffer, begin..batch.end.min(begin + records));
        });
    };
    let counted = progress::count("%", count as u64);
    let (mut ready, mut next) = (vec![Vec::new(); tasks], vec![Vec::new(); tasks]);
    let mut length = tasks * RECORDS;
    let mut batch = 0..count.min(length);
    format_batch(&mut ready, &batch);
    while !batch.is_empty() {
        let bytes: usize = ready.iter().map(Vec::len).sum();
        if bytes < BATCH && threads >= MANY_THREADS {
            length *= 2;
        }
        let behind = batch.end..count.min(batch.end + length);
        let (written, ()) = rayon::join(
            || write_parts(out, &ready),
            || format_batch(&mut next, &behind),
        );
        written?;
        counted.advance(batch.len() as u64);
        batch = behind;
        std::mem::swap(&mut ready, &mut next);
    }
    Ok(())
}

/// Writes `parts`, one behind the other, at once as far as `out` can.
fn write_parts(out: &mut (dyn Write + Send), parts: &[Vec<u8>]) -> io::Result<()> {
    let mut slices: Vec<IoSlice> = parts.iter().map(|part| IoSlice::new(part)).collect();
    let mut rest = &mut slices[..];
    // Without empty ones at its front: a writer may write the first alone.
    IoSlice::advance_slices(&mut rest, 0);
    while !rest.is_empty() {
        match out.write_vectored(rest) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(written) => IoSlice::advance_slices(&mut rest, written),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Appends the shortest text that reads back as `value`.
pub(crate) fn push_f64(buffer: &mut Vec<u8>, value: f64) {
    let mut text = zmij::Buffer::new();
    let text = text.format(value);
    buffer.extend_from_slice(text.strip_suffix(".0").unwrap_or(text).as_bytes());
}

/// Appends the shortest text that reads back as `value` in 32 bits.
pub(crate) fn push_f32(buffer: &mut Vec<u8>, value: f32) {
    let mut text = zmij::Buffer::new();
    let text = text.format(value);
    buffer.extend_from_slice(text.strip_suffix(".0").unwrap_or(text).as_bytes());
}

/// Appends `value`.
pub(crate) fn push_integer(buffer: &mut Vec<u8>, value: impl itoa::Integer) {
    buffer.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_come_in_order() {
        for count in [0, 1, 3, 4, 5, 1000] {
            let mut out = Vec::new();
            write_records(&mut out, count, |buffer, i| {
                push_integer(buffer, i);
                buffer.push(b'\n');
            })
            .unwrap();
            let expected: String = (0..count).map(|i| format!("{i}\n")).collect();
            assert_eq!(out, expected.as_bytes());
        }
    }

    #[test]
    fn numbers_read_back() {
        let text = |value: f64| {
            let mut buffer = Vec::new();
            push_f64(&mut buffer, value);
            String::from_utf8(buffer).unwrap()
        };
        assert_eq!(text(3.0), "3");
        assert_eq!(text(-0.0), "-0");
        assert_eq!(text(0.1 + 0.2), "0.30000000000000004");
        assert_eq!(text(f64::INFINITY), "inf");
        for value in [
            5e-324,
            f64::MAX,
            1e21,
            1.5e-7,
            123456789.125,
            f64::MIN_POSITIVE,
        ] {
            let read: f64 = fast_float2::parse(text(value)).unwrap();
            assert_eq!(read.to_bits(), value.to_bits());
        }
        assert!(
            fast_float2::parse::<f64, _>(text(f64::NAN))
                .unwrap()
                .is_nan()
        );
    }
}
