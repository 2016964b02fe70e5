//! Numbers in an order of the whole mesh: the directories of cells count the new elements that come from them.

use std::ops::Range;

use trioxide_mesh::parallel;

use crate::block::Blocks;
use crate::ids::{IdSet, Owners};
use crate::part::owned_bits;
use crate::transport::{Mail, Ranks};

/// Cells whose sums a thread writes at a time.
const PIECE: usize = 1 << 14;

/// For each cell that this rank owns, the number of elements of all cells with smaller ids, of two kinds: half-edges of
/// triangles, or edges and parts of tetrahedra.
///
/// Each run of consecutive ids within a directory's block gets one number from there; within the run bits are counted.
pub struct Sums {
    /// The elements of the owned cells.
    kinds: [Ranked; 2],
    /// Bits of a cell.
    each: usize,
    /// First cell of each run.
    starts: Vec<u32>,
    /// Difference of its sums and the number of bits before it.
    shifts: Vec<[u64; 2]>,
    /// The sums of all cells of all ranks.
    pub totals: [u64; 2],
}

impl Sums {
    /// Counts the elements of a part's cells, which have these owners and ids, of all `total` cells; `kinds` have
    /// `each`
    /// bits a cell, or none. Cells of a run without elements get numbers of no use. Collective.
    pub fn count(
        ranks: &Ranks,
        total: u64,
        owners: &Owners,
        id: impl Fn(usize) -> u64 + Sync,
        each: usize,
        kinds: [&[u32]; 2],
    ) -> Self {
        let blocks = ranks.blocks(total);
        let owned = owned_bits(owners, ranks.rank(), each);
        let kinds = kinds.map(|bits| Ranked::of(bits, &owned));
        drop(owned);
        let starts = starts_of_runs(owners, ranks.rank(), &id, blocks.length());
        let before = |t: usize| [0, 1].map(|k| kinds[k].before(each * t));
        let length = |run: usize| {
            let end = starts.get(run + 1).map_or(owners.len(), |&t| t as usize);
            let (start, end) = (before(starts[run] as usize), before(end));
            [0, 1].map(|k| u64::from(end[k] - start[k]))
        };
        // A part counts fewer elements than 32-bit ids name.
        let packed = |[a, b]: [u64; 2]| a << 32 | b;
        let told = parallel::filter_collect(starts.len(), |run| {
            let length = length(run);
            (length != [0, 0]).then(|| (run, [id(starts[run] as usize), packed(length)]))
        });
        let runs = told.iter().map(|(_, item)| *item).collect();
        let (bases, totals) = bases(ranks, blocks, runs);
        let mut shifts: Vec<[u64; 2]> = vec![[0; 2]; starts.len()];
        for ((run, _), base) in told.iter().zip(bases) {
            let before = before(starts[*run] as usize);
            shifts[*run] = [0, 1].map(|k| base[k].wrapping_sub(before[k].into()));
        }
        Self {
            kinds,
            each,
            starts,
            shifts,
            totals,
        }
    }

    /// The sums before each of the part's `cells`; they are of no use for ghosts.
    pub fn before(&self, cells: usize) -> Vec<[u64; 2]> {
        let mut sums: Vec<[u64; 2]> = parallel::zeroed(cells);
        parallel::for_chunks_mut(&mut sums, PIECE, |piece, sums| {
            let first = piece * PIECE;
            self.for_each(first..first + sums.len(), |t, before| {
                sums[t - first] = before
            });
        });
        sums
    }

    /// The sums before an owned cell.
    pub fn before_cell(&self, cell: usize) -> [u64; 2] {
        let mut sums = [0; 2];
        self.for_each(cell..cell + 1, |_, before| sums = before);
        sums
    }

    /// Calls `body` with each of these cells and the sums before it, which are of no use for ghosts.
    pub fn for_each(&self, cells: Range<usize>, mut body: impl FnMut(usize, [u64; 2])) {
        let mut run = self.starts.partition_point(|&t| (t as usize) < cells.start);
        for t in cells {
            run += usize::from(self.starts.get(run) == Some(&(t as u32)));
            let shift = run.checked_sub(1).map_or([0; 2], |run| self.shifts[run]);
            let here = |k: usize| u64::from(self.kinds[k].before(self.each * t));
            body(t, [0, 1].map(|k| shift[k].wrapping_add(here(k))));
        }
    }
}

/// The first cell of each run of consecutive ids that a rank owns, within blocks of ids of this length.
fn starts_of_runs(
    owners: &Owners,
    rank: usize,
    id: impl Fn(usize) -> u64 + Sync,
    block: u64,
) -> Vec<u32> {
    let mut starts = Vec::new();
    for range in owners.of_rank(rank as u32) {
        let first = range.start;
        let is_behind = |i: usize| i > 0 && id(first + i - 1) + 1 == id(first + i);
        let runs = parallel::filter_collect(range.len(), |i| (!is_behind(i)).then_some(first + i));
        let of_run = |run: usize| {
            let start = runs[run];
            let end = runs.get(run + 1).map_or(range.end, |&end| end);
            // Ids grow by one from here to the end, so the first ids of blocks lie at equal distances.
            let to_next_block = (id(start) / block + 1) * block - id(start);
            let others = (start as u64 + to_next_block..end as u64).step_by(block as usize);
            std::iter::once(start as u32).chain(others.map(|t| t as u32))
        };
        starts.extend(parallel::concat(parallel::map_pieces(
            runs.len(),
            PIECE,
            |pieces| pieces.flat_map(of_run).collect::<Vec<u32>>(),
        )));
    }
    starts
}

/// Words whose bits a thread counts at a time.
const WORDS: usize = 1 << 14;

/// Bits, with the number of set bits before each.
struct Ranked {
    words: Vec<u32>,
    /// Set bits before each word, and all.
    before: Vec<u32>,
}

impl Ranked {
    /// The bits that both sets have; none if the first has no words.
    fn of(bits: &[u32], others: &[u32]) -> Self {
        let words = parallel::collect(bits.len(), |w| bits[w] & others[w]);
        let mut starts = parallel::map_pieces(words.len(), WORDS, |range| {
            words[range].iter().map(|word| word.count_ones()).sum()
        });
        let mut all: u32 = 0;
        for start in &mut starts {
            all += std::mem::replace(start, all);
        }
        let mut before = parallel::zeroed(words.len() + 1);
        parallel::for_chunks_mut(&mut before[..words.len()], WORDS, |piece, before| {
            let mut sum = starts[piece];
            for (before, word) in before.iter_mut().zip(&words[piece * WORDS..]) {
                *before = sum;
                sum += word.count_ones();
            }
        });
        before[words.len()] = all;
        Self { words, before }
    }

    /// Number of bits before bit `i`.
    fn before(&self, i: usize) -> u32 {
        let Some(word) = self.words.get(i / 32) else {
            return self.before[self.words.len()];
        };
        let smaller = word & ((1 << (i % 32)) - 1);
        self.before[i / 32] + smaller.count_ones()
    }
}

/// The sums before each run, and the sums of all, from the runs' directories. A run is its first id and its two counts,
/// 32 bits each. Collective.
fn bases(ranks: &Ranks, blocks: Blocks, runs: Vec<[u64; 2]>) -> (Vec<[u64; 2]>, [u64; 2]) {
    let size = ranks.size();
    let runs = Mail::sorted(size, runs.len(), |i| (blocks.rank(runs[i][0]), runs[i]));
    let mut totals = [0; 2];
    // Blocks ascend as ids do: the answers come in the order of the ids.
    let bases = ranks.ask_together(&runs, |asked| {
        let asked = asked.items();
        let places = IdSet::of(asked.len(), |i| asked[i][0]);
        let place = |id: u64| places.place(id).expect("it was asked for") as usize;
        let mut sums = vec![[0; 2]; places.len()];
        for &[id, count] in asked {
            sums[place(id)] = [count >> 32, count & 0xffff_ffff];
        }
        let mut sum = [0; 2];
        for before in &mut sums {
            let count = std::mem::replace(before, sum);
            sum = [sum[0] + count[0], sum[1] + count[1]];
        }
        let scans = sum.map(|sum| ranks.scan(sum));
        totals = scans.map(|(_, total)| total);
        parallel::map(asked, |&[id, _]| {
            let [a, b] = sums[place(id)];
            [a + scans[0].0, b + scans[1].0]
        })
    });
    (bases, totals)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::threads::run;

    #[test]
    fn sums_are_those_of_the_cells_in_order() {
        let count = |id: u64| [id % 4, id % 3];
        // Some triangles are counted by none.
        let is_counted = |id: &u64| id % 5 != 2;
        let before = |end: u64| {
            let ids = (0..end).filter(is_counted).map(count);
            ids.fold([0, 0], |[a, b], [c, d]| [a + c, b + d])
        };
        for size in [1, 2, 5] {
            run(size, |transport| {
                let ranks = Ranks::new(transport);
                let owner = |id: u64| (id * 7 / 3) as usize % size;
                // Also with ghosts, which count for others.
                let is_here = |id: &u64| (0..3).any(|k| owner(id + k) == ranks.rank());
                let ids: Vec<u64> = (0..50).filter(is_counted).filter(is_here).collect();
                let owners: Vec<u32> = ids.iter().map(|&id| owner(id) as u32).collect();
                let owners = Owners::of(&owners);
                let kinds = [0, 1].map(|kind| {
                    let is_set = |h: usize| ((h % 3) as u64) < count(ids[h / 3])[kind];
                    trioxide_mesh::bit_set::pack((0..3 * ids.len()).map(is_set))
                });
                let of = |kinds| Sums::count(&ranks, 50, &owners, |t| ids[t], 3, kinds);
                let sums = of([&kinds[0], &kinds[1]]);
                assert_eq!(sums.totals, before(50));
                let one = of([&kinds[0], &[]]);
                assert_eq!(one.totals, [before(50)[0], 0]);
                let all = sums.before(ids.len());
                for t in owners.of_rank(ranks.rank() as u32).flatten() {
                    let id = ids[t];
                    // Some count nothing.
                    let is_so = all[t] == before(id) || count(id) == [0, 0];
                    assert!(is_so, "{id} on {size} ranks");
                }
            });
        }
    }
}
