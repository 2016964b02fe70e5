//! Traversal: from seed triangles to the Mesh and Position arrays (Algorithms 3 and 4).

use trioxide_kernel::{In, Out, kernel};

use super::label::longest_edge;
use super::opposite;
use crate::half_edge::{next, target};

/// The frontier half-edge behind `h` around its polygon; `crossed` is told of every half-edge on the way, in clockwise
/// order around the vertex between the two.
#[inline(always)]
pub(super) fn successor(
    neighbours: In<u32>,
    frontier: In<u32>,
    h: u32,
    mut crossed: impl FnMut(u32),
) -> u32 {
    let mut e = next(h);
    while !frontier.bit(e) {
        crossed(e);
        e = next(opposite(neighbours, e));
    }
    e
}

/// Number of vertices of the polygon through the frontier half-edge `start`, and its smallest half-edge.
#[inline(always)]
pub(super) fn measure(neighbours: In<u32>, frontier: In<u32>, start: u32) -> (u32, u32) {
    let (mut length, mut smallest) = (1, start);
    let mut h = successor(neighbours, frontier, start, |_| {});
    while h != start {
        length += 1;
        smallest = smallest.min(h);
        h = successor(neighbours, frontier, h, |_| {});
    }
    (length, smallest)
}

/// PolyConstruction: writes the polygon through the frontier half-edge `start` to the Mesh array from `position` on;
/// `corner` is told of each of its half-edges and the next, `crossed` of each half-edge inside.
#[inline(always)]
pub(super) fn append(
    triangles: In<u32>,
    neighbours: In<u32>,
    frontier: In<u32>,
    start: u32,
    position: u32,
    mesh: Out<u32>,
    mut corner: impl FnMut(u32, u32),
    mut crossed: impl FnMut(u32),
) {
    let mut length = 0;
    let mut h = start;
    loop {
        length += 1;
        mesh.set(position + length, triangles.at(h));
        let after = successor(neighbours, frontier, h, &mut crossed);
        corner(h, after);
        h = after;
        if h == start {
            break;
        }
    }
    mesh.set(position, length);
}

/// Smallest half-edge of the `i`-th seed's polygon, and the space that it takes in the Mesh array.
///
/// A terminal edge that is no frontier edge lies inside: the first frontier edge clockwise around its end is one of the
/// polygon.
#[kernel]
pub fn measure_polygons(
    i: u32,
    seeds: In<u32>,
    max: In<u32>,
    neighbours: In<u32>,
    frontier: In<u32>,
    starts: Out<u32>,
    sizes: Out<u32>,
) {
    let terminal = longest_edge(max, seeds.at(i));
    let start = if frontier.bit(terminal) {
        terminal
    } else {
        successor(neighbours, frontier, terminal, |_| {})
    };
    let (length, smallest) = measure(neighbours, frontier, start);
    starts.set(i, smallest);
    sizes.set(i, length + 1);
}

/// Writes polygon `i` to the Mesh array; whether it has a barrier tip.
#[kernel]
pub fn append_polygons(
    i: u32,
    triangles: In<u32>,
    neighbours: In<u32>,
    frontier: In<u32>,
    starts: In<u32>,
    positions: In<u32>,
    mesh: Out<u32>,
) -> bool {
    let mut tip = false;
    append(
        triangles,
        neighbours,
        frontier,
        starts.at(i),
        positions.at(i),
        mesh,
        // Vertices a, b, a in a row.
        |h, after| tip |= triangles.at(h) == target(triangles, after),
        |_| {},
    );
    tip
}
