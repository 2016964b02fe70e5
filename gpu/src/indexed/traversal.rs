//! Traversal: from seed triangles to the Mesh and Position arrays (Algorithms 3 and 4).

use trioxide_kernel::kernel;
use trioxide_kernel::safe::{In, Out, Own, Scatter};

use super::Labelled;
use super::label_max::longest_edge;
use crate::half_edges::target;
use crate::ids::{HalfEdge, Polygon, Triangle, Vertex};

/// PolyConstruction: writes the polygon through the frontier half-edge `start` to the Mesh array from `position` on;
/// `corner` gets each of its half-edges and the next one, `crossed` each half-edge inside.
#[inline(always)]
pub(super) fn append(
    triangles: In<Vertex, HalfEdge>,
    edges: Labelled,
    start: HalfEdge,
    position: u32,
    mesh: Scatter<u32>,
    mut corner: impl FnMut(HalfEdge, HalfEdge),
    mut crossed: impl FnMut(HalfEdge),
) {
    let mut length = 0;
    let mut h = start;
    loop {
        length += 1;
        mesh.set(position + length, triangles.at(h).index());
        let after = edges.successor(h, &mut crossed);
        corner(h, after);
        h = after;
        if h == start {
            break;
        }
    }
    mesh.set(position, length);
}

/// Smallest half-edge of the `i`-th seed's polygon, and the polygon's space in the Mesh array.
///
/// A terminal edge that is not a frontier edge lies inside the polygon: the first frontier edge clockwise around its
/// end belongs to the polygon.
#[kernel(
    requires(
        seeds.len() == n,
        max.len() == words(2 * (edges.neighbours.len() / 3)),
        edges.frontier.len() == words(edges.neighbours.len()),
        starts.len() == n,
        sizes.len() >= n
    ),
    moves(seeds.bytes() + edges.neighbours.bytes() + edges.frontier.bytes() + starts.bytes() + sizes.bytes())
)]
pub fn measure_polygons(
    i: Own<Polygon>,
    seeds: In<Triangle, Polygon>,
    max: In<u32>,
    edges: Labelled,
    starts: Out<HalfEdge, Polygon>,
    sizes: Out<u32, Polygon>,
) {
    let terminal = longest_edge(max, seeds.at(i));
    let start = if edges.frontier.bit(terminal) {
        terminal
    } else {
        edges.successor(terminal, |_| {})
    };
    let (length, smallest) = edges.measure(start);
    starts.set(i, smallest);
    sizes.set(i, length + 1);
}

/// Writes polygon `i` to the Mesh array; returns whether it has a barrier tip.
#[kernel(
    requires(
        edges.neighbours.len() == triangles.len(),
        edges.frontier.len() == words(triangles.len()),
        starts.len() == n,
        positions.len() == n + 1
    ),
    moves(
        triangles.bytes()
            + edges.neighbours.bytes()
            + edges.frontier.bytes()
            + starts.bytes()
            + positions.bytes()
            + mesh.bytes()
            + 4 * words(n)
    )
)]
pub fn append_polygons(
    i: Own<Polygon>,
    triangles: In<Vertex, HalfEdge>,
    edges: Labelled,
    starts: In<HalfEdge, Polygon>,
    positions: In<u32, Polygon>,
    mesh: Scatter<u32>,
) -> bool {
    let mut tip = false;
    append(
        triangles,
        edges,
        starts.at(i),
        positions.at(i),
        mesh,
        // Vertices a, b, a in a row.
        |h, after| tip |= triangles.at(h) == target(triangles, after),
        |_| {},
    );
    tip
}
