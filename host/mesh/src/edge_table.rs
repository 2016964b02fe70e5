//! Directed edges grouped by their undirected edge.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use rayon::prelude::*;

use crate::mesh::{EdgeTriangulation, NONE, Polygons};

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

/// Vertices whose buckets one task sorts.
const BUCKETS: usize = 4096;

impl EdgeTable {
    /// Table of the sides of `faces` faces, whose vertices are all below `vertices`, built by all threads: the same as
    /// [`EdgeTable::new`] gives. `sides` calls back with (id, origin, target) for each side of a face.
    pub fn of_faces(
        vertices: usize,
        faces: usize,
        sides: impl Fn(usize, &mut dyn FnMut(u32, u32, u32)) + Sync,
    ) -> EdgeTable {
        let counts: Vec<AtomicU32> = atomics(vertices + 1);
        let each = |visit: &(dyn Fn(u32, u32, u32) + Sync)| {
            let face = |face| sides(face, &mut |id, a, b| visit(id, a, b));
            (0..faces).into_par_iter().with_min_len(1024).for_each(face);
        };
        each(&|_, a, b| _ = counts[a.min(b) as usize + 1].fetch_add(1, Relaxed));
        let mut sum = 0;
        let offsets: Vec<u32> = counts
            .into_iter()
            .map(|count| {
                sum += count.into_inner();
                sum
            })
            .collect();
        let cursor: Vec<AtomicU32> = offsets.par_iter().map(|&at| AtomicU32::new(at)).collect();
        // The larger vertex, then the id. Each bucket is filled in any order, and sorted.
        let keys: Vec<AtomicU64> = atomics(sum as usize);
        each(&|id, a, b| {
            let slot = cursor[a.min(b) as usize].fetch_add(1, Relaxed);
            let key = u64::from(a.max(b)) << 32 | u64::from(id);
            keys[slot as usize].store(key, Relaxed);
        });
        drop(cursor);
        let entry = |key: AtomicU64| {
            let key = key.into_inner();
            ((key >> 32) as u32, key as u32)
        };
        let mut entries: Vec<(u32, u32)> = keys.into_par_iter().map(entry).collect();
        let mut rest = &mut entries[..];
        let parts: Vec<_> = (0..vertices)
            .step_by(BUCKETS)
            .map(|first| {
                let range = first..vertices.min(first + BUCKETS);
                let size = offsets[range.end] - offsets[range.start];
                (
                    range,
                    rest.split_off_mut(..size as usize)
                        .expect("offsets ascend to the end"),
                )
            })
            .collect();
        parts.into_par_iter().for_each(|(range, mut part)| {
            for v in range {
                let size = (offsets[v + 1] - offsets[v]) as usize;
                let bucket = part
                    .split_off_mut(..size)
                    .expect("the part has its buckets");
                bucket.sort_unstable();
            }
        });
        EdgeTable { offsets, entries }
    }

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
        EdgeTable::of_faces(vertices, triangles.len(), |t, side| {
            let [a, b, c] = triangles[t];
            let id = 3 * t as u32;
            side(id, a, b);
            side(id + 1, b, c);
            side(id + 2, c, a);
        })
    }

    /// Table of the sides of `polygons`: a side has the place of its origin in their list of vertices as its id.
    pub fn of_polygons(vertices: usize, polygons: &Polygons) -> EdgeTable {
        EdgeTable::of_faces(vertices, polygons.len(), |i, side| {
            let polygon = polygons.get(i);
            let first = polygons.offsets[i];
            let next = polygon.iter().cycle().skip(1);
            for (id, (&a, &b)) in (first..).zip(polygon.iter().zip(next)) {
                side(id, a, b);
            }
        })
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

    /// As [`EdgeTable::edges`], by all threads: `map` of every undirected edge for which it gives something, in their order.
    pub fn filter_map_edges<R: Send>(
        &self,
        map: impl Fn([u32; 2], &[(u32, u32)]) -> Option<R> + Sync,
    ) -> Vec<R> {
        self.flat_map_edges(|found, ends, group| found.extend(map(ends, group)))
    }

    /// As [`EdgeTable::filter_map_edges`], where `map` appends any number of values for an edge.
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

    /// The number of undirected edges.
    pub fn count(&self) -> usize {
        let of_vertex = |v| self.bucket(v).chunk_by(|a, b| a.0 == b.0).count();
        let counts = crate::parallel::map_pieces(self.offsets.len() - 1, BUCKETS, |vertices| {
            vertices.map(of_vertex).sum::<usize>()
        });
        counts.into_iter().sum()
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

/// Zeros that threads share.
fn atomics<A: Default + Send>(count: usize) -> Vec<A> {
    (0..count).into_par_iter().map(|_| A::default()).collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;

    #[test]
    fn all_threads_build_the_same_table() {
        let mut random = SplitMix64::new(7);
        let vertices = 3 * BUCKETS / 2;
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
