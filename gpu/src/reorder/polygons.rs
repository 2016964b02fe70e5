//! Polygons, whose vertices are lists.

use trioxide_kernel::safe::{Atomic, In, Out, Own, Scatter};
use trioxide_kernel::{Each, kernel};

use super::order_cells::{Head, WRONG, cell_rule, join_group};
use crate::ids::{Cell, Corner, Polygon, Vertex};

/// Vertex `k` of a polygon by its new number, with `k` below twice the length; the number of all vertices for a missing
/// one, and for a wrong id.
#[inline(always)]
fn at(list: In<Vertex>, new: In<Vertex, Vertex>, k: u32) -> Vertex {
    let k = if k < list.len() { k } else { k - list.len() };
    new.get(list.at(k)).unwrap_or(Vertex::new(new.len()))
}

/// The place at which a polygon begins afterwards.
#[inline(always)]
fn find_start(list: In<Vertex>, new: In<Vertex, Vertex>) -> u32 {
    let count = list.len();
    let mut start = 0;
    let mut first = at(list, new, 0);
    let mut k = 1;
    while k < count {
        let vertex = at(list, new, k);
        let is_less = if vertex != first {
            vertex < first
        } else {
            // `count` is 2 at least, so k + 2 is below its double.
            let [next, least] = [k, start].each(|k| at(list, new, k + 1));
            let [after, after_least] = [k, start].each(|k| at(list, new, k + 2));
            next < least || next == least && after < after_least
        };
        if is_less {
            (start, first) = (k, vertex);
        }
        k += 1;
    }
    start
}

/// The first four of the new vertices of polygon `p`, from the lowest one on. `offsets` are the starts of all lists in
/// `vertices`, and the end of the last.
#[kernel(
    requires(
        offsets.len() == n + 1,
        heads.len() == n,
        slots.len() == n,
        counts.len() > new.len(),
        found.len() == cell_rule::COUNT
    ),
    moves(
        offsets.bytes() + vertices.bytes() + new.bytes() + heads.bytes() + slots.bytes() + counts.bytes()
    )
)]
pub fn turn_polygons(
    p: Own<Polygon>,
    offsets: In<u32>,
    vertices: In<Vertex, Corner>,
    new: In<Vertex, Vertex>,
    heads: Out<Head, Polygon>,
    slots: Out<u32, Polygon>,
    counts: Atomic<u32, Vertex>,
    found: Atomic,
) {
    let (begin, end) = (offsets.at(p.get().index()), offsets.at(p.get().index() + 1));
    let mut head = WRONG;
    if begin > end || end > vertices.len() {
        found.min(cell_rule::LIST, p.get().index());
    } else {
        let list = vertices.run(Corner::new(begin), end - begin);
        let mut is_wrong = begin == end;
        let mut k = begin;
        while k < end {
            is_wrong |= new.get(vertices.at(Corner::new(k))).is_none();
            k += 1;
        }
        if is_wrong {
            found.min(cell_rule::VERTEX, p.get().index());
        } else {
            let start = find_start(list, new);
            let vertex = |k: u32| {
                if k < list.len() {
                    at(list, new, start + k)
                } else {
                    Vertex::new(new.len())
                }
            };
            head = Head {
                vertices: [vertex(0), vertex(1), vertex(2), vertex(3)],
            };
        }
    }
    heads.set(p, head);
    slots.set(p, join_group(head, counts));
}

/// Number of vertices of the polygon at place `i` of the order.
#[kernel(
    requires(old.len() == n, lengths.len() == n + 1),
    moves(old.bytes() + offsets.bytes() + 4 * n)
)]
pub fn measure_turned(
    i: Own<Polygon>,
    old: In<Cell, Polygon>,
    offsets: In<u32>,
    lengths: Out<u32, Polygon>,
) {
    let p = old.at(i).index();
    lengths.set(i, offsets.at(p + 1) - offsets.at(p));
}

/// Writes the new vertices of the polygon at place `i` of the order, from `new_offsets[i]` on.
#[kernel(
    requires(old.len() == n, new_offsets.len() == n + 1),
    moves(
        old.bytes() + offsets.bytes() + vertices.bytes() + new.bytes() + new_offsets.bytes() + new_vertices.bytes()
    )
)]
pub fn write_turned(
    i: Own<Polygon>,
    old: In<Cell, Polygon>,
    offsets: In<u32>,
    vertices: In<Vertex, Corner>,
    new: In<Vertex, Vertex>,
    new_offsets: In<u32, Polygon>,
    new_vertices: Scatter<Vertex, Corner>,
) {
    let p = old.at(i).index();
    let begin = offsets.at(p);
    let list = vertices.run(Corner::new(begin), offsets.at(p + 1) - begin);
    let start = find_start(list, new);
    let to = new_offsets.at(i);
    let mut k = 0;
    while k < list.len() {
        new_vertices.set(Corner::new(to + k), at(list, new, start + k));
        k += 1;
    }
}
