//! A half-edge triangulation from triangles and points (gpolylla-2023, section 4), built on the device.
//!
//! T triangles, V vertices. Half-edge 3t + k starts at vertex k of triangle t; `origins` (3T) is the triangle list
//! itself, and `next` and `prev` inside of a triangle are arithmetic ([`HalfEdge`]). `twins` (3T) is the other half of
//! the edge. The B edges of the boundary have border half-edges 3T + j, j < B, in the order of their twins, which
//! `border` lists.
//!
//! | stage | does |
//! | --- | --- |
//! | [`check_points()`] | refuses points that other kernels could not orient by |
//! | [`match_twins()`], [`match_scattered_twins()`], [`check_triangles()`], [`check_triangles_exactly()`] | refuse triangles that the other kernels could not index or orient; the half-edges of each edge find each other |
//! | [`mark_boundary()`] | edges without a twin, a bit each |
//! | [`number_border()`], [`link_border()`] | border half-edges, and their order along the boundary |
//! | [`find_half_edges_of_vertices()`] | one half-edge for each vertex |
//!
//! The authors build all this on the host (41 s for the 25M grid). Here one pass over the half-edges does the matching,
//! by a hash table of 4 bytes a slot: the slot holds a half-edge, whose ends are read from the mesh. Sorting or
//! bucketing the half-edges moves several times the bytes, and a bucket is as long as the largest fan. Non-manifold
//! edges and inconsistent orientation are found on the way.

mod border;
mod check;
mod twins;

pub use border::*;
pub use check::*;
pub use twins::*;

use trioxide_kernel::PREFETCHED_AHEAD;
use trioxide_kernel::rows::Rows;
use trioxide_kernel::safe::{Element, In};

use crate::ids::{HalfEdge, Triangle, Vertex};

/// The vertex that `h` ends at.
#[inline(always)]
pub fn target(origins: In<Vertex, HalfEdge>, h: HalfEdge) -> Vertex {
    origins.at(h.next())
}

/// Prefetches, on a CPU, the elements at the corners of a triangle some way after `t`.
#[inline(always)]
pub(crate) fn prefetch_corners<P: Element>(
    points: In<P, Vertex>,
    origins: In<Vertex, HalfEdge>,
    t: Triangle,
) {
    let h = 3 * t.index() + 3 * PREFETCHED_AHEAD;
    if cfg!(not(target_arch = "nvptx64")) && h + 2 < origins.len() {
        points.prefetch(origins.at(HalfEdge::new(h)));
        points.prefetch(origins.at(HalfEdge::new(h + 1)));
        points.prefetch(origins.at(HalfEdge::new(h + 2)));
    }
}

/// A half-edge between vertices `a` and `b`, in either direction, or `NONE`. The search goes through the triangles at
/// the vertex with fewer of them.
///
/// `leaving` holds the half-edges that start at each vertex: at a vertex where boundary loops touch, one
/// half-edge would not lead to all the others.
#[inline(always)]
pub fn half_edge_between(
    a: Vertex,
    b: Vertex,
    origins: In<Vertex, HalfEdge>,
    leaving: Rows<HalfEdge>,
) -> HalfEdge {
    let triangles = |v: Vertex| leaving.end(v) - leaving.start(v);
    let (v, w) = if triangles(a) <= triangles(b) {
        (a, b)
    } else {
        (b, a)
    };
    let end = leaving.end(v);
    let mut slot = leaving.start(v);
    while slot < end {
        let leaves = leaving.items.at(slot);
        if origins.at(leaves.next()) == w {
            return leaves;
        }
        let arrives = leaves.prev();
        if origins.at(arrives) == w {
            return arrives;
        }
        slot += 1;
    }
    HalfEdge::NONE
}
