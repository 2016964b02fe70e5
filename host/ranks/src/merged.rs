//! Owned elements and ghosts in one list, ascending by their ids.

use std::ops::Range;

use bytemuck::Zeroable;
use rayon::slice::ParallelSliceMut;
use trioxide_mesh::parallel;

use crate::halo::Halo;
use crate::ids::{Ids, Owners, partition};
use crate::records::Ghosts;
use crate::transport::{Mail, Ranks, split_off};

/// Elements that a thread copies at a time.
const PIECE: usize = 1 << 12;

/// Where an element of a merged list comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// Place among the owned elements.
    Owned(usize),
    /// Place among the ghosts, in the order in which they came.
    Ghost(usize),
}

/// Elements that follow one another in a merged list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Run {
    /// Places among the owned elements.
    Owned(Range<usize>),
    /// One ghost: its place in the order in which they came.
    Ghost(usize),
}

/// The places of ghosts among owned elements in one list.
#[derive(Default)]
pub struct Interleaving {
    /// Place of each ghost in the order in which they came.
    order: Vec<usize>,
    /// Number of owned elements before each ghost.
    before: Vec<usize>,
    /// Number of owned elements.
    owned: usize,
}

impl Interleaving {
    /// `order` has the place of each ghost in the order in which they came, `before` the number of the `owned` elements
    /// before it; `before` ascends.
    pub fn new(order: Vec<usize>, before: Vec<usize>, owned: usize) -> Self {
        Self {
            order,
            before,
            owned,
        }
    }

    /// Number of all elements.
    pub fn len(&self) -> usize {
        self.owned + self.order.len()
    }

    /// Where the element at a place in the list comes from.
    pub fn held(&self, place: usize) -> Held {
        let ghosts = self.ghosts_before(place);
        match self.before.get(ghosts) {
            Some(&before) if before + ghosts == place => Held::Ghost(self.order[ghosts]),
            _ => Held::Owned(place - ghosts),
        }
    }

    /// Calls `body` with the elements at these places in the list, in their order.
    pub fn for_runs(&self, places: Range<usize>, mut body: impl FnMut(Run)) {
        let (mut place, end) = (places.start, places.end);
        let mut ghost = self.ghosts_before(place);
        while place < end {
            let next = self.before.get(ghost).map_or(end, |&before| before + ghost);
            let until = next.min(end);
            if place < until {
                body(Run::Owned(place - ghost..until - ghost));
            }
            if until < end {
                body(Run::Ghost(self.order[ghost]));
                ghost += 1;
            }
            place = until + 1;
        }
    }

    /// A list of `stride` items for each element, which `write` gives for elements that follow one another.
    pub fn collect<T: Zeroable + Send>(
        &self,
        stride: usize,
        write: impl Fn(Run, &mut [T]) + Sync,
    ) -> Vec<T> {
        let mut all = parallel::zeroed(stride * self.len());
        parallel::for_chunks_mut(&mut all, PIECE * stride.max(1), |k, piece| {
            let first = k * PIECE;
            let mut rest = &mut piece[..];
            self.for_runs(first..self.len().min(first + PIECE), |run| {
                let count = match &run {
                    Run::Owned(range) => range.len(),
                    Run::Ghost(_) => 1,
                };
                write(run, split_off(&mut rest, stride * count));
            });
        });
        all
    }

    /// One list of `stride` items for each element, from the owned elements' items and the ghosts' in the order in
    /// which they came. Two empty lists give an empty one.
    pub fn interleave<T: Copy + Zeroable + Send + Sync>(
        &self,
        stride: usize,
        owned: &[T],
        ghosts: &[T],
    ) -> Vec<T> {
        if owned.is_empty() && ghosts.is_empty() {
            return Vec::new();
        }
        self.collect(stride, |run, items| {
            items.copy_from_slice(match run {
                Run::Owned(range) => &owned[stride * range.start..stride * range.end],
                Run::Ghost(i) => &ghosts[stride * i..stride * (i + 1)],
            });
        })
    }

    /// The items of the ghosts before and of those after all owned elements; `None` where some ghosts are between
    /// these.
    /// `ghosts` has the order in which they came.
    pub fn around<T: Copy>(&self, ghosts: &[T]) -> Option<[Vec<T>; 2]> {
        let lower = self.before.partition_point(|&before| before == 0);
        let higher = self.before.partition_point(|&before| before < self.owned);
        let of = |order: &[usize]| order.iter().map(|&i| ghosts[i]).collect();
        // Without owned elements, all ghosts are before.
        (lower >= higher).then(|| [of(&self.order[..lower]), of(&self.order[lower..])])
    }

    /// `value` of each owned element's place in the list.
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

    /// The ids of all elements in one piece, from those of the owned elements and of the ghosts in the order in which
    /// they came.
    pub fn all_ids(
        &self,
        owned: impl Fn(usize) -> u64 + Sync,
        ghost: impl Fn(usize) -> u64 + Sync,
    ) -> Ids {
        let id = |place: usize| match self.held(place) {
            Held::Owned(i) => owned(i),
            Held::Ghost(i) => ghost(i),
        };
        if let Some(last) = self.len().checked_sub(1) {
            let ends = id(0)..id(last) + 1;
            if ends.end - ends.start == self.len() as u64 {
                return Ids::of_range(ends);
            }
        }
        Ids::of_list(self.collect(1, |run, ids| match run {
            Run::Owned(range) => ids.iter_mut().zip(range).for_each(|(id, i)| *id = owned(i)),
            Run::Ghost(i) => ids[0] = ghost(i),
        }))
    }

    /// Number of ghosts before a place in the list.
    fn ghosts_before(&self, place: usize) -> usize {
        partition(self.before.len(), |g| self.before[g] + g < place)
    }
}

/// Owned elements and their ghosts.
pub struct Merged {
    /// The places of the ghosts among the owned elements.
    pub places: Interleaving,
    pub owners: Owners,
    pub halo: Halo,
}

impl Merged {
    /// Joins `owned` elements, of which `before(id)` have a smaller id, and ghosts.
    pub fn new(
        ranks: &Ranks,
        owned: usize,
        before: impl Fn(u64) -> usize + Sync,
        ghosts: &Ghosts,
    ) -> Self {
        let Ghosts {
            given,
            counts,
            rows,
        } = ghosts;
        let ghost_owners = (0_u32..).zip(counts);
        let ghost_owners: Vec<u32> = ghost_owners
            .flat_map(|(rank, &count)| std::iter::repeat_n(rank, count))
            .collect();
        // Ids with the owner and the place among the ghosts that came.
        let mut order = parallel::collect(ghost_owners.len(), |i| (rows.id(i), ghost_owners[i], i));
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
        let place = |&i: &u64| (i + before.partition_point(|&k| k as u64 <= i) as u64) as u32;
        let halo = Halo {
            given: given.map(place),
            ghosts: Mail::from_parts(places, counts.iter().copied()),
        };
        let order = order.into_iter().map(|(.., i)| i).collect();
        Self {
            places: Interleaving::new(order, before, owned),
            owners,
            halo,
        }
    }

    /// The ids of all elements, from those of the owned elements and of the ghosts in the order in which they came.
    /// A range of owned ids stays one where the ghosts come before and after it.
    pub fn ids(&self, owned: &Ids, ghosts: &[u64]) -> Ids {
        let Some([lower, higher]) = self.places.around(ghosts) else {
            return Ids::of_list(self.places.interleave(1, &owned.to_vec(), ghosts));
        };
        let mut ids = Ids::of_list(lower);
        ids.extend(owned.clone());
        ids.push(higher);
        ids
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::Records;
    use crate::threads::run;

    proptest::proptest! {
        /// Owned ids that are a range, or not, with ghosts before, between and after them.
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
                let came = Ghosts {
                    given: Mail::from_parts(Vec::new(), [0].into_iter()),
                    counts: vec![ghosts.len()],
                    rows: Records { words: ghosts.clone(), stride: 1 },
                };
                let merged = Merged::new(&ranks, owned.len(), |id| owned.before(id), &came);
                let ids = merged.ids(&owned, &ghosts);
                assert_eq!((0..ids.len()).map(|i| ids.get(i)).collect::<Vec<_>>(), sorted);
                let held = |place: usize| match merged.places.held(place) {
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
