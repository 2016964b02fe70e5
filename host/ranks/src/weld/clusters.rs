//! The clusters of all ranks: their numbers, and what they carry.

use std::ops::Range;

use trioxide::mesh::VertexAttributes;
use trioxide::weld::{self, Carried, Decided};
use trioxide_mesh::parallel;

use super::Welded;
use super::cloud::Dealt;
use super::part::Part;
use crate::ids::IdSet;
use crate::ownership::fetch_by;
use crate::transport::Ranks;

/// Gives ghosts their representatives, where these are here; others represent themselves. Collective.
pub fn join(ranks: &Ranks, part: &Part, decided: &mut Decided) {
    let representatives = &mut decided.representatives;
    let halo = &part.merged.halo;
    let ids = halo.take(ranks, |&v| {
        part.ids.get(representatives[v as usize] as usize)
    });
    for (&ghost, id) in halo.ghosts().iter().zip(ids) {
        representatives[ghost as usize] = part.ids.place(id).unwrap_or(ghost);
    }
}

/// The numbers of clusters, by a scan over the blocks, and what they carry, in their order; and the number of the first cluster of each
/// rank's block, behind the last one that of all. `representatives` are those of the part's points, by local ids. Collective.
pub fn number(
    ranks: &Ranks,
    dealt: &Dealt,
    part: &Part,
    representatives: &[u32],
    carried: weld::Welded,
) -> (Welded, Vec<u64>) {
    let told = (part.merged).map_owned(|v| part.ids.get(representatives[v] as usize));
    let mut map = dealt.back(ranks, told, 1, |_| true, |_| true);
    let block = dealt.block.clone();
    let is_in_block = |i: usize| map[i] == block.start + i as u64;
    let (points, attributes) = to_blocks(ranks, dealt, part, representatives, carried, is_in_block);

    let numbered = IdSet::of_range(block.clone(), |id| map[(id - block.start) as usize] == id);
    let mut starts = vec![0];
    for count in ranks.gather(numbered.len() as u64) {
        starts.push(starts[starts.len() - 1] + count);
    }
    let first = starts[ranks.rank()];
    let number = |id: u64| first + u64::from(numbered.place(id).expect("it is a representative"));
    let elsewhere = |i: usize| Some(map[i]).filter(|id| !block.contains(id));
    let asked = IdSet::of_list(&parallel::filter_collect(map.len(), elsewhere));
    let answers = fetch_by(ranks, dealt.total, &asked.to_vec(), number);
    parallel::for_chunks_mut(&mut map, parallel::GRAIN, |_, ids| {
        for id in ids {
            *id = match block.contains(id) {
                true => number(*id),
                false => answers[asked.place(*id).expect("it was asked for") as usize],
            };
        }
    });
    let welded = Welded {
        clusters: starts[ranks.size()],
        map,
        representatives: numbered.to_vec(),
        points,
        attributes,
        ..Welded::default()
    };
    (welded, starts)
}

/// What the clusters of owned points carry, in the blocks of their representatives: of those points of the block that `is_in_block` names.
/// Collective.
fn to_blocks(
    ranks: &Ranks,
    dealt: &Dealt,
    part: &Part,
    representatives: &[u32],
    mut carried: weld::Welded,
    is_in_block: impl Fn(usize) -> bool,
) -> (Vec<trioxide::glam::DVec3>, VertexAttributes) {
    // Clusters of owned representatives, where those of ghosts are left out.
    let before =
        |v: usize| (carried.representatives).partition_point(|&other| (other as usize) < v);
    let own = part.merged.owners.of_rank(ranks.rank() as u32);
    let own: Vec<Range<usize>> = own.map(|run| before(run.start)..before(run.end)).collect();
    let VertexAttributes {
        normals,
        colors,
        uvs,
    } = &mut carried.attributes;
    keep_runs(&mut carried.points, &own);
    normals.iter_mut().for_each(|list| keep_runs(list, &own));
    colors.iter_mut().for_each(|list| keep_runs(list, &own));
    uvs.iter_mut().for_each(|list| keep_runs(list, &own));
    if !dealt.moves() {
        // A device has no empty arrays.
        dealt.layout.complete(&mut carried.attributes);
        return (carried.points, carried.attributes);
    }
    let is_one = part.merged.map_owned(|v| representatives[v] as usize == v);
    let layout = dealt.layout;
    let stride = layout.words();
    let mut words = parallel::zeroed(stride * carried.points.len());
    let left = Carried {
        attributes: &carried.attributes,
        locked: &[],
        regions: None,
    };
    parallel::for_chunks_mut(&mut words, stride, |i, row| {
        layout.write(row, i, &carried.points, &left);
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
