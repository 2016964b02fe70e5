//! The polygon of each triangle.

use trioxide_kernel::kernel;
use trioxide_kernel::safe::{In, Own, Scatter};

use super::walk::Labelled;
use crate::ids::{HalfEdge, Polygon, Triangle};

/// Writes `p` as the polygon of its triangles, which lie around its corners.
///
/// This reaches every triangle. Each of its vertices has a frontier edge (the module's documentation), so the triangles
/// around a vertex lie in fans, each between two frontier edges that follow each other around one polygon; the walk
/// goes through the fan at each corner.
#[kernel(
    requires(
        half_edges.len() == n,
        edges.frontier.len() == words(edges.twins.len()),
        3 * polygons.len() == edges.twins.len()
    ),
    // At least: a fan's triangles are read at each of their corners.
    moves(half_edges.bytes() + edges.twins.bytes() + polygons.bytes())
)]
pub fn assign_triangles(
    p: Own<Polygon>,
    half_edges: In<HalfEdge, Polygon>,
    edges: Labelled,
    polygons: Scatter<Polygon, Triangle>,
) {
    let start = half_edges.at(p);
    let mut h = start;
    let mut is_done = false;
    while !is_done {
        polygons.set(h.triangle(), *p);
        let mut e = h.next();
        while !edges.frontier.bit(e) {
            e = edges.twins.at(e).next();
            polygons.set(e.triangle(), *p);
        }
        h = e;
        is_done = h == start;
    }
}
