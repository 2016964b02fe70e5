//! Fans of triangles around the vertices of a triangulation.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::invalid;
use crate::Result;
use crate::mesh::NONE;
use crate::reference::half_edges::next_in_triangle;
use trioxide_mesh::edge_table::EdgeTable;
use trioxide_mesh::parallel;

/// A vertex that triangles surround has no other triangle. Returns the number of pinch vertices.
///
/// All threads turn around vertices: the sums that they share are of integers, the same in any order.
pub(super) fn check_fans(
    triangles: &[[u32; 3]],
    vertices: usize,
    edges: &EdgeTable,
) -> Result<usize> {
    let sides = 3 * triangles.len();
    let numbers = |count, value| parallel::collect(count, |_| AtomicU32::new(value));
    let twins = numbers(sides, NONE);
    edges.filter_map_edges(|_, group| -> Option<()> {
        if let [(_, g), (_, h)] = *group {
            twins[g as usize].store(h, Relaxed);
            twins[h as usize].store(g, Relaxed);
        }
        None
    });
    let twin = |h: u32| twins[h as usize].load(Relaxed);
    // Number of triangle corners at each vertex that no walk around the vertex has met, and a half-edge from it.
    let (unmet, first, fans) = (
        numbers(vertices, 0),
        numbers(vertices, NONE),
        numbers(vertices, 0),
    );
    parallel::for_each(sides, |h| {
        let h = h as u32;
        let v = start(triangles, h) as usize;
        unmet[v].fetch_add(1, Relaxed);
        first[v].fetch_min(h, Relaxed);
    });
    // From each side on the boundary clockwise around the vertex at its end, to the next one.
    parallel::for_each(sides, |h| {
        let h = h as u32;
        if twin(h) != NONE {
            return;
        }
        let mut e = next_in_triangle(h);
        let v = start(triangles, e) as usize;
        let mut met = 1;
        while twin(e) != NONE {
            e = next_in_triangle(twin(e));
            met += 1;
        }
        fans[v].fetch_add(1, Relaxed);
        unmet[v].fetch_sub(met, Relaxed);
    });
    let is_whole = |v: usize| {
        let mut left = unmet[v].load(Relaxed);
        let first = first[v].load(Relaxed);
        if first != NONE && fans[v].load(Relaxed) == 0 {
            let mut h = first;
            loop {
                left -= 1;
                h = next_in_triangle(twin(h));
                if h == first {
                    break;
                }
            }
        }
        left == 0
    };
    if let Some(v) = parallel::find(vertices, |v| !is_whole(v)) {
        return Err(invalid(
            format!("vertex {v}"),
            "is surrounded by triangles and belongs to others besides: they overlap",
        ));
    }
    Ok(parallel::count(vertices, |v| fans[v].load(Relaxed) > 1))
}

/// Vertex that side `h` of the triangles starts at.
pub(super) fn start(triangles: &[[u32; 3]], h: u32) -> u32 {
    triangles[h as usize / 3][h as usize % 3]
}
