//! Elements with their data, as rows of words that ranks send each other.

use rayon::slice::ParallelSliceMut;
use trioxide_mesh::parallel;

use crate::ids::{IdSet, partition};
use crate::transport::{Mail, Ranks};

/// A row for each of some elements: its id, and its data.
pub struct Records {
    /// The words of all rows.
    pub words: Vec<u64>,
    /// Words of a row.
    pub stride: usize,
}

impl Records {
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

    /// The ids of all rows.
    pub fn ids(&self) -> Vec<u64> {
        parallel::collect(self.len(), |i| self.id(i))
    }

    /// The vertices of cell `i`, where cells have `size` corners: they follow the id.
    pub fn corners(&self, i: usize, size: usize) -> &[u64] {
        &self.get(i)[1..=size]
    }

    /// The set of all vertices of cells with `size` corners.
    pub fn vertices(&self, size: usize) -> IdSet {
        IdSet::of_lists(self.len(), |i| self.corners(i, size).iter().copied())
    }

    /// Number of rows with a smaller id; rows ascend.
    pub fn before(&self, id: u64) -> usize {
        partition(self.len(), |i| self.id(i) < id)
    }

    /// The row with an id; rows ascend.
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

    /// Sends `n` rows of `stride` words, which `write` gives, to the ranks that `to` gives. Returns the rows from all
    /// ranks. Collective.
    pub fn exchange(
        ranks: &Ranks,
        stride: usize,
        n: usize,
        to: impl Fn(usize) -> usize + Sync,
        write: impl Fn(usize, &mut [u64]) + Sync,
    ) -> Self {
        let rows = Mail::rows(ranks.size(), n, stride, to, write);
        let words = ranks.exchange(&rows).into_items();
        Self { words, stride }
    }
}

/// Ghosts as they come from their owners, and the owned elements that other ranks get.
pub struct Ghosts {
    /// Places of the given owned elements, ascending for each rank.
    pub given: Mail<u64>,
    /// Number of ghosts from each rank.
    pub counts: Vec<usize>,
    /// A row for each ghost, ascending for each rank.
    pub rows: Records,
}

impl Ghosts {
    /// Sends the owned element `sent[i]` to rank `to[i]`, as a row of `stride` words that `write` gives; `sent`
    /// ascends.
    /// Collective.
    pub fn exchange(
        ranks: &Ranks,
        stride: usize,
        to: &[u32],
        sent: &[u64],
        write: impl Fn(usize, &mut [u64]) + Sync,
    ) -> Self {
        let (size, n) = (ranks.size(), to.len());
        let rank = |i: usize| to[i] as usize;
        let rows = Mail::rows(size, n, stride, rank, |i, row| write(sent[i] as usize, row));
        let received = ranks.exchange(&rows);
        Self {
            given: Mail::sorted(size, n, |i| (rank(i), sent[i])),
            counts: (0..size)
                .map(|rank| received.of(rank).len() / stride)
                .collect(),
            rows: Records {
                words: received.into_items(),
                stride,
            },
        }
    }
}
