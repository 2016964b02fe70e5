//! Sorting by groups, on all threads.

use std::ops::Range;

use rayon::prelude::*;

/// Rows sorted by their groups. Within a group they are in the order of their items, then in the order in which an item
/// gives them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Partition<R> {
    /// All rows.
    pub rows: Vec<R>,
    /// Start of each group in `rows`, and the end of the last.
    pub starts: Vec<usize>,
}

/// Most parts of the items. One task counts and moves the rows of a part.
const PARTS: usize = 128;
/// Fewest items of a part.
const LEAST: usize = 1024;

impl<R: Copy + Default + Send + Sync> Partition<R> {
    /// Sorts the rows of `items` items into `groups` groups. `rows_of` gives the rows of an item, each with its group;
    /// it is called twice for each item.
    ///
    /// A counting sort whose threads share no counters: atomic counters at random places of memory are several times
    /// slower. Takes 4 bytes for each group and each of at most 128 parts, and is quick up to some thousand groups.
    pub fn new<I: IntoIterator<Item = (usize, R)>>(
        items: usize,
        groups: usize,
        rows_of: impl Fn(usize) -> I + Sync,
    ) -> Partition<R> {
        let part = items.div_ceil(PARTS).max(LEAST);
        let parts: Vec<Range<usize>> = (0..items)
            .step_by(part)
            .map(|first| first..items.min(first + part))
            .collect();
        let count = |part: &Range<usize>| {
            let mut counts = vec![0u32; groups];
            for item in part.clone() {
                rows_of(item)
                    .into_iter()
                    .for_each(|(group, _)| counts[group] += 1);
            }
            counts
        };
        let counts: Vec<Vec<u32>> = parts.par_iter().map(count).collect();
        let mut starts = Vec::with_capacity(groups + 1);
        starts.push(0);
        let mut end = 0;
        for group in 0..groups {
            end += counts.iter().map(|of| of[group] as usize).sum::<usize>();
            starts.push(end);
        }

        let mut rows = vec![R::default(); end];
        // The places where each part writes its rows of each group.
        let mut places: Vec<Vec<_>> = parts.iter().map(|_| Vec::with_capacity(groups)).collect();
        let mut rest = &mut rows[..];
        for group in 0..groups {
            for (places, counts) in places.iter_mut().zip(&counts) {
                let place = rest
                    .split_off_mut(..counts[group] as usize)
                    .expect("counts sum up to the rows");
                places.push(place.iter_mut());
            }
        }
        parts
            .into_par_iter()
            .zip(places)
            .for_each(|(part, mut places)| {
                for item in part {
                    for (group, row) in rows_of(item) {
                        let place = places[group].next();
                        *place.expect("an item gives the same rows twice") = row;
                    }
                }
            });
        Partition { rows, starts }
    }

    /// Number of groups.
    pub fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Whether there is no group.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Rows of a group, in their order.
    pub fn group(&self, group: usize) -> &[R] {
        &self.rows[self.starts[group]..self.starts[group + 1]]
    }

    /// Splits `list`, which has one element for each row, by groups.
    ///
    /// # Panics
    /// When `list` is shorter than the rows.
    pub fn split<'a, T>(&self, mut list: &'a mut [T]) -> Vec<&'a mut [T]> {
        let sizes = self.starts.windows(2).map(|pair| pair[1] - pair[0]);
        sizes
            .map(|size| {
                list.split_off_mut(..size)
                    .expect("the list has an element for each row")
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;

    #[test]
    fn rows_are_in_groups_and_keep_their_order() {
        let mut random = SplitMix64::new(3);
        for items in [0, 1, LEAST, 3 * LEAST + 7, PARTS * LEAST + 13] {
            // Up to three rows of an item.
            let lists: Vec<Vec<usize>> = (0..items)
                .map(|_| {
                    let size = random.next_u64() % 4;
                    (0..size).map(|_| random.next_u64() as usize % 37).collect()
                })
                .collect();
            let rows_of = |item: usize| lists[item].iter().map(move |&group| (group, item));
            let partition = Partition::new(items, 37, rows_of);
            assert_eq!(partition.len(), 37);
            for group in 0..37 {
                let all = (0..items).flat_map(rows_of);
                let expected: Vec<usize> =
                    all.filter(|row| row.0 == group).map(|row| row.1).collect();
                assert_eq!(partition.group(group), expected);
            }
            let mut list = partition.rows.clone();
            let parts = partition.split(&mut list);
            assert!((0..37).all(|group| *parts[group] == *partition.group(group)));
        }
    }
}
