//! Triangles of a welded mesh: of each block, renamed, and without those that have no extent or are there twice.

use std::ops::Range;

use glam::DVec3;
use trioxide::Device;
use trioxide::weld::{self, Options};
use trioxide_mesh::parallel::{self, GRAIN};

use crate::block::{Block, Blocks};
use crate::fault::{Fault, Result};
use crate::ids::IdSet;
use crate::ownership::fetch;
use crate::transport::{Mail, Ranks};

/// The remaining triangles of a block, in their order.
#[derive(Debug, Default)]
pub struct Remaining {
    /// New vertices, three each.
    pub corners: Vec<u64>,
    pub regions: Option<Vec<i32>>,
}

/// The block's triangles with the vertices that `map` gives the vertices of the blocks; `starts` are the first new vertex of each rank's
/// block, and the number of all. Collective.
///
/// Of equal triangles the first of the whole mesh remains: all go to the rank whose block has their middle vertex, in the order of their
/// ids. Most are there.
///
/// # Errors
/// More triangles for one rank than indices reach; those of the device.
pub fn weld(
    ranks: &Ranks,
    on: &Device,
    block: &Block<DVec3>,
    map: &[u64],
    starts: &[u64],
    options: &Options,
) -> Result<Remaining> {
    ranks.phase("triangles");
    let own = starts[ranks.rank()]..starts[ranks.rank() + 1];
    let first = Blocks::new(block.vertices, ranks.size())
        .range(ranks.rank())
        .start;
    let renamed = |v: u64| map.get(v.wrapping_sub(first) as usize).copied();
    let n = block.corners.len() / 3;
    let triangle = |t: usize| block.corners.cell::<3>(t);
    let is_own = |&v: &u64| renamed(v).is_some_and(|w| own.contains(&w));
    let crossing = parallel::filter_collect(n, |t| {
        (!triangle(t).iter().all(is_own)).then(|| (t, triangle(t)))
    });
    let crossing = rename(ranks, block.vertices, map, crossing, renamed);
    if options.keep_degenerate {
        let new = |i: usize| renamed(block.corners.get(i)).unwrap_or_default();
        let mut corners = parallel::collect(3 * n, new);
        for (t, corners_of) in crossing {
            corners[3 * t..3 * t + 3].copy_from_slice(&corners_of);
        }
        let regions = block.regions.clone();
        return Ok(Remaining { corners, regions });
    }

    let middle = |[a, b, c]: [u64; 3]| {
        let middle = a.min(b).max(c.min(a.max(b)));
        starts.partition_point(|&start| start <= middle) - 1
    };
    let is_away = |corners: [u64; 3]| has_extent(corners) && middle(corners) != ranks.rank();
    let away = crossing.iter().filter(|&&(_, corners)| is_away(corners));
    let away: Vec<(usize, [u64; 3])> = away.copied().collect();
    let sent = Mail::sorted(ranks.size(), away.len(), |k| (middle(away[k].1), away[k].1));
    let received = ranks.exchange(&sent);
    let others = crossing.iter().map(|(_, corners)| corners);
    let names = Names::new(own.clone(), others.chain(received.items()));

    // Those of the ranks before, the block's, and those of the ranks behind.
    let before: usize = (0..ranks.rank()).map(|rank| received.of(rank).len()).sum();
    let mut all: Vec<[u32; 3]> = parallel::zeroed(n + received.items().len());
    let (of_lower, behind) = all.split_at_mut(before);
    let (here, of_higher) = behind.split_at_mut(n);
    let of_others = of_lower.iter_mut().chain(of_higher);
    for (triangle, &corners) in of_others.zip(received.items()) {
        *triangle = corners.map(|w| names.of(w));
    }
    parallel::for_chunks_mut(here, GRAIN, |k, here| {
        for (t, place) in (k * GRAIN..).zip(here) {
            // Names of crossing triangles' vertices stand for no vertex.
            let name = |v: u64| renamed(v).unwrap_or_default().wrapping_sub(own.start) as u32;
            *place = triangle(t).map(name);
        }
    });
    for &(t, corners) in &crossing {
        here[t] = match is_away(corners) {
            true => NO_EXTENT,
            false => corners.map(|w| names.of(w)),
        };
    }
    let bits = ranks.agree(repeated(on, &all, names.count()))?;
    let is_repeated = |i: usize| bits[i / 32] >> (i % 32) & 1 != 0;

    // A byte for each triangle of others, in the places of the triangles.
    let answer = |i: usize| u8::from(is_repeated(if i < before { i } else { n + i }));
    let answers = received.with((0..received.items().len()).map(answer).collect());
    let answers = ranks.exchange_expected(&answers, &sent.counts());
    let by_ranks = Mail::sorted(ranks.size(), away.len(), |k| (middle(away[k].1), k));
    let here = &mut all[before..before + n];
    for (&k, &is_repeated) in by_ranks.items().iter().zip(answers.items()) {
        let (t, corners) = away[k];
        if is_repeated == 0 {
            here[t] = corners.map(|w| names.of(w));
        }
    }
    let here = &all[before..before + n];
    let is_left = |t: usize| has_extent(here[t]) && !is_repeated(before + t);
    let corners = parallel::collect_where(n, is_left, |t| here[t].map(|name| names.get(name)));
    let regions = block.regions.as_ref();
    Ok(Remaining {
        corners: corners.into_flattened(),
        regions: regions.map(|regions| parallel::collect_where(n, is_left, |t| regions[t])),
    })
}

/// A triangle that is left out.
const NO_EXTENT: [u32; 3] = [0; 3];

/// Whether a triangle has three vertices.
fn has_extent<T: PartialEq>([a, b, c]: [T; 3]) -> bool {
    a != b && b != c && c != a
}

/// The new vertices of triangles; `here` gives those of this rank's block. Collective.
fn rename(
    ranks: &Ranks,
    vertices: u64,
    map: &[u64],
    mut triangles: Vec<(usize, [u64; 3])>,
    here: impl Fn(u64) -> Option<u64> + Sync,
) -> Vec<(usize, [u64; 3])> {
    let is_elsewhere = |&v: &u64| here(v).is_none();
    let elsewhere = |i: usize| triangles[i].1.into_iter().filter(is_elsewhere);
    let asked = IdSet::of_lists(triangles.len(), elsewhere);
    let new = fetch(ranks, vertices, &asked.to_vec(), map);
    let of_other = |v: u64| new[asked.place(v).expect("it was asked for") as usize];
    for (_, corners) in &mut triangles {
        *corners = corners.map(|v| here(v).unwrap_or_else(|| of_other(v)));
    }
    triangles
}

/// Names of 32 bits for new vertices: those of this rank's block, and then others.
struct Names {
    own: Range<u64>,
    set: IdSet,
    others: Vec<u64>,
}

impl Names {
    fn new<'t>(own: Range<u64>, triangles: impl Iterator<Item = &'t [u64; 3]>) -> Self {
        let others = triangles.flatten().copied().filter(|w| !own.contains(w));
        let set = IdSet::of_list(&others.collect::<Vec<u64>>());
        let others = set.to_vec();
        Self { own, set, others }
    }

    /// Number of names of this rank's block.
    fn own(&self) -> usize {
        (self.own.end - self.own.start) as usize
    }

    fn count(&self) -> usize {
        self.own() + self.others.len()
    }

    fn of(&self, w: u64) -> u32 {
        match self.own.contains(&w) {
            true => (w - self.own.start) as u32,
            false => self.own() as u32 + self.set.place(w).expect("it is one of the others"),
        }
    }

    fn get(&self, name: u32) -> u64 {
        match (name as usize).checked_sub(self.own()) {
            None => self.own.start + u64::from(name),
            Some(other) => self.others[other],
        }
    }
}

/// Whether each triangle is equal to an earlier one: bits.
fn repeated(on: &Device, triangles: &[[u32; 3]], vertices: usize) -> Result<Vec<u32>> {
    weld::repeated_triangles(on, triangles, vertices).map_err(|error| match error {
        weld::Error::TooLarge { faces, .. } => Fault::from(trioxide::Error::Argument(format!(
            "one rank would look for repeated triangles among {faces}, more than its indices reach: use more ranks"
        ))),
        error => error.into(),
    })
}
