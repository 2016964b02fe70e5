//! Fans of triangles around the vertices of a triangulation.
//!
//! Triangles that close around a vertex are crossed by the ray from it along the x axis once for each turn, and at
//! least once. So a vertex with one such crossing has one fan, and turning around it is left to the vertices of the
//! boundary: a corner's crossing is two comparisons, and a turn reads a chain of twins.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use crate::Result;
use crate::mesh::{NONE, Triangulation};
use crate::rules::invalid;
use trioxide_mesh::edge_table::EdgeTable;
use trioxide_mesh::half_edges::next_in_triangle;
use trioxide_mesh::parallel;

/// A vertex that triangles surround has no other triangle. Returns the number of pinch vertices.
///
/// Triangles are counter-clockwise, and no edge has two on one side: `edges` are theirs.
pub(super) fn check_fans(mesh: &Triangulation, edges: &EdgeTable) -> Result<usize> {
    match count_pinches(mesh, edges) {
        Some(pinches) => Ok(pinches),
        None => turn_around_all(&mesh.triangles, mesh.points.len(), edges),
    }
}

/// The number of pinch vertices of a mesh whose fans are quickly seen to be good.
///
/// A closed fan is crossed once for each of its turns: its outer edges surround the vertex, which lies to their left,
/// so an outer edge that ascends past the vertex's height passes it on its right. This holds in exact arithmetic; the
/// comparisons are exact.
fn count_pinches(mesh: &Triangulation, edges: &EdgeTable) -> Option<usize> {
    let (triangles, vertices) = (&mesh.triangles, mesh.points.len());
    let crossed = Flags::new(vertices);
    let is_crossed_once = parallel::all(triangles, |&[a, b, c]| {
        let y = |v: u32| mesh.points[v as usize].y;
        let (ya, yb, yc) = (y(a), y(b), y(c));
        let crosses = |before: f64, middle: f64, behind: f64| before <= middle && middle < behind;
        // At most at one corner, the middle one.
        if crosses(yb, ya, yc) {
            crossed.set(a)
        } else if crosses(yc, yb, ya) {
            crossed.set(b)
        } else if crosses(ya, yc, yb) {
            crossed.set(c)
        } else {
            true
        }
    });
    if !is_crossed_once {
        return None;
    }
    let is_border = Flags::new(vertices);
    let borders = edges.filter_map_edges(|ends, sides| match *sides {
        [(_, side)] => {
            ends.iter().for_each(|&v| _ = is_border.set(v));
            Some(side)
        }
        _ => None,
    });
    let zeros = || -> Vec<AtomicU32> { (0..vertices).map(|_| AtomicU32::new(0)).collect() };
    let (corners, fans) = (zeros(), zeros());
    let corners_of = triangles.as_flattened();
    parallel::for_each(corners_of.len(), |corner| {
        let v = corners_of[corner];
        if is_border.has(v) {
            corners[v as usize].fetch_add(1, Relaxed);
        }
    });
    // From each side on the boundary clockwise around the vertex at its end, to the next one.
    parallel::for_each(borders.len(), |i| {
        let side = borders[i];
        let mut e = next_in_triangle(side);
        let v = start(triangles, e);
        let mut met = 1;
        let twin = |e: u32| {
            let sides = edges.between(v, start(triangles, next_in_triangle(e)));
            sides.iter().map(|entry| entry.1).find(|&other| other != e)
        };
        while let Some(other) = twin(e) {
            e = next_in_triangle(other);
            met += 1;
        }
        fans[v as usize].fetch_add(1, Relaxed);
        corners[v as usize].fetch_sub(met, Relaxed);
    });
    let is_met = |corners: &AtomicU32| corners.load(Relaxed) == 0;
    let is_pinch = |v: usize| fans[v].load(Relaxed) > 1;
    let is_good = parallel::all(&corners, is_met);
    is_good.then(|| parallel::count(vertices, is_pinch))
}

/// A flag for each vertex.
struct Flags(Vec<AtomicU64>);

impl Flags {
    fn new(count: usize) -> Flags {
        Flags((0..count.div_ceil(64)).map(|_| AtomicU64::new(0)).collect())
    }

    fn has(&self, v: u32) -> bool {
        self.0[v as usize / 64].load(Relaxed) >> (v % 64) & 1 == 1
    }

    /// Whether it was not set.
    fn set(&self, v: u32) -> bool {
        let bit = 1 << (v % 64);
        self.0[v as usize / 64].fetch_or(bit, Relaxed) & bit == 0
    }
}

/// As [`check_fans`], around all vertices.
///
/// All threads turn around vertices: the sums that they share are of integers, the same in any order.
fn turn_around_all(triangles: &[[u32; 3]], vertices: usize, edges: &EdgeTable) -> Result<usize> {
    let sides = 3 * triangles.len();
    let numbers = |count, value| parallel::collect(count, |_| AtomicU32::new(value));
    let twins = numbers(sides, NONE);
    edges.for_each_edge(|_, group| {
        if let [(_, g), (_, h)] = *group {
            twins[g as usize].store(h, Relaxed);
            twins[h as usize].store(g, Relaxed);
        }
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

#[cfg(test)]
mod tests {
    use glam::DVec2;

    use super::*;
    use crate::device::Device;
    use crate::generate;
    use crate::half_edges::rules::triangles_and_edges;

    /// Triangles around vertex 0 from corner to corner of a ring of `count` vertices, `turns` times round.
    fn ring(count: u32, turns: u32, leave_out: &[u32]) -> Triangulation {
        let mut points = vec![DVec2::ZERO];
        points.extend((0..count).map(|i| {
            let angle = std::f64::consts::TAU * f64::from(turns * i) / f64::from(count) - 0.5;
            // Never on one circle, so that no two are one point.
            (1.0 + f64::from(i) / 7.0) * DVec2::from_angle(angle)
        }));
        let kept = (0..count).filter(|i| !leave_out.contains(i));
        Triangulation {
            points,
            triangles: kept.map(|i| [0, 1 + i, 1 + (i + 1) % count]).collect(),
            ..Triangulation::default()
        }
    }

    /// The two meshes as one, with one vertex 0.
    fn together(a: &Triangulation, b: &Triangulation) -> Triangulation {
        let shift = a.points.len() as u32 - 1;
        let mut mesh = a.clone();
        mesh.points.extend(b.points[1..].iter().map(|p| 0.9 * *p));
        let moved = |v: u32| if v == 0 { 0 } else { v + shift };
        mesh.triangles
            .extend(b.triangles.iter().map(|triangle| triangle.map(moved)));
        mesh
    }

    #[test]
    fn crossings_and_turns_around_all_vertices_agree() {
        let whole = ring(6, 1, &[]);
        let fan = ring(9, 1, &[0, 1, 2, 3, 5, 6]);
        let pinched = ring(9, 1, &[0, 4]);
        let twice = ring(7, 2, &[]);
        let mut cases = vec![
            (together(&whole, &fan), Err(()), false),
            (together(&whole, &whole), Err(()), false),
            // Two fans over each other at a vertex of the boundary.
            (together(&pinched, &fan), Ok(1), false),
            // One fan that goes round twice: no edge has two triangles on a side, and no other triangle is there.
            (twice, Ok(0), false),
            (whole, Ok(0), true),
            (fan, Ok(1), true),
            (pinched, Ok(1), true),
            (Triangulation::default(), Ok(0), true),
        ];
        let random = generate::random(&Device::cpu(None).unwrap(), 3_000, 4).unwrap();
        let grid = generate::grid(2_500).unwrap();
        // Many triangles taken out: pinch vertices, and vertices without triangles.
        let mut holes = random.clone();
        let mut number = 0;
        holes.triangles.retain(|_| {
            number += 1;
            number % 3 != 0
        });
        for mesh in [random, grid, holes] {
            let edges = EdgeTable::of_triangles(mesh.points.len(), &mesh.triangles);
            let all = turn_around_all(&mesh.triangles, mesh.points.len(), &edges);
            cases.push((mesh, all.map_err(|_| ()), true));
        }
        for (mesh, expected, is_quick) in cases {
            triangles_and_edges(&mesh).unwrap();
            let edges = EdgeTable::of_triangles(mesh.points.len(), &mesh.triangles);
            let all = turn_around_all(&mesh.triangles, mesh.points.len(), &edges);
            assert_eq!(all.map_err(|_| ()), expected);
            assert_eq!(check_fans(&mesh, &edges).map_err(|_| ()), expected);
            let quick = count_pinches(&mesh, &edges);
            // A quick count is right, and good meshes have one as a rule.
            assert!(quick.is_none_or(|pinches| expected == Ok(pinches)));
            assert!(quick.is_some() || !is_quick);
        }
    }
}
