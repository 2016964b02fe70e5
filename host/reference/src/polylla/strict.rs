//! Splitting weakly simple polygons.
//!
//! A few polygons visit a vertex more than once without crossing themselves: the region comes back to the vertex from
//! another side, around other polygons or a hole. [`split_weakly_simple`] splits them until every polygon is simple.
//!
//! **Which edge.** Let the polygon have corners c and d at the same vertex v. Its triangles form a tree (see the parent
//! module); those at corner c form a fan t_0 .. t_{k-1} between spokes s_0 .. s_k, those at d another fan, disjoint
//! from the first since a triangle has v once. A cut along an inner spoke s_i of either fan never separates the
//! corners: each of its sides keeps a triangle of that fan, so one side has both v from this fan and v from the other.
//! So the cut is an opposite edge o_i = next(s_i). Without the fan of c the tree falls into the parts beyond the o_i;
//! the fan of d is connected and touches none of the fan of c, so it lies beyond exactly one o_i. That edge becomes a
//! frontier edge: corner c is then on its one side and corner d on the other. Both parts are trees again, with fewer
//! visits of v each and of no other vertex more; so repeating this ends. An added frontier edge takes none away, so no
//! barrier tip appears.
//!
//! **Which corners.** Walk the polygon from its smallest half-edge: d is the first corner at a vertex already visited,
//! c the corner that visited it. Each part is then treated by itself the same way. Parts share no triangle, so the
//! result does not depend on the order of the parts or of the polygons.
//!
//! Each split takes time linear in its polygon.

use std::collections::HashMap;

use super::{cycle, list_polygons};
use trioxide::mesh::{HalfEdges, PolyllaMesh};

/// Splits every weakly simple polygon of `mesh` along inner edges, so that no polygon visits a vertex twice.
///
/// `counts` is set to the counts of the new polygons, none of which is weakly simple.
pub fn split_weakly_simple(half_edges: &HalfEdges, mesh: &mut PolyllaMesh) {
    let (_, weakly_simple) = list_polygons(half_edges, &mesh.next, &mesh.half_edges);
    if weakly_simple.is_empty() {
        return;
    }
    for &polygon in weakly_simple.iter().rev() {
        let start = mesh.half_edges.swap_remove(polygon as usize);
        split_polygon(
            half_edges,
            &mut mesh.next,
            &mut mesh.prev,
            start,
            &mut mesh.half_edges,
        );
    }
    mesh.half_edges.sort_unstable();
    mesh.polygons = list_polygons(half_edges, &mesh.next, &mesh.half_edges).0;
    mesh.counts.polygons = mesh.half_edges.len() as u32;
    mesh.counts.weakly_simple = 0;
}

/// Splits the polygon through half-edge `start` until no part visits a vertex twice, and appends the smallest half-edge
/// of each part to `parts`.
///
/// `next` and `prev` are the links of the polygonal mesh ([`PolyllaMesh::next`]): a half-edge with a link belongs to a
/// frontier edge. They are read and written at the half-edges of this polygon's triangles only.
pub fn split_polygon(
    half_edges: &HalfEdges,
    next: &mut [u32],
    prev: &mut [u32],
    start: u32,
    parts: &mut Vec<u32>,
) {
    let mut pending = vec![start];
    while let Some(h) = pending.pop() {
        let start = cycle(next, h).min().expect("a cycle has a half-edge");
        match first_repeat(half_edges, next, start) {
            None => parts.push(start),
            Some((c, d)) => {
                let o = separating_edge(half_edges, next, prev, c, d);
                link(half_edges, next, prev, o);
                pending.extend([o, half_edges.twin(o)]);
            }
        }
    }
}

/// The corners c, d, as the half-edges that leave them: d is the first corner, from half-edge `start` on, at a vertex
/// that an earlier corner has, and c is that earlier corner.
fn first_repeat(he: &HalfEdges, next: &[u32], start: u32) -> Option<(u32, u32)> {
    let mut corner_at = HashMap::new();
    cycle(next, start).find_map(|h| {
        corner_at
            .insert(he.origin(h), h)
            .map(|earlier| (earlier, h))
    })
}

/// The half-edge, opposite to corner `c` in a triangle of its fan, beyond which corner `d` lies.
fn separating_edge(he: &HalfEdges, next: &[u32], prev: &[u32], c: u32, d: u32) -> u32 {
    let mut spoke = c;
    loop {
        let opposite = he.next(spoke);
        if !is_frontier(next, opposite) {
            // The polygon's corners beyond the edge, from its one end to its other.
            let first = first_frontier(he, next, he.clockwise(opposite));
            let last = prev[first_frontier(he, next, he.next(opposite)) as usize];
            let mut h = first;
            loop {
                if h == d {
                    return opposite;
                }
                if h == last {
                    break;
                }
                h = next[h as usize];
            }
        }
        spoke = he.counter_clockwise(spoke);
        assert!(
            !is_frontier(next, spoke),
            "corners {c} and {d} are not of one polygon"
        );
    }
}

/// Makes the inner edge of half-edge `o` a frontier edge: links both of its half-edges.
fn link(he: &HalfEdges, next: &mut [u32], prev: &mut [u32], o: u32) {
    let twin = he.twin(o);
    let after = [o, twin].map(|h| first_frontier(he, next, he.next(h)));
    let before = [after[1], after[0]].map(|h| prev[h as usize]);
    for (i, h) in [o, twin].into_iter().enumerate() {
        next[h as usize] = after[i];
        prev[after[i] as usize] = h;
        prev[h as usize] = before[i];
        next[before[i] as usize] = h;
    }
}

/// The first half-edge of a frontier edge clockwise about its origin, `h` included.
fn first_frontier(he: &HalfEdges, next: &[u32], mut h: u32) -> u32 {
    while !is_frontier(next, h) {
        h = he.clockwise(h);
    }
    h
}

fn is_frontier(next: &[u32], h: u32) -> bool {
    next[h as usize] != trioxide::mesh::NONE
}
