//! Three kernels over points: one for each index, one that gives a bit set, with an enum and a constant, one whose lanes work together.
#![cfg_attr(target_arch = "nvptx64", no_std, feature(abi_ptx))]

use glam::DVec2;
use trioxide_ids::Vertex;
use trioxide_kernel::{Block, In, Out, Scalar, Shared, SharedMemory, kernel};

/// The squared distance of `point` to (x, y), into `distances[point]`.
#[kernel(requires(points.len() == n, distances.len() == n))]
pub fn square_distances(point: Vertex, points: In<DVec2>, x: f64, y: f64, distances: Out<f64>) {
    distances.set(
        point,
        (points.at(point) - DVec2::new(x, y)).length_squared(),
    );
}

/// A side of a circle.
#[derive(Clone, Copy, Debug, PartialEq, Scalar)]
#[repr(u32)]
pub enum Side {
    /// The points inside.
    Near,
    /// The points outside.
    Far,
}

/// Whether `point` is on `side` of the circle with this squared `radius`. The circle itself belongs to it if `CLOSED`: each value has
/// an instance of its own.
#[kernel(CLOSED in [false, true], requires(distances.len() == n))]
pub fn select_points<const CLOSED: bool>(
    point: Vertex,
    distances: In<f64>,
    radius: f64,
    side: Side,
) -> bool {
    let distance = distances.at(point);
    match side {
        Side::Near => distance < radius || CLOSED && distance == radius,
        Side::Far => distance > radius || CLOSED && distance == radius,
    }
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
