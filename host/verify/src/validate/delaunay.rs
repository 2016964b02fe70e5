//! Whether a triangulation is the Delaunay triangulation of its points.

use std::collections::{HashMap, HashSet};

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
    let mut used = vec![false; points.len()];
    triangles
        .as_flattened()
        .iter()
        .for_each(|&v| used[v as usize] = true);
    let boundary = check(points, triangles, &HashSet::new())?;
    if let Some(v) = used.iter().position(|used| !used) {
        return invalid(format!("vertex {v}"), "is in no triangle");
    }
    match is_convex_loop(points, &boundary) {
        true => Ok(()),
        false => invalid("the boundary".into(), "is no single convex loop"),
    }
}

/// Checks that triangles are a constrained Delaunay triangulation, by the rule of [`gpu::delaunay`]: each runs
/// counter-clockwise, each piece of a segment is an edge of one, and each other edge is locally Delaunay. The boundary
/// is made of pieces, or is one convex loop.
///
/// # Errors
/// [`Error::Invalid`] with the element and the rule.
pub fn constrained_delaunay(
    points: &[DVec2],
    triangles: &[[u32; 3]],
    pieces: &[[u32; 2]],
) -> Result<()> {
    let sorted = |[a, b]: [u32; 2]| [a.min(b), a.max(b)];
    let pieces: HashSet<[u32; 2]> = pieces.iter().copied().map(sorted).collect();
    let boundary = check(points, triangles, &pieces)?;
    let is_piece = |&edge: &[u32; 2]| pieces.contains(&sorted(edge));
    match boundary.iter().all(is_piece) || is_convex_loop(points, &boundary) {
        true => Ok(()),
        false => invalid(
            "the boundary".into(),
            "is neither made of segments nor one convex loop",
        ),
    }
}

fn invalid<T>(element: String, rule: &str) -> Result<T> {
    Err(Error::Invalid {
        element,
        rule: rule.into(),
    })
}

/// Checks the triangles and their edges. Returns the edges of the boundary.
fn check(
    points: &[DVec2],
    triangles: &[[u32; 3]],
    pieces: &HashSet<[u32; 2]>,
) -> Result<Vec<[u32; 2]>> {
    let at = |v: u32| points[v as usize];
    let mut across: HashMap<[u32; 2], u32> = HashMap::with_capacity(3 * triangles.len());
    for (i, t) in triangles.iter().enumerate() {
        let [a, b, c] = t.map(at);
        if orientation(a, b, c) <= 0 {
            return invalid(format!("triangle {i}"), "does not run counter-clockwise");
        }
        for k in 0..3 {
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
    if let Some([a, b]) = pieces
        .iter()
        .find(|[a, b]| !across.contains_key(&[*a, *b]) && !across.contains_key(&[*b, *a]))
    {
        return invalid(
            format!("the piece of a segment from vertex {a} to {b}"),
            "is no edge",
        );
    }
    let mut boundary = Vec::new();
    for (&[a, b], &c) in &across {
        match across.get(&[b, a]) {
            Some(&d)
                if is_in_circle(at(a), at(b), at(c), at(d))
                    && !pieces.contains(&[a.min(b), a.max(b)]) =>
            {
                return invalid(
                    format!("the edge of vertices {a} and {b}"),
                    "is not Delaunay",
                );
            }
            Some(_) => {}
            None => boundary.push([a, b]),
        }
    }
    Ok(boundary)
}
