//! Quadrics and marks of the vertices of the input.

use bytemuck::Zeroable;
use glam::DVec3;
use trioxide_kernel::{Bits, In, Out, kernel};

use super::fans::{Corners, Fans, MOST_IN_FAN, mark};
use super::quadric::Quadric;
use super::sites::Site;
use crate::ids::Vertex;
use crate::smooth::root;

/// How much more a plane along the boundary weighs than a square of the edge's length.
const BORDER_WEIGHT: f64 = 10.0;

/// Writes the position of vertex `v` in units of `unit`, its quadric and its marks.
///
/// The quadric has the planes of its triangles, weighted by area, and for each edge of the boundary the plane through
/// it that is perpendicular to the triangle. `locked` are vertices to lock, or empty. Vertices where `regions` of
/// triangles (or none) meet are locked too.
#[kernel(
    requires(
        fans.spans.len() == n,
        points.len() == n,
        regions.is_empty() || 3 * regions.len() == fans.starts.len(),
        locked.is_empty() || locked.len() == words(n),
        sites.len() == n
    ),
    moves(fans.bytes() + points.bytes() + regions.bytes() + locked.bytes() + sites.bytes())
)]
pub fn measure_vertices(
    v: Vertex,
    fans: Fans,
    points: In<DVec3>,
    unit: f64,
    regions: In<i32>,
    locked: In<Bits<Vertex>>,
    sites: Out<Site>,
) {
    let point = |v: Vertex| points.at(v) * unit;
    let here = point(v);
    let mut quadric = Quadric::zeroed();
    let mut count = 0;
    let mut marked = 0;
    let mut region = 0;
    fans.all(v, |h, b, c| {
        let normal = (point(b) - here).cross(point(c) - here);
        let length = root(normal.dot(normal));
        if length > 0.0 {
            quadric.add_plane(normal, 0.5 / length);
            quadric.area += 0.5 * length;
        }
        if !regions.is_empty() {
            let own = regions.at(h.triangle());
            if count > 0 && own != region {
                marked |= mark::LOCKED;
            }
            region = own;
        }
        count += 1;
        true
    });
    if !locked.is_empty() && locked.bit(v) {
        marked |= mark::LOCKED;
    }
    if count > MOST_IN_FAN {
        marked |= mark::APART;
    } else {
        let mut add = |normal: DVec3, along: DVec3| {
            let plane = along.cross(normal);
            let square = plane.dot(plane);
            if square > 0.0 {
                quadric.add_plane(plane, BORDER_WEIGHT * along.dot(along) / square);
            }
        };
        // The last edge waits for the next one: both lead to one place at the end of a seam, which has no direction.
        let (mut waits, mut normal, mut along) = (false, DVec3::ZERO, DVec3::ZERO);
        marked |= fan_of(&fans, v, count, point, |of_next, next| {
            let is_seam = waits && along == next;
            if waits && !is_seam {
                add(normal, along);
            }
            (waits, normal, along) = (!is_seam, of_next, next);
        });
        if waits {
            add(normal, along);
        }
    }
    sites.set(
        v,
        Site {
            at: here,
            quadric,
            marks: marked,
            padding: [0; 3],
        },
    );
}

/// The marks of a vertex by its `count` triangles. Calls `border` with the normal of the triangle and the vector along
/// each edge of the boundary.
///
/// A triangle follows another around the vertex if it starts where that one ends. The triangles are a single fan if
/// none has two that follow it, at most one has none, and a walk from the first (the one that follows none, or any)
/// passes all.
#[inline(always)]
pub(super) fn fan_of(
    fans: &Fans,
    v: Vertex,
    count: u32,
    point: impl Fn(Vertex) -> DVec3,
    mut border: impl FnMut(DVec3, DVec3),
) -> u32 {
    // Most vertices have a closed fan. A walk that comes back first after as many steps as there are triangles has
    // passed each of them, and no two start at one vertex.
    let mut first = Vertex::NONE;
    fans.all(v, |_, b, _| {
        first = b;
        false
    });
    if first.is_none() || walked(fans, v, first, count) == (count, true) {
        return 0;
    }
    let here = point(v);
    let mut start = Vertex::NONE;
    let (mut starts, mut ends, mut is_apart) = (0, 0, false);
    fans.all(v, |_, b, c| {
        let (mut before, mut after, mut same) = (0, 0, 0);
        fans.all(v, |_, p, q| {
            before += u32::from(q == b);
            after += u32::from(p == c);
            same += u32::from(p == b);
            true
        });
        is_apart |= before > 1 || after > 1 || same > 1;
        let normal = (point(b) - here).cross(point(c) - here);
        if before == 0 || start.is_none() {
            start = b;
        }
        if before == 0 {
            starts += 1;
            border(normal, point(b) - here);
        }
        if after == 0 {
            ends += 1;
            border(normal, point(c) - here);
        }
        true
    });
    is_apart |= starts > 1 || ends > 1 || starts != ends;
    if !is_apart {
        is_apart = walked(fans, v, start, count).0 != count;
    }
    let border_mark = if starts > 0 { mark::BORDER } else { 0 };
    border_mark | if is_apart { mark::APART } else { 0 }
}

/// Number of triangles on a walk around vertex `v` from the one that starts at `start`, `most` at most, and whether it
/// comes back there.
#[inline(always)]
fn walked(fans: &Fans, v: Vertex, start: Vertex, most: u32) -> (u32, bool) {
    let mut at = start;
    let mut steps = 0;
    while steps < most {
        let mut end = Vertex::NONE;
        fans.all(v, |_, b, c| {
            if b == at {
                end = c;
            }
            end.is_none()
        });
        if end.is_none() {
            return (steps, false);
        }
        steps += 1;
        if end == start {
            return (steps, true);
        }
        at = end;
    }
    (steps, false)
}
