//! Is this a triangulation of the plane, or of a surface in space?

mod fans;

use glam::DVec3;
use gpu::half_edges::is_too_small;
use gpu::point::{DoublePoint, MeshPoint};
use robust::{Coord, orient2d};

use super::error::{too_large, too_small};
use crate::mesh::{HalfEdges, NONE, Triangulation};
use crate::rules::{ensure, invalid};
use crate::{Error, Result};
use fans::{check_fans, start};
use trioxide_mesh::edge_table::EdgeTable;
use trioxide_mesh::half_edges::{from_edge_table, prev_in_triangle};
use trioxide_mesh::parallel;

/// Counts of a valid triangulation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Vertices of no triangle: legal.
    pub unused_vertices: usize,
    /// Edges with one triangle.
    pub boundary_edges: usize,
    /// Closed walks along the boundary that stay in the same fan of triangles at pinch vertices.
    pub boundary_loops: usize,
    /// Vertices with more than one fan of triangles, at which the boundary touches itself: legal.
    pub pinch_vertices: usize,
    /// Sets of triangles connected across edges.
    pub components: usize,
}

/// Checks `mesh`, and counts its parts.
///
/// Rules, in this order: the ids fit `u32`; a region id for each triangle, if for any; coordinates finite, and not so
/// large or triangles so small that squares of distances leave double precision; indices in range; no vertex twice in a
/// triangle; triangles counter-clockwise and not degenerate (exact predicate); no triangle twice; no edge with more
/// than two triangles; no two triangles on the same side of an edge; no other triangle at a vertex that triangles
/// surround. Overlaps that show at no shared edge or vertex are not searched for: they break no algorithm here, only
/// the area.
///
/// # Errors
/// [`Error::Invalid`] with the smallest element that breaks the first broken rule.
pub fn triangulation(mesh: &Triangulation) -> Result<Summary> {
    let (edges, pinch_vertices) = check_all(mesh)?;
    let half_edges = from_edge_table(&mesh.triangles, mesh.points.len(), &edges);
    drop(edges);
    Ok(Summary {
        unused_vertices: half_edges.of_vertex.iter().filter(|&&h| h == NONE).count(),
        boundary_edges: half_edges.len() - half_edges.inner() as usize,
        boundary_loops: boundary_loops(&half_edges),
        pinch_vertices,
        components: components(&half_edges),
    })
}

/// Checks all rules of [`triangulation`] but the last: the rules that every device checks, and all that the algorithms
/// need. Triangles that overlap round a vertex are fans of their own there, as at a vertex where the boundary touches
/// itself.
///
/// # Errors
/// As [`triangulation`].
pub fn triangles_and_edges(mesh: &Triangulation) -> Result<()> {
    checked_edges(mesh).map(drop)
}

/// Checks `mesh` as [`triangulation`] does, by all threads, without counting its parts.
///
/// # Errors
/// As [`triangulation`].
pub fn check_triangulation(mesh: &Triangulation) -> Result<()> {
    check_all(mesh).map(drop)
}

/// As [`check_triangulation`], where `edges` are the table of the mesh's triangles over its points: a third of the work
/// is to make it.
///
/// # Errors
/// As [`triangulation`].
///
/// # Panics
/// When the table is of another mesh.
pub fn check_triangulation_with(mesh: &Triangulation, edges: &EdgeTable) -> Result<()> {
    check_arrays(mesh)?;
    check_triangles(mesh)?;
    check_sides(mesh, edges)?;
    check_fans(mesh, edges).map(drop)
}

/// All rules in their order; the table of edges, and the number of pinch vertices.
fn check_all(mesh: &Triangulation) -> Result<(EdgeTable, usize)> {
    let edges = checked_edges(mesh)?;
    let pinch_vertices = check_fans(mesh, &edges)?;
    Ok((edges, pinch_vertices))
}

fn checked_edges(mesh: &Triangulation) -> Result<EdgeTable> {
    check_arrays(mesh)?;
    check_triangles(mesh)?;
    let edges = EdgeTable::of_triangles(mesh.points.len(), &mesh.triangles);
    check_sides(mesh, &edges)?;
    Ok(edges)
}

fn check_sides(mesh: &Triangulation, edges: &EdgeTable) -> Result<()> {
    check_edges(&mesh.triangles, edges, "on the same side: they overlap")
}

/// Checks the surface `mesh`, whose points lie in space.
///
/// Rules, in this order: as those of [`triangulation()`], but for the orientation: no edge has the length zero, and no
/// two triangles run along an edge in the same direction. Corners may lie on one line. Whether the surface cuts itself
/// is not looked for.
///
/// # Errors
/// [`Error::Invalid`] with the smallest element that breaks the first broken rule.
pub fn surface(mesh: &Triangulation<DVec3>) -> Result<()> {
    check_arrays(mesh)?;
    check_corners(mesh, &|&[a, b, c]| {
        let [p, q, r] = [a, b, c].map(|v| mesh.points[v as usize]);
        (!DVec3::is_proper(p, q, r)).then(|| without_length([a, b, c]))
    })?;
    let edges = EdgeTable::of_triangles(mesh.points.len(), &mesh.triangles);
    check_edges(
        &mesh.triangles,
        &edges,
        "that run along it in the same direction: `repair --orient` turns triangles until neighbours agree",
    )
}

/// The rule that a triangle in space breaks if two of its vertices are at one place.
pub fn without_length<V: std::fmt::Display>([a, b, c]: [V; 3]) -> String {
    format!("is degenerate: an edge between its vertices {a}, {b}, {c} has no length")
}

fn check_arrays<V: DoublePoint + MeshPoint<Double = V>>(mesh: &Triangulation<V>) -> Result<()> {
    let vertices = mesh.points.len();
    let triangles = mesh.triangles.len();
    // 3 half-edges a triangle and at most as many border half-edges; `NONE` is no id.
    let most = (NONE / 6) as usize;
    for (what, n, most) in [
        ("triangles", triangles, most),
        ("vertices", vertices, NONE as usize),
    ] {
        ensure(
            n <= most,
            || "mesh".into(),
            || format!("has {n} {what}, but ids are 32 bits wide: {most} is the most"),
        )?;
    }
    if let Some(regions) = &mesh.regions {
        ensure(
            regions.len() == triangles,
            || "mesh".into(),
            || {
                format!(
                    "has region ids for {} triangles of {triangles}",
                    regions.len()
                )
            },
        )?;
    }
    if let Some(v) = parallel::position(&mesh.points, |point| !point.has_finite_coordinates()) {
        return Err(Error::not_finite(v));
    }
    let is_large = |p: &V| p.largest_coordinate() > V::LARGEST;
    if let Some(v) = parallel::position(&mesh.points, is_large) {
        return Err(too_large::<V>(v as u32).into());
    }
    for (i, segment) in mesh.segments.iter().enumerate() {
        for v in segment.ends {
            ensure(
                (v as usize) < vertices,
                || format!("segment {i}"),
                || format!("has vertex {v}, but the mesh has {vertices} vertices"),
            )?;
        }
    }
    Ok(())
}

fn check_triangles(mesh: &Triangulation) -> Result<()> {
    check_corners(mesh, &|&[a, b, c]| {
        let point = |v: u32| {
            let point = mesh.points[v as usize];
            Coord {
                x: point.x,
                y: point.y,
            }
        };
        let turn = orient2d(point(a), point(b), point(c));
        if turn > 0.0 {
            None
        } else if turn < 0.0 {
            Some(format!(
                "runs clockwise, with vertices {a}, {b}, {c}: `repair --orient` turns triangles, `smooth --untangle` moves vertices"
            ))
        } else {
            Some(format!(
                "is degenerate: its vertices {a}, {b}, {c} lie on one line: `repair --degenerate 0` mends it"
            ))
        }
    })
}

/// The rule that a triangle breaks, if any.
type Rule<'a> = &'a (dyn Fn(&[u32; 3]) -> Option<String> + Sync);

/// Vertices in range, none of them twice in a triangle, and the rule on their positions.
fn check_corners<V: MeshPoint<Double = V>>(mesh: &Triangulation<V>, positions: Rule) -> Result<()> {
    let vertices = mesh.points.len();
    let is_small = |&triangle: &[u32; 3]| {
        triangle.iter().all(|&v| (v as usize) < vertices) && {
            let point = |k: usize| mesh.points[triangle[k] as usize];
            is_too_small::<V>(point(0), point(1), point(2))
        }
    };
    let rules: [Rule; 3] = [
        &|triangle| {
            let v = triangle.iter().find(|&&v| v as usize >= vertices)?;
            Some(format!(
                "has vertex {v}, but the mesh has {vertices} vertices"
            ))
        },
        &|&[a, b, c]| {
            let twice = match (a == b || a == c, b == c) {
                (true, _) => a,
                (_, true) => b,
                _ => return None,
            };
            Some(format!("has vertex {twice} twice"))
        },
        positions,
    ];
    // All rules at once, as they read the same points; one after the other where one is broken.
    let is_bad = |t: &[u32; 3]| is_small(t) || rules.iter().any(|rule| rule(t).is_some());
    if parallel::position(&mesh.triangles, is_bad).is_none() {
        return Ok(());
    }
    if let Some(t) = parallel::position(&mesh.triangles, is_small) {
        return Err(too_small::<V>(t as u32).into());
    }
    for rule in rules {
        let fault = |t| Some(invalid(format!("triangle {t}"), rule(&mesh.triangles[t])?));
        if let Some(error) = parallel::find_map(mesh.triangles.len(), fault) {
            return Err(error);
        }
    }
    Ok(())
}

/// Every edge has one triangle, or one on each side; `same_direction` says what is wrong about two that are not.
fn check_edges(triangles: &[[u32; 3]], edges: &EdgeTable, same_direction: &str) -> Result<()> {
    let bad = edges.filter_map_edges(|ends, group| {
        let one_side_each = match group {
            [_] => true,
            [(_, g), (_, h)] => start(triangles, *g) != start(triangles, *h),
            _ => false,
        };
        (!one_side_each).then(|| (ends, group.to_vec()))
    });
    let mut repeated: Option<(u32, u32)> = None;
    let mut crowded: Option<Error> = None;
    let mut same_side: Option<Error> = None;
    for ([a, b], group) in bad {
        // Triangles are counter-clockwise, so equal ones share the edge's direction and the third vertex.
        let mut sides: Vec<(u32, u32, u32)> = group
            .iter()
            .map(|&(_, h)| {
                (
                    start(triangles, h),
                    start(triangles, prev_in_triangle(h)),
                    h / 3,
                )
            })
            .collect();
        sides.sort_unstable();
        for pair in sides.windows(2) {
            if (pair[0].0, pair[0].1) == (pair[1].0, pair[1].1) {
                let found = (pair[1].2, pair[0].2);
                repeated = Some(repeated.map_or(found, |best| best.min(found)));
            }
        }
        let names: Vec<String> = group.iter().map(|(_, h)| (h / 3).to_string()).collect();
        let names = names.join(", ");
        if group.len() > 2 {
            crowded.get_or_insert_with(|| {
                invalid(
                    format!("edge {a}-{b}"),
                    format!(
                        "belongs to {} triangles ({names}): two is the most: `repair --edges` parts the surfaces",
                        group.len()
                    ),
                )
            });
        } else {
            same_side.get_or_insert_with(|| {
                invalid(
                    format!("edge {a}-{b}"),
                    format!("has triangles {names} {same_direction}"),
                )
            });
        }
    }
    if let Some((second, first)) = repeated {
        return Err(invalid(
            format!("triangle {second}"),
            format!("is triangle {first} again: `repair --repeated` drops it"),
        ));
    }
    crowded.or(same_side).map_or(Ok(()), Err)
}

fn boundary_loops(half_edges: &HalfEdges) -> usize {
    let inner = half_edges.inner();
    let mut met = vec![false; half_edges.len() - inner as usize];
    let mut loops = 0;
    for border in inner..half_edges.len() as u32 {
        let mut h = border;
        if !met[(h - inner) as usize] {
            loops += 1;
        }
        while !met[(h - inner) as usize] {
            met[(h - inner) as usize] = true;
            h = half_edges.next(h);
        }
    }
    loops
}

fn components(half_edges: &HalfEdges) -> usize {
    let mut met = vec![false; half_edges.triangles as usize];
    let mut pending = Vec::new();
    let mut components = 0;
    for t in 0..half_edges.triangles {
        if std::mem::replace(&mut met[t as usize], true) {
            continue;
        }
        components += 1;
        pending.push(t);
        while let Some(t) = pending.pop() {
            for h in 3 * t..3 * t + 3 {
                let twin = half_edges.twin(h);
                if !half_edges.is_border(twin)
                    && !std::mem::replace(&mut met[twin as usize / 3], true)
                {
                    pending.push(twin / 3);
                }
            }
        }
    }
    components
}

#[cfg(test)]
mod tests;
