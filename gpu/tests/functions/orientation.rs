use glam::DVec2;
use gpu::orientation::is_counter_clockwise;
use robust::{Coord, orient2d};

/// Points within a few units in the last place of a line: nearly the hardest input.
#[test]
fn agrees_with_robust_near_degenerate() {
    let ulp = f64::EPSILON / 2.0;
    let mut signs = [0; 3];
    for i in 0..64 {
        for j in 0..64 {
            let a = DVec2::new(0.5 + f64::from(i) * ulp, 0.5 + f64::from(j) * ulp);
            for (b, c) in [
                (DVec2::new(12.0, 12.0), DVec2::new(24.0, 24.0)),
                (
                    DVec2::new(17.3, 17.3),
                    DVec2::new(24.00000000000005, 24.00000000000005),
                ),
            ] {
                let coord = |p: DVec2| Coord { x: p.x, y: p.y };
                let expected = orient2d(coord(a), coord(b), coord(c));
                assert_eq!(is_counter_clockwise(a, b, c), expected > 0.0, "{a} {b} {c}");
                assert_eq!(is_counter_clockwise(a, c, b), expected < 0.0, "{a} {c} {b}");
                signs[(expected.partial_cmp(&0.0).unwrap() as i8 + 1) as usize] += 1;
            }
        }
    }
    // All three signs occurred.
    assert!(signs.iter().all(|&n| n > 0), "{signs:?}");
}
