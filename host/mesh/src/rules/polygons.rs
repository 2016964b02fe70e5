//! Polygons by themselves: each, and the sides of each edge.

use glam::DVec2;

use super::{ensure, invalid};
use crate::edge_table::EdgeTable;
use crate::mesh::{PolygonMesh, Polygons};
use crate::{Error, Result, parallel};

/// Counts of a valid polygonal mesh.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Summary {
    /// Polygons.
    pub polygons: usize,
    /// Polygons that visit a vertex more than once.
    pub weakly_simple: usize,
    /// Total area.
    pub area: f64,
}

/// Checks polygons by themselves.
///
/// Rules: coordinates finite; offsets ascend; indices in range; at least three vertices; no edge from a vertex to
/// itself; no spike a-b-a; positive area; no two polygons on the same side of an edge. That polygons of different edges
/// do not overlap is not checked.
///
/// # Errors
/// [`crate::Error::Invalid`] with the first offending polygon of the first broken rule.
pub fn polygon_mesh(mesh: &PolygonMesh) -> Result<Summary> {
    let area = check_each(mesh)?;
    let edges = EdgeTable::of_polygons(mesh.points.len(), &mesh.polygons);
    check_edges(mesh, &edges)?;
    Ok(summary(mesh, area))
}

/// As [`polygon_mesh`], where `edges` are the table of the mesh's polygons over its points: a third of the work is to
/// make it.
///
/// # Errors
/// As [`polygon_mesh`].
///
/// # Panics
/// When the table is of another mesh.
pub fn polygon_mesh_with(mesh: &PolygonMesh, edges: &EdgeTable) -> Result<Summary> {
    let area = check_each(mesh)?;
    check_edges(mesh, edges)?;
    Ok(summary(mesh, area))
}

/// As [`polygon_mesh`]; gives the table of the edges over the mesh's points, which the check has made.
///
/// # Errors
/// As [`polygon_mesh`].
pub fn polygon_mesh_edges(mesh: &PolygonMesh) -> Result<EdgeTable> {
    check_each(mesh)?;
    let edges = EdgeTable::of_polygons(mesh.points.len(), &mesh.polygons);
    check_edges(mesh, &edges)?;
    Ok(edges)
}

fn summary(mesh: &PolygonMesh, area: f64) -> Summary {
    Summary {
        polygons: mesh.polygons.len(),
        weakly_simple: count_weakly_simple(&mesh.polygons),
        area,
    }
}

/// Checks points and polygons, each by itself. The total area.
fn check_each(mesh: &PolygonMesh) -> Result<f64> {
    let vertices = mesh.points.len();
    let is_bad = |point: &DVec2| !point.is_finite();
    if let Some(v) = parallel::position(&mesh.points, is_bad) {
        return Err(Error::not_finite(v));
    }
    check_offsets(&mesh.polygons)?;
    if let Some(regions) = &mesh.regions {
        ensure(
            regions.len() == mesh.polygons.len(),
            || "mesh".into(),
            || {
                format!(
                    "has region ids for {} polygons of {}",
                    regions.len(),
                    mesh.polygons.len()
                )
            },
        )?;
    }
    let count = mesh.polygons.len();
    let fault = |i| check_polygon(i, mesh.polygons.get(i), vertices).err();
    parallel::find_map(count, fault).map_or(Ok(()), Err)?;
    let areas = parallel::collect(count, |i| shoelace(&mesh.points, mesh.polygons.get(i)));
    if let Some(i) = parallel::position(&areas, |&area| !(area > 0.0 && area.is_finite())) {
        return Err(bad_area(mesh, i, areas[i]));
    }
    // One after the other: the same sum for any number of threads.
    Ok(areas.iter().fold(0.0, |sum, area| sum + area))
}

/// Turns the polygons that run clockwise; their first vertices stay. Returns their number.
///
/// A polygon with a vertex that is out of range stays as it is.
pub fn turn_clockwise(mesh: &mut PolygonMesh) -> usize {
    let vertices = mesh.points.len();
    let is_clockwise = |i: usize| {
        let polygon = mesh.polygons.get(i);
        polygon.iter().all(|&v| (v as usize) < vertices) && shoelace(&mesh.points, polygon) < 0.0
    };
    let turned: Vec<bool> = parallel::collect(mesh.polygons.len(), is_clockwise);
    let turned: Vec<usize> = (0..turned.len()).filter(|&i| turned[i]).collect();
    for &i in &turned {
        let range = mesh.polygons.offsets[i] as usize + 1..mesh.polygons.offsets[i + 1] as usize;
        mesh.polygons.vertices[range].reverse();
    }
    turned.len()
}

/// The commands that mend a polygon that is broken.
const DIVIDE: &str =
    "`convert --triangles` divides polygons, then `repair --all` mends the triangles";

/// The error for a polygon whose area is not positive, or leaves double precision.
fn bad_area(mesh: &PolygonMesh, i: usize, area: f64) -> crate::Error {
    let rule = if area.is_finite() {
        let mend = match area < 0.0 {
            true => "`repair --orient` turns them",
            false => DIVIDE,
        };
        // Without the hundreds of digits of a tiny or huge area.
        let area = match area == 0.0 || (1e-5..1e16).contains(&area.abs()) {
            true => area.to_string(),
            false => format!("{area:e}"),
        };
        format!("has area {area}: polygons must run counter-clockwise ({mend})")
    } else {
        let polygon = mesh.polygons.get(i).iter();
        let size = |v: u32| mesh.points[v as usize].abs().max_element();
        let largest = polygon
            .copied()
            .max_by(|&v, &w| size(v).total_cmp(&size(w)));
        let v = largest.unwrap_or_default();
        let point = mesh.points[v as usize];
        format!(
            "has an area beyond double precision, with vertex {v} at ({:?}, {:?}): scale the mesh down",
            point.x, point.y
        )
    };
    invalid(format!("polygon {i}"), rule)
}

/// Checks that no two polygons are on the same side of an edge.
fn check_edges(mesh: &PolygonMesh, edges: &EdgeTable) -> Result<()> {
    let origin = &mesh.polygons.vertices;
    let overlaps = edges.filter_map_edges(|[a, b], group| {
        let starting = |v: u32| group.iter().filter(|e| origin[e.1 as usize] == v).count();
        let ends = [(a, b), (b, a)];
        ends.into_iter().find(|(v, _)| starting(*v) > 1)
    });
    match overlaps.first() {
        None => Ok(()),
        Some((v, w)) => Err(invalid(
            format!("edge {v}-{w}"),
            format!("has two polygons on its left side: they overlap ({DIVIDE})"),
        )),
    }
}

/// Checks that offsets ascend from 0 to the number of vertices.
///
/// # Errors
/// [`crate::Error::Invalid`].
pub fn check_offsets(polygons: &Polygons) -> Result<()> {
    let offsets = &polygons.offsets;
    let good = offsets.first().is_none_or(|&o| o == 0)
        && offsets.is_sorted()
        && offsets.last().map_or(0, |&o| o as usize) == polygons.vertices.len();
    ensure(
        good,
        || "mesh".into(),
        || "has polygon offsets that do not ascend from 0 to the number of listed vertices".into(),
    )
}

/// Rules for one list of vertices.
///
/// # Errors
/// [`crate::Error::Invalid`].
pub fn check_polygon(i: usize, polygon: &[u32], vertices: usize) -> Result<()> {
    let n = polygon.len();
    let rule =
        |holds: bool, rule: &dyn Fn() -> String| ensure(holds, || format!("polygon {i}"), rule);
    rule(n >= 3, &|| format!("has {n} vertices: 3 is the least"))?;
    for (k, &b) in polygon.iter().enumerate() {
        let (a, c) = (polygon[(k + n - 1) % n], polygon[(k + 1) % n]);
        rule((b as usize) < vertices, &|| {
            format!("has vertex {b}, but the mesh has {vertices} vertices")
        })?;
        rule(b != c, &|| {
            format!("has an edge from vertex {b} to itself ({DIVIDE})")
        })?;
        rule(a != c, &|| {
            format!("has a spike: vertices {a}, {b}, {c} in a row ({DIVIDE})")
        })?;
    }
    Ok(())
}

/// Directed edges of a polygon.
pub fn sides(polygon: &[u32]) -> impl Iterator<Item = (u32, u32)> + Clone + '_ {
    let after = polygon.iter().cycle().skip(1);
    polygon.iter().copied().zip(after.copied())
}

/// Signed area, with coordinates taken from the polygon's first vertex.
pub fn shoelace(points: &[DVec2], polygon: &[u32]) -> f64 {
    let origin = points[polygon[0] as usize];
    let twice: f64 = sides(polygon)
        .map(|(a, b)| (points[a as usize] - origin).perp_dot(points[b as usize] - origin))
        .sum();
    0.5 * twice
}

/// Number of polygons that visit a vertex twice.
pub fn count_weakly_simple(polygons: &Polygons) -> usize {
    let counts = parallel::map_pieces(polygons.len(), parallel::GRAIN, |range| {
        let mut sorted = Vec::new();
        let is_counted = |&i: &usize| {
            sorted.clear();
            sorted.extend_from_slice(polygons.get(i));
            sorted.sort_unstable();
            sorted.windows(2).any(|pair| pair[0] == pair[1])
        };
        range.filter(is_counted).count()
    });
    counts.into_iter().sum()
}
