//! The sides of polygons, of the plane or of a surface in space.

use glam::DVec3;
use trioxide_kernel::rows::Rows;
use trioxide_kernel::safe::{Atomic, In, Out, Own, Scatter};
use trioxide_kernel::{Bits, kernel};

use super::Extent;
use crate::ids::{Corner, Item, Polygon, Vertex};
use crate::smooth::quality::root;

/// Writes the sides of polygon `p`, from vertex to vertex, and its box.
#[kernel(
    requires(
        offsets.len() == n + 1,
        pieces.len() == vertices.len(),
        lows.len() == vertices.len(),
        highs.len() == vertices.len(),
        lengths.len() == vertices.len(),
        boxes.len() == n
    ),
    moves(
        offsets.bytes()
            + 2 * vertices.bytes()
            + pieces.bytes()
            + lows.bytes()
            + highs.bytes()
            + lengths.bytes()
            + boxes.bytes()
    )
)]
pub fn write_sides(
    p: Own<Polygon>,
    offsets: In<u32>,
    vertices: In<Vertex, Corner>,
    points: In<DVec3, Vertex>,
    pieces: Scatter<Polygon, Corner>,
    lows: Scatter<Vertex, Corner>,
    highs: Scatter<Vertex, Corner>,
    lengths: Scatter<f64, Corner>,
    boxes: Out<Extent, Polygon>,
) {
    let (begin, end) = (offsets.at(p.index()), offsets.at(p.index() + 1));
    let mut extent = Extent::NOTHING;
    let mut i = begin;
    while i < end {
        let next = if i + 1 < end { i + 1 } else { begin };
        let (from, to) = (vertices.at(Corner::new(i)), vertices.at(Corner::new(next)));
        let (a, b) = (points.at(from), points.at(to));
        let side = Corner::new(i);
        let is_up = from < to;
        let d = b - a;
        pieces.set(side, p.get());
        lows.set(side, if is_up { from } else { to });
        highs.set(side, if is_up { to } else { from });
        lengths.set(side, root(d.x * d.x + d.y * d.y + d.z * d.z));
        extent = extent.with(Extent { low: a, high: a });
        i += 1;
    }
    boxes.set(p, extent);
}

/// Links item `i` of the sides in the order of their vertices to the other side of its edge. `found[0]` becomes the
/// lowest side of an edge with more than two.
#[kernel(
    requires(lows.len() == n, highs.len() == n, order.len() == n, twins.len() == n, found.len() == 1),
    moves(lows.bytes() + highs.bytes() + order.bytes() + twins.bytes())
)]
pub fn pair_sides_of_polygons(
    i: Own<Item>,
    order: In<Corner, Item>,
    lows: In<Vertex, Corner>,
    highs: In<Vertex, Corner>,
    twins: Scatter<Corner, Corner>,
    found: Atomic,
) {
    let side = order.at(i);
    let same = |other: Corner| lows.at(side) == lows.at(other) && highs.at(side) == highs.at(other);
    let k = i.get().index();
    let mut twin = Corner::NONE;
    if k > 0 {
        let before = order.at(Item::new(k - 1));
        if same(before) {
            twin = before;
        }
    }
    if k + 1 < order.len() {
        let after = order.at(Item::new(k + 1));
        if same(after) {
            if twin.is_some() {
                found.min(0u32, twin.index());
            }
            twin = after;
        }
    }
    twins.set(side, twin);
}

/// Whether side `c` lies between two regions: then no piece crosses it.
#[kernel(requires(twins.len() == n, pieces.len() == n))]
pub fn fix_region_sides(
    c: Own<Corner>,
    twins: In<Corner, Corner>,
    pieces: In<Polygon, Corner>,
    regions: In<i32, Polygon>,
) -> bool {
    let twin = twins.at(c);
    twin.is_some() && regions.at(pieces.at(c)) != regions.at(pieces.at(twin))
}

/// Fixes both sides of the edge between `ends[2i]` and `ends[2i + 1]`, if it has any: one inside a polygon has none.
#[kernel(requires(ends.len() == 2 * n, order.len() == lows.len(), order.len() == highs.len()))]
pub fn fix_segments(
    i: Own<Item>,
    ends: In<Vertex>,
    order: In<Corner>,
    lows: In<Vertex, Corner>,
    highs: In<Vertex, Corner>,
    fixed: Atomic<Bits<Corner>>,
) {
    let k = 2 * i.get().index();
    let (a, b) = (ends.at(k), ends.at(k + 1));
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    let (mut begin, mut end) = (0, order.len());
    while begin < end {
        let middle = begin + (end - begin) / 2;
        let side = order.at(middle);
        let is_before = lows.at(side) < low || lows.at(side) == low && highs.at(side) < high;
        if is_before {
            begin = middle + 1;
        } else {
            end = middle;
        }
    }
    let mut is_equal = true;
    while is_equal && begin < order.len() {
        let side = order.at(begin);
        is_equal = lows.at(side) == low && highs.at(side) == high;
        if is_equal {
            fixed.set_bit(side);
        }
        begin += 1;
    }
}

/// Fixes all sides of polygon `p` if it visits a vertex twice; `outlines` has in order the vertices at which a side
/// starts that it does not run along twice.
#[kernel(requires(
    outlines.offsets.len() == n + 1,
    offsets.len() == n + 1,
    pieces.len() == twins.len()
))]
pub fn fix_pinched(
    p: Own<Polygon>,
    outlines: Rows<Vertex>,
    offsets: In<u32>,
    twins: In<Corner, Corner>,
    pieces: In<Polygon, Corner>,
    fixed: Atomic<Bits<Corner>>,
) {
    let mut is_pinched = false;
    let mut i = outlines.start(p.get()) + 1;
    while i < outlines.end(p.get()) {
        is_pinched |= outlines.items.at(i - 1) == outlines.items.at(i);
        i += 1;
    }
    let mut i = offsets.at(p.index());
    while i < offsets.at(p.index() + 1) {
        let twin = twins.at(Corner::new(i));
        is_pinched |= twin.is_some() && pieces.at(twin) == p.get();
        i += 1;
    }
    if is_pinched {
        let mut i = offsets.at(p.index());
        while i < offsets.at(p.index() + 1) {
            let side = Corner::new(i);
            fixed.set_bit(side);
            if twins.at(side).is_some() {
                fixed.set_bit(twins.at(side));
            }
            i += 1;
        }
    }
}
