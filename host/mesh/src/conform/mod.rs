//! Conforming meshes from meshes with hanging vertices: an element whose edge or face has vertices of other elements
//! inside gets these vertices. [`crate::contact`] defines "inside".
//!
//! **Faces.** A polygon gets the vertices inside its edges, in their order. A triangle becomes a polygon and is divided
//! by the rule of [`crate::divide`]. So the edge's parts are edges of both sides.
//!
//! **Tetrahedra.** Each face of a tetrahedron has *pieces*: a boundary face that faces of other cells cover has the
//! pieces of these; another face is the polygon of its corners and the vertices inside its edges, divided by the rule
//! of [`crate::divide`], which depends on the polygon alone and so is the same from both of its cells. A tetrahedron
//! with one vertex inside one edge is cut in two. Another one with more than four pieces gets a vertex at the mean of
//! its corners, and becomes a tetrahedron over each piece: its faces are planar and it is convex, so all are positive.
//!
//! Several vertices at one place count once, for the lowest: they are welded first.

#[cfg(test)]
mod tests;
mod tetrahedra;

use std::collections::HashMap;

use glam::DVec3;

use crate::Result;
use crate::contact::{Contacts, EdgeContact};
use crate::divide;
use crate::mesh::{Faces, Mesh, Polygons, Segment};

pub use tetrahedra::tetrahedra;

/// A conforming mesh.
#[derive(Clone, Debug, PartialEq)]
pub struct Conformed<M> {
    /// The mesh. Old vertices come first, in their order.
    pub mesh: M,
    /// The face or cell of the input that each face or cell is a part of.
    pub parents: Vec<u32>,
    /// The vertex of the input that each vertex is; of a new one, the lowest corner of its cell.
    pub vertices: Vec<u32>,
    /// Vertices that lay inside edges and faces of other elements.
    pub hanging: usize,
    /// Vertices that are still inside: of faces that other faces do not cover.
    pub left: usize,
    /// Sentences on parts without a proper shape.
    pub notes: Vec<String>,
}

/// The vertices inside each edge, the smaller end first: of several at one place, the lowest.
struct Inside(HashMap<[u32; 2], Vec<u32>>);

impl Inside {
    fn of(points: &[DVec3], edges: Vec<EdgeContact>) -> Self {
        let point = |v: &u32| points[*v as usize];
        let edges = edges.into_iter().map(|EdgeContact { ends, mut vertices }| {
            vertices.dedup_by(|v, kept| point(v) == point(kept));
            (ends, vertices)
        });
        Self(edges.collect())
    }

    /// Appends the vertices inside the edge from `a` to `b`, in this direction.
    fn append(&self, a: u32, b: u32, to: &mut Vec<u32>) {
        if let Some(vertices) = self.0.get(&[a.min(b), a.max(b)]) {
            match a < b {
                true => to.extend(vertices),
                false => to.extend(vertices.iter().rev()),
            }
        }
    }

    /// Replaces `polygon` by the face's corners with the vertices inside its edges. A vertex that the face has already
    /// is left out.
    fn polygon(&self, face: &[u32], polygon: &mut Vec<u32>) {
        polygon.clear();
        for (k, &a) in face.iter().enumerate() {
            polygon.push(a);
            let before = polygon.len();
            self.append(a, face[(k + 1) % face.len()], polygon);
            let mut kept = before;
            for i in before..polygon.len() {
                if !face.contains(&polygon[i]) {
                    polygon[kept] = polygon[i];
                    kept += 1;
                }
            }
            polygon.truncate(kept);
        }
    }
}

/// Makes a surface or a mesh of the plane conforming. Vertex ids must be in range. Segments become segments of the
/// edges' parts; parts keep the regions and fields of their face or segment.
///
/// # Errors
/// Those of [`divide::triangles()`].
pub fn faces(mesh: Mesh) -> Result<Conformed<Mesh>> {
    let point = |v: u32| mesh.points[v as usize];
    let contacts = Contacts::of_boundary(point, &mesh.faces.boundary());
    let hanging = contacts.inside_edges();
    if hanging == 0 {
        return Ok(Conformed {
            parents: (0..mesh.faces.len() as u32).collect(),
            vertices: (0..mesh.points.len() as u32).collect(),
            mesh,
            hanging,
            left: 0,
            notes: Vec::new(),
        });
    }
    let inside = Inside::of(&mesh.points, contacts.edges);
    let mut polygons = Polygons::default();
    let mut polygon = Vec::new();
    for i in 0..mesh.faces.len() {
        inside.polygon(mesh.faces.get(i), &mut polygon);
        polygons.push(&polygon);
    }
    let is_triangles = matches!(mesh.faces, Faces::Triangles(_));
    let (segments, ids) = inside.segments(&mesh.segments);
    let mut mesh = Mesh {
        faces: Faces::Polygons(polygons),
        segments,
        ..mesh
    };
    mesh.fields.sides = mesh.fields.sides.gather(&ids);
    let (mesh, parents, notes) = if is_triangles {
        let divided = divide::triangles(mesh)?;
        (divided.mesh, divided.parents, divided.notes)
    } else {
        let parents = (0..mesh.faces.len() as u32).collect();
        (mesh, parents, Vec::new())
    };
    Ok(Conformed {
        vertices: (0..mesh.points.len() as u32).collect(),
        mesh,
        parents,
        hanging,
        left: 0,
        notes,
    })
}

impl Inside {
    /// The segments along the edges' parts, and the segment that each is a part of.
    fn segments(&self, segments: &[Segment]) -> (Vec<Segment>, Vec<u32>) {
        let (mut parts, mut ids) = (Vec::new(), Vec::new());
        let mut path = Vec::new();
        for (
            i,
            &Segment {
                ends: [a, b],
                marker,
            },
        ) in (0u32..).zip(segments)
        {
            path.clear();
            path.push(a);
            self.append(a, b, &mut path);
            path.push(b);
            for ends in path.windows(2) {
                parts.push(Segment {
                    ends: [ends[0], ends[1]],
                    marker,
                });
                ids.push(i);
            }
        }
        (parts, ids)
    }
}
