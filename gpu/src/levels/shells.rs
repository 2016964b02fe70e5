//! The surfaces of pieces of polyhedra.

use glam::DVec3;
use trioxide_kernel::rows::{Rows, rank_of};
use trioxide_kernel::safe::{Atomic, Group, In, Out, Own, Scatter};
use trioxide_kernel::{Bits, kernel};

use super::Extent;
use crate::ids::{Corner, Edge, FaceCorner, Item, Polygon, Vertex};
use crate::smooth::quality::root;

/// The surfaces of pieces. A corner of a face, seen from outside, has the edge from there to the face's next corner.
#[derive(Group)]
pub struct Shells<'a> {
    /// The piece of each side.
    pub pieces: In<'a, Polygon, Corner>,
    /// The other side of each face.
    pub twins: In<'a, Corner, Corner>,
    /// First corner of each side, and the end of the last.
    pub starts: In<'a, u32>,
    /// The side of each corner.
    pub sides: In<'a, Corner, FaceCorner>,
    /// The vertex of each corner.
    pub origins: In<'a, Vertex, FaceCorner>,
    /// The corner of the same polyhedron whose edge runs the other way.
    pub beyond: In<'a, FaceCorner, FaceCorner>,
}

impl Shells<'_> {
    /// The side of face `face`, given by its lower side, that piece `p` has.
    #[inline(always)]
    pub(super) fn side_of(self, face: Corner, p: Polygon) -> Corner {
        if self.pieces.at(face) == p {
            face
        } else {
            self.twins.at(face)
        }
    }

    /// The corners of a side.
    #[inline(always)]
    pub(super) fn corners(self, side: Corner) -> (u32, u32) {
        (
            self.starts.at(side.index()),
            self.starts.at(side.index() + 1),
        )
    }

    /// Whether the side of corner `c` is a face that its piece has in common with one of a union.
    #[inline(always)]
    pub(super) fn is_in(self, c: FaceCorner, union: [Polygon; 3]) -> bool {
        let twin = self.twins.at(self.sides.at(c));
        if twin.is_none() {
            return false;
        }
        let q = self.pieces.at(twin);
        q == union[0] || q == union[1] || q == union[2]
    }

    /// The corner after `c` of its face.
    #[inline(always)]
    fn next(self, c: FaceCorner) -> FaceCorner {
        let (first, end) = self.corners(self.sides.at(c));
        let next = c.index() + 1;
        FaceCorner::new(if next < end { next } else { first })
    }

    /// The corner of the piece's surface whose edge is that of `c`, the other way: around the edge, through the
    /// polyhedra of the piece.
    #[inline(always)]
    pub(super) fn across(self, c: FaceCorner) -> FaceCorner {
        let piece = self.pieces.at(self.sides.at(c));
        let origin = self.origins.at(c);
        let mut found = self.beyond.at(c);
        loop {
            let twin = self.twins.at(self.sides.at(found));
            if twin.is_none() || self.pieces.at(twin) != piece {
                return found;
            }
            // The twin has this edge from the origin on.
            let (mut corner, end) = self.corners(twin);
            while corner + 1 < end && self.origins.at(FaceCorner::new(corner)) != origin {
                corner += 1;
            }
            found = self.beyond.at(FaceCorner::new(corner));
        }
    }

    /// Whether the common faces with a union, whose edge to other faces starts at corner `start`, have one closed rim
    /// of `count` edges that visits no vertex twice.
    #[inline(always)]
    pub(super) fn is_one_rim(self, start: FaceCorner, count: u32, union: [Polygon; 3]) -> bool {
        let (mut at, mut steps) = (start, 0);
        loop {
            // Around the edge's end: through common faces to the next edge of the rim, then through others.
            let mut next = self.next(at);
            let mut outside = self.across(next);
            while self.is_in(outside, union) {
                next = self.next(outside);
                outside = self.across(next);
            }
            let mut around = outside;
            while !self.is_in(around, union) {
                around = self.across(self.next(around));
            }
            steps += 1;
            if around != at {
                return false;
            }
            at = next;
            if at == start || steps > count {
                return steps == count;
            }
        }
    }
}

/// Writes the sides of polyhedron `p`, with their areas and corners, and its box. `codes[s]` is 2f for face f as it is,
/// seen from outside, and 2f + 1 for it reversed; `found[codes[s]]` becomes s.
#[kernel(
    requires(
        offsets.len() == n + 1,
        pieces.len() == codes.len(),
        areas.len() == codes.len(),
        starts.len() == codes.len() + 1,
        lows.len() == origins.len(),
        highs.len() == origins.len(),
        sides.len() == origins.len(),
        boxes.len() == n
    ),
    moves(
        offsets.bytes()
            + 3 * codes.bytes()
            + areas.bytes()
            + starts.bytes()
            + 4 * origins.bytes()
            + boxes.bytes()
    )
)]
pub fn write_sides_of_polyhedra(
    p: Own<Polygon>,
    offsets: In<u32>,
    codes: In<u32, Corner>,
    faces: Rows<Vertex>,
    points: In<DVec3, Vertex>,
    starts: In<u32>,
    found: Scatter<Corner, Item>,
    pieces: Scatter<Polygon, Corner>,
    areas: Scatter<f64, Corner>,
    sides: Scatter<Corner, FaceCorner>,
    origins: Scatter<Vertex, FaceCorner>,
    lows: Scatter<Vertex, FaceCorner>,
    highs: Scatter<Vertex, FaceCorner>,
    boxes: Out<Extent, Polygon>,
) {
    let (mut i, end) = (offsets.at(p.index()), offsets.at(p.index() + 1));
    let mut extent = Extent::NOTHING;
    while i < end {
        let side = Corner::new(i);
        let code = codes.at(side);
        let (first, last) = (faces.start(code / 2), faces.end(code / 2));
        let length = last - first;
        pieces.set(side, p.get());
        found.set(Item::new(code), side);
        let apex = points.at(faces.items.at(first));
        let mut area = DVec3::ZERO;
        let mut k = 0;
        while k < length {
            let place = if code & 1 == 0 {
                first + k
            } else {
                last - 1 - k
            };
            let after = if k + 1 == length {
                if code & 1 == 0 { first } else { last - 1 }
            } else if code & 1 == 0 {
                place + 1
            } else {
                place - 1
            };
            let (from, to) = (faces.items.at(place), faces.items.at(after));
            let corner = FaceCorner::new(starts.at(i) + k);
            let is_up = from < to;
            sides.set(corner, side);
            origins.set(corner, from);
            lows.set(corner, if is_up { from } else { to });
            highs.set(corner, if is_up { to } else { from });
            let point = points.at(from);
            extent = extent.with(Extent {
                low: point,
                high: point,
            });
            // From both sides in the order of the face.
            if k + 1 < length {
                let a = points.at(faces.items.at(first + k)) - apex;
                let b = points.at(faces.items.at(first + k + 1)) - apex;
                area.x += a.y * b.z - a.z * b.y;
                area.y += a.z * b.x - a.x * b.z;
                area.z += a.x * b.y - a.y * b.x;
            }
            k += 1;
        }
        areas.set(
            side,
            0.5 * root(area.x * area.x + area.y * area.y + area.z * area.z),
        );
        i += 1;
    }
    boxes.set(p, extent);
}

/// Links side `s` to the other side of its face.
#[kernel(
    requires(codes.len() == n, twins.len() == n),
    moves(codes.bytes() + 2 * twins.bytes())
)]
pub fn pair_sides_of_polyhedra(
    s: Own<Corner>,
    codes: In<u32, Corner>,
    found: In<Corner, Item>,
    twins: Out<Corner, Corner>,
) {
    twins.set(s, found.at(Item::new(codes.at(s.get()) ^ 1)));
}

/// Whether item `i` of the corners in the order of the vertices of their edges is the first of its edge.
#[kernel(requires(order.len() == n, lows.len() == n, highs.len() == n))]
pub fn starts_edge_of_faces(
    i: Own<Item>,
    order: In<FaceCorner, Item>,
    lows: In<Vertex, FaceCorner>,
    highs: In<Vertex, FaceCorner>,
) -> bool {
    let k = i.get().index();
    if k == 0 {
        return true;
    }
    let (before, corner) = (order.at(Item::new(k - 1)), order.at(i));
    lows.at(before) != lows.at(corner) || highs.at(before) != highs.at(corner)
}

/// Numbers the edge of item `i` of `order`; `heads` are the first items of edges, with their ranks.
#[kernel(
    requires(order.len() == n, edges.len() == n),
    moves(order.bytes() + heads.bytes() + ranks.bytes() + edges.bytes())
)]
pub fn number_edges_of_faces(
    i: Own<Item>,
    order: In<FaceCorner, Item>,
    heads: In<Bits<Item>>,
    ranks: In<u32>,
    edges: Scatter<Edge, FaceCorner>,
) {
    let before = rank_of(ranks, i.get());
    let edge = if heads.bit(i.get()) {
        before
    } else {
        before - 1
    };
    edges.set(order.at(i), Edge::new(edge));
}

/// Whether item `i` of `order`, corners in any order, is on the surface of a piece.
#[kernel(requires(order.len() == n, twins.len() == pieces.len()))]
pub fn is_corner_of_surface(
    i: Own<Item>,
    order: In<FaceCorner, Item>,
    sides: In<Corner, FaceCorner>,
    twins: In<Corner, Corner>,
    pieces: In<Polygon, Corner>,
) -> bool {
    let side = sides.at(order.at(i));
    let twin = twins.at(side);
    twin.is_none() || pieces.at(side) != pieces.at(twin)
}

/// Links item `i` of the corners by their polyhedra and edges to the other corner of its edge.
#[kernel(
    requires(list.len() == n, owners.len() == n, elements.len() == n),
    moves(3 * list.bytes() + 4 * n)
)]
pub fn link_corners_of_faces(
    i: Own<Item>,
    list: In<FaceCorner, Item>,
    owners: In<Polygon, Item>,
    elements: In<u32, Item>,
    beyond: Scatter<FaceCorner, FaceCorner>,
) {
    let k = i.get().index();
    let mut other = FaceCorner::NONE;
    if k + 1 < list.len() {
        let after = Item::new(k + 1);
        if owners.at(after) == owners.at(i) && elements.at(after) == elements.at(i) {
            other = list.at(after);
        }
    }
    if k > 0 {
        let before = Item::new(k - 1);
        if owners.at(before) == owners.at(i) && elements.at(before) == elements.at(i) {
            other = list.at(before);
        }
    }
    beyond.set(list.at(i), other);
}

/// Fixes both sides of face `faces[i]`.
#[kernel(requires(faces.len() == n))]
pub fn fix_faces(
    i: Own<Item>,
    faces: In<u32, Item>,
    found: In<Corner, Item>,
    fixed: Atomic<Bits<Corner>>,
) {
    let code = 2 * faces.at(i);
    let (side, twin) = (found.at(Item::new(code)), found.at(Item::new(code + 1)));
    if side.is_some() {
        fixed.set_bit(side);
    }
    if twin.is_some() {
        fixed.set_bit(twin);
    }
}

/// Fixes all sides of polyhedron `p` unless its surface is a sphere: each edge has two corners, and V - E + F = 2.
#[kernel(requires(
    offsets.len() == n + 1,
    vertices.offsets.len() == n + 1,
    ridges.offsets.len() == n + 1
))]
pub fn fix_unless_balls(
    p: Own<Polygon>,
    offsets: In<u32>,
    starts: In<u32>,
    vertices: Rows<Vertex>,
    ridges: Rows<Edge>,
    twins: In<Corner, Corner>,
    fixed: Atomic<Bits<Corner>>,
) {
    let (mut i, end) = (offsets.at(p.index()), offsets.at(p.index() + 1));
    let corners = starts.at(end) - starts.at(i);
    let edges = ridges.end(p.get()) - ridges.start(p.get());
    let count = vertices.end(p.get()) - vertices.start(p.get());
    if corners == 2 * edges && count + (end - i) == edges + 2 {
        return;
    }
    while i < end {
        let side = Corner::new(i);
        fixed.set_bit(side);
        if twins.at(side).is_some() {
            fixed.set_bit(twins.at(side));
        }
        i += 1;
    }
}
