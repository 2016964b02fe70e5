//! The input as ranks hold it first: a block of the vertices and a block of the triangles each, by their ids.

use std::ops::Range;

use bytemuck::Pod;
use glam::DVec2;
use trioxide::mesh::{Segment, Triangulation};

use crate::fault::Result;
use crate::transport::{Mail, Ranks, Reduction};

/// Ids from 0 in blocks of one size, a block a rank; the last blocks may be shorter, or empty.
///
/// The rank of an id's block is its *directory*: whoever wants to know something about an element asks there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocks {
    total: u64,
    length: u64,
}

impl Blocks {
    /// Blocks of `total` ids.
    pub fn new(total: u64, ranks: usize) -> Self {
        let length = total.div_ceil(ranks as u64).max(1);
        Self { total, length }
    }

    /// The ids of a rank's block.
    pub fn range(&self, rank: usize) -> Range<u64> {
        let start = |rank: u64| (rank * self.length).min(self.total);
        start(rank as u64)..start(rank as u64 + 1)
    }

    /// The rank whose block has this id.
    pub fn rank(&self, id: u64) -> usize {
        (id / self.length) as usize
    }
}

/// A rank's block of a planar mesh.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Block {
    /// Vertices of the whole mesh.
    pub vertices: u64,
    /// Triangles of the whole mesh.
    pub triangles: u64,
    /// Points of the block's vertices.
    pub points: Vec<DVec2>,
    /// Vertex ids of the block's triangles.
    pub corners: Vec<[u64; 3]>,
    /// Region ids of the block's triangles, if the mesh has them.
    pub regions: Option<Vec<i32>>,
    /// All segments of the mesh: every rank has them, since there are few.
    pub segments: Vec<Segment>,
}

impl Block {
    /// The block of rank `rank` of a mesh that is whole in memory.
    pub fn of(mesh: &Triangulation, rank: usize, ranks: usize) -> Self {
        let (vertices, triangles) = (mesh.points.len() as u64, mesh.triangles.len() as u64);
        let points = part(&mesh.points, Blocks::new(vertices, ranks).range(rank));
        let range = Blocks::new(triangles, ranks).range(rank);
        let corners = part(&mesh.triangles, range.clone());
        Self {
            vertices,
            triangles,
            points: points.to_vec(),
            corners: corners.iter().map(|t| t.map(u64::from)).collect(),
            regions: mesh.regions.as_ref().map(|all| part(all, range).to_vec()),
            segments: mesh.segments.clone(),
        }
    }

    /// The blocks of a mesh that one rank has read. Collective: the other ranks give none.
    ///
    /// # Errors
    /// The fault of the rank that should have read it, on all ranks.
    pub fn scatter(ranks: &Ranks, mesh: Result<Option<Triangulation>>) -> Result<Self> {
        let whole = ranks.agree(mesh)?.unwrap_or_default();
        let size = ranks.size();
        let counts = [whole.points.len(), whole.triangles.len()];
        let has_regions = u64::from(whole.regions.is_some());
        let mut head = [counts[0] as u64, counts[1] as u64, has_regions];
        ranks.reduce_all(&mut head, Reduction::Max);
        let [vertices, triangles, regions] = head;
        let deal = |total: usize| {
            let blocks = Blocks::new(total as u64, size);
            (0..size).map(move |rank| {
                let range = blocks.range(rank);
                (range.end - range.start) as usize
            })
        };
        fn send<T: Pod>(ranks: &Ranks, all: &[T], counts: impl Iterator<Item = usize>) -> Vec<T> {
            let mail = Mail::from_parts(all.to_vec(), counts);
            ranks.exchange(&mail).into_items()
        }
        let points = send(ranks, &whole.points, deal(counts[0]));
        let corners = send(ranks, &whole.triangles, deal(counts[1]));
        let all_regions = whole.regions.unwrap_or_default();
        let of_block = send(ranks, &all_regions, deal(all_regions.len()));
        let ends = |segment: &Segment| [segment.ends[0], segment.ends[1], segment.marker as u32];
        let segments: Vec<[u32; 3]> = whole.segments.iter().map(ends).collect();
        let to_all = Mail::from_parts(
            segments.repeat(size),
            std::iter::repeat_n(segments.len(), size),
        );
        let segments = ranks.exchange(&to_all).into_items();
        Ok(Self {
            vertices,
            triangles,
            points,
            corners: corners.iter().map(|t| t.map(u64::from)).collect(),
            regions: (regions != 0).then_some(of_block),
            segments: segments
                .iter()
                .map(|&[a, b, marker]| Segment {
                    ends: [a, b],
                    marker: marker as i32,
                })
                .collect(),
        })
    }
}

fn part<T>(all: &[T], range: Range<u64>) -> &[T] {
    &all[range.start as usize..range.end as usize]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::threads::run;

    #[test]
    fn blocks_hold_each_id_once() {
        for (total, ranks) in [(0, 3), (1, 4), (7, 3), (9, 3), (10, 7)] {
            let blocks = Blocks::new(total, ranks);
            let mut next = 0;
            for rank in 0..ranks {
                let range = blocks.range(rank);
                assert_eq!(range.start, next);
                assert!(range.clone().all(|id| blocks.rank(id) == rank));
                next = range.end;
            }
            assert_eq!(next, total);
        }
    }

    #[test]
    fn a_scattered_mesh_is_the_same_blocks() {
        let mut mesh = trioxide_generate::random(50, 3).unwrap();
        mesh.regions = Some((0..mesh.triangles.len() as i32).collect());
        mesh.segments = vec![Segment {
            ends: [1, 2],
            marker: -3,
        }];
        for size in [1, 2, 5] {
            let blocks = run(size, |transport| {
                let ranks = Ranks::new(transport);
                let read = (ranks.rank() == 0).then(|| mesh.clone());
                Block::scatter(&ranks, Ok(read)).unwrap()
            });
            for (rank, block) in blocks.into_iter().enumerate() {
                assert_eq!(block, Block::of(&mesh, rank, size));
            }
        }
    }
}
