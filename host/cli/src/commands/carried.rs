//! What a planar mesh has beside its geometry, from the input of a pipeline to its output.

use trioxide::fields::{Fields, MeshFields, Mix};
use trioxide::mesh::{Mesh, Refinement, VertexAttributes};
use trioxide::prolongation::Prolongation;
use trioxide_arguments::note;

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

    /// Those of a refined mesh of `vertices` before the `rounds`, whose triangles are parts of `ancestors`. Fields of segments
    /// are left out, and a note says so.
    pub fn refined(
        &self,
        vertices: usize,
        rounds: &[Refinement],
        ancestors: &[u32],
        quiet: bool,
    ) -> Carried {
        if self.is_empty() {
            return Carried::default();
        }
        let sides: Vec<&str> = self.fields.sides.iter().map(|f| f.name.as_str()).collect();
        if !sides.is_empty() {
            let sides = sides.join(", ");
            note(
                quiet,
                format_args!("fields of segments are not refined, and left out: {sides}"),
            );
        }
        let mix = Mix::of_prolongation(Prolongation::of_rounds(vertices, rounds));
        Carried {
            attributes: self.attributes.mixed(&mix),
            fields: MeshFields {
                points: self.fields.points.mixed(&mix),
                cells: self.fields.cells.gather(ancestors),
                sides: Fields::default(),
            },
        }
    }

    /// Gives them to a mesh.
    pub fn put(self, mesh: &mut Mesh) {
        mesh.attributes = self.attributes;
        mesh.fields = self.fields;
    }
}
