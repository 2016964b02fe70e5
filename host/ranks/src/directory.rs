//! Items of elements from their directories: the ranks whose blocks their ids are in.

use std::ops::Range;

use trioxide_mesh::parallel;

use crate::block::Blocks;
use crate::fault::Result;
use crate::ids::partition;
use crate::transport::{Mail, Ranks};

/// Items of elements from the directories that hold them: `ids` ascend, `held` are those of this rank's block.
/// Collective.
pub fn fetch<T: bytemuck::Pod + Send + Sync>(
    ranks: &Ranks,
    total: u64,
    ids: &[u64],
    held: &[T],
) -> Vec<T> {
    let start = Blocks::new(total, ranks.size()).range(ranks.rank()).start;
    fetch_by(ranks, total, ids, |id| held[(id - start) as usize])
}

/// As [`fetch`]: `held` gives the items of this rank's block by their ids. Collective.
pub fn fetch_by<T: bytemuck::Pod + Send + Sync>(
    ranks: &Ranks,
    total: u64,
    ids: &[u64],
    held: impl Fn(u64) -> T + Sync,
) -> Vec<T> {
    fetch_at(ranks, total, ids.len(), |i| ids[i], held)
}

/// As [`fetch_by`], of `n` ids: `id(i)` ascends. Collective.
pub fn fetch_at<T: bytemuck::Pod + Send + Sync>(
    ranks: &Ranks,
    total: u64,
    n: usize,
    id: impl Fn(usize) -> u64 + Sync,
    held: impl Fn(u64) -> T + Sync,
) -> Vec<T> {
    let blocks = Blocks::new(total, ranks.size());
    let mut of_ranks = by_blocks(ranks, blocks, n, &id);
    // Items of the rank's own block do not travel.
    let own = std::mem::take(&mut of_ranks[ranks.rank()]);
    let questions = to_directories(blocks, &of_ranks, &id);
    let start = blocks.range(ranks.rank()).start;
    let answers = ranks.exchange(&questions);
    let answers = answers.map(|&place| held(start + u64::from(place)));
    let received = ranks.exchange_expected(&answers, &questions.counts());
    let received = received.items();
    parallel::collect(n, |i| match i {
        _ if i < own.start => received[i],
        _ if i < own.end => held(id(i)),
        _ => received[i - own.len()],
    })
}

/// The places of ascending ids, `id(i)` of each of `n`, that are in the block of each rank.
pub(crate) fn by_blocks(
    ranks: &Ranks,
    blocks: Blocks,
    n: usize,
    id: impl Fn(usize) -> u64,
) -> Vec<Range<usize>> {
    let before = |end: u64| partition(n, |i| id(i) < end);
    let of_rank = |rank| {
        let range = blocks.range(rank);
        before(range.start)..before(range.end)
    };
    (0..ranks.size()).map(of_rank).collect()
}

/// Ids for the directories that hold them, by their [places](by_blocks): how far each is behind the first one of its
/// block.
///
/// # Panics
/// Where 32 bits are too few: such a block is refused before.
pub(crate) fn to_directories(
    blocks: Blocks,
    of_ranks: &[Range<usize>],
    id: impl Fn(usize) -> u64 + Sync,
) -> Mail<u32> {
    assert!(blocks.length() <= 1 << 32, "blocks of {}", blocks.length());
    let mut places = Vec::with_capacity(of_ranks.iter().map(Range::len).sum());
    for (rank, range) in of_ranks.iter().enumerate() {
        let start = blocks.range(rank).start;
        let place = |k| (id(range.start + k) - start) as u32;
        parallel::append(&mut places, range.len(), parallel::GRAIN, place);
    }
    Mail::from_parts(places, of_ranks.iter().map(Range::len))
}

/// As [`fetch`]: `held` gives the items of this rank's block for a list of their ids. Collective.
///
/// # Errors
/// That of `held` on any rank.
pub fn fetch_list<T: bytemuck::Pod + Send + Sync>(
    ranks: &Ranks,
    total: u64,
    ids: &[u64],
    held: impl FnOnce(&[u64]) -> Result<Vec<T>>,
) -> Result<Vec<T>> {
    let blocks = Blocks::new(total, ranks.size());
    let of_ranks = by_blocks(ranks, blocks, ids.len(), |i| ids[i]);
    let questions = to_directories(blocks, &of_ranks, |i| ids[i]);
    let start = blocks.range(ranks.rank()).start;
    let asked = ranks.exchange(&questions);
    let asked = asked.map(|&place| start + u64::from(place));
    let answers = asked.with(ranks.agree(held(asked.items()))?);
    let received = ranks.exchange_expected(&answers, &questions.counts());
    Ok(received.into_items())
}
