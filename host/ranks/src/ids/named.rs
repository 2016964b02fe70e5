//! Ids that rounds add to those of a part.

use std::ops::Range;

use trioxide_mesh::parallel;

use super::Ids;

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
    #[inline]
    pub fn get(&self, i: usize) -> u64 {
        let added = self.more.iter().rev().find(|(before, _)| *before <= i);
        added.map_or_else(|| self.first.get(i), |(before, ids)| ids.get(i - before))
    }

    /// Ids of further elements.
    pub fn extend(&mut self, ids: impl Into<Added>) {
        self.more.push((self.len(), ids.into()));
    }

    /// Cuts ascending `ranges` of elements where ids do not go by one; `None` as soon as there are more than `most`
    /// pieces.
    pub fn cut(
        &self,
        ranges: impl Iterator<Item = Range<usize>>,
        most: usize,
    ) -> Option<Vec<Range<usize>>> {
        let mut pieces: Vec<Range<usize>> = Vec::new();
        for mut range in ranges {
            while !range.is_empty() {
                let start = range.start;
                let end = self.end_of_run(start, range.len()).min(range.end);
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

    /// To get ids of elements that are near each other.
    pub fn near(&self) -> Near<'_> {
        Near {
            named: self,
            found: [const { (0..0, 0) }; 2],
        }
    }

    /// Up to which element behind `i` ids go by one, as far as the first ones go or those of a round; of a list it
    /// looks at the next `most`.
    fn end_of_run(&self, i: usize, most: usize) -> usize {
        let added = self.more.iter().rev().find(|(before, _)| *before <= i);
        match (added, &self.first) {
            (Some((before, Added::Runs(runs))), _) => before + runs.end_of_run(i - before),
            (Some((before, Added::List(list))), _) => before + end_of_run(list, i - before, most),
            (None, Ids::Range { len, .. }) => *len,
            (None, Ids::List(list)) => end_of_run(list, i, most),
        }
    }
}

/// Gets ids of elements, quickly where they are in two runs that were found before: of an old vertex and of a new one.
pub(crate) struct Near<'a> {
    named: &'a Named,
    /// Elements whose ids go by one, and what their ids are more than they; the last one that was found is the second.
    found: [(Range<usize>, u64); 2],
}

impl Near<'_> {
    /// Id of the local element `i`.
    #[inline(always)]
    pub fn get(&mut self, i: usize) -> u64 {
        for (elements, more) in &self.found {
            if elements.contains(&i) {
                return more.wrapping_add(i as u64);
            }
        }
        self.find(i)
    }

    fn find(&mut self, i: usize) -> u64 {
        let id = self.named.get(i);
        let run = i..self.named.end_of_run(i, 1);
        self.found.swap(0, 1);
        self.found[1] = (run, id.wrapping_sub(i as u64));
        id
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

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
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
