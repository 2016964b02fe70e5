//! Meshes of the plane and of space, to be refined.

use glam::{DVec2, DVec3};

use trioxide::fields::Carried;
use trioxide::mesh::{EdgeTriangulation, Mesh, Refinement, Triangulation};
use trioxide::prolongation::Prolongation;

use crate::error::Result;
use crate::input::check_faces;

/// A mesh as it is given: triangles, or triangles over edges.
pub enum Cells<V> {
    /// Triangles over vertices.
    Triangles(Triangulation<V>),
    /// Triangles over edges.
    Edges(EdgeTriangulation<V>),
}

impl<V> Cells<V> {
    /// Points and triangles.
    pub(super) fn sizes(&self) -> (usize, usize) {
        match self {
            Cells::Triangles(mesh) => (mesh.points.len(), mesh.triangles.len()),
            Cells::Edges(mesh) => (mesh.points.len(), mesh.triangles.len()),
        }
    }

    /// Numbers the segments, if they carry fields; gives their markers, if they were replaced.
    pub fn number(&mut self, carried: &Carried) -> Option<Vec<i32>> {
        match self {
            Cells::Triangles(mesh) => carried.number(&mut mesh.segments),
            Cells::Edges(_) => None,
        }
    }

    pub(super) fn regions(&self) -> Option<&[i32]> {
        match self {
            Cells::Triangles(mesh) => mesh.regions.as_deref(),
            Cells::Edges(_) => None,
        }
    }
}

/// A mesh of the plane or of space.
pub enum Dimensions {
    /// Of the plane.
    Plane(Cells<DVec2>),
    /// Of space.
    Space(Cells<DVec3>),
}

/// A mesh that may be refined, with all that it carries.
pub struct Input {
    /// The mesh.
    pub mesh: Dimensions,
    /// Its attributes and fields.
    pub carried: Carried,
    /// Its marks.
    pub marks: Option<Vec<bool>>,
}

impl Input {
    /// A mesh of triangles: of the plane where all z are the same.
    ///
    /// # Errors
    /// A mesh without faces or with others than triangles; a field of another length than the mesh's.
    pub fn new(mut mesh: Mesh) -> Result<Self> {
        check_faces(&mesh)?;
        let carried = Carried::take(&mut mesh)?;
        let mesh = match mesh.is_planar() {
            true => Dimensions::Plane(Cells::Triangles(mesh.into_triangulation()?)),
            false => Dimensions::Space(Cells::Triangles(mesh.into_surface()?)),
        };
        Ok(Self {
            mesh,
            carried,
            marks: None,
        })
    }

    /// Whether it is a mesh of the plane.
    pub fn is_planar(&self) -> bool {
        matches!(self.mesh, Dimensions::Plane(_))
    }

    /// Number of triangles.
    pub fn triangles(&self) -> usize {
        match &self.mesh {
            Dimensions::Plane(mesh) => mesh.sizes().1,
            Dimensions::Space(mesh) => mesh.sizes().1,
        }
    }

    /// A mesh of triangles over edges, with its marks.
    pub fn of_edges(mesh: EdgeTriangulation, marks: Vec<bool>) -> Self {
        Self {
            mesh: Dimensions::Plane(Cells::Edges(mesh)),
            carried: Carried::default(),
            marks: Some(marks),
        }
    }
}

/// Restores fields and segment markers on a refined mesh. The input had this number of `vertices`, and
/// [`Cells::number`] gave its `markers`. `ancestors` and `rounds` map its elements to their parts; they may be empty if
/// nothing is carried.
pub fn with_carried(
    mut mesh: Mesh,
    carried: &Carried,
    markers: Option<Vec<i32>>,
    vertices: usize,
    (ancestors, rounds): (&[u32], &[Refinement]),
) -> Mesh {
    let segments = Carried::restore(markers, &mut mesh.segments);
    let refined = match carried.is_empty() {
        true => carried.of_whole(),
        false => {
            let matrix = Prolongation::of_rounds(vertices, rounds);
            carried.refined(matrix, ancestors, &segments)
        }
    };
    refined.put(&mut mesh);
    mesh
}
