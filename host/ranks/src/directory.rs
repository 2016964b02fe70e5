//! Questions to directories: the ranks whose blocks the ids of elements are in.

use std::ops::Range;

use bytemuck::Pod;
use rayon::slice::ParallelSliceMut;
use trioxide_mesh::parallel;

use crate::block::{Blocks, by_blocks};
use crate::fault::Result;
use crate::ids::IdSet;
use crate::transport::{Mail, Ranks};

/// Items of some ids, from their directories.
pub struct Fetched<T> {
    /// The ids.
    pub ids: IdSet,
    items: Vec<T>,
}

impl<T: Pod + Send + Sync> Fetched<T> {
    /// The items of these ids of `total`; `held` are the items of this rank's block. Collective.
    pub fn of(ranks: &Ranks, total: u64, ids: IdSet, held: &[T]) -> Self {
        let start = Blocks::new(total, ranks.size()).range(ranks.rank()).start;
        Self::by(ranks, total, ids, |id| held[(id - start) as usize])
    }

    /// As [`of`](Fetched::of), where `held` gives the item of an id of this rank's block.
    pub fn by(ranks: &Ranks, total: u64, ids: IdSet, held: impl Fn(u64) -> T + Sync) -> Self {
        let list = ids.to_vec();
        let items = fetch(ranks, total, list.len(), |i| list[i], held);
        Self { ids, items }
    }

    /// As [`of`](Fetched::of), where `held` gives the items at places in this rank's block.
    ///
    /// # Errors
    /// That of `held` on any rank.
    pub fn try_by(
        ranks: &Ranks,
        total: u64,
        ids: IdSet,
        held: impl FnOnce(&[u32]) -> Result<Vec<T>>,
    ) -> Result<Self> {
        let (list, blocks) = (ids.to_vec(), Blocks::new(total, ranks.size()));
        let of_ranks = by_blocks(blocks, list.len(), |i| list[i]);
        let questions = to_directories(blocks, &of_ranks, |i| list[i]);
        let items = ranks.try_ask(&questions, |asked| held(asked.items()))?;
        Ok(Self { ids, items })
    }

    /// The item of an id.
    ///
    /// # Panics
    /// When it is none of the ids.
    #[inline]
    pub fn get(&self, id: u64) -> T {
        self.items[self.ids.place(id).expect("it was asked for") as usize]
    }

    /// The items in the order of the ids.
    pub fn into_items(self) -> Vec<T> {
        self.items
    }
}

/// The items of `n` ids of `total`, from their directories: `id(i)` ascends, `held` gives the item of an id of this
/// rank's block. Collective.
pub fn fetch<T: Pod + Send + Sync>(
    ranks: &Ranks,
    total: u64,
    n: usize,
    id: impl Fn(usize) -> u64 + Sync,
    held: impl Fn(u64) -> T + Sync,
) -> Vec<T> {
    let blocks = Blocks::new(total, ranks.size());
    let mut of_ranks = by_blocks(blocks, n, &id);
    // Items of the rank's own block do not travel.
    let own = std::mem::take(&mut of_ranks[ranks.rank()]);
    let start = blocks.range(ranks.rank()).start;
    let questions = to_directories(blocks, &of_ranks, &id);
    let received = ranks.ask(&questions, |&place| held(start + u64::from(place)));
    parallel::collect(n, |i| match i {
        _ if i < own.start => received[i],
        _ if i < own.end => held(id(i)),
        _ => received[i - own.len()],
    })
}

/// Questions to directories about ids with these [places](by_blocks): each is a place in the directory's block.
///
/// # Panics
/// Where 32 bits do not name the places: such blocks are refused before.
pub(crate) fn to_directories(
    blocks: Blocks,
    of_ranks: &[Range<usize>],
    id: impl Fn(usize) -> u64 + Sync,
) -> Mail<u32> {
    assert!(blocks.length() <= 1 << 32, "blocks of {}", blocks.length());
    Mail::of_lists(of_ranks.len(), |rank, places| {
        let (range, start) = (&of_ranks[rank], blocks.range(rank).start);
        let place = |k| (id(range.start + k) - start) as u32;
        parallel::append(places, range.len(), parallel::GRAIN, place);
    })
}

/// Sends ranks the other users of the keys that they hold. `users` are the uses that this directory knows: twice the
/// key, plus one of a rank that holds it, and the rank. Returns, for each key that this rank holds, the other ranks
/// that use it, as pairs in ascending order. Collective.
pub(crate) fn other_users(ranks: &Ranks, mut users: Vec<[u64; 2]>) -> Vec<[u64; 2]> {
    let mut answers = Vec::new();
    for users in by_keys(&mut users) {
        for &[item, holder] in users.iter().filter(|user| user[0] & 1 != 0) {
            let others = users.iter().filter(|other| other[1] != holder);
            answers.extend(others.map(|other| (holder as usize, [item >> 1, other[1]])));
        }
    }
    let answers = Mail::sorted(ranks.size(), answers.len(), |i| answers[i]);
    let mut others = ranks.exchange(&answers).into_items();
    others.par_sort_unstable();
    others
}

/// The uses of each key.
pub(crate) fn by_keys(users: &mut [[u64; 2]]) -> impl Iterator<Item = &[[u64; 2]]> {
    users.par_sort_unstable();
    users.chunk_by(|a, b| a[0] >> 1 == b[0] >> 1)
}

/// The second numbers of the pairs that begin with a key; pairs ascend.
pub(crate) fn paired(pairs: &[[u64; 2]], key: u64) -> impl Iterator<Item = u64> {
    let start = pairs.partition_point(|pair| pair[0] < key);
    let same = pairs[start..].iter().take_while(move |pair| pair[0] == key);
    same.map(|pair| pair[1])
}
