//! Whether a triangulation is the Delaunay triangulation of its points.

use std::collections::HashMap;

use glam::DVec2;
use gpu::delaunay::{is_in_circle, orientation};

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
    let mut next = HashMap::new();
    for (&[a, b], &c) in &across {
        match across.get(&[b, a]) {
            Some(&d) if is_in_circle(at(a), at(b), at(c), at(d)) => {
                return invalid(
                    format!("the edge of vertices {a} and {b}"),
                    "is not Delaunay",
                );
            }
            Some(_) => {}
            None if next.insert(a, b).is_some() => {
                return invalid(format!("vertex {a}"), "is on the boundary twice");
            }
            None => {}
        }
    }
    // A loop whose every turn is to the left or straight on, once around.
    let Some((&first, _)) = next.iter().min() else {
        return invalid("the mesh".into(), "has no boundary");
    };
    let (mut v, mut steps) = (first, 0);
    let mut winds = 0;
    loop {
        let (Some(&b), steps_left) = (next.get(&v), next.len() - steps) else {
            return invalid(format!("vertex {v}"), "ends the boundary");
        };
        let Some(&c) = next.get(&b) else {
            return invalid(format!("vertex {b}"), "ends the boundary");
        };
        if steps_left == 0 || orientation(at(v), at(b), at(c)) < 0 {
            return invalid(format!("vertex {b}"), "is where the boundary is not convex");
        }
        let up = |p: DVec2, q: DVec2| q.y > p.y || q.y == p.y && q.x > p.x;
        winds += u32::from(!up(at(v), at(b)) && up(at(b), at(c)));
        steps += 1;
        v = b;
        if v == first {
            break;
        }
    }
    match steps == next.len() && winds == 1 {
        true => Ok(()),
        false => invalid("the boundary".into(), "is no single convex loop"),
    }
}
