//! Outlines: the input of a triangulation.

use glam::{DVec2, DVec3};

use crate::fields::Fields;
use crate::mesh::{Mesh, Segment};
use crate::{Error, Result};

/// A part of an outline, up to the segments around it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Region {
    /// A point within.
    pub point: DVec2,
    /// The id of its triangles.
    pub id: i32,
    /// The largest area of its triangles, where vertices are added; without one that of all triangles holds.
    pub largest_area: Option<f64>,
}

impl Region {
    /// A region without an area of its own.
    pub fn new(point: DVec2, id: i32) -> Self {
        Self {
            point,
            id,
            largest_area: None,
        }
    }
}

/// The input of a triangulation: an outline, or any planar straight-line graph.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outline {
    /// Vertices.
    pub points: Vec<DVec2>,
    /// Edges that the triangulation has, whole or in pieces, with their markers.
    pub segments: Vec<Segment>,
    /// A point in each hole.
    pub holes: Vec<DVec2>,
    /// The regions; triangles in none are in region 0.
    pub regions: Vec<Region>,
}

/// Points and segments of a mesh to triangulate, with all that they carry.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OutlineMesh {
    /// Points and segments, with attributes and fields; no faces.
    pub mesh: Mesh,
    /// A point in each hole.
    pub holes: Vec<DVec2>,
    /// The regions; triangles in none are in region 0.
    pub regions: Vec<Region>,
}

/// Refuses segments without two different vertices.
///
/// # Errors
/// [`Error::Invalid`] with the segment and the remedy.
pub fn check_segments(segments: &[Segment], vertices: usize) -> Result<()> {
    let mut numbered = segments.iter().enumerate();
    numbered.try_for_each(|(i, segment)| check_segment(i, segment.ends, vertices))
}

/// As [`check_segments`], for the ends of segments.
///
/// # Errors
/// As [`check_segments`].
pub fn check_ends(segments: &[[u32; 2]], vertices: usize) -> Result<()> {
    let mut numbered = segments.iter().enumerate();
    numbered.try_for_each(|(i, &ends)| check_segment(i, ends, vertices))
}

/// Refuses segment `i` if its ends are not two different vertices.
///
/// # Errors
/// As [`check_segments`].
pub fn check_segment(i: usize, [a, b]: [u32; 2], vertices: usize) -> Result<()> {
    let rule = match (a as usize) < vertices && (b as usize) < vertices {
        false => format!("runs from vertex {a} to {b}, but there are {vertices} vertices"),
        true if a == b => format!("begins and ends at vertex {a}: leave it out"),
        true => return Ok(()),
    };
    Err(Error::Invalid {
        element: format!("segment {i}"),
        rule,
    })
}

impl OutlineMesh {
    /// The points and segments of a mesh, with a sentence if faces are left out.
    pub fn of_mesh(mut mesh: Mesh) -> (Self, Option<String>) {
        let faces = std::mem::take(&mut mesh.faces).len();
        let left_out = (faces > 0).then(|| {
            format!("its {faces} faces are left out: points and segments are triangulated")
        });
        mesh.regions = None;
        mesh.fields.cells = Fields::default();
        let outline = Self {
            mesh,
            ..Self::default()
        };
        (outline, left_out)
    }

    /// Whether there are points and nothing else.
    pub fn is_points_alone(&self) -> bool {
        self.mesh.segments.is_empty() && self.holes.is_empty() && self.regions.is_empty()
    }

    /// Refuses points that do not share one z.
    ///
    /// # Errors
    /// [`Error::Invalid`].
    pub fn check_plane(&self) -> Result<()> {
        let points = &self.mesh.points;
        let first = points.first().copied().unwrap_or(DVec3::ZERO);
        match points.iter().position(|p| p.z != first.z) {
            None => Ok(()),
            Some(i) => Err(Error::Invalid {
                element: format!("vertex {i}"),
                rule: format!(
                    "has z = {}, but vertex 0 has z = {}: an outline that is refined lies in a plane of one z",
                    points[i].z, first.z
                ),
            }),
        }
    }
}

/// The error of points that span no triangle, for this reason.
pub fn no_triangle(reason: &str) -> Error {
    Error::Invalid {
        element: "the points".to_owned(),
        rule: format!(
            "span no triangle: {reason}; give three at least that do not lie on one line"
        ),
    }
}

/// The error of a vertex at the place of another.
pub fn repeated(vertex: u64, other: u64) -> Error {
    Error::Invalid {
        element: format!("vertex {vertex}"),
        rule: format!("lies at the same place as vertex {other}: weld the points first"),
    }
}

/// The error of two segments, with their ends, that cross each other elsewhere than at a point.
pub fn crossing([segment, other]: [u32; 2], [[a, b], [c, d]]: [[DVec2; 2]; 2]) -> Error {
    Error::Invalid {
        element: format!("segment {segment}"),
        rule: format!(
            "from {a} to {b} crosses segment {other} from {c} to {d}: put a vertex where they meet, and divide both \
             there"
        ),
    }
}
