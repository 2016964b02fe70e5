//! Loops over all threads.
//!
//! A loop over `0..n` is cut into pieces of consecutive indices. The recursion that distributes the pieces is compiled
//! once, and calls its body through a pointer. A caller's loop over the indices of one piece is compiled into that
//! body, so it stays as fast as a plain loop. A chain of parallel iterators compiles a recursion of its own: ten times
//! the code of the inner loop.
//!
//! After an [interrupt](crate::progress::Interrupt) of the caller's computation no further piece begins, and the loop
//! is left by [`unwind`](crate::progress::unwind).
//!
//! Results do not depend on the number of threads. Values come in the order of their indices. Of several errors the one
//! with the smallest index is returned. Where a result shows how the loop was cut, the caller gives the size of a
//! piece.
//!
//! | function | gives |
//! | --- | --- |
//! | [`for_pieces`], [`for_each`], [`for_tasks`] | nothing; `body` of each piece, element or task |
//! | [`collect`], [`collect_tasks`], [`append`], [`map`] | a value of each element, in order |
//! | [`map_chunks`], [`append_chunks`] | a value of each chunk of elements, in order |
//! | [`try_collect`] | the same, or the first error |
//! | [`map_pieces`] | a value of each piece, in order |
//! | [`filter_collect`], [`collect_where`] | values of some elements, in order |
//! | [`concat()`], [`concat_lists`], [`concat_slices`] | lists joined to one |
//! | [`find`], [`find_map`], [`position`], [`all`], [`any`], [`count`] | the elements that satisfy a predicate, and their number |
//! | [`for_each_mut`], [`for_chunks_mut`] | nothing; the list is changed in place |
//! | [`sort_floats`] | nothing; the list is sorted |
//! | [`zeroed`] | a list for the loops to fill |

use std::alloc::{Layout, handle_alloc_error};
use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use bytemuck::Zeroable;
use rayon::slice::ParallelSliceMut;

use crate::progress;

/// Zeros, in untouched memory: the threads that fill it touch its pages. Without memory for it the process ends as
/// after any failed allocation, where bytemuck's function would panic.
pub fn zeroed<T: Zeroable>(n: usize) -> Vec<T> {
    bytemuck::try_zeroed_vec(n).unwrap_or_else(|()| {
        let layout = Layout::array::<T>(n).expect("bytes of a list in memory");
        handle_alloc_error(layout)
    })
}

/// Most elements of one piece where each takes a few nanoseconds to some microseconds.
pub const GRAIN: usize = 2048;
/// Fewest elements of one piece where a loop is short for the number of threads.
const LEAST: usize = 256;

/// Elements of a piece of `0..n`, for loops whose results do not depend on the cuts.
fn grain(n: usize) -> usize {
    (n / (8 * rayon::current_num_threads())).clamp(LEAST, GRAIN)
}

/// Calls `body` with each piece of `0..n`: `grain` indices; the last piece has the remaining ones. All threads take
/// pieces.
///
/// # Panics
/// When `grain` is 0, and when `body` panics.
pub fn for_pieces(n: usize, grain: usize, body: impl Fn(Range<usize>) + Sync) {
    share(n, grain, &body);
}

fn share(n: usize, grain: usize, body: &(dyn Fn(Range<usize>) + Sync)) {
    let pieces = n.div_ceil(grain);
    if pieces < 2 {
        // One piece does not use the pool.
        if n > 0 {
            body(0..n);
        }
        return;
    }
    let piece = |piece: usize| {
        let begin = piece * grain;
        body(begin..n.min(begin + grain));
    };
    let Some(interrupt) = progress::watched() else {
        return halve(0..pieces, &piece);
    };
    halve(0..pieces, &|k| {
        if !interrupt.is_set() {
            piece(k);
        }
    });
    // Unwinds before a caller takes a skipped piece for a finished one.
    progress::unwind();
}

/// The recursion, compiled only here.
fn halve(range: Range<usize>, body: &(dyn Fn(usize) + Sync)) {
    if range.len() == 1 {
        return body(range.start);
    }
    let middle = range.start + range.len() / 2;
    rayon::join(
        || halve(range.start..middle, body),
        || halve(middle..range.end, body),
    );
}

/// Calls `body` with each of `0..n`, up to [`GRAIN`] of them in one piece.
pub fn for_each(n: usize, body: impl Fn(usize) + Sync) {
    for_pieces(n, grain(n), move |range| range.for_each(&body));
}

/// Calls `body` with each of `0..n`. Each index is a piece of its own.
pub fn for_tasks(n: usize, body: impl Fn(usize) + Sync) {
    for_pieces(n, 1, move |range| range.for_each(&body));
}

/// Start of a list's elements, for threads that each write some of them.
struct Places<T>(*mut T);

// SAFETY: a thread writes and borrows only the elements of its own piece.
unsafe impl<T: Send> Sync for Places<T> {}

impl<T> Places<T> {
    /// # Safety
    /// The elements lie in one allocation, and no other code uses them while the reference lives.
    #[expect(
        clippy::mut_from_ref,
        reason = "the caller promises that the elements are its own"
    )]
    unsafe fn slice(&self, range: Range<usize>) -> &mut [T] {
        // SAFETY: as the caller promises.
        unsafe { std::slice::from_raw_parts_mut(self.0.add(range.start), range.len()) }
    }
}

/// Calls `fill` with each piece of `0..n` and its places after the elements of `list`, which has room for them.
fn fill_pieces<T: Send>(
    list: &mut Vec<T>,
    n: usize,
    grain: usize,
    fill: impl Fn(Range<usize>, &mut [MaybeUninit<T>]) + Sync,
) {
    assert!(n <= list.capacity() - list.len(), "room was reserved");
    let places = Places(list.spare_capacity_mut().as_mut_ptr());
    for_pieces(n, grain, move |range| {
        let places = &places;
        // SAFETY: there is room for `n` elements, and no two pieces have an index in common.
        fill(range.clone(), unsafe { places.slice(range) });
    });
}

/// Appends `value(i)` of each i in `0..n` to `list`, `grain` of them in one piece.
pub fn append<T: Send>(
    list: &mut Vec<T>,
    n: usize,
    grain: usize,
    value: impl Fn(usize) -> T + Sync,
) {
    list.reserve(n);
    fill_pieces(list, n, grain, move |range, places| {
        for (place, i) in places.iter_mut().zip(range) {
            place.write(value(i));
        }
    });
    // SAFETY: each of the `n` places has been written.
    unsafe { list.set_len(list.len() + n) };
}

/// `value(i)` of each i in `0..n`, up to [`GRAIN`] of them in one piece.
pub fn collect<T: Send>(n: usize, value: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let mut all = Vec::new();
    append(&mut all, n, grain(n), value);
    all
}

/// `value(i)` of each i in `0..n`. Each index is a piece of its own.
pub fn collect_tasks<T: Send>(n: usize, value: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let mut all = Vec::new();
    append(&mut all, n, 1, value);
    all
}

/// `value` of each element of `list`.
pub fn map<A: Sync, T: Send>(list: &[A], value: impl Fn(&A) -> T + Sync) -> Vec<T> {
    let mut all = Vec::with_capacity(list.len());
    fill_pieces(
        &mut all,
        list.len(),
        grain(list.len()),
        move |range, places| {
            for (place, element) in places.iter_mut().zip(&list[range]) {
                place.write(value(element));
            }
        },
    );
    // SAFETY: each place has been written.
    unsafe { all.set_len(list.len()) };
    all
}

/// Appends `value` of each `size` elements of `list` to `all`. Remaining elements at the end have no value.
///
/// # Panics
/// When `size` is 0.
pub fn append_chunks<A: Sync, T: Send>(
    all: &mut Vec<T>,
    list: &[A],
    size: usize,
    value: impl Fn(&[A]) -> T + Sync,
) {
    let n = list.len() / size;
    all.reserve(n);
    fill_pieces(all, n, grain(n), move |range, places| {
        let chunks = list[range.start * size..range.end * size].chunks_exact(size);
        for (place, chunk) in places.iter_mut().zip(chunks) {
            place.write(value(chunk));
        }
    });
    // SAFETY: each of the `n` places has been written.
    unsafe { all.set_len(all.len() + n) };
}

/// `value` of each `size` elements of `list`, as [`append_chunks`].
///
/// # Panics
/// When `size` is 0.
pub fn map_chunks<A: Sync, T: Send>(
    list: &[A],
    size: usize,
    value: impl Fn(&[A]) -> T + Sync,
) -> Vec<T> {
    let mut all = Vec::new();
    append_chunks(&mut all, list, size, value);
    all
}

/// `value` of each piece of `0..n`, as [`for_pieces`] cuts them.
///
/// A sum of floats over the pieces has the same bits for any number of threads.
pub fn map_pieces<T: Send>(
    n: usize,
    grain: usize,
    value: impl Fn(Range<usize>) -> T + Sync,
) -> Vec<T> {
    collect_tasks(n.div_ceil(grain), move |piece| {
        let begin = piece * grain;
        value(begin..n.min(begin + grain))
    })
}

/// As [`collect`], for values that may fail.
///
/// # Errors
/// The error of the smallest index that has one.
pub fn try_collect<T: Copy + Send, E: Send>(
    n: usize,
    value: impl Fn(usize) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    let first = Mutex::new(None);
    let mut all = Vec::with_capacity(n);
    fill_pieces(&mut all, n, grain(n), |range, places| {
        for (place, i) in places.iter_mut().zip(range) {
            match value(i) {
                Ok(value) => _ = place.write(value),
                Err(error) => {
                    let mut first = first.lock().unwrap_or_else(PoisonError::into_inner);
                    if first.as_ref().is_none_or(|&(at, _)| i < at) {
                        *first = Some((i, error));
                    }
                    return;
                }
            }
        }
    });
    match first.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some((_, error)) => Err(error),
        None => {
            // SAFETY: without an error each place has been written.
            unsafe { all.set_len(n) };
            Ok(all)
        }
    }
}

/// The values of the i in `0..n` that have one, in the order of i.
pub fn filter_collect<T: Send>(n: usize, value: impl Fn(usize) -> Option<T> + Sync) -> Vec<T> {
    concat(map_pieces(n, grain(n), move |range| {
        range.filter_map(&value).collect()
    }))
}

/// `value(i)` of each i in `0..n` that is wanted, in the order of i. Each index is tested twice; each value is written
/// once.
pub fn collect_where<T: Send>(
    n: usize,
    is_wanted: impl Fn(usize) -> bool + Sync,
    value: impl Fn(usize) -> T + Sync,
) -> Vec<T> {
    let grain = grain(n);
    let counts = map_pieces(n, grain, |range| range.filter(|&i| is_wanted(i)).count());
    let (begins, count) = begins(counts.into_iter());
    let mut all: Vec<T> = Vec::with_capacity(count);
    let places = Places(all.spare_capacity_mut().as_mut_ptr());
    for_pieces(n, grain, |range| {
        let places = &places;
        let piece = range.start / grain;
        let end = begins.get(piece + 1).copied().unwrap_or(count);
        // SAFETY: the pieces' places follow one another, `count` in all, which were reserved.
        let places = unsafe { places.slice(begins[piece]..end) };
        let mut wanted = range.filter(|&i| is_wanted(i));
        for place in places {
            place.write(value(wanted.next().expect("as many as were counted")));
        }
    });
    // SAFETY: each place has been written.
    unsafe { all.set_len(count) };
    all
}

/// The elements of all `parts`, joined in order and moved by all threads: the first touch of new memory takes longer
/// than the copy.
pub fn concat<T: Send>(mut parts: Vec<Vec<T>>) -> Vec<T> {
    if parts.len() == 1 {
        return parts.pop().unwrap_or_default();
    }
    let (begins, count) = begins(parts.iter().map(Vec::len));
    let mut all: Vec<T> = Vec::with_capacity(count);
    let places = Places(all.as_mut_ptr());
    for_each_mut(&mut parts, |k, part| {
        let places = &places;
        // The thread frees the part, too.
        let mut part = std::mem::take(part);
        // SAFETY: the parts' places follow one another, `count` in all, which were reserved. The elements are moved:
        // the part is empty before anything can drop it.
        unsafe {
            let length = part.len();
            part.set_len(0);
            std::ptr::copy_nonoverlapping(part.as_ptr(), places.0.add(begins[k]), length);
        }
    });
    // SAFETY: each place has been written: the parts have `count` elements together.
    unsafe { all.set_len(count) };
    all
}

/// The lists that `list` takes out of `parts`, joined in order as by [`concat()`].
pub fn concat_lists<P, T: Send>(parts: &mut [P], list: impl Fn(&mut P) -> &mut Vec<T>) -> Vec<T> {
    concat(
        parts
            .iter_mut()
            .map(|part| std::mem::take(list(part)))
            .collect(),
    )
}

/// As [`concat()`], for values that are copied.
pub fn concat_slices<T: Copy + Send + Sync>(parts: &[&[T]]) -> Vec<T> {
    let (begins, count) = begins(parts.iter().map(|part| part.len()));
    let mut all = Vec::with_capacity(count);
    let places = Places(all.spare_capacity_mut().as_mut_ptr());
    for_tasks(parts.len(), |k| {
        let (places, part) = (&places, parts[k]);
        // SAFETY: as in `concat`.
        let place = unsafe { places.slice(begins[k]..begins[k] + part.len()) };
        place.write_copy_of_slice(part);
    });
    // SAFETY: as in `concat`.
    unsafe { all.set_len(count) };
    all
}

/// Start of each list when the lists follow one another, and the end of the last.
fn begins(lengths: impl Iterator<Item = usize>) -> (Vec<usize>, usize) {
    let mut end = 0;
    let begins = lengths.map(|length| {
        end += length;
        end - length
    });
    (begins.collect(), end)
}

/// The first i in `0..n` that is wanted.
pub fn find(n: usize, is_wanted: impl Fn(usize) -> bool + Sync) -> Option<usize> {
    first(n, &move |mut range| range.find(|&i| is_wanted(i)))
}

/// `value` of the first i in `0..n` that has one, which is computed twice.
pub fn find_map<R>(n: usize, value: impl Fn(usize) -> Option<R> + Sync) -> Option<R> {
    find(n, |i| value(i).is_some()).and_then(value)
}

/// The index of the first element of `list` that is wanted.
pub fn position<A: Sync>(list: &[A], is_wanted: impl Fn(&A) -> bool + Sync) -> Option<usize> {
    first(list.len(), &move |range| {
        let begin = range.start;
        let at = list[range].iter().position(&is_wanted)?;
        Some(begin + at)
    })
}

/// The smallest index that `find` gives for a piece. Pieces after a known index are skipped.
fn first(n: usize, find: &(dyn Fn(Range<usize>) -> Option<usize> + Sync)) -> Option<usize> {
    let found = AtomicUsize::new(usize::MAX);
    share(n, grain(n), &|range| {
        if range.start < found.load(Relaxed)
            && let Some(i) = find(range)
        {
            found.fetch_min(i, Relaxed);
        }
    });
    Some(found.into_inner()).filter(|&i| i != usize::MAX)
}

/// Whether all elements of `list` satisfy `is_so`.
pub fn all<A: Sync>(list: &[A], is_so: impl Fn(&A) -> bool + Sync) -> bool {
    position(list, move |element| !is_so(element)).is_none()
}

/// Whether an element of `list` satisfies `is_so`.
pub fn any<A: Sync>(list: &[A], is_so: impl Fn(&A) -> bool + Sync) -> bool {
    position(list, is_so).is_some()
}

/// The number of i in `0..n` that satisfy `is_so`.
pub fn count(n: usize, is_so: impl Fn(usize) -> bool + Sync) -> usize {
    let counts = map_pieces(n, grain(n), move |range| {
        range.filter(|&i| is_so(i)).count()
    });
    counts.into_iter().sum()
}

/// Calls `body` with each element of `list` and its index. Each element is a piece of its own.
pub fn for_each_mut<T: Send>(list: &mut [T], body: impl Fn(usize, &mut T) + Sync) {
    let (places, n) = (Places(list.as_mut_ptr()), list.len());
    for_tasks(n, move |i| {
        let places = &places;
        // SAFETY: the list is borrowed, and each of its indices comes once.
        body(i, unsafe { &mut places.slice(i..i + 1)[0] });
    });
}

/// Calls `body` with each chunk of `list` and its number. A chunk has `size` elements; the last one has the remaining
/// elements. Small chunks share a piece.
///
/// # Panics
/// When `size` is 0.
pub fn for_chunks_mut<T: Send>(list: &mut [T], size: usize, body: impl Fn(usize, &mut [T]) + Sync) {
    let (places, n) = (Places(list.as_mut_ptr()), list.len());
    for_pieces(n.div_ceil(size), (grain(n) / size).max(1), move |range| {
        let places = &places;
        for k in range {
            // SAFETY: the list is borrowed, and no two chunks have an element in common.
            body(k, unsafe { places.slice(k * size..n.min((k + 1) * size)) });
        }
    });
}

/// Sorts by [`f64::total_cmp`].
pub fn sort_floats(list: &mut [f64]) {
    list.par_sort_unstable_by(f64::total_cmp);
}

#[cfg(test)]
mod tests;
