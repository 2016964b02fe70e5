//! Repair of triangle meshes: repeated and degenerate faces, edges of three or more faces, surfaces that touch at a
//! vertex, one-sided components, the orientation of components, folds of the plane, holes, and small components.
//!
//! # Terms
//!
//! A face is *proper* if its three vertices differ. Only proper faces have edges. A *side* is a half-edge of a proper
//! face; the sides of an edge have the same two vertices, and ascend by their ids. An edge of three or more sides is
//! *crowded*. Faces are joined *across* an edge that has exactly two sides.
//!
//! # The steps, in this order
//!
//! | step | rule |
//! | --- | --- |
//! | repeated faces | of proper faces with the same three vertices, in any order, the lowest id stays |
//! | degenerate faces | below |
//! | crowded edges | the sides of an edge are paired (below), and faces are joined across pairs. Each end of the edge gets a copy for each part of its faces that is joined around it. If copies coincide such that an edge is still crowded, its sides are paired as if the inside were outside; if it then still is, they are parted without pairs |
//! | touching vertices | the faces around a vertex, joined across edges, form parts; each part gets a copy of the vertex |
//! | cuts | a one-sided component is cut along edges, so that it has an orientation: the head of `host/src/repair/cut.rs` has the rule and its proof |
//! | orientation | below |
//! | folds | faces of a mesh of the plane that run clockwise, or have no area, flip an edge, or go: `host/src/repair/fold.rs` |
//! | holes | below |
//! | small components | faces that share an edge, of any number of sides, are connected; components of fewer faces than a number go |
//!
//! *Copies of a vertex*: the part with the lowest corner keeps the vertex; the others get new ids, after all vertices,
//! in the order of their lowest corners. A corner is the half-edge that starts there.
//!
//! *Vertices* that have a face before and none afterwards go; vertices that never had one stay. The remaining ones keep
//! their order, as faces do.
//!
//! *All faces* are turned after the steps, on request. *Unused vertices*, which no face and no segment has, go on
//! request.
//!
//! **Pairs of a crowded edge.** Seen along the edge from its lower vertex, its sides are sorted by the angle of their
//! third vertices, from the side with the lowest id on; equal angles by id. The comparison is exact: the sign of the
//! volume of the edge and two third vertices. A *patch* is a set of faces joined across edges of two sides; it is
//! oriented as most of its faces are. A side that runs to the lower vertex, oriented so, opens a wedge of the inside,
//! one that runs from it closes it. Edges are treated in ascending order, and a pair joins two patches, one of which is
//! turned for it if both sides open or both close. No pair gives a patch two orientations. Sides are matched as
//! parentheses are, cyclically, each with the last one before it that is free and fits, of 64 at most, in three rounds:
//!
//! 1. sides that open with sides that close, both of one patch: bodies that share edges, in whatever order their faces
//!    lie around these, stay bodies;
//! 2. sides that open with sides that close: if as many open as close, as on closed and oriented surfaces, all are
//!    paired;
//! 3. any two.
//!
//! **Orientation.** Faces joined across edges of two sides form a component, which has two orientations, or none if it
//! is one-sided: then it stays as it is. The orientation of most of its faces is its *majority*; of two as frequent
//! ones, that of its lowest face.
//!
//! - *In the plane*, where all vertices of faces have the same z, the orientation with more counter-clockwise faces
//!   than clockwise ones counts; if there are as many, the majority.
//! - A component is *closed* if along each edge as many of its sides run one way as the other. Then the sum of the
//!   tetrahedra of a point and its faces does not depend on the point: moving it adds a sum over the sides, which
//!   cancel. It is the *volume*; its sign is exact. A closed component with a volume is a *body*. A body looks outward,
//!   so its volume is positive; one in an odd number of others is a cavity, and looks inward.
//! - Body C is *in* body D if the six outermost vertices of C, along the axes, are in D. Vertices on D do not
//!   count, but one at least must not be on it; and the box of C must be in that of D. So copies of a body, and bodies
//!   that touch at all these vertices, are not in each other. That surfaces do not cross is not checked. A point is in
//!   D if a ray from it along z leaves D an odd number of times. The ray is moved by (e, e², 0) for an infinitely small
//!   e, so it meets no edge: each edge is on one side of it, which both of its faces see alike. The signs are those of
//!   determinants, exact for all finite coordinates, so the answer depends neither on the order of faces nor on
//!   rounding. Of several outermost vertices in one direction, the first one of the lowest face counts.
//! - *Other* components have their majority.
//!
//! **Degenerate faces** are the faces that [`is_flat()`] selects: by a vertex that is there twice, without area, or
//! with a height of at most `ratio` times the longest edge. They are treated in rounds, in ascending order, each as the
//! mesh is then. The next round has the degenerate faces at the vertices of faces that changed; it ends with a round
//! without a change. Lengths are compared as squared distances; of equal ones, the edge with the lower vertices counts
//! first.
//!
//! | face | treatment |
//! | --- | --- |
//! | with a vertex twice | it goes: its other two sides are one edge, whose faces become neighbours |
//! | needle: shortest edge at most `ratio` times the longest | the shortest edge collapses: to its end on the boundary, if there is one such end, else to the one with the lower id |
//! | cap, and needles whose collapse is refused | the longest edge flips; a face at the boundary goes. Both faces have the data of the other face |
//!
//! - A collapse is refused unless it keeps the surface's topology: the ends have exactly the third vertices of the
//!   edge's faces as common neighbours, two ends on a boundary have a boundary edge, and no face appears twice. So a
//!   closed surface stays closed, and no edge becomes crowded. No face that is not degenerate becomes so.
//! - A flip is refused across an edge of a segment, a crowded edge or one whose faces run the same way, and if the new
//!   edge is there already. It must lower the number of degenerate faces, or keep it and shorten the edge.
//! - *No face turns over.* The *way* of a face is its normal. Where all vertices of faces have the same z, it is (0, 0,
//!   s) by the exact sign s of the area instead, so sums of ways count faces. In space the way is zero if the squared
//!   sine at the first vertex is at most 2^-40 ([`FLAT`](crate::point3::FLAT)), and after a change if it is at most
//!   2^-96 ([`ROUNDING`](crate::point3::ROUNDING)): below it, a normal may be rounding. A face is *sound* if it is not
//!   degenerate and has a way. Ways agree if their scalar product is positive.
//!   - *A collapse*: a sound face keeps agreeing with its own way. Another face must agree with the first of these that
//!     is not zero: the sum of the ways of the sound faces around the vertex that goes, its own way, the sum of the
//!     ways of all faces there, its own way by 2^-96. Without any, or if it stays degenerate, it may also keep its own
//!     way, or have none as before.
//!   - *A flip*: both faces must agree with the first of these that is not zero: the way of the face beyond the edge if
//!     that is sound, the sum of the ways of sound faces beyond the four sides, the sum of both faces' ways. A new face
//!     may be without a way if an old one is.
//! - *Time.* A treatment takes time by the number of faces that it changes, and by the logarithm of the number at their
//!   vertices; a round, by the number of faces at the vertices of faces that changed.
//! - *It ends.* Each treatment lowers (number of faces, number of degenerate faces, multiset of the sides' squared
//!   lengths) in the lexicographic order: a face goes, or by the rule of flips. Each length belongs to one of
//!   finitely many pairs of vertices, so the order is well-founded.
//!
//! **Holes.** A hole is a loop of boundary sides through distinct vertices that have no other boundary sides. It is
//! filled by the triangulation of least area that adds no edge which is there already and no degenerate face. Areas are
//! summed in the order of the search, from the loop's lowest vertex on; of equal sums the lowest vertex in the order of
//! the loop wins. Holes are filled in the order of their lowest vertices. Faces of a hole have the data of the lowest
//! face at it.
//!
//! The search takes time by the cube of the number of edges. So a hole of more than 500 edges first loses *ears*, one
//! after the other, until 500 edges are left: two successive sides are replaced by the edge between their far ends. Of
//! all ears, the one with the shortest new edge is next, of equal ones the first in the order of the loop. An ear has
//! no edge that is there already and is not degenerate. Seen along the normal of the loop's area, it runs
//! counter-clockwise, and no other vertex of the loop is in it; so in the plane the faces cover the hole once. If no
//! ear is left that is seen so, as in loops that are far from their plane, the view does not count any more. Each ear
//! removes a vertex, so it ends.
//!
//! **Segments** are edges: one that no proper face has as an edge is left out, before the first step and after the last
//! one. So is one with the vertices and the marker of a lower one. Between, they follow each change:
//!
//! - *A collapse* renames their ends. One whose ends become one vertex goes. A collapse, or a face at the boundary that
//!   would go, is refused if no face were left at an edge of a segment.
//! - *A flip* across one is refused.
//! - *Copies*: a segment lies along each copy of its edge, in the order of the lowest faces that have them. So both
//!   surfaces that part keep it, and no later flip crosses it.
//! - *Faces that go* by other steps leave it, if no other face has its edge.
//!
//! # Determinism
//!
//! Each step is a function of the mesh before it.
//!
//! - Edges come from a stable sort of sides by (lower vertex, higher vertex), faces with the same vertices from one by
//!   all three: sides and faces ascend among equal ones. The sequence is unique.
//! - Parts and components are labelled by their lowest element. [`join()`] hooks the higher of two roots below the
//!   lower one. An element's parent is never above it, so the root of a component is its lowest element, whatever the
//!   order of the joins.
//! - Counts are sums of integers. Several indices write one value.
//! - The few faces that degenerate or fold, the sides of crowded edges, one-sided components and the loops of holes are
//!   treated on the host, in the orders above: each changes the mesh that the next one meets. They are found on the
//!   device. Volumes and nesting are measured on the host.
//!
//! # Stages
//!
//! | stage | kernels |
//! | --- | --- |
//! | repeated faces | [`read_face_vertex()`], `collective::order_by_keys`, [`mark_repeated()`], [`keep_faces()`], [`gather_faces()`] |
//! | degenerate faces | [`find_degenerate()`] |
//! | edges | [`read_side_end()`], `collective::order_by_keys`, [`link_sides_of_faces()`] |
//! | crowded edges | [`find_crowded()`], those of the majority, [`set_links()`], [`mark_ends()`], and those of touching vertices |
//! | cuts | those of the majority, [`set_links()`], [`mark_ends()`], and those of touching vertices |
//! | touching vertices | [`join_corners()`], [`find_component_roots()`], [`find_first_corners()`], [`find_copies()`], [`rank_copies()`], [`write_parents()`], [`split_vertices()`] |
//! | majority | [`join_turned()`], [`find_component_roots()`], [`count_oriented()`], [`find_turned()`], [`find_one_sided()`] |
//! | orientation | those of the majority, [`find_boundary()`], [`find_crowded()`], [`turn_faces()`] |
//! | holes | [`find_boundary()`] |
//! | small components | [`join_faces()`], [`find_component_roots()`], [`count_faces()`], [`find_large()`], [`gather_faces()`] |
//! | vertices | [`mark_vertices()`], [`keep_vertices()`], [`rename_faces()`] |

mod corners;
mod degenerate;
mod edges;
mod faces;
mod join;
mod orient;
mod vertices;

pub use corners::*;
pub use degenerate::*;
pub use edges::*;
pub use faces::*;
pub use join::*;
pub use orient::*;
pub use vertices::*;
