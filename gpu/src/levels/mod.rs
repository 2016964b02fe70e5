//! Nested levels of polygons, in the plane or on a surface in space, or of polyhedra. The *pieces* of level 0 are the
//! polygons or polyhedra of a mesh; a piece of a later level is a union of 1 to 4 pieces of the level before. No vertex
//! moves.
//!
//! A *side* of a polygon is one of its corners: it runs from there to the next corner. The two sides of an edge are
//! twins; an edge's id is its lower side. The *border* of two pieces is all their common edges. Its *length* is the sum
//! of the edges' lengths, in double precision, in ascending order of ids.
//!
//! A side of a polyhedron is one of its faces, seen from it: a border is all common faces, and its *area* the sum of
//! theirs, as the length is. The rest is the same, but for two of the rules.
//!
//! # Joins
//!
//! P and Q, each a piece or a union of pieces, may join if all of these hold:
//!
//! | rule | condition |
//! | --- | --- |
//! | one path | they have common edges, and one common vertex more than common edges |
//! | one patch, in place of it for polyhedra | their common faces have one rim: a closed walk along edges that visits no vertex twice. Every common edge and vertex belongs to a common face |
//! | no constraint | no common edge is a segment, or between two regions; no common face is tagged, or between two regions |
//! | discs and balls | neither has a polygon that visits a vertex twice, or a polyhedron whose surface is no sphere |
//! | shape | the box around both is at most 4 times as long as wide, or not longer for its width than the box of P or of Q |
//!
//! Boxes are along the axes. Their length is the longest of their three sides. The width of a polyhedron's box is the
//! shortest; that of a polygon's is the middle one: in the plane, where the shortest is 0, the shorter of two.
//!
//! Candidates are compared by the length or area of their border, then by a [`hash()`] of both ids, then by the lower
//! and the higher id; the larger comes first. No two pairs are equal, so the order is total.
//!
//! A level is made in two steps.
//!
//! 1. **Pairs**: a maximal matching. In each round a piece without a partner chooses the first of its candidates
//!    without one; pieces that choose each other are partners. It ends when no piece has a candidate. A pair has the id
//!    of its lower piece.
//! 2. **Leftovers** join pairs. In each round a piece that is left over chooses the first pair, with all that has
//!    joined it, of fewer than 4 pieces, that it may join; a pair takes the first of the pieces that chose it, one a
//!    round. It ends when no piece chooses.
//!
//! Pieces are numbered by the ids of their pairs, and of pieces that stayed alone. If nothing joins, the level is made
//! without the rule of shape; if nothing joins then, there is no further level.
//!
//! # Proofs
//!
//! *Pieces are discs.* A polygon that is one closed walk and visits no vertex twice is a closed disc. Let closed discs
//! P and Q have disjoint interiors, E > 0 common edges and V common vertices. All these lie in the boundary of P, a
//! circle: they are the whole circle, and V = E, or c > 0 disjoint paths and single vertices, and V = E + c. So V = E +
//! 1 means c = 1, and since E > 0 it is one path; its ends differ, and both circles go on beyond it. Two closed discs
//! glued along a path of their boundaries are a closed disc: nothing is enclosed, in the plane as on any surface. The
//! proof holds for one join after the other. Step 2 compares a leftover with all pieces of the pair, so it covers any
//! number of leftovers that join one pair.
//!
//! *On a surface* the same holds, since nothing in it needs a plane: a polygon is a disc that triangles make along a
//! tree, the intersection of two discs is that of their boundaries, and V = E + 1 finds one path. On a closed surface
//! the border of the last pieces may be a whole circle, V = E: they stay apart. So a sphere has two pieces at least,
//! and the rest beside a piece is a disc too, by the theorem of Jordan and Schoenflies. On a surface with handles the
//! rest beside a piece is no disc, whatever the piece, and no rule asks for it. Two cones that touch at a vertex
//! change nothing: the vertex is common to pieces of both, which have no common edge there.
//!
//! *Pieces of polyhedra are balls.* A polyhedron of level 0 is a tree of tetrahedra: seen by itself a ball, whose
//! surface has F faces, E edges of two faces each, V vertices, and V - E + F = 2. Where it touches itself it has fewer
//! vertices or edges, which the counts show (with merged faces too: each is a disc in the same surface). Let balls P
//! and Q have disjoint interiors and the complex K in common, a part of the sphere that bounds P. If K has all its
//! edges and vertices from its faces and one rim, a circle in that sphere, then its faces are one side of the circle, a
//! disc by the theorem: faces on both sides, or two sets of faces, would have another rim or none. Two balls along a
//! disc of their surfaces are a ball, whose surface is the two discs that are left, along the rim. It encloses nothing.
//! Faces of C corners in all, with a rim of R edges, have E = (C + R) / 2 edges; a disc of F faces has 1 + E - F
//! vertices. So the common edges and vertices of P and Q need only be counted.
//!
//! *Step 1 has one result.* The order is total, so each round pairs at least the first of all candidate pairs whose
//! pieces have no partner. Pieces that choose each other come before all candidate pairs of either with another piece
//! without a partner, so a greedy search through the sorted pairs takes them too, by induction over the rounds. The
//! rounds find the matching of that search, in any order of work.
//!
//! *Step 2 has one result.* Two leftovers never are candidates of each other, since the matching is maximal. Each
//! choice is a function of the state before the round, and so is the piece that a pair takes. Leftovers that choose one
//! pair join it one after the other, a later one only if it may join the union of all before. Each round with a choice
//! joins a piece, so the step ends.
//!
//! *Work is linear in borders.* Common vertices are searched from the side with fewer of them, by bisection in the
//! other, or by a walk along both if neither has more than four times as many. The edges of a planar graph can be
//! directed so that at most 5 leave each node; a search takes no more steps than there are vertices around the node
//! that its edge leaves. So the searches of all borders take at most 5 times as many steps as there are sides, for
//! pieces of any shape. This holds in the plane; in space each of a piece's neighbours may search its lists.
//!
//! *Links of surfaces.* An edge on the surface of a ball has two corners there, one each way. After a join the faces
//! between the pieces are inside: from a corner of the new surface, the other one is found through pairs of corners at
//! inner faces, around the edge. A call writes only the link of its own corner, which is on the surface, and reads
//! further ones only inside, so calls may go in any order.
//!
//! # Stages
//!
//! | stage | kernels |
//! | --- | --- |
//! | find sides, once | [`write_sides()`], [`name_sides()`], [`pair_sides_of_polygons()`], [`fix_region_sides()`], [`fix_segments()`], [`fix_pinched()`], [`write_side_keys()`] |
//! | find sides, of polyhedra | [`write_polyhedra()`], [`write_sides_of_polyhedra()`], [`pair_sides_of_polyhedra()`], [`fix_region_sides()`], [`fix_faces()`], [`meet_at_edges()`], [`link_corners_of_faces()`], [`fix_unless_balls()`], [`write_side_keys()`] |
//! | find borders | sorts of rows, [`is_first_of_border()`], [`write_borders()`], [`start_rows()`]; of polyhedra [`is_first_of_element()`] |
//! | measure borders | [`weigh_borders()`] |
//! | match pieces | [`has_no_group()`], [`choose_partners()`], [`match_partners()`], [`still_seeks()`] |
//! | join leftovers | [`choose_groups()`], [`take_leftovers()`], [`has_no_group()`] |
//! | number pieces | [`is_first()`], [`write_parents_of_pieces()`], [`join_boxes()`] |
//! | move sides | [`is_outline()`], [`count_rows()`], [`join_rows()`], [`move_items()`], [`move_sides()`]; of polyhedra [`move_sides_of_polyhedra()`], [`is_corner_of_surface()`], [`link_surfaces()`], [`runs_upward()`] |
//!
//! Each piece has a row of its sides that are not inside of it, in any order. The rows of the pieces that join are put
//! one after the other, without the sides between them, and sorted: so a level costs what its outlines have, and no
//! list of all sides is sorted.

mod leftovers;
mod matching;
mod numbers;
mod pieces;
mod rows;
mod shells;
mod sides;

pub use leftovers::*;
pub use matching::*;
pub use numbers::*;
pub use pieces::*;
pub use rows::*;
pub use shells::*;
pub use sides::*;
