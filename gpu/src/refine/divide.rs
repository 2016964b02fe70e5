//! Step 7: new points, edges and triangles.
//!
//! With the ranks of step 6, the n-th divided side of all divides into triangle T + n, and the m-th owned one gives vertex V + m.
//! A side takes a new edge for its triangle's interior, and one more if it is owned: the slots of the n-th side, if m owned ones
//! lie before it, start at E + n + m.

use gpu_macros::kernel;

use super::reverse;
use crate::collective::Ranks;
use crate::half_edge::next;
use crate::point::Point2;
use crate::view::{In, NONE, Out};

/// Divides the owned edges of a triangle: first and second sub-step of section 4.4.
///
/// A divided edge e becomes edge n = `divisions[2e]`, from its midpoint to its end, and n + 1, from its start to its midpoint, which
/// is vertex `divisions[2e + 1]`. The new vertex's edge and its ends go to `parents` and `ends`, at `before` vertices.
/// `tags`, if not empty, pass to both parts. Beyond the boundary the new edges have no half-edge either.
///
/// The triangle is `i`, or that of half-edge `list[i]` if there is a list; of its half-edges the first in the list acts.
#[kernel(P(f32 = glam::Vec2, f64 = glam::DVec2))]
pub fn divide_edges<P: Point2>(
    i: u32,
    list: In<u32>,
    flags: In<u32>,
    flag_ranks: In<u32>,
    owned: In<u32>,
    owned_ranks: In<u32>,
    corners: In<u32>,
    sides: In<u32>,
    points: Out<P>,
    halves: Out<u32>,
    divisions: Out<u32>,
    parents: Out<u32>,
    ends: Out<u32>,
    tags: Out<u32>,
    vertices: u32,
    edges: u32,
    before: u32,
) {
    let Some(t) = acting(i, list) else { return };
    let owned = Ranks::new(owned, owned_ranks);
    let flags = Ranks::new(flags, flag_ranks);
    let mut h = 3 * t;
    while h < 3 * t + 3 {
        if owned.bit(h) {
            let e = sides.at(h) / 2;
            let rank = owned.rank(h);
            let slot = edges + flags.rank(h) + rank;
            let vertex = vertices + rank;
            let (a, b) = (corners.at(h), corners.at(next(h)));
            points.set(vertex, points.at(a).midpoint(points.at(b)));
            divisions.set(2 * e, slot);
            divisions.set(2 * e + 1, vertex);
            if halves.at(2 * e + 1) == NONE {
                halves.set(2 * slot + 1, NONE);
                halves.set(2 * slot + 3, NONE);
            }
            let new = before + rank;
            parents.set(new, e);
            ends.set(2 * new, a);
            ends.set(2 * new + 1, b);
            if !tags.is_empty() {
                let tag = tags.at(e);
                tags.set(slot, tag);
                tags.set(slot + 1, tag);
            }
        }
        h += 1;
    }
}

/// The triangle that index `i` works on, of all or of a list of half-edges; `None` if another index works on it.
#[inline(always)]
fn acting(i: u32, list: In<u32>) -> Option<u32> {
    if list.is_empty() {
        return Some(i);
    }
    let t = list.at(i) / 3;
    (i == 0 || list.at(i - 1) / 3 != t).then_some(t)
}

/// A triangle to write: vertices and sides.
type Piece = ([u32; 3], [u32; 3]);

/// Divides a triangle by the template for its divided sides (section 4.4, figure 4.4).
///
/// ```text
///            C
///          / | \          A, B: ends of the longest side, M its midpoint. N: midpoint of another divided side.
///      N  /  |  \         The longest side is divided first (I, from C to M), then the halves that have a
///        /  I|   \        divided side (J, from M to N). Interior edges run towards the divided edge.
///       / J  |    \
///      A --- M --- B
/// ```
///
/// The first piece takes the triangle's place: a half without a divided side, that of A before that of B; then come the two of A's
/// half, then the two of B's. `parents` gets the triangle that each new one is a part of, from `before` on.
#[kernel]
pub fn divide_triangles(
    i: u32,
    list: In<u32>,
    flags: In<u32>,
    flag_ranks: In<u32>,
    owned: In<u32>,
    owned_ranks: In<u32>,
    divisions: In<u32>,
    longest: In<u8>,
    corners: Out<u32>,
    sides: Out<u32>,
    halves: Out<u32>,
    parents: Out<u32>,
    tags: Out<u32>,
    triangles: u32,
    edges: u32,
    before: u32,
) {
    let Some(t) = acting(i, list) else { return };
    let ranks = Ranks::new(flags, flag_ranks);
    let (d0, d1, d2) = (ranks.bit(3 * t), ranks.bit(3 * t + 1), ranks.bit(3 * t + 2));
    if !(d0 | d1 | d2) {
        return;
    }
    let first = ranks.rank(3 * t);
    let first_owned = Ranks::new(owned, owned_ranks).rank(3 * t);
    // Bit j: local side j is divided; and owned.
    let divided = d0 as u32 | (d1 as u32) << 1 | (d2 as u32) << 2;
    let forward = |j: u32| sides.at(3 * t + j).is_multiple_of(2) as u32;
    let owned = divided & (forward(0) | forward(1) << 1 | forward(2) << 2);

    // The longest side, and the other two in the order of the triangle.
    let ab = u32::from(longest.at(t));
    let (bc, ca) = ((ab + 1) % 3, (ab + 2) % 3);
    let corner = |j: u32| corners.at(3 * t + j);
    let (a, b, c) = (corner(ab), corner(bc), corner(ca));
    let side = |j: u32| sides.at(3 * t + j);
    let (side_ab, side_bc, side_ca) = (side(ab), side(bc), side(ca));
    let division = |j: u32, side: u32| {
        let e = side / 2;
        let (slot, vertex) = (divisions.at(2 * e), divisions.at(2 * e + 1));
        // The halves in the triangle's direction, and the interior edge, towards the midpoint.
        if side.is_multiple_of(2) {
            Division {
                first: 2 * (slot + 1),
                second: 2 * slot,
                interior: side,
                midpoint: vertex,
            }
        } else {
            let below = (1 << j) - 1;
            let n = first + (divided & below).count_ones();
            let m = first_owned + (owned & below).count_ones();
            Division {
                first: 2 * slot + 1,
                second: 2 * (slot + 1) + 1,
                interior: 2 * (edges + n + m),
                midpoint: vertex,
            }
        }
    };
    let untag = |division: &Division| {
        if !tags.is_empty() {
            tags.set(division.interior / 2, 0);
        }
    };

    let mut pieces = 0;
    let mut write = |(vertices, borders): Piece| {
        let place = if pieces == 0 {
            t
        } else {
            let new = first + pieces - 1;
            parents.set(before + new, t);
            triangles + new
        };
        let mut k = 0;
        while k < 3 {
            let h = 3 * place + k;
            corners.set(h, vertices[k as usize]);
            sides.set(h, borders[k as usize]);
            halves.set(borders[k as usize], h);
            k += 1;
        }
        pieces += 1;
    };

    let halved = division(ab, side_ab);
    untag(&halved);
    let (m, to_m) = (halved.midpoint, halved.interior);
    let at_ca = divided >> ca & 1 != 0;
    let at_bc = divided >> bc & 1 != 0;
    if !at_ca {
        write(([m, c, a], [reverse(to_m), side_ca, halved.first]));
    }
    if !at_bc {
        write(([c, m, b], [to_m, halved.second, side_bc]));
    }
    if at_ca {
        let d = division(ca, side_ca);
        untag(&d);
        let (n, to_n) = (d.midpoint, d.interior);
        write(([m, n, a], [to_n, d.second, halved.first]));
        write(([n, m, c], [reverse(to_n), reverse(to_m), d.first]));
    }
    if at_bc {
        let d = division(bc, side_bc);
        untag(&d);
        let (n, to_n) = (d.midpoint, d.interior);
        write(([m, n, c], [to_n, d.second, to_m]));
        write(([n, m, b], [reverse(to_n), halved.second, d.first]));
    }
}

/// What dividing a side gives a triangle.
struct Division {
    /// Side from the start to the midpoint.
    first: u32,
    /// Side from the midpoint to the end.
    second: u32,
    /// Side from inside the triangle to the midpoint.
    interior: u32,
    midpoint: u32,
}
