//! Convex pieces of polygons, sequentially. The definition and its proof are in `gpu::polylla::cut_convex`.

//!
use gpu::point::{Coordinates, Point2};
use robust::{Coord, orient2d};

use super::{cycle, list_polygons};
use trioxide::mesh::{HalfEdges, NONE, PolyllaMesh};

/// Divides the polygons of `mesh` into convex pieces.
///
/// `counts.polygons` counts the pieces; the other counts stay those of the polygons.
pub fn cut_convex<P: Point2>(points: &[P], half_edges: &HalfEdges, mesh: &mut PolyllaMesh) {
    let he = half_edges;
    let is_side: Vec<bool> = mesh.next.iter().map(|&next| next != NONE).collect();
    let mut stays = vec![true; he.len()];
    for &start in &mesh.half_edges {
        for side in cycle(&mesh.next, start) {
            let mut h = he.next(side);
            while !is_side[h as usize] {
                let twin = he.twin(h);
                if h < twin
                    && [h, twin]
                        .iter()
                        .all(|&e| is_needless(points, he, &stays, e))
                {
                    stays[h as usize] = false;
                    stays[twin as usize] = false;
                }
                h = he.next(twin);
            }
        }
    }
    // Border half-edges keep their links.
    let starts: Vec<u32> = (0..he.inner()).filter(|&h| stays[h as usize]).collect();
    for h in 0..he.inner() as usize {
        (mesh.next[h], mesh.prev[h]) = (NONE, NONE);
    }
    for &h in &starts {
        let mut next = he.next(h);
        while !stays[next as usize] {
            next = he.clockwise(next);
        }
        mesh.next[h as usize] = next;
        mesh.prev[next as usize] = h;
    }
    let mut is_met = vec![false; he.inner() as usize];
    mesh.half_edges.clear();
    for &h in &starts {
        if !is_met[h as usize] {
            mesh.half_edges.push(h);
            cycle(&mesh.next, h).for_each(|g| is_met[g as usize] = true);
        }
    }
    mesh.polygons = list_polygons(he, &mesh.next, &mesh.half_edges).0;
    mesh.counts.polygons = mesh.half_edges.len() as u32;
}

/// Whether the corner at the start of `e` is at most 180 degrees without it.
fn is_needless<P: Point2>(points: &[P], he: &HalfEdges, stays: &[bool], e: u32) -> bool {
    let mut right = he.clockwise(e);
    while !stays[right as usize] {
        right = he.clockwise(right);
    }
    let mut left = he.counter_clockwise(e);
    while !stays[left as usize] {
        left = he.counter_clockwise(left);
    }
    let at = |v: u32| {
        let p = Coordinates::to_f64(points[v as usize]);
        Coord { x: p.x, y: p.y }
    };
    let [v, m, a, b] = [
        he.origin(e),
        he.target(e),
        he.target(right),
        he.target(left),
    ]
    .map(at);
    // On one line the corner is 180 degrees, or 360 where the edge makes it two of 180.
    let sine = orient2d(v, a, b);
    sine > 0.0 || sine == 0.0 && orient2d(v, a, m) > 0.0
}
