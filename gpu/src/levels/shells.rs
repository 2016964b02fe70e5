//! The surfaces of pieces of polyhedra.

use glam::DVec3;
use trioxide_kernel::rows::Rows;
use trioxide_kernel::safe::{Atomic, Group, In, Out, Own, Scatter};
use trioxide_kernel::{Bits, kernel};

use super::Extent;
use crate::ids::{Corner, FaceCorner, Item, Polygon, Vertex};
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
    /// For each corner on the surface of a piece, the corner on the same surface whose edge runs the other way.
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

    /// Whether the common faces with a union, whose edge to other faces starts at corner `start`, have one closed rim
    /// of `count` edges that visits no vertex twice.
    #[inline(always)]
    pub(super) fn is_one_rim(self, start: FaceCorner, count: u32, union: [Polygon; 3]) -> bool {
        let (mut at, mut steps) = (start, 0);
        loop {
            // Around the edge's end: through common faces to the next edge of the rim, then through others.
            let mut next = self.next(at);
            let mut outside = self.beyond.at(next);
            while self.is_in(outside, union) {
                next = self.next(outside);
                outside = self.beyond.at(next);
            }
            let mut around = outside;
            while !self.is_in(around, union) {
                around = self.beyond.at(self.next(around));
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

/// Gives polyhedron `p` its sides, and writes its box. `codes[s]` is 2f for face f as it is, seen from outside, and
/// 2f + 1 for it reversed.
#[kernel(
    requires(offsets.len() == n + 1, pieces.len() == codes.len(), boxes.len() == n),
    moves(offsets.bytes() + codes.bytes() + faces.items.bytes() + pieces.bytes() + boxes.bytes())
)]
pub fn write_polyhedra(
    p: Own<Polygon>,
    offsets: In<u32>,
    codes: In<u32, Corner>,
    faces: Rows<Vertex>,
    points: In<DVec3, Vertex>,
    pieces: Scatter<Polygon, Corner>,
    boxes: Out<Extent, Polygon>,
) {
    let (mut i, end) = (offsets.at(p.index()), offsets.at(p.index() + 1));
    let mut extent = Extent::NOTHING;
    while i < end {
        let side = Corner::new(i);
        pieces.set(side, p.get());
        let face = codes.at(side) / 2;
        let (mut place, last) = (faces.start(face), faces.end(face));
        while place < last {
            let point = points.at(faces.items.at(place));
            extent = extent.with(Extent {
                low: point,
                high: point,
            });
            place += 1;
        }
        i += 1;
    }
    boxes.set(p, extent);
}

/// Writes the area of side `s`, and its corners with their edges, which are named by both vertices; `found[codes[s]]`
/// becomes s.
#[kernel(
    requires(
        codes.len() == n,
        areas.len() == n,
        starts.len() == n + 1,
        names.len() == origins.len(),
        sides.len() == origins.len()
    ),
    moves(
        2 * codes.bytes()
            + faces.items.bytes()
            + areas.bytes()
            + starts.bytes()
            + 2 * origins.bytes()
            + names.bytes()
    )
)]
pub fn write_sides_of_polyhedra(
    s: Own<Corner>,
    codes: In<u32, Corner>,
    faces: Rows<Vertex>,
    points: In<DVec3, Vertex>,
    starts: In<u32>,
    found: Scatter<Corner, Item>,
    areas: Out<f64, Corner>,
    sides: Scatter<Corner, FaceCorner>,
    origins: Scatter<Vertex, FaceCorner>,
    names: Scatter<u64, FaceCorner>,
) {
    let code = codes.at(s);
    found.set(Item::new(code), s.get());
    let (first, last) = (faces.start(code / 2), faces.end(code / 2));
    let length = last - first;
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
        let corner = FaceCorner::new(starts.at(s.index()) + k);
        let (low, high) = if from < to { (from, to) } else { (to, from) };
        sides.set(corner, s.get());
        origins.set(corner, from);
        names.set(
            corner,
            u64::from(low.index()) << 32 | u64::from(high.index()),
        );
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
        s,
        0.5 * root(area.x * area.x + area.y * area.y + area.z * area.z),
    );
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

/// Whether item `i` of a list of corners is on the surface of a piece.
#[kernel(requires(corners.len() == n, twins.len() == pieces.len()))]
pub fn is_corner_of_surface(
    i: Own<Item>,
    corners: In<FaceCorner, Item>,
    sides: In<Corner, FaceCorner>,
    twins: In<Corner, Corner>,
    pieces: In<Polygon, Corner>,
) -> bool {
    let side = sides.at(corners.at(i));
    let twin = twins.at(side);
    twin.is_none() || pieces.at(side) != pieces.at(twin)
}

/// Finds the place of corner `c` among the edges of its polyhedron: the first with its name in the polyhedron's row of
/// `ordered`, the sorted names. The corners of an edge meet there: `lows` becomes the lower, `highs` the higher one.
#[kernel(
    requires(
        names.len() == n,
        owners.len() == n,
        ordered.len() == n,
        places.len() == n,
        lows.len() == n,
        highs.len() == n
    ),
    moves(2 * names.bytes() + owners.bytes() + places.bytes() + lows.bytes() + highs.bytes())
)]
pub fn meet_at_edges(
    c: Own<FaceCorner>,
    names: In<u64, FaceCorner>,
    owners: In<Polygon, FaceCorner>,
    offsets: In<u32>,
    ordered: In<u64>,
    places: Out<u32, FaceCorner>,
    lows: Atomic,
    highs: Atomic,
) {
    let (name, p) = (names.at(c), owners.at(c));
    let (mut begin, mut end) = (offsets.at(p.index()), offsets.at(p.index() + 1));
    while begin < end {
        let middle = begin + (end - begin) / 2;
        if ordered.at(middle) < name {
            begin = middle + 1;
        } else {
            end = middle;
        }
    }
    places.set(c, begin);
    lows.min(begin, c.get().index());
    highs.fetch_max(begin, c.get().index());
}

/// Links corner `c` to the other corner of its edge, and lists it. If more than two corners have the edge, the
/// polyhedron is no ball.
#[kernel(
    requires(places.len() == n, beyond.len() == n, listed.len() == n),
    moves(places.bytes() + lows.bytes() + beyond.bytes() + listed.bytes())
)]
pub fn link_corners_of_faces(
    c: Own<FaceCorner>,
    places: In<u32, FaceCorner>,
    lows: In<u32>,
    highs: In<u32>,
    beyond: Out<FaceCorner, FaceCorner>,
    listed: Out<FaceCorner, FaceCorner>,
) {
    let (low, high) = (lows.at(places.at(c)), highs.at(places.at(c)));
    let is_low = low == c.get().index();
    beyond.set(c, FaceCorner::new(if is_low { high } else { low }));
    listed.set(c, c.get());
}

/// Links the corner in place `i` of the corners of the pieces before they joined, if it is in the set `kept`: around
/// its edge, through the pieces that are one now. `pieces` has the joined ones, `groups` the pairs as in
/// [`Joined`](super::Joined).
#[kernel(
    requires(corners.len() == n, owners.len() == n, twins.len() == pieces.len()),
    moves(2 * corners.bytes() + 2 * beyond.bytes())
)]
pub fn link_surfaces(
    i: Own<Item>,
    kept: In<Bits<Item>>,
    corners: In<FaceCorner, Item>,
    owners: In<Polygon, Item>,
    groups: In<Polygon, Polygon>,
    pieces: In<Polygon, Corner>,
    twins: In<Corner, Corner>,
    starts: In<u32>,
    sides: In<Corner, FaceCorner>,
    origins: In<Vertex, FaceCorner>,
    beyond: Atomic<FaceCorner, FaceCorner>,
) {
    if !kept.bit(i.get()) || groups.at(owners.at(i)).is_none() {
        return;
    }
    let c = corners.at(i);
    let (piece, origin) = (pieces.at(sides.at(c)), origins.at(c));
    // All further corners are inside of the piece, and no call writes their links.
    let mut found = beyond.load(c);
    loop {
        let twin = twins.at(sides.at(found));
        if twin.is_none() || pieces.at(twin) != piece {
            break;
        }
        // The twin has this edge from the origin on.
        let (mut corner, end) = (starts.at(twin.index()), starts.at(twin.index() + 1));
        while corner + 1 < end && origins.at(FaceCorner::new(corner)) != origin {
            corner += 1;
        }
        found = beyond.load(FaceCorner::new(corner));
    }
    beyond.store(c, found);
}

/// Whether the edge at the corner in place `i` of a list runs to the vertex of higher id: of the two corners that an
/// edge has on the surface of a ball, one does.
#[kernel(requires(corners.len() == n, names.len() == origins.len()))]
pub fn runs_upward(
    i: Own<Item>,
    corners: In<FaceCorner, Item>,
    names: In<u64, FaceCorner>,
    origins: In<Vertex, FaceCorner>,
) -> bool {
    let c = corners.at(i);
    (names.at(c) >> 32) as u32 == origins.at(c).index()
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

/// Fixes all sides of polyhedron `p` unless its surface is a sphere: no face has it on both sides, each edge has two
/// corners, and V - E + F = 2.
#[kernel(requires(
    offsets.len() == n + 1,
    vertices.offsets.len() == n + 1,
    ridges.offsets.len() == n + 1,
    twins.len() == pieces.len()
))]
pub fn fix_unless_balls(
    p: Own<Polygon>,
    offsets: In<u32>,
    starts: In<u32>,
    vertices: Rows<Vertex>,
    ridges: Rows<u64>,
    twins: In<Corner, Corner>,
    pieces: In<Polygon, Corner>,
    fixed: Atomic<Bits<Corner>>,
) {
    let (begin, end) = (offsets.at(p.index()), offsets.at(p.index() + 1));
    let corners = starts.at(end) - starts.at(begin);
    let edges = ridges.end(p.get()) - ridges.start(p.get());
    let count = vertices.end(p.get()) - vertices.start(p.get());
    let mut is_ball = corners == 2 * edges && count + (end - begin) == edges + 2;
    let mut i = begin;
    while i < end {
        let twin = twins.at(Corner::new(i));
        is_ball &= twin.is_none() || pieces.at(twin) != p.get();
        i += 1;
    }
    if is_ball {
        return;
    }
    i = begin;
    while i < end {
        let side = Corner::new(i);
        fixed.set_bit(side);
        if twins.at(side).is_some() {
            fixed.set_bit(twins.at(side));
        }
        i += 1;
    }
}
