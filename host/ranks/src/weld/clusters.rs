//! The clusters of all ranks: their numbers, and the data that they carry.

use std::ops::Range;

use trioxide::Device;
use trioxide::glam::DVec3;
use trioxide::mesh::VertexAttributes;
use trioxide::weld::{BlockMap, Carried, CarriedArrays, Decided, DeviceWeld, WeldArrays};
use trioxide_mesh::parallel;

use super::numbered::Numbered;
use super::part::Cloud;
use super::points::Dealt;
use super::{Wanted, Welded};
use crate::directory::Fetched;
use crate::fault::Result;
use crate::ids::IdSet;
use crate::transport::{Ranks, offsets};

/// Sets the representatives of ghosts from their owners, where the representatives are here; other ghosts represent
/// themselves. Returns the representatives of the ghosts. Collective.
///
/// # Errors
/// Those of the device.
pub fn join(ranks: &Ranks, on: &Device, part: &Cloud, decided: &mut Decided) -> Result<Vec<u32>> {
    let halo = &part.merged.halo;
    let given = ranks.agree(decided.get(on, halo.given()))?;
    let given = parallel::map(&given, |&r| part.ids.get(r as usize));
    let ids = halo.send(ranks, given);
    let here = halo.ghosts().iter().zip(ids);
    let here = here.map(|(&ghost, id)| part.ids.place(id).unwrap_or(ghost));
    let here: Vec<u32> = here.collect();
    // A ghost comes from one rank, once.
    ranks.agree(decided.set(on, halo.ghosts(), &here))?;
    Ok(here)
}

/// Numbers the clusters of this rank's points by a scan over the blocks. Returns the clusters in the order of their
/// numbers, with the `wanted` arrays. `of_ghosts` are the representatives of the part's ghosts, `carried` its clusters.
/// Collective.
///
/// # Errors
/// Those of the device.
pub fn number(
    ranks: &Ranks,
    on: &Device,
    dealt: &Dealt,
    part: &Cloud,
    (decided, of_ghosts): (Decided, Vec<u32>),
    carried: DeviceWeld,
    wanted: Wanted,
) -> Result<(Welded, Numbered)> {
    let (welded, numbered) = match dealt.moves() {
        true => of_owners(ranks, on, dealt, part, &decided, carried, wanted)?,
        false => of_blocks(ranks, on, dealt, part, &of_ghosts, carried, wanted)?,
    };
    let map = match wanted.map {
        true => ranks.agree(numbered.download(on))?,
        false => Vec::new(),
    };
    let clusters = numbered.starts[ranks.size()];
    let welded = Welded {
        clusters,
        map,
        ..welded
    };
    Ok((welded, numbered))
}

/// Numbers clusters where each rank owns its block: its points are one run of the part's, and so are its clusters.
fn of_blocks(
    ranks: &Ranks,
    on: &Device,
    dealt: &Dealt,
    part: &Cloud,
    of_ghosts: &[u32],
    carried: DeviceWeld,
    wanted: Wanted,
) -> Result<(Welded, Numbered)> {
    let WeldArrays {
        map,
        representatives,
        points,
        carried,
        ..
    } = carried.into_arrays();
    let halo = &part.merged.halo;
    // The first point is here unless the block is empty.
    let first = part.ids.place(dealt.block.start).unwrap_or_default();
    let end = first + dealt.ids.len() as u32;
    let are_one = |(&ghost, &representative): (&u32, &u32)| ghost == representative;
    let alone = (halo.ghosts().iter().zip(of_ghosts)).filter(|&pair| are_one(pair));
    let before = alone.clone().filter(|&(&ghost, _)| ghost < first).count();
    let count = representatives.len() - alone.count();
    let own = before..before + count;
    let starts = starts(ranks, count);
    let mut map = BlockMap::new(map, first..end, before as u32..own.end as u32);

    let start = starts[ranks.rank()];
    // Owners send the numbers of representatives' clusters; other points have none.
    let places = parallel::map(halo.given(), |&v| v - first);
    let clusters = ranks.agree(map.get(on, &places))?;
    let number = |&c: &u32| match (c as usize).checked_sub(before) {
        Some(name) => start + name as u64,
        None => u64::MAX,
    };
    let numbers = parallel::map(&clusters, number);
    let numbers = halo.send(ranks, numbers).into_iter();
    let ghosts = halo.ghosts().iter().zip(of_ghosts).zip(numbers);
    let lower = ghosts.filter(|&(pair, _)| are_one(pair) && *pair.0 < first);
    let mut lower: Vec<(u32, u64)> = lower.map(|((&ghost, _), number)| (ghost, number)).collect();
    lower.sort_unstable();

    let downloaded = || -> trioxide::Result<Welded> {
        let mut welded = Welded::default();
        if wanted.map {
            let id = |v: &trioxide::ids::Vertex| dealt.block.start + u64::from(v.index() - first);
            let list = on.download_range(&representatives, own.clone())?;
            welded.representatives = parallel::map(&list, id);
        }
        if wanted.mesh {
            welded.points = on.download_range(&points, own.clone())?;
            welded.attributes = attributes(on, &carried, own.clone())?;
            // A device has no empty arrays.
            dealt.layout.complete(&mut welded.attributes);
        }
        Ok(welded)
    };
    let welded = ranks.agree(downloaded())?;
    let elsewhere = lower.into_iter().map(|(_, number)| number).collect();
    Ok((welded, numbered(ranks, dealt, map, elsewhere, starts)))
}

/// Numbers clusters where points have moved: representatives go back to the blocks, with the data that they carry.
fn of_owners(
    ranks: &Ranks,
    on: &Device,
    dealt: &Dealt,
    part: &Cloud,
    decided: &Decided,
    carried: DeviceWeld,
    wanted: Wanted,
) -> Result<(Welded, Numbered)> {
    let representatives = on.download_rows(&decided.representatives);
    let representatives: Vec<u32> = ranks.agree(representatives)?;
    let told = (part.merged.places).map_owned(|v| part.ids.get(representatives[v] as usize));
    let ids = dealt.back(ranks, told, 1, |_| true, |_| true);
    let block = dealt.block.clone();
    let mut welded = Welded::default();
    if wanted.mesh {
        let is_in_block = |i: usize| ids[i] == block.start + i as u64;
        let own = ranks.agree(of_owned(ranks, on, part, carried))?;
        (welded.points, welded.attributes) =
            to_blocks(ranks, dealt, part, &representatives, own, is_in_block);
    }

    let set = IdSet::of_range(block.clone(), |id| ids[(id - block.start) as usize] == id);
    let starts = starts(ranks, set.len());
    let name = |id: u64| set.place(id).expect("it is a representative");
    let elsewhere = |i: usize| Some(ids[i]).filter(|id| !block.contains(id));
    let asked = IdSet::of_list(&parallel::filter_collect(ids.len(), elsewhere));
    let start = starts[ranks.rank()];
    let number = |id: u64| start + u64::from(name(id));
    let asked = Fetched::by(ranks, dealt.total, asked, number);
    // The clusters of others come first.
    let before = asked.ids.len() as u32;
    let clusters = parallel::map(&ids, |&id| match block.contains(&id) {
        true => before + name(id),
        false => asked.ids.place(id).expect("it was asked for"),
    });
    let map = ranks.agree(on.upload(&clusters))?;
    let (vertices, own) = (0..ids.len() as u32, before..before + set.len() as u32);
    let map = BlockMap::new(map.cast(), vertices, own);
    if wanted.map {
        welded.representatives = set.to_vec();
    }
    Ok((
        welded,
        numbered(ranks, dealt, map, asked.into_items(), starts),
    ))
}

fn numbered(
    ranks: &Ranks,
    dealt: &Dealt,
    map: BlockMap,
    elsewhere: Vec<u64>,
    starts: Vec<u64>,
) -> Numbered {
    Numbered {
        total: dealt.total,
        block: dealt.block.clone(),
        map,
        elsewhere,
        own: starts[ranks.rank()]..starts[ranks.rank() + 1],
        starts,
    }
}

/// The first number of each rank's clusters, and the number of all; this rank has `count`. Collective.
fn starts(ranks: &Ranks, count: usize) -> Vec<u64> {
    offsets(ranks.numbers(count as u64).into_iter())
}

/// The attributes of a run of clusters.
fn attributes(
    on: &Device,
    arrays: &CarriedArrays,
    own: Range<usize>,
) -> trioxide::Result<VertexAttributes> {
    fn some<T: bytemuck::Pod>(
        on: &Device,
        array: &Option<trioxide::Buffer<T>>,
        own: &Range<usize>,
    ) -> trioxide::Result<Option<Vec<T>>> {
        let array = array.as_ref();
        array
            .map(|array| on.download_range(array, own.clone()))
            .transpose()
    }
    let colors = some(on, &arrays.colors, &own)?;
    let unpacked = |list: Vec<u32>| parallel::map(&list, |color| color.to_le_bytes());
    Ok(VertexAttributes {
        normals: some(on, &arrays.normals, &own)?,
        colors: colors.map(unpacked),
        uvs: some(on, &arrays.uvs, &own)?,
    })
}

/// Positions and attributes of the clusters of owned representatives, without those of ghosts.
fn of_owned(
    ranks: &Ranks,
    on: &Device,
    part: &Cloud,
    carried: DeviceWeld,
) -> trioxide::Result<(Vec<DVec3>, VertexAttributes)> {
    let arrays = carried.into_arrays();
    let representatives: Vec<u32> = on.download_rows(&arrays.representatives)?;
    let before = |v: usize| representatives.partition_point(|&other| (other as usize) < v);
    let own = part.merged.owners.of_rank(ranks.rank() as u32);
    let own: Vec<Range<usize>> = own.map(|run| before(run.start)..before(run.end)).collect();
    let mut points = on.download(&arrays.points)?;
    let mut attributes = attributes(on, &arrays.carried, 0..representatives.len())?;
    let VertexAttributes {
        normals,
        colors,
        uvs,
    } = &mut attributes;
    keep_runs(&mut points, &own);
    normals.iter_mut().for_each(|list| keep_runs(list, &own));
    colors.iter_mut().for_each(|list| keep_runs(list, &own));
    uvs.iter_mut().for_each(|list| keep_runs(list, &own));
    Ok((points, attributes))
}

/// Sends positions and attributes of clusters to the blocks of their representatives: the points of the block for which
/// `is_in_block` is true. Collective.
fn to_blocks(
    ranks: &Ranks,
    dealt: &Dealt,
    part: &Cloud,
    representatives: &[u32],
    (points, attributes): (Vec<DVec3>, VertexAttributes),
    is_in_block: impl Fn(usize) -> bool,
) -> (Vec<DVec3>, VertexAttributes) {
    let places = &part.merged.places;
    let is_one = places.map_owned(|v| representatives[v] as usize == v);
    let layout = dealt.layout;
    let stride = layout.words();
    let mut words = parallel::zeroed(stride * points.len());
    let own = Carried {
        attributes: &attributes,
        locked: &[],
        regions: None,
    };
    parallel::for_chunks_mut(&mut words, stride, |i, row| {
        layout.write(row, i, &points, &own);
    });
    let words = dealt.back(ranks, words, stride, |i| is_one[i], is_in_block);
    let read = layout.read(&words, stride);
    (read.points.into_owned(), read.attributes.into_owned())
}

/// Keeps the elements of the runs, which ascend.
fn keep_runs<T: Copy>(list: &mut Vec<T>, runs: &[Range<usize>]) {
    let mut end = 0;
    for run in runs {
        list.copy_within(run.clone(), end);
        end += run.len();
    }
    list.truncate(end);
}
