//! Weights of neighbours and sliding boundary nodes, sequentially: from lists of cells, edges and faces.

use std::collections::BTreeMap;

use glam::DVec3;
use gpu::smooth::{
    Vector, angle_cotangent, dihedral_cotangent, extent, face_code, face_normal, inverse_length,
    is_parallel, to_unit,
};

use super::smooth::boundary_faces;

/// The unit of each node's weights, as a factor of its edges.
fn units<P: Vector>(points: &[P], rows: &[Vec<u32>]) -> Vec<f64> {
    let at = |v: usize| points[v].to_f64();
    let unit = |(v, row): (usize, &Vec<u32>)| {
        let extents = row.iter().map(|&u| extent(at(u as usize) - at(v)));
        to_unit(extents.fold(0.0, f64::max))
    };
    rows.iter().enumerate().map(unit).collect()
}

/// One over the distance of each neighbour of each node.
pub fn inverse_lengths<P: Vector>(points: &[P], rows: &[Vec<u32>]) -> Vec<Vec<f64>> {
    let at = |v: usize| points[v].to_f64();
    let units = units(points, rows);
    let weigh = |(v, row): (usize, &Vec<u32>)| {
        let edge = |&u: &u32| (at(u as usize) - at(v)) * units[v];
        let lengths = row.iter().map(|u| inverse_length(edge(u)));
        lengths.collect()
    };
    rows.iter().enumerate().map(weigh).collect()
}

/// Sums of cotangents opposite to the edge to each neighbour of each node; none is below 0. Cells are triangles or
/// tetrahedra.
pub fn cotangents<'a, P: Vector>(
    points: &[P],
    rows: &[Vec<u32>],
    cells: impl Iterator<Item = &'a [u32]>,
) -> Vec<Vec<f64>> {
    let mut weights: Vec<Vec<f64>> = rows.iter().map(|row| vec![0.0; row.len()]).collect();
    let units = units(points, rows);
    for cell in cells {
        for &v in cell {
            let unit = units[v as usize];
            for &u in cell.iter().filter(|&&u| u != v) {
                let others = cell.iter().filter(|&&w| w != u && w != v);
                let others: Vec<DVec3> = others.map(|&w| points[w as usize].to_f64()).collect();
                let start = others[0];
                let (a, b) = (
                    (points[v as usize].to_f64() - start) * unit,
                    (points[u as usize].to_f64() - start) * unit,
                );
                let cotangent = match others.get(1) {
                    None => angle_cotangent(a, b),
                    Some(&end) => dihedral_cotangent((end - start) * unit, a, b),
                };
                if let Ok(place) = rows[v as usize].binary_search(&u) {
                    weights[v as usize][place] += cotangent;
                }
            }
        }
    }
    for weight in weights.iter_mut().flatten() {
        // NaN is no weight either.
        *weight = if *weight > 0.0 { *weight } else { 0.0 };
    }
    weights
}

/// Whether each node stays, being on the boundary but on no planar patch or straight edge of it. Nodes that slide lose
/// the `weights` of the neighbours off their patch or edge.
pub fn slide<'a, P: Vector>(
    points: &[P],
    rows: &[Vec<u32>],
    cells: impl Iterator<Item = &'a [u32]> + Clone,
    weights: &mut [Vec<f64>],
) -> Vec<bool> {
    let at = |v: u32| points[v as usize].to_f64();
    let list: Vec<&[u32]> = cells.clone().collect();
    let mut edges: BTreeMap<(u32, u32), Vec<(DVec3, bool)>> = BTreeMap::new();
    let mut on_boundary = vec![false; points.len()];
    for (c, f) in boundary_faces(cells) {
        let cell = list[c as usize];
        let code = face_code(cell.len() as u32, f);
        let face: Vec<u32> = (0..4)
            .filter_map(|k| cell.get((code >> (4 * k) & 0xF) as usize).copied())
            .collect();
        let [a, b, c, d] = [0, 1, 2, 3 % face.len()].map(|k| at(face[k]));
        let normal = face_normal([a, b, c, d]);
        for (k, &v) in face.iter().enumerate() {
            let u = face[(k + 1) % face.len()];
            edges.entry((v.min(u), v.max(u))).or_default().push(normal);
            on_boundary[v as usize] = true;
        }
    }
    // None: no edge of the boundary; else whether it is sharp, if exactly two faces have it.
    let kind = |v: u32, u: u32| -> Option<Option<bool>> {
        Some(match edges.get(&(v.min(u), v.max(u)))?[..] {
            [(m, m_flat), (n, n_flat)] => Some(!(m_flat && n_flat && is_parallel(m, n))),
            _ => None,
        })
    };
    let mut stays = vec![false; points.len()];
    for v in (0..points.len() as u32).filter(|&v| on_boundary[v as usize]) {
        let row = &rows[v as usize];
        let kinds: Vec<_> = row.iter().map(|&u| kind(v, u)).collect();
        let sharp: Vec<DVec3> = row
            .iter()
            .zip(&kinds)
            .filter(|(_, kind)| **kind == Some(Some(true)))
            .map(|(&u, _)| at(u) - at(v))
            .collect();
        let slides = match sharp[..] {
            [] => true,
            [a, b] => is_parallel(a, -b),
            _ => false,
        };
        if kinds.contains(&Some(None)) || !slides {
            stays[v as usize] = true;
            continue;
        }
        for (weight, kind) in weights[v as usize].iter_mut().zip(kinds) {
            if kind != Some(Some(!sharp.is_empty())) {
                *weight = 0.0;
            }
        }
    }
    stays
}

/// Whether each node of a surface stays, being on its border but on no straight part of it. Nodes that slide lose the
/// `weights` of the neighbours off the border.
pub fn slide_border<'a, P: Vector>(
    points: &[P],
    rows: &[Vec<u32>],
    faces: impl Iterator<Item = &'a [u32]>,
    weights: &mut [Vec<f64>],
) -> Vec<bool> {
    let mut uses: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    for face in faces {
        for (k, &v) in face.iter().enumerate() {
            let u = face[(k + 1) % face.len()];
            *uses.entry((v.min(u), v.max(u))).or_default() += 1;
        }
    }
    let mut border = vec![Vec::new(); points.len()];
    for (&(v, u), _) in uses.iter().filter(|(_, uses)| **uses == 1) {
        border[v as usize].push(u);
        border[u as usize].push(v);
    }
    let mut stays = vec![false; points.len()];
    for (v, ends) in border
        .iter()
        .enumerate()
        .filter(|(_, ends)| !ends.is_empty())
    {
        let edge = |u: u32| points[u as usize].to_f64() - points[v].to_f64();
        stays[v] = match ends[..] {
            [a, b] => !is_parallel(edge(a), -edge(b)),
            _ => true,
        };
        if stays[v] {
            continue;
        }
        for (weight, u) in weights[v].iter_mut().zip(&rows[v]) {
            if !ends.contains(u) {
                *weight = 0.0;
            }
        }
    }
    stays
}
