//! The sides of polygons, of the plane or of a surface in space.

use glam::DVec3;
use trioxide_kernel::rows::Rows;
use trioxide_kernel::safe::{Atomic, In, Out, Own, Scatter};
use trioxide_kernel::{Bits, kernel};

use super::Extent;
use super::rows::key_of;
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

/// The side in place `i` of a list by the lower vertices of edges, for its order there: by the higher vertex, then by
/// id.
#[kernel(
    requires(list.len() == n, highs.len() == n, keys.len() == n),
    moves(list.bytes() + highs.bytes() + keys.bytes())
)]
pub fn name_sides(
    i: Own<Item>,
    list: In<Corner, Item>,
    highs: In<Vertex, Corner>,
    keys: Out<u64, Item>,
) {
    let side = list.at(i);
    keys.set(
        i,
        u64::from(highs.at(side).index()) << 32 | u64::from(side.index()),
    );
}

/// Links the side in place `i` of the ordered list ([`name_sides()`]) to the other side of its edge. `found[0]` becomes
/// the lowest side of an edge with more than two.
#[kernel(
    requires(lows.len() == n, keys.len() == n, twins.len() == n, found.len() == 1),
    moves(lows.bytes() + keys.bytes() + twins.bytes())
)]
pub fn pair_sides_of_polygons(
    i: Own<Item>,
    lows: In<Vertex, Item>,
    keys: In<u64, Item>,
    twins: Scatter<Corner, Corner>,
    found: Atomic,
) {
    let (k, low, key) = (i.get().index(), lows.at(i), keys.at(i));
    let (side, mut twin) = (Corner::new(key as u32), Corner::NONE);
    if k > 0 {
        let before = keys.at(Item::new(k - 1));
        if before >> 32 == key >> 32 && lows.at(Item::new(k - 1)) == low {
            twin = Corner::new(before as u32);
        }
    }
    if k + 1 < keys.len() {
        let after = keys.at(Item::new(k + 1));
        if after >> 32 == key >> 32 && lows.at(Item::new(k + 1)) == low {
            if twin.is_some() {
                found.min(0u32, twin.index());
            }
            twin = Corner::new(after as u32);
        }
    }
    twins.set(side, twin);
}

/// Lists side `c` among those of its polygon or polyhedron.
#[kernel(
    requires(twins.len() == n, pieces.len() == n, keys.len() == n),
    moves(twins.bytes() + pieces.bytes() + keys.bytes())
)]
pub fn write_side_keys(
    c: Own<Corner>,
    twins: In<Corner, Corner>,
    pieces: In<Polygon, Corner>,
    keys: Out<u64, Corner>,
) {
    let twin = twins.at(c);
    let q = if twin.is_none() {
        Polygon::NONE
    } else {
        pieces.at(twin)
    };
    keys.set(c, key_of(q, if twin < c.get() { twin } else { c.get() }));
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
/// `keys` are the ordered sides ([`name_sides()`]) of each lower vertex, which start at `offsets`.
#[kernel(requires(ends.len() == 2 * n))]
pub fn fix_segments(
    i: Own<Item>,
    ends: In<Vertex>,
    offsets: In<u32>,
    keys: In<u64>,
    fixed: Atomic<Bits<Corner>>,
) {
    let k = 2 * i.get().index();
    let (a, b) = (ends.at(k), ends.at(k + 1));
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    let (mut begin, last) = (offsets.at(low.index()), offsets.at(low.index() + 1));
    let mut end = last;
    let high_of = |place: u32| (keys.at(place) >> 32) as u32;
    while begin < end {
        let middle = begin + (end - begin) / 2;
        if high_of(middle) < high.index() {
            begin = middle + 1;
        } else {
            end = middle;
        }
    }
    while begin < last && high_of(begin) == high.index() {
        fixed.set_bit(Corner::new(keys.at(begin) as u32));
        begin += 1;
    }
}

/// Fixes all sides of polygon `p` if it visits a vertex twice; `outlines` has the vertices of each polygon in order.
#[kernel(requires(outlines.offsets.len() == n + 1, twins.len() == outlines.items.len()))]
pub fn fix_pinched(
    p: Own<Polygon>,
    outlines: Rows<Vertex>,
    twins: In<Corner, Corner>,
    fixed: Atomic<Bits<Corner>>,
) {
    let (start, end) = (outlines.start(p.get()), outlines.end(p.get()));
    let mut is_pinched = false;
    let mut i = start + 1;
    while i < end {
        is_pinched |= outlines.items.at(i - 1) == outlines.items.at(i);
        i += 1;
    }
    if is_pinched {
        let mut i = start;
        while i < end {
            let side = Corner::new(i);
            fixed.set_bit(side);
            if twins.at(side).is_some() {
                fixed.set_bit(twins.at(side));
            }
            i += 1;
        }
    }
}
