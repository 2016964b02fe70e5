//! Triangles of a welded mesh: of each block, renamed, and without those that have no extent or are there twice.

use glam::DVec3;
use trioxide::Device;
use trioxide::weld::{self, Options};
use trioxide_mesh::parallel;

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
    let asked = IdSet::of_list(&block.corners);
    let new = fetch(ranks, block.vertices, &asked.to_vec(), map);
    let renamed = |v: &u64| new[asked.place(*v).expect("it was asked for") as usize];
    let corners = parallel::map(&block.corners, renamed);
    if options.keep_degenerate {
        let regions = block.regions.clone();
        return Ok(Remaining { corners, regions });
    }
    let (triangles, _) = corners.as_chunks::<3>();
    let list = parallel::filter_collect(triangles.len(), |i| {
        let [a, b, c] = triangles[i];
        (a != b && b != c && c != a).then_some(i)
    });
    let blocks = Blocks::new(clusters, ranks.size());
    let middle = |k: usize| {
        let [a, b, c] = triangles[list[k]];
        blocks.rank(a.min(b).max(c.min(a.max(b))))
    };
    let (size, n) = (ranks.size(), list.len());
    let rows = Mail::rows(size, n, 3, middle, |k, row| {
        row.copy_from_slice(&triangles[list[k]]);
    });
    let received = ranks.exchange(&rows);
    let repeated = ranks.agree(repeated(on, received.items()))?;
    // A byte for each triangle, in the places of the triangles.
    let counts = (0..ranks.size()).map(|rank| received.of(rank).len() / 3);
    let answers = ranks.exchange(&Mail::from_parts(repeated, counts));
    let places = Mail::sorted(size, n, |k| (middle(k), list[k]));
    let mut is_kept = vec![false; triangles.len()];
    for (&place, &is_repeated) in places.items().iter().zip(answers.items()) {
        is_kept[place] = is_repeated == 0;
    }
    let kept = parallel::filter_collect(triangles.len(), |i| is_kept[i].then_some(i));
    let regions = block.regions.as_ref();
    Ok(Remaining {
        corners: parallel::map(&kept, |&i| triangles[i]).into_flattened(),
        regions: regions.map(|regions| parallel::map(&kept, |&i| regions[i])),
    })
}

/// Whether each triangle is equal to an earlier one.
fn repeated(on: &Device, corners: &[u64]) -> Result<Vec<u8>> {
    let vertices = IdSet::of_list(corners);
    let local = |v: &u64| vertices.place(*v).expect("it is one of them");
    let corners: Vec<u32> = parallel::map(corners, local);
    let (triangles, _) = corners.as_chunks();
    let bits = weld::repeated_triangles(on, triangles, vertices.len());
    let bits = bits.map_err(|error| match error {
        weld::Error::TooLarge { faces, .. } => Fault::from(trioxide::Error::Argument(format!(
            "one rank would look for repeated triangles among {faces}, more than its indices reach: use more ranks"
        ))),
        error => error.into(),
    })?;
    let bit = |i: usize| (bits[i / 32] >> (i % 32) & 1) as u8;
    Ok(parallel::collect(triangles.len(), bit))
}
