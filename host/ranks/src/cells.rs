//! Cells that a rank owns, wherever they are.

use trioxide_mesh::parallel;

use crate::block::{Block, Blocks};
use crate::ids::IdSet;
use crate::rows::{Rows, all_vertices};
use crate::transport::Ranks;

/// Cells by ascending ids. As rows they have the words of [`set`](Cells::set).
#[derive(Clone, Copy)]
pub(crate) enum Cells<'a, P> {
    /// Those of the rank's block of the input.
    Block {
        /// The block.
        block: &'a Block<P>,
        /// Id of its first cell.
        first: u64,
    },
    /// Rows that ranks have sent.
    Rows {
        /// A row each: the id, the vertices, and what else belongs to a cell.
        rows: &'a Rows,
        /// Corners of a cell.
        size: usize,
    },
}

impl<'a, P: Sync> Cells<'a, P> {
    /// The cells of this rank's block.
    pub fn of_block(ranks: &Ranks, block: &'a Block<P>) -> Self {
        let blocks = Blocks::new(block.cells, ranks.size());
        let first = blocks.range(ranks.rank()).start;
        Self::Block { block, first }
    }

    /// Number of cells.
    pub fn len(&self) -> usize {
        match self {
            Self::Block { block, .. } => block.corners.len() / block.size.max(1),
            Self::Rows { rows, .. } => rows.len(),
        }
    }

    /// Corners of a cell.
    pub fn size(&self) -> usize {
        match self {
            Self::Block { block, .. } => block.size,
            Self::Rows { size, .. } => *size,
        }
    }

    /// Words of a cell as a row.
    pub fn stride(&self) -> usize {
        match self {
            Self::Block { block, .. } => block.size + 2,
            Self::Rows { rows, .. } => rows.stride,
        }
    }

    /// Id of cell `i`.
    #[inline]
    pub fn id(&self, i: usize) -> u64 {
        match self {
            Self::Block { first, .. } => first + i as u64,
            Self::Rows { rows, .. } => rows.id(i),
        }
    }

    /// Number of cells with a smaller id.
    pub fn before(&self, id: u64) -> usize {
        match self {
            Self::Block { first, .. } => {
                (id.saturating_sub(*first)).min(self.len() as u64) as usize
            }
            Self::Rows { rows, .. } => rows.before(id),
        }
    }

    /// Vertex `k` of cell `i`.
    #[inline]
    pub fn corner(&self, i: usize, k: usize) -> u64 {
        match self {
            Self::Block { block, .. } => block.corners.get(block.size * i + k),
            Self::Rows { rows, .. } => rows.words[rows.stride * i + 1 + k],
        }
    }

    /// The region of cell `i` of the input; 0 without regions.
    pub fn region(&self, i: usize) -> i32 {
        match self {
            Self::Block { block, .. } => block.regions.as_ref().map_or(0, |regions| regions[i]),
            Self::Rows { rows, .. } => rows.words[rows.stride * (i + 1) - 1] as i32,
        }
    }

    /// Writes cell `i` as a row; of the input that is its id, its vertices and its region.
    pub fn set(&self, i: usize, row: &mut [u64]) {
        match self {
            Self::Block { block, .. } => {
                row[0] = self.id(i);
                for (k, corner) in row[1..=block.size].iter_mut().enumerate() {
                    *corner = self.corner(i, k);
                }
                row[block.size + 1] = u64::from(self.region(i) as u32);
            }
            Self::Rows { rows, .. } => row.copy_from_slice(rows.get(i)),
        }
    }

    /// All vertices of the cells.
    pub fn vertices(&self) -> IdSet {
        match self {
            Self::Block { block, .. } => {
                let corners = &block.corners;
                let Some(ends) = corners.ends() else {
                    return IdSet::of_list(&[]);
                };
                IdSet::between(ends, corners.len() as u64, corners.len(), |i| {
                    [corners.get(i)]
                })
            }
            Self::Rows { rows, size } => all_vertices(rows, *size),
        }
    }

    /// The cells with a vertex that is as asked, ascending.
    pub fn with_vertex(&self, is_so: impl Fn(u64) -> bool + Sync) -> Vec<usize> {
        parallel::filter_collect(self.len(), |i| {
            let mut corners = (0..self.size()).map(|k| self.corner(i, k));
            corners.any(&is_so).then_some(i)
        })
    }
}
