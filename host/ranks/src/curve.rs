//! Elements along a space-filling curve, by keys: equal parts of it.

use rayon::slice::ParallelSliceMut;
use trioxide_mesh::parallel::{self, GRAIN};

use crate::cells::Input;
use crate::directory::Fetched;
use crate::ids::IdSet;
use crate::transport::{Ranks, Reduction};

/// An element's place along the curve: its key, then its id.
type Place = (u64, u64);

/// The owner of each cell of this rank's block among equal parts of a curve: `of_vertices` are the keys of the block's
/// vertices. A cell has the key of one of its vertices. Collective.
pub(crate) fn owners_of_cells(ranks: &Ranks, block: &Input, of_vertices: &[u64]) -> Vec<u32> {
    let (cells, size) = (block.len(), block.size);
    let held = ranks.block(block.vertices);
    let here = held.end - held.start;
    let (start, behind) = block.corners.parts();
    // A triangle takes a vertex whose key is here, if there is one: the place in the block, with wrapping, is smallest.
    // A tetrahedron takes its first vertex on all ranks: then parts of random ones have a seventh fewer ghosts.
    let choice = if size == 3 { size } else { 1 };
    let mut places = parallel::collect(cells, |i| {
        let corners = behind[size * i..size * i + choice].iter();
        let places = corners.map(|&v| (start + u64::from(v)).wrapping_sub(held.start));
        places.fold(u64::MAX, u64::min)
    });
    let elsewhere = |place: u64| (place >= here).then(|| place.wrapping_add(held.start));
    let asked = IdSet::of_lists(cells, |i| elsewhere(places[i]));
    let others = Fetched::of(ranks, block.vertices, asked, of_vertices);
    let last = here.saturating_sub(1);
    // Keys replace the places in their memory: the system would clear the pages of a new list.
    parallel::for_chunks_mut(&mut places, GRAIN, |_, keys| {
        let places = keys.to_vec();
        // Loads without branches overlap: first all cells get a key, and then the cells with vertices elsewhere.
        for (key, &place) in keys.iter_mut().zip(&places) {
            let key_of = of_vertices.get(place.min(last) as usize);
            *key = key_of.copied().unwrap_or(0);
        }
        for (key, &place) in keys.iter_mut().zip(&places) {
            if let Some(id) = elsewhere(place) {
                *key = others.get(id);
            }
        }
    });
    equal_parts(ranks, &places, |i| block.first + i as u64, block.cells)
}

/// The part of each of this rank's elements, which have these keys and ids, among equal parts of all elements.
/// Collective.
pub(crate) fn equal_parts(
    ranks: &Ranks,
    keys: &[u64],
    id: impl Fn(usize) -> u64 + Sync,
    total: u64,
) -> Vec<u32> {
    let cuts = cuts(ranks, keys, &id, total);
    let owner = |i: usize| {
        let place = (keys[i], id(i));
        cuts.partition_point(|cut| *cut <= place) as u32
    };
    parallel::collect(keys.len(), owner)
}

/// Spreads the lowest `bits` of a number to every second bit, or every third: `apart` is 2 or 3.
#[inline]
pub fn spread(x: u32, bits: usize, apart: usize) -> u64 {
    let mut x = u64::from(x) & ((1 << bits) - 1);
    // First the halves move apart, then the halves of these, and so on.
    for (shift, mask) in match apart {
        2 => [
            (16, 0x0000_ffff_0000_ffff),
            (8, 0x00ff_00ff_00ff_00ff),
            (4, 0x0f0f_0f0f_0f0f_0f0f),
            (2, 0x3333_3333_3333_3333),
            (1, 0x5555_5555_5555_5555),
        ],
        _ => [
            (32, 0x001f_0000_0000_ffff),
            (16, 0x001f_0000_ff00_00ff),
            (8, 0x100f_00f0_0f00_f00f),
            (4, 0x10c3_0c30_c30c_30c3),
            (2, 0x1249_2492_4924_9249),
        ],
    } {
        x = (x | x << shift) & mask;
    }
    x
}

/// Bits of a key by which places are counted in bins.
const BIN_BITS: u32 = 14;

/// The first place of each part except the first, where all places are cut into parts of equal length. `keys` and `id`
/// are of this rank's elements.
///
/// Places are counted in bins of keys. Bisection finds each cut in its bin, first among keys and then among the ids of
/// one key: each round is one sum over all ranks. So only the places in bins with cuts are sorted.
fn cuts(ranks: &Ranks, keys: &[u64], id: impl Fn(usize) -> u64 + Sync, total: u64) -> Vec<Place> {
    let parts = ranks.blocks(total).ranges().skip(1);
    let parts: Vec<u64> = parts.map(|range| range.start).collect();
    let shift = u64::BITS - BIN_BITS;
    let mut here = counts(keys, shift);
    let mut all = here.clone();
    ranks.reduce_all(&mut all, Reduction::Sum);
    for counts in [&mut here, &mut all] {
        let mut sum = 0;
        for count in counts {
            sum += std::mem::replace(count, sum);
        }
    }
    // The last bin with no more than the part's start before it.
    let bin_of = |&part: &u64| all.partition_point(|&before| before <= part) - 1;
    let bins: Vec<usize> = parts.iter().map(bin_of).collect();
    let mut has_cut = vec![false; 1 << BIN_BITS];
    bins.iter().for_each(|&bin| has_cut[bin] = true);
    let mut near: Vec<Place> = parallel::filter_collect(keys.len(), |i| {
        has_cut[(keys[i] >> shift) as usize].then(|| (keys[i], id(i)))
    });
    near.par_sort_unstable();
    // The number of this rank's places before a place in the bin of cut i.
    let below = |i: usize, place: Place| {
        let first = near.partition_point(|other| (other.0 >> shift) < bins[i] as u64);
        let until = near.partition_point(|other| *other < place);
        here[bins[i]] + (until - first) as u64
    };
    let starts = bins.iter().map(|&bin| (bin as u64) << shift);
    let starts: Vec<u64> = starts.collect();
    let ends = starts
        .iter()
        .map(|start| start | ((1 << shift) - 1))
        .collect();
    let keys = bisect(ranks, &parts, starts, ends, |i, key| below(i, (key, 0)));
    let (least, most) = (vec![0; parts.len()], vec![total; parts.len()]);
    let ids = bisect(ranks, &parts, least, most, |i, id| below(i, (keys[i], id)));
    keys.into_iter().zip(ids).collect()
}

/// The number of keys in each bin.
fn counts(keys: &[u64], shift: u32) -> Vec<u64> {
    let grain = keys.len().div_ceil(rayon::current_num_threads());
    let of_pieces = parallel::map_pieces(keys.len(), grain.max(1 << BIN_BITS), |range| {
        let mut counts = vec![0_u32; 1 << BIN_BITS];
        for key in &keys[range] {
            counts[(key >> shift) as usize] += 1;
        }
        counts
    });
    let sum = |bin| of_pieces.iter().map(|counts| u64::from(counts[bin])).sum();
    parallel::collect(1 << BIN_BITS, sum)
}

/// For each part the largest value from `low` to `high` that has at most `parts[i]` elements before it on all ranks;
/// `below` counts the elements of this rank. Collective.
pub fn bisect(
    ranks: &Ranks,
    parts: &[u64],
    mut low: Vec<u64>,
    mut high: Vec<u64>,
    below: impl Fn(usize, u64) -> u64,
) -> Vec<u64> {
    while low != high {
        let middle = |(low, high): (&u64, &u64)| low + (high - low).div_ceil(2);
        let middles: Vec<u64> = low.iter().zip(&high).map(middle).collect();
        let counts = middles.iter().enumerate();
        let mut counts: Vec<u64> = counts.map(|(i, &value)| below(i, value)).collect();
        ranks.reduce_all(&mut counts, Reduction::Sum);
        for (i, &count) in counts.iter().enumerate() {
            match count <= parts[i] {
                true => low[i] = middles[i],
                false => high[i] = middles[i] - 1,
            }
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_interleaved() {
        assert_eq!(spread(0b1011, 32, 2), 0b100_0101);
        assert_eq!(spread(u32::MAX, 32, 2), 0x5555_5555_5555_5555);
        assert_eq!(spread(u32::MAX, 21, 3), 0x1249_2492_4924_9249);
        for x in [0_u32, 1, 0x1234_5678, 0x001f_ffff, 0x000a_bcde] {
            for (bits, apart) in [(32, 2), (21, 3)] {
                let bit = |i: usize| u64::from(x >> i & 1) << (apart * i);
                let expected: u64 = (0..bits).map(bit).sum();
                assert_eq!(spread(x, bits, apart), expected);
            }
        }
    }
}
