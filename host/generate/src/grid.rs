use glam::DVec2;
use rand_pcg::Pcg64;
use rand_pcg::rand_core::SeedableRng;

use super::{check_point_count, unit_interval};
use trioxide_mesh::mesh::Triangulation;
use trioxide_mesh::{Result, parallel};

/// The uniform grid of k x k points on the unit square, k = sqrt(`n`) rounded: a "grid mesh" of gpolylla-2023,
/// section 7.1.
///
/// Points are numbered row by row from the origin. Every square is split by its rising diagonal into two counter-clockwise
/// triangles, the lower one first; the diagonal is the longest edge of both, so Polylla turns the mesh into exactly
/// (k - 1)^2 squares.
///
/// # Errors
/// [`Error::Argument`](trioxide_mesh::Error::Argument) if there are fewer than 2 x 2 points, or more than
/// [`MAX_POINTS`](super::MAX_POINTS).
pub fn grid(n: usize) -> Result<Triangulation> {
    check_point_count(n, 3)?; // sqrt(3) rounds to 2.
    let side = (n as f64).sqrt().round() as usize;
    check_point_count(side * side, 4)?;
    let cells = side - 1;
    let coordinate = |i: usize| i as f64 / cells as f64;
    let points = parallel::collect(side * side, |i| {
        DVec2::new(coordinate(i % side), coordinate(i / side))
    });
    let triangles = parallel::collect(2 * cells * cells, |t| {
        let (column, row) = (t / 2 % cells, t / 2 / cells);
        let lower_left = row * side + column;
        let upper_right = lower_left + side + 1;
        if t % 2 == 0 {
            [lower_left, lower_left + 1, upper_right].map(|v| v as u32)
        } else {
            [lower_left, upper_right, upper_right - 1].map(|v| v as u32)
        }
    });
    Ok(Triangulation {
        points,
        triangles,
        ..Triangulation::default()
    })
}

/// Largest move of a point of [`jittered`] along each axis, in squares: too small to turn a triangle over.
const JITTER: f64 = 0.25;

/// A [`grid`] whose inner points are moved by up to a quarter of a square along each axis, so that lengths do not tie.
///
/// # Errors
/// As [`grid`].
pub fn jittered(n: usize, seed: u64) -> Result<Triangulation> {
    let mut mesh = grid(n)?;
    let side = (mesh.points.len() as f64).sqrt().round() as usize;
    let step = 2.0 * JITTER / (side - 1) as f64;
    let mut generator = Pcg64::seed_from_u64(seed);
    for row in 1..side - 1 {
        for column in 1..side - 1 {
            let x = (unit_interval(&mut generator) - 0.5) * step;
            let y = (unit_interval(&mut generator) - 0.5) * step;
            mesh.points[row * side + column] += DVec2::new(x, y);
        }
    }
    Ok(mesh)
}
