//! The Neighbour and Trivertex arrays, from half-edges.

use trioxide_kernel::{In, NONE, Out, kernel};

/// The triangle across half-edge `h`, `NONE` on the boundary.
#[kernel]
pub fn find_neighbours(h: u32, twins: In<u32>, neighbours: Out<u32>) {
    let twin = twins.at(h);
    // Border half-edges are numbered behind those of the triangles.
    neighbours.set(h, if twin < twins.len() { twin / 3 } else { NONE });
}

/// The smallest triangle at vertex `v`, `NONE` if there is none.
#[kernel]
pub fn find_trivertex(v: u32, half_edges_of_vertices: In<u32>, trivertex: Out<u32>) {
    let h = half_edges_of_vertices.at(v);
    trivertex.set(v, if h == NONE { NONE } else { h / 3 });
}
