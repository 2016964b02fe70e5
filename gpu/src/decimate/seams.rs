//! Seams: vertices of the boundary that lie at one place, where attributes jump, as where a texture is cut. The copies
//! at a place are joined for the rounds: triangles then have places as corners, each of which is named by its lowest
//! copy, and each corner keeps the copy that it has.
//!
//! The first vertex at a place that claims a slot of a hash table owns it; the others at this place find it, and the
//! lowest of them stays in it. Which one claims it is a race, and the lowest does not depend on it.

use glam::DVec3;
use trioxide_kernel::safe::{Atomic, In, Out, Own, Scatter};
use trioxide_kernel::{Bits, Each, kernel, view};

use super::fans::{Corners, Fans, MOST_IN_FAN, Start, mark};
use super::sites::Site;
use super::vertices::fan_of;
use crate::ids::{HalfEdge, Item, Triangle, Vertex};
use crate::slots::{mix, slot_of};

/// A key of a position; zeros of both signs are equal.
#[inline(always)]
fn key(p: DVec3) -> u64 {
    let [x, y, z] = [p.x + 0.0, p.y + 0.0, p.z + 0.0].each(f64::to_bits);
    mix(mix(mix(x).wrapping_add(y)).wrapping_add(z))
}

#[inline(always)]
fn are_equal(p: DVec3, q: DVec3) -> bool {
    (p.x == q.x) & (p.y == q.y) & (p.z == q.z)
}

/// Writes the lowest vertex of the list at the place of vertex `list[i]` to a slot of `owners`, which are none before
/// the launch. `found[0]`, none before, becomes a vertex if two of the list lie at one place: which one is a race.
#[kernel(
    requires(list.len() == n, owners.len() > n, found.len() == 1),
    moves(list.bytes() + 24 * n)
)]
pub fn find_seams(
    i: Own<Item>,
    list: In<Vertex, Item>,
    points: In<DVec3, Vertex>,
    owners: Atomic<Vertex>,
    found: Atomic<Vertex>,
) {
    let v = list.at(i);
    let here = points.at(v);
    let size = owners.len();
    let mut slot = slot_of(key(here), size);
    loop {
        let mut owner = owners.load(slot);
        if owner.is_none() {
            owner = owners.compare_exchange(slot, Vertex::NONE, v);
        }
        if owner.is_none() {
            return;
        }
        if are_equal(points.at(owner), here) {
            owners.min(slot, v);
            found.min(0, if owner < v { v } else { owner });
            return;
        }
        slot = if slot + 1 == size { 0 } else { slot + 1 };
    }
}

/// Writes the lowest vertex at the place of vertex `list[i]`, by the `owners` of [`find_seams()`].
#[kernel(
    requires(list.len() == n, owners.len() > n, lowest.len() == points.len()),
    moves(list.bytes() + 24 * n)
)]
pub fn find_lowest(
    i: Own<Item>,
    list: In<Vertex, Item>,
    points: In<DVec3, Vertex>,
    owners: In<Vertex>,
    lowest: Scatter<Vertex, Vertex>,
) {
    let v = list.at(i);
    let here = points.at(v);
    let size = owners.len();
    let mut slot = slot_of(key(here), size);
    let mut owner = owners.at(slot);
    while owner.is_some() && !are_equal(points.at(owner), here) {
        slot = if slot + 1 == size { 0 } else { slot + 1 };
        owner = owners.at(slot);
    }
    lowest.set(v, if owner.is_some() { owner } else { v });
}

/// The place of a vertex.
#[inline(always)]
fn place_of(lowest: In<Vertex, Vertex>, v: Vertex) -> Vertex {
    let place = lowest.at(v);
    if place.is_some() { place } else { v }
}

/// Finds the places at which triangle `t` has two corners: their copies stay apart.
#[kernel(
    requires(copies.len() == 3 * n, parted.len() == words(lowest.len())),
    moves(copies.bytes() + lowest.bytes())
)]
pub fn find_flat_corners(
    t: Own<Triangle>,
    copies: In<Vertex, HalfEdge>,
    lowest: In<Vertex, Vertex>,
    parted: Atomic<Bits<Vertex>>,
) {
    let corners = copies.at_all([t.part(0), t.part(1), t.part(2)]);
    let [a, b, c] = corners.each(|v| place_of(lowest, v));
    if a == b || a == c {
        parted.set_bit(a);
    }
    if b == c {
        parted.set_bit(b);
    }
}

/// Makes vertex `list[i]` a place of its own, and locks it, if its place is one of `parted`.
#[kernel(
    requires(list.len() == n, lowest.len() == sites.len(), parted.len() == words(sites.len())),
    moves(list.bytes() + 12 * n)
)]
pub fn part_copies(
    i: Item,
    list: view::In<Vertex>,
    parted: view::In<Bits<Vertex>>,
    lowest: view::Out<Vertex>,
    sites: view::Out<Site>,
) {
    let v = list.at(i);
    if parted.bit(lowest.at(v)) {
        lowest.set(v, v);
        let mut site = sites.at(v);
        site.marks |= mark::LOCKED;
        sites.set(v, site);
    }
}

/// Writes the place of the copy of half-edge `h`.
#[kernel(
    requires(copies.len() == n, corners.len() == n, starts.len() == n),
    moves(copies.bytes() + lowest.bytes() + corners.bytes() + starts.bytes())
)]
pub fn place_copies(
    h: Own<HalfEdge>,
    copies: In<Vertex, HalfEdge>,
    lowest: In<Vertex, Vertex>,
    corners: Out<Vertex, HalfEdge>,
    starts: Out<Start, HalfEdge>,
) {
    let place = place_of(lowest, copies.at(h));
    corners.set(h, place);
    starts.set(h, Start::without_cost(place));
}

/// Finds place `list[i]` if the triangles of its copies together are no single fan: they stay apart.
#[kernel(
    requires(list.len() == n, parted.len() == words(fans.spans.len())),
    moves(list.bytes() + 36 * n)
)]
pub fn find_parted(
    i: Item,
    list: view::In<Vertex>,
    lowest: view::In<Vertex>,
    fans: Fans,
    points: view::In<DVec3>,
    parted: view::Atomic<Bits<Vertex>>,
) {
    let v = list.at(i);
    let count = count_corners(&fans, v);
    if lowest.at(v) != v || count == 0 || count > MOST_IN_FAN {
        return;
    }
    let marked = fan_of(&fans, v, count, |v| points.at(v), |_, _| ());
    if marked & mark::APART != 0 {
        parted.set_bit(v);
    }
}

#[inline(always)]
fn count_corners(fans: &Fans, v: Vertex) -> u32 {
    let mut count = 0;
    fans.all(v, |_, _, _| {
        count += 1;
        true
    });
    count
}

/// Writes the quadric and the marks of place `list[i]`, by the sites of its copies, which lose their marks.
#[kernel(
    requires(list.len() == n, copies.len() == fans.starts.len(), sites.len() == fans.spans.len()),
    moves(list.bytes() + 36 * n)
)]
pub fn join_sites(
    i: Item,
    list: view::In<Vertex>,
    lowest: view::In<Vertex>,
    fans: Fans,
    copies: view::In<Vertex>,
    points: view::In<DVec3>,
    sites: view::Out<Site>,
) {
    let v = list.at(i);
    if lowest.at(v) != v {
        return;
    }
    let mut site = sites.at(v);
    if count_corners(&fans, v) > MOST_IN_FAN {
        fans.all(v, |h, _, _| {
            let v = copies.at(h);
            let mut copy = sites.at(v);
            copy.marks = 0;
            sites.set(v, copy);
            true
        });
        site.marks = mark::SEAM | mark::LOCKED | mark::APART;
        sites.set(v, site);
        return;
    }
    let mut locked = site.marks & mark::LOCKED;
    // The copies in ascending order; the lowest names the place, and has triangles.
    let (mut last, mut count) = (v, 1);
    loop {
        let mut next = Vertex::NONE;
        fans.all(v, |h, _, _| {
            let copy = copies.at(h);
            if copy > last && copy < next {
                next = copy;
            }
            true
        });
        if next.is_none() {
            break;
        }
        let mut copy = sites.at(next);
        site.quadric = site.quadric.plus(&copy.quadric);
        locked |= copy.marks & mark::LOCKED;
        copy.marks = 0;
        sites.set(next, copy);
        (last, count) = (next, count + 1);
    }
    let corners = count_corners(&fans, v);
    let shape = fan_of(&fans, v, corners, |v| points.at(v), |_, _| ());
    site.marks = shape | locked | seam_marks(&fans, copies, v, count, shape);
    sites.set(v, site);
}

/// The marks of a place with this `count` of copies for the seams at it. `shape` are its marks without them.
#[inline(always)]
fn seam_marks(fans: &Fans, copies: view::In<Vertex>, v: Vertex, count: u32, shape: u32) -> u32 {
    let mut edges = 0;
    fans.all(v, |h, _, c| {
        // The triangle that follows starts where this one ends.
        fans.all(v, |g, b, _| {
            let is_next = b == c;
            if is_next {
                let near = copies.at(h) != copies.at(g);
                let far = copies.at(h.prev()) != copies.at(g.next());
                edges += u32::from(near || far);
            }
            !is_next
        });
        true
    });
    let is_whole = shape & (mark::BORDER | mark::APART) == 0;
    match (edges, count) {
        (0, 1) => 0,
        (1, 1) if is_whole => mark::SEAM,
        (2, 2) if is_whole => mark::SEAM | mark::LINE,
        _ => mark::SEAM | mark::LOCKED,
    }
}

/// Locks vertex `list[i]` if it is on the boundary.
#[kernel(requires(list.len() == n), moves(list.bytes() + 8 * n))]
pub fn lock_border(i: Item, list: view::In<Vertex>, sites: view::Out<Site>) {
    let v = list.at(i);
    let mut site = sites.at(v);
    if site.marks & mark::BORDER != 0 {
        site.marks |= mark::LOCKED;
        sites.set(v, site);
    }
}

/// Writes the area of the quadric of vertex `v`.
#[kernel(requires(sites.len() == n, areas.len() == n), moves(16 * n))]
pub fn write_areas(v: Own<Vertex>, sites: In<Site, Vertex>, areas: Out<f64, Vertex>) {
    areas.set(v, sites.at(v).quadric.area);
}
