//! Ids in any order, as runs of consecutive ones.

/// Ids in any order, as runs of consecutive ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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

    /// Number of runs.
    pub fn count(&self) -> usize {
        self.starts.len()
    }

    /// Appends an id.
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

    /// Appends the ids of another list.
    pub fn append(&mut self, other: &Self) {
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

    /// The place up to which ids grow by one from place `i` on.
    pub fn end_of_run(&self, i: usize) -> usize {
        let next = self.starts.get(self.run_of(i) + 1);
        next.map_or(self.len, |&start| start as usize)
    }

    /// The id at place `i`.
    pub fn get(&self, i: usize) -> u64 {
        let run = self.run_of(i);
        self.firsts[run].wrapping_add((i - self.starts[run] as usize) as u64)
    }

    /// All ids, in their order.
    pub fn iter(&self) -> impl Iterator<Item = u64> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{Ids, Piece};

    proptest::proptest! {
        /// Ids with some runs of consecutive numbers, in pieces, some of which are empty. The largest id has no
        /// successor.
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
            let added = Piece::concat(runs.collect());
            let expected: Vec<u64> = pieces.iter().flat_map(ids).collect();
            let all: Vec<u64> = (0..added.len()).map(|i| added.get(i)).collect();
            proptest::prop_assert_eq!(&all, &expected);
            let mut named = Ids::of_range(5..8);
            named.push(added);
            named.push(vec![9, 3]);
            let all: Vec<u64> = (0..named.len()).map(|i| named.get(i)).collect();
            proptest::prop_assert_eq!(&all, &[&[5, 6, 7], &expected[..], &[9, 3]].concat());
            let mut near = named.near();
            let there_and_back = (0..all.len()).chain((0..all.len()).rev());
            for i in there_and_back.flat_map(|i| [i, all.len() - 1 - i, i / 2]) {
                proptest::prop_assert_eq!(near.get(i), all[i]);
            }
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
    }
}
