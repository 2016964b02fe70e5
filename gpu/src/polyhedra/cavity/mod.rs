//! Polyhedra by cavities: a tetrahedron of a small circumsphere absorbs the tetrahedra around it whose circumcentres
//! lie in its sphere. The rule is that of 3D-GPolylla (PlusLabUChile).
//!
//! | stage | kernels |
//! | --- | --- |
//! | measure spheres | [`measure_spheres()`] |
//! | absorb tetrahedra | [`check_claims()`], [`absorb_tetrahedra()`], in rounds |
//! | label borders | [`label_borders()`] |
//!
//! The stages that follow are those of [the family](super). A region is no tree here, so [`count_sides()`] counts the
//! sides of each polyhedron, and [`mark_barrier_regions()`] finds the regions that have a barrier face.
//!
//! # Definition
//!
//! Let a, b, c, d be the vertices of a tetrahedron in ascending order of ids, and u = b - a, v = c - a, w = d - a. Its
//! *centre* is a + e and its *squared radius* is |e|^2, in double precision, in this order of operations, with
//!
//! ```text
//! e = (|u|^2 (v x w) + |v|^2 (w x u) + |w|^2 (u x v)) / (2 u . (v x w))
//! ```
//!
//! If either is not finite, the tetrahedron is *flat*: its radius is infinite, and its centre is in no sphere. A sphere
//! *has* a tetrahedron if the squared distance between their centres is less than the sphere's squared radius.
//! Tetrahedra are ordered by (squared radius, id); flat ones come last. Two tetrahedra are *joined* if they have a face
//! in common that is not constrained.
//!
//! Tetrahedra are taken in ascending order. One without an owner becomes a *seed*: it owns itself, and all tetrahedra
//! without an owner that a walk from it reaches, through joined tetrahedra without an owner, all in its sphere. The
//! tetrahedra of one owner are a region.
//!
//! The published code does the same, with four differences. It adds a tolerance to the radius. Its order of equal radii
//! is that of an unstable sort; here ids decide. It compares radii, not their squares. It has no constraints.
//!
//! # One equation for the owners
//!
//! Let o(t) be the owner of t. Then *o(t) is the least, in the order, of t itself and of all o(n) for which n is joined
//! with t and the sphere of o(n) has t.*
//!
//! - *It is no larger.* When t is taken it has an owner or becomes its own, so o(t) is t or before t. Let n be joined
//!   with t, and let the sphere of s = o(n) have t. When s is taken, its walk comes to n. Then t has an owner before s,
//!   or the walk goes on to t.
//! - *It is one of them.* If o(t) is not t, the walk of o(t) came to t from a joined tetrahedron with this owner.
//!
//! # Rounds
//!
//! The equation alone has more solutions: two tetrahedra may give each other an owner that owns neither. So each
//! tetrahedron has a *claim*: an owner, and a link to the tetrahedron that gave it. A claim *holds* if the links lead
//! from it to the owner, through claims of the same owner; the number of links is its *depth*. At first each one claims
//! itself. In a round each takes the least of itself and of the owners that joined tetrahedra with claims that
//! hold have, if their spheres have it; of several with this owner, the one of least depth, then of the lowest side. A
//! round reads the claims of the round before, so the result depends on no order. The rounds end when one changes
//! nothing.
//!
//! - *Links of one owner make no cycle*, so the walk that checks a claim ends. Suppose they do after a round. Each
//!   tetrahedron of the cycle gave the owner to another one, so before the round it had a claim of this owner that
//!   held. It kept the owner, and its link leads to a tetrahedron of less depth than its own, as its last link did.
//!   Depths cannot fall all around a cycle.
//! - *The rounds come to the definition.* Let s be the j-th seed and n(j) the number of tetrahedra of its region.
//!   Suppose that after some round the claims in the regions of earlier seeds are final. A claim elsewhere of an owner
//!   x before s does not hold: if x is no seed, x itself has another owner; if x is a seed, the links would leave its
//!   final region at a tetrahedron that its sphere has, against the equation. So after the next round no tetrahedron
//!   elsewhere has an owner before s, and s claims itself, for good. After each further round one more step of its walk
//!   is final, with its least depth: no other owner comes before s. So the region takes n(j) rounds at most.
//! - *There are at most T rounds that change something*, the sum of all n(j). Regions that do not compete for a
//!   tetrahedron do not wait for each other, so common meshes take few (docs/notebook/polyhedra.md has numbers). A row
//!   of tetrahedra of ascending radii takes about T.
//! - *No change means the end.* A claim that does not hold changes in the next round: its owner, or its link, since the
//!   tetrahedron that it led to has no claim of this owner that holds.
//!
//! # Surfaces
//!
//! A face is in the surface of a polyhedron if it lies on the boundary, is constrained, or has another owner on its
//! other side. So n tetrahedra have 2n + 2 sides or fewer, and a vertex may be inside of a polyhedron: then no face has
//! it. Each polyhedron is one piece, joined across faces. It need not be a ball: its surface may be pinched at an edge
//! or a vertex, and may enclose other polyhedra, or have a handle. No repair applies, since regions have cycles of
//! joints. A barrier face is a constrained face with the same owner on both sides, where the walk went around its rim;
//! it stays in the surface, with both sides.

mod absorb;
mod borders;
mod spheres;

pub use absorb::*;
pub use borders::*;
pub use spheres::*;
