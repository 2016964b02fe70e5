//! Sets of ids.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use rayon::slice::ParallelSliceMut;
use trioxide_mesh::parallel::{self, GRAIN};

use super::Ids;

/// A set of ids. An id's place is the number of smaller ones.
///
/// Ids close to each other are bits of a range; others are a sorted list.
pub enum IdSet {
    /// A bit for each id from `first` on.
    Range {
        /// The first id of the range, a multiple of 64: no id is smaller.
        first: u64,
        /// 64 ids a word.
        words: Vec<u64>,
        /// Number of ids before each word.
        before: Vec<u32>,
    },
    /// Ascending.
    List(Vec<u64>),
}

/// Numbered lists of ids.
pub trait Lists: Sync {
    /// Calls `body` with each id in a range of lists. An inner loop is quicker than an iterator over iterators.
    fn for_each(&self, range: Range<usize>, body: impl FnMut(u64));
}

/// Lists from a function.
struct Each<F>(F);

impl<L: IntoIterator<Item = u64>, F: Fn(usize) -> L + Sync> Lists for Each<F> {
    fn for_each(&self, range: Range<usize>, mut body: impl FnMut(u64)) {
        range.for_each(|i| (self.0)(i).into_iter().for_each(&mut body));
    }
}

/// Largest length of a range with bits, in ids for each id of the set: 32 bytes an id.
const SPREAD: u64 = 256;

impl IdSet {
    /// The set of `id(i)` of each i in `0..n`. An id may come several times.
    pub fn of(n: usize, id: impl Fn(usize) -> u64 + Sync) -> Self {
        Self::of_lists(n, |i| [id(i)])
    }

    /// The set of the ids in all `list(i)` of each i in `0..n`.
    pub fn of_lists<L: IntoIterator<Item = u64>>(
        n: usize,
        list: impl Fn(usize) -> L + Sync,
    ) -> Self {
        let lists = Each(list);
        let bounds = parallel::map_pieces(n, GRAIN, |range| {
            let (mut least, mut most, mut count) = (u64::MAX, 0, 0);
            lists.for_each(range, |id| {
                (least, most, count) = (least.min(id), most.max(id), count + 1);
            });
            (least, most, count)
        });
        type Bounds = (u64, u64, u64);
        let join = |a: Bounds, b: Bounds| (a.0.min(b.0), a.1.max(b.1), a.2 + b.2);
        let (least, most, count) = bounds.into_iter().fold((u64::MAX, 0, 0), join);
        Self::between([least, most], count, n, &lists)
    }

    /// As [`of_lists`](IdSet::of_lists) with a known smallest and largest id; `count` is the number of ids in all
    /// lists, or more.
    pub fn between([least, most]: [u64; 2], count: u64, n: usize, lists: &impl Lists) -> Self {
        if is_wide([least, most], count) {
            let pieces = parallel::map_pieces(n, GRAIN, |range| {
                let mut ids = Vec::new();
                lists.for_each(range, |id| ids.push(id));
                ids
            });
            return Self::of_unsorted(parallel::concat(pieces));
        }
        let first = least / 64 * 64;
        let words = parallel::collect(words_between(first, most), |_| AtomicU64::new(0));
        parallel::for_pieces(n, GRAIN, |range| {
            lists.for_each(range, |id| set_bit(&words, first, id));
        });
        Self::of_words(
            first,
            words.into_iter().map(AtomicU64::into_inner).collect(),
        )
    }

    /// The set of these ids and of those in a list.
    pub fn with(&self, more: &[u64]) -> Self {
        let (Self::Range { first, words, .. }, Some(&least), Some(&most)) =
            (self, more.iter().min(), more.iter().max())
        else {
            let mut all = self.to_vec();
            all.extend_from_slice(more);
            return Self::of_list(&all);
        };
        let least = least.min(*first);
        let most = most.max(first + 64 * words.len() as u64 - 1);
        if is_wide([least, most], (self.len() + more.len()) as u64) {
            let mut all = self.to_vec();
            all.extend_from_slice(more);
            return Self::of_unsorted(all);
        }
        let base = least / 64 * 64;
        let here = (first - base) as usize / 64;
        let word = |w: usize| {
            let word = w.checked_sub(here).and_then(|w| words.get(w));
            AtomicU64::new(word.copied().unwrap_or(0))
        };
        let words = parallel::collect(words_between(base, most), word);
        set_bits(&words, base, more.iter().copied());
        Self::of_words(base, words.into_iter().map(AtomicU64::into_inner).collect())
    }

    /// The set of some of its ids, `id(i)` of each i in `0..n`. It has the form of this set, so a search takes no
    /// longer.
    pub fn subset(&self, n: usize, id: impl Fn(usize) -> u64 + Sync) -> Self {
        let Self::Range { first, words, .. } = self else {
            return Self::of(n, id);
        };
        let bits = parallel::collect(words.len(), |_| AtomicU64::new(0));
        parallel::for_pieces(n, GRAIN, |range| set_bits(&bits, *first, range.map(&id)));
        let words = bits.into_iter().map(AtomicU64::into_inner);
        Self::of_words(*first, words.collect())
    }

    fn of_unsorted(mut list: Vec<u64>) -> Self {
        list.par_sort_unstable();
        list.dedup();
        Self::List(list)
    }

    /// The ids of a range for which `is_so` is true.
    pub fn of_range(range: Range<u64>, is_so: impl Fn(u64) -> bool + Sync) -> Self {
        let base = range.start / 64 * 64;
        let length = (range.end - base).div_ceil(64) as usize;
        let words = parallel::collect(length, |w| {
            let first = base + 64 * w as u64;
            let bit = |id: u64| u64::from(is_so(id)) << (id - first);
            (first.max(range.start)..range.end.min(first + 64)).fold(0, |word, id| word | bit(id))
        });
        Self::of_words(base, words)
    }

    /// The set of bits.
    fn of_words(first: u64, words: Vec<u64>) -> Self {
        let mut sum = 0;
        let before = words.iter().map(|word| {
            sum += word.count_ones();
            sum - word.count_ones()
        });
        Self::Range {
            first,
            before: before.collect(),
            words,
        }
    }

    /// The set of ids of a list.
    pub fn of_list(ids: &[u64]) -> Self {
        Self::of(ids.len(), |i| ids[i])
    }

    /// The place of an id; `None` for one that is not in the set.
    #[inline]
    pub fn place(&self, id: u64) -> Option<u32> {
        match self {
            Self::List(list) => list.binary_search(&id).ok().map(|place| place as u32),
            Self::Range {
                first,
                words,
                before,
            } => {
                let offset = id.checked_sub(*first)?;
                let word = words.get((offset / 64) as usize)?;
                let bit = 1 << (offset % 64);
                let smaller = (word & (bit - 1)).count_ones();
                (word & bit != 0).then(|| before[(offset / 64) as usize] + smaller)
            }
        }
    }

    /// Number of ids.
    pub fn len(&self) -> usize {
        match self {
            Self::List(list) => list.len(),
            Self::Range { words, before, .. } => match (words.last(), before.last()) {
                (Some(word), Some(before)) => (before + word.count_ones()) as usize,
                _ => 0,
            },
        }
    }

    /// Whether there is no id.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether an id is in the set.
    #[inline]
    pub fn has(&self, id: u64) -> bool {
        match self {
            Self::List(list) => list.binary_search(&id).is_ok(),
            Self::Range { first, words, .. } => {
                let offset = id.wrapping_sub(*first);
                let word = words.get((offset / 64) as usize);
                word.is_some_and(|word| word >> (offset % 64) & 1 != 0)
            }
        }
    }

    /// The ids, ascending.
    pub fn to_vec(&self) -> Vec<u64> {
        match self {
            Self::List(list) => list.clone(),
            Self::Range { .. } => self.filter(|_| true),
        }
    }

    /// Calls `body` with each id.
    pub fn for_each(&self, body: impl Fn(u64) + Sync) {
        match self {
            Self::List(list) => parallel::for_each(list.len(), |i| body(list[i])),
            Self::Range { first, words, .. } => parallel::for_each(words.len(), |w| {
                of_bits(words[w], first + 64 * w as u64).for_each(&body);
            }),
        }
    }

    /// The ids for which `is_so` is true, ascending.
    pub fn filter(&self, is_so: impl Fn(u64) -> bool + Sync) -> Vec<u64> {
        let pieces = match self {
            Self::List(list) => parallel::map_pieces(list.len(), GRAIN, |range| {
                let ids = list[range].iter().copied();
                ids.filter(|&id| is_so(id)).collect::<Vec<u64>>()
            }),
            Self::Range { first, words, .. } => parallel::map_pieces(words.len(), GRAIN, |range| {
                let mut ids = Vec::new();
                for w in range {
                    let of_word = of_bits(words[w], first + 64 * w as u64);
                    of_word.filter(|&id| is_so(id)).for_each(|id| ids.push(id));
                }
                ids
            }),
        };
        parallel::concat(pieces)
    }

    /// The ids, as a range where they are one.
    pub fn to_ids(&self) -> Ids {
        let Self::Range { first, words, .. } = self else {
            return Ids::of(self.to_vec());
        };
        let is_used = |word: &u64| *word != 0;
        let (Some(low), Some(high)) = (
            words.iter().position(is_used),
            words.iter().rposition(is_used),
        ) else {
            return Ids::default();
        };
        let start = first + 64 * low as u64 + u64::from(words[low].trailing_zeros());
        let end = first + 64 * (high as u64 + 1) - u64::from(words[high].leading_zeros());
        match end - start == self.len() as u64 {
            true => Ids::of_range(start..end),
            false => Ids::of_list(self.to_vec()),
        }
    }
}

/// Whether `count` ids are too far apart for bits.
fn is_wide([least, most]: [u64; 2], count: u64) -> bool {
    count == 0 || most - least > SPREAD * count
}

/// Number of words with bits from `first`, a multiple of 64, to `most`.
fn words_between(first: u64, most: u64) -> usize {
    ((most - first) / 64 + 1) as usize
}

/// Sets the bits of ids from `first` on.
fn set_bits(words: &[AtomicU64], first: u64, ids: impl Iterator<Item = u64>) {
    ids.for_each(|id| set_bit(words, first, id));
}

#[inline]
fn set_bit(words: &[AtomicU64], first: u64, id: u64) {
    let (word, bit) = (
        &words[((id - first) / 64) as usize],
        1 << ((id - first) % 64),
    );
    // Most ids come several times, and a load is cheaper.
    if word.load(Relaxed) & bit == 0 {
        word.fetch_or(bit, Relaxed);
    }
}

/// The numbers of the set bits of a word, counted from `first`.
pub fn of_bits(word: u64, first: u64) -> impl Iterator<Item = u64> {
    let mut rest = word;
    std::iter::from_fn(move || {
        let bit = rest.trailing_zeros();
        rest &= rest.wrapping_sub(1);
        (bit < 64).then(|| first + u64::from(bit))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn places_are_those_in_the_sorted_list(
            mut ids in proptest::collection::vec(0..1000_u64, 0..60),
            apart in proptest::sample::select(vec![1, 7, 1 << 40]),
        ) {
            ids.iter_mut().for_each(|id| *id *= apart);
            let set = IdSet::of_list(&ids);
            let mut sorted = ids.clone();
            sorted.sort_unstable();
            sorted.dedup();
            proptest::prop_assert_eq!(set.to_vec(), sorted.clone());
            proptest::prop_assert_eq!(set.len(), sorted.len());
            proptest::prop_assert_eq!(set.to_ids().to_vec(), sorted.clone());
            if sorted.len() > 1 {
                proptest::prop_assert_eq!(set.to_ids(), Ids::of(sorted.clone()));
            }
            let (some, others) = ids.split_at(ids.len() / 3);
            let joined = IdSet::of_list(some).with(others);
            proptest::prop_assert_eq!(joined.to_vec(), sorted.clone());
            proptest::prop_assert_eq!(joined.len(), sorted.len());
            let thirds: Vec<u64> = sorted.iter().copied().filter(|id| id % 3 == 0).collect();
            proptest::prop_assert_eq!(joined.filter(|id| id % 3 == 0), thirds.clone());
            let subset = joined.subset(thirds.len(), |i| thirds[i]);
            proptest::prop_assert_eq!(subset.to_vec(), thirds.clone());
            for id in 0..1001 {
                let id = id * apart;
                proptest::prop_assert_eq!(joined.has(id), sorted.binary_search(&id).is_ok());
                proptest::prop_assert_eq!(subset.has(id), thirds.binary_search(&id).is_ok());
            }
            for id in 0..1001 {
                let expected = sorted.binary_search(&(id * apart)).ok();
                let expected = expected.map(|i| i as u32);
                proptest::prop_assert_eq!([set.place(id * apart), joined.place(id * apart)], [expected; 2]);
            }
            proptest::prop_assert_eq!(set.has(u64::MAX), false);
            let odd = IdSet::of_range(3..200, |id| id % 2 != 0 && sorted.contains(&id));
            let expected = (3..200).filter(|id| id % 2 != 0 && sorted.contains(id));
            proptest::prop_assert_eq!(odd.to_vec(), expected.collect::<Vec<u64>>());
        }
    }
}
