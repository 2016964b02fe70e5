//! Polylla in three dimensions: a mesh of tetrahedra becomes a mesh of polyhedra. This is the rule of largest faces;
//! [`cavity`] has the rule of circumspheres.
//!
//! T tetrahedra, V vertices. Sides of faces and `twins` are those of [`crate::tet_faces`]. Each tetrahedron chooses its
//! largest face. A face that both of its tetrahedra choose is *terminal*. A face is a *frontier face* if it lies on the
//! boundary, if it is constrained, or if neither of its tetrahedra chooses it. Tetrahedra joined through faces that are
//! no frontier are a region.
//!
//! | stage | kernels |
//! | --- | --- |
//! | mark constraints | [`mark_region_faces()`], [`mark_constrained_faces()`] |
//! | label largest faces | [`label_largest_faces()`], [`label_widest_faces()`] |
//! | label frontier faces | [`label_frontier_faces()`]: links too, since both read each side's twin |
//! | find roots | [`find_roots()`] |
//! | find barrier faces | [`find_barrier_faces()`] |
//! | repair barrier tips | [`find_tips()`], [`cut_faces()`] |
//! | number polyhedra | [`assign_tetrahedra()`], [`list_tetrahedra()`]; `collective::rank`, `collective::scan` |
//! | list faces | [`list_faces()`] |
//! | check barrier faces | [`check_barrier_faces()`] |
//! | find pinched polyhedra | [`list_tops()`] |
//! | split pinched polyhedra | [`choose_splits()`], [`cut_faces()`]; for the option `strict` |
//! | take trees | [`find_taken()`], [`set_apart()`]; for a rank's part of a mesh |
//!
//! # Regions are trees
//!
//! Faces are totally ordered: by their measure, and of two equal ones the face with the smaller id (its lower side)
//! counts as larger. The measure is computed from the vertices in ascending order of ids, so both sides get the same
//! bits. A walk that leaves a tetrahedron through its chosen face reaches a tetrahedron whose chosen face is larger or
//! the same one. So no walk returns, and each ends at a *root*: a tetrahedron whose chosen face is on the boundary,
//! constrained, or terminal; of the two tetrahedra at a terminal face, the one of its lower side is the root. The
//! chosen face's other tetrahedron is the *parent*. A region is the tree of one root, which names it. A tree of n
//! tetrahedra has n - 1 joints, so 4n - 2(n - 1) = 2n + 2 sides are in its surface.
//!
//! # Barrier faces and tips
//!
//! A *barrier face* is a frontier face with the same region on both sides. Its *tip* is an edge around which it is the
//! only frontier face: the surface runs to the edge and back. The faces around an edge belong to a ring of tetrahedra:
//! where tetrahedra overlap, an edge may have several rings, and open fans too, and each ring counts separately.
//!
//! - *Every inner edge has a frontier face.* Otherwise the tetrahedra around it would join to a ring, and a tree has
//!   none.
//! - *An inner edge with one frontier face is a tip, and the face a barrier face*: the tetrahedra around the edge join
//!   from one side of the face to the other. So the walk around an edge from one side of a face to the next frontier
//!   face decides.
//! - *A barrier face has one tip at most.* The tetrahedra around a tip, from one side of the face to the other, are the
//!   path between these two in the tree, which is unique. Two tips would need tetrahedra that have both edges, hence
//!   all vertices of the face: only the two at the face, which then would share a second face, and so all vertices.
//! - *So a tip is found in the tree.* A barrier face has a tip if and only if all tetrahedra of the path between its
//!   two have the same edge of the face. The path is followed by links alone, without the walks around the three edges,
//!   most of which find another frontier face ([`find_tips()`]).
//! - *Repair.* Of the n tetrahedra around a tip, counted from the lower side of the face, the face after number n/2
//!   (rounded down) becomes a frontier face. A tree without one of its joints is two trees, so the number of polyhedra
//!   grows by the number of different faces cut, each polyhedron is one piece, and 2n + 2 holds for it.
//! - *One round is enough.* A cut face has two trees on its sides, so it is no barrier face, and no other face becomes
//!   one. Cuts only add frontier faces around an edge, so no edge becomes a tip; and each tip got its second frontier
//!   face. All tips choose with the labels from before the repair, so the result depends on no order.
//!
//! Barrier faces without a tip may remain: the region closes around them, like a ring around a pillar. They are
//! counted, and both of their sides are in the surface.
//!
//! # Pinched polyhedra
//!
//! Glued along its n - 1 joints alone, a tree of n tetrahedra is a ball: each tetrahedron but the root adds a vertex,
//! its *top*, opposite to the joint with its parent, so there are n + 3 vertices, and the surface is a sphere. In the
//! mesh some of the n + 3 may be the same vertex. If all differ, the polyhedron is that ball: a stacked ball's edges
//! and faces have different vertices, so no two of these coincide either. If two tops are the same vertex, the surface
//! has the vertex twice: it is pinched there, or at an edge, or at a barrier face. So *a polyhedron's surface is a
//! 2-manifold if and only if its n + 3 tops differ*. The option `strict` cuts the path in the tree between two tops
//! that are the same vertex, and repeats. It cuts at the middle one of those joints on the path that do not have the
//! vertex. Each cut makes trees smaller, and one tetrahedron is a ball, so this ends.
//!
//! # Locality
//!
//! Between stages a tetrahedron is a bit for each side and a word: its [`Link`], which holds the parent and the place
//! of the chosen face. A read of another tetrahedron's word costs a sector of 32 bytes where ids have no locality, so
//! stages that walk read links only. Numbers of polyhedra are ranks in the set of roots, which has a bit for each
//! tetrahedron; they are not words at the roots. Counts are added up on the device ([`tally`]); the host waits for
//! three of them: the barrier faces, to launch their repair; the polyhedra, to make room for them; and the remaining
//! counts, at the end.
//!
//! # Other measures
//!
//! The prototypes (arXiv 2310.03665) also choose by other measures of a face, and some of these use squared lengths for
//! lengths, which is another order. The family has the area, and the circumradius, which prefers the faces of slivers.

mod barrier_faces;
pub mod cavity;
pub mod find_roots;
pub mod label_frontier_faces;
pub mod label_largest_faces;
mod link;
pub mod list_faces;
mod mark_constraints;
mod pinched;
mod repair_tips;
mod take_trees;
mod trees;

pub use kernels::*;

/// The kernels and their launches. In the family's own module a stage's file hides the launch of its name.
pub mod kernels {
    pub use super::barrier_faces::*;
    pub use super::cavity::*;
    pub use super::find_roots::*;
    pub use super::label_frontier_faces::*;
    pub use super::label_largest_faces::*;
    pub use super::link::Link;
    pub use super::list_faces::*;
    pub use super::mark_constraints::*;
    pub use super::pinched::*;
    pub use super::repair_tips::*;
    pub use super::take_trees::*;
    pub use super::trees::*;
}

use trioxide_kernel::Bits;
use trioxide_kernel::safe::In;

use crate::ids::{FaceSide, Tet};

/// Counts that the kernels of a run add up, and the host reads.
pub mod tally {
    /// 1 if a walk has not reached its root.
    pub const UNFINISHED: u32 = 0;
    /// Barrier faces before the repair.
    pub const BARRIERS: u32 = 1;
    /// Regions before the repair.
    pub const REGIONS: u32 = 2;
    /// Regions that have a barrier face.
    pub const REGIONS_WITH_BARRIERS: u32 = 3;
    /// Barrier faces with a tip.
    pub const TIPS: u32 = 4;
    /// Polyhedra.
    pub const POLYHEDRA: u32 = 5;
    /// Tetrahedra of the largest polyhedron.
    pub const LONGEST: u32 = 6;
    /// Barrier faces after the repair.
    pub const BARRIERS_LEFT: u32 = 7;
    /// Number of counts.
    pub const COUNT: usize = 8;
}

/// The four bits of the sides of tetrahedron `t`: bit i is side i.
#[inline(always)]
pub fn sides_of(sides: In<Bits<FaceSide>>, t: Tet) -> u32 {
    sides.at(t.index() / 8).word() >> (4 * (t.index() % 8)) & 15
}
