//! Levels of polyhedra.

use std::collections::{BTreeMap, BTreeSet};

use glam::DVec3;
use trioxide::Result;
use trioxide::levels::Nested;
use trioxide::mesh::NONE;
use trioxide::polyhedra_mesh::PolyhedralMesh;
use trioxide::rules::{ensure, sides};

use super::{check_children, check_regions};

/// Checks every level of a mesh of polyhedra: a piece has 1 to 4 pieces of the level before, one region, and the volume
/// of its polyhedra. A face has one or two cells, as many as before, which see it from both sides; a tagged face stays
/// one. The surface of a piece of several polyhedra is a sphere: an edge has two faces, which run along it in both
/// directions, they are connected, also around each vertex, and V - E + F = 2.
///
/// # Errors
/// [`trioxide::Error::Invalid`] with the first offending piece of the first broken rule.
pub fn levels_of_polyhedra(mesh: &PolyhedralMesh, nested: &Nested) -> Result<()> {
    let volume = volumes(mesh);
    let whole: f64 = volume.iter().map(|volume| volume.abs()).sum();
    let borders = |mesh: &PolyhedralMesh| {
        let is_border = |pair: &&[u32; 2]| pair.contains(&NONE);
        mesh.neighbours().iter().filter(is_border).count()
    };
    let border = borders(mesh);
    for level in 1..=nested.levels() {
        let element = |piece: usize| move || format!("piece {piece} of level {level}");
        check_children(nested, level, "pieces")?;
        check_regions(nested, level, mesh.regions.as_deref(), "polyhedra")?;
        let pieces = nested.polyhedra(mesh, level);
        let mut expected = vec![0.0; nested.pieces(level)];
        let mut members = vec![0; nested.pieces(level)];
        for (&piece, &volume) in nested.ancestors(level).iter().zip(&volume) {
            expected[piece as usize] += volume;
            members[piece as usize] += 1;
        }
        for (piece, found) in volumes(&pieces).into_iter().enumerate() {
            let difference = (found - expected[piece]).abs();
            ensure(difference <= 1e-12 * whole, element(piece), || {
                format!("has volume {found}; its polyhedra have {}", expected[piece])
            })?;
            if members[piece] > 1 {
                let fault = fault_of_sphere(&pieces, piece);
                ensure(fault.is_none(), element(piece), || {
                    fault.unwrap_or_default().into()
                })?;
            }
        }
        let found = borders(&pieces);
        ensure(
            found == border,
            || format!("level {level}"),
            || format!("has {found} faces of one cell; the mesh has {border}"),
        )?;
        let tagged = pieces.tagged.len();
        ensure(
            tagged == mesh.tagged.len(),
            || format!("level {level}"),
            || format!("has {tagged} tagged faces of {}", mesh.tagged.len()),
        )?;
    }
    Ok(())
}

fn volumes(mesh: &PolyhedralMesh) -> Vec<f64> {
    let point = |v: u32| mesh.points[v as usize];
    (0..mesh.len())
        .map(|p| {
            let mut apex: Option<DVec3> = None;
            let mut volume = 0.0;
            for &side in mesh.sides_of(p) {
                let face: Vec<u32> = mesh.vertices_of(side).collect();
                let apex = *apex.get_or_insert(point(face[0]));
                let first = point(face[0]) - apex;
                for (a, b) in sides(&face) {
                    volume += first.dot((point(a) - apex).cross(point(b) - apex)) / 6.0;
                }
            }
            volume
        })
        .collect()
}

/// Why the surface of a piece is no sphere.
fn fault_of_sphere(mesh: &PolyhedralMesh, piece: usize) -> Option<&'static str> {
    // The face that runs along each edge, by direction.
    let mut along: BTreeMap<(u32, u32), usize> = BTreeMap::new();
    let faces: Vec<Vec<u32>> = mesh
        .sides_of(piece)
        .iter()
        .map(|&side| mesh.vertices_of(side).collect())
        .collect();
    let vertices: BTreeSet<u32> = faces.iter().flatten().copied().collect();
    for (i, face) in faces.iter().enumerate() {
        for edge in sides(face) {
            if along.insert(edge, i).is_some() {
                return Some("has two faces that run along an edge in one direction");
            }
        }
    }
    if along.keys().any(|&(a, b)| !along.contains_key(&(b, a))) {
        return Some("has an edge of one face");
    }
    let (v, e, f) = (vertices.len(), along.len() / 2, faces.len());
    if v + f != e + 2 {
        return Some("has a surface whose V - E + F is not 2");
    }
    // Around each vertex, from face to face: one turn passes all edges that leave it.
    let mut degrees: BTreeMap<u32, usize> = BTreeMap::new();
    for &(a, _) in along.keys() {
        *degrees.entry(a).or_default() += 1;
    }
    let mut starts = BTreeMap::new();
    for &(a, b) in along.keys() {
        starts.entry(a).or_insert(b);
    }
    for (&v, &start) in &starts {
        let (mut end, mut turns) = (start, 0);
        loop {
            let face = &faces[along[&(end, v)]];
            let place = face.iter().position(|&w| w == v)?;
            end = face[(place + 1) % face.len()];
            turns += 1;
            if end == start || turns > degrees[&v] {
                break;
            }
        }
        if turns != degrees[&v] {
            return Some("has a surface that is pinched at a vertex");
        }
    }
    let mut reached = vec![false; f];
    let mut open = vec![0];
    while let Some(i) = open.pop() {
        if !std::mem::replace(&mut reached[i], true) {
            open.extend(sides(&faces[i]).map(|(a, b)| along[&(b, a)]));
        }
    }
    reached
        .contains(&false)
        .then_some("has a surface in two parts")
}
