//! Prints on the device.

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use cuda_std::{global, thread};

use super::{Header, Record, Text};

/// The host's memory for records; the host writes this before each launch, and reads the count afterwards.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals)]
static mut __trioxide_prints: Header = Header {
    records: 0,
    most: 0,
    count: 0,
};

/// Writes a record to the next place, if there is one left.
#[inline(always)]
pub(super) fn write<const N: usize>(text: &'static Text, values: [(u32, u64); N], index: u32) {
    // SAFETY: the host wrote the header before the launch; threads change only the count, by atomic operations, and
    // nobody changes the other fields. A place within the host's memory belongs to this thread.
    unsafe {
        let header = &raw mut __trioxide_prints;
        let count = AtomicU32::from_ptr(&raw mut (*header).count);
        let place = count.fetch_add(1, Relaxed);
        if place < (*header).most {
            let to = global::pointer::<Record>((*header).records).add(place as usize);
            fill(to, text, values, index);
        }
    }
}

/// # Safety
/// `to` is memory for a record that only this thread uses.
#[inline(always)]
unsafe fn fill<const N: usize>(
    to: *mut Record,
    text: &'static Text,
    values: [(u32, u64); N],
    index: u32,
) {
    // SAFETY: the caller's promise.
    unsafe {
        (&raw mut (*to).index).write(index);
        (&raw mut (*to).order).write(thread::index_1d());
        (&raw mut (*to).line).write(text.line);
        (&raw mut (*to).file_bytes).write(text.file_bytes);
        (&raw mut (*to).text_bytes).write(text.text_bytes);
        let (mut kinds, mut k) = (0, 0);
        while k < N {
            kinds |= values[k].0 << (4 * k);
            (&raw mut (*to).values[k]).write(values[k].1);
            k += 1;
        }
        (&raw mut (*to).kinds).write(kinds);
        // Word by word, so that each word is a constant in its instruction. A loop would read the text from a table in
        // memory.
        macro_rules! words {
            ($($k:literal)*) => { $(
                if 8 * $k < text.file_bytes + text.text_bytes {
                    (&raw mut (*to).text[$k]).write(text.words[$k]);
                }
            )* };
        }
        words!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20);
        (&raw mut (*to).is_set).write(1);
    }
}

const _: () = assert!(super::TEXT_WORDS == 21, "`fill` writes all words");
