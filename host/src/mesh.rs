//! Meshes in host memory.
//!
//! [`Mesh`] is what files hold: points in space and faces of any size. [`Triangulation`] and [`PolygonMesh`] are what the
//! planar pipelines take and give. Indices are `u32`; coordinates are `f64`, whatever a file or a device holds.

use std::ops::Range;

use glam::{DVec2, DVec3};

use crate::{Error, Result};

/// Polygons as lists of vertices, one behind the other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Polygons {
    /// Start of each polygon in `vertices`, and the end of the last: one more than there are polygons.
    pub offsets: Vec<u32>,
    /// Vertex ids of all polygons.
    pub vertices: Vec<u32>,
}

impl Polygons {
    /// Number of polygons.
    pub fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Whether there is no polygon.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Vertices of polygon `i`.
    pub fn get(&self, i: usize) -> &[u32] {
        &self.vertices[self.range(i)]
    }

    /// Vertices of every polygon, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u32]> + Clone {
        (0..self.len()).map(|i| self.get(i))
    }

    /// Appends a polygon.
    pub fn push(&mut self, polygon: &[u32]) {
        if self.offsets.is_empty() {
            self.offsets.push(0);
        }
        self.vertices.extend_from_slice(polygon);
        self.offsets.push(self.vertices.len() as u32);
    }

    fn range(&self, i: usize) -> Range<usize> {
        self.offsets[i] as usize..self.offsets[i + 1] as usize
    }
}

/// Faces of a [`Mesh`].
#[derive(Clone, Debug, PartialEq)]
pub enum Faces {
    /// Every face is a triangle.
    Triangles(Vec<[u32; 3]>),
    /// Faces of any size.
    Polygons(Polygons),
}

impl Faces {
    /// Number of faces.
    pub fn len(&self) -> usize {
        match self {
            Faces::Triangles(triangles) => triangles.len(),
            Faces::Polygons(polygons) => polygons.len(),
        }
    }

    /// Whether there is no face.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A constrained or boundary edge of the input, with its marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Vertex ids.
    pub ends: [u32; 2],
    /// The file's marker; 0 where it has none.
    pub marker: i32,
}

/// A mesh as a file holds it: points in space (z = 0 in planar formats) and faces.
#[derive(Clone, Debug, PartialEq)]
pub struct Mesh {
    /// Vertex coordinates.
    pub points: Vec<DVec3>,
    /// Faces.
    pub faces: Faces,
    /// Region id of each face.
    pub regions: Option<Vec<i32>>,
    /// Segments of the input.
    pub segments: Vec<Segment>,
}

impl Mesh {
    /// The planar triangulation that this mesh is.
    ///
    /// # Errors
    /// [`Error::Invalid`] when a face is no triangle or the points do not share one z.
    pub fn into_triangulation(self) -> Result<Triangulation> {
        let triangles = match self.faces {
            Faces::Triangles(triangles) => triangles,
            Faces::Polygons(polygons) => polygons
                .iter()
                .enumerate()
                .map(|(i, face)| {
                    <[u32; 3]>::try_from(face).map_err(|_| Error::Invalid {
                        element: format!("face {i}"),
                        rule: format!(
                            "has {} vertices, but this operation takes triangles only",
                            face.len()
                        ),
                    })
                })
                .collect::<Result<_>>()?,
        };
        if let Some(i) = self
            .points
            .iter()
            .position(|p| p.z != self.points[0].z && !p.z.is_nan())
        {
            return Err(Error::Invalid {
                element: format!("vertex {i}"),
                rule: format!(
                    "has z = {}, but vertex 0 has z = {}: this operation takes planar meshes only",
                    self.points[i].z, self.points[0].z
                ),
            });
        }
        Ok(Triangulation {
            points: self.points.iter().map(|p| p.truncate()).collect(),
            triangles,
            regions: self.regions,
            segments: self.segments,
        })
    }
}

/// A planar triangulation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Triangulation {
    /// Vertex coordinates.
    pub points: Vec<DVec2>,
    /// Counter-clockwise vertex ids.
    pub triangles: Vec<[u32; 3]>,
    /// Region id of each triangle.
    pub regions: Option<Vec<i32>>,
    /// Segments of the input.
    pub segments: Vec<Segment>,
}

impl From<Triangulation> for Mesh {
    fn from(mesh: Triangulation) -> Mesh {
        Mesh {
            points: mesh.points.iter().map(|p| p.extend(0.0)).collect(),
            faces: Faces::Triangles(mesh.triangles),
            regions: mesh.regions,
            segments: mesh.segments,
        }
    }
}

/// A planar polygonal mesh.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PolygonMesh {
    /// Vertex coordinates.
    pub points: Vec<DVec2>,
    /// Counter-clockwise polygons.
    pub polygons: Polygons,
    /// Region id of each polygon.
    pub regions: Option<Vec<i32>>,
}

impl From<PolygonMesh> for Mesh {
    fn from(mesh: PolygonMesh) -> Mesh {
        Mesh {
            points: mesh.points.iter().map(|p| p.extend(0.0)).collect(),
            faces: Faces::Polygons(mesh.polygons),
            regions: mesh.regions,
            segments: Vec::new(),
        }
    }
}
