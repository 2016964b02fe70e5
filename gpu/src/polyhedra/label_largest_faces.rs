//! The largest face of each tetrahedron.

use glam::DVec3;
use trioxide_kernel::safe::{In, Own};
use trioxide_kernel::{Each, NONE, PREFETCHED_AHEAD, kernel};

use crate::ids::{FaceSide, Tet, Vertex};
use crate::point3::{Point3, Spatial};
use crate::tet_faces::corners_of;

/// 4 A^2 of a triangle with its vertices in ascending order of ids. It is never NaN; on overflow it is infinite.
#[inline(always)]
fn double_area_squared(a: DVec3, b: DVec3, c: DVec3) -> f64 {
    let (u, v) = (b - a, c - a);
    let x = u.y * v.z - u.z * v.y;
    let y = u.z * v.x - u.x * v.z;
    let z = u.x * v.y - u.y * v.x;
    x * x + y * y + z * z
}

/// 4 R^2 = (|ab| |bc| |ca|)^2 / (4 A^2), since R = |ab| |bc| |ca| / 4A. It is never NaN; on overflow it is infinite.
#[inline(always)]
fn diameter_squared(a: DVec3, b: DVec3, c: DVec3) -> f64 {
    let square = |d: DVec3| d.x * d.x + d.y * d.y + d.z * d.z;
    let sides = square(b - a) * square(c - a) * square(c - b);
    let diameter = sides / double_area_squared(a, b, c);
    if diameter.is_nan() {
        f64::INFINITY
    } else {
        diameter
    }
}

/// Whether each face of tetrahedron `t` has the largest measure of its four. The measure is never NaN.
#[inline(always)]
fn label<P: Point3>(
    t: Own<Tet>,
    tetrahedra: In<Vertex, FaceSide>,
    points: In<P, Vertex>,
    twins: In<FaceSide, FaceSide>,
    measure: impl Fn(DVec3, DVec3, DVec3) -> f64,
) -> [bool; 4] {
    let ahead = 4 * t.index() + 4 * PREFETCHED_AHEAD;
    if cfg!(not(target_arch = "nvptx64")) && ahead + 3 < tetrahedra.len() {
        for v in tetrahedra.quad(FaceSide::new(ahead)) {
            points.prefetch(v);
        }
    }
    // Vertices with their places, ascending.
    let [a, b, c, d] = corners_of(tetrahedra, *t);
    let with_place = |v: Vertex, place: u64| u64::from(v.index()) << 2 | place;
    let order = |x: u64, y: u64| (x.min(y), x.max(y));
    let (a, b) = order(with_place(a, 0), with_place(b, 1));
    let (c, d) = order(with_place(c, 2), with_place(d, 3));
    let (a, c) = order(a, c);
    let (b, d) = order(b, d);
    let (b, c) = order(b, c);
    let vertices = [a, b, c, d].each(|v| Vertex::new((v >> 2) as u32));
    let [p, q, r, s] = points.at_all(vertices).each(P::to_f64);
    // The face opposite to each vertex.
    let measures = [
        measure(q, r, s),
        measure(p, r, s),
        measure(p, q, s),
        measure(p, q, r),
    ];
    let larger = |x: f64, y: f64| if x < y { y } else { x };
    let top = larger(
        larger(measures[0], measures[1]),
        larger(measures[2], measures[3]),
    );
    let is_top = |k: usize| measures[k] == top;
    let largest = [is_top(0), is_top(1), is_top(2), is_top(3)];
    let count = largest[0] as u32 + largest[1] as u32 + largest[2] as u32 + largest[3] as u32;
    let places = [a, b, c, d].each(|v| (v & 3) as u32);
    let mut first = NONE;
    let mut best = 0;
    let mut offer = |k: usize| {
        if !largest[k] {
            return;
        }
        let side = FaceSide::of(*t, places[k]);
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

/// Whether each face of tetrahedron `t` is its largest by area: bit set `largest`, a bit for each side.
///
/// Of equal faces the one with the smaller id, its lower side, counts as larger: only then `twins` are read.
/// Coordinates are in the device's precision, and measures in double precision. Areas are compared by 4 A^2, the square
/// of |(b - a) x (c - a)|.
#[kernel(
    P in Spatial,
    members = FaceSide,
    requires(tetrahedra.len() == 4 * n, twins.len() == 4 * n),
    moves(tetrahedra.bytes() + points.bytes() + 4 * words(4 * n)), trusted
)]
pub fn label_largest_faces<P: Point3>(
    t: Own<Tet>,
    tetrahedra: In<Vertex, FaceSide>,
    points: In<P, Vertex>,
    twins: In<FaceSide, FaceSide>,
) -> [bool; 4] {
    label(t, tetrahedra, points, twins, double_area_squared)
}

/// As [`label_largest_faces()`], by the radius of the circle through a face's vertices. It is a kernel of its own: its
/// registers would halve the threads that run at once for the area.
#[kernel(
    P in Spatial,
    members = FaceSide,
    requires(tetrahedra.len() == 4 * n, twins.len() == 4 * n),
    moves(tetrahedra.bytes() + points.bytes() + 4 * words(4 * n)), trusted
)]
pub fn label_widest_faces<P: Point3>(
    t: Own<Tet>,
    tetrahedra: In<Vertex, FaceSide>,
    points: In<P, Vertex>,
    twins: In<FaceSide, FaceSide>,
) -> [bool; 4] {
    label(t, tetrahedra, points, twins, diameter_squared)
}
