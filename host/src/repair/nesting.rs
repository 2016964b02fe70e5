//! Cavities: closed components inside an odd number of others. The head of [`gpu::repair`] defines them.

use std::collections::BTreeMap;

use glam::DVec3;

use super::exact::{side_of, turn};
use crate::mesh::{Faces, NONE};

/// A closed component with a volume.
pub(super) struct Body {
    pub component: u32,
    /// Whether its volume is positive, as its majority has it.
    pub is_outward: bool,
}

/// The outermost vertices of a body in the six directions of the axes: the lowest and the highest one by x, y, z. Of
/// several, the one met first.
#[derive(Clone, Copy)]
struct Ends {
    points: [DVec3; 6],
}

impl Ends {
    const NONE: Self = Self {
        points: [DVec3::NAN; 6],
    };

    fn add(&mut self, point: DVec3) {
        for axis in 0..3 {
            let [low, high] = [2 * axis, 2 * axis + 1];
            // NaN stands for no point yet.
            let replaces = |old: f64, is_beyond: bool| old.is_nan() || is_beyond;
            let [at_low, at_high] = [low, high].map(|side| self.points[side][axis]);
            if replaces(at_low, point[axis] < at_low) {
                self.points[low] = point;
            }
            if replaces(at_high, point[axis] > at_high) {
                self.points[high] = point;
            }
        }
    }

    fn low(&self) -> DVec3 {
        DVec3::new(self.points[0].x, self.points[2].y, self.points[4].z)
    }

    fn high(&self) -> DVec3 {
        DVec3::new(self.points[1].x, self.points[3].y, self.points[5].z)
    }

    fn is_within(&self, other: &Self) -> bool {
        other.low().cmple(self.low()).all() && self.high().cmple(other.high()).all()
    }
}

/// For each end of a body: whether it is on another one, and whether a ray from it leaves the other one.
#[derive(Clone, Copy, Default)]
struct Found {
    on: u8,
    inside: u8,
}

/// Whether each body is in an odd number of others.
pub(super) fn cavities(
    faces: &Faces,
    point: &impl Fn(u32) -> DVec3,
    of_face: &[u32],
    bodies: &[Body],
) -> Vec<bool> {
    let mut is_cavity = vec![false; bodies.len()];
    if bodies.len() < 2 {
        return is_cavity;
    }
    let last = of_face.iter().max().map_or(0, |&c| c as usize + 1);
    let mut body_of = vec![NONE; last];
    for (b, body) in (0..).zip(bodies) {
        body_of[body.component as usize] = b;
    }
    let body_of = |t: usize| body_of[of_face[t] as usize];
    let mut ends = vec![Ends::NONE; bodies.len()];
    for t in (0..faces.len()).filter(|&t| body_of(t) != NONE) {
        let of_body = &mut ends[body_of(t) as usize];
        faces.get(t).iter().for_each(|&v| of_body.add(point(v)));
    }
    // The ends of all bodies along x, to find those below a face.
    let all =
        (0..6 * bodies.len() as u32).map(|i| (ends[i as usize / 6].points[i as usize % 6], i));
    let mut all: Vec<(DVec3, u32)> = all.collect();
    all.sort_unstable_by(|a, b| a.0.x.total_cmp(&b.0.x).then(a.1.cmp(&b.1)));
    let mut found: BTreeMap<[u32; 2], Found> = BTreeMap::new();
    let mut corners = Vec::new();
    for t in (0..faces.len()).filter(|&t| body_of(t) != NONE) {
        let outer = body_of(t);
        corners.clear();
        corners.extend(faces.get(t).iter().map(|&v| point(v)));
        for_each_triangle(&corners, |triangle| {
            let low = triangle[0].min(triangle[1]).min(triangle[2]);
            let high = triangle[0].max(triangle[1]).max(triangle[2]);
            let first = all.partition_point(|end| end.0.x < low.x);
            for &(end, i) in all[first..].iter().take_while(|end| end.0.x <= high.x) {
                let inner = i / 6;
                let is_near = low.y <= end.y && end.y <= high.y && end.z <= high.z;
                if inner == outer
                    || !is_near
                    || !ends[inner as usize].is_within(&ends[outer as usize])
                {
                    continue;
                }
                let pair = found.entry([inner, outer]).or_default();
                let bit = 1 << (i % 6);
                if end.z >= low.z && is_on(triangle, end) {
                    pair.on |= bit;
                } else if is_below(triangle, end) {
                    pair.inside ^= bit;
                }
            }
        });
    }
    for ([inner, _], Found { on, inside }) in found {
        let is_inside = on | inside == 0b11_1111 && on != 0b11_1111;
        is_cavity[inner as usize] ^= is_inside;
    }
    is_cavity
}

/// Whether a point in the box of a triangle is in the triangle: in its plane, and in its shadow along each axis.
fn is_on(triangle: [DVec3; 3], point: DVec3) -> bool {
    let along = |axis: usize| {
        let shadow = |p: DVec3| DVec3::new(p[(axis + 1) % 3], p[(axis + 2) % 3], 0.0);
        let [a, b, c] = triangle.map(shadow);
        let p = shadow(point);
        let turns = [turn(&[a, b, p]), turn(&[b, c, p]), turn(&[c, a, p])];
        !(turns.contains(&1) && turns.contains(&-1))
    };
    side_of(triangle, point) == 0 && (0..3).all(along)
}

/// Whether a point that is not on a triangle is below it: the ray upwards meets it. The ray is moved by (e, e², 0) with
/// an infinitely small e, so it meets no edge and no vertex.
fn is_below(triangle: [DVec3; 3], point: DVec3) -> bool {
    let [a, b, c] = triangle;
    let ways = [[a, b], [b, c], [c, a]].map(|[from, to]| match turn(&[from, to, point]) {
        0 => {
            let sign = |x: f64, y: f64| i32::from(x > y) - i32::from(x < y);
            match sign(from.y, to.y) {
                0 => sign(to.x, from.x),
                way => way,
            }
        }
        way => way,
    });
    let is_over = ways[0] != 0 && ways == [ways[0]; 3];
    is_over && side_of(triangle, point) == ways[0]
}

/// The triangles of a face, from its first corner.
pub(super) fn for_each_triangle(corners: &[DVec3], mut visit: impl FnMut([DVec3; 3])) {
    for pair in corners.get(1..).unwrap_or_default().windows(2) {
        visit([corners[0], pair[0], pair[1]]);
    }
}
