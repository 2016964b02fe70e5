//! Writing of many small records: formatted in parallel, written in order.

use std::io::{self, Write};
use std::ops::Range;

use trioxide_mesh::{parallel, progress};

/// Records that one task formats: some 100 KiB.
const RECORDS: usize = if cfg!(test) { 4 } else { 4096 };

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
    // Enough tasks to keep every thread busy, few enough for their buffers to stay in the cache.
    let tasks = 4 * rayon::current_num_threads();
    let format_batch = |buffers: &mut Vec<Vec<u8>>, first: usize| {
        parallel::for_each_mut(buffers, |k, buffer| {
            buffer.clear();
            let begin = count.min(first + k * RECORDS);
            format(buffer, begin..count.min(begin + RECORDS));
        });
    };
    let counted = progress::count("%", count as u64);
    let (mut ready, mut next) = (vec![Vec::new(); tasks], vec![Vec::new(); tasks]);
    format_batch(&mut ready, 0);
    for first in (0..count).step_by(tasks * RECORDS) {
        let (written, ()) = rayon::join(
            || ready.iter().try_for_each(|buffer| out.write_all(buffer)),
            || format_batch(&mut next, first + tasks * RECORDS),
        );
        written?;
        counted.advance((tasks * RECORDS) as u64);
        std::mem::swap(&mut ready, &mut next);
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
