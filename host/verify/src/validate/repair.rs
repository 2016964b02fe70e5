//! The promises of a repaired mesh.

use std::collections::{HashMap, HashSet};

use glam::DVec3;
use gpu::repair::is_flat;
use trioxide::repair::{Repaired, Steps};
use trioxide::{Error, Result};

/// Checks the promises of the steps that were taken, and the maps.
///
/// # Errors
/// [`Error::Invalid`] with the first element that breaks a promise.
pub fn repair(
    points: &[DVec3],
    triangles: &[[u32; 3]],
    repaired: &Repaired,
    steps: &Steps,
) -> Result<()> {
    let faces = &repaired.triangles;
    let n = repaired.vertices.len();
    maps(points, triangles, repaired, steps)?;
    let proper: Vec<[u32; 3]> = faces.iter().copied().filter(|f| is_proper(*f)).collect();
    if steps.repeated {
        let mut seen = HashSet::new();
        for face in &proper {
            let mut face = *face;
            face.sort_unstable();
            promise(
                seen.insert(face),
                || format!("face {face:?}"),
                "is there twice",
            )?;
        }
    }
    if let Some(ratio) = steps.degenerate {
        let point = |v: u32| points[repaired.vertices[v as usize] as usize];
        let is_degenerate = |f: &&[u32; 3]| !is_proper(**f) || is_flat(f.map(point), ratio);
        let left = faces.iter().filter(is_degenerate).count() as u64;
        let is_counted = left <= repaired.counts.degenerate_left;
        promise(is_counted, || format!("{left} faces"), "are degenerate")?;
    }
    let edges = edges(&proper);
    for (edge, sides) in &edges {
        let name = || format!("edge {} {}", edge[0], edge[1]);
        promise(!steps.edges || sides.len() < 3, name, "has three faces")?;
        if steps.orient && repaired.counts.one_sided == 0 && sides.len() == 2 {
            promise(
                sides[0].1 != sides[1].1,
                name,
                "has faces of two orientations",
            )?;
        }
    }
    let is_cut = steps.cut && steps.orient;
    let left = repaired.counts.one_sided;
    promise(
        !is_cut || left == 0,
        || format!("{left} components"),
        "are one-sided",
    )?;
    for segment in &repaired.segments {
        let [a, b] = segment.ends;
        let is_edge = edges.contains_key(&[a.min(b), a.max(b)]);
        promise(is_edge, || format!("segment {a} {b}"), "is no edge")?;
    }
    if steps.vertices {
        let parts = parts_of_stars(&proper, n);
        for (v, &parts) in parts.iter().enumerate() {
            promise(
                parts < 2,
                || format!("vertex {v}"),
                "is one of several surfaces",
            )?;
        }
    }
    if let Some(least) = steps.components {
        for size in sizes(&proper, &edges) {
            let is_large = size >= least as usize;
            promise(
                is_large,
                || format!("a component of {size}"),
                "is too small",
            )?;
        }
    }
    Ok(())
}

/// Whether each edge has two faces.
pub fn is_closed(triangles: &[[u32; 3]]) -> bool {
    triangles.iter().all(|f| is_proper(*f)) && edges(triangles).values().all(|s| s.len() == 2)
}

fn maps(
    points: &[DVec3],
    triangles: &[[u32; 3]],
    repaired: &Repaired,
    steps: &Steps,
) -> Result<()> {
    let vertices = &repaired.vertices;
    let mut is_used = vec![false; vertices.len()];
    for (t, &v) in (0..).zip(repaired.triangles.as_flattened()) {
        let is_there = (v as usize) < vertices.len();
        promise(
            is_there,
            || format!("triangle {}", t / 3),
            "has no such vertex",
        )?;
        is_used[v as usize] = true;
    }
    let mut was_used = vec![false; points.len()];
    for &v in triangles.as_flattened() {
        was_used[v as usize] = true;
    }
    for (v, &old) in vertices.iter().enumerate() {
        let name = || format!("vertex {v}");
        promise((old as usize) < points.len(), name, "was not there")?;
        let is_right = is_used[v] || !(was_used[old as usize] || steps.unused);
        promise(is_right, name, "has no face any more")?;
    }
    let are_there = repaired
        .faces
        .iter()
        .all(|&f| (f as usize) < triangles.len());
    let are_all = are_there && repaired.faces.len() == repaired.triangles.len();
    promise(are_all, || "the map of faces".to_owned(), "is wrong")
}

fn promise(is_kept: bool, element: impl Fn() -> String, rule: &str) -> Result<()> {
    match is_kept {
        true => Ok(()),
        false => Err(Error::Invalid {
            element: element(),
            rule: rule.to_owned(),
        }),
    }
}

fn is_proper([a, b, c]: [u32; 3]) -> bool {
    a != b && b != c && c != a
}

/// The sides of each edge: face, and whether it runs upwards.
fn edges(faces: &[[u32; 3]]) -> HashMap<[u32; 2], Vec<(usize, bool)>> {
    let mut edges: HashMap<[u32; 2], Vec<(usize, bool)>> = HashMap::new();
    for (t, &[a, b, c]) in faces.iter().enumerate() {
        for [a, b] in [[a, b], [b, c], [c, a]] {
            edges
                .entry([a.min(b), a.max(b)])
                .or_default()
                .push((t, a < b));
        }
    }
    edges
}

/// How many parts the faces around each vertex have.
fn parts_of_stars(faces: &[[u32; 3]], vertices: usize) -> Vec<usize> {
    let mut stars = vec![Vec::new(); vertices];
    for &face in faces {
        for v in face {
            stars[v as usize].push(face);
        }
    }
    let parts = |(v, star): (usize, &Vec<[u32; 3]>)| {
        let shares = |one: &[u32; 3], other: &[u32; 3]| {
            one.iter().any(|&w| w as usize != v && other.contains(&w))
        };
        let mut rest = star.clone();
        let mut parts = 0;
        while let Some(face) = rest.pop() {
            parts += 1;
            let mut front = vec![face];
            while let Some(face) = front.pop() {
                let (near, far) = rest
                    .iter()
                    .partition::<Vec<_>, _>(|other| shares(&face, other));
                front.extend(near);
                rest = far;
            }
        }
        parts
    };
    stars.iter().enumerate().map(parts).collect()
}

/// The numbers of faces of the components.
fn sizes(faces: &[[u32; 3]], edges: &HashMap<[u32; 2], Vec<(usize, bool)>>) -> Vec<usize> {
    let mut is_seen = vec![false; faces.len()];
    let mut sizes = Vec::new();
    for start in 0..faces.len() {
        let mut front = vec![start];
        let mut size = 0;
        while let Some(t) = front.pop() {
            if std::mem::replace(&mut is_seen[t], true) {
                continue;
            }
            size += 1;
            let [a, b, c] = faces[t];
            for [a, b] in [[a, b], [b, c], [c, a]] {
                front.extend(edges[&[a.min(b), a.max(b)]].iter().map(|side| side.0));
            }
        }
        sizes.extend((size > 0).then_some(size));
    }
    sizes
}
