//! Lists of vertices or edges, of numbered pieces or faces.

use bytemuck::Pod;
use trioxide_mesh::parallel;

use crate::transport::{Mail, Ranks, offsets};

/// A list for each of some elements.
pub(super) struct Lists<T> {
    /// Start of each list, and the end of the last.
    offsets: Vec<usize>,
    items: Vec<T>,
}

impl<T> Default for Lists<T> {
    fn default() -> Self {
        Self {
            offsets: vec![0],
            items: Vec::new(),
        }
    }
}

impl<T: Pod + Ord + Send + Sync> Lists<T> {
    /// Lists with these starts, one after the other.
    pub(super) fn new(offsets: Vec<usize>, items: Vec<T>) -> Self {
        Self { offsets, items }
    }

    /// `n` lists, each in ascending order without repetition.
    pub(super) fn of_sets<L: IntoIterator<Item = T>>(
        n: usize,
        list: impl Fn(usize) -> L + Sync,
    ) -> Self {
        let pieces = parallel::map_pieces(n, parallel::GRAIN, |range| {
            let (mut lengths, mut items) = (Vec::with_capacity(range.len()), Vec::new());
            let mut set: Vec<T> = Vec::new();
            for i in range {
                set.clear();
                set.extend(list(i));
                set.sort_unstable();
                set.dedup();
                items.extend_from_slice(&set);
                lengths.push(set.len());
            }
            (lengths, items)
        });
        let (lengths, items): (Vec<_>, Vec<_>) = pieces.into_iter().unzip();
        Self {
            offsets: offsets(lengths.into_iter().flatten()),
            items: parallel::concat(items),
        }
    }

    /// Appends a list.
    pub(super) fn push(&mut self, list: impl IntoIterator<Item = T>) {
        self.items.extend(list);
        self.offsets.push(self.items.len());
    }

    /// The list of element `i`.
    pub(super) fn get(&self, i: usize) -> &[T] {
        &self.items[self.offsets[i]..self.offsets[i + 1]]
    }

    /// Sends the lists of these elements to ranks, and returns the lists that came, in the order of ranks; `received`
    /// has the number of each rank's. Collective.
    pub(super) fn send(&self, ranks: &Ranks, elements: &Mail<u32>, received: &[u64]) -> Self {
        let lengths = elements.map(|&i| self.get(i as usize).len() as u64);
        let lengths = ranks.exchange_known(&lengths, received);
        let items = Mail::of_lists(ranks.size(), |rank, items| {
            for &i in elements.of(rank) {
                items.extend_from_slice(self.get(i as usize));
            }
        });
        let counts = (0..ranks.size()).map(|rank| lengths.of(rank).iter().sum());
        let items = ranks.exchange_known(&items, &counts.collect::<Vec<u64>>());
        Self {
            offsets: offsets(lengths.items().iter().map(|&length| length as usize)),
            items: items.into_items(),
        }
    }

    /// Appends the lists of other ones.
    pub(super) fn append(&mut self, others: &Self) {
        let end = self.items.len();
        self.items.extend_from_slice(&others.items);
        let ends = others.offsets[1..].iter();
        self.offsets.extend(ends.map(|offset| end + offset));
    }

    /// Number of items that list `own` has in common with some others, each counted once. Lists ascend.
    pub(super) fn common(&self, own: usize, slots: &[u32]) -> usize {
        let own = self.get(own);
        let others = |k: usize| self.get(slots[k] as usize);
        let n = slots.len();
        let has = |list: &[T], item: &T| list.binary_search(item).is_ok();
        if own.len() <= (0..n).map(|k| others(k).len()).sum() {
            let is_common = |item: &&T| (0..n).any(|k| has(others(k), item));
            return own.iter().filter(is_common).count();
        }
        let of = |k: usize| {
            let is_new =
                move |item: &&T| has(own, item) && !(0..k).any(|before| has(others(before), item));
            others(k).iter().filter(is_new).count()
        };
        (0..n).map(of).sum()
    }
}
