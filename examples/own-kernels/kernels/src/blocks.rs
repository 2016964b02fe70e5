//! A kernel of blocks, whose lanes work together.

use trioxide_ids::Vertex;
use trioxide_kernel::safe::{In, OwnBlock, PerBlock, Shared};
use trioxide_kernel::{kernel, kernel_assert};

/// Summaries of tiles of `WIDTH` distances, which are not negative; the last tile may have fewer.
///
/// `sums` gets the sum of the distances; `nearest` the nearest point, the first of equally near ones; `differences` the
/// smallest and the largest difference of a distance from 1000, rounded toward 0; `whole` the sum of the distances'
/// whole parts; `ascents` the number of points that are further away than the point before, in rows of 32.
#[kernel(
    WIDTH in [32, 96, 256],
    requires(distances.len() > WIDTH * (n - 1), distances.len() <= WIDTH * n)
)]
pub fn summarize_tiles<const WIDTH: usize>(
    block: OwnBlock<WIDTH>,
    distances: In<f64, Vertex>,
    sums: PerBlock<f64>,
    nearest: PerBlock<Vertex>,
    differences: PerBlock<[i32; 2]>,
    whole: PerBlock<u64>,
    ascents: PerBlock<u32>,
) {
    let first = block.index() * WIDTH as u32;
    // The point of a lane; lanes after the last point take the last point.
    let point = block.lanes(|lane| (first + lane.index()).min(distances.len() - 1));
    let is_there = block.lanes(|lane| point.at(lane) == first + lane.index());
    let distance = block.lanes(|lane| {
        let distance = distances.at(Vertex::new(point.at(lane)));
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
    let whole_parts = block.sum(&block.lanes(|lane| match is_there.at(lane) {
        true => distance.at(lane) as u64,
        false => 0,
    }));
    // The bits of numbers that are not negative order as the numbers do.
    let (_, first_of_nearest) = block.argmin(&bits);
    let range = [block.min(&difference), block.max(&difference)];
    let before = block.shuffle(&bits, &block.lanes(|lane| lane.index().max(1) - 1));
    let rises = block.sum(&block.lanes(|lane| {
        let is_first = lane.index() % 32 == 0;
        u32::from(is_there.at(lane) && !is_first && bits.at(lane) > before.at(lane))
    }));
    block.once(|_, own| {
        sums.set(own, sum);
        nearest.set(own, Vertex::new(first + first_of_nearest));
        differences.set(own, range);
        whole.set(own, whole_parts);
        ascents.set(own, rises);
    });
}

/// Classes of [`count_classes`]: 64 KiB of counters, more than a block has by default.
pub const CLASSES: usize = 1 << 14;
/// Values of a block of [`count_classes`].
pub const COUNTED: usize = 4096;

/// The number of classes with a value in each block: values with the same remainder by [`CLASSES`] are a class. The
/// last block may have fewer values.
#[kernel(requires(values.len().div_ceil(COUNTED) == n), moves(values.bytes() + classes.bytes()))]
pub fn count_classes(
    block: OwnBlock<256, Shared<u32, CLASSES>>,
    values: In<u32>,
    classes: PerBlock<u32>,
) {
    let counts = block.shared();
    block.each(CLASSES as u32, |lane, class| counts.set(lane, class, 0));
    let first = block.index() * COUNTED as u32;
    let count = (values.len() - first).min(COUNTED as u32);
    let new = block.lanes(|lane| {
        let (mut new, mut i) = (0, lane.index());
        while i < count {
            let before = counts.add(lane, values.at(first + i) % CLASSES as u32, 1);
            new += u32::from(before == 0);
            i += 256;
        }
        new
    });
    let new = block.sum(&new);
    block.once(|_, own| classes.set(own, new));
}
