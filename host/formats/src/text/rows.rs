//! Rows of a text file, parsed on all threads.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use super::{Fault, Line, Parsed, lines, parse_chunks, split_at_lines};
use trioxide_mesh::{parallel, progress};

/// The rows of a text file: see [`crate::text`].
pub(crate) struct TextRows<'a> {
    file: &'a [u8],
    /// Ranges of the file, each with the number of its first row.
    pub(super) chunks: Vec<(Range<usize>, usize)>,
    /// Number of rows.
    pub(crate) count: usize,
}

impl<'a> TextRows<'a> {
    /// The rows of `file` from byte `start` on.
    pub(crate) fn new(file: &'a [u8], start: usize) -> TextRows<'a> {
        let ranges = split_at_lines(file, start, false);
        let counted = progress::count("%", ranges.len() as u64);
        let counts = parallel::collect_tasks(ranges.len(), |k| {
            let range = &ranges[k];
            let rows = count_plain(&file[range.clone()])
                .unwrap_or_else(|| data_lines(file, range.clone()).count());
            counted.advance(1);
            rows
        });
        drop(counted);
        let mut count = 0;
        let chunks = ranges
            .into_iter()
            .zip(counts)
            .map(|(range, rows)| {
                count += rows;
                (range, count - rows)
            })
            .collect();
        TextRows {
            file,
            chunks,
            count,
        }
    }

    /// Row `row`, or a fault at the end of the file that names the missing row.
    pub(crate) fn row(&self, row: usize, what: &str) -> Parsed<Line<'a>> {
        if row >= self.count {
            return Err(Fault::new(
                self.file.len(),
                format!("expected {what}, but the file ends"),
            ));
        }
        // The last chunk that begins at or before the row. An empty chunk begins where the next one does.
        let chunk = self.chunks.partition_point(|(_, first)| *first <= row) - 1;
        let (range, first) = self.chunks[chunk].clone();
        let line = data_lines(self.file, range).nth(row - first);
        Ok(line.expect("a chunk has the rows that were counted"))
    }

    /// Checks that `count` rows of `what` follow from row `first` on, before memory is allocated for them.
    pub(crate) fn expect(&self, first: usize, count: usize, what: &str) -> Parsed<Range<usize>> {
        let left = self.count.saturating_sub(first);
        if count > left {
            return Err(Fault::new(
                self.file.len(),
                format!("expected {count} {what}, but the file ends after {left}"),
            ));
        }
        Ok(first..first + count)
    }

    /// Checks that no row remains from `row` on.
    pub(crate) fn expect_end(&self, row: usize, what: &str) -> Parsed<()> {
        if row >= self.count {
            return Ok(());
        }
        let offset = self.row(row, what)?.offset();
        Err(Fault::new(
            offset,
            format!("expected the end of the file after {what}"),
        ))
    }

    /// Parses a range of rows into one `T` per chunk. `parse` gets the row's number within the range.
    pub(crate) fn parse<T: Default + Send>(
        &self,
        rows: Range<usize>,
        parse: impl Fn(&mut T, usize, &mut Line<'a>) -> Parsed<()> + Sync,
    ) -> Parsed<Vec<T>> {
        parse_chunks(self.chunks_of(&rows), |(range, first)| {
            let mut part = T::default();
            let skip = rows.start.saturating_sub(*first);
            let lines = data_lines(self.file, range.clone()).enumerate();
            for (i, mut line) in lines.skip(skip) {
                if first + i >= rows.end {
                    break;
                }
                parse(&mut part, first + i - rows.start, &mut line)?;
            }
            Ok(part)
        })
    }

    /// Parses a range of rows into one value each.
    pub(crate) fn parse_each<T: Send>(
        &self,
        rows: Range<usize>,
        parse: impl Fn(usize, &mut Line<'a>) -> Parsed<T> + Sync,
    ) -> Parsed<Vec<T>> {
        let parts = self.parse(rows, |part: &mut Vec<T>, row, line| {
            part.push(parse(row, line)?);
            Ok(())
        })?;
        Ok(parallel::concat(parts))
    }

    /// Parses a range of rows into one value each, in its final place: joining parts would touch new memory twice.
    /// `None` if `parse` gives no value for a row.
    pub(crate) fn parse_in_place<T: Copy + Send>(
        &self,
        rows: Range<usize>,
        parse: impl Fn(&mut Line<'a>) -> Option<T> + Sync,
    ) -> Option<Vec<T>> {
        let chunks = self.chunks_of(&rows);
        let in_rows = |row: usize| row.clamp(rows.start, rows.end);
        let ends = chunks[1.min(chunks.len())..]
            .iter()
            .map(|(_, first)| *first);
        let ends = ends.chain([rows.end]);
        let lengths: Vec<usize> = chunks
            .iter()
            .zip(ends)
            .map(|((_, first), end)| in_rows(end) - in_rows(*first))
            .collect();
        let mut all = Vec::with_capacity(rows.len());
        let mut rest = &mut all.spare_capacity_mut()[..rows.len()];
        let mut places = Vec::with_capacity(chunks.len());
        for length in lengths {
            let (first, others) = rest.split_at_mut(length);
            places.push(first);
            rest = others;
        }
        let counted = progress::count("%", chunks.len() as u64);
        let is_all = AtomicBool::new(true);
        parallel::for_each_mut(&mut places, |k, places| {
            let (range, first) = &chunks[k];
            let skip = rows.start.saturating_sub(*first);
            let mut lines = data_lines(self.file, range.clone()).skip(skip);
            let is_filled = places.iter_mut().all(|place| {
                let value = lines.next().and_then(|mut line| parse(&mut line));
                value.map(|value| place.write(value)).is_some()
            });
            if !is_filled {
                is_all.store(false, Relaxed);
            }
            counted.advance(1);
        });
        // SAFETY: each place has been written: the chunks' rows cover the range, and all of them have a value.
        is_all.into_inner().then(|| unsafe {
            all.set_len(rows.len());
            all
        })
    }

    /// The chunks that contain these rows.
    fn chunks_of(&self, rows: &Range<usize>) -> &[(Range<usize>, usize)] {
        let from = self
            .chunks
            .partition_point(|(_, first)| *first <= rows.start);
        let to = self.chunks.partition_point(|(_, first)| *first < rows.end);
        let from = from.saturating_sub(1);
        &self.chunks[from..to.max(from)]
    }
}

/// The number of lines of a piece of a file, if each line begins with data: none is blank, a comment, or indented.
pub(super) fn count_plain(piece: &[u8]) -> Option<usize> {
    let is_plain = |byte: u8| byte > b' ' && byte != b'#' && byte != b'\\';
    if !is_plain(*piece.first()?) {
        return None;
    }
    let (mut ends, mut bad) = (0, 0u8);
    // Blocks whose count fits a byte: so the compiler vectorizes the loop.
    let befores = piece.chunks(128);
    let behinds = piece[1..].chunks(128);
    for (before, behind) in befores.zip(behinds) {
        let mut count = 0u8;
        for (&before, &behind) in before.iter().zip(behind) {
            let is_end = u8::from(before == b'\n');
            count += is_end;
            bad |= is_end & !u8::from(is_plain(behind));
        }
        ends += usize::from(count);
    }
    // A line follows each of these ends.
    (bad & 1 == 0).then_some(ends + 1)
}

pub(super) fn data_lines(file: &[u8], range: Range<usize>) -> impl Iterator<Item = Line<'_>> {
    lines(file, range, false).filter_map(|mut line| (!line.is_finished()).then_some(line))
}
