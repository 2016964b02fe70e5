//! Pairs of the sides of crowded edges.
//!
//! It runs on the host: such edges are few, and the sides of one are sorted and matched one after the other.

use std::cmp::Ordering;
use std::collections::HashMap;

use glam::DVec3;
use trioxide_kernel::NONE;

use super::exact::{side_of, turn};
use super::orient::Joined;

/// Patches of faces, joined across the edges of two sides, and joined further by pairs.
struct Patches<'a> {
    of_faces: &'a Joined,
    /// A lower patch that each one is joined to, and whether one of both is turned for it. A patch is its lowest face.
    parents: HashMap<u32, (u32, bool)>,
}

impl Patches<'_> {
    /// The lowest patch that the patch of a face is joined to, and whether one of both is turned for it.
    fn root(&mut self, face: u32) -> (u32, bool) {
        let (mut patch, mut is_turned) = (self.of_faces.root(face as usize) as u32, false);
        while let Some(&(parent, mut turns)) = self.parents.get(&patch) {
            let mut above = parent;
            if let Some(&(grand, more)) = self.parents.get(&parent) {
                (above, turns) = (grand, turns ^ more);
                self.parents.insert(patch, (above, turns));
            }
            is_turned ^= turns;
            patch = above;
        }
        (patch, is_turned)
    }

    /// Whether two sides, which run the same way or not, can be a pair of an oriented surface.
    fn fit(&mut self, a: &Around, b: &Around) -> bool {
        let ((one, x), (other, y)) = (self.root(a.face), self.root(b.face));
        one != other || (a.opens ^ x) != (b.opens ^ y) || self.of_faces.is_one_sided(one as usize)
    }

    fn join(&mut self, a: &Around, b: &Around) {
        let ((one, x), (other, y)) = (self.root(a.face), self.root(b.face));
        if one != other {
            let turns = (a.opens ^ x) == (b.opens ^ y);
            self.parents.insert(one.max(other), (one.min(other), turns));
        }
    }
}

/// A side of a crowded edge.
#[derive(Clone, Copy)]
struct Around {
    /// Its place among the sides of the edge.
    place: usize,
    face: u32,
    /// Whether it opens a wedge of the inside, as the majority of its patch is oriented.
    opens: bool,
}

/// Pairs sides: the number of edges, and the side that each one is linked to, or `NONE`. `sides` lists all crowded
/// edges, the sides of an edge one after the other in ascending order. Wedges of the outside are paired if
/// `is_outside`.
pub(super) fn pair(
    sides: &[u32],
    faces: &[[u32; 3]],
    point: impl Fn(u32) -> DVec3,
    joined: &Joined,
    is_outside: bool,
) -> (u64, Vec<u32>) {
    let mut links = vec![NONE; sides.len()];
    let (mut edges, mut begin) = (0, 0);
    let mut patches = Patches {
        of_faces: joined,
        parents: HashMap::new(),
    };
    for group in sides.chunk_by(|&a, &b| edge(faces, a) == edge(faces, b)) {
        let high = edge(faces, group[0])[1];
        let around = order_around(group, faces, &point).into_iter().map(|place| {
            let (side, face) = (group[place], group[place] / 3);
            let opens =
                (corners(faces, side)[0] == high) ^ joined.is_turned(face as usize) ^ is_outside;
            Around { place, face, opens }
        });
        for [a, b] in match_sides(around.collect(), &mut patches) {
            // The later one is linked to the earlier one.
            links[begin + a.max(b)] = group[a.min(b)];
        }
        begin += group.len();
        edges += 1;
    }
    (edges, links)
}

/// Pairs the sides of an edge, in the order around it: first within each patch, then sides that open with sides that
/// close, then any two that can be oriented.
fn match_sides(mut left: Vec<Around>, patches: &mut Patches) -> Vec<[usize; 2]> {
    let mut pairs = Vec::new();
    for rule in [Rule::Within, Rule::Wedges, Rule::Any] {
        let is_matched = match_around(&left, rule, patches, &mut pairs);
        let mut is_matched = is_matched.into_iter();
        left.retain(|_| is_matched.next() == Some(false));
    }
    pairs
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

/// The places of an edge's sides in the order around it, by exact angles from the first side on.
fn order_around(group: &[u32], faces: &[[u32; 3]], point: &impl Fn(u32) -> DVec3) -> Vec<usize> {
    let axis = edge(faces, group[0]).map(point);
    let thirds = group.iter().map(|&side| point(corners(faces, side)[2]));
    let thirds: Vec<DVec3> = thirds.collect();
    let quarter = |third: &DVec3| angle_class(axis, thirds[0], *third);
    let classes: Vec<u8> = thirds.iter().map(quarter).collect();
    let mut order: Vec<usize> = (0..group.len()).collect();
    order.sort_by(|&i, &j| {
        let by_angle = || match classes[i] % 2 {
            // Half of the space: the triangle of the lower angle comes first.
            1 => ahead(axis, thirds[j], thirds[i]).cmp(&0),
            _ => Ordering::Equal,
        };
        classes[i]
            .cmp(&classes[j])
            .then_with(by_angle)
            .then(i.cmp(&j))
    });
    order
}

/// 1 if `to` is ahead of the half-plane of `from` around an axis by less than half a turn, -1 if it is ahead of `to`,
/// else 0.
fn ahead([low, high]: [DVec3; 2], from: DVec3, to: DVec3) -> i32 {
    // The volume of low, high, from, to.
    side_of([low, from, high], to)
}

/// 0 for the direction of `first` around the axis, 1 up to half a turn, 2 for half a turn, 3 beyond it. A point on the
/// axis has no direction: 0.
fn angle_class(axis @ [low, high]: [DVec3; 2], first: DVec3, to: DVec3) -> u8 {
    match ahead(axis, first, to) {
        1 => 1,
        -1 => 3,
        _ => {
            // In one plane with the axis: on one side of it or on both, as each shadow shows that is no line.
            let is_opposite = (0..3).any(|k| {
                let shadow = |p: DVec3| DVec3::new(p[(k + 1) % 3], p[(k + 2) % 3], 0.0);
                let side = |p: DVec3| turn(&[low, high, p].map(shadow));
                side(first) * side(to) < 0
            });
            if is_opposite { 2 } else { 0 }
        }
    }
}

/// Which sides may be a pair.
#[derive(Clone, Copy, PartialEq)]
enum Rule {
    /// Two of a patch that enclose a wedge.
    Within,
    /// Two that enclose a wedge.
    Wedges,
    /// Any two.
    Any,
}

/// Sides before one among which its pair is looked for, so that thousands at one edge take no square of the time.
const NEAR: usize = 64;

/// Matches sides, as parentheses around a circle: one with the last one before it that may be its pair. Returns which
/// sides are in a pair.
fn match_around(
    around: &[Around],
    rule: Rule,
    patches: &mut Patches,
    pairs: &mut Vec<[usize; 2]>,
) -> Vec<bool> {
    let mut open: Vec<usize> = Vec::new();
    let mut is_matched = vec![false; around.len()];
    // In the second round, wedges at the beginning meet the ones that opened at the end.
    for round in 0..2 {
        for (k, side) in around.iter().enumerate() {
            if is_matched[k] {
                continue;
            }
            let may_pair = |&i: &usize| {
                let other = &around[i];
                let is_wedge = other.opens && !side.opens;
                let is_allowed = match rule {
                    Rule::Within => {
                        is_wedge && patches.root(other.face).0 == patches.root(side.face).0
                    }
                    Rule::Wedges => is_wedge,
                    Rule::Any => i != k,
                };
                is_allowed && !is_matched[i] && patches.fit(other, side)
            };
            let first = open.len().saturating_sub(NEAR);
            if let Some(at) = open[first..].iter().rposition(may_pair) {
                let other = open.remove(first + at);
                patches.join(&around[other], side);
                (is_matched[k], is_matched[other]) = (true, true);
                pairs.push([around[other].place, side.place]);
            } else if round == 0 {
                open.push(k);
            }
        }
    }
    is_matched
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn angles_ascend_around_the_circle() {
        // The axis runs upwards; x by a number that is not exact.
        let around = [
            (1, 0),
            (3, 1),
            (0, 1),
            (-1, 5),
            (-1, 0),
            (-2, -1),
            (0, -1),
            (2, -1),
        ];
        let at = |i: usize| around[(i * 5) % 8];
        let mut points = vec![DVec3::ZERO, DVec3::Z * 0.1];
        points.extend((0..8).map(|i| {
            DVec3::new(
                f64::from(at(i).0) * 0.1,
                f64::from(at(i).1) * 0.7,
                0.3 * i as f64,
            )
        }));
        let faces: Vec<[u32; 3]> = (0..8).map(|i| [0, 1, 2 + i]).collect();
        let sides: Vec<u32> = (0..8).map(|i| 3 * i).collect();
        let order = order_around(&sides, &faces, &|v| points[v as usize]);
        let order: Vec<usize> = order.into_iter().map(|i| (i * 5) % 8).collect();
        assert_eq!(order, [0, 1, 2, 3, 4, 5, 6, 7]);
    }

    #[test]
    fn parentheses_match_around_the_circle() {
        // Each side of a patch of its own, or by the patches given.
        let matched = |opens: &[bool], of: &[u32]| {
            let labels = of.iter().flat_map(|&patch| [2 * patch, 2 * patch + 1]);
            let joined = Joined {
                labels: labels.collect(),
                turned: vec![0],
            };
            let mut patches = Patches {
                of_faces: &joined,
                parents: HashMap::new(),
            };
            let around = opens.iter().enumerate().map(|(place, &opens)| Around {
                place,
                face: place as u32,
                opens,
            });
            match_sides(around.collect(), &mut patches)
        };
        let alone = [0, 1, 2, 3];
        assert_eq!(
            matched(&[true, false, true, false], &alone),
            [[0, 1], [2, 3]]
        );
        assert_eq!(
            matched(&[false, true, false, true], &alone),
            [[1, 2], [3, 0]]
        );
        assert_eq!(
            matched(&[true, true, false, false], &alone),
            [[1, 2], [0, 3]]
        );
        assert_eq!(matched(&[true, false, false], &alone), [[0, 1]]);
        // Of different patches, one can be turned.
        assert_eq!(matched(&[true, true], &alone), [[0, 1]]);
        assert_eq!(matched(&[true, true], &[0, 0]), [[0usize; 2]; 0]);
        // Two bodies whose faces lie in the same planes.
        assert_eq!(
            matched(&[true, true, false, false], &[0, 1, 0, 1]),
            [[0, 2], [1, 3]]
        );
    }
}
