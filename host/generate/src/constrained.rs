use glam::DVec2;
use spade::handles::{FixedFaceHandle, FixedVertexHandle, InnerTag};
use spade::{
    AngleLimit, ConstrainedDelaunayTriangulation, HasPosition, Point2, RefinementParameters,
    Triangulation as _,
};

use super::delaunay::{invalid, repeated_points};
use trioxide_mesh::mesh::{Segment, Triangulation};
use trioxide_mesh::{Error, Result};

/// What is to be triangulated: an outline, or any planar straight-line graph.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outline {
    /// Vertices.
    pub points: Vec<DVec2>,
    /// Edges that the triangulation has, whole or in pieces, with their markers.
    pub segments: Vec<Segment>,
    /// A point in each hole.
    pub holes: Vec<DVec2>,
    /// A point in each region, and the id of its triangles; the others are in region 0.
    pub regions: Vec<(DVec2, i32)>,
}

/// How to triangulate.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Refinement {
    /// Smallest angle of the triangles, in degrees; up to 30 the refinement ends. Angles between segments stay as they are.
    pub smallest_angle: Option<f64>,
    /// Largest area of a triangle.
    pub largest_area: Option<f64>,
    /// Most vertices that refinement may add [default: ten for each of the outline, and a million].
    pub most_vertices: Option<usize>,
    /// Whether triangles outside of the segments are kept, up to the convex hull.
    pub convex: bool,
}

/// A vertex that keeps its number while spade sorts points into its own order; those that refinement adds have none.
struct Site {
    position: Point2<f64>,
    vertex: Option<u32>,
}

impl HasPosition for Site {
    type Scalar = f64;

    fn position(&self) -> Point2<f64> {
        self.position
    }
}

impl From<Point2<f64>> for Site {
    fn from(position: Point2<f64>) -> Site {
        Site {
            position,
            vertex: None,
        }
    }
}

type Cdt = ConstrainedDelaunayTriangulation<Site>;

/// The constrained Delaunay triangulation of an outline, refined on request.
///
/// Without segments it covers the convex hull of the points; with segments what they enclose, less the holes. Vertices are those
/// of the outline in their order, used or not, then the ones that refinement adds. Segments of the result are the pieces of the
/// outline's, in its order, with their markers. There are regions if the outline has some.
///
/// # Errors
/// [`Error::Invalid`] for points that are repeated or out of the range of exact predicates, segments that cross each other, holes
/// and regions without a triangle, and an outline that encloses nothing; [`Error::Argument`] for an angle or an area that is
/// none, and where refinement needs more vertices than it may add.
pub fn triangulate(outline: &Outline, refinement: &Refinement) -> Result<Triangulation> {
    check(outline, refinement)?;
    let mut cdt = load(outline)?;
    let is_refined = refinement.smallest_angle.is_some() || refinement.largest_area.is_some();
    let has_sides = !outline.segments.is_empty() && !refinement.convex;
    if is_refined {
        refine(&mut cdt, outline, refinement, has_sides)?;
    }
    let is_kept = inside(&cdt, outline, has_sides)?;
    if !is_kept.contains(&true) {
        let (element, rule) = match outline.segments.is_empty() {
            true => (
                "the points",
                "span no triangle: give three at least that do not lie on one line",
            ),
            false => (
                "the outline",
                "encloses no triangle: its segments must go around an area, or leave them out to triangulate the points",
            ),
        };
        return Err(Error::Invalid {
            element: element.to_owned(),
            rule: rule.to_owned(),
        });
    }
    let regions = regions(&cdt, outline, &is_kept)?;
    Ok(collect(&cdt, outline, &is_kept, regions))
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
            "{angle} degrees is no smallest angle that refinement reaches: give 0 to 33, and up to 30 to be sure"
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
    let sites = outline.points.iter().zip(0..).map(|(point, vertex)| Site {
        position: Point2::new(point.x, point.y),
        vertex: Some(vertex),
    });
    let edges = outline
        .segments
        .iter()
        .map(|segment| segment.ends.map(|v| v as usize));
    let mut conflict = None;
    let cdt = Cdt::try_bulk_load_cdt(sites.collect(), edges.collect(), |edge| {
        conflict = conflict.or(Some(edge));
    })
    .expect("coordinates were validated, and spade has no other error");
    if cdt.num_vertices() < outline.points.len() {
        return Err(repeated_points(&outline.points));
    }
    let Some([a, b]) = conflict else {
        return Ok(cdt);
    };
    let place = |v: usize| outline.points[v];
    let segment = outline.segments.iter().position(|segment| {
        let ends = segment.ends.map(|v| v as usize);
        ends == [a, b] || ends == [b, a]
    });
    Err(Error::Invalid {
        element: format!("segment {}", segment.unwrap_or_default()),
        rule: format!(
            "from {} to {} crosses another segment: put a vertex where they meet, and divide both there",
            place(a),
            place(b)
        ),
    })
}

fn refine(
    cdt: &mut Cdt,
    outline: &Outline,
    refinement: &Refinement,
    has_sides: bool,
) -> Result<()> {
    let most = refinement.most_vertices;
    let most = most.unwrap_or(1_000_000 + 10 * outline.points.len());
    // Spade leaves out faces by counting segments from outside: right where each segment parts inside and outside.
    let excludes = has_sides && are_sides(cdt, &inside(cdt, outline, has_sides)?);
    let mut parameters = RefinementParameters::<f64>::new()
        .with_max_additional_vertices(most)
        .with_angle_limit(AngleLimit::from_deg(
            refinement.smallest_angle.unwrap_or(0.0),
        ))
        .exclude_outer_faces(excludes);
    if let Some(area) = refinement.largest_area {
        parameters = parameters.with_max_allowed_area(area);
    }
    match cdt.refine(parameters).refinement_complete {
        true => Ok(()),
        false => Err(Error::Argument(format!(
            "the refinement needs more than the {most} vertices that it may add: give a smaller angle, a larger area or more \
             vertices"
        ))),
    }
}

/// Whether each constraint has a triangle that is kept on one of its sides, and none on the other.
fn are_sides(cdt: &Cdt, is_kept: &[bool]) -> bool {
    let kept = |face: spade::handles::FaceHandle<'_, _, _, _, _, _>| {
        face.as_inner()
            .is_some_and(|face| is_kept[face.fix().index()])
    };
    let mut edges = cdt
        .undirected_edges()
        .filter(|edge| edge.is_constraint_edge());
    edges.all(|edge| {
        let edge = edge.as_directed();
        kept(edge.face()) != kept(edge.rev().face())
    })
}

/// The faces that are reached from `open` without crossing a constraint.
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

/// The face at a point.
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
        // One that refinement has put there, or one that no segment ends at.
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

/// Whether each face is a triangle inside of the segments, and in no hole.
fn inside(cdt: &Cdt, outline: &Outline, has_sides: bool) -> Result<Vec<bool>> {
    // Spade's face 0 is what lies outside of the hull.
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
        // Of two points in one region the first counts.
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

/// The mesh of the faces that are kept.
fn collect(
    cdt: &Cdt,
    outline: &Outline,
    is_kept: &[bool],
    regions: Option<Vec<i32>>,
) -> Triangulation {
    let mut points = outline.points.clone();
    let mut ids: Vec<Option<u32>> = cdt.vertices().map(|vertex| vertex.data().vertex).collect();
    let kept = || cdt.inner_faces().filter(|face| is_kept[face.fix().index()]);
    let mut is_used = vec![false; ids.len()];
    for vertex in kept().flat_map(|face| face.vertices()) {
        is_used[vertex.fix().index()] = true;
    }
    for vertex in cdt.vertices() {
        let i = vertex.fix().index();
        if ids[i].is_none() && is_used[i] {
            ids[i] = Some(points.len() as u32);
            let Point2 { x, y } = vertex.position();
            points.push(DVec2::new(x, y));
        }
    }
    let id = |vertex: FixedVertexHandle| ids[vertex.index()].expect("a used vertex has an id");
    let triangles = kept().map(|face| {
        let mut triangle = face.vertices().map(|vertex| id(vertex.fix()));
        let first = (0..3).min_by_key(|&k| triangle[k]).unwrap_or(0);
        triangle.rotate_left(first);
        triangle
    });
    let regions = regions.map(|regions| {
        let faces = kept().map(|face| regions[face.fix().index()]);
        faces.collect()
    });
    let triangles: Vec<[u32; 3]> = triangles.collect();
    let mut segments = Vec::with_capacity(outline.segments.len());
    for segment in &outline.segments {
        pieces(cdt, &ids, segment, &mut segments);
    }
    Triangulation {
        points,
        triangles,
        regions,
        segments,
    }
}

/// The constraints that a segment of the outline became, in its direction.
fn pieces(cdt: &Cdt, ids: &[Option<u32>], segment: &Segment, pieces: &mut Vec<Segment>) {
    // Vertices of the outline keep their order, and with it their handles.
    let [from, to] = segment
        .ends
        .map(|v| FixedVertexHandle::from_index(v as usize));
    let place = |vertex: FixedVertexHandle| {
        let Point2 { x, y } = cdt.vertex(vertex).position();
        DVec2::new(x, y)
    };
    let direction = (place(to) - place(from)).normalize_or_zero();
    let mut at = from;
    while at != to {
        // Points on a segment are rounded: of the constraints, the one that turns least.
        let ahead = cdt
            .vertex(at)
            .out_edges()
            .filter(|edge| edge.is_constraint_edge());
        let turn = |edge: &spade::handles::DirectedEdgeHandle<'_, _, _, _, _>| {
            let next = edge.to().fix();
            (place(next) - place(at)).normalize_or_zero().dot(direction)
        };
        let best = ahead.max_by(|a, b| turn(a).total_cmp(&turn(b)));
        let Some(next) = best
            .filter(|edge| turn(edge) > 0.5)
            .map(|edge| edge.to().fix())
        else {
            return;
        };
        if let (Some(a), Some(b)) = (ids[at.index()], ids[next.index()]) {
            pieces.push(Segment {
                ends: [a, b],
                marker: segment.marker,
            });
        }
        at = next;
    }
}

#[cfg(test)]
mod tests;
