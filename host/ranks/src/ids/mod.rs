//! Ids of the whole mesh, and the place of each id among them; owners of elements.

mod set;

use std::ops::Range;

use trioxide_mesh::parallel::{self, GRAIN};

pub use set::{IdSet, of_bits};

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
    /// Those of each round, behind the number of all before them.
    more: Vec<(usize, Added)>,
}

impl From<Vec<u64>> for Named {
    /// Ids in any order.
    fn from(ids: Vec<u64>) -> Self {
        Self {
            first: Ids::default(),
            more: vec![(0, Added::List(ids))],
        }
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
        let all = self.more.last();
        all.map_or(self.first.len(), |(before, ids)| before + ids.len())
    }

    /// Id of the local element `i`.
    pub fn get(&self, i: usize) -> u64 {
        let added = self.more.iter().rev().find(|(before, _)| *before <= i);
        added.map_or_else(|| self.first.get(i), |(before, ids)| ids.get(i - before))
    }

    /// Ids of further elements.
    pub fn extend(&mut self, ids: impl Into<Added>) {
        self.more.push((self.len(), ids.into()));
    }

    /// Cuts ascending `ranges` of elements where ids do not go by one; `None` as soon as there are more than `most` pieces.
    pub fn cut(
        &self,
        ranges: impl Iterator<Item = Range<usize>>,
        most: usize,
    ) -> Option<Vec<Range<usize>>> {
        let mut pieces: Vec<Range<usize>> = Vec::new();
        for mut range in ranges {
            while !range.is_empty() {
                let (start, end) = (range.start, self.end_of_run(&range));
                range.start = end;
                let goes_on = |last: &Range<usize>| {
                    last.end == start && self.get(start - 1).wrapping_add(1) == self.get(start)
                };
                match pieces.last().is_some_and(goes_on) {
                    true => pieces.last_mut().expect("there is a last one").end = end,
                    false if pieces.len() == most => return None,
                    false => pieces.push(start..end),
                }
            }
        }
        Some(pieces)
    }

    /// Up to which element of a range, of which there is one, ids go by one, as far as the first or one round has added them.
    fn end_of_run(&self, range: &Range<usize>) -> usize {
        let i = range.start;
        let added = self.more.iter().rev().find(|(before, _)| *before <= i);
        let (before, length) = match (added, &self.first) {
            (Some((before, Added::Runs(runs))), _) => (*before, runs.end_of_run(i - before)),
            (Some((before, Added::List(list))), _) => {
                (*before, end_of_run(list, i - before, range.len()))
            }
            (None, Ids::Range { len, .. }) => (0, *len),
            (None, Ids::List(list)) => (0, end_of_run(list, i, range.len())),
        };
        range.end.min(before + length)
    }
}

/// Up to which place of a list, and of the `most` behind `i`, ids go by one.
fn end_of_run(list: &[u64], i: usize, most: usize) -> usize {
    let behind = &list[i..list.len().min(i + most)];
    let go_by_one = behind
        .windows(2)
        .take_while(|pair| pair[0].wrapping_add(1) == pair[1]);
    i + 1 + go_by_one.count()
}

/// Ids in any order.
#[derive(Debug)]
pub(crate) enum Added {
    /// Of which many are one more than those before them.
    Runs(Runs),
    /// All of them.
    List(Vec<u64>),
}

impl Default for Added {
    fn default() -> Self {
        Self::List(Vec::new())
    }
}

impl From<Vec<u64>> for Added {
    fn from(ids: Vec<u64>) -> Self {
        Self::List(ids)
    }
}

impl Added {
    /// Those of `parts`, one behind the other.
    pub fn concat(parts: Vec<Runs>) -> Self {
        /// Ids of a run from which on, on average, runs are found as quickly as a list is read.
        const LONG: usize = 16;
        let len: usize = parts.iter().map(|part| part.len).sum();
        let runs: usize = parts.iter().map(|part| part.starts.len()).sum();
        if runs * LONG > len {
            let lists = parallel::map(&parts, |part| part.iter().collect::<Vec<u64>>());
            return Self::List(parallel::concat(lists));
        }
        let mut all = Runs::default();
        parts.iter().for_each(|part| all.append(part));
        Self::Runs(all)
    }

    /// Number of ids.
    pub fn len(&self) -> usize {
        match self {
            Self::Runs(runs) => runs.len,
            Self::List(list) => list.len(),
        }
    }

    /// The id at place `i`.
    pub fn get(&self, i: usize) -> u64 {
        match self {
            Self::Runs(runs) => runs.get(i),
            Self::List(list) => list[i],
        }
    }
}

/// Ids in any order, as runs of consecutive ones.
#[derive(Debug, Default)]
pub(crate) struct Runs {
    /// Place of the first id of each run.
    starts: Vec<u32>,
    /// That id.
    firsts: Vec<u64>,
    len: usize,
}

impl Runs {
    /// Number of ids.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Puts an id behind the last.
    pub fn push(&mut self, id: u64) {
        self.push_run(id, 1);
    }

    /// # Panics
    /// When these are more ids than 32-bit ids name.
    fn push_run(&mut self, first: u64, len: usize) {
        let next = self.starts.last().zip(self.firsts.last());
        let next =
            next.map(|(&start, &first)| first.wrapping_add((self.len - start as usize) as u64));
        if next != Some(first) {
            self.starts
                .push(u32::try_from(self.len).expect("local ids have 32 bits"));
            self.firsts.push(first);
        }
        self.len += len;
    }

    fn append(&mut self, other: &Self) {
        for (run, (&start, &first)) in other.starts.iter().zip(&other.firsts).enumerate() {
            let end = other
                .starts
                .get(run + 1)
                .map_or(other.len, |&end| end as usize);
            self.push_run(first, end - start as usize);
        }
    }

    fn run_of(&self, i: usize) -> usize {
        assert!(i < self.len, "element {i} of {}", self.len);
        self.starts.partition_point(|&start| start as usize <= i) - 1
    }

    fn end_of_run(&self, i: usize) -> usize {
        let next = self.starts.get(self.run_of(i) + 1);
        next.map_or(self.len, |&start| start as usize)
    }

    fn get(&self, i: usize) -> u64 {
        let run = self.run_of(i);
        self.firsts[run].wrapping_add((i - self.starts[run] as usize) as u64)
    }

    fn iter(&self) -> impl Iterator<Item = u64> {
        let ends = self.starts.iter().skip(1).map(|&end| end as usize);
        let runs = self
            .starts
            .iter()
            .zip(ends.chain([self.len]))
            .zip(&self.firsts);
        runs.flat_map(|((&start, end), &first)| {
            (0..(end - start as usize) as u64).map(move |i| first.wrapping_add(i))
        })
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

    /// Further elements with these owners.
    ///
    /// # Panics
    /// As [`Owners::push`].
    pub fn extend(&mut self, others: &Owners) {
        for (run, owner) in others.runs() {
            self.push(run.len(), owner);
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

    /// The owners of some elements that lie together.
    pub fn of_range(&self, elements: Range<usize>) -> impl Iterator<Item = u32> {
        let first = self
            .ends
            .partition_point(|&end| end as usize <= elements.start);
        let runs = self.ends[first..].iter().zip(&self.ranks[first..]);
        let mut next = elements.start;
        let owners = runs.flat_map(move |(&end, &owner)| {
            let start = std::mem::replace(&mut next, end as usize);
            std::iter::repeat_n(owner, end as usize - start)
        });
        owners.take(elements.len())
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
                let of_range: Vec<u32> = runs.of_range(i / 2..i).collect();
                proptest::prop_assert_eq!(&of_range, &owners[i / 2..i]);
            }
            let mut twice = runs.clone();
            twice.extend(&runs);
            proptest::prop_assert_eq!(twice.to_vec(), owners.repeat(2));
            for rank in 0..3 {
                let of_rank: Vec<usize> = runs.of_rank(rank).flatten().collect();
                let expected = (0..owners.len()).filter(|&i| owners[i] == rank);
                proptest::prop_assert_eq!(of_rank, expected.collect::<Vec<_>>());
            }
        }

        /// Ids that go by one here and there, in pieces of which some are empty; the largest one has none behind it.
        #[test]
        fn added_ids_are_their_list(
            pieces in proptest::collection::vec(proptest::collection::vec((0..9_u64, 0..40_u64), 0..6), 0..5),
            beyond: bool,
            cut in 2..90_usize,
        ) {
            let ids = |piece: &Vec<(u64, u64)>| -> Vec<u64> {
                let run = |&(first, len): &(u64, u64)| first..first + len;
                let last = beyond.then_some(u64::MAX);
                piece.iter().flat_map(run).chain(last).chain(last).collect()
            };
            let runs = pieces.iter().map(|piece| {
                let mut runs = Runs::default();
                ids(piece).into_iter().for_each(|id| runs.push(id));
                runs
            });
            let added = Added::concat(runs.collect());
            let expected: Vec<u64> = pieces.iter().flat_map(ids).collect();
            let all: Vec<u64> = (0..added.len()).map(|i| added.get(i)).collect();
            proptest::prop_assert_eq!(&all, &expected);
            let mut named = Named::from(Ids::of_range(5..8));
            named.extend(added);
            named.extend(vec![9, 3]);
            let all: Vec<u64> = (0..named.len()).map(|i| named.get(i)).collect();
            proptest::prop_assert_eq!(&all, &[&[5, 6, 7], &expected[..], &[9, 3]].concat());
            let ranges = [0..2, 2..all.len().min(cut), cut.min(all.len())..all.len()];
            let goes_on = |i: &usize| all[i - 1].wrapping_add(1) == all[*i];
            let cut = named.cut(ranges.into_iter(), all.len()).unwrap();
            let inner: Vec<usize> = (1..all.len()).filter(goes_on).collect();
            let of_cut: Vec<usize> = cut.iter().flat_map(|run| run.start + 1..run.end).collect();
            proptest::prop_assert_eq!(of_cut, inner);
            let ranges = cut.clone().into_iter();
            proptest::prop_assert_eq!(named.cut(ranges.clone(), cut.len()), Some(cut.clone()));
            proptest::prop_assert_eq!(named.cut(ranges, cut.len() - 1), None);
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
    }
}
