//! Directed edges grouped by their undirected edge.

use rayon::prelude::*;

use crate::mesh::{EdgeTriangulation, NONE, Polygons};
use crate::partition::Partition;

/// Directed edges of faces, grouped by undirected edge.
///
/// Each directed edge lies in the bucket of its smaller vertex. A bucket is sorted by the larger vertex, then by the
/// directed edge's id. So the groups come in the order of (smaller vertex, larger vertex). Takes n log n time for any
/// input. (A search in the star of each vertex is quadratic if one vertex has many edges.)
pub struct EdgeTable {
    /// Start of each vertex's bucket, and the end of the last.
    offsets: Vec<u32>,
    /// (larger vertex, id of the directed edge).
    entries: Vec<(u32, u32)>,
}

/// Smallest number of vertices in a group, whose buckets one task sorts.
const BUCKETS: usize = 4096;
/// Most groups of vertices.
const GROUPS: usize = 2048;

impl EdgeTable {
    /// Table of the sides of `faces` faces, built by all threads: the same as [`EdgeTable::new`] builds. All vertices
    /// are below `vertices`. `sides` gives (id, origin, target) for each side of a face; ids ascend.
    pub fn of_faces<I: IntoIterator<Item = (u32, u32, u32)>>(
        vertices: usize,
        faces: usize,
        sides: impl Fn(usize) -> I + Sync,
    ) -> EdgeTable {
        // First into groups of vertices, whose buckets fit a core's cache.
        let group = BUCKETS.max(vertices.div_ceil(GROUPS).next_power_of_two());
        let shift = group.trailing_zeros();
        let sorted = Partition::new(faces, vertices.div_ceil(group), |face| {
            sides(face).into_iter().map(move |(id, a, b)| {
                let (smaller, larger) = (a.min(b), a.max(b));
                ((smaller >> shift) as usize, [smaller, larger, id])
            })
        });
        let mut offsets = vec![0u32; vertices + 1];
        let mut entries = vec![(0, 0); sorted.rows.len()];
        let parts = sorted.split(&mut entries);
        offsets[1..]
            .par_chunks_mut(group)
            .zip(parts)
            .enumerate()
            .for_each(|(i, (ends, entries))| {
                let first = (i * group) as u32;
                let rows = sorted.group(i);
                for [smaller, ..] in rows {
                    ends[(smaller - first) as usize] += 1;
                }
                // First the start of each bucket: writing entries advances it to the bucket's end.
                let mut sum = 0;
                for end in &mut *ends {
                    sum += std::mem::replace(end, sum);
                }
                for &[smaller, larger, id] in rows {
                    let place = &mut ends[(smaller - first) as usize];
                    entries[*place as usize] = (larger, id);
                    *place += 1;
                }
                let (mut begin, before) = (0, sorted.starts[i] as u32);
                for end in ends {
                    entries[begin as usize..*end as usize].sort_unstable_by_key(|&(larger, id)| {
                        u64::from(larger) << 32 | u64::from(id)
                    });
                    begin = *end;
                    *end += before;
                }
            });
        EdgeTable { offsets, entries }
    }

    /// Table of `edges`, (origin, target) in the order of their ids. All vertices are below `vertices`.
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
        EdgeTable::of_faces(vertices, triangles.len(), |t| {
            let [a, b, c] = triangles[t];
            let id = 3 * t as u32;
            [(id, a, b), (id + 1, b, c), (id + 2, c, a)]
        })
    }

    /// Table of the sides of `polygons`. A side's id is its origin's place in the list of vertices.
    pub fn of_polygons(vertices: usize, polygons: &Polygons) -> EdgeTable {
        EdgeTable::of_faces(vertices, polygons.len(), |i| {
            let polygon = polygons.get(i);
            let next = polygon.iter().cycle().skip(1);
            let sides = polygon.iter().zip(next);
            (polygons.offsets[i]..)
                .zip(sides)
                .map(|(id, (&a, &b))| (id, a, b))
        })
    }

    /// Every undirected edge: its vertices (smaller, larger) and its entries. The entries' `.1` are its directed edges'
    /// ids, ascending.
    pub fn edges(&self) -> impl Iterator<Item = ([u32; 2], &[(u32, u32)])> {
        (0..self.offsets.len() - 1).flat_map(move |v| {
            self.bucket(v)
                .chunk_by(|a, b| a.0 == b.0)
                .map(move |group| ([v as u32, group[0].0], group))
        })
    }

    /// As [`EdgeTable::edges`], on all threads: the values of `map`, where it returns one, in the order of the
    /// undirected edges.
    pub fn filter_map_edges<R: Send>(
        &self,
        map: impl Fn([u32; 2], &[(u32, u32)]) -> Option<R> + Sync,
    ) -> Vec<R> {
        self.flat_map_edges(|found, ends, group| found.extend(map(ends, group)))
    }

    /// As [`EdgeTable::filter_map_edges`]; `map` appends any number of values for an edge.
    pub fn flat_map_edges<R: Send>(
        &self,
        map: impl Fn(&mut Vec<R>, [u32; 2], &[(u32, u32)]) + Sync,
    ) -> Vec<R> {
        let parts = crate::parallel::map_pieces(self.offsets.len() - 1, BUCKETS, |vertices| {
            let mut found = Vec::new();
            for v in vertices {
                let groups = self.bucket(v).chunk_by(|a, b| a.0 == b.0);
                groups.for_each(|group| map(&mut found, [v as u32, group[0].0], group));
            }
            found
        });
        crate::parallel::concat(parts)
    }

    /// As [`EdgeTable::edges`], on all threads, in any order.
    pub fn for_each_edge(&self, visit: impl Fn([u32; 2], &[(u32, u32)]) + Sync) {
        (0..self.offsets.len() - 1)
            .into_par_iter()
            .with_min_len(1024)
            .for_each(|v| {
                let groups = self.bucket(v).chunk_by(|a, b| a.0 == b.0);
                groups.for_each(|group| visit([v as u32, group[0].0], group));
            });
    }

    /// The number of undirected edges.
    pub fn count(&self) -> usize {
        let of_vertex = |v| self.bucket(v).chunk_by(|a, b| a.0 == b.0).count();
        let counts = crate::parallel::map_pieces(self.offsets.len() - 1, BUCKETS, |vertices| {
            vertices.map(of_vertex).sum::<usize>()
        });
        counts.into_iter().sum()
    }

    /// The directed edges between `a` and `b`, in both directions.
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
/// Side k of triangle t is half-edge 3t + k. The smaller half-edge of an edge owns it and gives it its direction.
///
/// # Panics
/// When a vertex id is out of range, or 32 bits cannot number the sides.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;

    #[test]
    fn all_threads_build_the_same_table() {
        let mut random = SplitMix64::new(7);
        let vertices = 5 * BUCKETS / 2;
        let mut vertex = || (random.next_u64() % vertices as u64) as u32;
        let triangles: Vec<[u32; 3]> = (0..20_000).map(|_| [0; 3].map(|_| vertex())).collect();
        let sides = |&[a, b, c]: &[u32; 3]| [(a, b), (b, c), (c, a)];
        let serial = EdgeTable::new(vertices, triangles.iter().flat_map(sides));
        let parallel = EdgeTable::of_triangles(vertices, &triangles);
        assert_eq!(parallel.offsets, serial.offsets);
        assert_eq!(parallel.entries, serial.entries);
        assert_eq!(parallel.count(), serial.edges().count());
        let ends = parallel.filter_map_edges(|ends, _| Some(ends));
        assert!(ends.into_iter().eq(serial.edges().map(|(ends, _)| ends)));
    }
}
