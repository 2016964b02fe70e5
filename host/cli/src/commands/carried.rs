//! What a planar mesh has beside its geometry, from the input of a pipeline to its output.

use trioxide::fields::{MeshFields, Mix};
use trioxide::mesh::{Mesh, Refinement, Segment, VertexAttributes};
use trioxide::prolongation::Prolongation;

/// Attributes and fields of a mesh.
#[derive(Default)]
pub struct Carried {
    /// Of the vertices.
    pub attributes: VertexAttributes,
    /// Of vertices, faces and segments.
    pub fields: MeshFields,
}

impl Carried {
    /// Takes them out of a mesh, whose fields must fit it.
    ///
    /// # Errors
    /// [`Invalid`](trioxide::Error::Invalid) for a field of another length.
    pub fn take(mesh: &mut Mesh) -> trioxide::Result<Carried> {
        let (points, faces) = (mesh.points.len(), mesh.faces.len());
        mesh.fields.check(points, faces, mesh.segments.len())?;
        Ok(Carried {
            attributes: std::mem::take(&mut mesh.attributes),
            fields: std::mem::take(&mut mesh.fields),
        })
    }

    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty() && self.attributes == VertexAttributes::default()
    }

    /// Those of a refined mesh of `vertices` before the `rounds`, whose triangles are parts of `ancestors`, and whose segments of
    /// the `segments`, by their ids.
    pub fn refined(
        &self,
        vertices: usize,
        rounds: &[Refinement],
        ancestors: &[u32],
        segments: &[u32],
    ) -> Carried {
        if self.is_empty() {
            return Carried::default();
        }
        let mix = Mix::of_prolongation(Prolongation::of_rounds(vertices, rounds));
        Carried {
            attributes: self.attributes.mixed(&mix),
            fields: MeshFields {
                points: self.fields.points.mixed(&mix),
                cells: self.fields.cells.gather(ancestors),
                sides: self.fields.sides.gather(segments),
            },
        }
    }

    /// Numbers the segments, where they have fields: a marker is then the place of the segment that a part comes from. Gives the
    /// markers that they had.
    pub fn number(&self, segments: &mut [Segment]) -> Option<Vec<i32>> {
        if self.fields.sides.is_empty() {
            return None;
        }
        let numbered = segments.iter_mut().zip(0..);
        Some(
            numbered
                .map(|(s, i)| std::mem::replace(&mut s.marker, i))
                .collect(),
        )
    }

    /// Puts the markers back; gives the segment that each is a part of.
    pub fn restore(markers: Option<Vec<i32>>, segments: &mut [Segment]) -> Vec<u32> {
        let Some(markers) = markers else {
            return Vec::new();
        };
        let restored = segments.iter_mut().map(|segment| {
            let parent = segment.marker as u32;
            segment.marker = markers[parent as usize];
            parent
        });
        restored.collect()
    }

    /// Gives them to a mesh.
    pub fn put(self, mesh: &mut Mesh) {
        mesh.attributes = self.attributes;
        mesh.fields = self.fields;
    }
}
