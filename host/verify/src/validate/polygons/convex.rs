//! Are these polygons convex pieces of others, and is each cut needed?

use glam::DVec2;
use robust::{Coord, orient2d};

use trioxide::Result;
use trioxide::mesh::{HalfEdges, NONE, PolyllaMesh};
use trioxide::rules::ensure;

/// Checks convex pieces against the polygons that they were cut from; [`super::polylla`] checks the rest.
///
/// Rules: each side of a polygon is one of a piece; the corners of pieces are at most 180 degrees; without a cut a
/// corner at one of its ends would be larger.
///
/// # Errors
/// [`trioxide::Error::Invalid`] with the first offending element of the first broken rule.
pub fn convex_pieces(
    points: &[DVec2],
    half_edges: &HalfEdges,
    polygons: &PolyllaMesh,
    pieces: &PolyllaMesh,
) -> Result<()> {
    let he = half_edges;
    let at = |v: u32| {
        let DVec2 { x, y } = points[v as usize];
        Coord { x, y }
    };
    // From the next vertex around a piece by way of the corner to the previous one.
    let is_convex = |[after, corner, before]: [u32; 3]| {
        let [a, v, b] = [after, corner, before].map(at);
        let towards = |p: Coord<f64>| (p.x - v.x) * (b.x - v.x) + (p.y - v.y) * (b.y - v.y);
        let sine = orient2d(v, a, b);
        sine > 0.0 || sine == 0.0 && towards(a) < 0.0
    };
    let is_side = |mesh: &PolyllaMesh, h: u32| mesh.next[h as usize] != NONE;
    for h in 0..he.inner() {
        let rule = |holds: bool, rule: &str| {
            ensure(holds, || format!("half-edge {h}"), || rule.to_owned())
        };
        if !is_side(pieces, h) {
            rule(
                !is_side(polygons, h),
                "is a side of a polygon, but of no piece",
            )?;
            continue;
        }
        let before = |h: u32| he.origin(pieces.prev[h as usize]);
        rule(
            is_convex([he.target(h), he.origin(h), before(h)]),
            "begins at a corner of more than 180 degrees",
        )?;
        if !is_side(polygons, h) {
            let without = |h: u32| {
                let right = pieces.next[he.twin(h) as usize];
                [he.target(right), he.origin(h), before(h)]
            };
            rule(
                !(is_convex(without(h)) && is_convex(without(he.twin(h)))),
                "is of a cut that no corner needs",
            )?;
        }
    }
    Ok(())
}
