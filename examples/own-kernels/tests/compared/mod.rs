//! Launches of the kernels in `kernels/src/compared.rs`, as `docs/FROM_CUDA.md` shows them, against plain loops.

use glam::Vec2;
use own_kernels_gpu::compared::{self as kernel, WIDTH};
use trioxide_device::{Device, Result, collective};
use trioxide_ids::Vertex;

fn scale_and_add(on: &Device, a: f32, x: &[f32], y: &[f32]) -> Result<Vec<f32>> {
    let (x, mut y) = (on.upload(x)?, on.upload(y)?);
    kernel::scale_and_add::launch(on, y.len() as u32, a, &x, &mut y)?;
    on.download(&y)
}

fn far_points(on: &Device, points: &[Vec2], least: f32) -> Result<Vec<Vertex>> {
    let points = on.upload(points)?;
    let mut far = on.uninitialized(points.len().div_ceil(32))?;
    kernel::is_far::launch(on, points.len() as u32, &points, least, &mut far)?;
    on.download(&collective::compact(on, &far)?)
}

fn sum_blocks(on: &Device, values: &[f32]) -> Result<Vec<f32>> {
    let values = on.upload(values)?;
    let blocks = values.len().div_ceil(WIDTH);
    let mut sums = on.uninitialized(blocks)?;
    kernel::sum_blocks::launch(on, blocks as u32, &values, &mut sums)?;
    on.download(&sums)
}

/// Compares on small numbers, whose products and sums are exact in any order.
pub fn compare(on: &Device, count: usize) {
    let x: Vec<f32> = (0..count).map(|i| (i % 11) as f32).collect();
    let y: Vec<f32> = (0..count).map(|i| (i % 7) as f32).collect();
    let expected: Vec<f32> = x.iter().zip(&y).map(|(x, y)| 3.0 * x + y).collect();
    assert_eq!(scale_and_add(on, 3.0, &x, &y).unwrap(), expected, "{on:?}");

    let points: Vec<Vec2> = x.iter().zip(&y).map(|(&x, &y)| Vec2::new(x, y)).collect();
    let is_far = |&i: &u32| points[i as usize].length_squared() >= 25.0;
    let expected: Vec<Vertex> = (0..count as u32).filter(is_far).map(Vertex::new).collect();
    assert_eq!(far_points(on, &points, 5.0).unwrap(), expected, "{on:?}");

    let expected: Vec<f32> = x.chunks(WIDTH).map(|values| values.iter().sum()).collect();
    assert_eq!(sum_blocks(on, &x).unwrap(), expected, "{on:?}");
}
