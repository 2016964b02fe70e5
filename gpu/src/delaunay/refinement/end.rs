//! The mesh after refinement: vertices of the input, then the added ones; triangles along the curve.

use glam::DVec2;
use trioxide_kernel::rows::rank_in;
use trioxide_kernel::safe::{Atomic, In, Out, Own, Scatter};
use trioxide_kernel::{Bits, Each, Scalar, kernel};

use super::judge::{area, from, shortest, squared_cosine};
use super::{Background, Bounds};
use crate::delaunay::order_triangles::write;
use crate::ids::{HalfEdge, Item, Place, Triangle, Vertex};

/// Whether triangle `t` was not removed.
#[kernel(moves(4 * n))]
pub fn find_alive(t: Own<Triangle>, corners: In<Place, HalfEdge>) -> bool {
    corners.at(HalfEdge::of(*t, 0)).is_some()
}

/// Whether place `first` + `i` has a vertex that was not removed.
#[kernel(moves(4 * words(n)))]
pub fn find_kept(i: Own<Item>, first: u32, gone: In<Bits<Place>>) -> bool {
    !gone.bit(Place::new(first + i.get().index()))
}

/// The vertex at place `p`: of the input, which has `points`, or with the next number after these. `ranks` are of the
/// added vertices, without removed ones.
#[kernel(requires(names.len() == n), moves(8 * n))]
pub fn name_vertices(
    p: Own<Place>,
    order: In<Vertex>,
    points: u32,
    ranks: In<u32>,
    names: Out<Vertex, Place>,
) {
    let before = order.len();
    let name = if p.index() < before {
        order.at(p.index())
    } else {
        let added = Item::new(p.index() - before);
        Vertex::new(points + rank_in(ranks.pair(added.index() / 32 * 2), added))
    };
    names.set(p, name);
}

/// Writes the point at place `p`, if its vertex was not removed.
#[kernel(requires(sorted.len() == n, names.len() == n), moves(sorted.bytes() + names.bytes() + points.bytes()))]
pub fn list_points(
    p: Own<Place>,
    sorted: In<DVec2, Place>,
    names: In<Vertex, Place>,
    gone: In<Bits<Place>>,
    points: Scatter<f64>,
) {
    if !gone.bit(*p) {
        let (v, point) = (names.at(p).index(), sorted.at(p));
        points.set(2 * v, point.x);
        points.set(2 * v + 1, point.y);
    }
}

/// Writes the point of vertex `v` of the input, which is at place `places[v]`: several may be at one.
#[kernel(requires(places.len() == n), moves(places.bytes() + 32 * n))]
pub fn list_equal_points(
    v: Own<Vertex>,
    places: In<Place, Vertex>,
    sorted: In<DVec2, Place>,
    points: Scatter<f64>,
) {
    let (v, point) = (v.get().index(), sorted.at(places.at(v)));
    points.set(2 * v, point.x);
    points.set(2 * v + 1, point.y);
}

/// Takes triangle number `i` of `list`, by the ranks of its vertices, from the lowest one on.
#[kernel(requires(list.len() == n, taken.len() == 3 * n), moves(40 * n + taken.bytes()))]
pub fn take_refined(
    i: Own<Item>,
    list: In<Triangle, Item>,
    corners: In<Place, HalfEdge>,
    names: In<Vertex, Place>,
    ranks: In<Place, Vertex>,
    taken: Scatter<Place>,
) {
    let t = list.at(i);
    let places = corners.at_all([0, 1, 2].each(|k| HalfEdge::of(t, k)));
    write(i.get().index(), ranks.at_all(names.at_all(places)), taken);
}

/// Part by which a bound may be missed: the rounding of angles and areas.
const ROUNDING: f64 = 1e-9;

/// A bound of triangles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Scalar)]
#[repr(u32)]
pub enum Bound {
    /// The largest area.
    Area,
    /// The smallest angle.
    Angle,
}

/// Raises `worst[0]` to the bits of a value, and lowers `first[0]` to the number of an item with the `wanted` bits.
#[inline(always)]
fn note_worst(i: Item, value: f64, wanted: u64, worst: Atomic<u64>, first: Atomic<u32>) {
    let bits = value.to_bits();
    worst.fetch_max(0, bits);
    if bits == wanted {
        first.min(0, i.index());
    }
}

/// Whether triangle number `i` of `list` misses a bound. `worst[0]` becomes the bits of the largest area, or of the
/// largest squared cosine, of such triangles, and `first[0]` the number of the first one with the `wanted` bits.
#[kernel(requires(list.len() == n), moves(40 * n))]
pub fn find_missed(
    i: Own<Item>,
    list: In<Triangle, Item>,
    corners: In<Place, HalfEdge>,
    sorted: In<DVec2, Place>,
    regions: In<u32, Triangle>,
    bounds: Bounds,
    bound: Bound,
    wanted: u64,
    worst: Atomic<u64>,
    first: Atomic<u32>,
) -> bool {
    let t = list.at(i);
    let points = sorted.at_all(corners.at_all([0, 1, 2].each(|k| HalfEdge::of(t, k))));
    let (value, most) = match bound {
        Bound::Area => (area(points), bounds.largest_area(regions.at(t))),
        Bound::Angle => {
            let (k, _) = shortest(points);
            (squared_cosine(from(k, points)), bounds.goal.squared_cosine)
        }
    };
    let is_missed = value > most * (1.0 + ROUNDING);
    if is_missed {
        note_worst(*i, value, wanted, worst, first);
    }
    is_missed
}

/// Whether triangle number `i` of `list` has an edge longer than the size at its centroid. `worst[0]` becomes the bits
/// of the largest squared ratio of both, and `first[0]` the number of the first one with the `wanted` bits.
#[kernel(requires(list.len() == n), moves(40 * n))]
pub fn find_long(
    i: Own<Item>,
    list: In<Triangle, Item>,
    corners: In<Place, HalfEdge>,
    sorted: In<DVec2, Place>,
    background: Background,
    wanted: u64,
    worst: Atomic<u64>,
    first: Atomic<u32>,
) -> bool {
    let t = list.at(i);
    let points = sorted.at_all(corners.at_all([0, 1, 2].each(|k| HalfEdge::of(t, k))));
    let ratio = background.squared_ratio(points);
    let is_long = ratio > 1.0 + ROUNDING;
    if is_long {
        note_worst(*i, ratio, wanted, worst, first);
    }
    is_long
}
