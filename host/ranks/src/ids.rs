//! Sets of ids of the whole mesh, and the place of each id among them.

use rayon::prelude::*;

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
    /// The set of these ids, which may come several times.
    pub fn of(ids: &(impl Iterator<Item = u64> + Clone)) -> Self {
        let (mut least, mut most, mut count) = (u64::MAX, 0, 0);
        for id in ids.clone() {
            least = least.min(id);
            most = most.max(id);
            count += 1;
        }
        if count == 0 || most - least > SPREAD * count {
            let mut list: Vec<u64> = ids.clone().collect();
            list.par_sort_unstable();
            list.dedup();
            return Self::List(list);
        }
        let mut words = vec![0_u64; ((most - least) / 64 + 1) as usize];
        for id in ids.clone() {
            words[((id - least) / 64) as usize] |= 1 << ((id - least) % 64);
        }
        let mut sum = 0;
        let before = words.iter().map(|word| {
            sum += word.count_ones();
            sum - word.count_ones()
        });
        Self::Range {
            first: least,
            before: before.collect(),
            words,
        }
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
                let ids_of = |(w, &word): (usize, &u64)| {
                    let start = first + 64 * w as u64;
                    let mut rest = word;
                    std::iter::from_fn(move || {
                        let bit = rest.trailing_zeros();
                        rest &= rest.wrapping_sub(1);
                        (bit < 64).then(|| start + u64::from(bit))
                    })
                };
                words.iter().enumerate().flat_map(ids_of).collect()
            }
        }
    }
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
            let set = IdSet::of(&ids.iter().copied());
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
        }
    }
}
