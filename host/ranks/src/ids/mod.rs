//! Ids of the whole mesh, and the place of each id among them; owners of elements.

mod owners;
mod runs;
mod set;

use std::ops::Range;

use trioxide_mesh::parallel::{self, GRAIN};

pub use owners::Owners;
pub(crate) use runs::Runs;
pub use set::{IdSet, Lists, of_bits};

/// The number of places in `0..n` before the first one for which `is_so` is false.
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

/// Ids in the whole mesh of a part's elements: a local id is a place among them.
///
/// Most parts have one piece: a range, which takes no memory, or a list. Ghosts before and after a range, and each
/// round of refinement, append a piece.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ids {
    first: Piece,
    /// Further pieces, each with the number of ids before it.
    more: Vec<(usize, Piece)>,
}

/// Ids that follow one another in a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// Consecutive ids.
    Range {
        /// The first id.
        first: u64,
        /// Number of ids.
        len: usize,
    },
    /// Any ids.
    List(Vec<u64>),
    /// Any ids, many of which are by one larger than the id before them.
    Runs(Runs),
}

impl Default for Piece {
    fn default() -> Self {
        Self::List(Vec::new())
    }
}

impl From<Vec<u64>> for Piece {
    fn from(ids: Vec<u64>) -> Self {
        Self::List(ids)
    }
}

impl From<Range<u64>> for Piece {
    fn from(range: Range<u64>) -> Self {
        Self::Range {
            first: range.start,
            len: (range.end - range.start) as usize,
        }
    }
}

impl Piece {
    /// The ids of `parts`, in their order.
    pub fn concat(parts: Vec<Runs>) -> Self {
        /// Average length of a run from which on a search among runs is as quick as a look into a list.
        const LONG: usize = 16;
        let len: usize = parts.iter().map(Runs::len).sum();
        let runs: usize = parts.iter().map(Runs::count).sum();
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
            Self::Range { len, .. } => *len,
            Self::List(list) => list.len(),
            Self::Runs(runs) => runs.len(),
        }
    }

    /// The id at place `i`.
    #[inline]
    pub fn get(&self, i: usize) -> u64 {
        match self {
            Self::Range { first, len } => {
                assert!(i < *len, "element {i} of {len}");
                first + i as u64
            }
            Self::List(list) => list[i],
            Self::Runs(runs) => runs.get(i),
        }
    }

    /// Number of ids, of ascending ones, that are smaller.
    fn before(&self, id: u64) -> usize {
        match self {
            Self::Range { first, len } => id.saturating_sub(*first).min(*len as u64) as usize,
            Self::List(list) => list.partition_point(|&other| other < id),
            Self::Runs(runs) => partition(runs.len(), |i| runs.get(i) < id),
        }
    }

    /// The place up to which ids grow by one from place `i` on. Of a list it looks at the next `most` places alone.
    fn end_of_run(&self, i: usize, most: usize) -> usize {
        match self {
            Self::Range { len, .. } => *len,
            Self::Runs(runs) => runs.end_of_run(i),
            Self::List(list) => {
                let pairs = list[i..list.len().min(i + most)].windows(2);
                let go_on = pairs.take_while(|pair| pair[0].wrapping_add(1) == pair[1]);
                i + 1 + go_on.count()
            }
        }
    }
}

impl Ids {
    /// Ascending ids in one piece: a range where they are consecutive.
    pub fn of(list: Vec<u64>) -> Self {
        match list[..] {
            [first, .., last] if last - first == list.len() as u64 - 1 => {
                Self::of_range(first..last + 1)
            }
            _ => Self::of_list(list),
        }
    }

    /// All ids of a range.
    pub fn of_range(range: Range<u64>) -> Self {
        Self::of_piece(range.into())
    }

    /// The ids of a list, in its order.
    pub fn of_list(list: Vec<u64>) -> Self {
        Self::of_piece(list.into())
    }

    fn of_piece(first: Piece) -> Self {
        let more = Vec::new();
        Self { first, more }
    }

    /// Appends ids.
    pub(crate) fn push(&mut self, piece: impl Into<Piece>) {
        self.more.push((self.len(), piece.into()));
    }

    /// Appends all ids of another list.
    pub(crate) fn extend(&mut self, others: Self) {
        self.push(others.first);
        others
            .more
            .into_iter()
            .for_each(|(_, piece)| self.push(piece));
    }

    /// The first piece, where it is the only one.
    pub(crate) fn one_piece(&self) -> Option<&Piece> {
        self.more.is_empty().then_some(&self.first)
    }

    /// The ids as a range, where they are one.
    pub fn range(&self) -> Option<Range<u64>> {
        match self.one_piece()? {
            Piece::Range { first, len } => Some(*first..first + *len as u64),
            Piece::List(_) | Piece::Runs(_) => None,
        }
    }

    /// Number of ids.
    pub fn len(&self) -> usize {
        let last = self.more.last();
        last.map_or(self.first.len(), |(before, piece)| before + piece.len())
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The piece of the local element `i`, and the number of ids before it.
    #[inline]
    fn piece_of(&self, i: usize) -> (usize, &Piece) {
        let later = self.more.iter().rev().find(|(before, _)| *before <= i);
        later.map_or((0, &self.first), |(before, piece)| (*before, piece))
    }

    /// Id of the local element `i`.
    ///
    /// # Panics
    /// When there is no such element.
    #[inline(always)]
    pub fn get(&self, i: usize) -> u64 {
        match self.one_piece() {
            Some(Piece::List(list)) => list[i],
            Some(Piece::Range { first, len }) => {
                assert!(i < *len, "element {i} of {len}");
                first + i as u64
            }
            _ => self.get_among(i),
        }
    }

    /// As [`get`](Ids::get), of several pieces or of runs: the search stays out of loops over one list or range.
    #[inline(never)]
    fn get_among(&self, i: usize) -> u64 {
        let (before, piece) = self.piece_of(i);
        piece.get(i - before)
    }

    /// Number of elements with a smaller id, of ascending ids.
    #[inline]
    pub fn before(&self, id: u64) -> usize {
        let more = self.more.iter();
        more.fold(self.first.before(id), |sum, (_, piece)| {
            sum + piece.before(id)
        })
    }

    /// The local element with an id, if it is here, of ascending ids.
    #[inline]
    pub fn place(&self, id: u64) -> Option<u32> {
        if let Some(Piece::Range { first, len }) = self.one_piece() {
            let place = id.checked_sub(*first)?;
            return (place < *len as u64).then_some(place as u32);
        }
        let place = self.before(id);
        (place < self.len() && self.get(place) == id).then_some(place as u32)
    }

    /// Whether each of these ids is among `others` too; both ascend.
    pub fn are_in(&self, others: &Ids) -> Vec<bool> {
        match (self.one_piece(), others.one_piece()) {
            (_, Some(Piece::Range { first, len })) => {
                let mut are_in = vec![false; self.len()];
                are_in[self.before(*first)..self.before(first + *len as u64)].fill(true);
                are_in
            }
            // Loops over slices are quicker than loops that look for the piece of each id.
            (Some(Piece::List(ids)), Some(Piece::List(all))) => {
                are_in(ids.len(), |i| ids[i], all.len(), |i| all[i])
            }
            _ => are_in(self.len(), |i| self.get(i), others.len(), |i| others.get(i)),
        }
    }

    /// All ids, in their order.
    pub fn iter(&self) -> impl Iterator<Item = u64> + Clone {
        (0..self.len()).map(|i| self.get(i))
    }

    /// All ids, in their order.
    pub fn to_vec(&self) -> Vec<u64> {
        self.iter().collect()
    }

    /// Cuts ascending `ranges` of elements where ids do not grow by one; `None` as soon as there are more than `most`
    /// pieces.
    pub(crate) fn cut(
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
                let count = pieces.len();
                match pieces.last_mut().filter(|last| goes_on(last)) {
                    Some(last) => last.end = end,
                    None if count == most => return None,
                    None => pieces.push(start..end),
                }
            }
        }
        Some(pieces)
    }

    /// Finds ids of elements that are near each other.
    pub(crate) fn near(&self) -> Near<'_> {
        Near {
            ids: self,
            found: [const { (0..0, 0) }; 2],
        }
    }

    /// The element up to which ids grow by one from element `i` on, within its piece.
    fn end_of_run(&self, i: usize, most: usize) -> usize {
        let (before, piece) = self.piece_of(i);
        before + piece.end_of_run(i - before, most)
    }
}

/// Whether each of `n` ids is among `count` others; both ascend.
fn are_in(
    n: usize,
    id: impl Fn(usize) -> u64 + Sync,
    count: usize,
    other: impl Fn(usize) -> u64 + Sync,
) -> Vec<bool> {
    let mut are_in = vec![false; n];
    parallel::for_chunks_mut(&mut are_in, GRAIN, |k, are_in| {
        let first = id(k * GRAIN);
        let mut next = partition(count, |i| other(i) < first);
        for (i, is_in) in (k * GRAIN..).zip(are_in) {
            let id = id(i);
            while next < count && other(next) < id {
                next += 1;
            }
            *is_in = next < count && other(next) == id;
        }
    });
    are_in
}

/// Finds ids of elements, quickly in the two runs that were found last: one of old vertices, and one of new ones.
pub(crate) struct Near<'a> {
    ids: &'a Ids,
    /// Elements of a run, and the difference between their ids and their places; the run that was found last comes
    /// last.
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
        let id = self.ids.get(i);
        let run = i..self.ids.end_of_run(i, 1);
        self.found.swap(0, 1);
        self.found[1] = (run, id.wrapping_sub(i as u64));
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
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
