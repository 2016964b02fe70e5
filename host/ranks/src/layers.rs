//! Layers of grids, and the ranks that own them.

use std::ops::Range;

use trioxide::generate::{Grid, TetGrid};

use crate::block::Blocks;
use crate::transport::{Mail, Ranks};

/// Layers of cells and the ranks that own them: rows of squares, or slices of cubes. A layer of cells lies between two
/// layers of vertices.
pub(crate) struct Layers {
    pub(crate) blocks: Blocks,
    /// Number of layers.
    pub(crate) count: u64,
    /// Cells of a layer.
    pub(crate) cells: u64,
    /// Vertices of a layer of vertices.
    pub(crate) vertices: u64,
}

impl Layers {
    pub(crate) fn of(grid: &Grid, ranks: usize) -> Self {
        let count = grid.side() - 1;
        Self {
            blocks: Blocks::new(count, ranks),
            count,
            cells: 2 * count,
            vertices: grid.side(),
        }
    }

    pub(crate) fn of_tetrahedra(grid: &TetGrid, ranks: usize) -> Self {
        let count = grid.side() - 1;
        Self {
            blocks: Blocks::new(count, ranks),
            count,
            cells: 6 * count * count,
            vertices: grid.side() * grid.side(),
        }
    }

    /// The rank that owns a cell.
    pub(crate) fn owner(&self, cell: u64) -> usize {
        self.blocks.rank(cell / self.cells)
    }

    /// The layers that a rank holds: its own, and its ghosts.
    pub(crate) fn of_part(&self, rank: usize) -> Range<u64> {
        let owned = self.blocks.range(rank);
        match owned.is_empty() {
            true => owned,
            false => owned.start.saturating_sub(1)..(owned.end + 1).min(self.count),
        }
    }

    /// The layers of `rank` that are ghosts of `other`.
    pub(crate) fn given(&self, rank: usize, other: usize) -> impl Iterator<Item = u64> {
        let (here, there) = (self.blocks.range(rank), self.blocks.range(other));
        let is_ghost = move |layer: &u64| here.contains(layer) && !there.contains(layer);
        self.of_part(other).filter(is_ghost)
    }

    /// The local cells of the layers for each rank, of a part that begins with layer `first`.
    pub(crate) fn mail<I: Iterator<Item = u64>>(
        &self,
        ranks: &Ranks,
        first: u64,
        layers: impl Fn(usize) -> I,
    ) -> Mail<u32> {
        Mail::of_lists(ranks.size(), |rank, cells| {
            for layer in layers(rank) {
                let start = (layer - first) * self.cells;
                cells.extend((start..start + self.cells).map(|cell| cell as u32));
            }
        })
    }
}
