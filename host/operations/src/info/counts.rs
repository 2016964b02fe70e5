//! Counts over all faces and edges of a mesh.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use rayon::prelude::*;
use trioxide::mesh::Faces;

/// Number of the vertices that faces have.
pub(super) fn count_used(vertices: usize, faces: &Faces) -> usize {
    let words: Vec<AtomicU64> = (0..vertices.div_ceil(64))
        .map(|_| AtomicU64::new(0))
        .collect();
    let ids = match faces {
        Faces::Triangles(triangles) => triangles.as_flattened(),
        Faces::Polygons(polygons) => &polygons.vertices,
    };
    ids.par_iter().for_each(|&v| {
        let (word, bit) = (&words[v as usize / 64], 1 << (v % 64));
        // Most are there already, and reading leaves the word in every thread's cache.
        if word.load(Relaxed) & bit == 0 {
            word.fetch_or(bit, Relaxed);
        }
    });
    let ones = words
        .into_iter()
        .map(|word| word.into_inner().count_ones() as usize);
    ones.sum()
}

/// How many faces have each number of vertices.
pub(super) fn face_sizes(faces: &Faces) -> BTreeMap<usize, usize> {
    match faces {
        Faces::Triangles(triangles) if triangles.is_empty() => BTreeMap::new(),
        Faces::Triangles(triangles) => BTreeMap::from([(3, triangles.len())]),
        Faces::Polygons(polygons) => count_each(polygons.len(), |i| polygons.get(i).len()),
    }
}

/// How many of `n` elements have each key.
pub(super) fn count_each<K: Ord + Send>(
    n: usize,
    key: impl Fn(usize) -> K + Sync,
) -> BTreeMap<K, usize> {
    let elements = (0..n).into_par_iter();
    let parts = elements.fold(BTreeMap::new, |mut counts, i| {
        *counts.entry(key(i)).or_insert(0) += 1;
        counts
    });
    parts.reduce(BTreeMap::new, |mut counts, part| {
        for (key, count) in part {
            *counts.entry(key).or_insert(0) += count;
        }
        counts
    })
}

/// Numbers of connected parts of the boundary and of vertices with more than two of its edges.
pub(super) fn boundary_parts(boundary: &[[u32; 2]]) -> (usize, usize) {
    let mut ends: Vec<u32> = boundary.as_flattened().to_vec();
    ends.par_sort_unstable();
    let pinched = ends
        .chunk_by(|a, b| a == b)
        .filter(|uses| uses.len() > 2)
        .count();
    ends.dedup();
    // Disjoint sets of the positions in `ends`.
    let mut parent: Vec<usize> = (0..ends.len()).collect();
    let mut parts = ends.len();
    let find = |parent: &mut Vec<usize>, vertex: u32| {
        let mut i = ends.partition_point(|end| *end < vertex);
        while parent[i] != i {
            parent[i] = parent[parent[i]];
            i = parent[i];
        }
        i
    };
    for [a, b] in boundary {
        let (a, b) = (find(&mut parent, *a), find(&mut parent, *b));
        if a != b {
            parent[a.max(b)] = a.min(b);
            parts -= 1;
        }
    }
    (parts, pinched)
}
