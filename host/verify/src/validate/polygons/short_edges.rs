//! Are these polygons others without their short edges, as far as they could go?

use std::collections::{BTreeMap, BTreeSet, HashMap};

use glam::DVec2;
use robust::{Coord, orient2d};

use trioxide::Result;
use trioxide::mesh::{PolygonMesh, Polygons};
use trioxide::polylla::ShortEdges;
use trioxide::rules::{check_offsets, check_polygon, ensure, sides};
use trioxide_reference::polylla::short_edges::{is_simple, remove_short_edges};

use super::super::exact::ExactSum;

/// Checks polygons without short edges against the polygons of `mesh` that they were. `places` has for each vertex
/// itself, or the vertex that took its place.
///
/// Rules: a polygon has the vertices in the places of its old ones, and is simple; the area of each region stays,
/// without rounding; no side occurs twice; the border, segments and edges between regions are made of the same lines;
/// no further short edge can collapse.
///
/// # Errors
/// [`trioxide::Error::Invalid`] with the first offending element of the first broken rule.
pub fn shortened(
    mesh: &PolygonMesh,
    polygons: &Polygons,
    places: &[u32],
    short: ShortEdges<'_>,
) -> Result<()> {
    check_offsets(polygons)?;
    let count = mesh.polygons.len();
    ensure(
        polygons.len() == count,
        || "the mesh".into(),
        || format!("has {} polygons; there were {count}", polygons.len()),
    )?;
    let place = |v: u32| places[v as usize];
    for (i, polygon) in polygons.iter().enumerate() {
        let rule = |holds, rule: &str| ensure(holds, || format!("polygon {i}"), || rule.to_owned());
        check_polygon(i, polygon, mesh.points.len())?;
        let corners: Vec<DVec2> = polygon.iter().map(|&v| mesh.points[v as usize]).collect();
        rule(is_simple(&corners), "is not simple, or runs clockwise")?;
        let mut expected: Vec<u32> = mesh.polygons.get(i).iter().map(|&v| place(v)).collect();
        expected.dedup();
        if expected.len() > 1 && expected.first() == expected.last() {
            expected.pop();
        }
        let start = expected.iter().position(|&v| v == polygon[0]);
        expected.rotate_left(start.unwrap_or(0));
        rule(
            expected == polygon,
            "has other vertices than in their places",
        )?;
    }
    check_areas(mesh, polygons)?;
    let segments = |place: &dyn Fn(u32) -> u32| -> BTreeSet<[u32; 2]> {
        let ends = mesh.segments.iter().map(|segment| segment.ends);
        ends.map(|ends| sorted(ends.map(place))).collect()
    };
    let old_segments = segments(&|v| v);
    let is_segment = |a, b| old_segments.contains(&sorted([a, b]));
    let before = fixed_edges(mesh, &mesh.polygons, is_segment)?;
    let mut expected = BTreeSet::new();
    for &[a, b] in &before {
        let ends = [place(a), place(b)];
        for end in ends {
            let [p, a, b] = [end, a, b].map(|v| {
                let DVec2 { x, y } = mesh.points[v as usize];
                Coord { x, y }
            });
            ensure(
                orient2d(p, a, b) == 0.0,
                || format!("vertex {end}"),
                || "took the place of another vertex beside its line".into(),
            )?;
        }
        expected.insert(sorted(ends));
    }
    expected.retain(|[a, b]| a != b);
    let new_segments = segments(&place);
    let is_fixed = |a, b| new_segments.contains(&sorted([a, b]));
    let found = fixed_edges(mesh, polygons, is_fixed)?;
    let difference = expected.symmetric_difference(&found).next();
    ensure(
        difference.is_none(),
        || format!("edge {:?}", difference.copied().unwrap_or_default()),
        || "is constrained in one of the meshes only".into(),
    )?;
    let constrained = found.into_iter().collect();
    let again = remove_short_edges(&mesh.points, polygons, &constrained, short);
    ensure(
        again.counts.removed == 0,
        || "the mesh".into(),
        || format!("has {} short edges that may collapse", again.counts.removed),
    )
}

/// The area of each region, without rounding.
fn check_areas(mesh: &PolygonMesh, polygons: &Polygons) -> Result<()> {
    let mut areas: BTreeMap<i32, ExactSum> = BTreeMap::new();
    for (lists, sign) in [(&mesh.polygons, 1.0), (polygons, -1.0)] {
        for (i, polygon) in lists.iter().enumerate() {
            let region = mesh.regions.as_ref().map_or(0, |regions| regions[i]);
            let area = areas.entry(region).or_default();
            for (a, b) in sides(polygon) {
                let [p, q] = [a, b].map(|v| mesh.points[v as usize]);
                area.add_product(sign * p.x, q.y);
                area.add_product(-sign * q.x, p.y);
            }
        }
    }
    for (region, area) in areas {
        ensure(
            area.value() == 0.0,
            || format!("region {region}"),
            || format!("has another area: twice the difference is {}", area.value()),
        )?;
    }
    Ok(())
}

/// The edges on the border, between two regions, and the segments.
fn fixed_edges(
    mesh: &PolygonMesh,
    polygons: &Polygons,
    is_segment: impl Fn(u32, u32) -> bool,
) -> Result<BTreeSet<[u32; 2]>> {
    let mut owners: HashMap<(u32, u32), usize> = HashMap::new();
    for (i, polygon) in polygons.iter().enumerate() {
        for side in sides(polygon) {
            let is_first = owners.insert(side, i).is_none();
            ensure(
                is_first,
                || format!("polygon {i}"),
                || format!("has side {side:?} a second time"),
            )?;
        }
    }
    let region = |i: usize| mesh.regions.as_ref().map_or(0, |regions| regions[i]);
    let mut fixed = BTreeSet::new();
    for (&(a, b), &i) in &owners {
        let is_open = match owners.get(&(b, a)) {
            Some(&j) => region(i) == region(j),
            None => false,
        };
        if !is_open || is_segment(a, b) {
            fixed.insert(sorted([a, b]));
        }
    }
    Ok(fixed)
}

fn sorted([a, b]: [u32; 2]) -> [u32; 2] {
    [a.min(b), a.max(b)]
}
