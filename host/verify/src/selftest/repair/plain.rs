//! Steps of a repair by plain loops.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use trioxide::glam::DVec3;
use trioxide::repair::Steps;

pub const NONE: Steps = Steps {
    repeated: false,
    degenerate: None,
    edges: false,
    vertices: false,
    orient: false,
    folded: false,
    holes: None,
    components: None,
    cut: false,
    flip: false,
    unused: false,
};

/// One step by plain loops: the faces, and the vertices that the copies are of. `None` of other steps, and where
/// several bodies may lie in each other.
pub fn plain(
    points: &[DVec3],
    triangles: &[[u32; 3]],
    steps: &Steps,
) -> Option<(Vec<[u32; 3]>, Vec<u32>)> {
    let vertices = points.len();
    let mut faces = triangles.to_vec();
    let mut copies = Vec::new();
    let is_proper = |f: &[u32; 3]| f[0] != f[1] && f[1] != f[2] && f[2] != f[0];
    let mut edges: BTreeMap<[u32; 2], Vec<usize>> = BTreeMap::new();
    let side = |f: &[u32; 3], k: usize| [f[k], f[(k + 1) % 3]];
    for h in 0..3 * faces.len() {
        let face = &faces[h / 3];
        if is_proper(face) {
            let [a, b] = side(face, h % 3);
            edges.entry([a.min(b), a.max(b)]).or_default().push(h);
        }
    }
    if *steps
        == (Steps {
            repeated: true,
            ..NONE
        })
    {
        let mut seen = HashSet::new();
        faces.retain(|face| {
            let mut sorted = *face;
            sorted.sort_unstable();
            !is_proper(face) || seen.insert(sorted)
        });
    } else if *steps
        == (Steps {
            vertices: true,
            ..NONE
        })
    {
        let mut labels: Vec<usize> = (0..3 * faces.len()).collect();
        let corner = |h: usize, v: u32| match side(&faces[h / 3], h % 3)[0] == v {
            true => h,
            false => 3 * (h / 3) + (h + 1) % 3,
        };
        flood(&mut labels, |join| {
            for ([a, b], sides) in &edges {
                for pair in sides.windows(2) {
                    join(corner(pair[0], *a), corner(pair[1], *a));
                    join(corner(pair[0], *b), corner(pair[1], *b));
                }
            }
        });
        let mut first = BTreeMap::new();
        let mut new = BTreeMap::new();
        for h in (0..labels.len()).filter(|h| is_proper(&faces[h / 3]) && labels[*h] == *h) {
            let v = faces[h / 3][h % 3];
            if *first.entry(v).or_insert(h) != h {
                new.insert(h, (vertices + copies.len()) as u32);
                copies.push(v);
            }
        }
        for (h, label) in labels.iter().enumerate() {
            if let Some(&copy) = new.get(label) {
                faces[h / 3][h % 3] = copy;
            }
        }
    } else if *steps
        == (Steps {
            orient: true,
            ..NONE
        })
    {
        let mut labels: Vec<usize> = (0..2 * faces.len()).collect();
        let joined = edges.values().filter(|sides| sides.len() == 2);
        let joined: Vec<&Vec<usize>> = joined.collect();
        flood(&mut labels, |join| {
            for sides in &joined {
                let [s, t] = [sides[0], sides[1]];
                let starts = [s, t].map(|h| side(&faces[h / 3], h % 3)[0]);
                let turn = usize::from(starts[0] == starts[1]);
                join(2 * (s / 3), 2 * (t / 3) + turn);
                join(2 * (s / 3) + 1, 2 * (t / 3) + 1 - turn);
            }
        });
        let mut fit = vec![0; labels.len()];
        for t in 0..faces.len() {
            fit[labels[2 * t]] += 1;
        }
        for (t, face) in faces.iter_mut().enumerate() {
            let [own, turned] = [labels[2 * t], labels[2 * t + 1]];
            if fit[own] < fit[turned] || fit[own] == fit[turned] && turned < own {
                face.swap(1, 2);
            }
        }
        let root = |t: usize| labels[2 * t].min(labels[2 * t + 1]);
        let is_one_sided = |t: usize| labels[2 * t] == labels[2 * t + 1];
        let roots: BTreeSet<usize> = (0..faces.len()).map(root).collect();
        let z = |f: &[u32; 3]| f.map(|v| points[v as usize].z);
        let first = faces.first().map_or(0.0, |f| z(f)[0]);
        let is_planar = faces.iter().all(|f| z(f) == [first; 3]);
        let (mut bodies, mut inverted) = (0, BTreeSet::new());
        for &part in roots.iter().filter(|part| !is_one_sided(**part / 2)) {
            let of_part = |t: &usize| root(*t) == part;
            let mine: Vec<[u32; 3]> = (0..faces.len()).filter(of_part).map(|t| faces[t]).collect();
            let corners =
                |f: &[u32; 3]| f.map(|v| points[v as usize] - points[mine[0][0] as usize]);
            let measure = |f: &[u32; 3]| match (corners(f), is_planar) {
                ([a, b, c], true) => (b - a)
                    .cross(c - a)
                    .z
                    .partial_cmp(&0.0)
                    .map_or(0.0, |o| f64::from(o as i8)),
                ([a, b, c], false) => a.dot(b.cross(c)),
            };
            let mut sides: BTreeMap<[u32; 2], i32> = BTreeMap::new();
            for [a, b] in mine
                .iter()
                .filter(|f| is_proper(f))
                .flat_map(|f| [0, 1, 2].map(|k| side(f, k)))
            {
                *sides.entry([a.min(b), a.max(b)]).or_default() += if a < b { 1 } else { -1 };
            }
            if !is_planar && sides.values().any(|&sum| sum != 0) {
                continue;
            }
            let sum: f64 = mine.iter().map(measure).sum();
            let size: f64 = mine.iter().map(|f| measure(f).abs()).sum();
            bodies += usize::from(!is_planar && sum != 0.0);
            if bodies > 1 || sum != 0.0 && sum.abs() < 1e-9 * size {
                return None;
            }
            if sum < 0.0 {
                inverted.insert(part);
            }
        }
        for (t, face) in faces.iter_mut().enumerate() {
            if inverted.contains(&root(t)) {
                face.swap(1, 2);
            }
        }
    } else if let (Some(least), true) = (
        steps.components,
        *steps
            == Steps {
                components: steps.components,
                ..NONE
            },
    ) {
        let mut labels: Vec<usize> = (0..faces.len()).collect();
        flood(&mut labels, |join| {
            for sides in edges.values() {
                sides
                    .windows(2)
                    .for_each(|pair| join(pair[0] / 3, pair[1] / 3));
            }
        });
        let size = |t: usize| labels.iter().filter(|&&label| label == labels[t]).count();
        let kept: Vec<bool> = (0..faces.len())
            .map(|t| size(t) >= least as usize)
            .collect();
        let mut kept = kept.into_iter();
        faces.retain(|_| kept.next() == Some(true));
    } else {
        return None;
    }
    Some((faces, copies))
}

/// The lowest element of each one's part, by joining until nothing changes.
fn flood(labels: &mut [usize], joins: impl Fn(&mut dyn FnMut(usize, usize))) {
    loop {
        let mut is_changed = false;
        joins(&mut |a, b| {
            let least = labels[a].min(labels[b]);
            is_changed |= labels[a] != least || labels[b] != least;
            (labels[a], labels[b]) = (least, least);
        });
        if !is_changed {
            return;
        }
    }
}
