use glam::DVec3;
use gpu::handedness::is_right_handed;
use robust::{Coord3D, orient3d};

/// Points within a few units in the last place of a plane: nearly the hardest input.
#[test]
fn agrees_with_robust_near_degenerate() {
    let ulp = f64::EPSILON / 2.0;
    let mut signs = [0; 3];
    for i in 0..16 {
        for j in 0..16 {
            for k in 0..16 {
                let a = DVec3::new(
                    0.5 + f64::from(i) * ulp,
                    0.5 + f64::from(j) * ulp,
                    0.5 + f64::from(k) * ulp,
                );
                for [b, c, d] in [
                    [
                        DVec3::new(12.0, 12.0, 12.0),
                        DVec3::new(24.0, 24.0, 24.0),
                        DVec3::new(3.0, 1.0, 2.0),
                    ],
                    [
                        DVec3::new(17.3, 1.1, 8.7),
                        DVec3::new(1.1, 17.3, 8.7),
                        DVec3::new(8.2, 9.2, 8.7),
                    ],
                ] {
                    let coord = |p: DVec3| Coord3D {
                        x: p.x,
                        y: p.y,
                        z: p.z,
                    };
                    let expected = orient3d(coord(a), coord(b), coord(c), coord(d));
                    assert_eq!(
                        is_right_handed(a, b, c, d),
                        expected < 0.0,
                        "{a} {b} {c} {d}"
                    );
                    signs[(1.0f64.copysign(expected) as i32 * i32::from(expected != 0.0) + 1)
                        as usize] += 1;
                }
            }
        }
    }
    assert!(signs.iter().all(|&n| n > 10), "{signs:?}");
}
