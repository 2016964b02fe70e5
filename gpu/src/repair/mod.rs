//! Repair of triangle meshes: repeated and degenerate faces, edges of three or more faces, surfaces that touch at a
//! vertex, the orientation of components, holes, and small components.
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
//! | crowded edges | the sides of an edge are paired where they enclose a wedge of the inside (below), and faces are joined across pairs. Each end of the edge gets a copy for each part of its faces that is joined around it. If copies coincide such that an edge is still crowded, its sides are parted without pairs |
//! | touching vertices | the faces around a vertex, joined across edges, form parts; each part gets a copy of the vertex |
//! | orientation | faces joined across edges form a component. The orientation of most of its faces wins; of two as frequent ones, that of its lowest face. One-sided components stay as they are |
//! | holes | below |
//! | small components | faces that share an edge, of any number of sides, are connected; components of fewer faces than a number go |
//!
//! *Copies of a vertex*: the part with the lowest corner keeps the vertex; the others get new ids, after all vertices,
//! in the order of their lowest corners. A corner is the half-edge that starts there.
//!
//! *Vertices* that have a face before and none afterwards go; vertices that never had one stay. The remaining ones keep
//! their order, as faces do.
//!
//! **Pairs of a crowded edge.** Seen along the edge from its lower vertex, its sides are sorted by the angle of their
//! third vertices, from the side with the lowest id on; equal angles by id. The angle is a function of quotients of
//! dot products, which need no trigonometry. A side that runs to the lower vertex opens a wedge of the inside, one that
//! runs from it closes it: they are matched as parentheses are, cyclically. So if as many open as close, as on closed
//! and oriented surfaces, all are paired, and two cubes that share an edge become two closed cubes.
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
//!   closed surface stays closed, and no edge becomes crowded. No face may turn over or become degenerate.
//! - A flip is refused across an edge of a segment, a crowded edge or one whose faces run the same way, and if the new
//!   edge is there already. It must lower the number of degenerate faces, or keep it and shorten the edge. Faces that
//!   are not degenerate keep the direction of their normals.
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
//! - The few faces that degenerate, the sides of crowded edges and the loops of holes are treated on the host, in the
//!   orders above: each changes the mesh that the next one meets. They are found on the device.
//!
//! # Stages
//!
//! | stage | kernels |
//! | --- | --- |
//! | repeated faces | [`read_face_vertex()`], `collective::order_by_keys`, [`mark_repeated()`], [`keep_faces()`], [`gather_faces()`] |
//! | degenerate faces | [`find_degenerate()`] |
//! | edges | [`read_side_end()`], `collective::order_by_keys`, [`link_sides_of_faces()`] |
//! | crowded edges | [`find_crowded()`], [`set_links()`], [`mark_ends()`], and those of touching vertices |
//! | touching vertices | [`join_corners()`], [`find_component_roots()`], [`find_first_corners()`], [`find_copies()`], [`rank_copies()`], [`write_parents()`], [`split_vertices()`] |
//! | orientation | [`join_turned()`], [`find_component_roots()`], [`count_oriented()`], [`find_turned()`], [`find_one_sided()`], [`turn_faces()`] |
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
