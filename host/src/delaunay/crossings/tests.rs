//! Crossings against fractions.

use num_bigint::BigInt;

use super::*;

/// The sign of an orientation of points with whole coordinates.
fn side([a, b, c]: [[i64; 2]; 3]) -> i64 {
    ((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])).signum()
}

/// The number of pairs of segments that cross at no point of the list, by whole numbers and fractions.
fn count(points: &[[i64; 2]], segments: &[[u32; 2]]) -> usize {
    let at = |v: u32| points[v as usize];
    let crosses = |[a, b]: [u32; 2], [c, d]: [u32; 2]| {
        let [a, b, c, d] = [a, b, c, d].map(at);
        let is_parted = |a, b, c, d| side([a, b, c]) * side([a, b, d]) < 0;
        let is_at = |p: &[i64; 2]| side([a, b, *p]) == 0 && side([c, d, *p]) == 0;
        is_parted(a, b, c, d) && is_parted(c, d, a, b) && !points.iter().any(is_at)
    };
    let pairs = (0..segments.len()).flat_map(|i| (0..i).map(move |j| (i, j)));
    pairs
        .filter(|&(i, j)| crosses(segments[i], segments[j]))
        .count()
}

/// Checks a result: no two pieces cross, and each segment's pieces lead from its start to its end.
fn check(points: &[DVec2], segments: &[[u32; 2]], resolved: &Resolved) {
    let all: Vec<DVec2> = points
        .iter()
        .copied()
        .chain(resolved.added.iter().map(|v| v.point))
        .collect();
    let of = |&[a, b]: &[u32; 2]| [a, b].map(|v: u32| all[v as usize]);
    for (i, one) in resolved.pieces.iter().enumerate() {
        for other in &resolved.pieces[..i] {
            let ([a, b], [c, d]) = (of(one), of(other));
            let parts = |a: DVec2, b: DVec2, c: DVec2, d: DVec2| {
                orientation(a, b, c) * orientation(a, b, d) < 0
            };
            assert!(
                !(parts(a, b, c, d) && parts(c, d, a, b)),
                "{one:?} crosses {other:?}"
            );
        }
    }
    for (segment, i) in segments.iter().zip(0..) {
        let own: Vec<[u32; 2]> = (0..resolved.pieces.len())
            .filter(|&k| resolved.parents[k] == i)
            .map(|k| resolved.pieces[k])
            .collect();
        assert!(
            own.windows(2).all(|pair| pair[0][1] == pair[1][0]),
            "{own:?}"
        );
        assert_eq!([own[0][0], own[own.len() - 1][1]], *segment);
    }
    assert!(resolved.parents.is_sorted());
    let places: std::collections::HashSet<_> = all.iter().map(|&p| Places::key(p)).collect();
    assert_eq!(
        places.len() + points.len(),
        Places::of(points).firsts.len() + all.len(),
        "a place twice"
    );
}

/// A random number below `n`.
fn below(state: &mut u64, n: u64) -> u64 {
    *state = state
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) % n
}

#[test]
fn small_lattices_have_the_crossings_of_fractions() {
    let mut state = 1;
    let mut total = 0;
    for _ in 0..400 {
        let n = 4 + below(&mut state, 5) as u32;
        let points: Vec<[i64; 2]> = (0..n)
            .map(|_| [0, 0].map(|_| below(&mut state, 6) as i64))
            .collect();
        let mut segment = || [0, 0].map(|_| below(&mut state, n.into()) as u32);
        let segments: Vec<[u32; 2]> = (0..7).map(|_| segment()).filter(|s| s[0] != s[1]).collect();
        let floats: Vec<DVec2> = points
            .iter()
            .map(|p| DVec2::new(p[0] as f64, p[1] as f64))
            .collect();
        let expected = count(&points, &segments);
        let found = find(&floats, &segments, 3);
        assert_eq!(
            (found.count, found.first.len()),
            (Some(expected), expected.min(3)),
            "{points:?} {segments:?}"
        );
        let resolved = resolve(&floats, &segments).unwrap();
        assert_eq!(resolved.crossings, expected);
        check(&floats, &segments, &resolved);
        total += expected;
    }
    assert!(total > 300, "{total}");
}

#[test]
fn places_are_the_fractions_nearest_numbers() {
    let [a, b, c, d] = [[0.1, 0.2], [7.3, 5.9], [0.4, 6.1], [6.6, -0.3]].map(DVec2::from);
    let found = find(&[a, b, c, d], &[[0, 1], [3, 2]], 9);
    let [crossing] = found.first[..] else {
        panic!("{found:?}")
    };
    // In units of 2^-60, all numbers are whole.
    let whole = |x: f64| BigInt::from((x * 2f64.powi(60)) as i128);
    let [a, b, c, d] = [a, b, c, d].map(|p| [whole(p.x), whole(p.y)]);
    let minus = |p: &[BigInt; 2], q: &[BigInt; 2]| [&p[0] - &q[0], &p[1] - &q[1]];
    let cross = |u: &[BigInt; 2], v: &[BigInt; 2]| &u[0] * &v[1] - &u[1] * &v[0];
    let (u, v, w) = (minus(&b, &a), minus(&d, &c), minus(&c, &a));
    for (k, place) in [crossing.place.x, crossing.place.y].into_iter().enumerate() {
        // The distance of the crossing from a number, times the same number for all.
        let distance = |x: f64| {
            let aside = (&a[k] - whole(x)) * cross(&u, &v) + &u[k] * cross(&w, &v);
            aside.magnitude().clone()
        };
        assert!(distance(place) <= distance(place.next_up()));
        assert!(distance(place) <= distance(place.next_down()));
    }
}

#[test]
fn rounded_vertices_cross_nothing_else() {
    let mut state = 7;
    let mut added = 0;
    for case in 0..60 {
        // Long segments through few units in the last place: most crossings round to a place beside both.
        let scale = [1.0, f64::EPSILON, 1e-300, 1e290][case % 4];
        let offset = if case % 4 == 1 { 1.0 } else { 0.0 };
        let coordinate = |state: &mut u64, n| offset + below(state, n) as f64 * scale;
        let points: Vec<DVec2> = (0..24)
            .map(|_| DVec2::new(coordinate(&mut state, 40), coordinate(&mut state, 9)))
            .collect();
        let segments: Vec<[u32; 2]> = (0..12).map(|i| [2 * i, 2 * i + 1]).collect();
        let resolved = resolve(&points, &segments).unwrap();
        check(&points, &segments, &resolved);
        added += resolved.added.len();
    }
    assert!(added > 500, "{added}");
}

#[test]
fn without_new_vertices_it_ends_too() {
    let mut state = 3;
    for _ in 0..100 {
        let points: Vec<DVec2> = (0..16)
            .map(|_| DVec2::new(below(&mut state, 50) as f64, below(&mut state, 50) as f64))
            .collect();
        let segments: Vec<[u32; 2]> = (0..8).map(|i| [2 * i, 2 * i + 1]).collect();
        let resolved = resolve_from(&points, &segments, ROUNDS).unwrap();
        assert!(resolved.added.is_empty());
        check(&points, &segments, &resolved);
    }
}
