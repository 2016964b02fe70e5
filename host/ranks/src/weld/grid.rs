//! Blocks of a plain grid: the points that ranks need of each other follow from ids. The host has no list of points or
//! triangles, and nothing crosses.

use std::ops::Range;

use trioxide::generate::Grid;

use crate::records::{Ghosts, Records};
use crate::transport::{Mail, Ranks};

/// The points that ranks need of each other: all with neighbours within `reach` along each axis, and more. A row is a
/// ghost's id alone.
pub fn ghosts(ranks: &Ranks, grid: &Grid, reach: f64) -> Ghosts {
    let blocks = ranks.blocks(grid.vertices());
    let me = ranks.rank();
    let start = blocks.range(me).start;
    let needed = |by: usize, of: usize| {
        let (near, block) = (near(grid, blocks.range(by), reach), blocks.range(of));
        match by == of {
            true => 0..0,
            false => near.start.max(block.start)..near.end.min(block.end),
        }
    };
    let all = 0..ranks.size();
    Ghosts {
        given: Mail::of_lists(ranks.size(), |rank, given| {
            given.extend(needed(rank, me).map(|v| v - start));
        }),
        counts: all.clone().map(|rank| needed(me, rank).count()).collect(),
        rows: Records {
            words: all.flat_map(|rank| needed(me, rank)).collect(),
            stride: 1,
        },
    }
}

/// A range with a block and all points with neighbours in it; an empty range for an empty block.
fn near(grid: &Grid, block: Range<u64>, reach: f64) -> Range<u64> {
    if block.is_empty() {
        return block;
    }
    // Most rows and columns between neighbours, and one more for rounded coordinates.
    let side = grid.side();
    let apart = ((reach * (side - 1) as f64) as u64).saturating_add(1);
    let around = apart.min(side - 1) * (side + 1);
    block.start.saturating_sub(around)..(block.end + around).min(grid.vertices())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Also where the reach is just that of points some squares apart.
    #[test]
    fn neighbours_are_near() {
        for n in [4, 9, 100, 729] {
            let grid = Grid::uniform(n).unwrap();
            let step = 1.0 / (grid.side() - 1) as f64;
            for reach in [0.0, 0.5, 1.0, 2.0, 2.5, 3.0, 7.0, 1e9].map(|squares| squares * step) {
                let reach = reach * (1.0 + 4.0 * f64::EPSILON);
                for v in 0..grid.vertices() {
                    let near = near(&grid, v..v + 1, reach);
                    let p = grid.place(v);
                    let is_neighbour = |&w: &u64| (grid.place(w) - p).abs().max_element() <= reach;
                    let mut neighbours = (0..grid.vertices()).filter(is_neighbour);
                    assert!(neighbours.all(|w| near.contains(&w)), "{v} of {n}, {reach}");
                }
            }
        }
        let grid = Grid::uniform(10_000_000_000).unwrap();
        let block = 5_000_000_000..5_000_000_007;
        assert_eq!(
            near(&grid, block.clone(), 1e-6),
            4_999_899_999..5_000_100_008
        );
        assert_eq!(near(&grid, block, f64::INFINITY), 0..10_000_000_000);
    }
}
