//! Data beside a mesh's geometry, from the input of a pipeline to its output.

use std::sync::Arc;

use glam::DVec3;

use super::{MeshFields, Mix};
use crate::about::About;
use crate::mesh::{Mesh, Segment, VertexAttributes};
use crate::prolongation::Prolongation;
use crate::{Result, parallel};

/// Attributes, fields and other data of a surface mesh.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Carried {
    /// Attributes of the vertices.
    pub attributes: VertexAttributes,
    /// Fields of vertices, faces and segments.
    pub fields: MeshFields,
    /// Data on the mesh as a whole.
    pub about: Arc<About>,
    /// The z of all points of a planar mesh, which its points in the plane do not have; 0 of a surface.
    z: f64,
}

impl Carried {
    /// Takes attributes, fields and the rest of the data out of a mesh. The fields must fit it.
    ///
    /// # Errors
    /// [`Invalid`](crate::Error::Invalid) for a field of another length.
    pub fn take(mesh: &mut Mesh) -> Result<Carried> {
        let (points, faces) = (mesh.points.len(), mesh.faces.len());
        mesh.fields.check(points, faces, mesh.segments.len())?;
        let z = mesh.points.first().map_or(0.0, |p| p.z);
        Ok(Carried {
            z: if z != 0.0 && mesh.is_planar() { z } else { 0.0 },
            attributes: std::mem::take(&mut mesh.attributes),
            fields: std::mem::take(&mut mesh.fields),
            about: std::mem::take(&mut mesh.about),
        })
    }

    /// Whether there are no attributes and no fields.
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty() && self.attributes == VertexAttributes::default()
    }

    /// Attributes and fields of a refined mesh. `prolongation` computes values at its vertices, its triangles are parts
    /// of `ancestors`, and its segments are parts of `segments`, by their ids.
    ///
    /// # Panics
    /// When an id is out of range of the original mesh.
    pub fn refined(
        &self,
        prolongation: Prolongation,
        ancestors: &[u32],
        segments: &[u32],
    ) -> Carried {
        if self.is_empty() {
            return self.of_whole();
        }
        let mix = Mix::of_prolongation(prolongation);
        Carried {
            attributes: self.attributes.mixed(&mix),
            fields: self.fields.refined(&mix, ancestors, segments),
            ..self.of_whole()
        }
    }

    /// The data of the mesh as a whole, without those of its elements.
    pub fn of_whole(&self) -> Carried {
        Carried {
            about: Arc::clone(&self.about),
            z: self.z,
            ..Carried::default()
        }
    }

    /// Replaces segments' markers by the segments' numbers, if segments have fields, so that each part keeps its
    /// segment's number. Returns the old markers.
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

    /// Restores the markers. Returns the segment that each part belongs to.
    ///
    /// # Panics
    /// When a marker is no number of [`Carried::number`].
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

    /// Puts the data into a mesh.
    pub fn put(self, mesh: &mut Mesh) {
        mesh.attributes = self.attributes;
        mesh.fields = self.fields;
        mesh.about = self.about;
        if self.z != 0.0 {
            let lift = |_, points: &mut [DVec3]| points.iter_mut().for_each(|p| p.z = self.z);
            parallel::for_chunks_mut(&mut mesh.points, parallel::GRAIN, lift);
        }
    }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;
    use crate::fields::{Field, Values};
    use crate::mesh::Refinement;

    #[test]
    fn parts_have_the_values_of_what_they_are_parts_of() {
        let mut mesh = Mesh {
            points: vec![DVec3::ZERO, DVec3::X],
            segments: vec![Segment {
                ends: [0, 1],
                marker: 7,
            }],
            ..Mesh::default()
        };
        mesh.attributes.normals = Some(vec![DVec3::Z, DVec3::Z]);
        mesh.fields.points.push(Field::scalars("t", vec![2.0, 4.0]));
        mesh.fields.sides.push(Field::scalars("s", vec![9u8]));
        let carried = Carried::take(&mut mesh).unwrap();
        assert!(mesh.fields.is_empty() && !carried.is_empty());
        let markers = carried.number(&mut mesh.segments);
        assert_eq!(mesh.segments[0].marker, 0);
        // Both halves of the segment have its number.
        let mut halves = vec![mesh.segments[0], mesh.segments[0]];
        let parents = Carried::restore(markers, &mut halves);
        assert_eq!((halves[1].marker, &parents[..]), (7, &[0, 0][..]));
        let round = Refinement {
            ends: vec![[0, 1]],
            ..Refinement::default()
        };
        let matrix = Prolongation::of_rounds(2, &[round]);
        let fine = carried.refined(matrix, &[], &parents);
        let of = |field: Option<&Field>| field.unwrap().values.clone();
        assert_eq!(
            of(fine.fields.points.get("t")),
            Values::from(vec![2.0, 4.0, 3.0])
        );
        assert_eq!(of(fine.fields.sides.get("s")), Values::from(vec![9u8, 9]));
        assert_eq!(fine.attributes.normals.unwrap().len(), 3);
    }
}
