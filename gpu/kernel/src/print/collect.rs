//! The host's side: the records of a launch, and their lines.

use core::cell::Cell;
use core::fmt;
use core::ptr;
use std::io::Write as _;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use bytemuck::Zeroable;

use super::{Kind, MOST_PRINTS, MOST_VALUES, Record, Text};

/// A line that a kernel printed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Print {
    /// A print.
    Line {
        /// The kernel; empty if the host calls the function that prints.
        kernel: &'static str,
        /// The index of the line.
        index: u32,
        /// File and line of the print, `src/lib.rs:9`.
        place: String,
        /// Its text.
        text: String,
    },
    /// Prints of a launch that are not kept, since it has more than [`MOST_PRINTS`].
    Dropped {
        /// The kernel.
        kernel: &'static str,
        /// Number of these prints.
        count: u64,
    },
}

impl fmt::Display for Print {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line {
                kernel,
                index,
                place,
                text,
            } => match *kernel {
                "" => write!(f, "no kernel: index {index}: {place}: {text}"),
                kernel => write!(f, "kernel {kernel}: index {index}: {place}: {text}"),
            },
            Self::Dropped { kernel, count } => write!(
                f,
                "kernel {kernel}: {count} more lines are missing: a launch prints at most {MOST_PRINTS}"
            ),
        }
    }
}

/// The receiver of a launch's lines.
pub type Sink = Arc<dyn Fn(Vec<Print>) + Send + Sync>;

/// The records of a launch.
#[derive(Default)]
pub struct Collector {
    /// Prints so far, including prints that are not kept.
    count: AtomicU64,
    records: Mutex<Vec<Record>>,
    sink: Option<Sink>,
}

thread_local! {
    /// The launch whose calls the thread makes, and the first call of its range.
    static RUNNING: Cell<(*const Collector, u32)> = const { Cell::new((ptr::null(), 0)) };
}

/// Keeps a print for the launch whose calls the thread makes.
#[cold]
#[inline(never)]
pub(super) fn write(text: &'static Text, values: &[(u32, u64)], index: u32) {
    let (collector, order) = RUNNING.get();
    let mut record = Record {
        is_set: 1,
        index,
        order,
        line: text.line,
        kinds: 0,
        file_bytes: text.file_bytes,
        text_bytes: text.text_bytes,
        values: [0; MOST_VALUES],
        text: text.words,
    };
    for (k, &(kind, bits)) in values.iter().enumerate() {
        record.kinds |= kind << (4 * k);
        record.values[k] = bits;
    }
    // SAFETY: null, or the collector of the launch that this thread runs, which stays borrowed during its calls.
    match unsafe { collector.as_ref() } {
        Some(collector) => collector.keep(record),
        // The host called the function itself.
        None => write_lines(&[line("", &record)]),
    }
}

impl Collector {
    /// Sends the lines to `sink`, not to standard error.
    pub fn send_to(&mut self, sink: Sink) {
        self.sink = Some(sink);
    }

    /// Makes the calls of a range that begins with `first`, and keeps their prints here.
    #[inline(always)]
    pub(crate) fn during(&self, first: u32, calls: impl FnOnce()) {
        /// Restores the previous value, also after a panic: the thread runs other launches later.
        struct Restore((*const Collector, u32));
        impl Drop for Restore {
            fn drop(&mut self) {
                RUNNING.set(self.0);
            }
        }
        let _restore = Restore(RUNNING.replace((self, first)));
        calls();
    }

    fn keep(&self, record: Record) {
        if self.count.fetch_add(1, Relaxed) < MOST_PRINTS as u64 {
            let mut records = self.records.lock().unwrap_or_else(PoisonError::into_inner);
            records.push(record);
        }
    }

    /// Takes the prints of a launch on a device: the `records` that are set, in the order of their places, of `count`
    /// prints in all, if that is known. Records are cleared.
    pub fn take(&self, records: &mut [Record], count: u64) {
        let mut kept = self.records.lock().unwrap_or_else(PoisonError::into_inner);
        for record in records.iter_mut().filter(|record| record.is_set != 0) {
            kept.push(std::mem::replace(record, Record::zeroed()));
        }
        self.count.store(count.max(kept.len() as u64), Relaxed);
    }

    /// Writes the lines of `kernel`, or sends them to the sink.
    pub(crate) fn finish(&mut self, kernel: &'static str) {
        let count = *self.count.get_mut();
        if count == 0 {
            return;
        }
        let records = self
            .records
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        // The sort is stable: lines of one call stay in its order.
        records.sort_by_key(|record| (record.index, record.order));
        let mut lines: Vec<Print> = records.iter().map(|record| line(kernel, record)).collect();
        if count > lines.len() as u64 {
            let count = count - lines.len() as u64;
            lines.push(Print::Dropped { kernel, count });
        }
        records.clear();
        *self.count.get_mut() = 0;
        match &self.sink {
            Some(sink) => sink(lines),
            None => write_lines(&lines),
        }
    }
}

/// Writes lines to standard error; a test harness does not capture them.
fn write_lines(lines: &[Print]) {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    // Nobody reads a standard error that is closed.
    let _ = std::io::stderr().write_all(text.as_bytes());
}

/// The line of a record.
fn line(kernel: &'static str, record: &Record) -> Print {
    let bytes: &[u8] = bytemuck::cast_slice(&record.text);
    let (file, rest) = bytes.split_at(bytes.len().min(record.file_bytes.into()));
    let text = &rest[..rest.len().min(record.text_bytes.into())];
    let (file, text) = (String::from_utf8_lossy(file), String::from_utf8_lossy(text));
    let mut parts = text.split("{}");
    let mut written = parts.next().unwrap_or_default().to_owned();
    for (k, part) in parts.enumerate() {
        let bits = record.values.get(k).copied().unwrap_or_default();
        written += &written_value(record.kinds >> (4 * k as u32).min(28) & 15, bits);
        written += part;
    }
    Print::Line {
        kernel,
        index: record.index,
        place: format!("{file}:{}", record.line),
        text: written,
    }
}

fn written_value(kind: u32, bits: u64) -> String {
    match kind {
        kind if kind == Kind::Signed as u32 => (bits as i64).to_string(),
        kind if kind == Kind::F32 as u32 => format!("{:?}", f32::from_bits(bits as u32)),
        kind if kind == Kind::F64 as u32 => format!("{:?}", f64::from_bits(bits)),
        kind if kind == Kind::Bool as u32 => (bits != 0).to_string(),
        _ => bits.to_string(),
    }
}
