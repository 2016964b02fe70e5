//! Sets of ids of the whole mesh, and the place of each id among them; owners of elements.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use rayon::slice::ParallelSliceMut;
use trioxide_mesh::parallel::{self, GRAIN};

/// How many of `0..n` are as asked, which are the first ones.
pub fn partition(n: usize, is_so: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, n);
    while low < high {
        let middle = low + (high - low) / 2;
        match is_so(middle) {
            true => low = middle + 1,
            false => high = middle,
        }
    }
    low
}

/// Ascending ids of a part's elements: a local id is a place among them. A range takes no memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ids {
    /// All ids from `first` on, `len` of them.
    Range {
        /// The first id.
        first: u64,
        /// Number of ids.
        len: usize,
    },
    /// Ascending ones.
    List(Vec<u64>),
}

impl Default for Ids {
    fn default() -> Self {
        Self::List(Vec::new())
    }
}

impl Ids {
    /// Ids that ascend.
    pub fn of(list: Vec<u64>) -> Self {
        let (first, last) = match list[..] {
            [first, .., last] => (first, last),
            _ => return Self::List(list),
        };
        match last - first == list.len() as u64 - 1 {
            true => Self::Range {
                first,
                len: list.len(),
            },
            false => Self::List(list),
        }
    }

    /// All ids of a range.
    pub fn of_range(range: Range<u64>) -> Self {
        Self::Range {
            first: range.start,
            len: (range.end - range.start) as usize,
        }
    }

    /// Number of ids.
    pub fn len(&self) -> usize {
        match self {
            Self::Range { len, .. } => *len,
            Self::List(list) => list.len(),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Id of the local element `i`.
    ///
    /// # Panics
    /// When there is no such element.
    #[inline]
    pub fn get(&self, i: usize) -> u64 {
        match self {
            Self::Range { first, len } => {
                assert!(i < *len, "element {i} of {len}");
                first + i as u64
            }
            Self::List(list) => list[i],
        }
    }

    /// The local element with an id, if it is here.
    pub fn place(&self, id: u64) -> Option<u32> {
        match self {
            Self::Range { first, len } => {
                let place = id.checked_sub(*first)?;
                (place < *len as u64).then_some(place as u32)
            }
            Self::List(list) => list.binary_search(&id).ok().map(|place| place as u32),
        }
    }

    /// Number of elements with a smaller id.
    pub fn before(&self, id: u64) -> usize {
        match self {
            Self::Range { first, len } => id.saturating_sub(*first).min(*len as u64) as usize,
            Self::List(list) => list.partition_point(|&other| other < id),
        }
    }

    /// Whether each of these ids is one of `others` too.
    pub fn are_in(&self, others: &Ids) -> Vec<bool> {
        let mut are_in = vec![false; self.len()];
        parallel::for_chunks_mut(&mut are_in, GRAIN, |k, are_in| {
            let mut next = others.before(self.get(k * GRAIN));
            for (i, is_in) in (k * GRAIN..).zip(are_in) {
                let id = self.get(i);
                while next < others.len() && others.get(next) < id {
                    next += 1;
                }
                *is_in = next < others.len() && others.get(next) == id;
            }
        });
        are_in
    }

    /// All ids, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u64> + Clone {
        (0..self.len()).map(|i| self.get(i))
    }

    /// All ids, ascending.
    pub fn to_vec(&self) -> Vec<u64> {
        match self {
            Self::Range { first, len } => (*first..first + *len as u64).collect(),
            Self::List(list) => list.clone(),
        }
    }
}

/// Ids of the whole mesh: the first ones, and those that rounds add.
pub(crate) struct Named {
    first: Ids,
    more: Vec<u64>,
}

impl From<Vec<u64>> for Named {
    /// Ids in any order.
    fn from(more: Vec<u64>) -> Self {
        let first = Ids::of_range(0..0);
        Self { first, more }
    }
}

impl From<Ids> for Named {
    fn from(first: Ids) -> Self {
        let more = Vec::new();
        Self { first, more }
    }
}

impl Named {
    /// Number of ids.
    pub fn len(&self) -> usize {
        self.first.len() + self.more.len()
    }

    /// Id of the local element `i`.
    pub fn get(&self, i: usize) -> u64 {
        match i.checked_sub(self.first.len()) {
            None => self.first.get(i),
            Some(i) => self.more[i],
        }
    }

    /// Ids of further elements.
    pub fn extend(&mut self, ids: Vec<u64>) {
        match self.more.is_empty() {
            true => self.more = ids,
            false => self.more.extend(ids),
        }
    }
}

/// The owner of each element of a part. Elements with one owner lie together: a part has few such runs, about as many as ghosts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Owners {
    /// End of each run.
    ends: Vec<u32>,
    /// Its owner.
    ranks: Vec<u32>,
}

impl Owners {
    /// Of the owners of all elements.
    pub fn of(owners: &[u32]) -> Self {
        let mut runs = Self::default();
        for run in owners.chunk_by(|a, b| a == b) {
            runs.push(run.len(), run[0]);
        }
        runs
    }

    /// So many further elements belong to rank `owner`.
    ///
    /// # Panics
    /// When these are more elements than 32-bit ids name.
    pub fn push(&mut self, elements: usize, owner: u32) {
        let end = u32::try_from(self.len() + elements).expect("local ids have 32 bits");
        match self.ranks.last() {
            _ if elements == 0 => {}
            Some(&last) if last == owner => *self.ends.last_mut().expect("a run") = end,
            _ => {
                self.ends.push(end);
                self.ranks.push(owner);
            }
        }
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.ends.last().map_or(0, |&end| end as usize)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The owner of element `i`.
    ///
    /// # Panics
    /// When there is no such element.
    pub fn get(&self, i: usize) -> u32 {
        self.ranks[self.ends.partition_point(|&end| end as usize <= i)]
    }

    /// The elements that a rank owns, as ascending ranges.
    pub fn of_rank(&self, rank: u32) -> impl Iterator<Item = Range<usize>> + Clone {
        let of_rank = self.runs().filter(move |(_, owner)| *owner == rank);
        of_rank.map(|(run, _)| run)
    }

    /// The elements that one rank owns and that lie together, with that rank, one behind the other.
    pub fn runs(&self) -> impl Iterator<Item = (Range<usize>, u32)> + Clone {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let runs = starts.zip(&self.ends).zip(&self.ranks);
        runs.map(|((start, &end), &rank)| (start as usize..end as usize, rank))
    }

    /// The owners with those of new elements, which have the ones of their `parents`, ascending.
    pub fn with_parts(&self, parents: &[u32]) -> Self {
        let mut all = self.clone();
        let mut done = 0;
        for (run, owner) in self.runs() {
            let end = done + parents[done..].partition_point(|&parent| (parent as usize) < run.end);
            all.push(end - done, owner);
            done = end;
        }
        all
    }

    /// The owner of each element.
    pub fn to_vec(&self) -> Vec<u32> {
        let mut all = Vec::with_capacity(self.len());
        for (&end, &rank) in self.ends.iter().zip(&self.ranks) {
            all.resize(end as usize, rank);
        }
        all
    }
}

/// Ids, each once. An id's place is the number of smaller ones.
///
/// Ids that lie close together are bits of a range; others are a sorted list.
pub enum IdSet {
    /// A bit for each id from `first` on.
    Range {
        /// The first id of the range.
        first: u64,
        /// 64 ids a word.
        words: Vec<u64>,
        /// Number of ids before each word.
        before: Vec<u32>,
    },
    /// Ascending.
    List(Vec<u64>),
}

/// Ids of a range for each id of a set up to which bits are kept: 32 bytes an id.
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
        let list = |i: usize| list(i).into_iter();
        let bounds = parallel::map_pieces(n, GRAIN, |range| {
            let none = (u64::MAX, 0, 0);
            range.flat_map(list).fold(none, |(least, most, count), id| {
                (least.min(id), most.max(id), count + 1)
            })
        });
        type Bounds = (u64, u64, u64);
        let join = |a: Bounds, b: Bounds| (a.0.min(b.0), a.1.max(b.1), a.2 + b.2);
        let (least, most, count) = bounds.into_iter().fold((u64::MAX, 0, 0), join);
        if count == 0 || most - least > SPREAD * count {
            let pieces =
                parallel::map_pieces(n, GRAIN, |range| range.flat_map(list).collect::<Vec<u64>>());
            let mut list = parallel::concat(pieces);
            list.par_sort_unstable();
            list.dedup();
            return Self::List(list);
        }
        let length = ((most - least) / 64 + 1) as usize;
        let words = parallel::collect(length, |_| AtomicU64::new(0));
        parallel::for_pieces(n, GRAIN, |range| {
            for id in range.flat_map(list) {
                let (word, bit) = (
                    &words[((id - least) / 64) as usize],
                    1 << ((id - least) % 64),
                );
                // Most ids come several times, and a look is cheaper.
                if word.load(Relaxed) & bit == 0 {
                    word.fetch_or(bit, Relaxed);
                }
            }
        });
        let words = words.into_iter().map(AtomicU64::into_inner).collect();
        Self::of_words(least, words)
    }

    /// The ids of a range that are as asked.
    pub fn of_range(range: Range<u64>, is_so: impl Fn(u64) -> bool + Sync) -> Self {
        let length = (range.end - range.start).div_ceil(64) as usize;
        let words = parallel::collect(length, |w| {
            let first = range.start + 64 * w as u64;
            let bit = |id: u64| u64::from(is_so(id)) << (id - first);
            (first..range.end.min(first + 64)).fold(0, |word, id| word | bit(id))
        });
        Self::of_words(range.start, words)
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
    pub fn has(&self, id: u64) -> bool {
        self.place(id).is_some()
    }

    /// The ids, ascending.
    pub fn to_vec(&self) -> Vec<u64> {
        match self {
            Self::List(list) => list.clone(),
            Self::Range { first, words, .. } => {
                let ids_of = |w: usize| of_bits(words[w], first + 64 * w as u64);
                let pieces = parallel::map_pieces(words.len(), GRAIN, |range| {
                    range.flat_map(ids_of).collect::<Vec<u64>>()
                });
                parallel::concat(pieces)
            }
        }
    }
}

/// The numbers of the bits of a word that are set, from `first` on.
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
        fn runs_of_owners_are_the_owners(owners in proptest::collection::vec(0..3_u32, 0..40)) {
            let runs = Owners::of(&owners);
            proptest::prop_assert_eq!(runs.to_vec(), owners.clone());
            proptest::prop_assert_eq!(runs.len(), owners.len());
            for (i, &owner) in owners.iter().enumerate() {
                proptest::prop_assert_eq!(runs.get(i), owner);
            }
            for rank in 0..3 {
                let of_rank: Vec<usize> = runs.of_rank(rank).flatten().collect();
                let expected = (0..owners.len()).filter(|&i| owners[i] == rank);
                proptest::prop_assert_eq!(of_rank, expected.collect::<Vec<_>>());
            }
        }

        #[test]
        fn ids_are_their_list(mut ids in proptest::collection::vec(0..30_u64, 0..25), first in 0..1_u64 << 40) {
            ids.sort_unstable();
            ids.dedup();
            let ids: Vec<u64> = ids.into_iter().map(|id| first + id).collect();
            let set = Ids::of(ids.clone());
            proptest::prop_assert_eq!(set.to_vec(), ids.clone());
            proptest::prop_assert_eq!(set.iter().collect::<Vec<_>>(), ids.clone());
            proptest::prop_assert_eq!((set.len(), set.is_empty()), (ids.len(), ids.is_empty()));
            let some = Ids::of(ids.iter().copied().filter(|id| id % 3 != 1).collect());
            let expected: Vec<bool> = ids.iter().map(|id| id % 3 != 1).collect();
            proptest::prop_assert_eq!(set.are_in(&some), expected);
            for id in first.saturating_sub(1)..first + 31 {
                let place = ids.binary_search(&id).ok().map(|i| i as u32);
                proptest::prop_assert_eq!(set.place(id), place);
                proptest::prop_assert_eq!(set.before(id), ids.partition_point(|&other| other < id));
            }
        }

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
            for id in 0..1001 {
                let expected = sorted.binary_search(&(id * apart)).ok();
                proptest::prop_assert_eq!(set.place(id * apart), expected.map(|i| i as u32));
            }
            proptest::prop_assert_eq!(set.has(u64::MAX), false);
            let odd = IdSet::of_range(3..200, |id| id % 2 != 0 && sorted.contains(&id));
            let expected = (3..200).filter(|id| id % 2 != 0 && sorted.contains(id));
            proptest::prop_assert_eq!(odd.to_vec(), expected.collect::<Vec<u64>>());
        }
    }
}
