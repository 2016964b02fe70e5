//! Elements that ranks send each other with what belongs to them, and the halo that they make: owned ones, and ghosts
//! that others own.

use std::ops::Range;

use bytemuck::Pod;
use rayon::slice::ParallelSliceMut;
use trioxide_mesh::parallel;

use crate::ids::{IdSet, partition};
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
    pub fn before(&self, id: u64) -> usize {
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
}

/// Sends row `sent[i]`, which ascend, to rank `to[i]`, as `stride` words that `write` gives: which, by their places,
/// and the rows from others. Collective.
pub fn send_rows(
    ranks: &Ranks,
    stride: usize,
    to: &[u32],
    sent: &[u64],
    write: impl Fn(usize, &mut [u64]) + Sync,
) -> (Mail<u64>, Mail<u64>) {
    let (size, n) = (ranks.size(), to.len());
    let rank = |i: usize| to[i] as usize;
    let rows = Mail::rows(size, n, stride, rank, |i, row| write(sent[i] as usize, row));
    let received = ranks.exchange(&rows);
    (Mail::sorted(size, n, |i| (rank(i), sent[i])), received)
}

/// The vertices of a cell with so many corners: it is a row of its id, its vertices, and what else belongs to it.
pub fn vertices(cell: &[u64], size: usize) -> &[u64] {
    &cell[1..=size]
}

/// All vertices of cells with so many corners.
pub fn all_vertices(cells: &Rows, size: usize) -> IdSet {
    IdSet::of_lists(cells.len(), |i| {
        vertices(cells.get(i), size).iter().copied()
    })
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

    /// The halo where elements have parts: each element's own place, and behind all of a rank those of its other parts,
    /// in `parts`.
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

    /// Gives the items of owned elements to the ranks that have them as ghosts, and takes those of ghosts: calls `set`
    /// for each. Collective.
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

    /// A bit each of those ghosts alone for whose element the owner's `get` gives one, by its place among the
    /// [given](Halo::given) ones: four bytes for each of them. Collective.
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

    /// Tells marks of owned elements, `each` an element, to the ranks that have them as ghosts. `is_new` picks those to
    /// tell, four bytes each: mark k of the element at place i among the [given](Halo::given) ones is number `each`
    /// times i plus k. The marks of [ghosts](Halo::ghosts) that are told, numbered likewise. Collective.
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
