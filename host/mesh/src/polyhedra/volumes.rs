//! Signed volumes within closed surfaces, with exact signs.

use glam::DVec3;

/// Returns the volume within triangles, positive where these look outward. Its sign is exact as long as coordinates and
/// their products neither overflow nor underflow; NaN for coordinates that are not finite.
pub(super) fn volume(points: &[DVec3], triangles: &[[u32; 3]]) -> f64 {
    let Some(&[origin, _, _]) = triangles.first() else {
        return 0.0;
    };
    let origin = points[origin as usize];
    let (mut sum, mut magnitude) = (0.0, 0.0);
    for triangle in triangles {
        let [a, b, c] = triangle.map(|v| points[v as usize] - origin);
        sum += a.dot(b.cross(c));
        let [a, b, c] = [a, b, c].map(DVec3::abs);
        magnitude += a.x * (b.y * c.z + b.z * c.y);
        magnitude += a.y * (b.z * c.x + b.x * c.z);
        magnitude += a.z * (b.x * c.y + b.y * c.x);
    }
    // Each product of three differences has 8 roundings at most, each sum one more.
    let bound = magnitude * f64::EPSILON * (16 + triangles.len()) as f64;
    match sum.abs() > bound {
        true => sum / 6.0,
        false => exact(points, triangles).unwrap_or(sum) / 6.0,
    }
}

/// Returns the sum of the triangles' determinants as the largest part of its exact value; `None` where a coordinate is
/// not finite.
fn exact(points: &[DVec3], triangles: &[[u32; 3]]) -> Option<f64> {
    let corners = || triangles.iter().flatten().map(|&v| points[v as usize]);
    if !corners().all(DVec3::is_finite) {
        return None;
    }
    let most = corners().fold(0.0, |most: f64, p| most.max(p.abs().max_element()));
    // A power of two, so that no product overflows: scaling by it is exact.
    let scale = f64::from_bits(most.to_bits() & 0x7ff0_0000_0000_0000).max(f64::MIN_POSITIVE);
    let mut sum = Expansion::default();
    for triangle in triangles {
        let [a, b, c] = triangle.map(|v| points[v as usize] / scale);
        sum.add_product(a.x, b.y, c.z);
        sum.add_product(-a.x, b.z, c.y);
        sum.add_product(a.y, b.z, c.x);
        sum.add_product(-a.y, b.x, c.z);
        sum.add_product(a.z, b.x, c.y);
        sum.add_product(-a.z, b.y, c.x);
    }
    let Some(&part) = sum.0.last() else {
        return Some(0.0);
    };
    // The sign counts, also of a value beyond the range of doubles.
    let size = part.abs() * scale * scale * scale;
    Some(size.clamp(f64::MIN_POSITIVE, f64::MAX).copysign(part))
}

/// A sum of doubles that do not overlap, the smallest first, whose exact sum is the number (Shewchuk, "Adaptive
/// Precision Floating-Point Arithmetic and Fast Robust Geometric Predicates", 1997).
#[derive(Default)]
struct Expansion(Vec<f64>);

impl Expansion {
    fn add(&mut self, value: f64) {
        let mut sum = value;
        self.0.retain_mut(|part| {
            let (high, low) = two_sum(sum, *part);
            (sum, *part) = (high, low);
            low != 0.0
        });
        if sum != 0.0 {
            self.0.push(sum);
        }
    }

    fn add_product(&mut self, x: f64, y: f64, z: f64) {
        let (high, low) = two_product(x, y);
        for part in [low, high] {
            let (high, low) = two_product(part, z);
            self.add(low);
            self.add(high);
        }
    }
}

/// A sum and its rounding error.
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let of_b = sum - a;
    let of_a = sum - of_b;
    (sum, (a - of_a) + (b - of_b))
}

/// A product and its rounding error.
fn two_product(a: f64, b: f64) -> (f64, f64) {
    let product = a * b;
    (product, a.mul_add(b, -product))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tetrahedron whose last vertex is `height` above the plane of the others.
    fn tetrahedron(offset: f64, height: f64) -> (Vec<DVec3>, [[u32; 3]; 4]) {
        let corners = [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0)];
        let at = |(x, y): (f64, f64)| DVec3::new(x + offset, y + offset, x + y + offset);
        let mut points: Vec<DVec3> = corners.map(at).to_vec();
        points.push(at((0.25, 0.25)) + DVec3::Z * height);
        (points, [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]])
    }

    #[test]
    fn signs_are_exact() {
        for offset in [0.0, 1024.0, -3.0] {
            let ulp = 1e-12;
            let (points, triangles) = tetrahedron(offset, ulp);
            let value = volume(&points, &triangles);
            assert!((value / (ulp / 6.0) - 1.0).abs() < 0.1, "{value} {offset}");
            let (points, triangles) = tetrahedron(offset, -ulp);
            assert!(volume(&points, &triangles) < 0.0, "{offset}");
            let (points, triangles) = tetrahedron(offset, 0.0);
            assert_eq!(volume(&points, &triangles), 0.0, "{offset}");
        }
    }

    /// One unit in the last place, where rounding errors of the plain sum are larger.
    #[test]
    fn a_height_of_one_unit_counts() {
        let (mut points, triangles) = tetrahedron(0.1, 0.0);
        let flat = volume(&points, &triangles);
        for p in &mut points {
            *p += DVec3::splat(1000.0);
        }
        points[3] = (points[0] + points[1]) / 2.0;
        let z = points[3].z;
        points[3].z = z.next_up();
        let above = volume(&points, &triangles);
        points[3].z = z.next_down();
        let below = volume(&points, &triangles);
        assert!(
            flat.abs() < 1e-15 && above > 0.0 && below < 0.0,
            "{above} {below}"
        );
    }

    #[test]
    fn huge_and_broken_coordinates() {
        let (points, triangles) = tetrahedron(0.0, 1.0);
        let scaled = |factor: f64| points.iter().map(|&p| p * factor).collect::<Vec<_>>();
        assert!(volume(&scaled(1e200), &triangles) > 0.0);
        assert!(volume(&scaled(-1e200), &triangles) < 0.0);
        assert!(volume(&scaled(1e-90), &triangles) > 0.0);
        assert!(volume(&scaled(f64::NAN), &triangles).is_nan());
        assert_eq!(volume(&[], &[]), 0.0);
    }
}
