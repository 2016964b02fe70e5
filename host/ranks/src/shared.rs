//! Vertices at which several ranks own cells.
//!
//! A rank sends the directories only the vertices that another rank may have too: corners are counted in [`BINS`] bins
//! of ids, and a vertex whose bin a single rank uses is that rank's alone. Where ids follow their place, few are left.

use rayon::current_num_threads;
use trioxide_mesh::parallel;

use crate::block::Blocks;
use crate::block::by_blocks;
use crate::cells::Cells;
use crate::directory::{other_users, paired, to_directories};
use crate::ids::{IdSet, Lists};
use crate::records::Ghosts;
use crate::transport::{Mail, Ranks, Reduction};

/// Most bins of ids.
const BINS: u64 = 1 << 12;
/// Fewest cells whose corners a thread counts in bins of its own.
const FEWEST_CELLS: usize = 1 << 14;
/// Words of a directory's bits that a thread sets.
const WORDS: usize = 1 << 9;
/// Bits of the number of ranks that use a bin.
const COUNT: usize = 16;

/// The corners of a rank's cells, counted in bins of ids.
pub(crate) struct Bins {
    /// The smallest and the largest vertex; `None` without cells.
    pub ends: Option<[u64; 2]>,
    /// Corners in each bin.
    corners: Vec<u64>,
    /// Low bits in which the ids of one bin differ.
    shift: u32,
}

impl Bins {
    /// Counts the corners of cells of a mesh with `total` vertices. Vertices out of range are in any bin.
    pub fn of(cells: &Cells, total: u64) -> Self {
        let bits = u64::BITS - total.saturating_sub(1).leading_zeros();
        let shift = bits.saturating_sub(BINS.trailing_zeros());
        let n = cells.len();
        let grain = n.div_ceil(current_num_threads()).max(FEWEST_CELLS);
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
        Self {
            ends,
            corners: bins,
            shift,
        }
    }

    /// Whether this rank and another one use each bin. Collective.
    fn of_several(&self, ranks: &Ranks) -> Vec<bool> {
        assert!(ranks.size() < 1 << COUNT, "{} ranks", ranks.size());
        const EACH: usize = u64::BITS as usize / COUNT;
        let word = |bins: &[u64]| {
            let is_used = bins.iter().map(|&corners| u64::from(corners > 0));
            let places = is_used.enumerate();
            places.fold(0, |word, (i, is_used)| word | is_used << (COUNT * i))
        };
        let mut words: Vec<u64> = self.corners.chunks(EACH).map(word).collect();
        ranks.reduce_all(&mut words, Reduction::Sum);
        let users = |bin: usize| words[bin / EACH] >> (COUNT * (bin % EACH)) & ((1 << COUNT) - 1);
        let is_used = |bin: usize| self.corners[bin] > 0;
        let bins = 0..self.corners.len();
        bins.map(|bin| is_used(bin) && users(bin) > 1).collect()
    }
}

/// The bins of a rank's cells, and whether other ranks use them too.
pub(crate) struct Near {
    bins: Bins,
    of_several: Vec<bool>,
}

impl Near {
    /// Asks all ranks for the bins that they use. Collective.
    pub fn find(ranks: &Ranks, bins: Bins) -> Self {
        let of_several = bins.of_several(ranks);
        Self { bins, of_several }
    }

    /// Whether at most one in `share` of all ranks' corners is in a bin of several ranks. Collective.
    pub fn are_few(&self, ranks: &Ranks, share: u64) -> bool {
        let bins = &self.bins.corners;
        let several = bins.iter().zip(&self.of_several);
        let several = several.filter_map(|(corners, &is_so)| is_so.then_some(corners));
        let mut counts = [several.sum(), bins.iter().sum()];
        ranks.reduce_all(&mut counts, Reduction::Sum);
        counts[0] * share <= counts[1]
    }
}

/// The vertices of owned cells, and the other ranks that own cells at them.
pub(crate) struct Shared {
    /// All vertices of owned cells.
    pub vertices: IdSet,
    /// The vertices at which other ranks own cells too.
    with_others: IdSet,
    /// The same vertices with these ranks, ascending.
    pub others: Vec<[u64; 2]>,
}

impl Shared {
    /// Finds those of the cells with these bins: asks the directories of the vertices in bins of several ranks. The
    /// mesh has `total` vertices. Collective.
    pub fn find(ranks: &Ranks, cells: &Cells, near: &Near, total: u64) -> Self {
        let vertices = cells.vertices(near.bins.ends);
        let list = vertices.filter(|id| near.of_several[(id >> near.bins.shift) as usize]);
        let blocks = ranks.blocks(total);
        let of_ranks = by_blocks(blocks, list.len(), |i| list[i]);
        let told = ranks.exchange(&to_directories(blocks, &of_ranks, |i| list[i]));
        let others = other_users(ranks, users_of_shared(&told, blocks, ranks.rank()));
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

    /// Sends each owned cell to the ranks that need it as a ghost: those with cells at one of its vertices. Collective.
    pub fn send(&self, ranks: &Ranks, owned: &Cells) -> Ghosts {
        let (mut to, mut sent) = (Vec::new(), Vec::new());
        let mut of_cell = Vec::new();
        for i in owned.with_vertex(|vertex| self.with_others.has(vertex)) {
            of_cell.clear();
            let ranks = owned.corners(i).flat_map(|v| paired(&self.others, v));
            of_cell.extend(ranks.map(|rank| rank as u32));
            of_cell.sort_unstable();
            of_cell.dedup();
            to.extend_from_slice(&of_cell);
            sent.resize(to.len(), i as u64);
        }
        Ghosts::exchange(ranks, owned.stride(), &to, &sent, |i, row| {
            owned.set(i, row)
        })
    }
}

/// The uses of the vertices of rank `me`'s block that several ranks have sent, as [`other_users`] takes them. The
/// places from a rank ascend.
fn users_of_shared(told: &Mail<u32>, blocks: Blocks, me: usize) -> Vec<[u64; 2]> {
    let block = blocks.range(me);
    // Two bits for each vertex: whether a rank sent it, and whether a second one did.
    let words = (block.end - block.start).div_ceil(64) as usize;
    let mut bits = vec![[0_u64; 2]; words];
    parallel::for_chunks_mut(&mut bits, WORDS, |k, bits| {
        let first = 64 * WORDS * k;
        for rank in 0..told.ranks() {
            let of_rank = told.of(rank);
            let start = of_rank.partition_point(|&place| (place as usize) < first);
            let end = first + 64 * bits.len();
            let end = of_rank.partition_point(|&place| (place as usize) < end);
            for &place in &of_rank[start..end] {
                let place = place as usize - first;
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
            let vertex = block.start + u64::from(of_rank[i]);
            is_shared(of_rank[i]).then_some([vertex << 1 | 1, rank as u64])
        }));
    }
    users
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::Block;
    use crate::cells::Input;
    use crate::threads::run;
    use trioxide::mesh::Triangulation;
    use trioxide::{Device, generate};

    /// Returns (every shared vertex was sent, few were sent) for blocks on `size` ranks.
    fn of_blocks(mesh: &Triangulation, size: usize) -> (bool, bool) {
        let of_ranks = run(size, |transport| {
            let ranks = Ranks::new(transport);
            let block = Block::of(mesh, ranks.rank(), size);
            let input = Input::of(&ranks, &block);
            let cells = Cells::Block(&input);
            let bins = Bins::of(&cells, block.vertices);
            let ends = bins.ends;
            let near = Near::find(&ranks, bins);
            let all = cells.vertices(ends).to_vec();
            let told = |v: &u64| near.of_several[(v >> near.bins.shift) as usize];
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
    fn blocks_of_rows_and_along_a_curve_share_few_vertices_and_shuffled_ones_many() {
        // Also with fewer vertices than bins, where a row of the grid is too large a part.
        for (points, few) in [(196, false), (22_500, true)] {
            let grid = generate::grid(points).unwrap();
            let random = generate::random(&Device::cpu(None).unwrap(), points, 3).unwrap();
            // Vertices in rows, and triangles in any order.
            let mut shuffled = grid.clone();
            shuffled
                .triangles
                .sort_by_key(|&[a, b, c]| (a + b + c) * 7919 % 10_007);
            for size in [2, 3, 5] {
                let case = format!("{points} on {size} ranks");
                assert_eq!(of_blocks(&grid, size), (true, few), "{case}");
                // Parts of a curve have longer borders than rows: of five, a sixteenth of the bins has shared vertices.
                let are_few = few && size < 5;
                assert_eq!(of_blocks(&random, size), (true, are_few), "{case}");
                assert_eq!(of_blocks(&shuffled, size), (true, false), "{case}");
            }
            assert_eq!(of_blocks(&random, 1), (true, true));
        }
    }
}
