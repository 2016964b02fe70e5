//! The distance to a triangle against one of another kind, and boxes against triangles.

use glam::DVec3;

use gpu::compare::{Bounds, square_to};

/// Numbers from -1 to 1, some of them equal.
fn numbers() -> impl FnMut() -> f64 {
    let mut state = 1u64;
    move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let coarse = state >> 33 & 3 == 0;
        let number = (state >> 11) as f64 / f64::from(1u32 << 31) / f64::from(1 << 21) - 1.0;
        if coarse {
            (4.0 * number).round() / 4.0
        } else {
            number
        }
    }
}

/// The nearest point by the regions of Ericson, Real-Time Collision Detection, 5.1.5.
fn nearest_by_regions(p: DVec3, [a, b, c]: [DVec3; 3]) -> DVec3 {
    let (ab, ac, ap) = (b - a, c - a, p - a);
    let (d1, d2) = (ab.dot(ap), ac.dot(ap));
    if d1 <= 0.0 && d2 <= 0.0 {
        return a;
    }
    let bp = p - b;
    let (d3, d4) = (ab.dot(bp), ac.dot(bp));
    if d3 >= 0.0 && d4 <= d3 {
        return b;
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        return a + ab * (d1 / (d1 - d3));
    }
    let cp = p - c;
    let (d5, d6) = (ab.dot(cp), ac.dot(cp));
    if d6 >= 0.0 && d5 <= d6 {
        return c;
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        return a + ac * (d2 / (d2 - d6));
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 - d3 >= 0.0 && d5 - d6 >= 0.0 {
        return b + (c - b) * ((d4 - d3) / ((d4 - d3) + (d5 - d6)));
    }
    let sum = va + vb + vc;
    a + ab * (vb / sum) + ac * (vc / sum)
}

#[test]
fn the_distance_is_that_of_regions_and_not_below_that_of_boxes() {
    let mut number = numbers();
    let mut point = || DVec3::new(number(), number(), number());
    for i in 0..20_000 {
        let (p, mut triangle) = (point(), [point(), point(), point()]);
        // Without an area: three points on a line, and two at one place.
        match i % 8 {
            0 => triangle[2] = triangle[0] + 0.25 * (triangle[1] - triangle[0]),
            1 => triangle[1] = triangle[0],
            2 => triangle = [triangle[0]; 3],
            _ => {}
        }
        let square = square_to(p, triangle);
        assert!(Bounds::of(triangle).square_to(p) <= square);
        assert!(
            Bounds::of(triangle)
                .with(Bounds::of([point(); 3]))
                .square_to(p)
                <= square
        );
        let [a, b, c] = triangle;
        for turned in [[b, c, a], [c, a, b], [b, a, c]] {
            let difference = square_to(p, turned) - square;
            assert!(difference.abs() <= 1e-13, "{difference} of {triangle:?}");
        }
        if i % 8 > 2 {
            let expected = (p - nearest_by_regions(p, triangle)).length();
            let difference = square.sqrt() - expected;
            assert!(
                difference.abs() <= 1e-9,
                "{difference} of {triangle:?}, {p}"
            );
        }
    }
}
