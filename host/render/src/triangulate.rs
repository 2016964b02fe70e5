//! Polygons in space as triangles, for drawing.

use glam::{DVec2, DVec3};

/// Appends the triangles of a polygon, as positions in `face`, with the polygon's direction: a fan from its first
/// corner if that covers the polygon, or else ears (Meisters 1975) in the plane of its largest projection. A polygon
/// that touches or crosses itself is covered only approximately.
pub fn triangulate(points: &[DVec3], face: &[u32], triangles: &mut Vec<[usize; 3]>) {
    let corner = |i: usize| points[face[i] as usize];
    let fan = |i: usize| [0, i - 1, i];
    let area = |[a, b, c]: [usize; 3]| (corner(b) - corner(a)).cross(corner(c) - corner(a));
    let normal: DVec3 = (2..face.len()).map(|i| area(fan(i))).sum();
    if face.len() < 4 || (2..face.len()).all(|i| area(fan(i)).dot(normal) >= 0.0) {
        triangles.extend((2..face.len()).map(fan));
        return;
    }
    let size = normal.abs();
    // Drops the axis of the normal's largest component, and keeps the direction counter-clockwise.
    let project = |p: DVec3| match size {
        n if n.x >= n.y && n.x >= n.z => DVec2::new(p.y, p.z * normal.x.signum()),
        n if n.y >= n.z => DVec2::new(p.z, p.x * normal.y.signum()),
        _ => DVec2::new(p.x, p.y * normal.z.signum()),
    };
    let flat: Vec<DVec2> = (0..face.len()).map(|i| project(corner(i))).collect();
    let turn = |a: usize, b: usize, c: usize| (flat[b] - flat[a]).perp_dot(flat[c] - flat[a]);
    let mut left: Vec<usize> = (0..face.len()).collect();
    while left.len() > 3 {
        let count = left.len();
        let at = |k: usize| {
            [
                left[(k + count - 1) % count],
                left[k],
                left[(k + 1) % count],
            ]
        };
        let is_ear = |k: usize| {
            let [a, b, c] = at(k);
            let covers = |p: usize| {
                let is_inside =
                    turn(a, b, p) >= 0.0 && turn(b, c, p) >= 0.0 && turn(c, a, p) >= 0.0;
                is_inside && ![flat[a], flat[b], flat[c]].contains(&flat[p])
            };
            turn(a, b, c) > 0.0 && !left.iter().any(|&p| covers(p))
        };
        // There is always an ear, except with rounding and for polygons that touch themselves.
        let ear = (0..count).find(|&k| is_ear(k)).unwrap_or(0);
        triangles.push(at(ear));
        left.remove(ear);
    }
    triangles.push([left[0], left[1], left[2]]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polygons_that_are_not_convex_are_covered_once() {
        // A comb with three teeth, its corners in order; also reversed, and rotated so that each axis is dropped once.
        let comb = [
            (0.0, 0.0),
            (7.0, 0.0),
            (7.0, 4.0),
            (6.0, 4.0),
            (6.0, 1.0),
            (4.0, 1.0),
            (4.0, 4.0),
            (3.0, 4.0),
            (3.0, 1.0),
            (1.0, 1.0),
            (1.0, 4.0),
            (0.0, 4.0),
        ];
        let turns: [fn(f64, f64) -> DVec3; 3] = [
            |x, y| DVec3::new(x, y, 5.0),
            |x, y| DVec3::new(5.0, x, y),
            |x, y| DVec3::new(y, 0.1 * y, x),
        ];
        for turned in turns {
            for start in 0..comb.len() {
                let mut points: Vec<DVec3> = comb.iter().map(|(x, y)| turned(*x, *y)).collect();
                points.rotate_left(start);
                for _ in 0..2 {
                    let face: Vec<u32> = (0..comb.len() as u32).collect();
                    let mut triangles = Vec::new();
                    triangulate(&points, &face, &mut triangles);
                    assert_eq!(triangles.len(), comb.len() - 2);
                    let area = |t: &[usize; 3]| {
                        let [a, b, c] = t.map(|i| points[i]);
                        (b - a).cross(c - a) / 2.0
                    };
                    let sum: DVec3 = triangles.iter().map(area).sum();
                    let sizes: f64 = triangles.iter().map(|t| area(t).length()).sum();
                    // No triangle is inverted, and together they have the comb's area: nothing is covered twice.
                    assert!(triangles.iter().all(|t| area(t).dot(sum) >= 0.0));
                    assert!((sum.length() - sizes).abs() < 1e-9);
                    let expected = 16.0 * turned(0.0, 1.0).distance(turned(0.0, 0.0));
                    assert!((sizes - expected).abs() < 1e-9, "{sizes} {expected}");
                    points.reverse();
                }
            }
        }
    }

    #[test]
    fn degenerate_polygons_have_their_number_of_triangles() {
        let points = [
            DVec3::ZERO,
            DVec3::X,
            DVec3::X,
            DVec3::new(0.5, 0.0, 0.0),
            DVec3::Y,
        ];
        for face in [
            &[0, 1, 2, 3][..],
            &[0, 0, 0, 0, 0],
            &[0, 4, 1, 2, 0, 3],
            &[0, 1],
            &[],
        ] {
            let mut triangles = Vec::new();
            triangulate(&points, face, &mut triangles);
            assert_eq!(triangles.len(), face.len().saturating_sub(2), "{face:?}");
            assert!(triangles.iter().flatten().all(|i| *i < face.len()));
        }
    }
}
