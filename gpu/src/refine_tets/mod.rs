//! Longest-edge bisection of tetrahedral meshes: the pattern of gpu-longest-edge-bisection-2011, which leaves three
//! dimensions as future work (section 6.1).
//!
//! T tetrahedra, four vertices each, positively oriented; V points; E edges. Some tetrahedra are marked. The result is
//! a conforming mesh in which every marked tetrahedron is divided, and every bisection of an edge of the input is by a
//! longest edge.
//!
//! | stage | covers, in the paper |
//! | --- | --- |
//! | [`check_tetrahedra`] | the conditions that the other kernels rely on |
//! | [`number_edges`] | edges and their owners (3.1), which the paper is given |
//! | [`order_edges`] | steps 1 and 2: lengths and longest edges |
//! | [`mark_tetrahedra`], [`mark_edges`] | step 2: the marks |
//! | [`close_marks`], [`close_few_marks`] | steps 3 and 4: the dependencies, and marks along them |
//! | [`count_children`], `collective::exclusive_scan` | steps 5 and 6 |
//! | [`place_midpoints`], [`write_children`] | step 7 |
//! | [`divide_faces`] | the same for triangles that carry boundary tags |
//! | [`coarsen`] | the way back to the level before |
//!
//! A stage is a file of its name; "check children" is [`check_tetrahedra`] again.
//!
//! # Order of edges
//!
//! Edges are totally ordered: by their squared length as rounded, which is the same from either end and in every
//! tetrahedron; of two equal ones the edge with the smaller id counts as longer. Edge ids follow the first use of each
//! edge, tetrahedron by tetrahedron, in each by the local order 01, 02, 03, 12, 13, 23. The proofs below only need the
//! order than that it is total: rounding cannot break conformity.
//!
//! # Closure
//!
//! Let s be a tetrahedron or one of its faces, e a marked edge of s. Then the longest edge of s is marked too. A set of
//! marks that keeps this rule for all e and s is *closed*. The edges that e requires depend on nothing but e: they are
//! the paper's dependencies (section 4.2), here a graph in which an edge has up to three successors in each tetrahedron
//! around it. Each successor is longer than e or e itself, so the graph has no cycle and following it ends. The closure
//! is the set of edges reached from the marks, whatever the order of the visits; [`close_marks`] goes breadth first: a
//! round looks at all tetrahedra, or, where few are marked, at those around marked edges ([`close_few_marks`]).
//!
//! Neither rule implies the other. The tetrahedron's rule concerns no face that does not hold its longest edge. The
//! faces' rule does not mark the longest edge l of a tetrahedron if its only marked edge is opposite to l and the
//! longest of both its faces. (Any other edge of the tetrahedron shares a face with l, so there the faces' rule implies
//! the tetrahedron's.)
//!
//! # Division
//!
//! Let S be a simplex (tetrahedron, face or edge) and M its marked edges. D(S, M) is {S} if M is empty. Otherwise let
//! e = ab be the longest edge in M, m its midpoint. S is bisected into S_a, with m instead of b, and S_b, with m
//! instead of a; and D(S, M) is the union of D(S_a, M_a) and D(S_b, M_b), where M_a and M_b are the edges of M that lie
//! in S_a and in S_b. Each has fewer edges than M, so this ends. An edge with end m is none of the original ones and is
//! not divided.
//!
//! *Lemma.* For a face G of S, of any dimension, the simplices of D(S, M) restricted to G are D(G, M_G), M_G being the
//! edges of M in G. Proof by induction over the number of edges in M; for none there is nothing to show.
//!
//! - Let e lie in G. It is the longest in M_G as well, so G is bisected into G_a and G_b, faces of S_a and S_b. By
//!   induction, these restrict to D(G_a, M_Ga) and D(G_b, M_Gb), whose union is D(G, M_G) by definition.
//! - Let one end of e lie in G, say a. G is a face of S_a, with the same edges of M as before; and S_b meets G in a
//!   face of G which S_a has too. By induction S_a restricts to D(G, M_G).
//! - Let no end lie in G. Then G is a face of both, and by induction both restrict to D(G, M_G).
//!
//! *Conformity.* (1) D(S, M) conforms: S_a and S_b meet in the face with m and the vertices off e; by the lemma both
//! are divided there as that face's own marks ask for. (2) Two tetrahedra of the mesh that share a face, or an edge,
//! divide it alike: by the lemma, as D(G, M_G), which depends on G, its marks and the order of its edges only. So the
//! whole mesh conforms, **with any marks**: the closure is not needed for it. The same lemma divides triangles that
//! carry a boundary tag: [`divide_faces`] runs the recursion on them alone.
//!
//! *The purpose of the closure.* With closed marks, the first bisection of each tetrahedron and of each face is by its
//! longest edge. So each face gets one of Rivara's templates (the paper's figure 1.2), as a triangle in the plane does.
//! A tetrahedron with all six edges marked gets eight children: the 8T-LE partition of Plaza and Carey, Local
//! refinement of simplicial grids based on the skeleton (2000).
//!
//! *Volume and orientation.* A child keeps its parent's vertex order, with one end of an edge moved to its midpoint:
//! half the volume, the same sign. Midpoints are rounded, so the children of a tetrahedron that is as thin as
//! coordinates are apart could be flat: after each level the children are checked like an input.
//!
//! # Children in one launch
//! A child is a path in the tree of bisections. A simplex in it is identified by the set of the tetrahedron's vertices
//! that it has kept: its original edges are the edges between them. It has four at first and loses one with each
//! bisection, so the tree is three levels high, and three bits identify a leaf: for each level whether the child keeps
//! the lower or the upper end. With vertices as a set of four bits, an edge is a set of two; the order of a
//! tetrahedron's edges is six such sets, 24 bits, longest first; and the next edge to bisect is the first marked one
//! within the kept set ([`longest_within()`]). So all 63 patterns of marks in all orders need neither templates nor
//! tables, and no array in memory: a thread visits one leaf after the other.
//!
//! Child 0 takes its parent's place, the others follow the T tetrahedra, in the order of their parents: slots from
//! prefix sums as in the paper (4.3).

pub mod check_tetrahedra;
pub mod close_few_marks;
pub mod close_marks;
pub mod coarsen;
pub mod count_children;
pub mod divide_faces;
pub mod mark_edges;
pub mod mark_tetrahedra;
pub mod number_edges;
pub mod order_edges;
pub mod place_midpoints;
pub mod write_children;

use trioxide_kernel::safe::In;

use crate::ids::{Tet, Vertex};

/// Vertices of tetrahedron `t`.
#[inline(always)]
fn corners(tetrahedra: In<Vertex>, t: Tet) -> [Vertex; 4] {
    tetrahedra.quad(4 * t.index())
}

/// All vertices of a tetrahedron, as a set.
pub const TETRAHEDRON: u32 = 0b1111;
/// All vertices of a triangle, as a set.
pub const TRIANGLE: u32 = 0b0111;

/// Vertex sets of edges 01, 02, 03, 12, 13, 23, four bits each.
const SETS: u32 = 0xCA_6953;
/// Index of the edge with each vertex set, four bits each.
const INDICES: u64 = {
    let mut indices = 0;
    let mut k = 0;
    while k < 6 {
        indices |= k << (4 * (SETS >> (4 * k) & 15));
        k += 1;
    }
    indices
};

/// Vertices of edge `k` of a tetrahedron, as a set.
#[inline(always)]
pub fn edge_set(k: u32) -> u32 {
    SETS >> (4 * k) & 15
}

/// Index of the edge of a tetrahedron with the vertices in `set`.
#[inline(always)]
pub fn edge_index(set: u32) -> u32 {
    (INDICES >> (4 * set)) as u32 & 15
}

/// The lowest and the highest vertex in a set.
#[inline(always)]
pub fn ends(set: u32) -> (u32, u32) {
    (set.trailing_zeros(), 31 - set.leading_zeros())
}

/// The longest of the edges in `order` (sets of four bits, longest first) whose ends both lie in `within`; 0 if there
/// is none.
#[inline(always)]
pub fn longest_within(order: u32, within: u32) -> u32 {
    let mut rest = order;
    while rest != 0 {
        let edge = rest & 15;
        if edge & !within == 0 {
            return edge;
        }
        rest >>= 4;
    }
    0
}

/// Paths in the tree of bisections of a tetrahedron.
pub const PATHS: u32 = 8;

/// Walks from the simplex with the vertices `all` to the leaf `path`, bisecting by the edges in `marked` (sets, longest
/// first): `bisect` gets each edge and the set of the end that its midpoint replaces. Returns whether there is such a
/// leaf.
///
/// The highest of the three bits of `path` is the first bisection's: 0 keeps the lower end, 1 the upper. The bits after
/// a leaf's last bisection are 0.
#[inline(always)]
pub fn walk(marked: u32, all: u32, path: u32, mut bisect: impl FnMut(u32, u32)) -> bool {
    let mut kept = all;
    let mut path = path;
    loop {
        let edge = longest_within(marked, kept);
        if edge == 0 {
            return path == 0;
        }
        let low = edge & edge.wrapping_neg();
        let replaced = if path & 4 == 0 { edge ^ low } else { low };
        bisect(edge, replaced);
        kept ^= replaced;
        path = path << 1 & 7;
    }
}

/// Bisects a simplex with the vertices `kept` by the longest of its edges in `marked`. Returns the edge, the vertices
/// kept by the half with the edge's lower end, and the vertices kept by the other half; `None` if it has no marked
/// edge.
#[inline(always)]
fn halves(marked: u32, kept: u32) -> Option<(u32, [u32; 2])> {
    let edge = longest_within(marked, kept);
    let low = edge & edge.wrapping_neg();
    (edge != 0).then_some((edge, [kept ^ edge ^ low, kept ^ low]))
}

/// Number of leaves of the tree of bisections.
#[inline(always)]
pub fn count_leaves(marked: u32, all: u32) -> u32 {
    // After three bisections one vertex is kept.
    let third = |kept| 1 + u32::from(longest_within(marked, kept) != 0);
    let second = |kept| match halves(marked, kept) {
        None => 1,
        Some((_, [a, b])) => third(a) + third(b),
    };
    match halves(marked, all) {
        None => 1,
        Some((_, [a, b])) => second(a) + second(b),
    }
}

/// Most leaves of the tree of bisections.
pub const LEAVES: usize = 8;

/// A simplex in the tree of bisections: its corners, and the vertices that it has kept.
#[derive(Clone, Copy)]
struct Simplex<V> {
    corners: [V; 4],
    kept: u32,
}

impl<V: Copy> Simplex<V> {
    /// Both halves, the one with the lower end of the bisected edge first.
    #[inline(always)]
    fn bisected(self, marked: u32, midpoint: &impl Fn(u32) -> V) -> Option<[Self; 2]> {
        let (edge, kept) = halves(marked, self.kept)?;
        let m = midpoint(edge);
        let half = |kept: u32| {
            let replaced = self.kept ^ kept;
            let [a, b, c, d] = self.corners;
            Self {
                corners: [
                    if replaced == 1 { m } else { a },
                    if replaced == 2 { m } else { b },
                    if replaced == 4 { m } else { c },
                    if replaced == 8 { m } else { d },
                ],
                kept,
            }
        };
        Some([half(kept[0]), half(kept[1])])
    }
}

/// Calls `visit` with the corners of each leaf of the tree of bisections of a tetrahedron, in the order of their paths;
/// `midpoint` gives the middle of an edge in `marked`. The tree is walked once: [`walk()`] begins at the root for each
/// leaf.
#[inline(always)]
pub fn each_leaf<V: Copy>(
    marked: u32,
    corners: [V; 4],
    midpoint: impl Fn(u32) -> V,
    mut visit: impl FnMut([V; 4]),
) {
    let kept = TETRAHEDRON;
    match (Simplex { corners, kept }).bisected(marked, &midpoint) {
        None => visit(corners),
        Some([a, b]) => {
            leaves_of_half(a, marked, &midpoint, &mut visit);
            leaves_of_half(b, marked, &midpoint, &mut visit);
        }
    }
}

/// The leaves of a part with three vertices kept.
#[inline(always)]
fn leaves_of_half<V: Copy>(
    half: Simplex<V>,
    marked: u32,
    midpoint: &impl Fn(u32) -> V,
    visit: &mut impl FnMut([V; 4]),
) {
    match half.bisected(marked, midpoint) {
        None => visit(half.corners),
        Some([a, b]) => {
            leaves_of_quarter(a, marked, midpoint, visit);
            leaves_of_quarter(b, marked, midpoint, visit);
        }
    }
}

/// The leaves of a part with two vertices kept: the halves of its only edge are not divided.
#[inline(always)]
fn leaves_of_quarter<V: Copy>(
    quarter: Simplex<V>,
    marked: u32,
    midpoint: &impl Fn(u32) -> V,
    visit: &mut impl FnMut([V; 4]),
) {
    match quarter.bisected(marked, midpoint) {
        None => visit(quarter.corners),
        Some([a, b]) => {
            visit(a.corners);
            visit(b.corners);
        }
    }
}
