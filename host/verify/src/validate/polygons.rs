//! Are these polygons a planar mesh, and do they keep Polylla's promises?
//!
//! [`polygon_mesh`] checks polygons by themselves, [`polylla`] and [`polygons_of`] against the triangulation that they
//! were made from, [`polylla_of_surface`] against a surface in space.

mod convex;
mod short_edges;
mod surface;

use glam::DVec2;

use trioxide::Result;
use trioxide::mesh::{HalfEdges, NONE, Polygons, PolyllaMesh};
use trioxide::rules::{
    check_offsets, check_polygon, count_weakly_simple, ensure, invalid, shoelace, sides,
};
use trioxide_mesh::edge_table::EdgeTable;

pub use convex::convex_pieces;
pub use short_edges::shortened;
pub use surface::polylla_of_surface;
pub use trioxide::rules::{
    PolygonSummary as Summary, polygon_mesh, polygon_mesh_edges, polygon_mesh_with,
};

/// Checks polygons given as lists of vertices against the triangulation of `half_edges`, as [`polylla`] does.
///
/// The polygons may come in any order and start at any of their vertices.
///
/// # Errors
/// [`trioxide::Error::Invalid`] with the first offending element of the first broken rule.
pub fn polygons_of(
    points: &[DVec2],
    half_edges: &HalfEdges,
    polygons: &Polygons,
    constrained: impl Fn(u32) -> bool,
) -> Result<Summary> {
    let he = half_edges;
    check_offsets(polygons)?;
    let edges = EdgeTable::new(
        points.len(),
        (0..he.inner()).map(|h| (he.origin(h), he.target(h))),
    );
    let inner = he.inner() as usize;
    let mut next = vec![NONE; he.len()];
    let mut prev = vec![NONE; he.len()];
    next[inner..].copy_from_slice(&he.next[inner..]);
    prev[inner..].copy_from_slice(&he.prev[inner..]);
    let mut loops: Vec<(u32, usize)> = Vec::with_capacity(polygons.len());
    let mut cycle = Vec::new();
    for (i, polygon) in polygons.iter().enumerate() {
        check_polygon(i, polygon, points.len())?;
        cycle.clear();
        for (a, b) in sides(polygon) {
            let h = edges
                .between(a, b)
                .iter()
                .map(|entry| entry.1)
                .find(|&h| he.origin(h) == a)
                .ok_or_else(|| {
                    invalid(
                        format!("polygon {i}"),
                        format!("has edge {a}-{b}, to whose left there is no triangle"),
                    )
                })?;
            cycle.push(h);
        }
        for (k, &h) in cycle.iter().enumerate() {
            let after = cycle[(k + 1) % cycle.len()];
            ensure(
                next[h as usize] == NONE,
                || format!("polygon {i}"),
                || format!("has edge {}-{} a second time", he.origin(h), he.target(h)),
            )?;
            next[h as usize] = after;
            prev[after as usize] = h;
        }
        loops.push((cycle.iter().copied().min().unwrap_or(NONE), i));
    }
    // The same polygons in canonical order.
    loops.sort_unstable();
    let starts: Vec<u32> = loops.iter().map(|l| l.0).collect();
    let (lists, _) = trioxide_reference::polylla::list_polygons(he, &next, &starts);
    let mesh = PolyllaMesh {
        next,
        prev,
        half_edges: starts,
        polygons: lists,
        ..Default::default()
    };
    polylla(points, he, &mesh, constrained)
}

/// Checks a mesh made by Polylla against its triangulation; [`PolyllaMesh::counts`] is not looked at.
///
/// Rules: half-edges of an edge are both linked or both not; boundary and constrained edges are linked, boundary
/// half-edges as before; the successor of a linked half-edge is the first linked one clockwise about its end (so a
/// polygon stays on its side of its edges), and `prev` is the inverse; no spike a-b-a, which is no barrier tip; the
/// polygons are the cycles of `next`, each once, in the order of their smallest half-edges, listed from there;
/// triangles joined across edges that are not linked form trees, each with exactly one polygon around it, of the
/// same area.
///
/// # Errors
/// [`trioxide::Error::Invalid`] with the first offending element of the first broken rule.
pub fn polylla(
    points: &[DVec2],
    half_edges: &HalfEdges,
    mesh: &PolyllaMesh,
    constrained: impl Fn(u32) -> bool,
) -> Result<Summary> {
    check_all(half_edges, mesh, constrained, |triangles, polygon| {
        let area = triangles.iter().fold(0.0, |area, &t| {
            let [a, b, c] = [0, 1, 2].map(|k| points[half_edges.origin(3 * t + k) as usize]);
            area + 0.5 * (b - a).perp_dot(c - a)
        });
        check_area(points, mesh.polygons.get(polygon as usize), polygon, area)?;
        Ok(area)
    })
}

/// Checks all rules; `measure` checks the triangles of a polygon against it, and gives their area.
fn check_all(
    half_edges: &HalfEdges,
    mesh: &PolyllaMesh,
    constrained: impl Fn(u32) -> bool,
    measure: impl Fn(&[u32], u32) -> Result<f64>,
) -> Result<Summary> {
    check_links(half_edges, mesh, constrained)?;
    let polygon_of = check_cycles(half_edges, mesh)?;
    let area = check_cover(half_edges, mesh, &polygon_of, measure)?;
    Ok(Summary {
        polygons: mesh.polygons.len(),
        weakly_simple: count_weakly_simple(&mesh.polygons),
        area,
    })
}

fn check_links(
    half_edges: &HalfEdges,
    mesh: &PolyllaMesh,
    constrained: impl Fn(u32) -> bool,
) -> Result<()> {
    let he = half_edges;
    ensure(
        mesh.next.len() == he.len() && mesh.prev.len() == he.len(),
        || "mesh".into(),
        || format!("has {} links for {} half-edges", mesh.next.len(), he.len()),
    )?;
    let linked = |h: u32| mesh.next[h as usize] != NONE;
    let rule = |holds: bool, h: u32, rule: &str| {
        ensure(
            holds,
            || format!("half-edge {h}"),
            || format!("breaks: {rule}"),
        )
    };
    for h in 0..he.len() as u32 {
        let (next, prev) = (mesh.next[h as usize], mesh.prev[h as usize]);
        rule(
            [next, prev]
                .iter()
                .all(|&g| g == NONE || (g as usize) < he.len()),
            h,
            "links are in range",
        )?;
        rule(
            linked(h) == (prev != NONE) && linked(h) == linked(he.twin(h)),
            h,
            "next and prev of both half-edges of an edge are set, or none is",
        )?;
        if he.is_border(h) {
            rule(
                next == he.next(h) && prev == he.prev(h),
                h,
                "border half-edges keep their links",
            )?;
        } else if constrained(h) {
            rule(linked(h), h, "a constrained edge is kept")?;
        }
    }
    for h in (0..he.inner()).filter(|&h| linked(h)) {
        let mut expected = he.next(h);
        while !linked(expected) {
            // This ends at twin(h) at the latest.
            expected = he.clockwise(expected);
        }
        let next = mesh.next[h as usize];
        rule(
            next == expected,
            h,
            "next is the first frontier edge clockwise",
        )?;
        rule(mesh.prev[next as usize] == h, h, "prev(next(h)) = h")?;
        rule(next != he.twin(h), h, "no spike: next is not the twin")?;
    }
    Ok(())
}

/// The polygons are the cycles of `next`. Returns the polygon of each linked half-edge of a triangle.
fn check_cycles(half_edges: &HalfEdges, mesh: &PolyllaMesh) -> Result<Vec<u32>> {
    let he = half_edges;
    check_offsets(&mesh.polygons)?;
    ensure(
        mesh.half_edges.len() == mesh.polygons.len(),
        || "mesh".into(),
        || {
            format!(
                "has {} half-edges for {} polygons",
                mesh.half_edges.len(),
                mesh.polygons.len()
            )
        },
    )?;
    let mut polygon_of = vec![NONE; he.inner() as usize];
    for (i, (&start, polygon)) in mesh.half_edges.iter().zip(mesh.polygons.iter()).enumerate() {
        let rule =
            |holds: bool, rule: &str| ensure(holds, || format!("polygon {i}"), || rule.to_owned());
        rule(
            i == 0 || mesh.half_edges[i - 1] < start,
            "does not come in the order of smallest half-edges",
        )?;
        rule(
            start < he.inner() && mesh.next[start as usize] != NONE,
            "starts with no frontier half-edge of a triangle",
        )?;
        let mut h = start;
        for &v in polygon {
            rule(
                polygon_of[h as usize] == NONE,
                "has a half-edge of another polygon, or one twice",
            )?;
            rule(h >= start, "does not start with its smallest half-edge")?;
            rule(
                he.origin(h) == v,
                "does not list the vertices of its half-edges",
            )?;
            polygon_of[h as usize] = i as u32;
            h = mesh.next[h as usize];
        }
        rule(
            h == start,
            "does not list all of the vertices of its half-edges",
        )?;
    }
    let missed = (0..he.inner() as usize).find(|&h| mesh.next[h] != NONE && polygon_of[h] == NONE);
    ensure(
        missed.is_none(),
        || format!("half-edge {}", missed.unwrap_or(NONE as usize)),
        || "is one of a frontier edge, but of no polygon".into(),
    )?;
    Ok(polygon_of)
}

/// Each triangle lies in exactly one polygon. Returns the total area.
fn check_cover(
    half_edges: &HalfEdges,
    mesh: &PolyllaMesh,
    polygon_of: &[u32],
    measure: impl Fn(&[u32], u32) -> Result<f64>,
) -> Result<f64> {
    let he = half_edges;
    let mut met = vec![false; he.triangles as usize];
    let mut surrounded = vec![false; mesh.polygons.len()];
    let mut region = Vec::new();
    let mut total = 0.0;
    for first in 0..he.triangles {
        if std::mem::replace(&mut met[first as usize], true) {
            continue;
        }
        // Triangles of this region, inner half-edges, and the polygon around it.
        region.clear();
        region.push(first);
        let mut inner_half_edges = 0;
        let mut polygon = NONE;
        let mut i = 0;
        while i < region.len() {
            let t = region[i];
            i += 1;
            for h in 3 * t..3 * t + 3 {
                let found = polygon_of[h as usize];
                if found == NONE {
                    inner_half_edges += 1;
                    let neighbour = he.twin(h) / 3;
                    if !std::mem::replace(&mut met[neighbour as usize], true) {
                        region.push(neighbour);
                    }
                } else {
                    ensure(
                        polygon == NONE || polygon == found,
                        || format!("triangle {t}"),
                        || format!("lies in polygons {polygon} and {found}"),
                    )?;
                    polygon = found;
                }
            }
        }
        ensure(
            polygon != NONE,
            || format!("triangle {first}"),
            || "lies in no polygon".into(),
        )?;
        ensure(
            !std::mem::replace(&mut surrounded[polygon as usize], true),
            || format!("polygon {polygon}"),
            || "surrounds two regions".into(),
        )?;
        ensure(
            inner_half_edges == 2 * (region.len() - 1),
            || format!("polygon {polygon}"),
            || "surrounds triangles that do not form a tree".into(),
        )?;
        total += measure(&region, polygon)?;
    }
    if let Some(i) = surrounded.iter().position(|&met| !met) {
        return Err(invalid(format!("polygon {i}"), "surrounds no triangle"));
    }
    Ok(total)
}

/// The polygon's area equals the area of its triangles, up to rounding.
fn check_area(points: &[DVec2], polygon: &[u32], i: u32, area: f64) -> Result<()> {
    let origin = points[polygon[0] as usize];
    let size = polygon.iter().fold(0.0, |size: f64, &v| {
        size.max((points[v as usize] - origin).abs().max_element())
    });
    // Each of the terms, below 2 size^2, is off by at most 4 roundings, and each sum by one.
    let terms = polygon.len() as f64;
    let bound = 16.0 * f64::EPSILON * terms * terms.max(4.0) * size * size;
    let found = shoelace(points, polygon);
    ensure(
        (found - area).abs() <= bound && found > -bound,
        || format!("polygon {i}"),
        || format!("has area {found}, but its triangles have {area}"),
    )
}

#[cfg(test)]
mod tests;
