//! Reparation: polygons with barrier tips are split until none is left (Algorithm 5).

use trioxide_kernel::safe::{Atomic, In, Out, Own, Scatter};
use trioxide_kernel::{Bits, kernel};

use super::traversal::append;
use super::{Adjacent, Labelled, Polygons};
use crate::half_edges::target;
use crate::ids::{HalfEdge, Item, Polygon, Triangle, Vertex};

/// Marks the middle edges of all tips of the `i`-th broken polygon (`broken` lists them) in the bit set `middle`.
///
/// `cuts` gets the first one, at the polygon's index; `tips` the number of tips, at `i`.
#[kernel(requires(
    broken.len() == n,
    edges.neighbours.len() == triangles.len(),
    edges.frontier.len() == words(triangles.len()),
    middle.len() == words(triangles.len()),
    cuts.len() == polygons.starts.len(),
    tips.len() == n
))]
pub fn label_middle_edges(
    i: Own<Item>,
    broken: In<Polygon, Item>,
    triangles: In<Vertex, HalfEdge>,
    trivertex: In<Triangle, Vertex>,
    edges: Labelled,
    polygons: Polygons,
    middle: Atomic<Bits<HalfEdge>>,
    cuts: Scatter<HalfEdge, Polygon>,
    tips: Out<u32, Item>,
) {
    let p = broken.at(i);
    let position = polygons.positions.at(p);
    let length = polygons.mesh.at(position);
    let vertex = |slot: u32| Vertex::new(polygons.mesh.at(position + 1 + slot));
    let neighbours = Adjacent(edges.neighbours);
    let mut count = 0;
    let mut slot = 0;
    while slot < length {
        let before = vertex(if slot == 0 { length - 1 } else { slot - 1 });
        let behind = vertex(if slot + 1 == length { 0 } else { slot + 1 });
        if before == behind {
            let mut barrier = find_spoke(triangles, neighbours, trivertex, vertex(slot), behind);
            if barrier.is_none() {
                // The triangle of the Trivertex array is not at the tip: only where triangles overlap.
                barrier = polygons.starts.at(p);
                let mut steps = slot;
                while steps > 0 {
                    barrier = edges.successor(barrier, |_| {});
                    steps -= 1;
                }
            }
            let cut = middle_edge(neighbours, barrier);
            middle.set_bit(cut);
            middle.set_bit(neighbours.opposite(cut));
            if count == 0 {
                cuts.set(p, cut);
            }
            count += 1;
        }
        slot += 1;
    }
    tips.set(i, count);
}

/// The half-edge from vertex `v` to vertex `to`, searched clockwise around `v` from its triangle in the Trivertex
/// array.
#[inline(always)]
fn find_spoke(
    triangles: In<Vertex, HalfEdge>,
    neighbours: Adjacent,
    trivertex: In<Triangle, Vertex>,
    v: Vertex,
    to: Vertex,
) -> HalfEdge {
    let t = trivertex.at(v);
    let mut k = 0;
    while triangles.at(HalfEdge::of(t, k)) != v {
        k += 1;
    }
    let first = HalfEdge::of(t, k);
    let mut spoke = first;
    while target(triangles, spoke) != to {
        let back = neighbours.opposite(spoke);
        if back.is_none() {
            return HalfEdge::NONE;
        }
        spoke = back.next();
        if spoke == first {
            return HalfEdge::NONE;
        }
    }
    spoke
}

/// The middle one of the n interior edges around a tip, as its half-edge from there: number (n - 1) / 2 clockwise from
/// `barrier`, the half-edge from the tip along its only frontier edge.
#[inline(always)]
fn middle_edge(neighbours: Adjacent, barrier: HalfEdge) -> HalfEdge {
    let first = neighbours.clockwise(barrier);
    let mut interior = 0;
    let mut e = first;
    while e != barrier {
        interior += 1;
        e = neighbours.clockwise(e);
    }
    let mut steps = (interior - 1) / 2;
    e = first;
    while steps > 0 {
        e = neighbours.clockwise(e);
        steps -= 1;
    }
    e
}

/// Makes the cut of the `i`-th broken polygon a frontier edge.
#[kernel(requires(broken.len() == n, frontier.len() == words(neighbours.len())))]
pub fn label_cuts(
    i: Own<Item>,
    broken: In<Polygon, Item>,
    cuts: In<HalfEdge, Polygon>,
    neighbours: In<Triangle, HalfEdge>,
    frontier: Atomic<Bits<HalfEdge>>,
) {
    let cut = cuts.at(broken.at(i));
    frontier.set_bit(cut);
    frontier.set_bit(Adjacent(neighbours).opposite(cut));
}

/// Smallest half-edge of part `i`, and its space in the auxiliary Mesh array. Parts come in the order of `broken`, two
/// for each polygon, first the one to the left of the cut.
#[kernel(requires(
    2 * broken.len() == n,
    edges.frontier.len() == words(edges.neighbours.len()),
    starts.len() == n,
    sizes.len() >= n
))]
pub fn measure_parts(
    i: Own<Item>,
    broken: In<Polygon>,
    cuts: In<HalfEdge, Polygon>,
    edges: Labelled,
    starts: Out<HalfEdge, Item>,
    sizes: Out<u32, Item>,
) {
    let mut cut = cuts.at(broken.at(i.index() / 2));
    if i.index() % 2 == 1 {
        cut = edges.opposite(cut);
    }
    let (length, smallest) = edges.measure(cut);
    starts.set(i, smallest);
    sizes.set(i, length + 1);
}

/// Writes part `i` to the auxiliary Mesh array; returns whether a middle edge is left inside of it. `cuts` gets the
/// first such edge.
#[kernel(requires(
    edges.neighbours.len() == triangles.len(),
    edges.frontier.len() == words(triangles.len()),
    middle.len() == words(triangles.len()),
    starts.len() == n,
    positions.len() == n + 1,
    cuts.len() == n
))]
pub fn append_parts(
    i: Own<Polygon>,
    triangles: In<Vertex, HalfEdge>,
    edges: Labelled,
    middle: In<Bits<HalfEdge>>,
    starts: In<HalfEdge, Polygon>,
    positions: In<u32, Polygon>,
    mesh: Scatter<u32>,
    cuts: Out<HalfEdge, Polygon>,
) -> bool {
    let mut cut = HalfEdge::NONE;
    append(
        triangles,
        edges,
        starts.at(i),
        positions.at(i),
        mesh,
        |_, _| {},
        |e| {
            if cut.is_none() && middle.bit(e) {
                cut = e;
            }
        },
    );
    cuts.set(i, cut);
    cut.is_some()
}
