//! Places in an order of the whole mesh: new elements are counted at the directories of the elements that they come from.

use trioxide_mesh::parallel;

use crate::block::Blocks;
use crate::ids::IdSet;
use crate::transport::{Mail, Ranks};

/// Elements whose counts a thread adds up at a time.
const PIECE: usize = 1 << 14;

/// For each of `n` elements, of `total` in all, how many of two kinds all elements with smaller ids count together; and the sums of all.
/// Each element is counted by one rank; the ids of a rank ascend. Elements of a run that counts nothing get no number of use. Collective.
///
/// A run of consecutive ids within a directory's block has one number from there: within it this rank adds up.
pub fn exclusive_sums(
    ranks: &Ranks,
    total: u64,
    n: usize,
    id: impl Fn(usize) -> u64 + Sync,
    count: impl Fn(usize) -> [u32; 2] + Sync,
) -> (Vec<[u64; 2]>, [u64; 2]) {
    let blocks = Blocks::new(total, ranks.size());
    let begins_run = |i: usize| {
        let begins = |before: u64| before + 1 != id(i) || (id(i)).is_multiple_of(blocks.length());
        i == 0 || begins(id(i - 1))
    };
    let (mut sums, here) = local_sums(n, count);
    let starts = parallel::filter_collect(n, |i| begins_run(i).then_some(i));
    let length = |run: usize| {
        let start = starts[run];
        let end = starts.get(run + 1).map_or(here, |&end| sums[end]);
        [0, 1].map(|k| end[k] - sums[start][k])
    };
    // A part counts fewer elements than 32-bit ids name.
    let packed = |[a, b]: [u64; 2]| a << 32 | b;
    let told = parallel::filter_collect(starts.len(), |run| {
        let length = length(run);
        (length != [0, 0]).then(|| (run, [id(starts[run]), packed(length)]))
    });
    let bases = bases(ranks, blocks, told.iter().map(|(_, item)| *item).collect());
    let (bases, totals) = bases;
    let mut shifts: Vec<[u64; 2]> = vec![[0; 2]; starts.len()];
    for ((run, _), base) in told.iter().zip(bases) {
        shifts[*run] = [0, 1].map(|k| base[k].wrapping_sub(sums[starts[*run]][k]));
    }
    parallel::for_chunks_mut(&mut sums, PIECE, |k, sums| {
        let mut run = starts.partition_point(|&start| start <= k * PIECE);
        for (i, sum) in (k * PIECE..).zip(sums) {
            run += usize::from(starts.get(run) == Some(&i));
            for (sum, shift) in sum.iter_mut().zip(shifts[run - 1]) {
                *sum = sum.wrapping_add(shift);
            }
        }
    });
    (sums, totals)
}

/// The sums of the counts before each element, and of all.
fn local_sums(n: usize, count: impl Fn(usize) -> [u32; 2] + Sync) -> (Vec<[u64; 2]>, [u64; 2]) {
    let add = |sum: &mut [u64; 2], count: [u32; 2]| {
        let before = *sum;
        *sum = [0, 1].map(|k| sum[k] + u64::from(count[k]));
        before
    };
    let mut starts = parallel::map_pieces(n, PIECE, |range| {
        let mut sum = [0; 2];
        range.for_each(|i| _ = add(&mut sum, count(i)));
        sum
    });
    let mut all = [0; 2];
    for start in &mut starts {
        let here = std::mem::replace(start, all);
        all = [0, 1].map(|k| all[k] + here[k]);
    }
    let mut sums: Vec<[u64; 2]> = parallel::zeroed(n);
    parallel::for_chunks_mut(&mut sums, PIECE, |k, sums| {
        let mut sum = starts[k];
        for (i, place) in (k * PIECE..).zip(sums) {
            *place = add(&mut sum, count(i));
        }
    });
    (sums, all)
}

/// The sums before each of these runs, which count the second words beginning with the ids in the first ones, and the sums of all, from the
/// runs' directories. Collective.
fn bases(ranks: &Ranks, blocks: Blocks, runs: Vec<[u64; 2]>) -> (Vec<[u64; 2]>, [u64; 2]) {
    let size = ranks.size();
    let told = Mail::sorted(size, runs.len(), |i| (blocks.rank(runs[i][0]), runs[i]));
    let told = ranks.exchange(&told);
    let places = IdSet::of(told.items().len(), |i| told.items()[i][0]);
    let place = |id: u64| places.place(id).expect("it was told") as usize;
    let mut sums = vec![[0; 2]; places.len()];
    for &[id, count] in told.items() {
        sums[place(id)] = [count >> 32, count & 0xffff_ffff];
    }
    let mut sum = [0, 0];
    for before in &mut sums {
        let count = std::mem::replace(before, sum);
        sum = [sum[0] + count[0], sum[1] + count[1]];
    }
    let scans = sum.map(|sum| ranks.scan(sum));
    let answers = told.map(|&[id, _]| {
        let [a, b] = sums[place(id)];
        [a + scans[0].0, b + scans[1].0]
    });
    // Blocks ascend as ids do: the answers come in the order of the ids.
    (
        ranks.exchange(&answers).into_items(),
        scans.map(|(_, total)| total),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::threads::run;

    #[test]
    fn sums_are_those_of_the_elements_in_order() {
        for size in [1, 2, 5] {
            let count = |id: u64| [(id % 4) as u32, (id % 3) as u32];
            let of_ranks = run(size, |transport| {
                let ranks = Ranks::new(transport);
                let mine = |id: &u64| (id * 7 / 3) as usize % size == ranks.rank();
                // Some elements are counted by none.
                let ids: Vec<u64> = (0..50).filter(|id| id % 5 != 2).filter(mine).collect();
                let (id, count) = (|i: usize| ids[i], |i: usize| count(ids[i]));
                let (sums, totals) = exclusive_sums(&ranks, 50, ids.len(), id, count);
                (ids, sums, totals)
            });
            let before = |end: u64| {
                let ids = (0..end).filter(|id| id % 5 != 2).map(count);
                ids.fold([0, 0], |[a, b], [c, d]| {
                    [a + u64::from(c), b + u64::from(d)]
                })
            };
            for (ids, sums, totals) in of_ranks {
                assert_eq!(totals, before(50));
                for (id, sum) in ids.into_iter().zip(sums) {
                    // Some count nothing.
                    assert!(
                        sum == before(id) || count(id) == [0, 0],
                        "{id} on {size} ranks"
                    );
                }
            }
        }
    }
}
