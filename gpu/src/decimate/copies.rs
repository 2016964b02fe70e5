//! Vertices that a collapse joins: one at each end, or several copies where a seam passes.

use bytemuck::{Pod, Zeroable};
use glam::DVec3;
use trioxide_kernel::{In, Out, Scalar, kernel};

use super::cheapest::Choice;
use super::costs::Known;
use super::fans::{Corners, Fans, Lists, Span, mark};
use super::sites::Site;
use crate::ids::{HalfEdge, Item, Vertex};

/// The vertices of a place, and where they go.
pub(super) trait Copies {
    /// The vertices that meet along an edge, and become one.
    type Sides: Copy;

    /// Joins the vertices, once the corners of both places are in the list `joined` of `low`, which is at `to`.
    fn join(&self, sides: Self::Sides, low: Vertex, high: Vertex, joined: Span, to: DVec3);
}

/// Without seams a place has one vertex.
pub(super) struct Single<'a> {
    pub parents: Out<'a, Vertex>,
}

impl Copies for Single<'_> {
    type Sides = ();

    #[inline(always)]
    fn join(&self, (): (), low: Vertex, high: Vertex, _: Span, _: DVec3) {
        self.parents.set(high, low);
    }
}

/// The pairs of copies along an edge, that of the lower place first: one, or two at a seam, the lower first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Sides {
    pub(super) pairs: [[Vertex; 2]; 2],
    /// 1 or 2; 0 if the collapse of the edge does not keep the seams.
    pub(super) count: u32,
    /// The copy that loses its last triangle, and the one that it goes into; or none.
    gone: [Vertex; 2],
}

impl Scalar for Sides {}

impl Sides {
    /// None if the collapse of the edge does not keep the seams.
    #[inline(always)]
    pub(super) fn kept(self) -> Option<Self> {
        if self.count > 0 { Some(self) } else { None }
    }

    /// The pairs along the edge between two places, by the corners of `from`.
    #[inline(always)]
    pub(super) fn between(
        fans: &impl Corners,
        copy: impl Fn(HalfEdge) -> Vertex,
        from: &Known,
        to: &Known,
    ) -> Self {
        let is_low = from.id < to.id;
        let pair_of = |own: Vertex, far: Vertex| if is_low { [own, far] } else { [far, own] };
        let mut sides = Self {
            pairs: [pair_of(from.id, to.id); 2],
            count: 1,
            gone: [Vertex::NONE; 2],
        };
        // Other places have one vertex, which gives the place its number.
        if !from.is(mark::SEAM) && !to.is(mark::SEAM) {
            return sides;
        }
        let mut found = 0;
        fans.all(from.id, |h, b, c| {
            if b == to.id || c == to.id {
                let far = if b == to.id { h.next() } else { h.prev() };
                let pair = pair_of(copy(h), copy(far));
                let first = if found == 0 { pair } else { sides.pairs[0] };
                sides.pairs = [first, pair];
                found += 1;
            }
            true
        });
        let [p, q] = sides.pairs;
        // A comparison of arrays, or one after the other, would go through memory.
        if (p[0] != q[0]) | (p[1] != q[1]) {
            sides.count = 2;
            if q[0] < p[0] || q[0] == p[0] && q[1] < p[1] {
                sides.pairs = [q, p];
            }
        }
        sides
    }

    /// The vertex that copy `v` becomes.
    #[inline(always)]
    fn joined(&self, v: Vertex) -> Vertex {
        // Without a loop: an array's iterator lies in memory.
        let [[p, q], [r, s]] = self.pairs;
        if v == p || v == q {
            if p < q { p } else { q }
        } else if v == r || v == s {
            if r < s { r } else { s }
        } else {
            v
        }
    }
}

/// With seams each corner names its copy.
#[derive(Clone, Copy)]
pub(super) struct Doubled<'a> {
    pub lists: Lists<'a>,
    pub copies: Out<'a, Vertex>,
    /// The areas of the copies' quadrics, or empty without numbers.
    pub areas: Out<'a, f64>,
    pub sites: Out<'a, Site>,
    pub parents: Out<'a, Vertex>,
}

impl Copies for Doubled<'_> {
    type Sides = Sides;

    #[inline(always)]
    fn join(&self, sides: Sides, low: Vertex, _: Vertex, joined: Span, to: DVec3) {
        let mut k = 0;
        while k < sides.count {
            let [p, q] = if k == 0 {
                sides.pairs[0]
            } else {
                sides.pairs[1]
            };
            let (kept, gone) = if p < q { (p, q) } else { (q, p) };
            self.parents.set(gone, kept);
            if !self.areas.is_empty() {
                self.areas.set(kept, self.areas.at(p) + self.areas.at(q));
            }
            k += 1;
        }
        if sides.gone[0].is_some() {
            self.parents.set(sides.gone[0], sides.gone[1]);
        }
        for place in joined.start..joined.start + joined.count {
            let h = self.lists.corners.at(place);
            let copy = sides.joined(self.copies.at(h));
            self.copies.set(h, copy);
            if copy != low {
                let mut site = self.sites.at(copy);
                site.at = to;
                self.sites.set(copy, site);
            }
        }
    }
}

/// Writes the sides of the edge of nominee `acting[first + i]`.
#[kernel(
    requires(acting.len() >= first as usize + n, copies.len() == fans.starts.len(), sides.len() == n),
    moves(32 * n + sides.bytes())
)]
pub fn list_copies(
    i: Item,
    acting: In<Item>,
    first: u32,
    lows: In<Vertex>,
    choices: In<Choice>,
    fans: Fans,
    copies: In<Vertex>,
    sites: In<Site>,
    sides: Out<Sides>,
) {
    let low = lows.at(acting.at(first + i.index()));
    let high = Known::of(sites, choices.at(low).other());
    let low = Known::of(sites, low);
    let mut found = Sides::between(&fans, |h| copies.at(h), &low, &high);
    let gone = ear_of(&fans, copies, sites, &low, &high);
    if !keeps_seams(&fans, copies, &low, &high, &found, gone[0].is_some()) {
        found.count = 0;
    }
    found.gone = gone;
    sides.set(i, found);
}

/// Whether the collapse of the edge between two places with these `sides` keeps the seams.
#[inline(always)]
fn keeps_seams(
    fans: &Fans,
    copies: In<Vertex>,
    low: &Known,
    high: &Known,
    sides: &Sides,
    is_ear: bool,
) -> bool {
    let (is_low, is_high) = (low.is(mark::SEAM), high.is(mark::SEAM));
    if !is_low || !is_high {
        // A seam does not move to the boundary, nor to a locked vertex.
        let (own, far) = (low.site.marks, high.site.marks);
        let (seam, other) = if is_low { (own, far) } else { (far, own) };
        return seam & mark::LOCKED != 0
            || seam & mark::SEAM == 0
            || other & (mark::BORDER | mark::LOCKED) == 0;
    }
    if sides.count == 1 {
        return is_ear;
    }
    let [p, q] = sides.pairs;
    // No side is a lone triangle.
    let (mut is_first_lone, mut is_second_lone) = (true, true);
    let mut k = 0;
    while k < 2 {
        let (v, first, second) = if k == 0 {
            (low.id, p[0], q[0])
        } else {
            (high.id, p[1], q[1])
        };
        let (mut of_first, mut of_second) = (0, 0);
        fans.all(v, |h, _, _| {
            let copy = copies.at(h);
            of_first += u32::from(copy == first);
            of_second += u32::from(copy == second);
            true
        });
        is_first_lone &= of_first == 1;
        is_second_lone &= of_second == 1;
        k += 1;
    }
    p[0] != q[0] && p[1] != q[1] && !is_first_lone && !is_second_lone
}

/// The copy at the third corner of a triangle at the edge between two places that is its only one, and the copy that it
/// goes into; none unless exactly one of the triangles is such an ear, and the edge is not of a seam.
#[inline(always)]
fn ear_of(
    fans: &Fans,
    copies: In<Vertex>,
    sites: In<Site>,
    low: &Known,
    high: &Known,
) -> [Vertex; 2] {
    let (mut ear, mut into) = (Vertex::NONE, Vertex::NONE);
    let is_end = |v: &Known| !v.is(mark::LINE | mark::LOCKED);
    let are_at_seams = low.is(mark::SEAM) && high.is(mark::SEAM);
    if !are_at_seams || !is_end(low) && !is_end(high) {
        return [ear, into];
    }
    let mut ears = 0;
    fans.all(low.id, |h, b, c| {
        if b != high.id && c != high.id {
            return true;
        }
        let (apex, corner) = if b == high.id {
            (c, h.prev())
        } else {
            (b, h.next())
        };
        let own = copies.at(corner);
        // The copies of the apex in the triangles beyond its edges to both ends.
        let mut is_ear = sites.at(apex).marks & mark::LOCKED != 0;
        let mut lowest = Vertex::NONE;
        let mut k = 0;
        while k < 2 {
            let (v, other) = if k == 0 {
                (low.id, high.id)
            } else {
                (high.id, low.id)
            };
            let mut beyond = Vertex::NONE;
            fans.all(v, |g, x, y| {
                let is_beyond = (x == apex && y != other) || (y == apex && x != other);
                if is_beyond {
                    beyond = copies.at(if x == apex { g.next() } else { g.prev() });
                }
                !is_beyond
            });
            is_ear &= beyond.is_some() && beyond != own;
            lowest = if beyond < lowest { beyond } else { lowest };
            k += 1;
        }
        if is_ear {
            ears += 1;
            (ear, into) = (own, lowest);
        }
        true
    });
    if ears == 1 {
        [ear, into]
    } else {
        [Vertex::NONE; 2]
    }
}
