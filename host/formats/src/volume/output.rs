//! Input of the writers of elements of any dimension.

use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use super::elements::Shape;
use crate::undivided;
use trioxide_mesh::fields::{Fields, MeshFields};
use trioxide_mesh::mesh::{Faces, Mesh, Polygons, Segment};
use trioxide_mesh::volume::{Cells, VolumeMesh};
use trioxide_mesh::{Error, Result};

/// Most vertices of files whose numbers of vertices are signed, of 32 bits.
pub(super) const I32_POINTS: usize = i32::MAX as usize;

/// Elements of every dimension to write.
#[derive(Clone, Copy)]
pub(crate) struct Output<'a> {
    pub(super) mesh: &'a VolumeMesh,
    /// Lines with their markers.
    pub(super) lines: &'a [Segment],
    /// Fields of the lines.
    pub(super) line_fields: Option<&'a Fields>,
}

impl Deref for Output<'_> {
    type Target = VolumeMesh;

    fn deref(&self) -> &VolumeMesh {
        self.mesh
    }
}

impl<'a> Output<'a> {
    pub(super) fn of(mesh: &'a VolumeMesh) -> Output<'a> {
        Output {
            mesh,
            lines: &[],
            line_fields: None,
        }
    }

    /// Vertices and tag of element `i` among those of its dimension.
    pub(super) fn element(self, shape: Shape, i: usize) -> (&'a [u32], i32) {
        let Output { mesh, lines, .. } = self;
        match shape {
            Shape::Point => (&[], 0),
            Shape::Line => (&lines[i].ends, lines[i].marker),
            Shape::Face(_) => (mesh.faces.get(i), mesh.face_tags[i]),
            Shape::Cell(_) => {
                let region = mesh.regions.as_ref().map_or(0, |regions| regions[i]);
                (mesh.cells.get(i), region)
            }
        }
    }
}

/// Writes a surface or cloud by `write`, the writer of a format of triangles, quadrilaterals and lines with one tag
/// each.
pub(crate) fn write_surface_by(
    path: &Path,
    mesh: &Mesh,
    write: impl FnOnce(Output) -> Result<()>,
) -> Result<()> {
    write(Output {
        mesh: &elements_of_surface(path, mesh)?,
        lines: &mesh.segments,
        line_fields: Some(&mesh.fields.sides),
    })
}

/// A surface or cloud as a volume mesh without cells.
fn elements_of_surface(path: &Path, mesh: &Mesh) -> Result<VolumeMesh> {
    let refuse = |reason: String| Error::format(path, reason);
    if mesh.points.len() >= I32_POINTS {
        return Err(refuse(format!(
            "{} vertices are more than the format's 32-bit numbers can name: write .vtu",
            mesh.points.len()
        )));
    }
    let mut faces = Polygons::default();
    match &mesh.faces {
        Faces::Triangles(triangles) => {
            faces.offsets = (0..=3 * triangles.len() as u32).step_by(3).collect();
            faces.vertices = triangles.as_flattened().to_vec();
        }
        Faces::Polygons(polygons) => {
            if let Some(i) = polygons.iter().position(|face| face.len() > 4) {
                let holds = "triangles and quadrilaterals only (.off, .obj, .ply, .vtk, .vtp and .vtu hold polygons)";
                return Err(undivided(path, holds, format!("face {i}"), polygons.get(i)));
            }
            faces = polygons.clone();
        }
    }
    let face_tags = match &mesh.regions {
        Some(regions) => regions.clone(),
        None => vec![0; faces.len()],
    };
    Ok(VolumeMesh {
        points: mesh.points.clone(),
        cells: Cells::Tetrahedra(Vec::new()),
        regions: None,
        faces,
        face_tags,
        fields: MeshFields {
            points: mesh.fields.points.clone(),
            sides: mesh.fields.cells.clone(),
            ..MeshFields::default()
        },
        about: Arc::clone(&mesh.about),
    })
}

/// Elements of one shape.
pub(super) enum Selected {
    /// Every cell, or every line.
    All(usize),
    /// The elements with these ids.
    Ids(Vec<u32>),
}

/// The elements of `mesh` that have this shape, in order.
pub(super) fn select(mesh: Output, shape: Shape) -> Selected {
    let Output { mesh, lines, .. } = mesh;
    if let (Cells::Tetrahedra(tetrahedra), Shape::TETRAHEDRON) = (&mesh.cells, shape) {
        return Selected::All(tetrahedra.len());
    }
    let vertices = shape.vertices();
    let ids = |sizes: &mut dyn Iterator<Item = usize>| {
        (0u32..)
            .zip(sizes)
            .filter(|(_, size)| *size == vertices)
            .map(|(i, _)| i)
            .collect()
    };
    Selected::Ids(match (shape, &mesh.cells) {
        (Shape::Line, _) => return Selected::All(lines.len()),
        (Shape::Face(_), _) => ids(&mut mesh.faces.iter().map(<[u32]>::len)),
        (Shape::Cell(_), Cells::Mixed(_)) => ids(&mut mesh.cells.iter().map(<[u32]>::len)),
        _ => Vec::new(),
    })
}

impl Selected {
    pub(super) fn len(&self) -> usize {
        match self {
            Selected::All(count) => *count,
            Selected::Ids(ids) => ids.len(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Vertices and tag of element `k`.
    pub(super) fn element<'a>(&self, mesh: Output<'a>, shape: Shape, k: usize) -> (&'a [u32], i32) {
        let i = match self {
            Selected::All(_) => k,
            Selected::Ids(ids) => ids[k] as usize,
        };
        mesh.element(shape, i)
    }
}
