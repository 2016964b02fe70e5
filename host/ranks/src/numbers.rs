//! Places in an order of the whole mesh: new elements are counted at the directories of the elements that they come from.

use rayon::prelude::*;

use crate::block::Blocks;
use crate::ids::IdSet;
use crate::transport::{Mail, Ranks};

/// For each of these elements, of `total`, how many of two kinds all elements with smaller ids count together; and the sums of all. Each
/// element is counted by one rank; the ids of a rank ascend. Collective.
pub fn exclusive_sums(
    ranks: &Ranks,
    total: u64,
    ids: &[u64],
    counts: &[[u32; 2]],
) -> (Vec<[u64; 2]>, [u64; 2]) {
    let size = ranks.size();
    let blocks = Blocks::new(total, size);
    let packed = |[a, b]: [u32; 2]| u64::from(a) << 32 | u64::from(b);
    let items = ids.iter().zip(counts);
    let items = items.map(|(&id, &count)| (blocks.rank(id), [id, packed(count)]));
    let told = ranks.exchange(&Mail::sorted(size, items));
    let places = IdSet::of(&told.items().iter().map(|item| item[0]));
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
    let answers = told.items().par_iter().map(|&[id, _]| {
        let [a, b] = sums[place(id)];
        [a + scans[0].0, b + scans[1].0]
    });
    // Blocks ascend as ids do: the answers come in the order of the ids.
    let answers = ranks.exchange(&told.with(answers.collect())).into_items();
    (answers, scans.map(|(_, total)| total))
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
                let counts: Vec<_> = ids.iter().map(|&id| count(id)).collect();
                let (sums, totals) = exclusive_sums(&ranks, 50, &ids, &counts);
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
                    assert_eq!(sum, before(id), "{id} on {size} ranks");
                }
            }
        }
    }
}
