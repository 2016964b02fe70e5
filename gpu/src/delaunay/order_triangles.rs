//! The triangles of all stars in one order: a triangle starts at its corner of the lowest rank, and triangles ascend by
//! the ranks of their first corners, then their second ones.

use trioxide_kernel::kernel;
use trioxide_kernel::safe::{In, Out, Own, Scatter};

use super::join_parts::Stars;
use crate::ids::{Item, Place, Vertex};

/// Whether the star of `p` is the one that writes its triangle with a and b: the first of its corners that have a star.
#[inline(always)]
fn is_writer(stars: Stars, p: Place, [a, b]: [Place; 2]) -> bool {
    (p < a || stars.is_hard(a)) && (p < b || stars.is_hard(b))
}

/// Number of triangles that the star at `i` writes.
#[kernel(requires(counts.len() >= n), moves(stars.degrees.bytes() + 4 * n))]
pub fn count_triangles(i: Own<Place>, stars: Stars, counts: Scatter<u32, Place>) {
    let degree = stars.degrees.at(i);
    let mut count = 0;
    let mut k = 0;
    while k < degree {
        count += u32::from(is_writer(stars, *i, stars.pair(*i, degree, k)));
        k += 1;
    }
    counts.set(i, count);
}

/// Writes triangle `t`, from its corner of the lowest rank on.
#[inline(always)]
fn write(t: u32, [a, b, c]: [Place; 3], corners: Scatter<Place>) {
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

/// Writes the triangles of the star at `i`, from number `starts[i]` on.
#[kernel(moves(stars.degrees.bytes() + 4 * n + corners.bytes()))]
pub fn write_star_triangles(
    i: Own<Place>,
    stars: Stars,
    starts: In<u32, Place>,
    corners: Scatter<Place>,
) {
    let degree = stars.degrees.at(i);
    let mut t = starts.at(i);
    let mut k = 0;
    while k < degree {
        let [a, b] = stars.pair(*i, degree, k);
        if is_writer(stars, *i, [a, b]) {
            write(t, [*i, a, b], corners);
            t += 1;
        }
        k += 1;
    }
}

/// Writes triangle number `i` of `list`, of those between hard points at `places`, as number `first` + i.
#[kernel(moves(28 * n))]
pub fn write_hard_triangles(
    i: Own<Item>,
    list: In<Item, Item>,
    hard_corners: In<u32>,
    places: In<Place>,
    first: u32,
    corners: Scatter<Place>,
) {
    let t = list.at(i).index();
    let sites = hard_corners.at_all([3 * t, 3 * t + 1, 3 * t + 2]);
    write(first + i.get().index(), places.at_all(sites), corners);
}

/// Corner `k` of triangle number `i` of `order`, or of all where there is none.
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

/// Writes the vertices of triangle `i`: that at `second`, then `first`.
#[kernel(
    requires(triangles.len() == 3 * n),
    moves(first.bytes() + second.bytes() + 2 * triangles.bytes())
)]
pub fn write_triangles(
    i: Own<Item>,
    first: In<u32>,
    second: In<u32, Item>,
    corners: In<Place>,
    vertices: In<Vertex, Place>,
    triangles: Scatter<Vertex>,
) {
    let t = first.at(second.at(i));
    let places = corners.at_all([3 * t, 3 * t + 1, 3 * t + 2]);
    let [a, b, c] = vertices.at_all(places);
    triangles.set(3 * i.get().index(), a);
    triangles.set(3 * i.get().index() + 1, b);
    triangles.set(3 * i.get().index() + 2, c);
}
