//! Quadric edge collapse in rounds (Garland and Heckbert, Surface simplification using quadric error metrics, 1997),
//! with the same bits on every machine.
//!
//! # The definition
//!
//! The *cost* of an edge is the sum of the quadrics of its ends at the place of its collapse, in single precision; its
//! *key* is (cost, lower end, higher end). No two edges have the same key. A round has three steps:
//!
//! 1. An edge is *nominated* if its key is the least of all edges at either end, and its cost is not above the round's
//!    *limit*: the largest cost of the first class of costs (16 for each power of two) up to which at least half of
//!    the vertices that have an edge with a cost have their cheapest edge. The limit does not depend on the wanted
//!    number of triangles.
//! 2. A nominated edge *is first* if no nominated edge with a lower key has an end that is a corner of a triangle at
//!    one of its own ends.
//! 3. A first edge *collapses* if it keeps the surface (below); otherwise it has no cost until one of its ends moves.
//!
//! In the round that passes the wanted number N, the first in the order of keys collapse, as many as leave N triangles
//! or more. If then N + 1 are left, one more collapse follows. Without a boundary it is the next in the order. With
//! one, all costs are computed anew, of edges between vertices of the boundary alone, since such a collapse removes one
//! triangle; rounds of these follow until one collapses. If none does, costs of all edges are computed anew, and the
//! first that collapses leaves N - 1. So the result has the largest number not above N that is in reach, or the checks
//! allow no further collapse.
//!
//! A collapse moves the lower end, which survives, and replaces the higher end by it. The edges at it get new costs.
//! When no edge has a cost, all get new ones once more; if none collapses then, the checks allow no further collapse.
//!
//! A run may have several wanted numbers. After the collapses that reach a number, the others of the round follow.
//! Since collapses of a round commute (below), the state is then the same as without the number. With a boundary, the
//! one more collapse happens in a copy.
//!
//! **Every order gives the same bits.** *Collapses of a round touch no triangle of each other*: say that triangle t has
//! an end x of edge e and an end y of edge f, which both collapse. Then y is a corner of a triangle at an end of e, and
//! x is a corner of one at an end of f. The one with the higher key is not first. Nor do they share an end: only one
//! edge is the cheapest of a vertex. So a collapse writes only its ends and the triangles around them, which no other
//! reads or writes, and the checks of one hold whatever the others do. Each step is a function of the state before it,
//! and keys are distinct, so the set of a round is one. Quadrics of the input are summed in the order of a vertex's
//! triangles; merged ones are sums of two. Roots and divisions are IEEE.
//!
//! A vertex looks for its cheapest edge again only if that edge got a higher cost or is gone: another edge with a new
//! cost is compared with it, and the order of comparisons has no part in the least.
//!
//! **A round removes something**, or takes the cost of an edge, while any edge has a cost: the edge with the least key
//! of all is the cheapest of both ends, is within the limit, and is first.
//!
//! # Checks
//!
//! - The *link condition*: the edge has two triangles (one, between vertices of the boundary), the ends have no common
//!   neighbour but the third corners of these, which are two where the triangles are, and the triangles are no
//!   tetrahedron and no lone one. Both ends have a single fan, so a fan of three triangles at both ends is a
//!   tetrahedron, and a fan of one at both ends a lone triangle. So a closed manifold stays one, and the boundary keeps
//!   its loops.
//! - No triangle that moves turns by more than 78 degrees, and none becomes degenerate. A needle or a cap, whose sine
//!   is 2^-20 or less, has a normal of the rounding of its coordinates: the side that it keeps is that of the sum of
//!   the normals of the other triangles at both ends. After the move its sine is above 2^-48. Another triangle does not
//!   become a needle or a cap: points of a nearly straight outline would be joined, and refinement would have to halve
//!   the triangle. In the plane no triangle turns over then: each component of a normal has an error of 2^-51 of the
//!   product of both sides' lengths at most, so the signs of all normals that are compared are exact.
//! - A vertex whose triangles are no single fan, or more than [`MOST_IN_FAN`], is an end of no collapse, and none comes
//!   of a collapse that has more triangles.
//! - A locked vertex stays where it is; an edge of two locked ones has no cost. So vertices where regions meet stay.
//!
//! # Seams
//!
//! Vertices of the boundary at one *place* (0 and -0 are equal) are *copies*, as at the cut of a texture, where each
//! side has vertices of its own. All rules above are for places: a place has the number of its lowest copy, the
//! triangles of all its copies, and the sum of their quadrics in ascending order. So no gap opens, an edge of a cut
//! collapses on both sides at once, its cost is that of both, and the proof of the order holds as it is. Only each
//! corner knows its copy.
//!
//! An edge is *of a seam* if its two triangles have different copies at one end at least. A place is one of these:
//!
//! | edges of seams | copies | the place is | and becomes one with |
//! | --- | --- | --- | --- |
//! | 0 | 1 | free | any neighbour |
//! | 1 | 1 | an *end* of a seam, not on the boundary | free ones; at an ear with any place at a seam |
//! | 2 | 2 | on a *line*, not on the boundary | free ones, ends at an ear, and along a seam |
//! | others | | a *meeting*: locked | as a line |
//!
//! A place holds its position against those above it in this table. Between two places at seams an edge collapses in
//! two cases only:
//!
//! - *Along a seam*: its two triangles have different copies at both ends. The two copies of each triangle become one,
//!   with the lower id, and the numbers of each side are fitted from that side alone. Neither side may be a lone
//!   triangle, which is the only one with its copies at both ends.
//! - *At an ear*: the edge is not of a seam, at least one of its ends is an end of a seam, and exactly one of its
//!   triangles is the only one with its copy at its third corner, which is locked: the triangles beyond its two other
//!   edges have other copies there. The ear's copy goes into the lower one of these two. So the poles of a globe, where
//!   each triangle has its own copy, lose triangles.
//!
//! A place at a seam that is not locked never becomes one with a vertex of the boundary, or a locked one, that is at no
//! seam. So each seam keeps its line, and each part between seams keeps its topology: along a seam each side loses a
//! triangle, two edges and a vertex; at an ear the part loses two triangles, four edges and two vertices. Copies go
//! into a higher id only at an ear.
//!
//! Copies stay apart, and each is locked, where a triangle has two corners at one place, and where the triangles of all
//! copies are no single fan: sides of other orientations, or three sheets. Regions that meet along a seam alone do not
//! lock it.
//!
//! The planes of the boundary count at copies too, and so hold the line of a seam; but not at the end of a seam, where
//! both edges of the boundary lead to one place. Without copies no kernel of seams runs but the search for them.
//!
//! # Flat parts
//!
//! A sum of quadrics up to 2^-46 of the trace times the squared length of the edge is *rounding*: it counts as zero in
//! the cost, and for the largest error. The place of a collapse is the first of these with such a sum: the middle of
//! the edge, the lower end, the higher end; else the least place, with its draw. So planes stay planes, straight edges
//! straight, and corners keep their bits.
//!
//! # Numbers of the vertices
//!
//! Colours, texture coordinates, normals and other numbers of the vertices may count in the quadrics (Hoppe, New
//! quadric metric for simplifying meshes with appearance attributes, 1999; `trends`). Each has a weight: a difference
//! of 1 counts as the distance of `weight` times the diagonal of the bounding box. For each number, the quadric of a
//! vertex has for each of its triangles the square of the difference between the vertex's value and that of the
//! triangle, whose values are linear and have a gradient within its plane, times the weight's square and the triangle's
//! area. The rules above stay, with these differences:
//!
//! - The place of a collapse is where the sum is least with the best values there. The matrix without the values gets
//!   1e-12 of the trace of that with them on its diagonal, since their difference is rounded; then the draw follows.
//! - The vertex that survives gets the values for which the sum at its place is least, clamped to the number's range.
//!   So the values are linear in the place. A locked end keeps its values. The cost has the values that the vertex
//!   gets. Where the triangles of both ends have no area, it keeps those of the lower end.
//! - A weight of zero has no part in places and costs, which are then those without numbers, bit for bit; the values
//!   are fitted all the same.
//! - The largest error bounds the whole cost, so numbers count there as distances.
//!
//! The proof holds as it is: values of a vertex are written with its quadric, by its collapse alone. Sums go over
//! numbers in their order, and over triangles in that of the vertex's list.
//!
//! # Differences from the paper
//!
//! - Quadrics are weighted by area, and each is in the frame of its own vertex: planes of the input pass through zero
//!   there, and no digits are lost where the surface is flat.
//! - The place where the sum is least is drawn to the middle of the edge by 1e-4 of the trace, so that the system is
//!   never singular. A vertex of the boundary holds its place against one inside.
//! - Pairs without an edge are not contracted.
//! - Lengths are in units of a power of two near the extent of the mesh, so that costs fit single precision: a mesh
//!   that is scaled by a power of two gives the same triangles.
//!
//! # Stages
//!
//! | stage | kernels in |
//! | --- | --- |
//! | check the mesh | `corners` |
//! | place corners | `fans` |
//! | measure vertices | `vertices`, into `sites` |
//! | measure numbers | `values`, `trends`; the rounds with numbers are in `weighed` |
//! | find seams | `seams`; the rounds with seams are in `seamed`, with `copies` |
//! | price edges | `costs` |
//! | find cheapest | `cheapest`, `nominees` |
//! | nominate | `nominees` |
//! | find first | `checks` |
//! | cut | `checks`, `cut` |
//! | collapse | `collapses`, with the checks |
//! | write the mesh | `results` |

mod cheapest;
mod checks;
mod collapses;
mod copies;
mod corners;
mod costs;
mod cut;
mod fans;
mod nominees;
mod quadric;
mod results;
mod seamed;
mod seams;
mod sites;
mod trends;
mod values;
mod vertices;
mod weighed;

pub use cheapest::*;
pub use checks::*;
pub use collapses::*;
pub use copies::*;
pub use corners::*;
pub use costs::*;
pub use cut::*;
pub use fans::*;
pub use nominees::*;
pub use quadric::*;
pub use results::*;
pub use seamed::*;
pub use seams::*;
pub use sites::*;
pub use trends::*;
pub use values::*;
pub use vertices::*;
pub use weighed::*;
