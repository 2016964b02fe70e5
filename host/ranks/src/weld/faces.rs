//! Triangles of a welded mesh: each block's, with new vertices, without triangles that lose their extent or are
//! repeated.
//!
//! They are copied to the device once. The host sees the few triangles with a vertex or a cluster of another block.

use std::ops::Range;

use glam::DVec3;
use trioxide::Device;
use trioxide::generate::Grid;
use trioxide::grid::Run;
use trioxide::ids::Triangle;
use trioxide::weld::{self, BlockFaces, Error, Options, Repeated};
use trioxide_mesh::parallel;

use super::numbered::Numbered;
use super::points::{Dealt, Source};
use crate::block::Block;
use crate::fault::{Fault, Result};
use crate::ids::IdSet;
use crate::transport::{Mail, Ranks};

/// The triangles of a block.
pub enum Triangles<'a> {
    /// Lists of the host.
    Lists(&'a Block<DVec3>),
    /// The triangles of a plain grid whose squares have their lower left corners in the block. The device writes them.
    Grid(Grid, Run),
}

impl<'a> Triangles<'a> {
    /// The triangles of a block whose points are `dealt`.
    pub fn of(block: &'a Block<DVec3>, dealt: &Dealt) -> Self {
        match dealt.source {
            Source::Lists(..) => Self::Lists(block),
            Source::Grid(grid) => {
                let (side, vertices) = (grid.side(), dealt.block.clone());
                Self::Grid(grid, Run { side, vertices })
            }
        }
    }

    fn count(&self) -> usize {
        match self {
            Self::Lists(block) => block.corners.len() / 3,
            Self::Grid(_, run) => 2 * run.squares().count(),
        }
    }

    /// The vertices of a triangle.
    fn corners(&self, t: u32) -> [u64; 3] {
        match self {
            Self::Lists(block) => block.corners.cell(t as usize),
            Self::Grid(grid, run) => grid.triangle(2 * run.squares().start + u64::from(t)),
        }
    }

    fn regions(&self) -> Option<&Vec<i32>> {
        match self {
            Self::Lists(block) => block.regions.as_ref(),
            Self::Grid(..) => None,
        }
    }

    /// The triangles on the device, and the vertex from which their corners count.
    fn upload(&self, on: &Device) -> weld::Result<(BlockFaces, u64)> {
        match self {
            Self::Lists(block) => {
                let (first, corners) = block.corners.parts();
                Ok((BlockFaces::upload(on, corners)?, first))
            }
            Self::Grid(_, run) => {
                let first = run.corner(run.squares().start);
                Ok((BlockFaces::of_run(on, run)?, first))
            }
        }
    }
}

/// The remaining triangles of a block, in their order.
#[derive(Debug, Default)]
pub struct Remaining {
    pub count: usize,
    /// New vertices, three each, if they are wanted.
    pub corners: Vec<u64>,
    pub regions: Option<Vec<i32>>,
}

/// The block's triangles with new vertices; with `is_wanted` these come to the host. Collective.
///
/// The first of equal triangles of the whole mesh remains: all go to the rank whose block has their middle vertex, in
/// the order of their ids. Most are there already.
///
/// # Errors
/// More triangles for one rank than indices reach; those of the device.
pub fn weld(
    ranks: &Ranks,
    on: &Device,
    triangles: &Triangles,
    numbered: &mut Numbered,
    options: &Options,
    is_wanted: bool,
) -> Result<Remaining> {
    ranks.phase("triangles");
    if options.keep_degenerate && !is_wanted {
        return Ok(Remaining {
            count: triangles.count(),
            ..Remaining::default()
        });
    }
    let (mut faces, crossing) = ranks.agree(named(on, triangles, numbered))?;
    let crossing = rename(ranks, on, triangles, numbered, crossing)?;
    if options.keep_degenerate {
        return ranks.agree(whole(on, triangles, faces, &crossing, numbered.own.clone()));
    }

    let (starts, me) = (&numbered.starts, ranks.rank());
    let middle = |[a, b, c]: [u64; 3]| {
        let middle = a.min(b).max(c.min(a.max(b)));
        starts.partition_point(|&start| start <= middle) - 1
    };
    let is_away = |new: [u64; 3]| has_extent(new) && middle(new) != me;
    let away = crossing.iter().filter(|&&(_, new)| is_away(new));
    let away: Vec<(u32, [u64; 3])> = away.copied().collect();
    let sent = Mail::places(ranks.size(), away.len(), |k| middle(away[k].1));
    let received = ranks.exchange(&sent.map(|&k| away[k as usize].1));
    let others = crossing.iter().map(|(_, new)| new);
    let names = Names::new(numbered.own.clone(), others.chain(received.items()));
    // Triangles of the ranks before this one, and of those after it.
    let before: usize = (0..ranks.rank()).map(|rank| received.of(rank).len()).sum();
    let of_others = parallel::map(received.items(), |&new| names.of_all(new));
    let of_others = of_others.split_at(before);
    let mut found = || -> weld::Result<(Repeated, Vec<bool>)> {
        set(&mut faces, on, &crossing, |new| match is_away(new) {
            true => NO_EXTENT,
            false => names.of_all(new),
        })?;
        let repeated = faces.find_repeated(on, [of_others.0, of_others.1], names.count())?;
        let are_repeated = repeated.of_others(on)?;
        Ok((repeated, are_repeated))
    };
    let (repeated, are_repeated) = ranks.agree(found().map_err(said))?;

    // A byte for each triangle of others, in the places of the triangles.
    let answers = received.with(are_repeated.into_iter().map(u8::from).collect());
    let answers = ranks.exchange_known(&answers, &sent.counts());
    let answered = sent.items().iter().zip(answers.items());
    let back = answered.filter(|&(_, &is_repeated)| is_repeated == 0);
    let back: Vec<(u32, [u64; 3])> = back.map(|(&k, _)| away[k as usize]).collect();
    let left = set(&mut faces, on, &back, |new| names.of_all(new))
        .and_then(|()| remaining(on, triangles, &faces, &repeated, &names, is_wanted));
    ranks.agree(left)
}

/// All triangles of the block; `crossing` are those with other blocks' vertices, `own` the new vertices of its rank.
fn whole(
    on: &Device,
    triangles: &Triangles,
    mut faces: BlockFaces,
    crossing: &[(u32, [u64; 3])],
    own: Range<u64>,
) -> Result<Remaining> {
    let names = Names::new(own, crossing.iter().map(|(_, new)| new));
    set(&mut faces, on, crossing, |new| names.of_all(new))?;
    let all = faces.download(on)?;
    Ok(Remaining {
        count: all.len(),
        corners: names.get_all(&all),
        regions: triangles.regions().cloned(),
    })
}

/// The triangles of the block that remain.
fn remaining(
    on: &Device,
    triangles: &Triangles,
    faces: &BlockFaces,
    repeated: &Repeated,
    names: &Names,
    is_wanted: bool,
) -> weld::Result<Remaining> {
    if !is_wanted {
        return Ok(Remaining {
            count: faces.count_remaining(on, repeated)?,
            ..Remaining::default()
        });
    }
    let (list, corners) = faces.download_remaining(on, repeated)?;
    let regions = match triangles.regions() {
        Some(regions) => {
            let region = |t: &Triangle| regions[t.index() as usize];
            Some(parallel::map(&on.download(&list)?, region))
        }
        None => None,
    };
    Ok(Remaining {
        count: corners.len(),
        corners: names.get_all(&corners),
        regions,
    })
}

/// The block's triangles on the device, and those with vertices or clusters of other blocks.
fn named(
    on: &Device,
    triangles: &Triangles,
    numbered: &Numbered,
) -> Result<(BlockFaces, Vec<u32>)> {
    let (mut faces, first) = triangles.upload(on).map_err(said)?;
    let first = first.wrapping_sub(numbered.block.start);
    let crossing = faces.name(on, first, &numbered.map)?;
    Ok((faces, crossing))
}

/// Sets the names of triangles, each of which is listed once.
fn set(
    faces: &mut BlockFaces,
    on: &Device,
    triangles: &[(u32, [u64; 3])],
    names: impl Fn([u64; 3]) -> [u32; 3] + Sync,
) -> weld::Result<()> {
    let list = parallel::map(triangles, |&(t, _)| t);
    let corners = parallel::map(triangles, |&(_, new)| names(new));
    // SAFETY: each crossing triangle is listed once, for its bit in a set; the triangles that were sent to other ranks
    // are some of these, also listed once.
    unsafe { faces.set(on, &list, &corners) }
}

/// The names of a triangle that is left out.
const NO_EXTENT: [u32; 3] = [0; 3];

/// Whether a triangle has three different vertices.
fn has_extent<T: PartialEq>([a, b, c]: [T; 3]) -> bool {
    a != b && b != c && c != a
}

/// The new vertices of a list of triangles. Collective.
fn rename(
    ranks: &Ranks,
    on: &Device,
    triangles: &Triangles,
    numbered: &mut Numbered,
    list: Vec<u32>,
) -> Result<Vec<(u32, [u64; 3])>> {
    let corners = parallel::map(&list, |&t| triangles.corners(t));
    let new = numbered.fetch(ranks, on, IdSet::of_list(corners.as_flattened()))?;
    let renamed = |i: usize| (list[i], corners[i].map(|v| new.get(v)));
    Ok(parallel::collect(list.len(), renamed))
}

/// 32-bit names of new vertices: first those of this rank's block, then others.
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

    fn of_all(&self, corners: [u64; 3]) -> [u32; 3] {
        corners.map(|w| self.of(w))
    }

    fn get(&self, name: u32) -> u64 {
        match (name as usize).checked_sub(self.own()) {
            None => self.own.start + u64::from(name),
            Some(other) => self.others[other],
        }
    }

    fn get_all(&self, corners: &[[u32; 3]]) -> Vec<u64> {
        parallel::map(corners.as_flattened(), |&name| self.get(name))
    }
}

/// Words the error of too many triangles for ranks.
fn said(error: Error) -> Fault {
    match error {
        Error::TooLarge { faces, .. } => Fault::from(trioxide::Error::Argument(format!(
            "one rank would look for repeated triangles among {faces}, more than its indices reach: use more ranks"
        ))),
        error => error.into(),
    }
}
