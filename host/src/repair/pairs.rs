//! Pairs of the sides of crowded edges.
//!
//! It runs on the host: such edges are few, and the sides of one are sorted and matched one after the other.

use glam::DVec3;
use trioxide_kernel::NONE;

/// Pairs sides: the number of edges, and the side that each one is linked to, or `NONE`. `sides` lists all
/// crowded edges, the sides of an edge one after the other in ascending order.
pub(super) fn pair(
    sides: &[u32],
    faces: &[[u32; 3]],
    point: impl Fn(u32) -> DVec3,
) -> (u64, Vec<u32>) {
    let mut links = vec![NONE; sides.len()];
    let (mut edges, mut begin) = (0, 0);
    for group in sides.chunk_by(|&a, &b| edge(faces, a) == edge(faces, b)) {
        let pairs = match_around(&around(group, faces, &point));
        for [a, b] in pairs {
            // The later one is linked to the earlier one.
            links[begin + a.max(b)] = group[a.min(b)];
        }
        begin += group.len();
        edges += 1;
    }
    (edges, links)
}

/// The corners of a side: its origin, its target and the third one.
fn corners(faces: &[[u32; 3]], side: u32) -> [u32; 3] {
    let [a, b, c] = faces[side as usize / 3];
    match side % 3 {
        0 => [a, b, c],
        1 => [b, c, a],
        _ => [c, a, b],
    }
}

fn edge(faces: &[[u32; 3]], side: u32) -> [u32; 2] {
    let [a, b, _] = corners(faces, side);
    super::sorted([a, b])
}

/// The places of an edge's sides in the order around it, each with whether it opens a wedge of the inside.
fn around(group: &[u32], faces: &[[u32; 3]], point: &impl Fn(u32) -> DVec3) -> Vec<(usize, bool)> {
    let [low, high] = edge(faces, group[0]);
    let base = point(low);
    let along = point(high) - base;
    let third = |side: u32| point(corners(faces, side)[2]) - base;
    let ahead = along.cross(third(group[0]));
    let start = ahead.cross(along);
    let mut places: Vec<(f64, usize, bool)> = group
        .iter()
        .enumerate()
        .map(|(i, &side)| {
            let to = third(side);
            let angle = match i {
                0 => 0.0,
                _ => pseudo_angle(to.dot(start), to.dot(ahead)),
            };
            (angle, i, corners(faces, side)[0] == high)
        })
        .collect();
    places.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    places.into_iter().map(|(_, i, opens)| (i, opens)).collect()
}

/// A number from 0 to 4 that ascends with the angle of (x, y), also where the axes have different units; 0 of (0, 0).
fn pseudo_angle(x: f64, y: f64) -> f64 {
    let sum = x.abs() + y.abs();
    if !(sum > 0.0 && sum.is_finite()) {
        return 0.0;
    }
    match (x >= 0.0, y >= 0.0) {
        (true, true) => y / sum,
        (false, true) => 1.0 - x / sum,
        (false, false) => 2.0 - y / sum,
        (true, false) => 3.0 + x / sum,
    }
}

/// Matches sides that open with sides that close, as parentheses around a circle.
fn match_around(places: &[(usize, bool)]) -> Vec<[usize; 2]> {
    let mut open = Vec::new();
    let mut is_matched = vec![false; places.len()];
    let mut pairs = Vec::new();
    // In the second round, wedges at the beginning meet the ones that opened at the end.
    for round in 0..2 {
        for (k, &(place, opens)) in places.iter().enumerate() {
            if opens && round == 0 {
                open.push(place);
            } else if !opens
                && !is_matched[k]
                && let Some(other) = open.pop()
            {
                is_matched[k] = true;
                pairs.push([other, place]);
            }
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn angles_ascend_around_the_circle() {
        let points = [
            (1, 0),
            (3, 1),
            (0, 1),
            (-1, 5),
            (-1, 0),
            (-2, -1),
            (0, -1),
            (2, -1),
        ];
        let angles = points.map(|(x, y)| pseudo_angle(f64::from(x), f64::from(y)));
        assert!(angles.is_sorted_by(|a, b| a < b), "{angles:?}");
    }

    #[test]
    fn parentheses_match_around_the_circle() {
        let matched = |opens: &[bool]| {
            let places: Vec<_> = opens.iter().copied().enumerate().collect();
            match_around(&places)
        };
        assert_eq!(matched(&[true, false, true, false]), [[0, 1], [2, 3]]);
        assert_eq!(matched(&[false, true, false, true]), [[1, 2], [3, 0]]);
        assert_eq!(matched(&[true, true, false, false]), [[1, 2], [0, 3]]);
        assert_eq!(matched(&[true, false, false]), [[0, 1]]);
        assert_eq!(matched(&[true, true]), [[0usize; 2]; 0]);
    }
}
