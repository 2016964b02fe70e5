//! The largest face of each tetrahedron.

use glam::DVec3;
use trioxide_kernel::{In, NONE, PREFETCHED_AHEAD, kernel};

use crate::ids::{FaceSide, Tet, Vertex};
use crate::point3::{Point3, Spatial};
use crate::tet_faces::corners_of;

/// Faces are compared by their area.
pub const BY_AREA: u32 = 0;
/// Faces are compared by the radius of the circle through their vertices.
pub const BY_CIRCUMRADIUS: u32 = 1;

/// A number that grows with the measure of a face, of vertices in ascending order of ids. It is never NaN: a measure beyond double
/// precision is infinite.
///
/// By area 4 A^2, the square of |(b - a) x (c - a)|. By circumradius 4 R^2 = (|ab| |bc| |ca|)^2 / (4 A^2), since R = |ab| |bc| |ca|
/// / 4A.
#[inline(always)]
fn measure(a: DVec3, b: DVec3, c: DVec3, by: u32) -> f64 {
    let (u, v) = (b - a, c - a);
    let x = u.y * v.z - u.z * v.y;
    let y = u.z * v.x - u.x * v.z;
    let z = u.x * v.y - u.y * v.x;
    let area = x * x + y * y + z * z;
    if by != BY_CIRCUMRADIUS {
        return area;
    }
    let w = c - b;
    let square = |d: DVec3| d.x * d.x + d.y * d.y + d.z * d.z;
    let radius = square(u) * square(v) * square(w) / area;
    if radius.is_nan() {
        f64::INFINITY
    } else {
        radius
    }
}

/// Whether each face of tetrahedron `t` is its largest: bit set `largest`, a bit for each side.
///
/// Of equal faces the one with the smaller id, its lower side, counts as larger: only then `twins` are read. Coordinates are those that
/// the device holds, and measures are in double precision.
#[kernel(
    P in Spatial,
    members = FaceSide,
    requires(tetrahedra.len() == 4 * n, twins.len() == 4 * n),
    moves(tetrahedra.bytes() + points.bytes() + 4 * words(4 * n))
)]
pub fn label_largest_faces<P: Point3>(
    t: Tet,
    tetrahedra: In<Vertex>,
    points: In<P>,
    twins: In<FaceSide>,
    by: u32,
) -> [bool; 4] {
    let ahead = 4 * t.index() + 4 * PREFETCHED_AHEAD;
    if cfg!(not(target_arch = "nvptx64")) && ahead + 3 < tetrahedra.len() {
        points.prefetch(tetrahedra.at(ahead));
        points.prefetch(tetrahedra.at(ahead + 1));
        points.prefetch(tetrahedra.at(ahead + 2));
        points.prefetch(tetrahedra.at(ahead + 3));
    }
    // Vertices with their places, ascending.
    let [a, b, c, d] = corners_of(tetrahedra, t);
    let with_place = |v: Vertex, place: u64| u64::from(v.index()) << 2 | place;
    let order = |x: u64, y: u64| (x.min(y), x.max(y));
    let (a, b) = order(with_place(a, 0), with_place(b, 1));
    let (c, d) = order(with_place(c, 2), with_place(d, 3));
    let (a, c) = order(a, c);
    let (b, d) = order(b, d);
    let (b, c) = order(b, c);
    let point = |v: u64| points.at(Vertex::new((v >> 2) as u32)).to_f64();
    let (p, q, r, s) = (point(a), point(b), point(c), point(d));
    // The face without each.
    let measures = [
        measure(q, r, s, by),
        measure(p, r, s, by),
        measure(p, q, s, by),
        measure(p, q, r, by),
    ];
    let places = [a, b, c, d].map(|v| (v & 3) as u32);
    let is_largest = |k: usize| {
        measures[k] >= measures[(k + 1) % 4]
            && measures[k] >= measures[(k + 2) % 4]
            && measures[k] >= measures[(k + 3) % 4]
    };
    let largest = [is_largest(0), is_largest(1), is_largest(2), is_largest(3)];
    let count = largest[0] as u32 + largest[1] as u32 + largest[2] as u32 + largest[3] as u32;
    let mut first = NONE;
    let mut best = 0;
    let mut offer = |k: usize| {
        if !largest[k] {
            return;
        }
        let side = FaceSide::of(t, places[k]);
        let id = if count == 1 {
            0
        } else {
            side.min(twins.at(side)).index()
        };
        if id < first {
            (first, best) = (id, places[k]);
        }
    };
    offer(0);
    offer(1);
    offer(2);
    offer(3);
    [best == 0, best == 1, best == 2, best == 3]
}
