//! Is this a triangulation by its edges, and does it keep the promises of refinement (gpu-longest-edge-bisection-2011)?
//!
//! # Why these rules are enough
//!
//! *One round* ([`refinement`]). The sides of a triangle's pieces are cancelled against each other where two run along
//! the same edge in opposite directions; the rest must be the sides of the triangle, each divided one in its two
//! halves.
//!
//! 1. *Pieces tile their triangle.* A point lies in as many triangles, each with the sign of its orientation, as the
//!    sides of all of them wind around it. The pieces' sides wind as the triangle's do, once around each point of it
//!    and never around others, and all pieces turn as it does: so each point of the triangle lies in one piece, up to
//!    the points on sides, and no piece leaves the triangle. The areas of the pieces sum up to its own.
//! 2. *The mesh stays conforming.* By 1. the sides at a divided edge are its two halves, on both sides of the edge. By
//!    [`topology`] no two edges have the same ends: the halves on both sides are the same two edges. So a triangle has
//!    the same edges as before, with the divided ones halved, and no vertex lies inside of another edge.
//! 3. *Nothing overlaps that did not before*: from 1., triangle by triangle.
//!
//! *On a line.* On surfaces in space, corners of a triangle may be on a line: then its pieces have no area but by the
//! rounding of midpoints, and 1. holds by their sides alone.
//!
//! All of this is decided exactly, by ids and by the exact orientation of triangles. Only the midpoints are rounded,
//! and are compared with the one right rounding, bit by bit. "The triangle" in 1. is the polygon through the rounded
//! midpoints of its sides.
//!
//! *Any number of rounds* ([`area`], [`angles`]). A new vertex is displaced from the true midpoint by one rounding of
//! each coordinate, and by at most the displacement of its edge's ends: after R rounds by R sqrt(2) u M at most, with u
//! the unit roundoff of the points' precision and M the largest coordinate. The bounds follow from that; areas are
//! summed without rounding.

use std::collections::HashMap;

use glam::{DVec2, DVec3};
use gpu::point::{DoublePoint, MeshPoint, Point2};
use robust::{Coord, orient2d};

use super::triangulation;
use trioxide::Result;
use trioxide::half_edges::rules::Summary;
use trioxide::mesh::{EdgeTriangulation, NONE, Refinement, Triangulation};
use trioxide::rules::{ensure, invalid};
use trioxide_mesh::parallel;

mod measures;

pub use measures::{Areas, SmallestAngles, angles, area, area_in_space};
pub use trioxide::rules::topology;

/// Checks [`topology`], and that the triangles are a conforming triangulation: finite points, counter-clockwise by the
/// exact predicate, edges with a triangle on one or each side ([`triangulation`](triangulation())).
///
/// # Errors
/// [`Error::Invalid`](trioxide::Error::Invalid) with the smallest element that breaks the first broken rule.
pub fn conforming<P: Point2>(mesh: &EdgeTriangulation<P>) -> Result<Summary> {
    topology(mesh)?;
    triangulation(&Triangulation {
        points: mesh.points.iter().map(|p| p.to_f64()).collect(),
        triangles: mesh.corners(),
        ..Triangulation::default()
    })
}

/// Checks that `after` is `before` after one round of refinement: conforming if `before` is, each triangle tiled by its
/// pieces, ids and tags as documented (see [the module](self)).
///
/// Triangles of `before` may run clockwise, as in the paper's example: their pieces then must.
///
/// # Errors
/// [`Error::Invalid`](trioxide::Error::Invalid) with an element that breaks a rule.
pub fn refinement<P: MeshPoint>(
    before: &EdgeTriangulation<P>,
    after: &EdgeTriangulation<P>,
    refinement: &Refinement,
) -> Result<()> {
    topology(before)?;
    topology(after)?;
    let midpoints = check_vertices(before, after, refinement)?;
    check_edges(before, after, refinement, &midpoints)?;
    check_triangles(before, after, refinement, &midpoints)
}

/// V + D vertices: the old ones, and the midpoints in the order of the half-edges that own the divided edges. Gives the
/// vertex that divides each edge, or [`NONE`].
fn check_vertices<P: MeshPoint>(
    before: &EdgeTriangulation<P>,
    after: &EdgeTriangulation<P>,
    refinement: &Refinement,
) -> Result<Vec<u32>> {
    let vertices = before.points.len();
    let divided = refinement.divided.len();
    ensure(
        after.points.len() == vertices + divided && refinement.ends.len() == divided,
        || "refinement".into(),
        || {
            format!(
                "has {} ends of edges and makes {} vertices of {vertices}, but divides {divided} edges",
                refinement.ends.len(),
                after.points.len()
            )
        },
    )?;
    let bits = |p: P| p.to_f64().in_space().to_array().map(f64::to_bits);
    if let Some(v) = (0..vertices).find(|&v| bits(before.points[v]) != bits(after.points[v])) {
        return Err(invalid(format!("vertex {v}"), "was moved"));
    }
    let mut midpoints = vec![NONE; before.edges.len()];
    for (i, &e) in refinement.divided.iter().enumerate() {
        let v = vertices + i;
        let name = || format!("vertex {v}");
        ensure((e as usize) < before.edges.len(), name, || {
            format!(
                "divides edge {e}, but there were {} edges",
                before.edges.len()
            )
        })?;
        let ends = before.edges[e as usize];
        ensure(refinement.ends[i] == ends, name, || {
            format!(
                "divides edge {e} from {} to {}, but its ends are given as {} and {}",
                ends[0], ends[1], refinement.ends[i][0], refinement.ends[i][1]
            )
        })?;
        let [a, b] = ends.map(|v| before.points[v as usize]);
        ensure(bits(after.points[v]) == bits(a.midpoint(b)), name, || {
            format!(
                "is not halfway between vertices {} and {}",
                ends[0], ends[1]
            )
        })?;
        midpoints[e as usize] = v as u32;
    }
    let in_order = before
        .triangles
        .iter()
        .flatten()
        .filter(|&&side| side % 2 == 0 && midpoints[side as usize / 2] != NONE)
        .map(|side| side / 2);
    ensure(
        in_order.eq(refinement.divided.iter().copied()),
        || "refinement".into(),
        || "does not number its vertices in the order of the half-edges that own edges".into(),
    )?;
    Ok(midpoints)
}

/// Whole edges stay as they are, divided ones leave two halves that run their way with their tag, all others are inside
/// of triangles: they have no tag and end at a new vertex.
fn check_edges<P>(
    before: &EdgeTriangulation<P>,
    after: &EdgeTriangulation<P>,
    refinement: &Refinement,
    midpoints: &[u32],
) -> Result<()> {
    let is_divided = |side: &&u32| midpoints[**side as usize / 2] != NONE;
    let divided_sides = before.triangles.iter().flatten().filter(is_divided).count();
    // 2f + r, each divided edge being one forward side.
    let edges = before.edges.len() + refinement.divided.len() + divided_sides;
    ensure(
        after.edges.len() == edges && after.tags.is_empty() == before.tags.is_empty(),
        || "refinement".into(),
        || {
            format!(
                "makes {} edges with {} tags, where {edges} are due",
                after.edges.len(),
                after.tags.len()
            )
        },
    )?;
    let tag = |mesh: &EdgeTriangulation<P>, e: usize| mesh.tags.get(e).copied().unwrap_or(0);
    let mut new = HashMap::new();
    for (e, &ends) in after.edges.iter().enumerate() {
        if midpoints.get(e).is_none_or(|&v| v != NONE) {
            new.insert(ends, e);
            continue;
        }
        ensure(
            before.edges[e] == ends && tag(before, e) == tag(after, e),
            || format!("edge {e}"),
            || "was changed, but is not divided".into(),
        )?;
    }
    let vertices = before.points.len();
    for (i, &e) in refinement.divided.iter().enumerate() {
        let [a, b] = before.edges[e as usize];
        let m = (vertices + i) as u32;
        for half in [[a, m], [m, b]] {
            let found = new.remove(&half);
            let is_right = |h: usize| tag(after, h) == tag(before, e as usize);
            ensure(
                found.is_some_and(is_right),
                || format!("edge {e}"),
                || {
                    format!(
                        "with tag {} left no such half from vertex {} to {}",
                        tag(before, e as usize),
                        half[0],
                        half[1]
                    )
                },
            )?;
        }
    }
    let mut inside: Vec<usize> = new.into_values().collect();
    inside.sort_unstable();
    for e in inside {
        ensure(
            after.edges[e][1] as usize >= vertices && tag(after, e) == 0,
            || format!("edge {e}"),
            || {
                format!(
                    "is inside of a triangle, but has tag {} and ends at vertex {}",
                    tag(after, e),
                    after.edges[e][1]
                )
            },
        )?;
    }
    Ok(())
}

/// Each triangle is tiled by one piece more than it has divided sides.
fn check_triangles<P: MeshPoint>(
    before: &EdgeTriangulation<P>,
    after: &EdgeTriangulation<P>,
    refinement: &Refinement,
    midpoints: &[u32],
) -> Result<()> {
    let triangles = before.triangles.len();
    let parents = &refinement.parents;
    ensure(
        after.triangles.len() == triangles + parents.len() && parents.is_sorted(),
        || "refinement".into(),
        || {
            format!(
                "makes {} triangles of {triangles} with {} parents: each new one has one, ascending",
                after.triangles.len(),
                parents.len()
            )
        },
    )?;
    if let Some(t) = parents.last().filter(|&&t| t as usize >= triangles) {
        let rule = format!("is a parent, but there were {triangles} triangles");
        return Err(invalid(format!("triangle {t}"), rule));
    }
    let directed =
        |mesh: &EdgeTriangulation<P>, side: u32| [mesh.start(side), mesh.start(side ^ 1)];
    let check = |t: usize| -> Result<()> {
        let name = || format!("triangle {t}");
        let first = parents.partition_point(|&parent| (parent as usize) < t);
        let count = parents[first..].partition_point(|&parent| parent as usize == t);
        let new = triangles + first..triangles + first + count;
        let pieces = || std::iter::once(t).chain(new.clone());

        let mut due = Vec::with_capacity(6);
        for &side in &before.triangles[t] {
            let [a, b] = directed(before, side);
            match midpoints[side as usize / 2] {
                NONE => due.push([a, b]),
                m => due.extend([[a, m], [m, b]]),
            }
        }
        ensure(count + 3 == due.len(), name, || {
            format!(
                "has {} divided sides, but is cut into {} pieces",
                due.len() - 3,
                count + 1
            )
        })?;
        if count == 0 {
            return ensure(after.triangles[t] == before.triangles[t], name, || {
                "was changed, but none of its sides is divided".into()
            });
        }

        let sides: Vec<[u32; 2]> = pieces()
            .flat_map(|piece| after.triangles[piece])
            .map(|side| directed(after, side))
            .collect();
        let mut outer: Vec<[u32; 2]> = sides
            .iter()
            .copied()
            .filter(|&[a, b]| !sides.contains(&[b, a]))
            .collect();
        outer.sort_unstable();
        due.sort_unstable();
        ensure(outer == due, name, || {
            format!("is bounded by {due:?}, but its pieces by {outer:?}")
        })?;

        let parent = corners(before, t);
        let axis = steepest(parent);
        let turns = orientation(parent, axis);
        let is_planar = size_of::<P::Double>() == size_of::<DVec2>();
        if turns == 0.0 && !is_planar {
            return Ok(());
        }
        for piece in pieces() {
            ensure(
                orientation(corners(after, piece), axis) == turns && turns != 0.0,
                || format!("triangle {piece}"),
                || format!("does not turn as triangle {t} that it is a piece of"),
            )?;
        }
        Ok(())
    };
    parallel::find_map(triangles, |t| check(t).err()).map_or(Ok(()), Err)
}

/// The axis along which a triangle's shadow is largest: z in the plane. Pieces of a triangle turn as it does where
/// their shadows do, as they lie in its plane but for rounding.
fn steepest([a, b, c]: [DVec3; 3]) -> usize {
    let normal = (b - a).cross(c - a).abs();
    match normal.z >= normal.x && normal.z >= normal.y {
        true => 2,
        false => usize::from(normal.y > normal.x),
    }
}

/// 1 for a triangle whose shadow along an axis runs counter-clockwise, -1 for a clockwise one, 0 for a degenerate one.
/// Exact.
fn orientation(corners: [DVec3; 3], axis: usize) -> f64 {
    let [a, b, c] = corners.map(|p| Coord {
        x: p[(axis + 1) % 3],
        y: p[(axis + 2) % 3],
    });
    let determinant = orient2d(a, b, c);
    match determinant {
        0.0 => 0.0,
        _ => determinant.signum(),
    }
}

fn corners<P: MeshPoint>(mesh: &EdgeTriangulation<P>, t: usize) -> [DVec3; 3] {
    mesh.triangles[t].map(|side| {
        let point = mesh.points[mesh.start(side) as usize];
        point.to_f64().in_space()
    })
}

#[cfg(test)]
mod tests;
