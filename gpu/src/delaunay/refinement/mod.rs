//! Delaunay refinement: vertices are added to a constrained Delaunay triangulation until no triangle has an angle below
//! a bound, an area above one, or an edge above the wanted length there.
//!
//! # The steps
//!
//! An edge on a segment, or at the boundary, is a *subsegment*; before refinement it is a *whole*. A triangle is *bad*
//! if it is too large, or if the angle opposite to its shortest edge is below the bound B. It is too large if its area
//! is above the bound of its region, or if its longest edge is longer than the *size* at its centroid.
//!
//! Sizes are wanted edge lengths at the vertices of a *background*, another triangulation. The size at a place is
//! linearly interpolated in the background's triangle that contains it. Of several, at an edge or a corner (by the
//! exact orientation), it is the one of the lowest number. Outside of the background there is no bound.
//!
//! | step | source |
//! | --- | --- |
//! | a bad triangle gets a vertex at its circumcenter, or for its angle at an off-center nearer to its shortest edge | Ruppert 1995; Üngör 2004 |
//! | where that vertex would *encroach* a subsegment, it is dropped and the subsegment is split in the middle | Ruppert 1995 |
//! | a point encroaches if it sees the subsegment at an angle of 180 - 2B degrees or more: from its *lens* | Shewchuk 2002 |
//! | before a split, the *free* vertices, which are on no segment, in the subsegment's circle are removed | Chew 1993 |
//! | at an angle below 60 degrees between subsegments, these are split at powers of two, and nothing is removed | Ruppert 1995 |
//! | a triangle across such an angle, whose short edge joins two subsegments equally far from the corner, is not bad | Miller, Pav, Walkington 2005 |
//!
//! *Held* subsegments get no vertices: a vertex that would encroach one is dropped, and its triangle stays. A triangle
//! whose area is too large gets the vertex, or one at its centroid if the circumcenter is beyond a held subsegment.
//!
//! # Why the boundary stays simple
//!
//! A split of a boundary edge ab at p, rounded, has p on ab or inside of the triangle abc at it, and not on bc or ca,
//! by the exact orientation. So the mesh loses the triangle apb at most, which no other vertex is in: the boundary
//! crosses nothing, and touches nothing, that it did not before, and also not the other side of a slit of any width. An
//! inner subsegment's p is on the right side of the outer edges of both of its triangles, so the mesh stays one.
//!
//! # Why a round may do many at once
//!
//! The *cavity* of a new vertex is the triangles whose circles contain it, seen from it: they give way to a fan of
//! triangles around it. The cavity of a split is that on both sides of the subsegment, that of a removal is the
//! triangles around the vertex. In a round each proposal claims the triangles of its cavity, and is done if it has the
//! lowest claim of all, and no triangle next to its cavity has a lower claim.
//!
//! - *So the cavities that are done touch in points alone*, and their order does not matter. After the vertex p is
//!   added, the cavity of q can differ only by triangles of p's fan. A cavity is connected through edges, so one of
//!   them would share an edge with an old triangle of q's cavity. Such an edge is on the border of both cavities, and
//!   then only one of them is done.
//! - *A round equals steps one after the other*, each of which is one of the sequential algorithm: its triangle is bad
//!   when its round begins and until its own step, its vertex encroaches no subsegment, and a split's subsegment is
//!   encroached.
//! - *The lowest claim of a round is always done*, so rounds come to an end if steps do.
//!
//! Proposals, claims and new numbers follow from the numbers of triangles. These follow the curve, not the order of the
//! input: so any machine has the same rounds, and shuffled input gives the same mesh.
//!
//! # Why it ends
//!
//! Let the input's segments meet at 60 degrees or more, and B be at most 20.7 degrees: 2 sin B <= 1 / sqrt(2). Let r(v)
//! be the distance of v from the nearest vertex that it sees when it is added.
//!
//! - *A vertex for a bad triangle* with shortest edge e, whose later end is g: r(v) >= |e| / (2 sin B), since no
//!   vertex is within its circle, and |e| >= r(g). So r(v) >= sqrt(2) r(g). An off-center is farther
//!   from the ends of e than that, and no other vertex matters (Üngör 2004, section 4).
//! - *A vertex for a triangle that is too large* is the center of its circle, whose radius is at least half of the
//!   longest edge, and 0.87 times the root of the area. So r(v) is more than half of the smallest size, which is
//!   positive, or 0.87 times the root of the smallest bound of areas.
//! - *A split of a subsegment of length l*: its circle holds no free vertex, so r(v) = l / 2, or a vertex of another
//!   segment is nearer, which 60 degrees allow only if r(v) is no smaller than that vertex's own. If a dropped vertex p
//!   is the cause, it is within the lens, at most l / (2 cos B) from an end, so r(v) >= r(p) cos B.
//! - *So no cycle of causes shortens*: a split by a free vertex's cause costs a factor of cos B >= 1 / sqrt(2), and
//!   between two such splits a vertex for a bad triangle gains at least sqrt(2). All distances have a positive lower
//!   bound, and only finitely many vertices fit (Ruppert 1995, theorem 1; with lenses Shewchuk 2002, section 4).
//!
//! *A vertex at the centroid*, beside held subsegments: with longest edge L and area above A it is 2 A / 3 L from
//! the triangle's edges, and no vertex is within the circle around it of that radius. So finitely many fit.
//!
//! Where segments meet at less, powers of two keep the splits of both sides equal, and triangles across such angles are
//! left as they are. Where the numbers have no room for a vertex, the triangle is left too.
//!
//! # Stages
//!
//! | stage | kernels |
//! | --- | --- |
//! | list the background | [`find_wrong_size()`], [`count_cells()`], [`list_cells()`] |
//! | triangulate | the kernels of [`constrained`](super::constrained), up to its selection |
//! | take triangles | [`find_out_of_range()`], [`take_sides()`], [`carry_lines()`], [`name_wholes()`] |
//! | refine | [`mark_encroached()`], [`judge_triangles()`] |
//! | in its rounds | [`propose_splits()`], [`propose_inserts()`], [`confirm_rings()`], [`list_rings()`], [`write_rings()`] |
//! | of removals | [`confirm_removals()`], [`remove_vertices()`] |
//! | number vertices | [`find_kept()`], [`name_vertices()`], [`list_points()`] |
//! | list parts | [`count_on_wholes()`], [`link_parts()`], [`count_parts()`], [`write_parts()`] |
//! | measure triangles | [`find_alive()`], [`find_missed()`], [`find_long()`] |
//! | order triangles | those of [`reorder`](crate::reorder), [`take_refined()`], those of [`delaunay`](super) |

mod background;
mod begin;
mod cavity;
mod confirm;
mod end;
mod judge;
mod parts;
mod propose;
mod remove;
mod rings;

pub use background::*;
pub use begin::*;
pub use confirm::*;
pub use end::*;
pub use judge::*;
pub use parts::*;
pub use propose::*;
pub use remove::*;
pub use rings::*;

use bytemuck::{Pod, Zeroable};
use trioxide_kernel::safe::{Group, In, Scatter};

use crate::ids::{HalfEdge, Item, Place};

/// The kind of a vertex of the input. Other kinds are the whole on which a vertex lies.
pub const OF_INPUT: u32 = u32::MAX;
/// The kind of an added vertex that is on no segment.
pub const FREE: u32 = u32::MAX - 1;

/// Flag of a subsegment that is to be split, on both of its sides.
pub const TO_SPLIT: u32 = 1 << 31;
/// Flag of a subsegment that numbers allow no vertex on, on both sides.
pub const STUCK: u32 = 1 << 30;
/// Most half-edges before refinement: a whole is the number of one, beside the flags.
pub const MOST_WHOLES: u32 = STUCK - 1;

/// The kind of a proposal that does nothing.
pub const NOTHING: u32 = 0;
/// Adds a free vertex.
pub const INSERT: u32 = 1;
/// Splits a subsegment.
pub const SPLIT: u32 = 2;
/// Removes a free vertex.
pub const REMOVE: u32 = 3;

/// Bounds to reach.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub struct Goal {
    /// Squared cosine of the smallest angle; infinite for no bound.
    pub squared_cosine: f64,
    /// Squared cosine of the angle at which a subsegment is seen from the rim of its lens.
    pub lens: f64,
    /// Height of an off-center over its edge, per length.
    pub off_center: f64,
}

impl trioxide_kernel::Scalar for Goal {}

/// The bounds that triangles are judged by.
#[derive(Group)]
pub struct Bounds<'a> {
    /// The goal.
    pub goal: Goal,
    /// The kind of each vertex.
    pub kinds: In<'a, u32, Place>,
    /// Corners of the triangles before refinement: half-edge w of these is whole w.
    pub wholes: In<'a, Place>,
    /// The largest area of each region, and at last that of triangles without one.
    pub areas: In<'a, f64>,
    /// The sizes; kernels whose constant `SIZED` is false do not read them.
    pub background: Background<'a>,
}

/// Proposals, as they are made.
#[derive(Group)]
pub struct Proposals<'a> {
    /// [`NOTHING`], [`INSERT`], [`SPLIT`] or [`REMOVE`].
    pub kinds: Scatter<'a, u32, Item>,
    /// A half-edge: of the cavity of a vertex, of the subsegment, or one that starts at the removed vertex.
    pub starts: Scatter<'a, HalfEdge, Item>,
    /// The claim of each.
    pub claims: Scatter<'a, u64, Item>,
    /// Coordinates of the new vertex.
    pub x: Scatter<'a, f64, Item>,
    /// Coordinates of the new vertex.
    pub y: Scatter<'a, f64, Item>,
}

/// Proposals, as they were made.
#[derive(Group)]
pub struct Proposed<'a> {
    /// As in [`Proposals`].
    pub kinds: In<'a, u32, Item>,
    /// As in [`Proposals`].
    pub starts: In<'a, HalfEdge, Item>,
    /// As in [`Proposals`].
    pub claims: In<'a, u64, Item>,
}
