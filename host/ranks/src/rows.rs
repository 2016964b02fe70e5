//! Elements that ranks send each other with what belongs to them, and the halo that they make: owned ones, and ghosts that others own.

use std::ops::Range;

use bytemuck::{Pod, Zeroable};
use rayon::slice::ParallelSliceMut;
use trioxide_mesh::parallel;

use crate::ids::{Ids, Owners, partition};
use crate::transport::{Mail, Ranks};

/// Elements on their way, a row each, one behind the other: the id, and what belongs to it.
pub struct Rows {
    /// The words of all rows.
    pub words: Vec<u64>,
    /// Words of a row.
    pub stride: usize,
}

impl Rows {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.words.len() / self.stride
    }

    /// Row `i`.
    pub fn get(&self, i: usize) -> &[u64] {
        &self.words[self.stride * i..self.stride * (i + 1)]
    }

    /// Id of row `i`.
    pub fn id(&self, i: usize) -> u64 {
        self.words[self.stride * i]
    }

    /// Number of rows, of ascending ones, with a smaller id.
    fn before(&self, id: u64) -> usize {
        partition(self.len(), |i| self.id(i) < id)
    }

    /// The row, of ascending ones, with an id.
    pub fn place(&self, id: u64) -> Option<usize> {
        let place = self.before(id);
        (place < self.len() && self.id(place) == id).then_some(place)
    }

    /// The rows by their ids.
    pub fn sorted(self) -> Self {
        let is_before = |i: usize| self.id(i) <= self.id(i + 1);
        if parallel::find(self.len().saturating_sub(1), |i| !is_before(i)).is_none() {
            return self;
        }
        let mut order = parallel::collect(self.len(), |i| (self.id(i), i as u32));
        order.par_sort_unstable();
        let stride = self.stride;
        let mut words = parallel::zeroed(self.words.len());
        parallel::for_chunks_mut(&mut words, stride, |i, row| {
            row.copy_from_slice(self.get(order[i].1 as usize));
        });
        Self { words, stride }
    }

    /// Sends each row `sent[i]`, which ascend, to rank `to[i]`: which, by their places, and the rows from others. Collective.
    pub fn send(&self, ranks: &Ranks, to: &[u32], sent: &[u64]) -> (Mail<u64>, Mail<u64>) {
        let (size, n) = (ranks.size(), to.len());
        let rank = |i: usize| to[i] as usize;
        let rows = Mail::rows(size, n, self.stride, rank, |i, row| {
            row.copy_from_slice(self.get(sent[i] as usize));
        });
        let received = ranks.exchange(&rows);
        (Mail::sorted(size, n, |i| (rank(i), sent[i])), received)
    }
}

/// The elements whose owners and ghosts exchange something: both lists ascend for each rank, so that no id crosses.
pub struct Halo {
    /// Owned elements that other ranks have as ghosts.
    send: Mail<u32>,
    /// Ghosts, by their owners.
    receive: Mail<u32>,
}

impl Halo {
    /// The halo of elements that go to other ranks, and of ghosts that come from them: both ascend for each rank.
    pub(crate) fn new(send: Mail<u32>, receive: Mail<u32>) -> Self {
        Self { send, receive }
    }

    /// The halo where elements have parts: each element's own place, and behind all of a rank those of its other parts, in `parts`.
    pub(crate) fn with_parts(&self, parts: impl Fn(u32) -> Range<u32>) -> Self {
        let extended = |mail: &Mail<u32>| {
            let mut items = Vec::new();
            let mut counts = Vec::new();
            for rank in 0..mail.ranks() {
                let before = items.len();
                let of_rank = mail.of(rank);
                items.extend_from_slice(of_rank);
                items.extend(of_rank.iter().flat_map(|&element| parts(element)));
                counts.push(items.len() - before);
            }
            Mail::from_parts(items, counts.into_iter())
        };
        Self::new(extended(&self.send), extended(&self.receive))
    }

    /// Gives the items of owned elements to the ranks that have them as ghosts, and takes those of ghosts: calls `set` for each.
    /// Collective.
    pub fn update<T: Pod + Send + Sync>(
        &self,
        ranks: &Ranks,
        get: impl Fn(&u32) -> T + Sync,
        mut set: impl FnMut(u32, T),
    ) {
        for (&element, item) in self.ghosts().iter().zip(self.take(ranks, get)) {
            set(element, item);
        }
    }

    /// As [`update`](Halo::update): the items of the [ghosts](Halo::ghosts). Collective.
    pub fn take<T: Pod + Send + Sync>(
        &self,
        ranks: &Ranks,
        get: impl Fn(&u32) -> T + Sync,
    ) -> Vec<T> {
        let given = self.send.map(get);
        let taken = ranks.exchange_expected(&given, &self.receive.counts());
        taken.into_items()
    }

    /// As [`take`](Halo::take), where the items are at hand, in the order of [`given`](Halo::given). Collective.
    pub fn exchange<T: Pod + Send + Sync>(&self, ranks: &Ranks, items: Vec<T>) -> Vec<T> {
        let counts = self.send.counts().into_iter().map(|n| n as usize);
        let given = Mail::from_parts(items, counts);
        let taken = ranks.exchange_expected(&given, &self.receive.counts());
        taken.into_items()
    }

    /// As [`take`](Halo::take), of `each` items for each element. Collective.
    pub fn take_rows<T: Pod + Send + Sync>(
        &self,
        ranks: &Ranks,
        each: usize,
        write: impl Fn(u32, &mut [T]) + Sync,
    ) -> Vec<T> {
        let given = self.send.items();
        let mut items: Vec<T> = parallel::zeroed(each * given.len());
        parallel::for_chunks_mut(&mut items, each, |i, row| write(given[i], row));
        let counts = |mail: &Mail<u32>| mail.counts().into_iter().map(|n| n * each as u64);
        let sent = counts(&self.send).map(|n| n as usize);
        let received: Vec<u64> = counts(&self.receive).collect();
        let mail = Mail::from_parts(items, sent);
        ranks.exchange_expected(&mail, &received).into_items()
    }

    /// The ghosts, by their owners.
    pub fn ghosts(&self) -> &[u32] {
        self.receive.items()
    }

    /// A bit each of those ghosts alone for whose element the owner's `get` gives one, by its place among the [given](Halo::given) ones: four
    /// bytes for each of them. Collective.
    pub fn take_bits(
        &self,
        ranks: &Ranks,
        mut get: impl FnMut(usize, u32) -> Option<bool>,
    ) -> Vec<(u32, bool)> {
        let mut items = Vec::new();
        let mut counts = Vec::new();
        let mut place = 0..;
        for rank in 0..ranks.size() {
            let before = items.len();
            let given = (0_u32..).zip(self.send.of(rank)).zip(&mut place);
            items.extend(
                given.filter_map(|((i, &v), place)| Some(i << 1 | u32::from(get(place, v)?))),
            );
            counts.push(items.len() - before);
        }
        let items = Mail::from_parts(items, counts.into_iter());
        let received = ranks.exchange_between(&items, &self.send, &self.receive);
        let ghost = |(rank, &item): (usize, &u32)| {
            let ghost = self.receive.of(rank)[item as usize >> 1];
            (ghost, item & 1 != 0)
        };
        received.iter().map(ghost).collect()
    }

    /// As [`update`](Halo::update), of an item for each element: those of ghosts become their owners'. Collective.
    pub fn update_all<T: Pod + Send + Sync>(&self, ranks: &Ranks, items: &mut [T]) {
        let received = self.take(ranks, |&element| items[element as usize]);
        for (&element, item) in self.ghosts().iter().zip(received) {
            items[element as usize] = item;
        }
    }

    /// Tells marks of owned elements, `each` an element, to the ranks that have them as ghosts. `is_new` picks those to tell, four bytes each:
    /// mark k of the element at place i among the [given](Halo::given) ones is number `each` times i plus k. The marks of
    /// [ghosts](Halo::ghosts) that are told, numbered likewise. Collective.
    pub fn tell(
        &self,
        ranks: &Ranks,
        each: usize,
        is_new: impl Fn(usize) -> bool + Sync,
    ) -> Vec<usize> {
        // By ranks, in the places of the elements that each has.
        let starts = |mail: &Mail<u32>| {
            let mut start = 0;
            let starts = mail.counts().into_iter().map(|n| {
                start += each * n as usize;
                start - each * n as usize..start
            });
            starts.collect::<Vec<_>>()
        };
        let mut marks = Vec::new();
        let mut counts = Vec::new();
        for range in starts(&self.send) {
            let new = parallel::filter_collect(range.len(), |i| {
                is_new(range.start + i).then_some(i as u32)
            });
            counts.push(new.len());
            marks.extend(new);
        }
        let marks = Mail::from_parts(marks, counts.into_iter());
        let told = ranks.exchange_between(&marks, &self.send, &self.receive);
        let ranges = starts(&self.receive);
        let places = told
            .iter()
            .map(|(rank, &i)| ranges[rank].start + i as usize);
        places.collect()
    }

    /// Owned elements that other ranks have as ghosts, once for each of these.
    pub fn given(&self) -> &[u32] {
        self.send.items()
    }
}

/// Elements that a thread copies at a time.
const PIECE: usize = 1 << 12;

/// Ascending ids of owned elements and ghosts. A range of owned ids takes no memory where the ghosts are before and behind it.
#[derive(Debug, Default)]
pub struct MergedIds {
    lower: Vec<u64>,
    middle: Ids,
    higher: Vec<u64>,
}

impl MergedIds {
    /// Number of ids.
    pub fn len(&self) -> usize {
        self.lower.len() + self.middle.len() + self.higher.len()
    }

    /// Id of the local element `i`.
    ///
    /// # Panics
    /// When there is no such element.
    #[inline]
    pub fn get(&self, i: usize) -> u64 {
        let Some(in_middle) = i.checked_sub(self.lower.len()) else {
            return self.lower[i];
        };
        match in_middle.checked_sub(self.middle.len()) {
            None => self.middle.get(in_middle),
            Some(in_higher) => self.higher[in_higher],
        }
    }

    /// The local element with an id, if it is here.
    pub fn place(&self, id: u64) -> Option<u32> {
        let place =
            |list: &[u64], before: usize| Some((list.binary_search(&id).ok()? + before) as u32);
        let lower = self.lower.len();
        place(&self.lower, 0)
            .or_else(|| Some(self.middle.place(id)? + lower as u32))
            .or_else(|| place(&self.higher, lower + self.middle.len()))
    }
}

/// Where an element of a merged list comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// Place among the owned elements.
    Owned(usize),
    /// Place among the ghosts in the order in which they came.
    Ghost(usize),
}

/// How the ghosts stand among the owned elements in one list, ascending by their ids.
pub struct Merged {
    /// Place of each ghost among those that came.
    order: Vec<usize>,
    /// Number of owned elements before each ghost.
    before: Vec<usize>,
    /// Number of owned elements.
    owned: usize,
    pub owners: Owners,
    pub halo: Halo,
}

impl Merged {
    /// Of `owned` elements, `before(id)` of them with a smaller id: `sent` went to the ranks that have them as ghosts, and of the ghosts `counts`
    /// came from each rank, with the ids `id(i)`, ascending for each.
    pub fn new(
        ranks: &Ranks,
        owned: usize,
        before: impl Fn(u64) -> usize + Sync,
        sent: &Mail<u64>,
        counts: &[usize],
        id: impl Fn(usize) -> u64 + Sync,
    ) -> Self {
        let ghost_owners = (0_u32..).zip(counts);
        let ghost_owners: Vec<u32> = ghost_owners
            .flat_map(|(rank, &count)| std::iter::repeat_n(rank, count))
            .collect();
        // Ids with the owner and the place among the ghosts that came.
        let mut order = parallel::collect(ghost_owners.len(), |i| (id(i), ghost_owners[i], i));
        order.par_sort_unstable();
        let before = parallel::map(&order, |ghost| before(ghost.0));

        let me = ranks.rank() as u32;
        let mut owners = Owners::default();
        let mut places = vec![0; order.len()];
        let mut next = 0;
        for (&(_, owner, i), &until) in order.iter().zip(&before) {
            owners.push(until - next, me);
            places[i] = owners.len() as u32;
            owners.push(1, owner);
            next = until;
        }
        owners.push(owned - next, me);
        let halo = Halo {
            send: sent.map(|&i| (i + before.partition_point(|&k| k as u64 <= i) as u64) as u32),
            receive: Mail::from_parts(places, counts.iter().copied()),
        };
        Self {
            order: order.into_iter().map(|(.., i)| i).collect(),
            before,
            owned,
            owners,
            halo,
        }
    }

    /// The ids of all elements: of the owned ones, and of the ghosts in the order in which they came.
    pub fn ids(&self, owned: &Ids, ghosts: &[u64]) -> MergedIds {
        match self.around(ghosts) {
            Some([lower, higher]) => MergedIds {
                lower,
                middle: owned.clone(),
                higher,
            },
            None => MergedIds {
                middle: Ids::List(self.interleave(1, &owned.to_vec(), ghosts)),
                ..MergedIds::default()
            },
        }
    }

    /// What belongs to the ghosts before and behind all owned elements, from the order in which they came; `None` where some are among these.
    pub fn around<T: Copy>(&self, ghosts: &[T]) -> Option<[Vec<T>; 2]> {
        let lower = self.before.partition_point(|&before| before == 0);
        let higher = self.before.partition_point(|&before| before < self.owned);
        let of = |order: &[usize]| order.iter().map(|&i| ghosts[i]).collect();
        // Without owned elements, all ghosts are before.
        (lower >= higher).then(|| [of(&self.order[..lower]), of(&self.order[lower..])])
    }

    /// Who holds the element at a place in the list, and where.
    pub fn held(&self, place: usize) -> Held {
        let ghosts = self.ghosts_before(place);
        match self.before.get(ghosts) {
            Some(&before) if before + ghosts == place => Held::Ghost(self.order[ghosts]),
            _ => Held::Owned(place - ghosts),
        }
    }

    /// One list of what belongs to owned elements, and to the ghosts in the order in which they came: `stride` items each.
    pub fn interleave<T: Copy + Zeroable + Send + Sync>(
        &self,
        stride: usize,
        owned: &[T],
        ghosts: &[T],
    ) -> Vec<T> {
        let mut all = parallel::zeroed(owned.len() + ghosts.len());
        parallel::for_chunks_mut(&mut all, PIECE * stride, |k, piece| {
            let (mut place, mut rest) = (k * PIECE, piece);
            let mut ghost = self.ghosts_before(place);
            while !rest.is_empty() {
                let until = place + rest.len() / stride;
                let next = (self.before.get(ghost)).map_or(until, |&before| before + ghost);
                let run = next.min(until) - place;
                let (own, behind) = rest.split_at_mut(stride * run);
                own.copy_from_slice(&owned[stride * (place - ghost)..][..own.len()]);
                (place, rest) = (place + run, behind);
                if !rest.is_empty() {
                    let (row, behind) = rest.split_at_mut(stride);
                    row.copy_from_slice(&ghosts[stride * self.order[ghost]..][..stride]);
                    (place, ghost, rest) = (place + 1, ghost + 1, behind);
                }
            }
        });
        all
    }

    /// Number of ghosts before a place in the list.
    fn ghosts_before(&self, place: usize) -> usize {
        partition(self.before.len(), |g| self.before[g] + g < place)
    }

    /// `value` of the place in the list of each owned element.
    pub fn map_owned<T: Zeroable + Send>(&self, value: impl Fn(usize) -> T + Sync) -> Vec<T> {
        let mut all = parallel::zeroed(self.owned);
        parallel::for_chunks_mut(&mut all, PIECE, |k, values| {
            let first = k * PIECE;
            let mut ghost = self.before.partition_point(|&before| before <= first);
            for (i, place) in (first..).zip(values) {
                while self.before.get(ghost).is_some_and(|&before| before <= i) {
                    ghost += 1;
                }
                *place = value(i + ghost);
            }
        });
        all
    }
}

/// Owned rows and ghosts in one ascending list, their owners, and the halo.
pub fn join(
    ranks: &Ranks,
    owned: &Rows,
    sent: &Mail<u64>,
    received: Mail<u64>,
) -> (Rows, Owners, Halo) {
    let stride = owned.stride;
    let counts = (0..ranks.size()).map(|rank| received.of(rank).len() / stride);
    let counts: Vec<usize> = counts.collect();
    let ghosts = Rows {
        words: received.into_items(),
        stride,
    };
    let (before, id) = (|id| owned.before(id), |i| ghosts.id(i));
    let merged = Merged::new(ranks, owned.len(), before, sent, &counts, id);
    let words = merged.interleave(stride, &owned.words, &ghosts.words);
    (Rows { words, stride }, merged.owners, merged.halo)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::threads::run;

    proptest::proptest! {
        /// Owned ids that are a range, or not, with ghosts before, among and behind them.
        #[test]
        fn merged_ids_are_the_sorted_list(
            owned in proptest::collection::btree_set(20..40_u64, 0..20),
            is_range: bool,
            others in proptest::collection::btree_set(0..60_u64, 0..30),
            first in proptest::sample::select(vec![0, 1_u64 << 40]),
        ) {
            let owned: Vec<u64> = match is_range {
                true => (25..25 + owned.len() as u64).collect(),
                false => owned.into_iter().collect(),
            };
            let ghosts: Vec<u64> = others.into_iter().filter(|id| !owned.contains(id)).collect();
            let mut sorted: Vec<u64> = owned.iter().chain(&ghosts).map(|id| first + id).collect();
            sorted.sort_unstable();
            let shifted = |ids: &[u64]| ids.iter().map(|id| first + id).collect::<Vec<u64>>();
            let (owned, ghosts) = (Ids::of(shifted(&owned)), shifted(&ghosts));
            run(1, |transport| {
                let ranks = Ranks::new(transport);
                let sent = Mail::from_parts(Vec::new(), [0].into_iter());
                let before = |id| owned.before(id);
                let counts = [ghosts.len()];
                let merged = Merged::new(&ranks, owned.len(), before, &sent, &counts, |i| ghosts[i]);
                let ids = merged.ids(&owned, &ghosts);
                assert_eq!((0..ids.len()).map(|i| ids.get(i)).collect::<Vec<_>>(), sorted);
                let held = |place: usize| match merged.held(place) {
                    Held::Owned(i) => owned.get(i),
                    Held::Ghost(i) => ghosts[i],
                };
                assert_eq!((0..ids.len()).map(held).collect::<Vec<_>>(), sorted);
                for id in (0..61).map(|id| first + id) {
                    let place = sorted.binary_search(&id).ok().map(|place| place as u32);
                    assert_eq!(ids.place(id), place);
                }
            });
        }
    }
}
