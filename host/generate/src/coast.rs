//! An outline like a coast.

use std::f64::consts::TAU;

use glam::DVec2;
use rand_pcg::Pcg64;
use rand_pcg::rand_core::SeedableRng;
use trioxide_mesh::Result;
use trioxide_mesh::mesh::Segment;
use trioxide_mesh::outline::Outline;

use super::{check_point_count, unit_interval};

/// Waves around a coast: each has twice as many as the one before it, and three fifths of its height.
const OCTAVES: i32 = 8;
/// Islands, in a row on a circle.
const ISLANDS: usize = 11;

/// A sea of about the unit disk with eleven islands: `n` segments, two thirds of them around it. A coast is rough at
/// all lengths down to a few segments. The islands are holes.
///
/// # Errors
/// [`Error::Argument`](trioxide_mesh::Error::Argument) if `n` is under 1000 or over [`MAX_POINTS`](super::MAX_POINTS).
pub fn coast(n: usize, seed: u64) -> Result<Outline> {
    check_point_count(n, 1000)?;
    let mut generator = Pcg64::seed_from_u64(seed);
    let mut outline = Outline::default();
    let of_islands = n / 3;
    add(
        &mut outline,
        DVec2::ZERO,
        1.0,
        n - of_islands,
        &mut generator,
    );
    for island in 0..ISLANDS {
        let count = of_islands * (island + 1) / ISLANDS - of_islands * island / ISLANDS;
        let turn = TAU * island as f64 / ISLANDS as f64;
        let centre = 0.45 * DVec2::new(libm::cos(turn), libm::sin(turn));
        add(&mut outline, centre, -0.08, count, &mut generator);
        outline.holes.push(centre);
    }
    Ok(outline)
}

/// Adds `count` segments around `centre`: counter-clockwise, or clockwise if `radius` is negative.
fn add(outline: &mut Outline, centre: DVec2, radius: f64, count: usize, generator: &mut Pcg64) {
    let turns: Vec<f64> = (0..OCTAVES).map(|_| unit_interval(generator)).collect();
    let first = outline.points.len() as u32;
    for k in 0..count as u32 {
        let part = f64::from(k) / count as f64;
        let wave = |(octave, turn): (i32, &f64)| {
            let frequency = f64::from(3 << octave);
            libm::pow(0.6, f64::from(octave)) * libm::cos(TAU * (frequency * part + turn))
        };
        let height: f64 = (0..OCTAVES).zip(&turns).map(wave).sum();
        let direction = DVec2::new(libm::cos(TAU * part), libm::sin(TAU * part));
        outline
            .points
            .push(centre + radius * (1.0 + 0.1 * height) * direction);
        outline.segments.push(Segment {
            ends: [first + k, first + (k + 1) % count as u32],
            marker: 1,
        });
    }
}
