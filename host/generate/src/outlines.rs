//! Random points among outlines.

use glam::DVec2;
use rand_pcg::Pcg64;
use rand_pcg::rand_core::SeedableRng;

use super::{check_point_count, unit_interval};
use trioxide_mesh::Result;
use trioxide_mesh::mesh::Segment;
use trioxide_mesh::outline::Outline;

/// Points of an outline, about.
const AROUND: usize = 100;

/// `n` points of the unit square: nine tenths are uniform random points, the others lie on outlines with three lobes,
/// one in each cell of a square grid, of about a hundred segments each. A segment is about as long as the distance
/// between neighbouring points.
///
/// # Errors
/// [`Error::Argument`](trioxide_mesh::Error::Argument) if `n` is under 1000 or over [`MAX_POINTS`](super::MAX_POINTS).
pub fn outlines(n: usize, seed: u64) -> Result<Outline> {
    check_point_count(n, 1000)?;
    let mut generator = Pcg64::seed_from_u64(seed);
    let on_outlines = n / 10;
    let columns = (on_outlines / AROUND).isqrt();
    let around = on_outlines / (columns * columns);
    let width = 1.0 / columns as f64;
    let mut points = Vec::with_capacity(n);
    let mut segments = Vec::with_capacity(on_outlines);
    for cell in 0..columns * columns {
        let centre = DVec2::new((cell % columns) as f64 + 0.5, (cell / columns) as f64 + 0.5);
        let first = points.len() as u32;
        let turn = unit_interval(&mut generator);
        for k in 0..around as u32 {
            let angle = std::f64::consts::TAU * (f64::from(k) / around as f64 + turn);
            let radius = 0.3 + 0.1 * libm::cos(3.0 * angle);
            let direction = DVec2::new(libm::cos(angle), libm::sin(angle));
            points.push(width * (centre + radius * direction));
            segments.push(Segment {
                ends: [first + k, first + (k + 1) % around as u32],
                marker: 1,
            });
        }
    }
    let mut coordinate = || unit_interval(&mut generator);
    points.resize_with(n, || DVec2::new(coordinate(), coordinate()));
    Ok(Outline {
        points,
        segments,
        ..Outline::default()
    })
}
