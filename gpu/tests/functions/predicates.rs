//! The predicates against another crate's, against whole numbers, and by the properties that the rule promises.

use glam::DVec2;
use robust::{Coord, incircle, orient2d};

use gpu::delaunay::pairs::{circle_of_pairs, cross_of_pairs};
use gpu::delaunay::predicates::{
    circle_of_all_bits, filtered_circle, is_in_circle, is_in_circle_exactly, orientation,
};

fn coord(p: DVec2) -> Coord<f64> {
    Coord { x: p.x, y: p.y }
}

/// Numbers below `most`.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, most: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }

    fn unit(&mut self) -> f64 {
        self.next(1 << 30) as f64 / f64::from(1 << 30)
    }

    fn on_grid(&mut self, side: u64) -> DVec2 {
        DVec2::new(self.next(side) as f64, self.next(side) as f64)
    }
}

/// Four distinct points, the first three counter-clockwise; `None` if they are not.
fn proper(p: [DVec2; 4]) -> Option<[DVec2; 4]> {
    let differ = (0..4).all(|i| (0..i).all(|j| p[i] != p[j]));
    match orientation(p[0], p[1], p[2]) {
        _ if !differ => None,
        1 => Some(p),
        -1 => Some([p[1], p[0], p[2], p[3]]),
        _ => None,
    }
}

/// Nearly on a circle, so that the filter does not decide: all three signs are met.
#[test]
fn agrees_with_robust_near_degenerate() {
    let mut signs = [0; 3];
    let ulp = f64::EPSILON / 2.0;
    for i in 0..64 {
        for j in 0..64 {
            let d = DVec2::new(1.0 + f64::from(i - 32) * ulp, f64::from(j - 32) * ulp);
            for scale in [1.0, 3.3e-3, 7.7e120] {
                let at = |x: f64, y: f64| DVec2::new(x, y) * scale;
                let [a, b, c] = [at(0.6, 0.8), at(-0.8, 0.6), at(0.0, -1.0)];
                let d = d * scale;
                let expected = incircle(coord(a), coord(b), coord(c), coord(d));
                if scale < 1e100 && expected != 0.0 {
                    assert_eq!(
                        is_in_circle_exactly(a, b, c, d),
                        expected > 0.0,
                        "{d} {scale}"
                    );
                    assert_eq!(is_in_circle(a, b, c, d), expected > 0.0);
                }
                signs[(filtered_circle(a, b, c, d) + 1) as usize] += 1;
            }
        }
    }
    assert!(signs.iter().all(|&n| n > 0), "{signs:?}");
}

/// The three exact steps agree, and scaling by a power of two changes nothing: from integers over numbers near the
/// smallest and the largest to spans that the integers do not hold.
#[test]
fn steps_agree_for_any_scale() {
    let mut numbers = Numbers(1);
    let mut ties = 0;
    for _ in 0..20_000 {
        let Some(p) = proper([(); 4].map(|()| numbers.on_grid(9))) else {
            continue;
        };
        let [a, b, c, d] = p;
        let inside = is_in_circle_exactly(a, b, c, d);
        let apart = |p: DVec2| [(p.x - d.x) as i64, (p.y - d.y) as i64];
        let [a2, b2, c2] = [a, b, c].map(apart);
        let lift = |p: [i64; 2]| p[0] * p[0] + p[1] * p[1];
        let area = |p: [i64; 2], q: [i64; 2]| p[0] * q[1] - p[1] * q[0];
        let sum = lift(a2) * area(b2, c2) + lift(b2) * area(c2, a2) + lift(c2) * area(a2, b2);
        if sum == 0 {
            ties += 1;
        } else {
            assert_eq!(inside, sum > 0, "{p:?}");
        }
        for scale in [f64::from_bits(1), 2f64.powi(-500), 2f64.powi(1019)] {
            let [a, b, c, d] = p.map(|p| p * scale);
            assert_eq!(is_in_circle(a, b, c, d), inside, "{p:?} times {scale}");
            assert_eq!(orientation(a, b, c), 1);
        }
        // Too far apart for integers.
        let far = DVec2::new(2f64.powi(700), 0.0);
        assert!(!is_in_circle(a, b, c, far), "{p:?}");
    }
    assert!(ties > 100, "{ties}");
}

/// Where pairs decide, all bits and another crate decide the same. They decide nearly always, of points of a circle's
/// equation and of a line's, near and far, at any scale from 2^-100 to 2^100.
#[test]
fn pairs_agree_with_all_bits() {
    let mut numbers = Numbers(3);
    let (mut decided, mut tried) = (0, 0);
    for i in 0..4000 {
        let apart = 2f64.powi(-(i % 40));
        let scale = 2f64.powi(i % 201 - 100);
        let mut next = || numbers.unit() * apart;
        let on_circle = [(); 4].map(|()| DVec2::from_angle(next()) * scale);
        let [a, b, c, d] = on_circle;
        let of_pairs = circle_of_pairs(a, b, c, d);
        let of_all_bits = circle_of_all_bits(a, b, c, d);
        let slope = DVec2::new(1.0, next()) * scale;
        let [p, q, r] = [(); 3].map(|()| slope * next() + slope);
        let area = orient2d(coord(p), coord(q), coord(r));
        let sign = i32::from(area > 0.0) - i32::from(area < 0.0);
        let line = [cross_of_pairs(r, p, r, q), sign];
        for [found, exact] in [[of_pairs, of_all_bits], line] {
            assert!(found == 0 || found == exact, "{on_circle:?} {slope}");
            tried += i32::from(exact != 0);
            decided += found.abs();
        }
    }
    assert!(
        decided > tried * 99 / 100 && tried > 5000,
        "{decided} {tried}"
    );
    // Beyond the range pairs decide nothing.
    let far = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.1)];
    for scale in [2f64.powi(-400), 2f64.powi(500), 2f64.powi(1000)] {
        let [a, b, c, d] = far.map(|(x, y)| DVec2::new(x, y) * scale);
        assert_eq!(circle_of_pairs(a, b, c, d), 0);
        assert_eq!(cross_of_pairs(a, b, a, c), 0);
    }
}

/// A point beside a circle by the smallest number that a f64 holds, far below what rounding keeps.
#[test]
fn the_smallest_distance_decides() {
    let tiny = f64::from_bits(1);
    let at = DVec2::new;
    let [a, b, c] = [at(1.0, 0.0), at(0.0, 1.0), at(-1.0, 0.0)];
    // (tiny, -1) is outside of the unit circle by tiny^2.
    assert!(!is_in_circle(a, b, c, at(tiny, -1.0)));
    let origin = [at(0.0, 0.0), at(1.0, tiny), at(-1.0, tiny)];
    assert_eq!(orientation(origin[0], origin[1], origin[2]), 1);
    assert_eq!(
        orientation(at(0.0, 0.0), at(1.0, -tiny), at(-1.0, -tiny)),
        -1
    );
    assert_eq!(orientation(at(0.0, 0.0), at(1.0, -tiny), at(-1.0, tiny)), 0);
}

/// Of four points on a circle, a permutation of the three or the side from which one asks changes nothing: exactly one
/// of the two diagonals is Delaunay.
#[test]
fn one_diagonal_of_four_points_on_a_circle() {
    let mut numbers = Numbers(2);
    let mut squares = 0;
    for _ in 0..20_000 {
        let corner = numbers.on_grid(5);
        let side = numbers.on_grid(5) - DVec2::splat(2.0);
        if side == DVec2::ZERO {
            continue;
        }
        let up = DVec2::new(-side.y, side.x);
        let p = [corner, corner + side, corner + side + up, corner + up];
        squares += 1;
        let within = |i: usize| {
            let at = |k: usize| p[(i + k) % 4];
            is_in_circle(at(0), at(1), at(2), at(3))
        };
        // Diagonals 0-2 and 1-3, each from both sides.
        assert_eq!(within(0), within(2));
        assert_eq!(within(1), within(3));
        assert_ne!(within(0), within(1));
        // The first point is cut off: the diagonal that stays does not meet it.
        let first = (0..4)
            .min_by(|&i, &j| p[i].x.total_cmp(&p[j].x).then(p[i].y.total_cmp(&p[j].y)))
            .unwrap();
        assert!(within(first % 2), "diagonal {}", first % 2);
        for turn in 0..3 {
            let at = |k: usize| p[(turn + k) % 3];
            assert_eq!(is_in_circle(at(0), at(1), at(2), p[3]), within(0));
        }
    }
    assert!(squares > 1000);
}

/// The triangles whose circle has no other point within cover the hull of points with many ties, once.
#[test]
fn empty_circles_cover_the_hull() {
    let mut numbers = Numbers(3);
    for round in 0..300 {
        let side = if round % 2 == 0 { 4 } else { 7 };
        let count = 3 + numbers.next(14) as usize;
        let mut points: Vec<DVec2> = (0..count).map(|_| numbers.on_grid(side)).collect();
        points.sort_by(|a, b| a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)));
        points.dedup();
        let n = points.len();
        let mut area = 0.0;
        let mut corners = vec![false; n];
        let mut triangles = 0;
        for i in 0..n {
            for j in 0..i {
                for k in 0..j {
                    let (a, mut b, mut c) = (points[i], points[j], points[k]);
                    match orientation(a, b, c) {
                        0 => continue,
                        -1 => (b, c) = (c, b),
                        _ => {}
                    }
                    let others = (0..n).filter(|&l| l != i && l != j && l != k);
                    if others.into_iter().any(|l| is_in_circle(a, b, c, points[l])) {
                        continue;
                    }
                    area += (b - a).perp_dot(c - a);
                    triangles += 1;
                    for v in [i, j, k] {
                        corners[v] = true;
                    }
                }
            }
        }
        let (hull, twice_area) = hull(&points);
        assert_eq!(area, twice_area, "{points:?}");
        if triangles > 0 {
            assert!(corners.iter().all(|&used| used), "{points:?}");
            // Euler: with every point a vertex and every point on the hull one of its boundary.
            assert_eq!(triangles, 2 * n - 2 - hull, "{points:?}");
        }
    }
}

/// Number of points on the boundary of the hull, and twice its area.
fn hull(points: &[DVec2]) -> (usize, f64) {
    let half = |points: &mut dyn Iterator<Item = DVec2>| {
        let mut chain: Vec<DVec2> = Vec::new();
        for p in points {
            while chain.len() > 1
                && orientation(chain[chain.len() - 2], chain[chain.len() - 1], p) < 0
            {
                chain.pop();
            }
            chain.push(p);
        }
        chain
    };
    let mut chain = half(&mut points.iter().copied());
    let above = half(&mut points.iter().rev().copied());
    chain.extend(&above[1..above.len() - 1]);
    let count = chain.len();
    let area = (0..count)
        .map(|i| chain[i].perp_dot(chain[(i + 1) % count]))
        .sum();
    (count, area)
}

/// Random points of many magnitudes: the steps agree with each other.
#[test]
fn spans_beyond_the_integers_agree_with_robust() {
    let mut numbers = Numbers(4);
    let mut compared = 0;
    for _ in 0..20_000 {
        let mut point = || {
            let scale = 2f64.powi(-(numbers.next(90) as i32));
            DVec2::new(numbers.unit() * scale, numbers.unit())
        };
        let Some([a, b, c, d]) = proper([point(), point(), point(), point()]) else {
            continue;
        };
        let expected = incircle(coord(a), coord(b), coord(c), coord(d));
        if expected != 0.0 {
            compared += 1;
            assert_eq!(is_in_circle_exactly(a, b, c, d), expected > 0.0);
        }
    }
    assert!(compared > 10_000);
}
