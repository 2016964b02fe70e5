//! The Neighbour and Trivertex arrays, from half-edges.

use trioxide_kernel::kernel;
use trioxide_kernel::safe::{In, Out, Own};

use crate::ids::{HalfEdge, Triangle, Vertex};

/// The triangle across half-edge `h`, `NONE` on the boundary.
#[kernel(
    requires(twins.len() == n, neighbours.len() == n),
    moves(twins.bytes() + neighbours.bytes())
)]
pub fn find_neighbours(
    h: Own<HalfEdge>,
    twins: In<HalfEdge, HalfEdge>,
    neighbours: Out<Triangle, HalfEdge>,
) {
    let twin = twins.at(h);
    // Border half-edges have ids above the half-edges of triangles.
    let is_inner = twin.index() < twins.len();
    neighbours.set(
        h,
        if is_inner {
            twin.triangle()
        } else {
            Triangle::NONE
        },
    );
}

/// The smallest triangle at vertex `v`, `NONE` if there is none.
#[kernel(
    requires(half_edges_of_vertices.len() == n, trivertex.len() == n),
    moves(half_edges_of_vertices.bytes() + trivertex.bytes())
)]
pub fn find_trivertex(
    v: Own<Vertex>,
    half_edges_of_vertices: In<HalfEdge, Vertex>,
    trivertex: Out<Triangle, Vertex>,
) {
    let h = half_edges_of_vertices.at(v);
    trivertex.set(
        v,
        if h.is_none() {
            Triangle::NONE
        } else {
            h.triangle()
        },
    );
}
