//! Writes many small records: formatted in parallel, written in order.
//!
//! A thread takes the next block of records, formats it and hands it in. The thread that hands in the first missing
//! block assigns places in the file to it and to the waiting blocks after it. If threads may fill places themselves
//! ([`Out::place`]), it fills these while the others go on; otherwise it writes the blocks. So no thread waits for
//! another's block, unless it is far ahead.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, IoSlice};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use trioxide_mesh::parallel;
use trioxide_mesh::progress::{self, Interrupt};

use super::atomic_file::{Out, Records};
use super::numbers_out::{STORE, number};
pub(crate) use super::numbers_out::{push_after_blanks, push_f32, push_f64, push_integer};

/// Records that determine the size of a block.
const FIRST: usize = if cfg!(test) { 4 } else { 512 };
/// Approximate bytes of a block: it stays in a core's cache until it is written.
const BLOCK: usize = if cfg!(test) { 20 } else { 256 << 10 };
/// Waiting blocks allowed per thread.
const WAITING: usize = 4;

/// Writes `count` records to `out`; `format` appends record `i` to a buffer. `format` must not use other threads: a
/// thread that waits for others may take a block, which would wait for the thread's own block.
pub(crate) fn write_records(
    out: &mut dyn Out,
    count: usize,
    format: impl Fn(&mut Vec<u8>, usize) + Sync,
) -> io::Result<()> {
    write_blocks(out, count, &|buffer, range| {
        range.for_each(|i| format(buffer, i));
    })
}

/// As [`write_records`], with `format` for a range of records.
pub(crate) fn write_blocks(
    out: &mut dyn Out,
    count: usize,
    format: &(dyn Fn(&mut Vec<u8>, Range<usize>) + Sync),
) -> io::Result<()> {
    // Without records, a list of the records' ends may be empty.
    if count == 0 {
        return Ok(());
    }
    let counted = progress::count("%", count as u64);
    let first = count.min(FIRST);
    let mut bytes = Vec::new();
    format(&mut bytes, 0..first);
    out.write_all(&bytes)?;
    let records = (BLOCK * first / bytes.len().max(1)).max(1);
    let blocks = (count - first).div_ceil(records);
    if blocks == 0 {
        return Ok(());
    }
    let threads = rayon::current_num_threads().min(blocks);
    let queue = Queue::new(out, WAITING * threads);
    let (next, interrupt) = (AtomicUsize::new(0), progress::watched());
    parallel::for_tasks(threads, |_| {
        let _stops = StopsWhenPanicking(&queue);
        let mut buffer = Vec::new();
        loop {
            if interrupt.as_ref().is_some_and(Interrupt::is_set) {
                // A thread that waits for another's block must be released too.
                queue.stop();
            }
            let block = next.fetch_add(1, Relaxed);
            if block >= blocks || !queue.awaits(block) {
                break;
            }
            let begin = first + block * records;
            let end = count.min(begin + records);
            format(&mut buffer, begin..end);
            buffer = queue.hand_in(block, buffer);
            counted.advance((end - begin) as u64);
        }
    });
    // For a single thread, whose loop does not unwind by itself.
    progress::unwind();
    queue.end()
}

/// Writes records whose places are known. In a file in memory they are written directly into its pages.
pub(crate) fn write_sized(out: &mut dyn Out, records: &Records) -> io::Result<()> {
    let made = match records.count {
        0 => 0,
        _ => out.make(records),
    };
    write_blocks(out, records.count - made, &|buffer, range| {
        let range = made + range.start..made + range.end;
        buffer.resize((records.bytes)(range.clone()), 0);
        (records.make)(buffer, range);
    })
}

/// Writes consecutive `parts`, in as few calls as `out` allows.
pub(crate) fn write_parts(out: &mut dyn Out, parts: &[&[u8]]) -> io::Result<()> {
    let mut slices: Vec<IoSlice> = parts.iter().map(|part| IoSlice::new(part)).collect();
    let mut rest = &mut slices[..];
    // Skips leading empty parts: a writer may write only the first part.
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

/// Blocks on their way to a file.
struct Queue<'a> {
    state: Mutex<State<'a>>,
    /// Signals that the first missing block has arrived, or the end.
    went_on: Condvar,
    /// Most waiting blocks.
    most: usize,
}

struct State<'a> {
    out: &'a mut dyn Out,
    /// Number of the first missing block.
    first: usize,
    /// That block and the blocks after it, as far as they have arrived.
    waiting: VecDeque<Option<Vec<u8>>>,
    /// Empty buffers.
    spare: Vec<Vec<u8>>,
    is_over: bool,
    result: io::Result<()>,
}

impl<'a> Queue<'a> {
    fn new(out: &'a mut dyn Out, most: usize) -> Queue<'a> {
        let state = State {
            out,
            first: 0,
            waiting: VecDeque::new(),
            spare: Vec::new(),
            is_over: false,
            result: Ok(()),
        };
        Queue {
            state: Mutex::new(state),
            went_on: Condvar::new(),
            most,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<'a>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until `block` is not too far ahead. Returns whether it must still be written.
    fn awaits(&self, block: usize) -> bool {
        let is_far = |state: &mut State| !state.is_over && block >= state.first + self.most;
        let state = self.went_on.wait_while(self.lock(), is_far);
        !state.unwrap_or_else(PoisonError::into_inner).is_over
    }

    /// Hands in a block, and writes the blocks whose turn it is. Returns an empty buffer.
    fn hand_in(&self, block: usize, bytes: Vec<u8>) -> Vec<u8> {
        let mut places = Vec::new();
        let mut state = self.lock();
        let State { first, waiting, .. } = &mut *state;
        let at = block - *first;
        if waiting.len() <= at {
            waiting.resize_with(at + 1, || None);
        }
        waiting[at] = Some(bytes);
        while let Some(Some(_)) = state.waiting.front()
            && !state.is_over
        {
            let bytes = state.waiting.pop_front().flatten().unwrap_or_default();
            state.first += 1;
            match state.out.place(bytes.len()) {
                Some(place) => places.push((place, bytes)),
                None => {
                    let written = state.out.write_all(&bytes);
                    state.note(written);
                    state.spare.push(bytes);
                }
            }
        }
        let mut empty = state.spare.pop().unwrap_or_default();
        drop(state);
        if at == 0 {
            self.went_on.notify_all();
        }
        for (place, bytes) in places {
            if let Err(error) = place.fill(&bytes) {
                self.lock().note(Err(error));
                self.went_on.notify_all();
            }
            let other = std::mem::replace(&mut empty, bytes);
            if other.capacity() > 0 {
                self.lock().spare.push(other);
            }
        }
        empty.clear();
        empty
    }

    /// Ends the work of all threads.
    fn stop(&self) {
        self.lock().is_over = true;
        self.went_on.notify_all();
    }

    fn end(self) -> io::Result<()> {
        let state = self.state.into_inner();
        state.unwrap_or_else(PoisonError::into_inner).result
    }
}

impl State<'_> {
    /// An error ends the work; the first one is kept.
    fn note(&mut self, result: io::Result<()>) {
        if result.is_err() && self.result.is_ok() {
            self.result = result;
            self.is_over = true;
        }
    }
}

/// On a panic, releases the threads that wait for this thread's block.
struct StopsWhenPanicking<'q, 'a>(&'q Queue<'a>);

impl Drop for StopsWhenPanicking<'_, '_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stop();
        }
    }
}

/// A buffer of rows with space reserved for many of them: appending a row takes only stores.
pub(crate) struct RowBuffer<'a> {
    text: &'a mut [u8],
    /// Number of bytes written.
    end: usize,
}

/// Rows whose space is reserved at once.
const ROWS: usize = 64;

impl RowBuffer<'_> {
    /// Appends a number and the character after it.
    #[inline]
    pub(crate) fn number(&mut self, value: u32, end: u8) {
        let (text, length) = number(value, end);
        self.text(&text, length);
    }

    /// Appends the first `length` bytes of a text.
    #[inline]
    pub(crate) fn text(&mut self, text: &[u8; STORE], length: usize) {
        self.text[self.end..][..STORE].copy_from_slice(text);
        self.end += length;
    }
}

/// As [`write_records`], for rows of at most `most` bytes.
pub(crate) fn write_rows(
    out: &mut dyn Out,
    count: usize,
    most: usize,
    format: impl Fn(&mut RowBuffer, usize) + Sync,
) -> io::Result<()> {
    write_blocks(out, count, &|buffer, range| {
        for begin in range.clone().step_by(ROWS) {
            let some = begin..range.end.min(begin + ROWS);
            let length = buffer.len();
            buffer.resize(length + some.len() * most + STORE, 0);
            let mut rows = RowBuffer {
                text: buffer,
                end: length,
            };
            some.for_each(|i| format(&mut rows, i));
            let end = rows.end;
            buffer.truncate(end);
        }
    })
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::numbers_out::NUMBER;
    use trioxide_mesh::Error;

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
    fn records_of_known_sizes_come_in_order() {
        for count in [0, 1, 3, 4, 5, 1000] {
            let mut out = Vec::new();
            let records = Records {
                count,
                bytes: &|range| 4 * range.len(),
                make: &|bytes, range| {
                    for (record, i) in bytes.chunks_exact_mut(4).zip(range) {
                        record.copy_from_slice(&(i as u32).to_le_bytes());
                    }
                },
            };
            write_sized(&mut out, &records).unwrap();
            let expected = (0..count as u32).flat_map(u32::to_le_bytes);
            assert_eq!(out, expected.collect::<Vec<u8>>());
        }
    }

    /// Refuses to write more than this number of bytes.
    struct Full(usize);

    impl Write for Full {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 = self
                .0
                .checked_sub(bytes.len())
                .ok_or(ErrorKind::StorageFull)?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Out for Full {}

    #[test]
    fn an_error_an_interrupt_and_a_panic_end_the_work_of_all_threads() {
        for threads in [1, 2, 9] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            pool.build().unwrap().install(|| {
                let row = |buffer: &mut Vec<u8>, i: usize| push_integer(buffer, i);
                for room in [0, 5, 1000] {
                    let error = write_records(&mut Full(room), 1000, row).unwrap_err();
                    assert_eq!(error.kind(), ErrorKind::StorageFull);
                }
                write_records(&mut Full(2890), 1000, row).unwrap();
                let run = || write_records(&mut Vec::new(), 1000, |_, i| assert!(i != 555));
                assert!(std::panic::catch_unwind(run).is_err());
                let interrupt = Interrupt::default();
                let ends = |_: &mut Vec<u8>, i: usize| match i {
                    555 => interrupt.interrupt(),
                    _ => assert!(i < 999),
                };
                let run = || Ok::<_, Error>(write_records(&mut Vec::new(), 1000, ends));
                assert!(matches!(interrupt.watch(run), Err(Error::Interrupted)));
            });
        }
    }

    #[test]
    fn rows_with_room_for_many_are_those_of_the_standard_library() {
        let powers = (0..10).map(|k| 10_u32.pow(k));
        let near = powers.flat_map(|power| [power - 1, power, power + 1]);
        let values: Vec<u32> = near.chain(0..1000).chain([123_000_045, u32::MAX]).collect();
        let mut out = Vec::new();
        write_rows(&mut out, values.len(), NUMBER, |row, i| {
            row.number(values[i], b'\n')
        })
        .unwrap();
        let expected: String = values.iter().map(|value| format!("{value}\n")).collect();
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
