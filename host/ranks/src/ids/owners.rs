//! Owners of elements.

use std::ops::Range;

/// The owner of each element of a part, in runs of elements with one owner. A part has few runs, about as many as
/// ghosts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Owners {
    /// End of each run.
    ends: Vec<u32>,
    /// Its owner.
    ranks: Vec<u32>,
}

impl Owners {
    /// The runs of a list of owners.
    pub fn of(owners: &[u32]) -> Self {
        let mut runs = Self::default();
        for run in owners.chunk_by(|a, b| a == b) {
            runs.push(run.len(), run[0]);
        }
        runs
    }

    /// Appends elements that rank `owner` owns.
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

    /// Appends elements with these owners.
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

    /// The owners of a range of elements.
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

    /// The runs in ascending order, each with its owner.
    pub fn runs(&self) -> impl Iterator<Item = (Range<usize>, u32)> + Clone {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let runs = starts.zip(&self.ends).zip(&self.ranks);
        runs.map(|((start, &end), &rank)| (start as usize..end as usize, rank))
    }

    /// Appends new elements, each with the owner of its parent; `parents` ascend.
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
    }
}
