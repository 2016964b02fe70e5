//! Meshes of polyhedra in host memory.

mod builder;
mod cells;
mod merge;
mod orient;
mod volumes;

use std::ops::Range;

use glam::DVec3;

use crate::fields::MeshFields;
use crate::mesh::{NONE, Polygons};
use crate::volume::{CellKind, TetMesh, faces};
use crate::{Error, Result};

pub use builder::{PolyhedraBuilder, repeated_vertex};
pub use orient::Oriented;

/// Counts of a run that joins tetrahedra to polyhedra.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PolyhedraCounts {
    /// Regions before the repair: of terminal faces, or cavities.
    pub regions: u32,
    /// Faces with the same region on both sides, before the repair.
    pub barrier_faces: u32,
    /// Regions with such a face, before the repair.
    pub regions_with_barriers: u32,
    /// Barrier faces with a tip, before the repair.
    pub barrier_tips: u32,
    /// Faces with the same polyhedron on both sides, in the result.
    pub barrier_faces_left: u32,
    /// Polyhedra whose surface is no 2-manifold, in the result; `None` if the options disable the search, and for
    /// cavities.
    pub pinched: Option<u32>,
    /// Rounds that split pinched polyhedra.
    pub split_rounds: u32,
    /// Polyhedra.
    pub polyhedra: u32,
    /// Number of tetrahedra of the largest polyhedron.
    pub most_tetrahedra: u32,
}

/// P polyhedra of T tetrahedra: the tetrahedra and the sides of faces of each polyhedron.
///
/// Side 4t + i is the face of tetrahedron t opposite to its vertex i, seen from outside of t.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PolyhedraLists {
    /// Start of each polyhedron's tetrahedra, and the end of the last; P + 1.
    pub tet_offsets: Vec<u32>,
    /// Tetrahedra, ascending for each polyhedron; T.
    pub tets: Vec<u32>,
    /// Start of each polyhedron's sides, and the end of the last; P + 1.
    pub side_offsets: Vec<u32>,
    /// Sides of the surface, ascending for each polyhedron: 2n + 2 for n tetrahedra joined by largest faces, that or
    /// fewer by cavities.
    pub sides: Vec<u32>,
    /// Twin of each side: the same face seen from the other tetrahedron; `NONE` on the boundary; 4T.
    pub twins: Vec<u32>,
    /// Lower side of each tagged triangle.
    pub tagged: Vec<u32>,
    /// Counts of the run.
    pub counts: PolyhedraCounts,
}

impl PolyhedraLists {
    /// Number of polyhedra.
    pub fn len(&self) -> usize {
        self.tet_offsets.len().saturating_sub(1)
    }

    /// Whether there is no polyhedron.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of faces. A face between two polyhedra, or with one polyhedron on both sides, counts once.
    pub fn faces(&self) -> usize {
        let is_lower = |side: &&u32| **side < self.twins[**side as usize];
        // NONE is above every side.
        self.sides.iter().filter(is_lower).count()
    }

    /// Tetrahedra of polyhedron `p`.
    pub fn tets_of(&self, p: usize) -> &[u32] {
        &self.tets[range(&self.tet_offsets, p)]
    }

    /// Sides of polyhedron `p`.
    pub fn sides_of(&self, p: usize) -> &[u32] {
        &self.sides[range(&self.side_offsets, p)]
    }
}

fn range(offsets: &[u32], i: usize) -> Range<usize> {
    offsets[i] as usize..offsets[i + 1] as usize
}

/// Vertices of a side of a tetrahedron, counter-clockwise as seen from outside.
pub fn side_vertices(tetrahedra: &[[u32; 4]], side: u32) -> [u32; 3] {
    let tetrahedron = tetrahedra[side as usize / 4];
    let face = faces(CellKind::Tetrahedron)[side as usize % 4];
    [
        tetrahedron[face[0]],
        tetrahedron[face[1]],
        tetrahedron[face[2]],
    ]
}

/// A face with a tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaggedFace {
    /// The face.
    pub face: u32,
    /// Its tag.
    pub tag: i32,
}

/// A mesh of polyhedra: P of them, F faces.
///
/// A face shared by two polyhedra is stored once. Faces are numbered in the order of their first appearance in the
/// polyhedra.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PolyhedralMesh {
    /// Vertex coordinates.
    pub points: Vec<DVec3>,
    /// Vertices of each face, counter-clockwise as seen from outside of the polyhedron that lists it first; F.
    pub faces: Polygons,
    /// Start of each polyhedron's sides in `sides`, and the end of the last; P + 1.
    pub offsets: Vec<u32>,
    /// Sides of all polyhedra: 2f for face f seen from outside, 2f + 1 for face f seen from inside.
    pub sides: Vec<u32>,
    /// Region id of each polyhedron.
    pub regions: Option<Vec<i32>>,
    /// Faces with a tag.
    pub tagged: Vec<TaggedFace>,
    /// Fields of the points, of the polyhedra (`cells`), and of the tagged faces (`sides`).
    pub fields: MeshFields,
}

impl PolyhedralMesh {
    /// Number of polyhedra.
    pub fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Whether there is no polyhedron.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Sides of polyhedron `p`.
    pub fn sides_of(&self, p: usize) -> &[u32] {
        &self.sides[range(&self.offsets, p)]
    }

    /// Vertices of a side, counter-clockwise as seen from outside of its polyhedron.
    pub fn vertices_of(
        &self,
        side: u32,
    ) -> impl DoubleEndedIterator<Item = u32> + ExactSizeIterator {
        let face = self.faces.get(side as usize / 2);
        let last = face.len() - 1;
        (0..face.len()).map(move |i| face[if side.is_multiple_of(2) { i } else { last - i }])
    }

    /// The polyhedra on both sides of each face: the one that lists it first, and the other one or `NONE`. A face that
    /// a polyhedron lists twice has it on both sides.
    pub fn neighbours(&self) -> Vec<[u32; 2]> {
        let mut neighbours = vec![[NONE; 2]; self.faces.len()];
        for p in 0..self.len() {
            for &side in self.sides_of(p) {
                neighbours[side as usize / 2][side as usize % 2] = p as u32;
            }
        }
        neighbours
    }

    /// The polyhedra of `lists` as a mesh.
    ///
    /// # Errors
    /// [`Error::Invalid`] if 32-bit offsets cannot number the corners of the faces.
    pub fn new(mesh: &TetMesh, lists: &PolyhedraLists) -> Result<Self> {
        let inner = lists.sides.len();
        if 3 * inner > u32::MAX as usize {
            return Err(Error::Invalid {
                element: "the mesh".to_owned(),
                rule: format!("has {inner} sides of faces, more than 32-bit offsets can number"),
            });
        }
        let mut face_of_side = vec![NONE; lists.twins.len()];
        let mut faces = Polygons {
            offsets: vec![0],
            vertices: Vec::with_capacity(2 * inner),
        };
        let mut sides = Vec::with_capacity(inner);
        for &side in &lists.sides {
            let twin = lists.twins[side as usize];
            let known = match twin {
                NONE => NONE,
                twin => face_of_side[twin as usize],
            };
            if known != NONE {
                face_of_side[side as usize] = known;
                sides.push(2 * known + 1);
                continue;
            }
            let face = faces.len() as u32;
            face_of_side[side as usize] = face;
            faces.push(&side_vertices(&mesh.tetrahedra, side));
            sides.push(2 * face);
        }
        let tagged = mesh.faces.iter().zip(&lists.tagged);
        Ok(Self {
            points: mesh.points.clone(),
            faces,
            offsets: lists.side_offsets.clone(),
            sides,
            regions: mesh.regions.as_ref().map(|regions| {
                let first = |p| regions[lists.tets_of(p)[0] as usize];
                (0..lists.len()).map(first).collect()
            }),
            tagged: tagged
                .map(|(triangle, &side)| TaggedFace {
                    face: face_of_side[side as usize],
                    tag: triangle.tag,
                })
                .filter(|tagged| tagged.face != NONE)
                .collect(),
            fields: MeshFields::default(),
        })
    }
}
