//! Points of the plane that are hard to triangulate.

use std::f64::consts::TAU;

use glam::DVec2;
use trioxide_mesh::random::SplitMix64;
use trioxide_mesh::{Result, parallel};

use super::check_point_count;

/// Where points lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plane {
    /// Along an ellipse three times as wide as high, at equal angles.
    Ellipse,
    /// Around a circle and in its centre: a vertex with all others as neighbours.
    Wheel,
    /// On two parallel lines, at random.
    Lines,
    /// On the parabola y = x², at random.
    Parabola,
    /// On a spiral of 16 turns, at random.
    Spiral,
    /// Kuzmin's disk: most points near the centre, some far away.
    Kuzmin,
    /// A hundred clusters of the width 1e-9 on a grid.
    Clusters,
}

/// `n` points, the same for each seed on every machine that has the same sine; distinct but for a chance below 2^-20.
///
/// # Errors
/// [`Error::Argument`](trioxide_mesh::Error::Argument) if `n` is under 4 or over [`MAX_POINTS`](super::MAX_POINTS).
pub fn plane(plane: Plane, n: usize, seed: u64) -> Result<Vec<DVec2>> {
    check_point_count(n, 4)?;
    let angle = |i: usize, n: usize| TAU * i as f64 / n as f64;
    let point = |i: usize| {
        // A sequence of its own for each point, so that threads share the work.
        let mut random = SplitMix64::new(seed.wrapping_add((i as u64) << 20));
        let mut unit = || (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        match plane {
            Plane::Ellipse => DVec2::new(3.0, 1.0) * DVec2::from_angle(angle(i, n)),
            Plane::Wheel if i == 0 => DVec2::ZERO,
            Plane::Wheel => DVec2::from_angle(angle(i, n - 1)),
            Plane::Lines => DVec2::new(unit(), (i % 2) as f64),
            Plane::Parabola => {
                let x = unit();
                DVec2::new(x, x * x)
            }
            Plane::Spiral => {
                let turns = 16.0 * TAU * unit();
                turns * DVec2::from_angle(turns)
            }
            Plane::Kuzmin => {
                let rest = 1.0 - unit();
                (1.0 / (rest * rest) - 1.0).sqrt() * DVec2::from_angle(TAU * unit())
            }
            Plane::Clusters => {
                let centre = DVec2::new((i % 10) as f64, (i / 10 % 10) as f64);
                centre + 1e-9 * DVec2::new(unit(), unit())
            }
        }
    };
    let mut points: Vec<DVec2> = parallel::zeroed(n);
    parallel::for_chunks_mut(&mut points, 4096, |k, points| {
        for (i, to) in points.iter_mut().enumerate() {
            *to = point(4096 * k + i);
        }
    });
    Ok(points)
}
