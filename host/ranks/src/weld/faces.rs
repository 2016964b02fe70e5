//! Triangles of a welded mesh: of each block, renamed, and without those that have no extent or are there twice.

use glam::DVec3;
use rayon::prelude::*;
use trioxide::Device;
use trioxide::weld::{self, Options};

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

/// The block's triangles with the vertices that `map` gives the vertices of the blocks, `clusters` in number. Collective.
///
/// Of equal triangles the first of the whole mesh remains: all go to the rank that has their middle vertex, in the order of their ids.
///
/// # Errors
/// More triangles for one rank than indices reach; those of the device.
pub fn weld(
    ranks: &Ranks,
    on: &Device,
    block: &Block<DVec3>,
    map: &[u64],
    clusters: u64,
    options: &Options,
) -> Result<Remaining> {
    ranks.phase("triangles");
    let asked = IdSet::of(&block.corners.iter().copied());
    let new = fetch(ranks, block.vertices, &asked.to_vec(), map);
    let renamed = |v: &u64| new[asked.place(*v).expect("it was asked for") as usize];
    let corners: Vec<u64> = block.corners.par_iter().map(renamed).collect();
    if options.keep_degenerate {
        let regions = block.regions.clone();
        return Ok(Remaining { corners, regions });
    }
    let (triangles, _) = corners.as_chunks::<3>();
    let has_extent = |i: &usize| {
        let [a, b, c] = triangles[*i];
        a != b && b != c && c != a
    };
    let list: Vec<usize> = (0..triangles.len()).filter(has_extent).collect();
    let blocks = Blocks::new(clusters, ranks.size());
    let middle = |&i: &usize| {
        let mut sorted = triangles[i];
        sorted.sort_unstable();
        blocks.rank(sorted[1]) as u32
    };
    let to: Vec<u32> = list.iter().map(middle).collect();
    let rows = Mail::rows(ranks.size(), &to, 3, |i, row| {
        row.copy_from_slice(&triangles[list[i]]);
    });
    let received = ranks.exchange(&rows);
    let repeated = ranks.agree(repeated(on, received.items()))?;
    // A byte for each triangle, in the places of the triangles.
    let counts = (0..ranks.size()).map(|rank| received.of(rank).len() / 3);
    let answers = ranks.exchange(&Mail::from_parts(repeated, counts));
    let places = Mail::rows(ranks.size(), &to, 1, |i, row| row[0] = list[i]);
    let mut is_kept = vec![false; triangles.len()];
    for (&place, &is_repeated) in places.items().iter().zip(answers.items()) {
        is_kept[place] = is_repeated == 0;
    }
    let kept = || (0..triangles.len()).filter(|&i| is_kept[i]);
    Ok(Remaining {
        corners: kept().flat_map(|i| triangles[i]).collect(),
        regions: (block.regions.as_ref()).map(|regions| kept().map(|i| regions[i]).collect()),
    })
}

/// Whether each triangle is equal to an earlier one.
fn repeated(on: &Device, corners: &[u64]) -> Result<Vec<u8>> {
    let vertices = IdSet::of(&corners.iter().copied());
    let local = |v: &u64| vertices.place(*v).expect("it is one of them");
    let corners: Vec<u32> = corners.par_iter().map(local).collect();
    let (triangles, _) = corners.as_chunks();
    let bits = weld::repeated_triangles(on, triangles, vertices.len());
    let bits = bits.map_err(|error| match error {
        weld::Error::TooLarge { faces, .. } => Fault::from(trioxide::Error::Argument(format!(
            "one rank would look for repeated triangles among {faces}, more than its indices reach: use more ranks"
        ))),
        error => error.into(),
    })?;
    let bit = |i: usize| (bits[i / 32] >> (i % 32) & 1) as u8;
    Ok((0..triangles.len()).map(bit).collect())
}
