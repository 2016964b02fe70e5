//! Kernels of blocks, whose lanes work together. Their launches are unsafe.

use trioxide_ids::Vertex;
use trioxide_kernel::{Block, Group, In, Out, kernel, kernel_assert};

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
