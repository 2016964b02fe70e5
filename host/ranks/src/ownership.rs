//! The owner of each cell, or of each point. The result of a run does not depend on it; only the time does.
//!
//! [`Ownership::Near`] leaves cells where they are if few vertices are in several ranks' blocks. [`Ownership::Curve`]
//! sorts the cells along a Morton curve, by the key of one of their vertices and then by their id, and cuts the order
//! into parts of equal length; points likewise. The keys are integers: the coordinates in 32 bits each of the bounding
//! box (of three, 21), bits interleaved.

use std::sync::Arc;

use glam::{DVec2, DVec3};
use gpu::ordered::{from_ordered_bits, ordered_bits};
use trioxide::generate::Grid;
use trioxide_mesh::parallel;

use crate::block::Block;
use crate::cells::Input;
use crate::curve::{equal_parts, owners_of_cells, spread};
use crate::layers::Layers;
use crate::transport::{Ranks, Reduction};

/// A choice of owners.
#[derive(Clone, Default)]
pub enum Ownership {
    /// Blocks of ids where these follow the elements' place well enough; else parts of a curve.
    #[default]
    Near,
    /// Equal parts of a Morton curve.
    Curve,
    /// Each rank owns its block of ids, so nothing moves: for meshes whose ids follow their elements' places, as those
    /// of a grid do.
    Blocks,
    /// The mesh is this grid, of which each rank makes and owns its rows: nothing crosses
    /// ([`Part::of_grid`](crate::Part::of_grid)).
    Rows(Grid),
    /// The owner of each cell by its id: for tests.
    Given(Arc<dyn Fn(u64) -> usize + Send + Sync>),
}

impl Ownership {
    /// The owner of each cell of this rank's block. Collective.
    pub fn owners<P: Position>(&self, ranks: &Ranks, block: &Block<P>) -> Vec<u32> {
        let first = ranks.block(block.cells);
        match self {
            Ownership::Given(owner) => first.map(|id| owner(id) as u32).collect(),
            Ownership::Blocks => vec![ranks.rank() as u32; first.count()],
            Ownership::Rows(grid) => {
                let rows = Layers::of(grid, ranks.size());
                first.map(|id| rows.owner(id) as u32).collect()
            }
            Ownership::Near | Ownership::Curve if ranks.size() == 1 => vec![0; first.count()],
            Ownership::Near | Ownership::Curve => {
                let bounds = bounds(ranks, &block.points);
                let keys = keys(&block.points, bounds);
                owners_of_cells(ranks, &Input::of(ranks, block), &keys)
            }
        }
    }

    /// Whether each rank owns the points of its block by this choice.
    pub fn keeps_blocks(&self, ranks: &Ranks) -> bool {
        matches!(self, Ownership::Blocks | Ownership::Rows(_)) || ranks.size() == 1
    }

    /// The plain grid of which each rank owns its rows, or its block of points.
    pub(crate) fn plain_grid(&self) -> Option<Grid> {
        match self {
            Ownership::Rows(grid) if grid.is_plain() => Some(*grid),
            _ => None,
        }
    }

    /// The owner of each point of this rank's block of `total` points, all of which lie within `bounds`. Collective.
    pub fn owners_of_points<P: Position>(
        &self,
        ranks: &Ranks,
        total: u64,
        points: &[P],
        bounds: [[f64; 3]; 2],
    ) -> Vec<u32> {
        if self.keeps_blocks(ranks) {
            return vec![ranks.rank() as u32; points.len()];
        }
        let first = ranks.block(total).start;
        self.owners_within(ranks, total, points, |i| first + i as u64, || bounds)
    }

    /// The owner of each of this rank's elements, of `total` in all: element i lies at `points[i]`, and `id(i)` is its
    /// id. Along the curve, unless owners are given. Collective.
    pub fn owners_of<P: Position>(
        &self,
        ranks: &Ranks,
        total: u64,
        points: &[P],
        id: impl Fn(usize) -> u64 + Sync,
    ) -> Vec<u32> {
        self.owners_within(ranks, total, points, id, || bounds(ranks, points))
    }

    fn owners_within<P: Position>(
        &self,
        ranks: &Ranks,
        total: u64,
        points: &[P],
        id: impl Fn(usize) -> u64 + Sync,
        bounds: impl FnOnce() -> [[f64; 3]; 2],
    ) -> Vec<u32> {
        match self {
            Ownership::Given(owner) => (0..points.len()).map(|i| owner(id(i)) as u32).collect(),
            _ if ranks.size() == 1 => vec![0; points.len()],
            // Later elements have ids that do not follow their place.
            _ => {
                let bounds = bounds();
                let keys = keys(points, bounds);
                equal_parts(ranks, &keys, id, total)
            }
        }
    }
}

/// Points of the plane or of space.
pub trait Position: bytemuck::Pod + Send + Sync {
    /// Number of coordinates.
    const DIMENSIONS: usize;

    /// The coordinates; the third of a point of the plane is 0.
    fn coordinates(self) -> [f64; 3];

    /// A point of the plane; of space, at height 0.
    fn of_plane(point: DVec2) -> Self;
}

impl Position for DVec2 {
    const DIMENSIONS: usize = 2;

    fn coordinates(self) -> [f64; 3] {
        [self.x, self.y, 0.0]
    }

    fn of_plane(point: DVec2) -> Self {
        point
    }
}

impl Position for DVec3 {
    const DIMENSIONS: usize = 3;

    fn coordinates(self) -> [f64; 3] {
        self.to_array()
    }

    fn of_plane(point: DVec2) -> Self {
        point.extend(0.0)
    }
}

/// The smallest and the largest coordinates of all points.
fn bounds<P: Position>(ranks: &Ranks, points: &[P]) -> [[f64; 3]; 2] {
    bounds_of(ranks, bytemuck::cast_slice(points), P::DIMENSIONS)
}

/// The same for points with 2 or 3 coordinates each.
fn bounds_of(ranks: &Ranks, coordinates: &[f64], dimensions: usize) -> [[f64; 3]; 2] {
    // Not generic: so these loops are compiled here, and not in each crate with a kind of points.
    let mut bits = match dimensions {
        2 => ends::<2>(coordinates.as_chunks().0),
        _ => ends::<3>(coordinates.as_chunks().0),
    };
    ranks.reduce_all(&mut bits, Reduction::Min);
    let [x, y, z, not_x, not_y, not_z] = bits;
    [
        [x, y, z].map(from_ordered_bits),
        [!not_x, !not_y, !not_z].map(from_ordered_bits),
    ]
}

/// Smallest ordered bits of the coordinates and of their complements; those of 0 for a missing coordinate.
fn ends<const D: usize>(points: &[[f64; D]]) -> [u64; 6] {
    let of_pieces = parallel::map_pieces(points.len(), parallel::GRAIN, |range| {
        let mut bits = [u64::MAX; 6];
        for p in &points[range] {
            let at = |k| ordered_bits(p.get(k).copied().unwrap_or(0.0));
            let [x, y, z] = [at(0), at(1), at(2)];
            for (least, value) in bits.iter_mut().zip([x, y, z, !x, !y, !z]) {
                *least = (*least).min(value);
            }
        }
        bits
    });
    let mut bits = [u64::MAX; 6];
    for of_piece in of_pieces {
        for (least, value) in bits.iter_mut().zip(of_piece) {
            *least = (*least).min(value);
        }
    }
    bits
}

/// Keys of points along the curve: 32 bits a coordinate, or 21 of three, interleaved.
fn keys<P: Position>(points: &[P], bounds: [[f64; 3]; 2]) -> Vec<u64> {
    keys_of(bytemuck::cast_slice(points), P::DIMENSIONS, bounds)
}

/// The same for points with 2 or 3 coordinates each, as [`bounds_of`].
fn keys_of(coordinates: &[f64], dimensions: usize, bounds: [[f64; 3]; 2]) -> Vec<u64> {
    match dimensions {
        2 => parallel::map(coordinates.as_chunks::<2>().0, |p| key(p, 32, bounds)),
        _ => parallel::map(coordinates.as_chunks::<3>().0, |p| key(p, 21, bounds)),
    }
}

fn key<const D: usize>(p: &[f64; D], bits: usize, [least, most]: [[f64; 3]; 2]) -> u64 {
    let cells = ((1_u64 << bits) - 1) as f64;
    let mut key = 0;
    for k in 0..D {
        // A number that is not finite, or an extent of 0, gives some integer too: the check of the mesh refuses such
        // points later.
        let extent = most[k] - least[k];
        let quantized = ((p[k] - least[k]) / extent * cells) as u32;
        key |= spread(quantized, bits, D) << k;
    }
    key
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::threads::run;

    #[test]
    fn parts_of_the_curve_are_equally_long_also_where_keys_are_equal() {
        let mut mesh = trioxide::generate::grid(400).unwrap();
        for size in [2, 3, 7] {
            // All triangles have one key when all points are one.
            for same in [false, true] {
                if same {
                    mesh.points.fill(DVec2::ONE);
                }
                let owners = run(size, |transport| {
                    let ranks = Ranks::new(transport);
                    let block = Block::of(&mesh, ranks.rank(), size);
                    Ownership::Curve.owners(&ranks, &block)
                });
                let owners = owners.concat();
                let blocks = crate::block::Blocks::new(mesh.triangles.len() as u64, size);
                for rank in 0..size {
                    let count = owners.iter().filter(|&&owner| owner == rank as u32).count();
                    assert_eq!(count, blocks.range(rank).count());
                }
            }
        }
    }
}
