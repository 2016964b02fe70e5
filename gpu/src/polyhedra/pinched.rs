//! Polyhedra whose surface is no 2-manifold: two of their tops are the same vertex.

use trioxide_kernel::safe::{self, In, Own, Safe};
use trioxide_kernel::{NONE, Out, kernel};

use super::trees::Trees;
use crate::ids::{FaceSide, Item, Polyhedron, Tet, Vertex};
use crate::tet_faces::{corner_at, corners_of};
use trioxide_kernel::rows::{Rows, sort};

/// First top of polyhedron `p` in the list of all tops: n tetrahedra have n + 3 tops.
#[inline(always)]
fn first_top(before: u32, p: u32) -> u32 {
    before + 3 * p
}

/// The first vertex that occurs twice in an ascending list, or `NONE`.
#[inline(always)]
fn first_double(tops: impl Fn(u32) -> u32, start: u32, end: u32) -> u32 {
    let mut i = start + 1;
    while i < end {
        if tops(i) == tops(i - 1) {
            return tops(i);
        }
        i += 1;
    }
    NONE
}

/// Lists the tops of polyhedron `p`, ascending. Returns whether two are the same vertex: then its surface is no
/// 2-manifold.
#[kernel(
    requires(
        trees.fit(),
        tets.offsets.len() == n + 1,
        tops.len() == tets.items.len() + 3 * n
    ),
    moves(tets.offsets.bytes() + tets.items.bytes() + trees.bytes() + tops.bytes() + 4 * words(n))
)]
pub fn list_tops(
    p: Polyhedron,
    trees: Trees,
    tets: Rows<Tet>,
    // Numbers of vertices, which the sort takes.
    tops: Out<u32>,
) -> bool {
    // SAFETY: the launch's promise: trees and lists are of one mesh.
    let (trees, tets) = unsafe { (trees.trusted(), tets.trusted()) };
    let (first, end) = (tets.start(p), tets.end(p));
    let start = first_top(first, p.index());
    let mut slot = start;
    let mut push = |v: Vertex| {
        tops.set(slot, v.index());
        slot += 1;
    };
    let mut place = first;
    while place < end {
        let t = tets.items.at(place);
        let q = corners_of(trees.tetrahedra, t);
        let link = trees.links.at(t);
        if link.parent() == t {
            push(q[0]);
            push(q[1]);
            push(q[2]);
            push(q[3]);
        } else {
            push(corner_at(q, link.place()));
        }
        place += 1;
    }
    sort(tops, start, slot);
    first_double(|i| tops.at(i), start, slot) != NONE
}

/// Chooses the joint at which pinched polyhedron `pinched[i]` is split: `cuts` gets its side.
///
/// Let v be the lowest vertex that is a top twice, and a and b the two lowest tetrahedra whose top it is. Of the m
/// joints without v on the path between them, counted from the lower tetrahedron, number m/2 is cut, rounded down.
#[kernel(requires(
    pinched.len() == n,
    trees.fit(),
    cuts.len() == n
))]
pub fn choose_splits(
    i: Own<Item>,
    pinched: In<Polyhedron, Item>,
    trees: Trees,
    tets: Rows<Tet>,
    tops: In<u32>,
    cuts: safe::Out<FaceSide, Item>,
) {
    let p = pinched.at(i);
    let (first, end) = (tets.start(p), tets.end(p));
    let double = first_double(
        |i| tops.at(i),
        first_top(first, p.index()),
        first_top(end, p.index() + 1),
    );
    let v = Vertex::new(double);
    let next_top = |mut place: u32| {
        while place < end && !trees.is_top(tets.items.at(place), v) {
            place += 1;
        }
        place
    };
    let at_a = next_top(first);
    let at_b = next_top(at_a + 1);
    if double == NONE || at_b >= end {
        cuts.set(i, FaceSide::NONE);
        return;
    }
    let (a, b) = (tets.items.at(at_a), tets.items.at(at_b));
    // The joints without the vertex on the way up from each, until the paths meet.
    let (depth_a, depth_b) = (trees.depth(a), trees.depth(b));
    let joint = |t: Tet| FaceSide::of(t, trees.links.at(t).place());
    let climb = |most_a: u32, most_b: u32| {
        let (mut x, mut y) = (a, b);
        let (mut high, mut low) = (depth_a, depth_b);
        let (mut count_a, mut count_b) = (0, 0);
        let mut found = FaceSide::NONE;
        while x != y {
            if high >= low {
                if !trees.joint_has(x, v) {
                    if count_a == most_a {
                        found = joint(x);
                    }
                    count_a += 1;
                }
                x = trees.links.at(x).parent();
                high -= 1;
            } else {
                if !trees.joint_has(y, v) {
                    if count_b == most_b {
                        found = joint(y);
                    }
                    count_b += 1;
                }
                y = trees.links.at(y).parent();
                low -= 1;
            }
        }
        (count_a, count_b, found)
    };
    let (count_a, count_b, _) = climb(u32::MAX, u32::MAX);
    let middle = (count_a + count_b) / 2;
    let (_, _, cut) = if middle < count_a {
        climb(middle, u32::MAX)
    } else {
        climb(u32::MAX, count_a + count_b - 1 - middle)
    };
    cuts.set(i, cut);
}
