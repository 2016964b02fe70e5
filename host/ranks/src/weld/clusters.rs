//! The clusters of all ranks: their numbers, and what they carry.

use std::ops::Range;

use trioxide::Device;
use trioxide::glam::DVec3;
use trioxide::mesh::VertexAttributes;
use trioxide::weld::{BlockMap, Carried, CarriedArrays, Decided, DeviceWeld, WeldArrays};
use trioxide_mesh::parallel;

use super::cloud::Dealt;
use super::numbered::Numbered;
use super::part::Part;
use super::{Wanted, Welded};
use crate::directory::fetch_by;
use crate::fault::{Fault, Result};
use crate::ids::IdSet;
use crate::transport::Ranks;

/// Gives ghosts their representatives, where these are here; others represent themselves. Those of the ghosts, by their
/// owners. Collective.
///
/// # Errors
/// Those of the device.
pub fn join(ranks: &Ranks, on: &Device, part: &Part, decided: &mut Decided) -> Result<Vec<u32>> {
    let halo = &part.merged.halo;
    let given = decided.get(on, halo.given()).map_err(Fault::from);
    let given = parallel::map(&ranks.agree(given)?, |&r| part.ids.get(r as usize));
    let ids = halo.exchange(ranks, given);
    let here = halo.ghosts().iter().zip(ids);
    let here = here.map(|(&ghost, id)| part.ids.place(id).unwrap_or(ghost));
    let here: Vec<u32> = here.collect();
    // A ghost comes from one rank, once.
    let set = decided.set(on, halo.ghosts(), &here);
    ranks.agree(set.map_err(Fault::from))?;
    Ok(here)
}

/// Numbers the clusters of this rank's points, `decided`, by a scan over the blocks; they and what they carry in the
/// order of their numbers, as far as it is `wanted`. `of_ghosts` are the representatives of the part's ghosts, and
/// `carried` are its clusters. Collective.
///
/// # Errors
/// Those of the device.
pub fn number(
    ranks: &Ranks,
    on: &Device,
    dealt: &Dealt,
    part: &Part,
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

/// Where each rank owns its block: its points are one run of the part's, and so are the clusters that it numbers.
fn of_blocks(
    ranks: &Ranks,
    on: &Device,
    dealt: &Dealt,
    part: &Part,
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
    // Only an empty block's first point is not here.
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
    // Owners tell the numbers of clusters by their representatives; other points have none.
    let places = parallel::map(halo.given(), |&v| v - first);
    let clusters = map.get(on, &places).map_err(Fault::from);
    let number = |&c: &u32| match (c as usize).checked_sub(before) {
        Some(name) => start + name as u64,
        None => u64::MAX,
    };
    let numbers = parallel::map(&ranks.agree(clusters)?, number);
    let numbers = halo.exchange(ranks, numbers).into_iter();
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
    let welded = ranks.agree(downloaded().map_err(Fault::from))?;
    let elsewhere = lower.into_iter().map(|(_, number)| number).collect();
    Ok((welded, numbered(ranks, dealt, map, elsewhere, starts)))
}

/// Where points have owners elsewhere: their representatives go back to the blocks, and what these carry.
fn of_owners(
    ranks: &Ranks,
    on: &Device,
    dealt: &Dealt,
    part: &Part,
    decided: &Decided,
    carried: DeviceWeld,
    wanted: Wanted,
) -> Result<(Welded, Numbered)> {
    let representatives = on.download_rows(&decided.representatives);
    let representatives: Vec<u32> = ranks.agree(representatives.map_err(Fault::from))?;
    let told = (part.merged.places).map_owned(|v| part.ids.get(representatives[v] as usize));
    let ids = dealt.back(ranks, told, 1, |_| true, |_| true);
    let block = dealt.block.clone();
    let mut welded = Welded::default();
    if wanted.mesh {
        let is_in_block = |i: usize| ids[i] == block.start + i as u64;
        let own = ranks.agree(of_owned(ranks, on, part, carried).map_err(Fault::from))?;
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
    let answers = fetch_by(ranks, dealt.total, &asked.to_vec(), number);
    // The clusters of others first.
    let before = asked.len() as u32;
    let clusters = parallel::map(&ids, |&id| match block.contains(&id) {
        true => before + name(id),
        false => asked.place(id).expect("it was asked for"),
    });
    let map = ranks.agree(on.upload(&clusters).map_err(Fault::from))?;
    let (vertices, own) = (0..ids.len() as u32, before..before + set.len() as u32);
    let map = BlockMap::new(map.cast(), vertices, own);
    if wanted.map {
        welded.representatives = set.to_vec();
    }
    Ok((welded, numbered(ranks, dealt, map, answers, starts)))
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

/// The first number of each rank, and that of all, of `count` of this one. Collective.
fn starts(ranks: &Ranks, count: usize) -> Vec<u64> {
    let mut starts = vec![0];
    for count in ranks.gather(count as u64) {
        starts.push(starts[starts.len() - 1] + count);
    }
    starts
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

/// Positions and attributes of the clusters of owned representatives, where those of ghosts are left out.
fn of_owned(
    ranks: &Ranks,
    on: &Device,
    part: &Part,
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

/// What the clusters of owned representatives carry, in the blocks of these: of those points of the block that
/// `is_in_block` names. Collective.
fn to_blocks(
    ranks: &Ranks,
    dealt: &Dealt,
    part: &Part,
    representatives: &[u32],
    (points, attributes): (Vec<DVec3>, VertexAttributes),
    is_in_block: impl Fn(usize) -> bool,
) -> (Vec<DVec3>, VertexAttributes) {
    let is_one = part
        .merged
        .places
        .map_owned(|v| representatives[v] as usize == v);
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

/// Leaves out what is in none of the runs, which ascend.
fn keep_runs<T: Copy>(list: &mut Vec<T>, runs: &[Range<usize>]) {
    let mut end = 0;
    for run in runs {
        list.copy_within(run.clone(), end);
        end += run.len();
    }
    list.truncate(end);
}
