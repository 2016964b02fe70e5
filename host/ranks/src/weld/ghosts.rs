//! The points that other ranks need: all within epsilon of their own points.
//!
//! Space is cut into cubes. A rank sends the directories the cubes that have points of its own, and the cubes within
//! epsilon of these. The directories answer with the other ranks that use a cube with points. So a rank has more ghosts
//! than it needs, by a cube's width.
//!
//! Points in [boxes](super::boxes) far from all other ranks are left out. There are two passes: large cubes find the
//! few points near other ranks, and small cubes divide these.

use std::ops::Range;

use glam::DVec3;
use rayon::prelude::*;
use trioxide_mesh::parallel;

use super::boxes::Boxes;
use super::cubes::{Around, BITS, CubeSet, Cubes, LARGE_BITS, Walk};
use crate::directory::{by_keys, other_users, paired};
use crate::transport::{Mail, Ranks, Reduction};

/// Points that a thread takes at a time.
const CHUNK: usize = 1 << 14;
/// Pieces of points that a thread takes at a time.
const PIECES: usize = 1 << 6;
/// Least points for each cube of a rank, so that the table of cubes is short compared with the points.
const POINTS_OF_CUBE: u64 = 4;
/// The same for large cubes.
const POINTS_OF_LARGE: u64 = 64;

/// The owned points that other ranks need, ascending, with these ranks. The points are in `boxes`, and all ranks have
/// `total`; neighbours are at most `reach` apart along each axis. Collective.
pub fn find(
    ranks: &Ranks,
    points: &[DVec3],
    boxes: &Boxes,
    total: u64,
    reach: f64,
) -> (Vec<u32>, Vec<u64>) {
    if ranks.size() == 1 || total == 0 {
        return Default::default();
    }
    let [least, most] = boxes.bounds();
    let mut cubes = Cubes::between(least, most, reach);
    let near: Vec<Range<usize>> = (boxes.near_others(reach).into_iter())
        .map(|piece| boxes.points(piece))
        .collect();
    let places = at_borders(ranks, &cubes, points, &near, total);
    let points = parallel::map(&places, |&i| points[i]);
    let total = ranks.sum(points.len() as u64);
    let mut own = parallel::map(&points, |&p| cubes.cube(p));
    let mut sorted = own.clone();
    sorted.par_sort_unstable();
    cubes.shift = shift(ranks, &sorted, total);
    for list in [&mut own, &mut sorted] {
        list.par_iter_mut().for_each(|cube| *cube >>= cubes.shift);
    }
    sorted.dedup();
    let users = users(ranks, &tell(&cubes, &points, &own, &sorted));
    let (to, mut sent) = wanted(&own, &other_users(ranks, users));
    sent.iter_mut()
        .for_each(|i| *i = places[*i as usize] as u64);
    (to, sent)
}

/// The owned points in large cubes that other ranks want, and the points that may have neighbours in large cubes where
/// others have points, ascending. All are in the ranges `near`. Collective.
fn at_borders(
    ranks: &Ranks,
    cubes: &Cubes,
    points: &[DVec3],
    near: &[Range<usize>],
    total: u64,
) -> Vec<usize> {
    let pieces = near;
    let mut large = cubes.large();
    let (mut own, mut near) = (CubeSet::new(), CubeSet::new());
    parallel::for_pieces(pieces.len(), PIECES, |range| {
        let mut walk = Walk::new(&large);
        let of_pieces = pieces[range].iter();
        for &p in of_pieces.flat_map(|piece| &points[piece.clone()]) {
            match walk.next(p) {
                Around::Same => {}
                Around::One(cube) => own.insert(cube),
                Around::Several(around) => {
                    own.insert(large.cube(p));
                    large.each(around, |cube| near.insert(cube));
                }
            }
        }
    });
    for _ in 0..doublings(ranks, &own, total) {
        (own, near) = (own.halved(), near.halved());
        large.shift += 3;
    }
    let told = own.to_vec().into_iter().map(|cube| cube << 1 | 1);
    let near = near.to_vec().into_iter().filter(|&cube| !own.has(cube));
    let told: Vec<u64> = told.chain(near.map(|cube| cube << 1)).collect();
    let shared = shared(ranks, users(ranks, &told));
    let shared = CubeSet::of(ranks.exchange(&shared).into_items().into_iter());

    let lists = parallel::map_pieces(pieces.len(), PIECES, |range| {
        let (mut walk, mut is_same_shared) = (Walk::new(&large), false);
        let is_at_border = |&i: &usize| {
            match walk.next(points[i]) {
                Around::Same => {}
                Around::One(cube) => is_same_shared = shared.has(cube),
                Around::Several(around) => {
                    let mut is_one_shared = false;
                    large.each(around, |cube| is_one_shared |= shared.has(cube));
                    return is_one_shared;
                }
            }
            is_same_shared
        };
        let points = pieces[range].iter().cloned().flatten();
        points.filter(is_at_border).collect()
    });
    parallel::concat(lists)
}

/// The number of times that the width of large cubes doubles, so that few have points. Collective.
fn doublings(ranks: &Ranks, own: &CubeSet, total: u64) -> usize {
    let mut counts = [0; LARGE_BITS as usize + 1];
    let mut cubes = own.to_vec();
    for count in &mut counts {
        *count = cubes.len() as u64;
        cubes.iter_mut().for_each(|cube| *cube >>= 3);
        cubes.dedup();
    }
    ranks.reduce_all(&mut counts, Reduction::Sum);
    let is_few = |&count: &u64| POINTS_OF_LARGE * count <= total;
    counts.iter().position(is_few).unwrap_or(counts.len() - 1)
}

/// The low bits of cubes' keys to drop, so that there are few cubes compared with the points: three bits double the
/// width. `sorted` are the keys of this rank's points. Collective.
fn shift(ranks: &Ranks, sorted: &[u64], total: u64) -> u32 {
    // Two keys are in one cube from some width on. This counts the cubes of each width.
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

/// The cubes that this rank uses: twice the cube, plus 1 for a cube with points of its own. `own` has the cube of each
/// point, `sorted` each of these once, ascending.
fn tell(cubes: &Cubes, points: &[DVec3], own: &[u64], sorted: &[u64]) -> Vec<u64> {
    let chunks = points.par_chunks(CHUNK).zip(own.par_chunks(CHUNK));
    let lists = chunks.map(|(points, own)| {
        let mut list = Vec::new();
        for (&p, &own) in points.iter().zip(own) {
            let near = cubes.near(p);
            // A single cube is the point's own.
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

/// Sends the cubes that this rank uses to their directories. Returns the uses of this directory's cubes, as
/// [`other_users`] takes them. Collective.
fn users(ranks: &Ranks, told: &[u64]) -> Vec<[u64; 2]> {
    let size = ranks.size();
    let directory = |item: u64| {
        let mixed = (item >> 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        ((mixed * size as u64) >> 32) as usize
    };
    let told = Mail::sorted(size, told.len(), |i| (directory(told[i]), told[i]));
    let told = ranks.exchange(&told);
    told.iter()
        .map(|(rank, &item)| [item, rank as u64])
        .collect()
}

/// For each rank the cubes that it uses, where several ranks do, and one has points.
fn shared(ranks: &Ranks, mut users: Vec<[u64; 2]>) -> Mail<u64> {
    let mut shared = Vec::new();
    for users in by_keys(&mut users) {
        if users.len() > 1 && users.iter().any(|[item, _]| item & 1 != 0) {
            shared.extend(users.iter().map(|&[item, rank]| (rank as usize, item >> 1)));
        }
    }
    Mail::sorted(ranks.size(), shared.len(), |i| shared[i])
}

/// The owned points that others want, with these ranks. `own` are the points' cubes, `others` the other ranks that use
/// them.
fn wanted(own: &[u64], others: &[[u64; 2]]) -> (Vec<u32>, Vec<u64>) {
    let chunks = own.par_chunks(CHUNK).enumerate();
    let lists = chunks.map(|(chunk, own)| {
        let places = (CHUNK * chunk..).zip(own);
        let of_point = |(i, &cube)| paired(others, cube).map(move |rank| (rank as u32, i as u64));
        places.flat_map(of_point).collect::<Vec<_>>()
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
                let boxes = Boxes::of(&ranks, &own);
                let (to, sent) = find(&ranks, &own, &boxes, points.len() as u64, reach);
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
            let boxes = Boxes::of(&ranks, &half);
            find(&ranks, &half, &boxes, n as u64, 1.0).0.len()
        });
        assert!(
            counts.iter().all(|count| (1..40).contains(count)),
            "{counts:?}"
        );
    }
}
