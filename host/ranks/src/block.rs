//! The input as ranks hold it first: a block of the vertices and a block of the triangles each, by their ids.

use std::ops::Range;

use bytemuck::Pod;
use glam::DVec2;
use trioxide::mesh::{Segment, Triangulation};

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

/// A rank's block of a mesh whose cells have one number of corners: of triangles, or of tetrahedra.
#[derive(Clone, Debug, PartialEq)]
pub struct Block<P = DVec2> {
    /// Vertices of the whole mesh.
    pub vertices: u64,
    /// Cells of the whole mesh.
    pub cells: u64,
    /// Corners of a cell.
    pub size: usize,
    /// Points of the block's vertices.
    pub points: Vec<P>,
    /// Vertex ids of the block's cells, `size` each.
    pub corners: Vec<u64>,
    /// Region ids of the block's cells, if the mesh has them.
    pub regions: Option<Vec<i32>>,
    /// All segments of the mesh: every rank has them, since there are few.
    pub segments: Vec<Segment>,
}

/// A mesh that is whole in memory, as its arrays.
#[derive(Clone, Copy)]
pub struct Whole<'a, P> {
    /// Points of all vertices.
    pub points: &'a [P],
    /// Vertex ids of all cells.
    pub corners: &'a [u32],
    /// Corners of a cell.
    pub size: usize,
    /// Region id of each cell.
    pub regions: Option<&'a [i32]>,
    /// Segments.
    pub segments: &'a [Segment],
}

impl<'a, P> From<&'a Triangulation<P>> for Whole<'a, P> {
    fn from(mesh: &'a Triangulation<P>) -> Self {
        Self {
            points: &mesh.points,
            corners: mesh.triangles.as_flattened(),
            size: 3,
            regions: mesh.regions.as_deref(),
            segments: &mesh.segments,
        }
    }
}

impl<P: Pod> Block<P> {
    /// The block of rank `rank` of a mesh that is whole in memory.
    pub fn of<'a>(mesh: impl Into<Whole<'a, P>>, rank: usize, ranks: usize) -> Self {
        let mesh = mesh.into();
        let (vertices, cells) = (mesh.points.len(), mesh.corners.len() / mesh.size);
        let points = part(mesh.points, Blocks::new(vertices as u64, ranks).range(rank));
        let range = Blocks::new(cells as u64, ranks).range(rank);
        let size = mesh.size as u64;
        let corners = part(mesh.corners, size * range.start..size * range.end);
        Self {
            vertices: vertices as u64,
            cells: cells as u64,
            size: mesh.size,
            points: points.to_vec(),
            corners: corners.iter().map(|&v| v.into()).collect(),
            regions: mesh.regions.map(|all| part(all, range).to_vec()),
            segments: mesh.segments.to_vec(),
        }
    }

    /// The blocks of a mesh that one rank has read. Collective: the other ranks give none.
    pub fn scatter(ranks: &Ranks, mesh: Option<Whole<P>>) -> Self {
        let whole = mesh.unwrap_or(Whole {
            points: &[],
            corners: &[],
            size: 0,
            regions: None,
            segments: &[],
        });
        let mut head = [
            whole.points.len() as u64,
            whole.corners.len() as u64,
            whole.size as u64,
            u64::from(whole.regions.is_some()),
        ];
        ranks.reduce_all(&mut head, Reduction::Max);
        let [vertices, corners, size, has_regions] = head;
        let cells = corners / size.max(1);
        let points = deal(ranks, whole.points, vertices, 1);
        let corners = deal(ranks, whole.corners, cells, size);
        let regions = deal(ranks, whole.regions.unwrap_or_default(), cells, 1);
        let flat = |segment: &Segment| [segment.ends[0], segment.ends[1], segment.marker as u32];
        let segments: Vec<[u32; 3]> = whole.segments.iter().map(flat).collect();
        let segment = |[a, b, marker]: [u32; 3]| Segment {
            ends: [a, b],
            marker: marker as i32,
        };
        let segments = ranks.broadcast(0, &segments).into_iter().map(segment);
        Self {
            vertices,
            cells,
            size: size as usize,
            points,
            corners: corners.into_iter().map(u64::from).collect(),
            regions: (has_regions != 0).then_some(regions),
            segments: segments.collect(),
        }
    }
}

/// The items of this rank's block, of all that rank 0 has, so many an id. Collective.
pub fn deal<T: Pod>(ranks: &Ranks, all: &[T], ids: u64, each: u64) -> Vec<T> {
    let blocks = Blocks::new(ids, ranks.size());
    let count = |rank: usize| {
        let range = blocks.range(rank);
        let count = ((range.end - range.start) * each) as usize;
        if all.is_empty() { 0 } else { count }
    };
    let mail = Mail::from_parts(all.to_vec(), (0..ranks.size()).map(count));
    ranks.exchange(&mail).into_items()
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
                Block::scatter(&ranks, read.as_ref().map(Whole::from))
            });
            for (rank, block) in blocks.into_iter().enumerate() {
                assert_eq!(block, Block::of(&mesh, rank, size));
            }
        }
    }
}
