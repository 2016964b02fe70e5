//! Outlines: the input of a triangulation.

use glam::{DVec2, DVec3};

use crate::mesh::{Mesh, Segment};
use crate::{Error, Result};

/// The input of a triangulation: an outline, or any planar straight-line graph.
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

impl Outline {
    /// The points and segments of a mesh in the plane.
    ///
    /// # Errors
    /// [`Error::Invalid`] where the points do not share one z.
    pub fn of_mesh(mesh: Mesh) -> Result<Self> {
        let first = mesh.points.first().copied().unwrap_or(DVec3::ZERO);
        if let Some(i) = mesh.points.iter().position(|p| p.z != first.z) {
            return Err(Error::Invalid {
                element: format!("vertex {i}"),
                rule: format!(
                    "has z = {}, but vertex 0 has z = {}: an outline lies in a plane of one z",
                    mesh.points[i].z, first.z
                ),
            });
        }
        Ok(Self {
            points: mesh.points.iter().map(|p| p.truncate()).collect(),
            segments: mesh.segments,
            ..Self::default()
        })
    }
}
