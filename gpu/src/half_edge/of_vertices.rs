//! One half-edge for each vertex.

use trioxide_kernel::{Atomic, Block, In, NONE, kernel};

use crate::collective::local_bucket::{LANES, meet};
use crate::collective::{LOCAL_TILE, LocalKeys};
use crate::ids::{HalfEdge, Vertex};

/// Offers each half-edge of a tile of [`LOCAL_TILE`] to the vertex that it starts at; the smallest stays.
///
/// Half-edges of a tile meet in shared memory first, so that each vertex is offered one of them.
#[kernel(
    requires(n == origins.len().div_ceil(LOCAL_TILE as usize)),
    moves(origins.bytes() + 2 * half_edge_of_vertex.bytes())
)]
pub fn find_half_edges_of_vertices(
    block: &Block<LANES, LocalKeys>,
    origins: In<u32>,
    half_edge_of_vertex: Atomic<HalfEdge>,
) {
    let table = block.shared();
    let vertices = half_edge_of_vertex.len();
    meet(
        block,
        table,
        origins,
        vertices,
        NONE,
        |smallest, slot, h| {
            smallest.min(slot, h);
            0
        },
    );
    block.lanes(|lane| {
        table.each(lane, |vertex, h| {
            half_edge_of_vertex.min(Vertex::new(vertex), HalfEdge::new(h));
        });
    });
}
