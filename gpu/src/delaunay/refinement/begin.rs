//! The triangles before refinement.

use glam::DVec2;
use trioxide_kernel::safe::{Atomic, In, Out, Own, Scatter};
use trioxide_kernel::{Scalar, kernel};

use super::{LARGEST, LEAST, STUCK};
use crate::delaunay::constrained::NO_SEGMENT;
use crate::ids::{HalfEdge, Item, Place, Triangle, Vertex};

/// Finds the sides of ordered triangle `i`, which is that of `list` at `first`, at `second`: `new` gets its half-edge
/// for each old one. `old_corners` are the corners before.
#[kernel(requires(second.len() == n, corners.len() == 3 * n), moves(second.bytes() + 36 * n + corners.bytes()))]
pub fn take_sides(
    i: Own<Item>,
    first: In<u32>,
    second: In<u32, Item>,
    list: In<Triangle>,
    old_corners: In<Place, HalfEdge>,
    corners: In<Place, HalfEdge>,
    new: Scatter<HalfEdge, HalfEdge>,
) {
    let old = list.at(first.at(second.at(i)));
    let t = Triangle::new(i.get().index());
    let mut side = HalfEdge::of(old, 0);
    let start = corners.at(HalfEdge::of(t, 0));
    while old_corners.at(side) != start {
        side = side.next();
    }
    let mut k = 0;
    while k < 3 {
        new.set(side, HalfEdge::of(t, k));
        side = side.next();
        k += 1;
    }
}

/// Carries the lines of old half-edge `h` to its `new` one.
#[kernel(requires(new.len() == n, old_lines.len() == n), moves(new.bytes() + old_lines.bytes() + lines.bytes()))]
pub fn carry_lines(
    h: Own<HalfEdge>,
    new: In<HalfEdge, HalfEdge>,
    old_lines: In<u32, HalfEdge>,
    lines: Scatter<u32>,
) {
    let new = new.at(h);
    if new.is_some() {
        lines.set(new.index(), old_lines.at(h));
    }
}

/// The subsegments that get no vertices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Scalar)]
#[repr(u32)]
pub enum Held {
    /// None.
    Nothing,
    /// Those at the boundary.
    Boundary,
    /// All.
    All,
}

/// Gives half-edge `h` the number of its whole in place of a segment's, if it is on one or at the boundary: the lower
/// half-edge of both. A held one is stuck.
#[kernel(requires(twins.len() == n, lines.len() == n), moves(twins.bytes() + 2 * lines.bytes()))]
pub fn name_wholes(
    h: Own<HalfEdge>,
    twins: In<HalfEdge, HalfEdge>,
    held: Held,
    lines: Out<u32, HalfEdge>,
) {
    let twin = twins.at(h);
    if twin.is_none() || lines.at(h) != NO_SEGMENT {
        let is_held = match held {
            Held::Nothing => false,
            Held::Boundary => twin.is_none(),
            Held::All => true,
        };
        let whole = if *h < twin { *h } else { twin }.index();
        lines.set(h, if is_held { whole | STUCK } else { whole });
    }
}

/// Lowers `found[0]` to the vertex at place `p`, if triangles with it cannot be judged.
#[kernel(requires(sorted.len() == n, order.len() == n), moves(sorted.bytes()))]
pub fn find_out_of_range(
    p: Own<Place>,
    sorted: In<DVec2, Place>,
    order: In<Vertex, Place>,
    found: Atomic<Vertex>,
) {
    let point = sorted.at(p);
    let is_in_range = |c: f64| c == 0.0 || c.abs() >= LEAST && c.abs() <= LARGEST;
    if !is_in_range(point.x) || !is_in_range(point.y) {
        found.min(0, order.at(p));
    }
}
