//! Directed edges grouped by their undirected edge.

use crate::mesh::{EdgeTriangulation, NONE};

/// Directed edges of faces, grouped by undirected edge.
///
/// Each directed edge lies in the bucket of its smaller vertex; a bucket is sorted by the larger vertex, then by the
/// directed edge's id. So the groups come in the order of (smaller vertex, larger vertex). n log n for any input (a
/// search in the star of each vertex would be quadratic where one vertex has many edges).
pub struct EdgeTable {
    /// Start of each vertex's bucket, and the end of the last.
    offsets: Vec<u32>,
    /// (larger vertex, id of the directed edge).
    entries: Vec<(u32, u32)>,
}

impl EdgeTable {
    /// Table of `edges`, (origin, target) in the order of their ids, whose vertices are all below `vertices`.
    pub fn new(vertices: usize, edges: impl Iterator<Item = (u32, u32)> + Clone) -> EdgeTable {
        let mut offsets = vec![0u32; vertices + 1];
        for (a, b) in edges.clone() {
            offsets[a.min(b) as usize + 1] += 1;
        }
        for v in 0..vertices {
            offsets[v + 1] += offsets[v];
        }
        let mut cursor = offsets.clone();
        let mut entries = vec![(0, 0); offsets[vertices] as usize];
        for (id, (a, b)) in edges.enumerate() {
            let slot = &mut cursor[a.min(b) as usize];
            entries[*slot as usize] = (a.max(b), id as u32);
            *slot += 1;
        }
        for v in 0..vertices {
            entries[offsets[v] as usize..offsets[v + 1] as usize].sort_unstable();
        }
        EdgeTable { offsets, entries }
    }

    /// Table of the sides of `triangles`: side k of triangle t, from its k-th vertex, has id 3t + k.
    pub fn of_triangles(vertices: usize, triangles: &[[u32; 3]]) -> EdgeTable {
        EdgeTable::new(
            vertices,
            triangles
                .iter()
                .flat_map(|&[a, b, c]| [(a, b), (b, c), (c, a)]),
        )
    }

    /// Every undirected edge: its vertices (smaller, larger) and the entries whose `.1` are its directed edges' ids,
    /// ascending.
    pub fn edges(&self) -> impl Iterator<Item = ([u32; 2], &[(u32, u32)])> {
        (0..self.offsets.len() - 1).flat_map(move |v| {
            self.bucket(v)
                .chunk_by(|a, b| a.0 == b.0)
                .map(move |group| ([v as u32, group[0].0], group))
        })
    }

    /// The directed edges between `a` and `b`, either way.
    pub fn between(&self, a: u32, b: u32) -> &[(u32, u32)] {
        let bucket = self.bucket(a.min(b) as usize);
        let larger = a.max(b);
        let start = bucket.partition_point(|entry| entry.0 < larger);
        let end = start + bucket[start..].partition_point(|entry| entry.0 == larger);
        &bucket[start..end]
    }

    fn bucket(&self, v: usize) -> &[(u32, u32)] {
        &self.entries[self.offsets[v] as usize..self.offsets[v + 1] as usize]
    }
}

/// The edges of a valid triangulation, in the order of their owner half-edges.
///
/// Side k of triangle t is half-edge 3t + k. Of the two half-edges of an edge the smaller one owns it: the edge runs its way.
///
/// # Panics
/// When a vertex id is out of range, or sides do not fit 32 bits.
pub fn edges<P>(points: Vec<P>, triangles: &[[u32; 3]]) -> EdgeTriangulation<P> {
    assert!(
        triangles.len() < (NONE / 6) as usize,
        "sides do not fit 32 bits"
    );
    let table = EdgeTable::of_triangles(points.len(), triangles);
    let mut owner = vec![NONE; 3 * triangles.len()];
    for (_, half_edges) in table.edges() {
        for &(_, h) in half_edges {
            owner[h as usize] = half_edges[0].1;
        }
    }
    let mut edges = Vec::new();
    let mut sides = vec![NONE; 3 * triangles.len()];
    for h in 0..owner.len() {
        let o = owner[h] as usize;
        sides[h] = if o == h {
            let triangle = triangles[h / 3];
            edges.push([triangle[h % 3], triangle[(h + 1) % 3]]);
            2 * (edges.len() as u32 - 1)
        } else {
            // Owners come first.
            sides[o] + 1
        };
    }
    EdgeTriangulation {
        points,
        edges,
        triangles: sides.as_chunks().0.to_vec(),
        tags: Vec::new(),
    }
}
