//! Vertices at which several ranks own cells.
//!
//! A rank tells the directories only those of its vertices that another may have: ids are counted in [`BINS`] bins, and one whose bin a single
//! rank uses is that rank's alone. Where ids follow their place, few are left.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use rayon::slice::ParallelSliceMut;
use trioxide_mesh::parallel;

use crate::block::Blocks;
use crate::cells::Cells;
use crate::ids::IdSet;
use crate::rows::send_rows;
use crate::transport::{Mail, Ranks, Reduction};

/// Bins of ids, most.
const BINS: u64 = 1 << 12;
/// Bits in which the ranks are counted that use a bin.
const COUNT: usize = 16;

/// The vertices of a rank's cells, and which of them other ranks may have too.
pub(crate) struct Near {
    /// All.
    pub vertices: IdSet,
    /// Those in bins that other ranks use, ascending.
    several: Vec<u64>,
}

impl Near {
    /// Of the vertices of this rank's cells; the mesh has `total`. Collective.
    pub fn find(ranks: &Ranks, vertices: IdSet, total: u64) -> Self {
        assert!(ranks.size() < 1 << COUNT, "{} ranks", ranks.size());
        let bits = u64::BITS - total.saturating_sub(1).leading_zeros();
        let shift = bits.saturating_sub(BINS.trailing_zeros());
        let is_used: Vec<AtomicBool> = (0..BINS).map(|_| AtomicBool::new(false)).collect();
        vertices.for_each(|id| is_used[(id >> shift) as usize].store(true, Relaxed));
        const EACH: usize = u64::BITS as usize / COUNT;
        let word = |bins: &[AtomicBool]| {
            let counts = bins.iter().enumerate();
            counts.fold(0, |word, (i, is_used)| {
                word | u64::from(is_used.load(Relaxed)) << (COUNT * i)
            })
        };
        let mut words: Vec<u64> = is_used.chunks(EACH).map(word).collect();
        ranks.reduce_all(&mut words, Reduction::Sum);
        let users = |bin: u64| {
            let (word, place) = (words[bin as usize / EACH], bin as usize % EACH);
            word >> (COUNT * place) & ((1 << COUNT) - 1)
        };
        let several = vertices.filter(|id| users(id >> shift) > 1);
        Self { vertices, several }
    }

    /// Whether few vertices of all ranks may have several owners: at most one in `share`. Collective.
    pub fn are_few(&self, ranks: &Ranks, share: u64) -> bool {
        let mut counts = [self.several.len() as u64, self.vertices.len() as u64];
        ranks.reduce_all(&mut counts, Reduction::Sum);
        counts[0] * share <= counts[1]
    }
}

/// The vertices of owned cells, and the other ranks that own cells at them.
pub(crate) struct Shared {
    /// All.
    pub vertices: IdSet,
    /// Those with others.
    with_others: IdSet,
    /// Vertex and rank, ascending.
    pub others: Vec<[u64; 2]>,
}

impl Shared {
    /// Asks the directories of the vertices, of which the mesh has `total`. Collective.
    pub fn find(ranks: &Ranks, near: Near, total: u64) -> Self {
        let list = near.several;
        let blocks = Blocks::new(total, ranks.size());
        let directory = |i: usize| (blocks.rank(list[i]), list[i]);
        let told = ranks.exchange(&Mail::sorted(ranks.size(), list.len(), directory));
        let answers = users_of_shared(&told, blocks.range(ranks.rank()));
        let answers = Mail::sorted(ranks.size(), answers.len(), |i| answers[i]);
        let mut others = ranks.exchange(&answers).into_items();
        others.par_sort_unstable();
        Self {
            with_others: near.vertices.subset(others.len(), |i| others[i][0]),
            vertices: near.vertices,
            others,
        }
    }

    /// Whether an owned cell has this vertex.
    pub fn has(&self, vertex: u64) -> bool {
        self.vertices.has(vertex)
    }

    /// The other ranks with cells at a vertex.
    fn of(&self, vertex: u64) -> impl Iterator<Item = u32> {
        let start = self.others.partition_point(|other| other[0] < vertex);
        let behind = self.others[start..].iter();
        behind
            .take_while(move |other| other[0] == vertex)
            .map(|other| other[1] as u32)
    }

    /// Sends each owned cell to the ranks that need it as a ghost: which, by their places, and the ghosts from others, as rows.
    pub fn send<P: Sync>(&self, ranks: &Ranks, owned: &Cells<P>) -> (Mail<u64>, Mail<u64>) {
        let (mut to, mut sent) = (Vec::new(), Vec::new());
        let mut of_cell = Vec::new();
        for i in owned.with_vertex(|vertex| self.with_others.has(vertex)) {
            of_cell.clear();
            of_cell.extend((0..owned.size()).flat_map(|k| self.of(owned.corner(i, k))));
            of_cell.sort_unstable();
            of_cell.dedup();
            to.extend_from_slice(&of_cell);
            sent.resize(to.len(), i as u64);
        }
        send_rows(ranks, owned.stride(), &to, &sent, |i, row| {
            owned.set(i, row)
        })
    }
}

/// For each rank that told a vertex of this directory's `block`, the vertex and each of the other ranks that told it.
fn users_of_shared(told: &Mail<u64>, block: Range<u64>) -> Vec<(usize, [u64; 2])> {
    // Whether one rank told a vertex, and whether a second one did: a bit each.
    let words = (block.end - block.start).div_ceil(64) as usize;
    let [once, twice] = [(); 2].map(|()| parallel::collect(words, |_| AtomicU64::new(0)));
    let place = |vertex: u64| {
        let place = vertex - block.start;
        ((place / 64) as usize, 1 << (place % 64))
    };
    let all = told.items();
    parallel::for_each(all.len(), |i| {
        let (word, bit) = place(all[i]);
        if once[word].fetch_or(bit, Relaxed) & bit != 0 {
            twice[word].fetch_or(bit, Relaxed);
        }
    });
    let is_shared = |vertex: u64| {
        let (word, bit) = place(vertex);
        twice[word].load(Relaxed) & bit != 0
    };
    let mut users: Vec<[u64; 2]> = Vec::new();
    for rank in 0..told.ranks() {
        let of_rank = told.of(rank);
        users.extend(parallel::filter_collect(of_rank.len(), |i| {
            is_shared(of_rank[i]).then_some([of_rank[i], rank as u64])
        }));
    }
    users.par_sort_unstable();
    let mut answers = Vec::new();
    for users in users.chunk_by(|a, b| a[0] == b[0]) {
        for &[vertex, rank] in users {
            let others = users.iter().filter(|other| other[1] != rank);
            answers.extend(others.map(|other| (rank as usize, [vertex, other[1]])));
        }
    }
    answers
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::Block;
    use crate::threads::run;
    use trioxide::mesh::Triangulation;

    /// Of the vertices of blocks on so many ranks: whether all that several ranks have are among those told, and whether these are few.
    fn of_blocks(mesh: &Triangulation, size: usize) -> (bool, bool) {
        let of_ranks = run(size, |transport| {
            let ranks = Ranks::new(transport);
            let block = Block::of(mesh, ranks.rank(), size);
            let cells = Cells::of_block(&ranks, &block);
            let near = Near::find(&ranks, cells.vertices(), block.vertices);
            let are_few = near.are_few(&ranks, 16);
            (near.vertices.to_vec(), near.several, are_few)
        });
        let users = |v: u64| {
            let has = |(all, ..): &&(Vec<u64>, Vec<u64>, bool)| all.binary_search(&v).is_ok();
            of_ranks.iter().filter(has).count()
        };
        let are_told = of_ranks.iter().all(|(all, several, _)| {
            let is_told = |v: &u64| several.binary_search(v).is_ok();
            all.iter().all(|v| users(*v) < 2 || is_told(v))
                && several.iter().all(|v| all.binary_search(v).is_ok())
        });
        (are_told, of_ranks[0].2)
    }

    #[test]
    fn blocks_of_rows_share_few_vertices_and_random_ones_many() {
        // Of fewer vertices than bins, too, where a row of the grid is more than few.
        for (points, few) in [(900, false), (22_500, true)] {
            let grid = trioxide_generate::grid(points).unwrap();
            let random = trioxide_generate::random(points, 3).unwrap();
            for size in [2, 3] {
                let case = format!("{points} on {size} ranks");
                assert_eq!(of_blocks(&grid, size), (true, few), "{case}");
                assert_eq!(of_blocks(&random, size), (true, false), "{case}");
            }
            assert_eq!(of_blocks(&random, 1), (true, true));
        }
    }
}
