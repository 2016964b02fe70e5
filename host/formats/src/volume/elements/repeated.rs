//! Elements in several groups: an element has the first one, and a note names the others.
//!
//! A file may give an element once for each of its groups, as Gmsh does in version 2.2: the same vertices with another
//! tag. Such a face or cell is read once. Lines are read for each group: a mesh may have several segments on an edge.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering::Relaxed};

use rayon::slice::ParallelSliceMut;

use super::Elements;
use crate::text::listed;
use trioxide_mesh::about::GroupNames;
use trioxide_mesh::mesh::gather;
use trioxide_mesh::parallel;

/// Groups that elements are in beside the one that they have.
#[derive(Default)]
pub(in crate::volume) struct OtherGroups {
    /// Names of groups, by dimension and tag.
    pub(in crate::volume) names: GroupNames,
    /// Number of elements, by dimension, group, and other group.
    counts: BTreeMap<(usize, i32, i32), usize>,
}

impl OtherGroups {
    /// Counts elements of a dimension that have the tag `first`, and are also in the group `other`.
    pub(in crate::volume) fn add(
        &mut self,
        dimension: usize,
        first: i32,
        other: i32,
        count: usize,
    ) {
        *self.counts.entry((dimension, first, other)).or_default() += count;
    }

    /// Returns a sentence on these groups, if there are any.
    pub(super) fn note(&self) -> Option<String> {
        let name = |dimension: usize, tag: i32| match self.names.get(&(dimension, tag)) {
            Some(name) => format!("{tag} {name}"),
            None => tag.to_string(),
        };
        let counts = self.counts.iter().filter(|(_, count)| **count > 0);
        let all = counts.map(|(&(dimension, first, other), &count)| {
            let of_one = ["point", "line", "face", "cell"][dimension];
            let plural = if count == 1 { "" } else { "s" };
            let [first, other] = [first, other].map(|tag| name(dimension, tag));
            format!("{count} {of_one}{plural} in {first} and {other}")
        });
        let all = listed(all);
        (!all.is_empty())
            .then(|| format!("elements of several groups are read once, in the first: {all}"))
    }
}

impl Elements {
    /// Drops faces and cells that an earlier one repeats with another tag. Returns the ids of the cells and of the
    /// faces that stay, where some are dropped.
    pub(super) fn drop_repeated(&mut self, points: usize) -> [Option<Vec<u32>>; 2] {
        let mut end = 0;
        let mut starts = Vec::with_capacity(self.sizes.len());
        for &size in &self.sizes {
            starts.push(end);
            end += usize::from(size);
        }
        let (cells, sizes) = (&self.cells, &self.sizes);
        let cell = |i: usize| match starts.get(i) {
            Some(&start) => &cells[start..start + usize::from(sizes[i])],
            None => &cells[4 * i..4 * i + 4],
        };
        let of_cells = repeated(points, &self.regions, cell);
        let of_faces = repeated(points, &self.face_tags, |i| self.faces.get(i));
        let kept = [
            (3, &of_cells, &self.regions),
            (2, &of_faces, &self.face_tags),
        ]
        .map(|(dimension, repeated, tags)| {
            for &[other, first] in repeated {
                let [first, other] = [first, other].map(|i| tags[i as usize]);
                self.groups
                    .add(dimension, first, other, usize::from(first != other));
            }
            (!repeated.is_empty()).then(|| others(tags.len(), repeated))
        });
        if let Some(ids) = &kept[0] {
            self.cells = ids
                .iter()
                .flat_map(|&i| cell(i as usize))
                .copied()
                .collect();
            if !self.sizes.is_empty() {
                self.sizes = gather(&self.sizes, ids);
            }
            self.count = ids.len();
            self.regions = gather(&self.regions, ids);
        }
        if let Some(ids) = &kept[1] {
            let all = std::mem::take(&mut self.faces);
            ids.iter()
                .for_each(|&i| self.faces.push(all.get(i as usize)));
            self.face_tags = gather(&self.face_tags, ids);
        }
        for (sources, ids) in self.sources.iter_mut().zip(&kept) {
            if let Some(ids) = ids.as_ref().filter(|_| !sources.is_empty()) {
                *sources = gather(sources, ids);
            }
        }
        kept
    }
}

/// The ids below `count` that are not the first of a pair. The pairs ascend.
fn others(count: usize, pairs: &[[u32; 2]]) -> Vec<u32> {
    let mut next = pairs.iter().map(|pair| pair[0]).peekable();
    let is_other = |id: &u32| next.next_if_eq(id).is_none();
    (0..count as u32).filter(is_other).collect()
}

/// Returns the elements that have the vertices of an earlier one, in any order, where their tags differ: each with the
/// first of its vertices, ascending.
fn repeated<'a>(
    points: usize,
    tags: &[i32],
    vertices: impl Fn(usize) -> &'a [u32] + Sync,
) -> Vec<[u32; 2]> {
    let candidates = candidates(points, tags, &vertices);
    // The sum does not depend on the order of the vertices.
    let hash = |i: u32| {
        let mixed = vertices(i as usize).iter().map(|&v| mix(u64::from(v)));
        (mixed.fold(0, u64::wrapping_add), i)
    };
    let mut keyed: Vec<(u64, u32)> = parallel::map(&candidates, |&i| hash(i));
    keyed.par_sort_unstable();
    let mut pairs = Vec::new();
    for same in keyed
        .chunk_by(|a, b| a.0 == b.0)
        .filter(|same| same.len() > 1)
    {
        // Others may have the same hash.
        let mut sets: BTreeMap<Vec<u32>, Vec<u32>> = BTreeMap::new();
        for &(_, i) in same {
            let mut set = vertices(i as usize).to_vec();
            set.sort_unstable();
            sets.entry(set).or_default().push(i);
        }
        for ids in sets.values() {
            let tag = |i: u32| tags[i as usize];
            if ids.iter().any(|&i| tag(i) != tag(ids[0])) {
                pairs.extend(ids[1..].iter().map(|&i| [i, ids[0]]));
            }
        }
    }
    pairs.sort_unstable();
    pairs
}

/// Returns the elements all of whose vertices are in elements of several tags: few where regions meet, and all that
/// may be given twice with different tags.
fn candidates<'a>(
    points: usize,
    tags: &[i32],
    vertices: &(impl Fn(usize) -> &'a [u32] + Sync),
) -> Vec<u32> {
    /// No tag yet; an element with this very tag counts as one of several.
    const NONE: i32 = i32::MIN;
    if tags
        .first()
        .is_none_or(|&one| parallel::all(tags, |&tag| tag == one))
    {
        return Vec::new();
    }
    let first = parallel::collect(points, |_| AtomicI32::new(NONE));
    let several = parallel::collect(points.div_ceil(32), |_| AtomicU32::new(0));
    let word_and_bit = |v: u32| (&several[v as usize / 32], 1 << (v % 32));
    parallel::for_each(tags.len(), |i| {
        let tag = tags[i];
        for &v in vertices(i) {
            let place = &first[v as usize];
            let mut found = place.load(Relaxed);
            if found == NONE {
                let before = place.compare_exchange(NONE, tag, Relaxed, Relaxed);
                found = before.map_or_else(|other| other, |_| tag);
            }
            let (word, bit) = word_and_bit(v);
            if (found != tag || tag == NONE) && word.load(Relaxed) & bit == 0 {
                word.fetch_or(bit, Relaxed);
            }
        }
    });
    let is_in_several = |&v: &u32| {
        let (word, bit) = word_and_bit(v);
        word.load(Relaxed) & bit != 0
    };
    parallel::filter_collect(tags.len(), |i| {
        vertices(i).iter().all(is_in_several).then_some(i as u32)
    })
}

/// Returns a number whose bits depend on all bits of `n` (the finalizer of MurmurHash3).
fn mix(mut n: u64) -> u64 {
    n = n.wrapping_add(0x9e37_79b9_7f4a_7c15);
    n = (n ^ (n >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    n = (n ^ (n >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    n ^ (n >> 33)
}
