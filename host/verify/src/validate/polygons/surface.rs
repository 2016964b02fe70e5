//! The same promises on a surface in space, and others that hold there alone.

use glam::DVec3;
use gpu::polylla::unit_normal;

use super::{Summary, check_all, check_cycles};
use trioxide::Result;
use trioxide::mesh::{HalfEdges, NONE, PolyllaMesh};
use trioxide::polylla::Angles;
use trioxide::rules::ensure;

/// Degrees by which an angle of this module's arithmetic may be off.
const SLACK: f64 = 1e-4;

/// Checks a mesh made by Polylla against its surface.
///
/// Rules: those of [`polylla`](super::polylla), where a polygon has the vector area of its triangles; edges at more
/// than the feature angle are linked; two normals of a polygon are at most twice the flatness apart; an edge inside of
/// the surface has two polygons, if no polygon visits a vertex twice; V - E + F stays.
///
/// # Errors
/// [`trioxide::Error::Invalid`] with the first offending element of the first broken rule.
pub fn polylla_of_surface(
    points: &[DVec3],
    half_edges: &HalfEdges,
    mesh: &PolyllaMesh,
    constrained: impl Fn(u32) -> bool,
    angles: Angles,
) -> Result<Summary> {
    let he = half_edges;
    let corners = |t: u32| [0, 1, 2].map(|k| points[he.origin(3 * t + k) as usize]);
    let vector = |t: u32| {
        let [a, b, c] = corners(t);
        0.5 * (b - a).cross(c - a)
    };
    // By the definition's normals; where squares leave their range, these have no length of one, and no angle.
    let angle = |t: u32, u: u32| {
        let [a, b] = [t, u].map(corners).map(|[a, b, c]| unit_normal(a, b, c));
        match a.is_normalized() && b.is_normalized() {
            true => libm::acos(a.dot(b).clamp(-1.0, 1.0)).to_degrees(),
            false => 0.0,
        }
    };
    let is_sharp = |h: u32| match angles.feature {
        Some(most) if !he.is_border(he.twin(h)) => angle(h / 3, he.twin(h) / 3) > most + SLACK,
        _ => false,
    };
    let summary = check_all(
        he,
        mesh,
        |h| constrained(h) || is_sharp(h),
        |triangles, polygon| {
            let rule = |holds: bool, rule: &dyn Fn() -> String| {
                ensure(holds, || format!("polygon {polygon}"), rule)
            };
            let list = mesh.polygons.get(polygon as usize);
            let origin = points[list[0] as usize];
            let corner = |i: usize| points[list[i % list.len()] as usize] - origin;
            let found: DVec3 = (1..list.len())
                .map(|i| 0.5 * corner(i).cross(corner(i + 1)))
                .sum();
            let expected: DVec3 = triangles.iter().map(|&t| vector(t)).sum();
            let size = (0..list.len()).fold(0.0, |size: f64, i| size.max(corner(i).length()));
            let terms = list.len() as f64;
            let bound = 64.0 * f64::EPSILON * terms * terms * size * size;
            rule((found - expected).length() <= bound, &|| {
                format!("has vector area {found}, but its triangles have {expected}")
            })?;
            if let Some(most) = angles.flatness {
                for (i, &t) in triangles.iter().enumerate() {
                    let steep = triangles[..i]
                        .iter()
                        .find(|&&u| angle(t, u) > 2.0 * most + SLACK);
                    rule(steep.is_none(), &|| {
                        let steep = steep.copied().unwrap_or(NONE);
                        format!("has triangles {steep} and {t} at over twice {most} degrees")
                    })?;
                }
            }
            Ok(triangles.iter().map(|&t| vector(t).length()).sum())
        },
    )?;
    if summary.weakly_simple == 0 {
        check_sides(he, mesh)?;
    }
    check_euler(he, mesh)?;
    Ok(summary)
}

/// Each edge inside of the surface has a polygon on either side.
fn check_sides(he: &HalfEdges, mesh: &PolyllaMesh) -> Result<()> {
    let polygon_of = check_cycles(he, mesh)?;
    for h in (0..he.inner()).filter(|&h| !he.is_border(he.twin(h))) {
        let [mine, theirs] = [h, he.twin(h)].map(|h| polygon_of[h as usize]);
        ensure(
            mine == NONE || mine != theirs,
            || format!("half-edge {h}"),
            || format!("has polygon {mine} on both sides"),
        )?;
    }
    Ok(())
}

/// As many edges as faces are gone, and no vertex.
fn check_euler(he: &HalfEdges, mesh: &PolyllaMesh) -> Result<()> {
    let mut is_used = vec![false; he.of_vertex.len()];
    for &v in &mesh.polygons.vertices {
        is_used[v as usize] = true;
    }
    let lost = (0..is_used.len()).find(|&v| !is_used[v] && he.of_vertex[v] != NONE);
    ensure(
        lost.is_none(),
        || format!("vertex {}", lost.unwrap_or_default()),
        || "is of no polygon".into(),
    )?;
    let linked = mesh.next.iter().filter(|&&h| h != NONE).count();
    let (edges, faces) = (
        (he.len() - linked) / 2,
        he.triangles as usize - mesh.polygons.len(),
    );
    ensure(
        edges == faces,
        || "mesh".into(),
        || format!("is without {edges} edges and {faces} faces: V - E + F does not stay"),
    )
}
