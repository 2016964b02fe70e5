//! Directed edges grouped by their undirected edge.

/// Directed edges of faces, grouped by undirected edge.
///
/// Each directed edge lies in the bucket of its smaller vertex; a bucket is sorted by the larger vertex, then by the
/// directed edge's id. So the groups come in the order of (smaller vertex, larger vertex). n log n for any input (a
/// search in the star of each vertex would be quadratic where one vertex has many edges).
pub(crate) struct EdgeTable {
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
