//! Three kernels over points: one for each index, one that gives a bit set, one whose lanes work together.
#![cfg_attr(target_arch = "nvptx64", no_std, feature(abi_ptx))]

use glam::DVec2;
use trioxide_ids::Vertex;
use trioxide_kernel::{Block, In, Out, Shared, SharedMemory, kernel};

/// The squared distance of `point` to (x, y), into `distances[point]`.
#[kernel(requires(points.len() == n, distances.len() == n))]
pub fn square_distances(point: Vertex, points: In<DVec2>, x: f64, y: f64, distances: Out<f64>) {
    distances.set(
        point,
        (points.at(point) - DVec2::new(x, y)).length_squared(),
    );
}

/// Whether `point` is at least as far away as `least`, squared.
#[kernel(requires(distances.len() == n))]
pub fn select_far_points(point: Vertex, distances: In<f64>, least: f64) -> bool {
    distances.at(point) >= least
}

/// Lanes of a block, and values of a tile.
pub const LANES: usize = 256;

/// The shared memory of a block.
#[derive(SharedMemory)]
pub struct Tile {
    largest: Shared<f64, LANES>,
}

/// The largest of each tile of `values`, which are not negative: 256 values a tile, fewer in the last.
#[kernel(requires(largest.len() == n, values.len() <= LANES * n))]
pub fn reduce_tiles(block: &Block<LANES, Tile>, values: In<f64>, largest: Out<f64>) {
    let tile = &block.shared().largest;
    block.phase(|lane| {
        let i = block.index() * LANES as u32 + lane.index();
        let value = if i < values.len() { values.at(i) } else { 0.0 };
        tile.set(lane, lane.index(), value);
    });
    let mut half = LANES as u32 / 2;
    while half > 0 {
        block.phase(|lane| {
            let i = lane.index();
            if i < half {
                let (a, b) = (tile.at(i), tile.at(i + half));
                tile.set(lane, i, if b > a { b } else { a });
            }
        });
        half /= 2;
    }
    block.phase(|lane| {
        if lane.index() == 0 {
            largest.set(block.index(), tile.at(0));
        }
    });
}
