//! The triangles of all stars in one order: a triangle starts at its corner of the lowest rank, and triangles ascend by
//! the ranks of their first corners, then their second ones.
//!
//! A star that is the first corner of triangles has all of them, so it writes them in their order. The other triangles
//! are *loose*: their first corner is hard. They are few, and sorted.

use trioxide_kernel::kernel;
use trioxide_kernel::safe::{Atomic, In, Out, Own, Scatter};

use super::join_parts::{HardTriangles, Stars};
use crate::ids::{Item, Place, Vertex};

/// Whether the star of `p` has a loose triangle with a and b, and is the first of its corners with a star.
#[inline(always)]
fn is_loose(stars: Stars, p: Place, [a, b]: [Place; 2]) -> bool {
    (a < p || b < p) && (p < a || stars.is_hard(a)) && (p < b || stars.is_hard(b))
}

/// Number of triangles whose first corner is `i`; and whether its star writes loose triangles.
#[kernel(requires(counts.len() >= n), moves(stars.degrees.bytes() + 4 * n + 4 * words(n)))]
pub fn count_triangles(i: Own<Place>, stars: Stars, counts: Scatter<u32, Place>) -> bool {
    let degree = stars.degrees.at(i);
    if degree == 0 {
        counts.set(i, 0);
        return false;
    }
    let ring = stars.ring(*i, degree);
    let (mut count, mut has_hard) = (0, false);
    let mut b = ring.at(degree - 1);
    let mut k = 0;
    while k < degree {
        let a = b;
        b = ring.at(k);
        count += u32::from((*i < a) & (*i < b));
        // Without a branch on the order of neighbours: the own point is not hard.
        has_hard |= stars.is_hard(if b < *i { b } else { *i });
        k += 1;
    }
    counts.set(i, count);
    let mut has_loose = false;
    k = 0;
    while has_hard && k < degree {
        has_loose |= is_loose(stars, *i, stars.pair(*i, degree, k));
        k += 1;
    }
    has_loose
}

/// Number of loose triangles that star number `i` of `list` writes.
#[kernel(requires(counts.len() >= n), moves(8 * n))]
pub fn count_loose(i: Own<Item>, list: In<Place, Item>, stars: Stars, counts: Scatter<u32, Item>) {
    let p = list.at(i);
    let degree = stars.degrees.at(p);
    let mut count = 0;
    let mut k = 0;
    while k < degree {
        count += u32::from(is_loose(stars, p, stars.pair(p, degree, k)));
        k += 1;
    }
    counts.set(i, count);
}

/// Writes triangle `t`, from its corner of the lowest rank on.
#[inline(always)]
pub(super) fn write(t: u32, [a, b, c]: [Place; 3], corners: Scatter<Place>) {
    let [a, b, c] = if a < b && a < c {
        [a, b, c]
    } else if b < c {
        [b, c, a]
    } else {
        [c, a, b]
    };
    corners.set(3 * t, a);
    corners.set(3 * t + 1, b);
    corners.set(3 * t + 2, c);
}

/// Writes the loose triangles of star number `i` of `list`, from number `starts[i]` on.
#[kernel(moves(8 * n + corners.bytes()))]
pub fn write_loose(
    i: Own<Item>,
    list: In<Place, Item>,
    stars: Stars,
    starts: In<u32, Item>,
    corners: Scatter<Place>,
) {
    let p = list.at(i);
    let degree = stars.degrees.at(p);
    let mut t = starts.at(i);
    let mut k = 0;
    while k < degree {
        let [a, b] = stars.pair(p, degree, k);
        if is_loose(stars, p, [a, b]) {
            write(t, [p, a, b], corners);
            t += 1;
        }
        k += 1;
    }
}

/// The places of the corners of triangle number `i` of `list`, the lowest first.
#[kernel(requires(corners.len() == 3 * n), moves(28 * n))]
pub fn take_hard_triangles(
    i: Own<Item>,
    list: In<Item, Item>,
    hard: HardTriangles,
    corners: Scatter<Place>,
) {
    let t = list.at(i).index();
    let sites = hard.corners.at_all([3 * t, 3 * t + 1, 3 * t + 2]);
    write(i.get().index(), hard.places.at_all(sites), corners);
}

/// Corner `k` of loose triangle number `i` of `order`, or of all where there is none.
#[kernel(
    requires(ranks.len() == n, order.is_empty() || order.len() == n),
    moves(order.bytes() + 8 * n)
)]
pub fn read_corner(
    i: Own<Item>,
    order: In<u32>,
    corners: In<Place>,
    k: u32,
    ranks: Out<u32, Item>,
) {
    let t = match order.is_empty() {
        true => i.get().index(),
        false => order.at(i.get().index()),
    };
    ranks.set(i, corners.at(3 * t + k).index());
}

/// Orders loose triangle `i`: that at `second`, then `first`. Counts it at its first corner.
#[kernel(
    requires(ordered.len() == 3 * n),
    moves(first.bytes() + second.bytes() + 2 * ordered.bytes() + 4 * n)
)]
pub fn order_loose(
    i: Own<Item>,
    first: In<u32>,
    second: In<u32, Item>,
    corners: In<Place>,
    ordered: Scatter<Place>,
    counts: Atomic<u32, Place>,
) {
    let t = first.at(second.at(i));
    let places = corners.at_all([3 * t, 3 * t + 1, 3 * t + 2]);
    let mut k = 0;
    while k < 3 {
        ordered.set(3 * i.get().index() + k, places[k as usize % 3]);
        k += 1;
    }
    counts.add(places[0], 1);
}

/// Writes the vertices of triangle `t`.
#[inline(always)]
fn write_vertices(t: u32, places: [Place; 3], vertices: In<Vertex, Place>, to: Scatter<Vertex>) {
    let [a, b, c] = vertices.at_all(places);
    to.set(3 * t, a);
    to.set(3 * t + 1, b);
    to.set(3 * t + 2, c);
}

/// Writes the triangles whose first corner is `i`, if it has a star, from number `starts[i]` on.
#[kernel(moves(stars.degrees.bytes() + starts.bytes() + vertices.bytes() + triangles.bytes()))]
pub fn write_star_triangles(
    i: Own<Place>,
    stars: Stars,
    starts: In<u32, Place>,
    vertices: In<Vertex, Place>,
    triangles: Scatter<Vertex>,
) {
    let degree = stars.degrees.at(i);
    if degree == 0 {
        return;
    }
    let ring = stars.ring(*i, degree);
    let end = starts.get(Place::new(i.get().index() + 1));
    let end = end.unwrap_or(triangles.len() / 3);
    // The triangle whose second corner comes next.
    let mut last = *i;
    let mut t = starts.at(i);
    while t < end {
        let mut next = [Place::NONE; 2];
        let mut b = ring.at(degree - 1);
        let mut k = 0;
        while k < degree {
            let a = b;
            b = ring.at(k);
            let is_next = (*i < b) & (last < a) & (a < next[0]);
            next = if is_next { [a, b] } else { next };
            k += 1;
        }
        write_vertices(t, [*i, next[0], next[1]], vertices, triangles);
        t += 1;
        last = next[0];
    }
}

/// Writes ordered loose triangle `i` among those of its first corner.
#[kernel(requires(corners.len() == 3 * n), moves(2 * corners.bytes() + 4 * n))]
pub fn write_loose_triangles(
    i: Own<Item>,
    corners: In<Place>,
    starts: In<u32, Place>,
    vertices: In<Vertex, Place>,
    triangles: Scatter<Vertex>,
) {
    let t = i.get().index();
    let places = corners.at_all([3 * t, 3 * t + 1, 3 * t + 2]);
    // The first triangle with the same first corner.
    let (mut low, mut high) = (0, t);
    while low < high {
        let middle = low + (high - low) / 2;
        if corners.at(3 * middle) < places[0] {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    let place = starts.at(places[0]) + (t - low);
    write_vertices(place, places, vertices, triangles);
}
