//! The promises of decimation, from outside.

use std::collections::HashMap;

use trioxide::decimate::Decimated;
use trioxide::{Error, Result};

/// Checks a decimated surface against the `points` vertices and the `triangles` that it was made of:
///
/// - a vertex with triangles that are left goes into a vertex of a lower id, or is left; survivors are the vertices
///   that are left;
/// - a triangle is left if its vertices went into three, in its order and with its orientation;
/// - if each edge of the input has two triangles at most, in opposite directions, so have those of the result, and the
///   Euler characteristic is as before, as is whether there is a boundary.
///
/// # Errors
/// [`Error::Invalid`] with the smallest element that breaks a rule.
pub fn decimated(points: usize, triangles: &[[u32; 3]], ours: &Decimated) -> Result<()> {
    let wrong = |element: String, rule: &str| {
        Err(Error::Invalid {
            element,
            rule: rule.to_owned(),
        })
    };
    if ours.map.len() != points || ours.survivors.len() != ours.points.len() {
        return wrong("the map".to_owned(), "has another length than the vertices");
    }
    for (new, &old) in (0..).zip(&ours.survivors) {
        if ours.map.get(old as usize) != Some(&new) {
            return wrong(format!("vertex {old}"), "is left, and went into another");
        }
    }
    for (old, &new) in ours.map.iter().enumerate() {
        if new as usize >= ours.survivors.len() {
            return wrong(
                format!("vertex {old}"),
                "went into a vertex that is not there",
            );
        }
    }
    let is_higher = |&old: &u32| ours.survivors[ours.map[old as usize] as usize] > old;
    let mut left = (ours.triangle_ids.iter().copied())
        .zip(&ours.triangles)
        .peekable();
    for (t, corners) in (0..).zip(triangles) {
        let [a, b, c] = corners.map(|v| ours.map[v as usize]);
        let is_left = left.next_if(|&(id, _)| id == t);
        let is_whole = a != b && b != c && c != a;
        if is_left.is_some() != is_whole || is_left.is_some_and(|(_, new)| *new != [a, b, c]) {
            return wrong(
                format!("triangle {t}"),
                "has other vertices than its own went into",
            );
        }
        if is_left.is_some() && corners.iter().any(is_higher) {
            return wrong(
                format!("triangle {t}"),
                "has a vertex that went into a higher id",
            );
        }
    }
    if left.next().is_some() {
        return wrong("the triangles".to_owned(), "are not ascending");
    }
    let Some(before) = topology(triangles) else {
        return Ok(());
    };
    match topology(&ours.triangles) {
        None => wrong("the surface".to_owned(), "is no manifold any more"),
        Some(after) if after != before => wrong("the surface".to_owned(), "has another topology"),
        Some(_) => Ok(()),
    }
}

/// The Euler characteristic, and whether there is a boundary; none if an edge has more than two triangles, or two of
/// one direction.
fn topology(triangles: &[[u32; 3]]) -> Option<(i64, bool)> {
    let mut edges: HashMap<[u32; 2], [u8; 2]> = HashMap::new();
    let mut vertices: Vec<u32> = triangles.as_flattened().to_vec();
    for &[a, b, c] in triangles {
        for [u, v] in [[a, b], [b, c], [c, a]] {
            let sides = edges.entry([u.min(v), u.max(v)]).or_default();
            let side = &mut sides[usize::from(u > v)];
            if *side > 0 {
                return None;
            }
            *side = 1;
        }
    }
    vertices.sort_unstable();
    vertices.dedup();
    let euler = vertices.len() as i64 - edges.len() as i64 + triangles.len() as i64;
    Some((euler, edges.values().any(|sides| sides != &[1, 1])))
}

#[cfg(test)]
mod tests {
    use trioxide::glam::DVec3;

    use super::*;

    /// A vertex with four triangles around it; one neighbour goes into it.
    fn collapsed() -> Decimated {
        Decimated {
            points: vec![DVec3::ZERO; 4],
            triangles: vec![[0, 1, 2], [0, 2, 3]],
            map: vec![0, 1, 2, 3, 0],
            survivors: vec![0, 1, 2, 3],
            triangle_ids: vec![0, 1],
            values: Vec::new(),
            rounds: 1,
        }
    }

    const FAN: [[u32; 3]; 4] = [[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 1]];

    #[test]
    fn a_collapse_is_accepted_and_its_faults_are_found() {
        decimated(5, &FAN, &collapsed()).unwrap();
        let mut higher = collapsed();
        higher.survivors = vec![4, 1, 2, 3];
        decimated(5, &FAN, &higher).unwrap_err();
        let mut missing = collapsed();
        missing.triangle_ids.pop();
        missing.triangles.pop();
        decimated(5, &FAN, &missing).unwrap_err();
        let mut turned = collapsed();
        turned.triangles[1] = [2, 0, 3];
        decimated(5, &FAN, &turned).unwrap_err();
    }
}
