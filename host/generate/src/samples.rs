//! Tetrahedra of points that are sampled as for the prototypes of Polylla in three dimensions.

use std::collections::HashSet;

use glam::DVec3;
use rand_pcg::Pcg64;
use rand_pcg::rand_core::{Rng, SeedableRng};

use super::tets::{Failure, check_size, curve, delaunay_in_cube};
use super::unit_interval;
use trioxide_mesh::volume::TetMesh;
use trioxide_mesh::{Error, Result};

/// How the points in a cube are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sample {
    /// Uniform random points.
    Uniform,
    /// No two points nearer to each other than a radius, and no room for a further one, nearly.
    Poisson,
    /// A grid whose points are moved by up to a quarter of its spacing.
    SemiUniform,
}

/// Candidates of a point.
const CANDIDATES: u32 = 30;
/// A Poisson sample with radius r has (DENSITY / r + OUTSIDE)^3 points of the cube, about: fitted to 1,034 to 50,192
/// points of SciPy's.
const DENSITY: f64 = 0.8218;
/// Room that points near the sides do not share.
const OUTSIDE: f64 = 0.329;
/// Distance from a side, in mean distances of points, up to which points go to it: 0.02 for 50,000 points.
const TOLERANCE: f64 = 0.737;
/// Times that a mesh with a flat tetrahedron is tried with the next points.
const ATTEMPTS: u64 = 8;

/// The Delaunay mesh of about `n` points of the unit cube, sampled as those of arXiv 2310.03665, section 5.
///
/// As in the notebook of its code (github.com/Magdalena-Alvarez/3D-Polylla, `3D-samplegeneration.ipynb`) the cube's
/// corners are added, and a coordinate nearer to a side than 0.737 n^(-1/3) is moved onto it: 0.02 for 50,000 points,
/// as there. Points that fall together are one.
///
/// - [`Sample::Uniform`]: `n` points, fewer by those that fall together.
/// - [`Sample::Poisson`]: Bridson's sampling ("Fast Poisson Disk Sampling in Arbitrary Dimensions", SIGGRAPH 2007
///   sketches) with 30 candidates up to two radii from each point, as `scipy.stats.qmc.PoissonDisk`; the radius is
///   0.8218 / (n^(1/3) - 0.329), 0.0225 for 50,000 points, which gives `n` within some percent.
/// - [`Sample::SemiUniform`]: an assumption. There TetGen refines the cube until no tetrahedron has more than a given
///   volume. Here they are the points of a grid of k x k x k, k = cube root of `n` rounded, those inside moved by up to
///   a quarter of its spacing along each axis.
///
/// The sides have the tags of [`tet_grid`](super::tet_grid). As for [`random_tets`](super::random_tets) the
/// construction sees them curved.
///
/// # Errors
/// [`Error::Argument`] if `n` is under 8 or too large for 32-bit edge ids, or where several samples had a flat
/// tetrahedron (never seen).
pub fn sampled_tets(n: usize, sample: Sample, seed: u64) -> Result<TetMesh> {
    check_size(n, 8, n.saturating_mul(8))?;
    let mut generator = Pcg64::seed_from_u64(seed);
    for _ in 0..ATTEMPTS {
        let points = match sample {
            Sample::Uniform => uniform(n, &mut generator),
            Sample::Poisson => poisson(radius_of(n), &mut generator),
            Sample::SemiUniform => moved_grid(n, &mut generator),
        };
        let spacing = (n as f64).cbrt().recip();
        let tolerance = match sample {
            // Its outermost points are on the sides.
            Sample::SemiUniform => 0.0,
            _ => (TOLERANCE * spacing).min(0.25),
        };
        let points = snapped(points, tolerance);
        let sides_of: Vec<u32> = points.iter().map(|&p| sides(p)).collect();
        let on_sides = sides_of.iter().take_while(|&&sides| sides != 0).count();
        let curved: Vec<DVec3> = points[..on_sides]
            .iter()
            .zip(&sides_of)
            .map(|(&p, &sides)| curve(p, sides, spacing, || unit_interval(&mut generator)))
            .collect();
        match delaunay_in_cube(points, &curved, &sides_of[..on_sides]) {
            Ok(mesh) => return Ok(mesh),
            Err(Failure::Flat(_)) => {}
            Err(Failure::Other(error)) => return Err(error),
        }
    }
    Err(Error::Argument(format!(
        "{ATTEMPTS} samples of {n} points with seed {seed} have flat tetrahedra: use another seed"
    )))
}

/// The sides of the cube that a point lies on, a bit each: x = 0, x = 1 and so on.
fn sides(p: DVec3) -> u32 {
    let on = |axis: usize| {
        let low = u32::from(p[axis] == 0.0);
        (low | u32::from(p[axis] == 1.0) << 1) << (2 * axis)
    };
    on(0) | on(1) | on(2)
}

/// The corners of the cube and the points, with coordinates near a side on it, each point once, those of the sides
/// first.
fn snapped(points: Vec<DVec3>, tolerance: f64) -> Vec<DVec3> {
    let snap = |x: f64| {
        if x <= tolerance {
            0.0
        } else if x >= 1.0 - tolerance {
            1.0
        } else {
            x
        }
    };
    let corner = |i: u32| DVec3::new((i & 1).into(), (i >> 1 & 1).into(), (i >> 2).into());
    let all = (0..8).map(corner).chain(points);
    let mut seen = HashSet::new();
    // No coordinate is -0 or NaN: points are equal if their bits are.
    let all = all
        .map(|p| DVec3::from_array(p.to_array().map(snap)))
        .filter(|p| seen.insert(p.to_array().map(f64::to_bits)));
    let (mut outer, inner): (Vec<DVec3>, Vec<DVec3>) = all.partition(|&p| sides(p) != 0);
    outer.extend(inner);
    outer
}

/// A random point of the unit cube.
fn point(generator: &mut Pcg64) -> DVec3 {
    let mut coordinate = || unit_interval(generator);
    DVec3::new(coordinate(), coordinate(), coordinate())
}

/// The radius of a Poisson sample of about `n` points.
fn radius_of(n: usize) -> f64 {
    DENSITY / ((n as f64).cbrt() - OUTSIDE)
}

fn uniform(n: usize, generator: &mut Pcg64) -> Vec<DVec3> {
    (0..n).map(|_| point(generator)).collect()
}

fn moved_grid(n: usize, generator: &mut Pcg64) -> Vec<DVec3> {
    let side = (n as f64).cbrt().round() as usize;
    let last = (side - 1) as f64;
    let mut points = Vec::with_capacity(side * side * side);
    for i in 0..side * side * side {
        let node = [i % side, i / side % side, i / (side * side)];
        let mut p = DVec3::from(node.map(|i| i as f64 / last));
        let step = 0.5 * point(generator) - 0.25;
        for axis in 0..3 {
            if node[axis] > 0 && node[axis] + 1 < side {
                p[axis] += step[axis] / last;
            }
        }
        points.push(p);
    }
    points
}

/// Bridson's sampling of the unit cube, as SciPy has it: a point that is chosen at random from those that had no turn
/// has candidates in the ball of two radii around it, and each that is no nearer than the radius to any point becomes a
/// point.
fn poisson(radius: f64, generator: &mut Pcg64) -> Vec<DVec3> {
    // A cell has one point at most.
    let cells = (3f64.sqrt() / radius).ceil().max(1.0) as usize;
    let cell_of = |p: DVec3| {
        p.to_array()
            .map(|x| ((x * cells as f64) as usize).min(cells - 1))
    };
    let index = |[x, y, z]: [usize; 3]| (z * cells + y) * cells + x;
    let mut grid = vec![u32::MAX; cells * cells * cells];
    let mut points: Vec<DVec3> = Vec::new();
    let add = |p: DVec3, points: &mut Vec<DVec3>, grid: &mut Vec<u32>| {
        grid[index(cell_of(p))] = points.len() as u32;
        points.push(p);
    };
    // Cells as far as a radius reaches.
    let reach = (radius * cells as f64).ceil() as usize;
    let has_room = |p: DVec3, points: &[DVec3], grid: &[u32]| {
        let [x, y, z] = cell_of(p).map(|i| i.saturating_sub(reach)..(i + reach + 1).min(cells));
        for k in z {
            for j in y.clone() {
                for i in x.clone() {
                    let other = grid[index([i, j, k])];
                    if other != u32::MAX
                        && points[other as usize].distance_squared(p) < radius * radius
                    {
                        return false;
                    }
                }
            }
        }
        true
    };
    add(point(generator), &mut points, &mut grid);
    let mut active = vec![0u32];
    while !active.is_empty() {
        let place = ((u128::from(generator.next_u64()) * active.len() as u128) >> 64) as usize;
        let from = points[active.swap_remove(place) as usize];
        for _ in 0..CANDIDATES {
            let p = from + in_ball(generator) * (2.0 * radius);
            let is_inside = p.to_array().iter().all(|x| (0.0..1.0).contains(x));
            if is_inside && has_room(p, &points, &grid) {
                active.push(points.len() as u32);
                add(p, &mut points, &mut grid);
            }
        }
    }
    points
}

/// A random vector of length 1 or less, uniform in the ball, without sines.
fn in_ball(generator: &mut Pcg64) -> DVec3 {
    loop {
        let v = 2.0 * point(generator) - 1.0;
        if v.length_squared() <= 1.0 {
            return v;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trioxide_mesh::rules;
    use trioxide_mesh::volume::orientation;

    const SAMPLES: [Sample; 3] = [Sample::Uniform, Sample::Poisson, Sample::SemiUniform];

    #[test]
    fn sampled_meshes_fill_the_cube() {
        for sample in SAMPLES {
            for (n, seed) in [(8, 1), (100, 2), (4000, 3)] {
                let mesh = sampled_tets(n, sample, seed).unwrap();
                let volume: f64 = mesh
                    .tetrahedra
                    .iter()
                    .map(|t| orientation(&mesh.points, t))
                    .sum();
                assert!(
                    (volume / 6.0 - 1.0).abs() < 1e-12,
                    "{sample:?} {n} {volume}"
                );
                let found = rules::tets(&mesh).unwrap();
                assert_eq!(found.boundary_faces, mesh.faces.len(), "{sample:?} {n}");
            }
            let [a, b, c] = [7, 7, 8].map(|seed| sampled_tets(900, sample, seed).unwrap());
            assert_eq!(a, b, "{sample:?}");
            assert_ne!(a.points, c.points, "{sample:?}");
        }
    }

    /// No two points of the sample are too near, and there are about as many as asked for: 50,172 for the radius 0.0225
    /// of SciPy's.
    #[test]
    fn poisson_points_keep_their_distance() {
        let n = 6000;
        let radius = radius_of(n);
        let points = poisson(radius, &mut Pcg64::seed_from_u64(5));
        assert!(points.len().abs_diff(n) < n / 16, "{}", points.len());
        for (i, p) in points.iter().enumerate() {
            for q in &points[..i] {
                assert!(p.distance(*q) >= radius);
            }
        }
    }

    #[test]
    fn coordinates_near_a_side_are_on_it() {
        let mesh = sampled_tets(3000, Sample::Poisson, 4).unwrap();
        let tolerance = TOLERANCE * (3000f64).cbrt().recip();
        for p in &mesh.points {
            for x in p.to_array() {
                let is_near = x < tolerance || x > 1.0 - tolerance;
                assert!(!is_near || x == 0.0 || x == 1.0, "{p}");
            }
        }
    }
}
