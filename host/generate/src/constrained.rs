//! Triangulates outlines: the constrained Delaunay triangulation, the selection of its triangles, and their refinement.
//!
//! Spade computes the triangulation. The triangles inside of the outline then become separate half-edges ([`kept()`]),
//! so that refinement ([`refine`]) neither sees nor changes triangles outside or in a hole.

use glam::DVec2;
use spade::handles::{FixedFaceHandle, InnerTag};
use spade::{ConstrainedDelaunayTriangulation, Point2, Triangulation as _};

use super::delaunay::{invalid, repeated_points};
use kept::{collect, kept, left_out, pieces};
use trioxide_mesh::mesh::Triangulation;
pub use trioxide_mesh::outline::Outline;
use trioxide_mesh::outline::no_triangle;
use trioxide_mesh::{Error, Result};

mod half_edges;
mod kept;
mod refine;

/// How to triangulate.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Refinement {
    /// Smallest angle of the triangles, in degrees, 0 to 33. Up to 20.7 refinement ends if segments meet at 60 degrees
    /// or more; for most outlines it ends up to 30. Smaller angles between segments stay as they are.
    pub smallest_angle: Option<f64>,
    /// Largest area of a triangle.
    pub largest_area: Option<f64>,
    /// Most vertices that refinement may add, counting the ones it removes again [default: ten for each of the outline,
    /// and a million].
    pub most_vertices: Option<usize>,
    /// Whether triangles outside of the segments are kept, up to the convex hull.
    pub convex: bool,
}

type Cdt = ConstrainedDelaunayTriangulation<Point2<f64>>;

/// The constrained Delaunay triangulation of an outline, refined on request, with a sentence for each bound that was
/// not reached.
///
/// Without segments it covers the convex hull of the points; with segments the area that they enclose, without the
/// holes. Only this area is refined. Vertices are all vertices of the outline in their order, then the vertices that
/// refinement adds. Segments of the result are the pieces of the outline's segments, in its order, with their markers;
/// segments outside or in a hole are left out. The result has regions if the outline has regions.
///
/// # Errors
/// [`Error::Invalid`] for points that are repeated or out of the range of exact predicates, segments that cross each
/// other, holes and regions without a triangle, and an outline that encloses nothing. [`Error::Argument`] for an angle
/// or an area out of range, and if refinement needs more vertices than it may add.
pub fn triangulate(
    outline: &Outline,
    refinement: &Refinement,
) -> Result<(Triangulation, Vec<String>)> {
    check(outline, refinement)?;
    let cdt = load(outline)?;
    let has_sides = !outline.segments.is_empty() && !refinement.convex;
    let is_kept = inside(&cdt, outline, has_sides)?;
    if !is_kept.contains(&true) {
        return Err(nothing_enclosed(outline));
    }
    let regions = regions(&cdt, outline, &is_kept)?;
    let (mut mesh, subsegments) = kept(&cdt, outline, &is_kept, &regions);
    let pieces = pieces(&cdt, outline, &subsegments, &mesh)?;
    // Vertices and subsegments that refinement adds come after these.
    let mut removed = Vec::new();
    let angle = refinement.smallest_angle.unwrap_or(0.0);
    if angle > 0.0 || refinement.largest_area.is_some() {
        let most = refinement.most_vertices;
        let goal = refine::Goal {
            angle,
            area: refinement.largest_area.unwrap_or(f64::INFINITY),
            most: most.unwrap_or(1_000_000 + 10 * outline.points.len()),
        };
        removed = refine::refine(&mut mesh, &goal)?;
    }
    let mut notes = left_out(&pieces);
    let mesh = collect(mesh, outline, &pieces, &removed);
    notes.extend(not_reached(&mesh, refinement));
    Ok((mesh, notes))
}

fn nothing_enclosed(outline: &Outline) -> Error {
    if outline.segments.is_empty() {
        return no_triangle();
    }
    Error::Invalid {
        element: "the outline".to_owned(),
        rule: "encloses no triangle: its segments must go around an area, or leave them out to triangulate the points"
            .to_owned(),
    }
}

fn check(outline: &Outline, refinement: &Refinement) -> Result<()> {
    for (i, point) in outline.points.iter().enumerate() {
        for coordinate in point.to_array() {
            spade::validate_coordinate(coordinate)
                .map_err(|error| invalid(i, coordinate, error))?;
        }
    }
    let count = outline.points.len();
    for (i, segment) in outline.segments.iter().enumerate() {
        let [a, b] = segment.ends;
        let rule = match (a as usize) < count && (b as usize) < count {
            false => format!("runs from vertex {a} to {b}, but there are {count} vertices"),
            true if a == b => format!("begins and ends at vertex {a}: leave it out"),
            true => continue,
        };
        return Err(Error::Invalid {
            element: format!("segment {i}"),
            rule,
        });
    }
    let is_angle = |angle: &f64| (0.0..=33.0).contains(angle);
    if let Some(angle) = refinement.smallest_angle.filter(|angle| !is_angle(angle)) {
        return Err(Error::Argument(format!(
            "{angle} degrees is no smallest angle that refinement reaches: give 0 to 33, and up to 20.7 to be sure"
        )));
    }
    let is_area = |area: &f64| *area > 0.0;
    match refinement.largest_area.filter(|area| !is_area(area)) {
        None => Ok(()),
        Some(area) => Err(Error::Argument(format!(
            "{area} is no largest area: give one above 0"
        ))),
    }
}

fn load(outline: &Outline) -> Result<Cdt> {
    let points = outline.points.iter();
    let points = points.map(|point| Point2::new(point.x, point.y)).collect();
    let edges = outline
        .segments
        .iter()
        .map(|segment| segment.ends.map(|v| v as usize));
    let mut conflict = None;
    let cdt = Cdt::try_bulk_load_cdt(points, edges.collect(), |edge| {
        conflict = conflict.or(Some(edge));
    })
    .expect("coordinates were validated, and spade has no other error");
    if cdt.num_vertices() < outline.points.len() {
        return Err(repeated_points(&outline.points));
    }
    let Some([a, b]) = conflict else {
        return Ok(cdt);
    };
    let segment = outline.segments.iter().position(|segment| {
        let ends = segment.ends.map(|v| v as usize);
        ends == [a, b] || ends == [b, a]
    });
    Err(crossing(outline, segment.unwrap_or_default()))
}

fn crossing(outline: &Outline, segment: usize) -> Error {
    let [a, b] = outline.segments[segment]
        .ends
        .map(|v| outline.points[v as usize]);
    Error::Invalid {
        element: format!("segment {segment}"),
        rule: format!(
            "from {a} to {b} crosses another segment: put a vertex where they meet, and divide both there"
        ),
    }
}

/// The faces reachable from `open` without crossing a constraint.
fn flood(cdt: &Cdt, open: Vec<FixedFaceHandle<InnerTag>>, mut visit: impl FnMut(usize) -> bool) {
    let mut open = open;
    while let Some(face) = open.pop() {
        for edge in cdt.face(face).adjacent_edges() {
            if !edge.is_constraint_edge()
                && let Some(next) = edge.rev().face().as_inner()
                && visit(next.fix().index())
            {
                open.push(next.fix());
            }
        }
    }
}

/// The face that contains a point.
fn face_at(
    cdt: &Cdt,
    point: DVec2,
    element: impl Fn() -> String,
) -> Result<FixedFaceHandle<InnerTag>> {
    use spade::PositionInTriangulation::{OnEdge, OnFace, OnVertex};
    let refuse = |rule: &str| {
        Err(Error::Invalid {
            element: element(),
            rule: format!("at {point} {rule}"),
        })
    };
    match cdt.locate(Point2::new(point.x, point.y)) {
        OnFace(face) => Ok(face),
        OnEdge(edge) => {
            let edge = cdt.directed_edge(edge);
            let faces = [edge.face(), edge.rev().face()];
            match faces.into_iter().find_map(|face| face.as_inner()) {
                Some(face) if !edge.is_constraint_edge() => Ok(face.fix()),
                _ => refuse("lies on a segment: move it inside"),
            }
        }
        // A vertex without segments.
        OnVertex(vertex) => {
            let vertex = cdt.vertex(vertex);
            let is_free = vertex.out_edges().all(|edge| !edge.is_constraint_edge());
            match vertex.out_edges().find_map(|edge| edge.face().as_inner()) {
                Some(face) if is_free => Ok(face.fix()),
                _ => refuse("lies on a segment: move it inside"),
            }
        }
        _ => refuse("lies outside of the points: move it inside"),
    }
}

/// Whether each face is a triangle inside of the segments and outside of the holes.
fn inside(cdt: &Cdt, outline: &Outline, has_sides: bool) -> Result<Vec<bool>> {
    // Spade's face 0 is the outside of the hull.
    let mut is_kept = vec![true; cdt.num_all_faces()];
    is_kept[0] = false;
    let mut visit = |face: usize| std::mem::replace(&mut is_kept[face], false);
    let mut open = Vec::new();
    if has_sides {
        for edge in cdt.convex_hull() {
            if let Some(face) = edge.rev().face().as_inner()
                && !edge.is_constraint_edge()
                && visit(face.fix().index())
            {
                open.push(face.fix());
            }
        }
    }
    for (i, &hole) in outline.holes.iter().enumerate() {
        let face = face_at(cdt, hole, || format!("hole {i}"))?;
        if visit(face.index()) {
            open.push(face);
        }
    }
    flood(cdt, open, visit);
    Ok(is_kept)
}

fn regions(cdt: &Cdt, outline: &Outline, is_kept: &[bool]) -> Result<Option<Vec<i32>>> {
    if outline.regions.is_empty() {
        return Ok(None);
    }
    let mut of_face: Vec<Option<i32>> = vec![None; is_kept.len()];
    for (i, &(point, region)) in outline.regions.iter().enumerate() {
        let element = || format!("region {i}");
        let face = face_at(cdt, point, element)?;
        if !is_kept[face.index()] {
            return Err(Error::Invalid {
                element: element(),
                rule: format!("at {point} lies in a hole or outside: move it inside"),
            });
        }
        // If two points lie in one region, the first one counts.
        if of_face[face.index()].is_none() {
            of_face[face.index()] = Some(region);
            flood(cdt, vec![face], |face| {
                let is_new = of_face[face].is_none();
                of_face[face].get_or_insert(region);
                is_new
            });
        }
    }
    Ok(Some(
        of_face
            .into_iter()
            .map(|region| region.unwrap_or(0))
            .collect(),
    ))
}

/// Names the bounds that triangles exceed, and the worst value of each.
fn not_reached(mesh: &Triangulation, refinement: &Refinement) -> Vec<String> {
    let corners = mesh
        .triangles
        .iter()
        .map(|t| t.map(|v| mesh.points[v as usize]));
    let mut notes = Vec::new();
    // Tolerance for the rounding of angles and areas.
    const ROUNDING: f64 = 1e-9;
    if let Some(bound) = refinement.largest_area {
        let areas = corners
            .clone()
            .map(|[a, b, c]| (b - a).perp_dot(c - a) / 2.0);
        let large: Vec<f64> = areas.filter(|&a| a > bound * (1.0 + ROUNDING)).collect();
        if !large.is_empty() {
            notes.push(format!(
                "the largest area {bound} is not reached: {} triangles are larger, the largest {}",
                large.len(),
                large.iter().fold(0.0, |a, &b| f64::max(a, b))
            ));
        }
    }
    if let Some(bound) = refinement.smallest_angle {
        let angles = corners.map(smallest_angle);
        let small: Vec<f64> = angles.filter(|&a| a < bound * (1.0 - ROUNDING)).collect();
        if !small.is_empty() {
            notes.push(format!(
                "{} triangles at small angles between segments stay below {bound} degrees, the smallest at {:.3}",
                small.len(),
                small.iter().fold(180.0, |a, &b| f64::min(a, b))
            ));
        }
    }
    notes
}

/// The smallest angle of a triangle, in degrees: the angle opposite to its shortest edge.
fn smallest_angle(corners: [DVec2; 3]) -> f64 {
    let from = |k: usize| [0, 1, 2].map(|i| corners[(k + i) % 3]);
    let length = |[_, b, c]: [DVec2; 3]| b.distance_squared(c);
    let mut shortest = from(0);
    for other in [from(1), from(2)] {
        if length(other) < length(shortest) {
            shortest = other;
        }
    }
    let [a, b, c] = shortest;
    let (u, w) = (b - a, c - a);
    u.perp_dot(w).atan2(u.dot(w)).to_degrees()
}

#[cfg(test)]
mod tests;
