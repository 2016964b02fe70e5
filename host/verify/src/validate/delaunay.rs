//! Whether a triangulation is the Delaunay triangulation of its points.

use std::collections::HashMap;

use glam::DVec2;
use gpu::delaunay::{is_in_circle, orientation};

use trioxide::delaunay::is_convex_loop;
use trioxide::{Error, Result};

/// Checks that triangles are the Delaunay triangulation of the points that they use, by the rule of [`gpu::delaunay`]
/// for points on one circle, and that they use all points: each runs counter-clockwise, each edge is locally Delaunay,
/// and the boundary is one convex loop.
///
/// # Errors
/// [`Error::Invalid`] with the element and the rule.
pub fn delaunay(points: &[DVec2], triangles: &[[u32; 3]]) -> Result<()> {
    let invalid = |element: String, rule: &str| {
        Err(Error::Invalid {
            element,
            rule: rule.into(),
        })
    };
    let at = |v: u32| points[v as usize];
    let mut across: HashMap<[u32; 2], u32> = HashMap::with_capacity(3 * triangles.len());
    let mut used = vec![false; points.len()];
    for (i, t) in triangles.iter().enumerate() {
        let [a, b, c] = t.map(at);
        if orientation(a, b, c) <= 0 {
            return invalid(format!("triangle {i}"), "does not run counter-clockwise");
        }
        for k in 0..3 {
            used[t[k] as usize] = true;
            if across
                .insert([t[k], t[(k + 1) % 3]], t[(k + 2) % 3])
                .is_some()
            {
                return invalid(
                    format!("triangle {i}"),
                    "has an edge that another has in the same direction",
                );
            }
        }
    }
    if let Some(v) = used.iter().position(|used| !used) {
        return invalid(format!("vertex {v}"), "is in no triangle");
    }
    let mut boundary = Vec::new();
    for (&[a, b], &c) in &across {
        match across.get(&[b, a]) {
            Some(&d) if is_in_circle(at(a), at(b), at(c), at(d)) => {
                return invalid(
                    format!("the edge of vertices {a} and {b}"),
                    "is not Delaunay",
                );
            }
            Some(_) => {}
            None => boundary.push([a, b]),
        }
    }
    match is_convex_loop(points, &boundary) {
        true => Ok(()),
        false => invalid("the boundary".into(), "is no single convex loop"),
    }
}
