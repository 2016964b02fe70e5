//! Are these pieces nested levels of a mesh of polygons?

use trioxide::Result;
use trioxide::levels::Nested;
use trioxide::mesh::{PolygonMesh, Polygons};
use trioxide::rules::{ensure, shoelace};

use super::polygons::polygon_mesh;

/// Checks every level: a piece has 1 to 4 pieces of the level before, one region and one outline, no level has less
/// area than the mesh, and its pieces are a planar mesh of polygons, in which each interior edge has two.
///
/// # Errors
/// [`trioxide::Error::Invalid`] with the first offending piece of the first broken rule.
pub fn levels(mesh: &PolygonMesh, nested: &Nested) -> Result<()> {
    let area = areas(mesh);
    let whole: f64 = area.iter().sum();
    for level in 1..=nested.levels() {
        let element = |piece: usize| move || format!("piece {piece} of level {level}");
        let mut children = vec![0; nested.pieces(level)];
        for &parent in nested.parents(level) {
            children[parent as usize] += 1;
        }
        for (piece, count) in children.into_iter().enumerate() {
            ensure((1..=4).contains(&count), element(piece), || {
                format!("has {count} pieces of the level before")
            })?;
        }
        let pieces = nested.mesh(mesh, level);
        let ancestors = nested.ancestors(level);
        // Of the polygons of each piece: their area, and the sides that are not inside of the piece.
        let mut expected = vec![0.0; nested.pieces(level)];
        for (&piece, &area) in ancestors.iter().zip(&area) {
            expected[piece as usize] += area;
        }
        let outer = outer_sides(&mesh.polygons, &ancestors, nested.pieces(level));
        for (piece, found) in areas(&pieces).into_iter().enumerate() {
            ensure(
                outer[piece] == pieces.polygons.get(piece).len(),
                element(piece),
                || {
                    format!(
                        "has an outline of {} sides, but {} sides are not inside of it",
                        pieces.polygons.get(piece).len(),
                        outer[piece]
                    )
                },
            )?;
            let difference = (found - expected[piece]).abs();
            ensure(difference <= 1e-12 * whole, element(piece), || {
                format!("has area {found}; its polygons have {}", expected[piece])
            })?;
        }
        if let (Some(regions), Some(all)) = (&pieces.regions, &mesh.regions) {
            for (polygon, &piece) in ancestors.iter().enumerate() {
                let piece = piece as usize;
                ensure(regions[piece] == all[polygon], element(piece), || {
                    "has polygons of two regions".into()
                })?;
            }
        }
        polygon_mesh(&pieces)?;
    }
    Ok(())
}

fn areas(mesh: &PolygonMesh) -> Vec<f64> {
    let area = |polygon| shoelace(&mesh.points, polygon);
    mesh.polygons.iter().map(area).collect()
}

/// Sides of the polygons of each piece that have not the same piece on both sides.
fn outer_sides(polygons: &Polygons, pieces: &[u32], count: usize) -> Vec<usize> {
    let mut sides: Vec<[u32; 3]> = Vec::new();
    for (polygon, &piece) in polygons.iter().zip(pieces) {
        for (k, &a) in polygon.iter().enumerate() {
            let b = polygon[(k + 1) % polygon.len()];
            sides.push([a.min(b), a.max(b), piece]);
        }
    }
    sides.sort_unstable();
    let mut outer = vec![0; count];
    for same in sides.chunk_by(|a, b| a == b).filter(|same| same.len() == 1) {
        outer[same[0][2] as usize] += 1;
    }
    outer
}
