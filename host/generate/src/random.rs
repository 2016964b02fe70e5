use std::collections::HashSet;

use glam::DVec2;
use rand_pcg::Pcg64;
use rand_pcg::rand_core::SeedableRng;

use super::{check_point_count, unit_interval};
use trioxide_mesh::{Result, parallel};

/// Points that one thread draws at a time.
const DRAWN: usize = 4096;

/// `n` distinct points of the unit square: its four corners, then uniform random points in the order in which they are
/// drawn.
///
/// A coordinate nearer to the border than sqrt(0.4 / n) is moved onto it: about 2.5 sqrt(n) points lie on the border,
/// exactly collinear, and no sliver is left along it. The corners and this tolerance agree with the generator that the
/// paper's authors publish with their code. A point that repeats a point of the border is drawn again. Two inner points
/// coincide with a probability under 2^-48 for any `n`.
///
/// # Errors
/// [`Error::Argument`](trioxide_mesh::Error::Argument) if `n` is under 4 or over [`MAX_POINTS`](super::MAX_POINTS).
pub fn random_points(n: usize, seed: u64) -> Result<Vec<DVec2>> {
    check_point_count(n, 4)?;
    let tolerance = (0.4 / n as f64).sqrt();
    let snap = |x: f64| {
        if x < tolerance {
            0.0
        } else if x > 1.0 - tolerance {
            1.0
        } else {
            x
        }
    };
    let on_border = |point: DVec2| point.to_array().iter().any(|&x| x == 0.0 || x == 1.0);
    let corners = [DVec2::ZERO, DVec2::X, DVec2::ONE, DVec2::Y];
    // No coordinate is -0 or NaN: points are equal exactly if their bits are.
    let bits = |point: DVec2| point.to_array().map(f64::to_bits);
    let mut border: HashSet<[u64; 2]> = corners.map(bits).into();
    let mut generator = Pcg64::seed_from_u64(seed);
    let draw = |generator: &mut Pcg64| {
        let x = snap(unit_interval(generator));
        DVec2::new(x, snap(unit_interval(generator)))
    };
    let mut points: Vec<DVec2> = parallel::zeroed(n);
    let (first, others) = points.split_at_mut(corners.len());
    first.copy_from_slice(&corners);
    parallel::for_chunks_mut(others, DRAWN, |k, points| {
        let mut generator = generator.clone();
        generator.advance(2 * (k * DRAWN) as u128);
        points.fill_with(|| draw(&mut generator));
    });
    generator.advance(2 * others.len() as u128);
    let at_border = parallel::filter_collect(n, |i| on_border(points[i]).then_some(i));
    let at_border = at_border.into_iter().skip(corners.len());
    let again: Vec<usize> = at_border
        .filter(|&i| !border.insert(bits(points[i])))
        .collect();
    // They are few: most coincide with corners, which one or two draws hit for any `n`.
    again.into_iter().rev().for_each(|i| _ = points.remove(i));
    while points.len() < n {
        let point = draw(&mut generator);
        if !on_border(point) || border.insert(bits(point)) {
            points.push(point);
        }
    }
    Ok(points)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Points in order. A point that repeats a point of the border is drawn again.
    fn plain(n: usize, seed: u64) -> Vec<[f64; 2]> {
        let tolerance = (0.4 / n as f64).sqrt();
        let mut generator = Pcg64::seed_from_u64(seed);
        let mut coordinate = || match unit_interval(&mut generator) {
            x if x < tolerance => 0.0,
            x if x > 1.0 - tolerance => 1.0,
            x => x,
        };
        let mut points = vec![[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
        while points.len() < n {
            let point = [coordinate(), coordinate()];
            let is_at_border = point.contains(&0.0) || point.contains(&1.0);
            if !(is_at_border && points.contains(&point)) {
                points.push(point);
            }
        }
        points
    }

    #[test]
    fn points_are_drawn_one_after_the_other() {
        // Few points, many at corners; and several tasks.
        let sizes = (4..60).chain([DRAWN + 3, DRAWN + 4, DRAWN + 5, 3 * DRAWN]);
        for n in sizes {
            for seed in 0..3 {
                let points = random_points(n, seed).unwrap();
                let points: Vec<[f64; 2]> = points.iter().map(DVec2::to_array).collect();
                assert!(points == plain(n, seed), "{n} points, seed {seed}");
            }
        }
    }
}
