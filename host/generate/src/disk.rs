use std::f64::consts::{PI, TAU};

use glam::DVec2;
use rand_pcg::Pcg64;
use rand_pcg::rand_core::SeedableRng;

use super::{check_point_count, unit_interval};
use trioxide_mesh::Result;

/// `n` distinct points of the unit disk: about 2 sqrt(pi n) on its circle, regularly spaced and counter-clockwise from
/// (1, 0), then uniform random points in the order in which they are drawn.
///
/// The spacing s on the circle equals the spacing of a square grid of the same density, and random points stay 0.6 s
/// away from it. Two random points coincide with a probability under 2^-48 for any `n`.
///
/// # Errors
/// [`Error::Argument`](trioxide_mesh::Error::Argument) if `n` is under 3 or over [`MAX_POINTS`](super::MAX_POINTS).
pub fn disk_points(n: usize, seed: u64) -> Result<Vec<DVec2>> {
    check_point_count(n, 3)?;
    let on_circle = n.min((2.0 * (PI * n as f64).sqrt()).round() as usize);
    let mut points: Vec<DVec2> = (0..on_circle)
        .map(|i| {
            // The system's sine may differ from machine to machine.
            let (sin, cos) = libm::sincos(TAU * i as f64 / on_circle as f64);
            DVec2::new(cos, sin)
        })
        .collect();
    let radius = 1.0 - 0.6 * TAU / on_circle as f64;
    let mut generator = Pcg64::seed_from_u64(seed);
    while points.len() < n {
        let x = 2.0 * unit_interval(&mut generator) - 1.0;
        let y = 2.0 * unit_interval(&mut generator) - 1.0;
        let point = DVec2::new(x, y);
        if point.length_squared() < radius * radius {
            points.push(point);
        }
    }
    Ok(points)
}
