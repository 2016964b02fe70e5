//! The kernels that `docs/FROM_CUDA.md` and `docs/FROM_RUST_GPU.md` show beside those of other languages.

use glam::Vec2;
use trioxide_ids::Vertex;
use trioxide_kernel::kernel;
use trioxide_kernel::safe::{In, Out, Own, OwnBlock, PerBlock, Shared};

/// y = a x + y, for the element `i`.
#[kernel(moves(x.bytes() + 2 * y.bytes()))]
pub fn scale_and_add(i: Own, a: f32, x: In<f32>, y: Out<f32>) {
    y.set(i, a * x.at(i) + y.at(i));
}

/// Whether `point` is at least `least` away from the origin.
#[kernel(moves(points.bytes()))]
pub fn is_far(point: Own<Vertex>, points: In<Vec2, Vertex>, least: f32) -> bool {
    points.at(point).length_squared() >= least * least
}

/// Lanes of a block that sums.
pub const WIDTH: usize = 256;

/// The sum of each `WIDTH` values; the last block may have fewer.
#[kernel(
    requires(values.len().div_ceil(WIDTH) == n),
    moves(values.bytes() + sums.bytes())
)]
pub fn sum_blocks(
    block: OwnBlock<WIDTH, Shared<f32, WIDTH>>,
    values: In<f32>,
    sums: PerBlock<f32>,
) {
    let partial = block.shared();
    block.phase(|lane| {
        let value = values.get(block.element(lane).get()).unwrap_or(0.0);
        partial.set(lane, lane.index(), value);
    });
    let mut half = WIDTH as u32 / 2;
    while half > 0 {
        block.phase(|lane| {
            let k = lane.index();
            if k < half {
                partial.set(lane, k, partial.at(lane, k) + partial.at(lane, k + half));
            }
        });
        half /= 2;
    }
    block.once(|lane, own| sums.set(own, partial.at(lane, 0)));
}
