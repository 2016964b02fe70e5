//! Which ranks need which points: all within epsilon of their own ones.
//!
//! Space is cut into cubes. A rank tells the directories of cubes which cubes have points of its own, and which lie within epsilon of these.
//! The directories answer who else wants a cube that has points. So a rank has more ghosts than it needs, by a cube's width.

use std::collections::HashSet;

use glam::DVec3;
use rayon::prelude::*;
use trioxide_mesh::parallel;

use crate::ownership::{bounds, spread};
use crate::rows::Rows;
use crate::transport::{Mail, Ranks, Reduction};

/// Bits of a cube's number along an axis.
const BITS: u32 = 21;
/// Points that a thread takes at a time.
const CHUNK: usize = 1 << 14;
/// Points for each cube that a rank has, at least: the table of cubes is to be short beside the points.
const POINTS_OF_CUBE: u64 = 4;

/// The owned points that other ranks need, ascending, with the ranks: `reach` is a distance along each axis that no neighbours exceed.
/// Collective.
pub fn find(
    ranks: &Ranks,
    owned: &Rows,
    points: &[DVec3],
    total: u64,
    reach: f64,
) -> (Vec<u32>, Vec<u64>) {
    if ranks.size() == 1 || total == 0 {
        return Default::default();
    }
    debug_assert_eq!(points.len(), owned.len());
    let [least, most] = bounds(ranks, points).map(DVec3::from_array);
    let mut cubes = Cubes::between(least, most, reach);
    let mut own: Vec<u64> = points.par_iter().map(|&p| cubes.cube(p)).collect();
    let mut sorted = own.clone();
    sorted.par_sort_unstable();
    cubes.shift = shift(ranks, &sorted, total);
    for list in [&mut own, &mut sorted] {
        list.par_iter_mut().for_each(|cube| *cube >>= cubes.shift);
    }
    sorted.dedup();
    let told = tell(&cubes, points, &own, &sorted);
    let size = ranks.size();
    let by_directory = |i: usize| (directory(told[i], size), told[i]);
    let told = ranks.exchange(&Mail::sorted(size, told.len(), by_directory));
    let answers = ranks.exchange(&answers(ranks, &told)).into_items();
    wanted(&own, answers)
}

/// The bits of cubes' keys to leave away so that cubes are few beside the points: three for twice as wide ones. `sorted` are the keys of
/// this rank's points. Collective.
fn shift(ranks: &Ranks, sorted: &[u64], total: u64) -> u32 {
    // Two keys are one cube from some width on. So many cubes are there of each width.
    let of_pieces = parallel::map_pieces(sorted.len().saturating_sub(1), CHUNK, |range| {
        let mut counts = [0_u64; BITS as usize + 1];
        for i in range.filter(|&i| sorted[i] != sorted[i + 1]) {
            counts[(sorted[i] ^ sorted[i + 1]).ilog2() as usize / 3] += 1;
        }
        counts
    });
    let mut counts = [0_u64; BITS as usize + 1];
    for of_piece in of_pieces {
        for (count, here) in counts.iter_mut().zip(of_piece) {
            *count += here;
        }
    }
    counts[BITS as usize] = u64::from(!sorted.is_empty());
    for width in (0..BITS as usize).rev() {
        counts[width] += counts[width + 1];
    }
    ranks.reduce_all(&mut counts, Reduction::Sum);
    let is_few = |&count: &u64| POINTS_OF_CUBE * count <= total;
    let width = counts.iter().position(is_few).unwrap_or(BITS as usize);
    3 * width as u32
}

/// Cubes of equal sides, numbered along each axis. The bits of the three numbers, interleaved, are a cube's key.
struct Cubes {
    least: DVec3,
    /// Cubes a unit of length.
    inverse: f64,
    reach: f64,
    /// Bits of the keys that are left away.
    shift: u32,
}

impl Cubes {
    /// The smallest cubes that are twice as wide as the reach or more, for points with these smallest and largest coordinates.
    fn between(least: DVec3, most: DVec3, reach: f64) -> Self {
        let extent = (most - least).max_element();
        let numbers = f64::from(1_u32 << BITS);
        let side = (2.0 * reach).max(extent / numbers).max(f64::MIN_POSITIVE);
        Self {
            least,
            inverse: 1.0 / side,
            reach,
            shift: 0,
        }
    }

    /// Number along an axis: it never falls where the coordinate grows.
    fn number(&self, x: f64, axis: usize) -> u32 {
        // Conversions of numbers out of range give the nearest in range.
        let number = ((x - self.least[axis]) * self.inverse) as u32;
        number.min((1 << BITS) - 1)
    }

    /// The cube of these numbers.
    fn key(&self, numbers: [u32; 3]) -> u64 {
        let [x, y, z] = numbers.map(|x| spread(x, BITS as usize, 3));
        (x | y << 1 | z << 2) >> self.shift
    }

    /// The cube of a point.
    fn cube(&self, p: DVec3) -> u64 {
        self.key([0, 1, 2].map(|axis| self.number(p[axis], axis)))
    }

    /// The cubes within reach of a point, from a number to another along each axis: those of all its neighbours are among them.
    ///
    /// A neighbour's coordinate, a float, is within the reach of the point's in exact numbers. So it is not beyond the rounded bound, and
    /// its number not beyond the bound's.
    fn near(&self, p: DVec3) -> [[u32; 2]; 3] {
        // Numbers that differ in the bits that are left away are those of one cube.
        let mask = !(self.apart() - 1);
        [0, 1, 2].map(|axis| {
            let end = |x: f64| self.number(x, axis) & mask;
            [end(p[axis] - self.reach), end(p[axis] + self.reach)]
        })
    }

    /// Numbers from one cube to the next along an axis.
    fn apart(&self) -> u32 {
        1 << (self.shift / 3)
    }

    /// Calls `visit` for each cube of those [`Cubes::near`] a point.
    fn each(&self, near: [[u32; 2]; 3], mut visit: impl FnMut(u64)) {
        let along = |[first, last]: [u32; 2]| (first..=last).step_by(self.apart() as usize);
        for x in along(near[0]) {
            for y in along(near[1]) {
                for z in along(near[2]) {
                    visit(self.key([x, y, z]));
                }
            }
        }
    }
}

/// The cubes within reach of some points.
pub struct Near {
    cubes: Cubes,
    within: HashSet<u64>,
}

impl Near {
    pub fn new(points: &[DVec3], reach: f64) -> Self {
        let least = points.iter().copied().reduce(DVec3::min);
        let most = points.iter().copied().reduce(DVec3::max);
        let cubes = Cubes::between(least.unwrap_or_default(), most.unwrap_or_default(), reach);
        let mut within = HashSet::new();
        for &p in points {
            cubes.each(cubes.near(p), |cube| {
                within.insert(cube);
            });
        }
        Self { cubes, within }
    }

    /// Whether a point may be within reach of one of the points: never false for one that is.
    pub fn may_be(&self, p: DVec3) -> bool {
        !self.within.is_empty() && self.within.contains(&self.cubes.cube(p))
    }
}

/// The cubes that this rank wants: twice the cube, and 1 for one that has points of its own. `own` has the cube of each point, `sorted` each
/// of these once, ascending.
fn tell(cubes: &Cubes, points: &[DVec3], own: &[u64], sorted: &[u64]) -> Vec<u64> {
    let chunks = points.par_chunks(CHUNK).zip(own.par_chunks(CHUNK));
    let lists = chunks.map(|(points, own)| {
        let mut list = Vec::new();
        for (&p, &own) in points.iter().zip(own) {
            let near = cubes.near(p);
            // One cube is the point's own.
            if near.iter().all(|[first, last]| first == last) {
                continue;
            }
            cubes.each(near, |cube| {
                if cube != own {
                    list.push(cube);
                }
            });
        }
        list.sort_unstable();
        list.dedup();
        list
    });
    let mut near = parallel::concat(lists.collect());
    near.par_sort_unstable();
    near.dedup();
    let own = parallel::map(sorted, |cube| cube << 1 | 1);
    let others = parallel::filter_collect(near.len(), |i| {
        let is_own = sorted.binary_search(&near[i]).is_ok();
        (!is_own).then_some(near[i] << 1)
    });
    parallel::concat(vec![own, others])
}

/// The rank that is the directory of a told cube.
fn directory(item: u64, ranks: usize) -> usize {
    let mixed = (item >> 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    ((mixed * ranks as u64) >> 32) as usize
}

/// For each rank with points in a cube that others want: the cube, and who wants it.
fn answers(ranks: &Ranks, told: &Mail<u64>) -> Mail<[u64; 2]> {
    let mut users: Vec<(u64, usize)> = told.iter().map(|(rank, &item)| (item, rank)).collect();
    users.par_sort_unstable();
    let mut answers = Vec::new();
    for users in users.chunk_by(|a, b| a.0 >> 1 == b.0 >> 1) {
        let owners = users.iter().filter(|(item, _)| item & 1 != 0);
        for &(item, owner) in owners {
            let others = users.iter().filter(|&&(_, rank)| rank != owner);
            answers.extend(others.map(|&(_, rank)| (owner, [item >> 1, rank as u64])));
        }
    }
    Mail::sorted(ranks.size(), answers.len(), |i| answers[i])
}

/// The owned points that others want, with the ranks, from the answers; `own` are the points' cubes.
fn wanted(own: &[u64], mut answers: Vec<[u64; 2]>) -> (Vec<u32>, Vec<u64>) {
    answers.par_sort_unstable();
    let chunks = own.par_chunks(CHUNK).enumerate();
    let lists = chunks.map(|(chunk, own)| {
        let mut list = Vec::new();
        for (i, &cube) in (CHUNK * chunk..).zip(own) {
            let start = answers.partition_point(|answer| answer[0] < cube);
            let of_cube = answers[start..]
                .iter()
                .take_while(|answer| answer[0] == cube);
            list.extend(of_cube.map(|answer| (answer[1] as u32, i as u64)));
        }
        list
    });
    lists.collect::<Vec<_>>().concat().into_iter().unzip()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::threads::run;

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig { cases: 60, ..Default::default() })]
        /// Every pair within reach is at both ranks, at all scales, with coordinates on the bounds of cubes.
        #[test]
        fn every_neighbour_is_sent(
            grid in proptest::collection::vec((0..12_u8, 0..9_u8, 0..3_u8), 8..150),
            scale in proptest::sample::select(vec![1.0, 0.1, 1e-300, 1e295, 5e-324]),
            reach in proptest::sample::select(vec![0.0, 0.3, 1.0, 2.5, 40.0]),
            size in 2..6_usize,
        ) {
            let epsilon = reach * scale;
            let reach = epsilon * (1.0 + 4.0 * f64::EPSILON);
            let points: Vec<DVec3> = grid
                .iter()
                .map(|&(x, y, z)| DVec3::new(x.into(), y.into(), z.into()) * scale)
                .collect();
            let owner = |i: usize| i * 31 % 7 % size;
            let sent = run(size, |transport| {
                let ranks = Ranks::new(transport);
                let mine = (0..points.len()).filter(|&i| owner(i) == ranks.rank());
                let ids: Vec<u64> = mine.map(|i| i as u64).collect();
                let own: Vec<DVec3> = ids.iter().map(|&i| points[i as usize]).collect();
                let rows = Rows { words: ids.clone(), stride: 1 };
                let (to, sent) = find(&ranks, &rows, &own, points.len() as u64, reach);
                let pair = |(&to, &i): (&u32, &u64)| (to as usize, ids[i as usize] as usize);
                to.iter().zip(&sent).map(pair).collect::<Vec<_>>()
            });
            let sent = sent.concat();
            for (i, &p) in points.iter().enumerate() {
                for (j, &q) in points.iter().enumerate() {
                    let is_near = (p - q).abs().max_element() <= epsilon;
                    if is_near && owner(i) != owner(j) {
                        proptest::prop_assert!(sent.contains(&(owner(j), i)), "{i} to {j}");
                    }
                }
            }
            let mut once = sent.clone();
            once.sort_unstable();
            once.dedup();
            proptest::prop_assert_eq!(once.len(), sent.len());
        }
    }

    #[test]
    fn inner_points_are_not_sent() {
        let n = 4000;
        let points: Vec<DVec3> = (0..n).map(|i| DVec3::X * f64::from(i)).collect();
        let counts = run(2, |transport| {
            let ranks = Ranks::new(transport);
            let half = points[2000 * ranks.rank()..][..2000].to_vec();
            let words = (0..2000).map(|i| i + 2000 * ranks.rank() as u64).collect();
            let rows = Rows { words, stride: 1 };
            find(&ranks, &rows, &half, n as u64, 1.0).0.len()
        });
        assert!(
            counts.iter().all(|count| (1..40).contains(count)),
            "{counts:?}"
        );
    }
}
