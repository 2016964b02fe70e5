//! Polyhedra whose surface is no 2-manifold: two of their tops are the same vertex.

use trioxide_kernel::{Bits, Group, In, NONE, Out, kernel};

use super::chosen;
use crate::collective::{Rows, sort};
use crate::ids::{FaceSide, Polyhedron, Tet, Vertex};
use crate::tet_faces::{corner_at, corners_of};

/// The trees of tetrahedra.
#[derive(Group)]
pub struct Trees<'a> {
    /// Vertices, four for each tetrahedron; 4T.
    pub tetrahedra: In<'a, Vertex>,
    /// The chosen side of each tetrahedron; 4T bits.
    pub largest: In<'a, Bits<FaceSide>>,
    /// Parent of each tetrahedron, itself for a root; T.
    pub parents: In<'a, Tet>,
}

#[cfg(not(target_arch = "nvptx64"))]
impl TreesBuffers<'_> {
    /// Whether the arrays have the lengths of one mesh.
    pub fn fit(&self) -> bool {
        self.tetrahedra.len() == 4 * self.parents.len()
            && 8 * self.largest.len() >= self.parents.len()
    }

    /// Size of all arrays.
    pub fn bytes(&self) -> usize {
        self.tetrahedra.bytes() + self.largest.bytes() + self.parents.bytes()
    }
}

impl Trees<'_> {
    /// Whether `t` is where the tree that grows from its root meets vertex `v` first: `v` is opposite to the joint with the parent,
    /// or `t` is the root and has `v`.
    #[inline(always)]
    fn is_top(self, t: Tet, v: Vertex) -> bool {
        let q = corners_of(self.tetrahedra, t);
        if self.parents.at(t) == t {
            return (q[0] == v) | (q[1] == v) | (q[2] == v) | (q[3] == v);
        }
        corner_at(q, chosen(self.largest, t).place()) == v
    }

    /// Steps from `t` to its root.
    #[inline(always)]
    fn depth(self, t: Tet) -> u32 {
        let mut place = t;
        let mut steps = 0;
        while self.parents.at(place) != place {
            place = self.parents.at(place);
            steps += 1;
        }
        steps
    }

    /// Whether the joint of `t` with its parent has vertex `v`.
    #[inline(always)]
    fn joint_has(self, t: Tet, v: Vertex) -> bool {
        let q = corners_of(self.tetrahedra, t);
        let place = chosen(self.largest, t).place();
        (q[0] == v && place != 0)
            | (q[1] == v && place != 1)
            | (q[2] == v && place != 2)
            | (q[3] == v && place != 3)
    }
}

/// First top of polyhedron `p` in the list of all: n + 3 tops for n tetrahedra.
#[inline(always)]
fn first_top(before: u32, p: u32) -> u32 {
    before + 3 * p
}

/// The first vertex that is twice in an ascending list, or `NONE`.
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

/// Lists the tops of polyhedron `p`, ascending, and says whether two are the same vertex: its surface is no 2-manifold.
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
    // Numbers of vertices: the sort is one of numbers.
    tops: Out<u32>,
) -> bool {
    let (first, end) = (tets.offsets.at(p), tets.offsets.at(p.index() + 1));
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
        if trees.parents.at(t) == t {
            push(q[0]);
            push(q[1]);
            push(q[2]);
            push(q[3]);
        } else {
            push(corner_at(q, chosen(trees.largest, t).place()));
        }
        place += 1;
    }
    sort(tops, start, slot);
    first_double(|i| tops.at(i), start, slot) != NONE
}

/// Chooses the joint by which pinched polyhedron `pinched[i]` is split: `cuts` gets its side.
///
/// Of the lowest vertex that is a top twice, the two tetrahedra with the lowest ids whose top it is; of the joints on the path
/// between them that do not have the vertex, counted from the lower tetrahedron, number m/2 of m, rounded down.
#[kernel(requires(
    pinched.len() == n,
    trees.fit(),
    cuts.len() == n
))]
pub fn choose_splits(
    i: u32,
    pinched: In<Polyhedron>,
    trees: Trees,
    tets: Rows<Tet>,
    tops: In<u32>,
    cuts: Out<FaceSide>,
) {
    let p = pinched.at(i);
    let (first, end) = (tets.offsets.at(p), tets.offsets.at(p.index() + 1));
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
    // Joints without the vertex on the way up from each, as far as the paths differ.
    let (depth_a, depth_b) = (trees.depth(a), trees.depth(b));
    let climb = |most_a: u32, most_b: u32| {
        let (mut x, mut y) = (a, b);
        let (mut high, mut low) = (depth_a, depth_b);
        let (mut count_a, mut count_b) = (0, 0);
        let mut found = FaceSide::NONE;
        while x != y {
            if high >= low {
                if !trees.joint_has(x, v) {
                    if count_a == most_a {
                        found = chosen(trees.largest, x);
                    }
                    count_a += 1;
                }
                x = trees.parents.at(x);
                high -= 1;
            } else {
                if !trees.joint_has(y, v) {
                    if count_b == most_b {
                        found = chosen(trees.largest, y);
                    }
                    count_b += 1;
                }
                y = trees.parents.at(y);
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
