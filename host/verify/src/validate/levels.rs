//! Are these pieces nested levels of a mesh of polygons or polyhedra?

mod solid;

use glam::DVec3;
use gpu::point::DoublePoint;
use trioxide::Result;
use trioxide::levels::Nested;
use trioxide::mesh::{PolygonMesh, Polygons};
use trioxide::rules::{ensure, sides};

use super::polygons::polygon_mesh;
pub use solid::levels_of_polyhedra;

/// Checks every level of a mesh of the plane, as [`levels_of_surface`] does; and its pieces are a planar mesh of
/// polygons, in which each interior edge has two.
///
/// # Errors
/// [`trioxide::Error::Invalid`] with the first offending piece of the first broken rule.
pub fn levels(mesh: &PolygonMesh, nested: &Nested) -> Result<()> {
    levels_of_surface(mesh, nested)?;
    for level in 1..=nested.levels() {
        polygon_mesh(&nested.mesh(mesh, level))?;
    }
    Ok(())
}

/// Checks every level of a mesh of the plane or of a surface: a piece has 1 to 4 pieces of the level before, one region
/// and one outline, and the area of its polygons: in space that of their shadow along every axis. An edge has at most
/// two pieces, and as many as before where it is on the border of the mesh. A piece of several polygons visits no
/// vertex twice.
///
/// # Errors
/// As [`levels`].
pub fn levels_of_surface<V: DoublePoint>(mesh: &PolygonMesh<V>, nested: &Nested) -> Result<()> {
    let area = areas(mesh);
    let whole: f64 = area.iter().map(|area| area.length()).sum();
    for level in 1..=nested.levels() {
        let element = |piece: usize| move || format!("piece {piece} of level {level}");
        check_children(nested, level, "pieces")?;
        let pieces = nested.mesh(mesh, level);
        let ancestors = nested.ancestors(level);
        // Of the polygons of each piece: their area, and the sides that are not inside of the piece.
        let mut expected = vec![DVec3::ZERO; nested.pieces(level)];
        let mut members = vec![0; nested.pieces(level)];
        for (&piece, &area) in ancestors.iter().zip(&area) {
            expected[piece as usize] += area;
            members[piece as usize] += 1;
        }
        let outer = outer_sides(&mesh.polygons, &ancestors, nested.pieces(level));
        for (piece, found) in areas(&pieces).into_iter().enumerate() {
            let outline = pieces.polygons.get(piece);
            let is_joined = members[piece] > 1;
            ensure(
                !is_joined || outer[piece] == outline.len(),
                element(piece),
                || {
                    format!(
                        "has an outline of {} sides, but {} sides are not inside of it",
                        outline.len(),
                        outer[piece]
                    )
                },
            )?;
            let mut visited = outline.to_vec();
            visited.sort_unstable();
            visited.dedup();
            let visits_once = visited.len() == outline.len();
            ensure(!is_joined || visits_once, element(piece), || {
                "visits a vertex twice".into()
            })?;
            let difference = (found - expected[piece]).length();
            ensure(difference <= 1e-12 * whole, element(piece), || {
                format!("has area {found}; its polygons have {}", expected[piece])
            })?;
        }
        check_regions(nested, level, mesh.regions.as_deref(), "polygons")?;
        let mut edges: Vec<[u32; 2]> = pieces
            .polygons
            .iter()
            .flat_map(|outline| sides(outline).map(|(a, b)| [a.min(b), a.max(b)]))
            .collect();
        edges.sort_unstable();
        let crowded = edges
            .chunk_by(|a, b| a == b)
            .find(|same| same.len() > 2)
            .map(|same| same[0]);
        ensure(
            crowded.is_none(),
            || format!("level {level}"),
            || format!("has edge {crowded:?} in more than two pieces"),
        )?;
    }
    Ok(())
}

/// Each piece has 1 to 4 pieces of the level before.
fn check_children(nested: &Nested, level: usize, of: &str) -> Result<()> {
    let mut children = vec![0; nested.pieces(level)];
    for &parent in nested.parents(level) {
        children[parent as usize] += 1;
    }
    for (piece, count) in children.into_iter().enumerate() {
        ensure(
            (1..=4).contains(&count),
            || format!("piece {piece} of level {level}"),
            || format!("has {count} {of} of the level before"),
        )?;
    }
    Ok(())
}

/// All of a piece have one region.
fn check_regions(nested: &Nested, level: usize, regions: Option<&[i32]>, of: &str) -> Result<()> {
    let Some(regions) = regions else {
        return Ok(());
    };
    let mut of_pieces = vec![None; nested.pieces(level)];
    for (&piece, &region) in nested.ancestors(level).iter().zip(regions) {
        let known = of_pieces[piece as usize].get_or_insert(region);
        ensure(
            *known == region,
            || format!("piece {piece} of level {level}"),
            || format!("has {of} of two regions"),
        )?;
    }
    Ok(())
}

/// Of each polygon the area of its shadow along each axis, by its outline.
fn areas<V: DoublePoint>(mesh: &PolygonMesh<V>) -> Vec<DVec3> {
    let area = |polygon: &[u32]| {
        let point = |v: u32| mesh.points[v as usize].in_space();
        let first = polygon.first().map_or(DVec3::ZERO, |&v| point(v));
        let parts = sides(polygon).map(|(a, b)| (point(a) - first).cross(point(b) - first));
        0.5 * parts.sum::<DVec3>()
    };
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
