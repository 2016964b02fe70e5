//! Whether a boundary is that of a convex area.

use std::collections::HashMap;

use glam::DVec2;
use gpu::delaunay::orientation;

/// Whether directed edges are one loop around a convex area, once counter-clockwise; vertices on its sides may be part
/// of it. Exact.
///
/// # Panics
/// When a vertex has no point.
///
/// ```
/// use glam::DVec2;
/// use trioxide::delaunay::is_convex_loop;
///
/// let points = [(0.0, 0.0), (2.0, 0.0), (0.0, 2.0), (1.0, 1.0)].map(DVec2::from);
/// assert!(is_convex_loop(&points, &[[0, 1], [1, 3], [3, 2], [2, 0]]));
/// assert!(!is_convex_loop(&points, &[[0, 2], [2, 1], [1, 0]]));
/// ```
pub fn is_convex_loop(points: &[DVec2], edges: &[[u32; 2]]) -> bool {
    let at = |v: u32| points[v as usize];
    let next: HashMap<u32, u32> = edges.iter().map(|&[a, b]| (a, b)).collect();
    let Some(&[first, _]) = edges.first() else {
        return false;
    };
    // Loops that touch give a vertex two edges.
    if next.len() < edges.len() {
        return false;
    }
    let is_up = |p: DVec2, q: DVec2| q.y > p.y || q.y == p.y && q.x > p.x;
    let (mut v, mut winds) = (first, 0);
    for step in 1..=edges.len() {
        let turn = next.get(&v).and_then(|&b| Some((b, *next.get(&b)?)));
        let Some((b, c)) = turn else {
            return false;
        };
        if orientation(at(v), at(b), at(c)) < 0 {
            return false;
        }
        winds += u32::from(!is_up(at(v), at(b)) && is_up(at(b), at(c)));
        v = b;
        if v == first {
            return step == edges.len() && winds == 1;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_that_are_not_one_convex_area_are_found() {
        let square = [(0., 0.), (1., 0.), (1., 1.), (0., 1.), (0.5, 0.25)].map(DVec2::from);
        let is_convex = |edges: &[[u32; 2]]| is_convex_loop(&square, edges);
        assert!(is_convex(&[[0, 1], [1, 2], [2, 3], [3, 0]]));
        let dent = [[0, 4], [4, 1], [1, 2], [2, 3], [3, 0]];
        let open = [[0, 1], [1, 2], [2, 3]];
        let two = [[0, 1], [1, 2], [2, 0], [3, 0], [0, 4], [4, 3]];
        assert!(!is_convex(&dent) && !is_convex(&open) && !is_convex(&two) && !is_convex(&[]));
        // Each turn of a star with five points is to the left, and it goes around twice.
        let star: Vec<DVec2> = (0..5)
            .map(|i| DVec2::from_angle(f64::from(i * 2) * std::f64::consts::TAU / 5.0))
            .collect();
        assert!(!is_convex_loop(
            &star,
            &[[0, 1], [1, 2], [2, 3], [3, 4], [4, 0]]
        ));
        // It ends before the first edge comes again.
        assert!(!is_convex(&[[4, 0], [0, 1], [1, 2], [2, 3], [3, 0]]));
    }
}
