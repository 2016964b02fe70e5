//! Delaunay refinement of triangles within an outline.
//!
//! The triangles become separate half-edges ([`kept()`]), so that refinement ([`refine`](refine::refine)) neither sees
//! nor changes what is outside or in a hole.

use glam::DVec2;

use kept::{collect, kept};
use refine::{LARGEST, LEAST};
use trioxide_mesh::mesh::Triangulation;
pub use trioxide_mesh::outline::Outline;
use trioxide_mesh::{Error, Result};

mod half_edges;
mod kept;
mod refine;

/// How to refine.
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
}

impl Refinement {
    /// Refuses bounds that refinement cannot reach.
    ///
    /// # Errors
    /// [`Error::Argument`].
    pub fn check(&self) -> Result<()> {
        let is_angle = |angle: &f64| (0.0..=33.0).contains(angle);
        if let Some(angle) = self.smallest_angle.filter(|angle| !is_angle(angle)) {
            return Err(Error::Argument(format!(
                "{angle} degrees is no smallest angle that refinement reaches: give 0 to 33, and up to 20.7 to be sure"
            )));
        }
        let is_area = |area: &f64| *area > 0.0;
        match self.largest_area.filter(|area| !is_area(area)) {
            None => Ok(()),
            Some(area) => Err(Error::Argument(format!(
                "{area} is no largest area: give one above 0"
            ))),
        }
    }
}

/// The constrained Delaunay triangulation of an outline, without what its segments and holes leave out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inside {
    /// Triangles, counter-clockwise.
    pub triangles: Vec<[u32; 3]>,
    /// The region of each triangle, if the outline has regions.
    pub regions: Option<Vec<i32>>,
    /// The edges of triangles on segments, segment by segment, each in its direction.
    pub pieces: Vec<[u32; 2]>,
    /// The segment of each piece.
    pub parents: Vec<u32>,
}

/// Adds vertices to the triangles within an outline, with a sentence for each bound that was not reached.
///
/// Vertices are all vertices of the outline in their order, then the added ones. Segments of the result are the
/// parts of the pieces, in their order, with the markers of the outline's.
///
/// # Errors
/// [`Error::Argument`] for bounds that [`Refinement::check`] refuses, and if more vertices are needed than may be
/// added; [`Error::Invalid`] for coordinates out of the range of the refinement's predicates.
pub fn refine(
    outline: &Outline,
    inside: &Inside,
    refinement: &Refinement,
) -> Result<(Triangulation, Vec<String>)> {
    refinement.check()?;
    for (i, point) in outline.points.iter().enumerate() {
        check_range(i, *point)?;
    }
    let (mut mesh, pieces) = kept(outline, inside);
    let most = refinement.most_vertices;
    let goal = refine::Goal {
        angle: refinement.smallest_angle.unwrap_or(0.0),
        area: refinement.largest_area.unwrap_or(f64::INFINITY),
        most: most.unwrap_or(1_000_000 + 10 * outline.points.len()),
    };
    let removed = refine::refine(&mut mesh, &goal)?;
    let mesh = collect(mesh, outline, inside, &pieces, &removed);
    let notes = not_reached(&mesh, refinement);
    Ok((mesh, notes))
}

/// Refuses coordinates whose products overflow or underflow.
fn check_range(vertex: usize, point: DVec2) -> Result<()> {
    let reason = |c: f64| match c.abs() {
        size if size > LARGEST => Some("which is too large to refine at: scale the points"),
        size if size < LEAST && size != 0.0 => {
            Some("which is too near to zero to refine at: make it 0")
        }
        _ => None,
    };
    let fault = |c: f64| Some((c, reason(c)?));
    match point.to_array().into_iter().find_map(fault) {
        None => Ok(()),
        Some((coordinate, reason)) => Err(Error::Invalid {
            element: format!("vertex {vertex}"),
            rule: format!("has the coordinate {coordinate}, {reason}"),
        }),
    }
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
