//! Vertices at which several ranks own cells.
//!
//! A rank tells the directories only those of its vertices that another may have: corners are counted in [`BINS`] bins
//! of ids, and a vertex whose bin a single rank uses is that rank's alone. Where ids follow their place, few are left.

use std::ops::Range;

use rayon::slice::ParallelSliceMut;
use trioxide_mesh::parallel;

use crate::block::Blocks;
use crate::cells::Cells;
use crate::directory::{by_blocks, to_directories};
use crate::ids::{IdSet, Lists};
use crate::rows::send_rows;
use crate::transport::{Mail, Ranks, Reduction};

/// Bins of ids, most.
const BINS: u64 = 1 << 12;
/// Fewest cells whose corners a thread counts in bins of its own.
const FEWEST_CELLS: usize = 1 << 14;
/// Words of a directory's bits that a thread sets.
const WORDS: usize = 1 << 9;
/// Bits in which the ranks are counted that use a bin.
const COUNT: usize = 16;

/// The corners of a rank's cells by bins of ids.
pub(crate) struct Counts {
    /// The smallest and the largest vertex; `None` without cells.
    pub ends: Option<[u64; 2]>,
    /// Corners in each bin.
    bins: Vec<u64>,
    /// A bin has the ids that are one without so many of their bits.
    shift: u32,
}

impl Counts {
    /// Of these cells of a mesh with `total` vertices. Vertices beyond these are in any bin.
    pub fn of(cells: &Cells, total: u64) -> Self {
        let bits = u64::BITS - total.saturating_sub(1).leading_zeros();
        let shift = bits.saturating_sub(BINS.trailing_zeros());
        let n = cells.len();
        let grain = n.div_ceil(rayon::current_num_threads()).max(FEWEST_CELLS);
        let of_pieces = parallel::map_pieces(n, grain, |range| {
            let mut ends = [u64::MAX, 0];
            let mut bins = [0_u32; BINS as usize];
            cells.for_each(range, |id| {
                ends = [ends[0].min(id), ends[1].max(id)];
                bins[((id >> shift) % BINS) as usize] += 1;
            });
            (ends, bins.to_vec())
        });
        let mut bins = vec![0; BINS as usize];
        for (_, of_piece) in &of_pieces {
            for (sum, &count) in bins.iter_mut().zip(of_piece) {
                *sum += u64::from(count);
            }
        }
        let ends = of_pieces.into_iter().map(|(ends, _)| ends);
        let ends = ends.reduce(|a, b| [a[0].min(b[0]), a[1].max(b[1])]);
        Self { ends, bins, shift }
    }

    /// Of each bin whether this rank and another one use it. Collective.
    fn of_several(&self, ranks: &Ranks) -> Vec<bool> {
        assert!(ranks.size() < 1 << COUNT, "{} ranks", ranks.size());
        const EACH: usize = u64::BITS as usize / COUNT;
        let word = |bins: &[u64]| {
            let is_used = bins.iter().map(|&corners| u64::from(corners > 0));
            let places = is_used.enumerate();
            places.fold(0, |word, (i, is_used)| word | is_used << (COUNT * i))
        };
        let mut words: Vec<u64> = self.bins.chunks(EACH).map(word).collect();
        ranks.reduce_all(&mut words, Reduction::Sum);
        let users = |bin: usize| words[bin / EACH] >> (COUNT * (bin % EACH)) & ((1 << COUNT) - 1);
        let is_used = |bin: usize| self.bins[bin] > 0;
        let bins = 0..self.bins.len();
        bins.map(|bin| is_used(bin) && users(bin) > 1).collect()
    }
}

/// The bins of a rank's cells, and which of them other ranks use too.
pub(crate) struct Near {
    counts: Counts,
    of_several: Vec<bool>,
}

impl Near {
    /// Collective.
    pub fn find(ranks: &Ranks, counts: Counts) -> Self {
        let of_several = counts.of_several(ranks);
        Self { counts, of_several }
    }

    /// Whether few corners of all ranks are in bins of several: at most one in `share`. Collective.
    pub fn are_few(&self, ranks: &Ranks, share: u64) -> bool {
        let bins = &self.counts.bins;
        let several = bins.iter().zip(&self.of_several);
        let several = several.filter_map(|(corners, &is_so)| is_so.then_some(corners));
        let mut counts = [several.sum(), bins.iter().sum()];
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
    /// Of the cells with these bins: asks the directories of the vertices in those of several ranks. The mesh has
    /// `total` vertices. Collective.
    pub fn find(ranks: &Ranks, cells: &Cells, near: &Near, total: u64) -> Self {
        let vertices = cells.vertices(near.counts.ends);
        let list = vertices.filter(|id| near.of_several[(id >> near.counts.shift) as usize]);
        let blocks = Blocks::new(total, ranks.size());
        let of_ranks = by_blocks(ranks, blocks, list.len(), |i| list[i]);
        let told = ranks.exchange(&to_directories(blocks, &of_ranks, |i| list[i]));
        let answers = users_of_shared(&told, blocks.range(ranks.rank()));
        let answers = Mail::sorted(ranks.size(), answers.len(), |i| answers[i]);
        let mut others = ranks.exchange(&answers).into_items();
        others.par_sort_unstable();
        Self {
            with_others: vertices.subset(others.len(), |i| others[i][0]),
            vertices,
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

    /// Sends each owned cell to the ranks that need it as a ghost: which, by their places, and the ghosts from others,
    /// as rows.
    pub fn send(&self, ranks: &Ranks, owned: &Cells) -> (Mail<u64>, Mail<u64>) {
        let (mut to, mut sent) = (Vec::new(), Vec::new());
        let mut of_cell = Vec::new();
        for i in owned.with_vertex(|vertex| self.with_others.has(vertex)) {
            of_cell.clear();
            of_cell.extend(owned.corners(i).flat_map(|vertex| self.of(vertex)));
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

/// For each rank that told a vertex of this directory's `block`, by its place there, the vertex and each of the other
/// ranks that told it. The places that a rank told ascend.
fn users_of_shared(told: &Mail<u32>, block: Range<u64>) -> Vec<(usize, [u64; 2])> {
    // Whether one rank told a vertex, and whether a second one did: a bit each.
    let words = (block.end - block.start).div_ceil(64) as usize;
    let mut bits = vec![[0_u64; 2]; words];
    parallel::for_chunks_mut(&mut bits, WORDS, |k, bits| {
        let first = 64 * WORDS * k;
        for rank in 0..told.ranks() {
            let of_rank = told.of(rank);
            let start = of_rank.partition_point(|&place| (place as usize) < first);
            let end = first + 64 * bits.len();
            let end = of_rank.partition_point(|&place| (place as usize) < end);
            for place in of_rank[start..end]
                .iter()
                .map(|&place| place as usize - first)
            {
                let ([once, twice], bit) = (&mut bits[place / 64], 1 << (place % 64));
                *twice |= *once & bit;
                *once |= bit;
            }
        }
    });
    let is_shared = |place: u32| bits[place as usize / 64][1] >> (place % 64) & 1 != 0;
    let mut users: Vec<[u64; 2]> = Vec::new();
    for rank in 0..told.ranks() {
        let of_rank = told.of(rank);
        users.extend(parallel::filter_collect(of_rank.len(), |i| {
            let vertex = || block.start + u64::from(of_rank[i]);
            is_shared(of_rank[i]).then(|| [vertex(), rank as u64])
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
    use crate::cells::Input;
    use crate::threads::run;
    use trioxide::mesh::Triangulation;

    /// Of the vertices of blocks on so many ranks: whether all that several ranks have are among those told, and
    /// whether these are few.
    fn of_blocks(mesh: &Triangulation, size: usize) -> (bool, bool) {
        let of_ranks = run(size, |transport| {
            let ranks = Ranks::new(transport);
            let block = Block::of(mesh, ranks.rank(), size);
            let input = Input::of(&ranks, &block);
            let cells = Cells::Block(&input);
            let counts = Counts::of(&cells, block.vertices);
            let ends = counts.ends;
            let near = Near::find(&ranks, counts);
            let all = cells.vertices(ends).to_vec();
            let told = |v: &u64| near.of_several[(v >> near.counts.shift) as usize];
            let told: Vec<u64> = all.iter().copied().filter(told).collect();
            (all, told, near.are_few(&ranks, 16))
        });
        let users = |v: u64| {
            let has = |(all, ..): &&(Vec<u64>, Vec<u64>, bool)| all.binary_search(&v).is_ok();
            of_ranks.iter().filter(has).count()
        };
        let are_told = of_ranks.iter().all(|(all, told, _)| {
            let is_told = |v: &u64| told.binary_search(v).is_ok();
            all.iter().all(|v| users(*v) < 2 || is_told(v))
        });
        (are_told, of_ranks[0].2)
    }

    #[test]
    fn blocks_of_rows_share_few_vertices_and_random_ones_many() {
        // Of fewer vertices than bins, too, where a row of the grid is more than few.
        for (points, few) in [(196, false), (22_500, true)] {
            let grid = trioxide_generate::grid(points).unwrap();
            let random = trioxide_generate::random(points, 3).unwrap();
            // Vertices in rows, and triangles in any order.
            let mut shuffled = grid.clone();
            shuffled
                .triangles
                .sort_by_key(|&[a, b, c]| (a + b + c) * 7919 % 10_007);
            for size in [2, 3, 5] {
                let case = format!("{points} on {size} ranks");
                assert_eq!(of_blocks(&grid, size), (true, few), "{case}");
                assert_eq!(of_blocks(&random, size), (true, false), "{case}");
                assert_eq!(of_blocks(&shuffled, size), (true, false), "{case}");
            }
            assert_eq!(of_blocks(&random, 1), (true, true));
        }
    }
}
