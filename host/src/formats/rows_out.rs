//! Writing of many small records: formatted in parallel, written in order.

use std::io::{self, Write};

use rayon::prelude::*;

/// Records that one task formats: some 100 KiB.
const RECORDS: usize = if cfg!(test) { 4 } else { 4096 };

/// Writes `count` records to `out`; `format` appends record `i` to a buffer.
pub(crate) fn write_records(
    out: &mut impl Write,
    count: usize,
    format: impl Fn(&mut Vec<u8>, usize) + Sync,
) -> io::Result<()> {
    // Enough tasks to keep every thread busy, few enough for their buffers to stay in the cache.
    let batch = RECORDS * 4 * rayon::current_num_threads();
    let mut buffers = vec![Vec::new(); batch / RECORDS];
    for first in (0..count).step_by(batch) {
        buffers.par_iter_mut().enumerate().for_each(|(k, buffer)| {
            buffer.clear();
            let begin = first + k * RECORDS;
            for i in begin..count.min(begin + RECORDS) {
                format(buffer, i);
            }
        });
        for buffer in &buffers {
            out.write_all(buffer)?;
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
