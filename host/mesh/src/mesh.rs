//! Meshes in host memory.
//!
//! [`Mesh`] is the content of a file: points in space and faces of any size. [`Triangulation`] and [`PolygonMesh`] are
//! input and result of the planar pipelines. Indices are `u32`. Coordinates are `f64`, independent of the type in a
//! file or on a device.

mod polylla;

use std::ops::Range;
use std::sync::Arc;

use glam::{DVec2, DVec3};

use crate::about::About;
use crate::error::Conversion;
use crate::fields::{MeshFields, Mix};
use crate::parallel;
use crate::{Error, Result};

pub use crate::prolongation::{Refinement, Simplices};
pub use polylla::{PolyllaCounts, PolyllaLists, PolyllaMesh, Ties};

/// Polygons as consecutive lists of vertices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Polygons {
    /// Start of each polygon in `vertices`, and the end of the last: one more than the number of polygons.
    pub offsets: Vec<u32>,
    /// Vertex ids of all polygons.
    pub vertices: Vec<u32>,
}

impl Default for Polygons {
    /// No polygons.
    fn default() -> Polygons {
        Polygons {
            offsets: vec![0],
            vertices: Vec::new(),
        }
    }
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

impl From<Vec<[u32; 3]>> for Polygons {
    /// Triangles. `u32` must be able to number their corners.
    fn from(triangles: Vec<[u32; 3]>) -> Polygons {
        Polygons {
            offsets: parallel::collect(triangles.len() + 1, |i| 3 * i as u32),
            vertices: triangles.into_flattened(),
        }
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

impl Default for Faces {
    /// No faces.
    fn default() -> Faces {
        Faces::Triangles(Vec::new())
    }
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

    /// The first face that is not a triangle.
    pub fn first_polygon(&self) -> Option<usize> {
        match self {
            Faces::Triangles(_) => None,
            Faces::Polygons(polygons) => {
                parallel::find(polygons.len(), |i| polygons.get(i).len() != 3)
            }
        }
    }

    /// Returns the triangles of a mesh of triangles.
    ///
    /// # Errors
    /// [`Error::Unconverted`] when a face is not a triangle.
    pub fn triangles(&self) -> Result<&[[u32; 3]]> {
        if let Some(i) = self.first_polygon() {
            let corners = self.get(i).len();
            return Err(Error::Unconverted {
                reason: format!(
                    "face {i} has {corners} vertices, but this operation takes triangles only"
                ),
                conversion: Conversion::Triangles,
            });
        }
        Ok(match self {
            Faces::Triangles(triangles) => triangles,
            Faces::Polygons(polygons) => polygons.vertices.as_chunks().0,
        })
    }

    /// As [`Faces::triangles`].
    ///
    /// # Errors
    /// As [`Faces::triangles`].
    pub fn into_triangles(self) -> Result<Vec<[u32; 3]>> {
        match self {
            Faces::Triangles(triangles) => Ok(triangles),
            polygons => polygons.triangles().map(<[_]>::to_vec),
        }
    }

    /// Vertices of face `i`.
    pub fn get(&self, i: usize) -> &[u32] {
        match self {
            Faces::Triangles(triangles) => &triangles[i],
            Faces::Polygons(polygons) => polygons.get(i),
        }
    }
}

/// A constrained or boundary edge of the input, with its marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Vertex ids.
    pub ends: [u32; 2],
    /// The file's marker; 0 if it has none.
    pub marker: i32,
}

/// Attributes of vertices beside their positions. Each array has one element per vertex, or is missing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VertexAttributes {
    /// Normals as in the file, of any length.
    pub normals: Option<Vec<DVec3>>,
    /// Red, green, blue, alpha from 0 to 255; alpha is 255 if the file has none.
    pub colors: Option<Vec<[u8; 4]>>,
    /// Texture coordinates.
    pub uvs: Option<Vec<DVec2>>,
}

impl VertexAttributes {
    /// Attributes of the vertices `ids`, in this order.
    ///
    /// # Panics
    /// When an id is out of range.
    pub fn gather(&self, ids: &[u32]) -> VertexAttributes {
        VertexAttributes {
            normals: (self.normals.as_ref()).map(|normals| gather(normals, ids)),
            colors: (self.colors.as_ref()).map(|colors| gather(colors, ids)),
            uvs: self.uvs.as_ref().map(|uvs| gather(uvs, ids)),
        }
    }

    /// Attributes of vertices made of several old ones: weighted means; colours are rounded.
    ///
    /// # Panics
    /// When a column of `mix` is out of range.
    pub fn mixed(&self, mix: &Mix) -> VertexAttributes {
        let rows = 0..mix.labels().len();
        let mean = |i, value: &dyn Fn(usize) -> f64| mix.mean(i, |v| value(v as usize));
        let normals = self.normals.as_ref().map(|normals| {
            let normal = |i| DVec3::from_array([0, 1, 2].map(|k| mean(i, &|v| normals[v][k])));
            rows.clone().map(normal).collect()
        });
        let colors = self.colors.as_ref().map(|colors| {
            let channel = |i, k: usize| mean(i, &|v| f64::from(colors[v][k])).round() as u8;
            let color = |i| [0, 1, 2, 3].map(|k| channel(i, k));
            rows.clone().map(color).collect()
        });
        let uvs = self.uvs.as_ref().map(|uvs| {
            let uv = |i| DVec2::from_array([0, 1].map(|k| mean(i, &|v| uvs[v][k])));
            rows.clone().map(uv).collect()
        });
        VertexAttributes {
            normals,
            colors,
            uvs,
        }
    }
}

/// The elements `ids` of a list, in this order.
///
/// # Panics
/// When an id is out of range.
pub fn gather<T: Copy + Send + Sync>(list: &[T], ids: &[u32]) -> Vec<T> {
    parallel::map(ids, |&id| list[id as usize])
}

/// A mesh as a file holds it: points in space (z = 0 in planar formats) and faces. Without faces it is a cloud of
/// points.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mesh {
    /// Vertex coordinates.
    pub points: Vec<DVec3>,
    /// Faces.
    pub faces: Faces,
    /// Region id of each face.
    pub regions: Option<Vec<i32>>,
    /// Segments of the input.
    pub segments: Vec<Segment>,
    /// Attributes of the vertices beside their positions.
    pub attributes: VertexAttributes,
    /// Other numbers of the points, the faces and the segments.
    pub fields: MeshFields,
    /// Data on the mesh as a whole. Meshes share it, since no operation changes it.
    pub about: Arc<About>,
}

impl Mesh {
    /// Whether all points have the same z. NaN passes here; operations on planar meshes refuse it.
    pub fn is_planar(&self) -> bool {
        let points = &self.points;
        parallel::all(points, |p| p.z == points[0].z || p.z.is_nan())
    }

    /// Converts to a planar triangulation. Attributes and fields are dropped.
    ///
    /// # Errors
    /// [`Error::Unconverted`] when a face is no triangle, [`Error::Invalid`] when the points do not have the same z.
    pub fn into_triangulation(self) -> Result<Triangulation> {
        let triangles = self.faces.into_triangles()?;
        let points = planar_points(&self.points)?;
        Ok(Triangulation {
            points,
            triangles,
            regions: self.regions,
            segments: self.segments,
        })
    }

    /// Converts to a triangulated surface in space. Attributes and fields are dropped.
    ///
    /// # Errors
    /// [`Error::Unconverted`] when a face is no triangle.
    pub fn into_surface(self) -> Result<Triangulation<DVec3>> {
        Ok(Triangulation {
            points: self.points,
            triangles: self.faces.into_triangles()?,
            regions: self.regions,
            segments: self.segments,
        })
    }

    /// Converts to a planar polygonal mesh. Attributes and fields are dropped.
    ///
    /// # Errors
    /// [`Error::Invalid`] when the points do not have the same z, or `u32` cannot number the corners of the triangles.
    pub fn into_polygon_mesh(self) -> Result<PolygonMesh> {
        let polygons = match self.faces {
            Faces::Polygons(polygons) => polygons,
            Faces::Triangles(triangles) => {
                u32::try_from(3 * triangles.len()).map_err(|_| Error::Invalid {
                    element: "mesh".into(),
                    rule: format!(
                        "has {} triangles, but corners are numbered by 32 bits",
                        triangles.len()
                    ),
                })?;
                triangles.into()
            }
        };
        Ok(PolygonMesh {
            points: planar_points(&self.points)?,
            polygons,
            regions: self.regions,
            segments: self.segments,
        })
    }
}

/// The points without their common z.
fn planar_points(points: &[DVec3]) -> Result<Vec<DVec2>> {
    if let Some(i) = parallel::position(points, |p| !p.z.is_finite()) {
        return Err(Error::not_finite(i));
    }
    if let Some(i) = parallel::position(points, |p| p.z != points[0].z) {
        return Err(Error::Invalid {
            element: format!("vertex {i}"),
            rule: format!(
                "has z = {}, but vertex 0 has z = {}: this operation takes planar meshes only, whose vertices have one z",
                points[i].z, points[0].z
            ),
        });
    }
    Ok(parallel::map(points, |p| p.truncate()))
}

/// The points in the plane z = 0.
fn in_space(points: &[DVec2]) -> Vec<DVec3> {
    parallel::map(points, |p| p.extend(0.0))
}

/// A triangulation of a planar domain, or, with points in space, of a surface.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Triangulation<P = DVec2> {
    /// Vertex coordinates.
    pub points: Vec<P>,
    /// Vertex ids; in the plane counter-clockwise.
    pub triangles: Vec<[u32; 3]>,
    /// Region id of each triangle.
    pub regions: Option<Vec<i32>>,
    /// Segments of the input.
    pub segments: Vec<Segment>,
}

impl From<Triangulation<DVec3>> for Mesh {
    fn from(mesh: Triangulation<DVec3>) -> Mesh {
        Mesh {
            points: mesh.points,
            faces: Faces::Triangles(mesh.triangles),
            regions: mesh.regions,
            segments: mesh.segments,
            ..Mesh::default()
        }
    }
}

impl From<Triangulation> for Mesh {
    fn from(mesh: Triangulation) -> Mesh {
        Mesh {
            points: in_space(&mesh.points),
            faces: Faces::Triangles(mesh.triangles),
            regions: mesh.regions,
            segments: mesh.segments,
            ..Mesh::default()
        }
    }
}

/// A polygonal mesh of a planar domain, or, with points in space, of a surface.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PolygonMesh<P = DVec2> {
    /// Vertex coordinates.
    pub points: Vec<P>,
    /// Polygons; in the plane counter-clockwise.
    pub polygons: Polygons,
    /// Region id of each polygon.
    pub regions: Option<Vec<i32>>,
    /// Sides of polygons that are segments of the input.
    pub segments: Vec<Segment>,
}

impl From<PolygonMesh<DVec3>> for Mesh {
    fn from(mesh: PolygonMesh<DVec3>) -> Mesh {
        Mesh {
            points: mesh.points,
            faces: Faces::Polygons(mesh.polygons),
            regions: mesh.regions,
            segments: mesh.segments,
            ..Mesh::default()
        }
    }
}

impl From<PolygonMesh> for Mesh {
    fn from(mesh: PolygonMesh) -> Mesh {
        Mesh {
            points: in_space(&mesh.points),
            faces: Faces::Polygons(mesh.polygons),
            regions: mesh.regions,
            segments: mesh.segments,
            ..Mesh::default()
        }
    }
}

/// No element: the twin of a boundary side, the half-edge of an unused vertex, the successor of an unlinked half-edge.
pub const NONE: u32 = u32::MAX;

/// A half-edge triangulation (gpolylla-2023, section 4): T triangles, B boundary edges, 3T + B half-edges.
///
/// Half-edges 3t, 3t + 1, 3t + 2 run counter-clockwise around triangle t; half-edge 3t + k starts at its k-th vertex.
/// Half-edges from 3T on are border half-edges: they run along the boundary with the mesh to their right, in the order
/// of their twins' ids. Around a vertex at which boundary loops touch, `next` stays in the same fan of triangles.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HalfEdges {
    /// Vertex that each half-edge starts at; 3T + B.
    pub origin: Vec<u32>,
    /// Half-edge of the same edge in the other direction; 3T + B.
    pub twin: Vec<u32>,
    /// Next half-edge around the triangle, or along the boundary; 3T + B.
    pub next: Vec<u32>,
    /// Previous half-edge around the triangle, or along the boundary; 3T + B.
    pub prev: Vec<u32>,
    /// Smallest half-edge that starts at each vertex, [`NONE`] for a vertex that no triangle uses; V.
    pub of_vertex: Vec<u32>,
    /// T.
    pub triangles: u32,
}

/// A planar triangulation with edges (gpu-longest-edge-bisection-2011, section 3.4): V points, E edges, T triangles.
///
/// Each edge has a direction and belongs to the triangle that runs along it in this direction, counter-clockwise. The
/// triangle on its other side, if there is one, runs along it in reverse. A *side* is an edge with a direction: 2e from
/// the start of edge e to its end, 2e + 1 in reverse.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EdgeTriangulation<P = DVec2> {
    /// Vertex coordinates; V.
    pub points: Vec<P>,
    /// Start and end of each edge, as vertex ids; E.
    pub edges: Vec<[u32; 2]>,
    /// Sides of each triangle, counter-clockwise; T.
    pub triangles: Vec<[u32; 3]>,
    /// Marker of each edge, 0 for none; E, or empty.
    pub tags: Vec<i32>,
}

impl<P> EdgeTriangulation<P> {
    /// Vertex that a side starts at.
    pub fn start(&self, side: u32) -> u32 {
        self.edges[side as usize / 2][side as usize % 2]
    }

    /// Counter-clockwise vertex ids of each triangle, from the start of its first side; T.
    pub fn corners(&self) -> Vec<[u32; 3]> {
        let corners = |sides: &[u32; 3]| sides.map(|side| self.start(side));
        self.triangles.iter().map(corners).collect()
    }
}

impl From<EdgeTriangulation> for Triangulation {
    /// The triangles by their corners. Edges with a tag become segments.
    fn from(mesh: EdgeTriangulation) -> Triangulation {
        let tagged = mesh.edges.iter().zip(&mesh.tags);
        Triangulation {
            triangles: mesh.corners(),
            segments: tagged
                .filter(|(_, tag)| **tag != 0)
                .map(|(&ends, &marker)| Segment { ends, marker })
                .collect(),
            points: mesh.points,
            regions: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A z of NaN once passed as planar, because it was dropped.
    #[test]
    fn a_planar_mesh_has_no_z_that_is_not_finite() {
        for z in [f64::NAN, f64::INFINITY] {
            for bad in 0..3 {
                let mut mesh = Mesh {
                    points: vec![DVec3::ZERO, DVec3::X, DVec3::Y],
                    faces: Faces::Triangles(vec![[0, 1, 2]]),
                    ..Mesh::default()
                };
                mesh.points[bad].z = z;
                let expected = Error::not_finite(bad).to_string();
                let error = mesh.clone().into_triangulation().unwrap_err();
                assert_eq!(error.to_string(), expected);
                let error = mesh.into_polygon_mesh().unwrap_err();
                assert_eq!(error.to_string(), expected);
            }
        }
    }
}
