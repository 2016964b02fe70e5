//! Kernels over points: one for each index, one that gives a bit set, with an enum and a constant, two whose lanes work
//! together.
#![cfg_attr(target_arch = "nvptx64", no_std, feature(abi_ptx))]

use glam::DVec2;
use trioxide_ids::Vertex;
use trioxide_kernel::{Block, Group, In, Out, Scalar, Shared, SharedMemory, kernel, kernel_assert};

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

/// Whether `point` is on `side` of the circle with this squared `radius`. The circle itself belongs to it if `CLOSED`:
/// each value has an instance of its own.
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

/// What [`summarize_tiles`] finds of each tile.
#[derive(Group)]
pub struct Summaries<'a> {
    /// Sum of the distances.
    pub sums: Out<'a, f64>,
    /// The nearest point, of equally near ones the first.
    pub nearest: Out<'a, Vertex>,
    /// The smallest and the largest difference of a distance to 1000, rounded toward 0.
    pub differences: Out<'a, [i32; 2]>,
    /// Sum of the distances' whole parts.
    pub whole: Out<'a, u64>,
    /// Points that are further away than the point before, in rows of 32.
    pub ascents: Out<'a, u32>,
}

/// Summaries of tiles of `WIDTH` distances, which are not negative; fewer in the last tile.
#[kernel(
    WIDTH in [32, 96, 256],
    requires(
        distances.len() > WIDTH * (n - 1),
        distances.len() <= WIDTH * n,
        found.sums.len() == n,
        found.nearest.len() == n,
        found.differences.len() == n,
        found.whole.len() == n,
        found.ascents.len() == n
    )
)]
pub fn summarize_tiles<const WIDTH: usize>(
    block: &Block<WIDTH>,
    distances: In<f64>,
    found: Summaries,
) {
    let first = block.index() * WIDTH as u32;
    // The point of a lane; behind the last the last itself.
    let point = block.lanes(|lane| (first + lane.index()).min(distances.len() - 1));
    let is_there = block.lanes(|lane| point.at(lane) == first + lane.index());
    let distance = block.lanes(|lane| {
        let distance = distances.at(point.at(lane));
        kernel_assert!(
            distance >= 0.0,
            "distances are not negative",
            point.at(lane)
        );
        distance
    });
    let bits = block.lanes(|lane| distance.at(lane).to_bits());
    let difference = block.lanes(|lane| (distance.at(lane) - 1000.0) as i32);

    let sum = block.sum(&block.lanes(|lane| match is_there.at(lane) {
        true => distance.at(lane),
        false => 0.0,
    }));
    let whole = block.sum(&block.lanes(|lane| match is_there.at(lane) {
        true => distance.at(lane) as u64,
        false => 0,
    }));
    // Bits of numbers that are not negative are in the order of the numbers.
    let (_, nearest) = block.argmin(&bits);
    let differences = [block.min(&difference), block.max(&difference)];
    let before = block.shuffle(&bits, &block.lanes(|lane| lane.index().max(1) - 1));
    let ascents = block.sum(&block.lanes(|lane| {
        let is_first = lane.index() % 32 == 0;
        u32::from(is_there.at(lane) && !is_first && bits.at(lane) > before.at(lane))
    }));
    block.phase(|lane| {
        if lane.index() == 0 {
            let i = block.index();
            found.sums.set(i, sum);
            found.nearest.set(i, Vertex::new(first + nearest));
            found.differences.set(i, differences);
            found.whole.set(i, whole);
            found.ascents.set(i, ascents);
        }
    });
}
