//! The kernels that `docs/FROM_CUDA.md` and `docs/FROM_RUST_GPU.md` show beside those of other languages.

use glam::Vec2;
use trioxide_ids::Vertex;
use trioxide_kernel::safe::{self, Own};
use trioxide_kernel::{Block, In, Out, Shared, SharedMemory, kernel};

/// y = a x + y, for the element `i`.
#[kernel(moves(x.bytes() + 2 * y.bytes()))]
pub fn scale_and_add(i: Own, a: f32, x: safe::In<f32>, y: safe::Out<f32>) {
    y.set(i, a * x.at(i) + y.at(i));
}

/// Whether `point` is at least `least` away from the origin.
#[kernel(moves(points.bytes()))]
pub fn is_far(point: Own<Vertex>, points: safe::In<Vec2, Vertex>, least: f32) -> bool {
    points.at(point).length_squared() >= least * least
}

/// Lanes of a block that sums.
pub const WIDTH: usize = 256;

#[derive(SharedMemory)]
pub struct Partial {
    sums: Shared<f32, WIDTH>,
}

/// The sum of each `WIDTH` values; the last block may have fewer.
#[kernel(
    requires(values.len().div_ceil(WIDTH) == n, sums.len() == n),
    moves(values.bytes() + sums.bytes())
)]
pub fn sum_blocks(block: &Block<WIDTH, Partial>, values: In<f32>, sums: Out<f32>) {
    let partial = &block.shared().sums;
    block.phase(|lane| {
        let i = block.index() * WIDTH as u32 + lane.index();
        let value = if i < values.len() { values.at(i) } else { 0.0 };
        partial.set(lane, lane.index(), value);
    });
    let mut half = WIDTH as u32 / 2;
    while half > 0 {
        block.phase(|lane| {
            let k = lane.index();
            if k < half {
                partial.set(lane, k, partial.at(k) + partial.at(k + half));
            }
        });
        half /= 2;
    }
    block.phase(|lane| {
        if lane.index() == 0 {
            sums.set(block.index(), partial.at(0));
        }
    });
}
