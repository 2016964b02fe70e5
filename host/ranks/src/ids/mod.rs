//! Ids of the whole mesh, and the place of each id among them; owners of elements.

mod named;
mod set;

use std::ops::Range;

use trioxide_mesh::parallel::{self, GRAIN};

pub(crate) use named::{Added, Named, Runs};
pub use set::{IdSet, Lists, of_bits};

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

/// The owner of each element of a part. Elements with one owner lie together: a part has few such runs, about as many
/// as ghosts.
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
