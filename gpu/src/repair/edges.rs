//! Sides by their edges.

use trioxide_kernel::kernel;
use trioxide_kernel::safe::{In, Out, Own, Scatter};

use super::faces::is_proper;
use crate::ids::{HalfEdge, Item, Triangle, Vertex};

/// Origin and target of half-edge `h`.
#[inline(always)]
pub(super) fn ends(faces: In<[Vertex; 3], Triangle>, h: HalfEdge) -> [Vertex; 2] {
    let [a, b, c] = faces.at(h.triangle());
    match h.corner() {
        0 => [a, b],
        1 => [b, c],
        _ => [c, a],
    }
}

/// The ascending vertices of a half-edge; `None` if its face is not proper.
#[inline(always)]
fn edge(faces: In<[Vertex; 3], Triangle>, h: HalfEdge) -> Option<[Vertex; 2]> {
    let [a, b] = ends(faces, h);
    let edge = if b < a { [b, a] } else { [a, b] };
    is_proper(faces.at(h.triangle())).then_some(edge)
}

/// One vertex of half-edge `order[i]`: the higher one, or the lower one. Half-edges that are no sides come last, as if
/// their vertex were the number of all, `vertices`. An empty order is that of the ids.
#[kernel(
    requires(order.is_empty() && 3 * faces.len() == n || order.len() == n, keys.len() == n),
    moves(order.bytes() + faces.bytes() + keys.bytes())
)]
pub fn read_side_end(
    i: Own<Item>,
    order: In<HalfEdge>,
    faces: In<[Vertex; 3], Triangle>,
    is_lower: bool,
    vertices: u32,
    keys: Out<u32, Item>,
) {
    let side = order.get(i.index()).unwrap_or(HalfEdge::new(i.index()));
    let key = match edge(faces, side) {
        Some([low, high]) => (if is_lower { low } else { high }).index(),
        None => vertices,
    };
    keys.set(i, key);
}

/// Whether the side at place `i + ahead` of the order has this edge.
#[inline(always)]
fn shares(
    order: In<HalfEdge, Item>,
    faces: In<[Vertex; 3], Triangle>,
    own: [Vertex; 2],
    i: u32,
    ahead: i32,
) -> bool {
    match order.get(Item::new(i.wrapping_add_signed(ahead))) {
        // Arrays are compared in memory.
        Some(side) => edge(faces, side).is_some_and(|[a, b]| a == own[0] && b == own[1]),
        None => false,
    }
}

/// Links side `order[i]` to the one before it of the same edge, else to none. Of crowded edges only if `CROWDED`.
#[kernel(
    CROWDED in [false, true],
    requires(order.len() == n, links.len() == n),
    moves(order.bytes() + faces.bytes() + links.bytes())
)]
pub fn link_sides_of_faces<const CROWDED: bool>(
    i: Own<Item>,
    order: In<HalfEdge, Item>,
    faces: In<[Vertex; 3], Triangle>,
    links: Scatter<HalfEdge, HalfEdge>,
) {
    let side = order.at(i);
    let mut link = HalfEdge::NONE;
    if let Some(own) = edge(faces, side) {
        let shares = |ahead| shares(order, faces, own, i.index(), ahead);
        if shares(-1)
            && (CROWDED || !(shares(-2) || shares(1)))
            && let Some(before) = order.get(Item::new(i.index().wrapping_sub(1)))
        {
            link = before;
        }
    }
    links.set(side, link);
}

/// Whether side `order[i]` is one of a crowded edge.
#[kernel(requires(order.len() == n), moves(order.bytes() + faces.bytes()))]
pub fn find_crowded(
    i: Own<Item>,
    order: In<HalfEdge, Item>,
    faces: In<[Vertex; 3], Triangle>,
) -> bool {
    let Some(own) = edge(faces, order.at(i)) else {
        return false;
    };
    let shares = |ahead| shares(order, faces, own, i.index(), ahead);
    match (shares(-1), shares(1)) {
        (true, true) => true,
        (true, false) => shares(-2),
        (false, true) => shares(2),
        (false, false) => false,
    }
}

/// Whether side `order[i]` is the only one of its edge.
#[kernel(requires(order.len() == n), moves(order.bytes() + faces.bytes()))]
pub fn find_boundary(
    i: Own<Item>,
    order: In<HalfEdge, Item>,
    faces: In<[Vertex; 3], Triangle>,
) -> bool {
    let Some(own) = edge(faces, order.at(i)) else {
        return false;
    };
    let shares = |ahead| shares(order, faces, own, i.index(), ahead);
    !shares(-1) && !shares(1)
}

/// Links side `sides[i]` to `to[i]`.
#[kernel(
    requires(sides.len() == n, to.len() == n),
    moves(2 * sides.bytes() + 2 * to.bytes())
)]
pub fn set_links(
    i: Own<Item>,
    sides: In<HalfEdge, Item>,
    to: In<HalfEdge, Item>,
    links: Scatter<HalfEdge, HalfEdge>,
) {
    links.set(sides.at(i), to.at(i));
}
