//! Edges of a surface that stay because of angles: the definition in `gpu::polylla`, read from the longest edge down.

use glam::DVec3;
use gpu::point::MeshPoint;

use super::label_longest_edges;
use trioxide::mesh::{HalfEdges, Ties};
use trioxide::polylla::{Angles, least_cosine};

/// Marks in `constrained`, a flag for each half-edge of a triangle, the edges that stay for `angles`.
pub fn mark_angles<P: MeshPoint<Double = DVec3>>(
    points: &[P],
    half_edges: &HalfEdges,
    constrained: &mut [bool],
    angles: Angles,
    ties: Ties,
) {
    let he = half_edges;
    let normals: Vec<DVec3> = (0..he.triangles)
        .map(|t| {
            let corner = |k| points[he.origin(3 * t + k) as usize].to_f64();
            normal(corner(0), corner(1), corner(2))
        })
        .collect();
    let product = |t: u32, u: u32| {
        let (a, b) = (normals[t as usize], normals[u as usize]);
        a.x * b.x + a.y * b.y + a.z * b.z
    };
    let mark = |constrained: &mut [bool], h: u32| {
        constrained[h as usize] = true;
        constrained[he.twin(h) as usize] = true;
    };
    if let Some(degrees) = angles.feature {
        let least = least_cosine(degrees);
        for h in (0..he.inner()).filter(|&h| !he.is_border(he.twin(h))) {
            if product(h / 3, he.twin(h) / 3) < least {
                mark(constrained, h);
            }
        }
    }
    let Some(degrees) = angles.flatness else {
        return;
    };
    let least = least_cosine(degrees);
    let is_longest = label_longest_edges(points, he, ties);
    let longest = |t: u32| {
        (3 * t..3 * t + 3)
            .find(|&h| is_longest[h as usize])
            .expect("one is")
    };
    let before = constrained.to_vec();
    let is_joined = |h: u32| !he.is_border(he.twin(h)) && !before[h as usize];
    // Terminal triangles, then the children of each triangle after it.
    let mut bases: Vec<Vec<u32>> = vec![Vec::new(); he.triangles as usize];
    let mut ordered = Vec::new();
    for t in 0..he.triangles {
        let h = longest(t);
        let across = he.twin(h);
        bases[t as usize] = match is_joined(h) {
            false => vec![t],
            true if !is_longest[across as usize] => continue,
            true if product(t, across / 3) < least => {
                mark(constrained, h);
                vec![t]
            }
            true => vec![t, across / 3],
        };
        ordered.push(t);
    }
    let mut i = 0;
    while i < ordered.len() {
        let t = ordered[i];
        i += 1;
        for h in (3 * t..3 * t + 3).filter(|&h| h != longest(t) && is_joined(h)) {
            let twin = he.twin(h);
            if !is_longest[twin as usize] {
                continue;
            }
            let child = twin / 3;
            let base = bases[t as usize].clone();
            bases[child as usize] = match base.iter().any(|&b| product(b, child) < least) {
                true => {
                    mark(constrained, h);
                    vec![child]
                }
                false => base,
            };
            ordered.push(child);
        }
    }
}

/// The unit normal of a triangle, zero where the square of its area is.
fn normal(a: DVec3, b: DVec3, c: DVec3) -> DVec3 {
    let (u, v) = (b - a, c - a);
    let cross = [
        u.y * v.z - u.z * v.y,
        u.z * v.x - u.x * v.z,
        u.x * v.y - u.y * v.x,
    ];
    let square = cross[0] * cross[0] + cross[1] * cross[1] + cross[2] * cross[2];
    match square > 0.0 {
        true => DVec3::from_array(cross.map(|x| x / square.sqrt())),
        false => DVec3::ZERO,
    }
}
