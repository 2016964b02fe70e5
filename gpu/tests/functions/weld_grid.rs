use gpu::ids::Vertex;
use gpu::weld::{FLOORED, Site, far_steps, floor};

#[test]
fn floors_are_those_of_conversions() {
    let below = FLOORED.next_down();
    let fractions = [
        0.0,
        -0.0,
        0.5,
        1.0,
        1.5,
        255.999,
        4e9,
        1e-300,
        1e15 + 0.5,
        below,
    ];
    for t in fractions.into_iter().flat_map(|t| [t, -t]) {
        let towards_zero = t as i64;
        let expected = (towards_zero - i64::from(towards_zero as f64 > t)) as u32;
        assert_eq!(floor(t), expected, "{t}");
        assert_eq!(far_steps(t), expected, "{t}");
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn four_sites_are_seen_as_they_are_one_by_one() {
    let site = |i: u32| Site {
        place: i.wrapping_mul(0x9E37_79B9) >> 2,
        id: Vertex::new(i),
    };
    let corners = [-128i32, -1, 0, 300, 1023, 1151].map(|way| way as u32);
    let mut seen = [0; 2];
    for i in 0..6000 {
        let four = [0, 1, 2, 3].map(|k| site(4 * i + k));
        let corner = [1, 7, 31].map(|k| corners[(i / k % 6) as usize]);
        let bound = 1 << (i % 23);
        let near = Site::which_may_be_near(four, corner, bound);
        for (k, site) in four.into_iter().enumerate() {
            let is_near = site.may_be_near(corner, bound);
            assert_eq!(near >> k & 1 != 0, is_near, "{i} {k}");
            seen[usize::from(is_near)] += 1;
        }
    }
    assert!(seen[0] > 1000 && seen[1] > 1000, "{seen:?}");
}
