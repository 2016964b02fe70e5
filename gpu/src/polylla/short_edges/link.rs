//! Links of the sides of polygons.

use trioxide_kernel::safe::{Atomic, In, Out, Own, Scatter};
use trioxide_kernel::{Bits, kernel};

use super::super::walk::Cycles;
use super::Sides;
use crate::ids::{Corner, HalfEdge, Item, Polygon, Vertex};
use crate::point::{Planar, Point2};

/// Links the sides of polygon `p`. `places` gets the side of each half-edge along it, `half_edges` the reverse.
#[kernel(
    requires(cycles.half_edges.len() == n, offsets.len() == n + 1, nexts.len() == prevs.len()),
    moves(
        cycles.half_edges.bytes() + offsets.bytes() + 2 * half_edges.bytes() + nexts.bytes() + prevs.bytes()
            + owners.bytes()
    )
)]
pub fn link_sides_of_polygons(
    p: Own<Polygon>,
    cycles: Cycles,
    offsets: In<u32>,
    places: Scatter<Corner, HalfEdge>,
    half_edges: Scatter<HalfEdge, Corner>,
    nexts: Scatter<Corner, Corner>,
    prevs: Scatter<Corner, Corner>,
    owners: Scatter<Polygon, Corner>,
) {
    let (begin, end) = (offsets.at(p.index()), offsets.at(p.index() + 1));
    let mut h = cycles.half_edges.at(p);
    let mut i = begin;
    while i < end {
        let side = Corner::new(i);
        places.set(h, side);
        half_edges.set(side, h);
        nexts.set(side, Corner::new(if i + 1 < end { i + 1 } else { begin }));
        prevs.set(side, Corner::new(if i > begin { i - 1 } else { end - 1 }));
        owners.set(side, p.get());
        h = cycles.next.at(h);
        i += 1;
    }
}

/// Links side `c` to its twin, and counts constrained edges at their ends in `degrees`. Returns whether its edge is
/// constrained, and whether it is the lower side of its edge.
#[kernel(requires(half_edges.len() == n, nexts.len() == n, origins.len() == n, twins.len() == n))]
pub fn pair_linked_sides(
    c: Own<Corner>,
    half_edges: In<HalfEdge, Corner>,
    edge_twins: In<HalfEdge, HalfEdge>,
    constrained: In<Bits<HalfEdge>>,
    places: In<Corner, HalfEdge>,
    nexts: In<Corner, Corner>,
    origins: In<Vertex, Corner>,
    twins: Out<Corner, Corner>,
    degrees: Atomic<u32, Vertex>,
) -> (bool, bool) {
    let h = half_edges.at(c);
    let beyond = edge_twins.at(h);
    let is_border = beyond.index() >= edge_twins.len();
    let twin = if is_border {
        Corner::NONE
    } else {
        places.at(beyond)
    };
    twins.set(c, twin);
    let is_fixed = is_border || !constrained.is_empty() && constrained.bit(h);
    if is_fixed {
        degrees.add(origins.at(c), 1);
    }
    if is_border {
        degrees.add(origins.at(nexts.at(c)), 1);
    }
    (is_fixed, is_border || c.get() < twin)
}

/// Writes the squared diameter of polygon `polygons[i]`.
#[kernel(
    P in Planar,
    requires(polygons.len() == n, offsets.len() == diameters.len() + 1)
)]
pub fn measure_diameters<P: Point2>(
    i: Own<Item>,
    polygons: In<Polygon, Item>,
    offsets: In<u32>,
    origins: In<Vertex, Corner>,
    points: In<P, Vertex>,
    diameters: Scatter<f64, Polygon>,
) {
    let p = polygons.at(i);
    let (begin, end) = (offsets.at(p.index()), offsets.at(p.index() + 1));
    let infinity = f64::INFINITY;
    let (mut low_x, mut low_y, mut high_x, mut high_y) = (infinity, infinity, -infinity, -infinity);
    let mut k = begin;
    while k < end {
        let v = origins.at(Corner::new(k));
        if v.is_some() {
            let a = points.at(v).to_f64();
            low_x = if a.x < low_x { a.x } else { low_x };
            low_y = if a.y < low_y { a.y } else { low_y };
            high_x = if a.x > high_x { a.x } else { high_x };
            high_y = if a.y > high_y { a.y } else { high_y };
        }
        k += 1;
    }
    let further = |x: f64, y: f64| if x > y { x } else { y };
    let mut most = 0.0;
    let mut k = begin;
    while k < end {
        let v = origins.at(Corner::new(k));
        if v.is_some() {
            let a = points.at(v).to_f64();
            // Rounding is monotone: no distance from here is greater than that of the furthest corner of the box.
            let x = further(a.x - low_x, high_x - a.x);
            let y = further(a.y - low_y, high_y - a.y);
            let mut j = if x * x + y * y > most { k + 1 } else { end };
            while j < end {
                let w = origins.at(Corner::new(j));
                if w.is_some() {
                    let d = points.at(w).to_f64() - a;
                    most = further(d.x * d.x + d.y * d.y, most);
                }
                j += 1;
            }
        }
        k += 1;
    }
    diameters.set(p, most);
}

/// Adds the edges at all vertices of polygon `polygons[i]` to a set.
#[kernel(requires(polygons.len() == n, sides.origins.len() == sides.nexts.len()))]
pub fn mark_edges_around(
    i: Own<Item>,
    polygons: In<Polygon, Item>,
    offsets: In<u32>,
    sides: Sides,
    edges: Atomic<Bits<Corner>>,
) {
    let p = polygons.at(i);
    let mut k = offsets.at(p.index());
    while k < offsets.at(p.index() + 1) {
        if sides.origins.at(Corner::new(k)).is_some() {
            let first = sides.first_around(Corner::new(k));
            let mut side = first;
            while side.is_some() {
                edges.set_bit(sides.edge(side));
                edges.set_bit(sides.edge(sides.prevs.at(side)));
                side = sides.after(side, first);
            }
        }
        k += 1;
    }
}

/// Whether side `c` is not removed.
#[kernel(requires(origins.len() == n))]
pub fn is_side_left(c: Own<Corner>, origins: In<Vertex, Corner>) -> bool {
    origins.at(c).is_some()
}

/// Counts the sides of polygon `p` that are left.
#[kernel(requires(offsets.len() == n + 1, counts.len() >= n))]
pub fn count_sides_left(
    p: Own<Polygon>,
    offsets: In<u32>,
    origins: In<Vertex, Corner>,
    counts: Out<u32, Polygon>,
) {
    let mut count = 0;
    let mut k = offsets.at(p.index());
    while k < offsets.at(p.index() + 1) {
        count += u32::from(origins.at(Corner::new(k)).is_some());
        k += 1;
    }
    counts.set(p, count);
}
