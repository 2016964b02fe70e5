//! Borders of pieces: their measure, and whether pieces may join across them.

use bytemuck::{Pod, Zeroable};
use glam::DVec3;
use trioxide_kernel::rows::Rows;
use trioxide_kernel::safe::{Group, In, Own, Scatter};
use trioxide_kernel::{Bits, kernel};

use super::rows::edge;
use super::shells::Shells;
use crate::ids::{Border, Corner, FaceCorner, Item, Polygon, Vertex};
use crate::slots::mix;

/// A box along the axes.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct Extent {
    /// The lowest coordinates.
    pub low: DVec3,
    /// The highest coordinates.
    pub high: DVec3,
}

impl Extent {
    /// The box of no points.
    pub const NOTHING: Self = Self {
        low: DVec3::INFINITY,
        high: DVec3::NEG_INFINITY,
    };

    /// The box around two.
    #[inline(always)]
    pub fn with(self, other: Self) -> Self {
        Self {
            low: DVec3::new(
                least(self.low.x, other.low.x),
                least(self.low.y, other.low.y),
                least(self.low.z, other.low.z),
            ),
            high: DVec3::new(
                -least(-self.high.x, -other.high.x),
                -least(-self.high.y, -other.high.y),
                -least(-self.high.z, -other.high.z),
            ),
        }
    }

    /// How many times its longest side is as long as its middle one: how many times a piece of the plane, whose box has
    /// no height, is as long as wide. Of a `SOLID` piece, as its shortest one.
    #[inline(always)]
    pub fn ratio<const SOLID: bool>(self) -> f64 {
        let size = self.high - self.low;
        let (short, long) = if size.x < size.y {
            (size.x, size.y)
        } else {
            (size.y, size.x)
        };
        let z = size.z;
        let longest = if z > long { z } else { long };
        let other = if SOLID {
            if z < short { z } else { short }
        } else if z > long {
            long
        } else if z > short {
            z
        } else {
            short
        };
        longest / other
    }
}

#[inline(always)]
fn least(a: f64, b: f64) -> f64 {
    if b < a { b } else { a }
}

/// The hash of two pieces, either way round.
#[inline(always)]
pub fn hash(a: u32, b: u32) -> u64 {
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    mix(u64::from(low) << 32 | u64::from(high))
}

/// Measure of the border of two pieces that may not join.
pub const NEVER: f64 = -1.0;

/// A join that may be chosen.
#[derive(Clone, Copy)]
pub(super) struct Candidate {
    length: f64,
    hash: u64,
    low: u32,
    high: u32,
}

impl Candidate {
    /// After every other one.
    pub(super) const LAST: Self = Self {
        length: NEVER,
        hash: 0,
        low: 0,
        high: 0,
    };

    /// Of pieces `a` and `b`, whose border has this length.
    #[inline(always)]
    pub(super) fn new(length: f64, a: Polygon, b: Polygon) -> Self {
        let (a, b) = (a.index(), b.index());
        Self {
            length,
            hash: hash(a, b),
            low: if a < b { a } else { b },
            high: if a < b { b } else { a },
        }
    }

    /// Whether it comes first.
    #[inline(always)]
    pub(super) fn is_before(self, other: Self) -> bool {
        if self.length != other.length {
            return self.length > other.length;
        }
        if self.hash != other.hash {
            return self.hash > other.hash;
        }
        if self.low != other.low {
            return self.low > other.low;
        }
        self.high > other.high
    }
}

/// The pieces of a level, with their borders and outlines.
#[derive(Group)]
pub struct Pieces<'a> {
    /// First border of each piece, and the end of the last.
    pub starts: In<'a, u32>,
    /// The piece beyond each border, ascending for each piece. Sides without one beyond come last, and are no border.
    pub neighbours: In<'a, Polygon, Border>,
    /// First side of each border.
    pub firsts: In<'a, Item, Border>,
    /// The sides of each piece, in the order of borders and their edges or faces.
    pub keys: In<'a, u64>,
    /// Sides of edges or faces that no piece crosses.
    pub fixed: In<'a, Bits<Corner>>,
    /// Length or area of each side.
    pub lengths: In<'a, f64, Corner>,
    /// Vertices of the pieces' outlines or surfaces, ascending for each piece.
    pub outlines: Rows<'a, Vertex>,
    /// Edges of the surfaces of polyhedra, by both vertices.
    pub ridges: Rows<'a, u64>,
    /// The surfaces of polyhedra.
    pub shells: Shells<'a>,
    /// The box of each piece.
    pub boxes: In<'a, Extent, Polygon>,
    /// A box of a larger ratio must not become longer.
    pub most_ratio: f64,
}

/// Edges of a border that are still to be added.
#[derive(Clone, Copy)]
struct Run {
    at: u32,
    end: u32,
}

impl Pieces<'_> {
    /// The borders of piece `p`.
    #[inline(always)]
    pub(super) fn borders(self, p: Polygon) -> (u32, u32) {
        (self.starts.at(p.index()), self.starts.at(p.index() + 1))
    }

    /// The border of piece `p` to piece `q`, or `NONE`.
    #[inline(always)]
    fn find(self, p: Polygon, q: Polygon) -> Border {
        let (mut begin, last) = self.borders(p);
        let mut end = last;
        while begin < end {
            let middle = begin + (end - begin) / 2;
            if self.neighbours.at(Border::new(middle)) < q {
                begin = middle + 1;
            } else {
                end = middle;
            }
        }
        if begin < last && self.neighbours.at(Border::new(begin)) == q {
            Border::new(begin)
        } else {
            Border::NONE
        }
    }

    /// The sides of a border.
    #[inline(always)]
    fn sides(self, border: Border) -> Run {
        let next = border.index() + 1;
        let is_last = next == self.firsts.len();
        Run {
            at: self.firsts.at(border).index(),
            end: if is_last {
                self.keys.len()
            } else {
                self.firsts.at(Border::new(next)).index()
            },
        }
    }

    /// The sides between `p` and `q`, which may be `NONE`.
    #[inline(always)]
    fn run(self, p: Polygon, q: Polygon) -> Run {
        if q.is_some() {
            let border = self.find(p, q);
            if border.is_some() {
                return self.sides(border);
            }
        }
        Run { at: 0, end: 0 }
    }

    #[inline(always)]
    fn first(self, run: Run) -> Corner {
        if run.at < run.end {
            edge(self.keys.at(run.at))
        } else {
            Corner::NONE
        }
    }

    /// The measure of the border of `p` and the union of `a`, `b` and `c`, and the number of its sides. `b` and `c` may
    /// be `NONE`. [`NEVER`] if an edge of it is fixed.
    #[inline(always)]
    pub(super) fn measure(self, p: Polygon, [a, b, c]: [Polygon; 3]) -> (f64, u32) {
        let (mut a, mut b, mut c) = (self.run(p, a), self.run(p, b), self.run(p, c));
        let (mut length, mut count) = (0.0, 0);
        loop {
            let (x, y, z) = (self.first(a), self.first(b), self.first(c));
            let xy = if x < y { x } else { y };
            let next = if xy < z { xy } else { z };
            if next.is_none() {
                return (length, count);
            }
            if self.fixed.bit(next) {
                return (NEVER, 0);
            }
            length += self.lengths.at(next);
            count += 1;
            if next == x {
                a.at += 1;
            } else if next == y {
                b.at += 1;
            } else {
                c.at += 1;
            }
        }
    }

    /// As [`Self::measure()`], of a border alone.
    #[inline(always)]
    fn measure_border(self, border: Border) -> (f64, u32) {
        let Run { mut at, end } = self.sides(border);
        let (mut length, count) = (0.0, end - at);
        while at < end {
            let next = edge(self.keys.at(at));
            if self.fixed.bit(next) {
                return (NEVER, 0);
            }
            length += self.lengths.at(next);
            at += 1;
        }
        (length, count)
    }

    /// Whether `p` may join the union of `a`, `b` and `c`, with which it has `sides` edges or faces in common, none of
    /// them fixed. `b` and `c` may be `NONE`.
    #[inline(always)]
    pub(super) fn may_join<const SOLID: bool>(
        self,
        p: Polygon,
        union: [Polygon; 3],
        sides: u32,
    ) -> bool {
        if sides == 0 || self.is_too_long::<SOLID>(p, union) {
            return false;
        }
        if !SOLID {
            return common(self.outlines, p, union) == sides + 1;
        }
        // All edges of a face alone are its rim.
        let is_face = sides == 1;
        let (mut corners, mut rim, mut start) = (0, 0, FaceCorner::NONE);
        let mut i = 0;
        while i < 3 {
            let q = if i == 0 {
                union[0]
            } else if i == 1 {
                union[1]
            } else {
                union[2]
            };
            let Run { mut at, end } = self.run(p, q);
            while at < end {
                let side = self.shells.side_of(edge(self.keys.at(at)), p);
                let (mut corner, last) = self.shells.corners(side);
                while corner < last {
                    let c = FaceCorner::new(corner);
                    if is_face || !self.shells.is_in(self.shells.beyond.at(c), union) {
                        rim += 1;
                        start = c;
                    }
                    corners += 1;
                    corner += 1;
                }
                at += 1;
            }
            i += 1;
        }
        let edges = (corners + rim) / 2;
        start.is_some()
            && common(self.outlines, p, union) + sides == edges + 1
            && common(self.ridges, p, union) == edges
            && (is_face || self.shells.is_one_rim(start, rim, union))
    }

    #[inline(always)]
    fn is_too_long<const SOLID: bool>(self, p: Polygon, [a, b, c]: [Polygon; 3]) -> bool {
        let own = self.boxes.at(p);
        let mut union = self.boxes.at(a);
        if b.is_some() {
            union = union.with(self.boxes.at(b));
        }
        if c.is_some() {
            union = union.with(self.boxes.at(c));
        }
        let ratio = own.with(union).ratio::<SOLID>();
        ratio > self.most_ratio && ratio > own.ratio::<SOLID>() && ratio > union.ratio::<SOLID>()
    }
}

/// The elements of `p`, which may be `NONE`.
#[inline(always)]
fn run_of<T: PartialOrd + Pod + Send + Sync>(rows: Rows<T>, p: Polygon) -> Run {
    if p.is_none() {
        return Run { at: 0, end: 0 };
    }
    Run {
        at: rows.start(p),
        end: rows.end(p),
    }
}

/// Whether element `v` is in a run.
#[inline(always)]
fn has<T: PartialOrd + Pod + Send + Sync>(rows: Rows<T>, Run { at, end }: Run, v: T) -> bool {
    let (mut begin, last) = (at, end);
    let mut end = end;
    while begin < end {
        let middle = begin + (end - begin) / 2;
        if rows.items.at(middle) < v {
            begin = middle + 1;
        } else {
            end = middle;
        }
    }
    begin < last && rows.items.at(begin) == v
}

/// Whether two runs have similar lengths: then a walk along both is faster than bisection.
#[inline(always)]
fn is_similar(a: Run, b: Run) -> bool {
    let (a, b) = (a.end - a.at, b.end - b.at);
    a / 4 <= b && b / 4 <= a
}

/// Number of elements that two runs have in common.
#[inline(always)]
fn common_of_two<T: PartialOrd + Pod + Send + Sync>(rows: Rows<T>, mut a: Run, mut b: Run) -> u32 {
    let mut count = 0;
    while a.at < a.end && b.at < b.end {
        let (x, y) = (rows.items.at(a.at), rows.items.at(b.at));
        count += u32::from(x == y);
        a.at += u32::from(x <= y);
        b.at += u32::from(y <= x);
    }
    count
}

/// Number of elements that `p` has in common with the union of `a`, `b` and `c`, each counted once.
#[inline(always)]
fn common<T: PartialOrd + Pod + Send + Sync>(
    rows: Rows<T>,
    p: Polygon,
    [a, b, c]: [Polygon; 3],
) -> u32 {
    let p = run_of(rows, p);
    let (a, b, c) = (run_of(rows, a), run_of(rows, b), run_of(rows, c));
    let mut count = 0;
    if b.at == b.end && c.at == c.end && is_similar(p, a) {
        return common_of_two(rows, p, a);
    }
    if p.end - p.at <= (a.end - a.at) + (b.end - b.at) + (c.end - c.at) {
        let mut i = p.at;
        while i < p.end {
            let v = rows.items.at(i);
            count += u32::from(has(rows, a, v) || has(rows, b, v) || has(rows, c, v));
            i += 1;
        }
        return count;
    }
    let mut i = a.at;
    while i < a.end {
        count += u32::from(has(rows, p, rows.items.at(i)));
        i += 1;
    }
    i = b.at;
    while i < b.end {
        let v = rows.items.at(i);
        count += u32::from(has(rows, p, v) && !has(rows, a, v));
        i += 1;
    }
    i = c.at;
    while i < c.end {
        let v = rows.items.at(i);
        count += u32::from(has(rows, p, v) && !has(rows, a, v) && !has(rows, b, v));
        i += 1;
    }
    count
}

/// Writes the measure of border `b`, or [`NEVER`], from both its pieces: the lower one does it.
#[kernel(
    SOLID in [false, true],
    requires(owners.len() == n, pieces.neighbours.len() == n, weights.len() == n),
    moves(2 * owners.bytes() + weights.bytes())
)]
pub fn weigh_borders<const SOLID: bool>(
    b: Own<Border>,
    owners: In<Polygon, Border>,
    pieces: Pieces,
    weights: Scatter<f64, Border>,
) {
    let (p, q) = (owners.at(b), pieces.neighbours.at(b));
    if q.is_none() || p == q {
        weights.set(b.get(), NEVER);
    } else if p < q {
        let union = [q, Polygon::NONE, Polygon::NONE];
        let (length, sides) = pieces.measure_border(b.get());
        let weight = if pieces.may_join::<SOLID>(p, union, sides) {
            length
        } else {
            NEVER
        };
        weights.set(b.get(), weight);
        weights.set(pieces.find(q, p), weight);
    }
}
