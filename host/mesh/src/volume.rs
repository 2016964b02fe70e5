//! Volume meshes in host memory.
//!
//! [`VolumeMesh`] is the content of a file: tetrahedra, pyramids, wedges and hexahedra. [`TetMesh`] is input and result
//! of pipelines on tetrahedra. Indices are `u32`. Coordinates are `f64`, independent of the type in a file or on a
//! device.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use glam::DVec3;
use robust::{Coord3D, orient3d};

use crate::about::About;
use crate::error::Conversion;
use crate::fields::MeshFields;
use crate::mesh::{NONE, Polygons, gather};
use crate::parallel;
use crate::{Error, Result};

/// A kind of cell. Vertices are in the order of VTK's code and Gmsh. The number of vertices determines the kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CellKind {
    /// 4 vertices: as seen from the last one, the first three run counter-clockwise.
    Tetrahedron,
    /// 5 vertices: as seen from the last one, the four of the base run counter-clockwise.
    Pyramid,
    /// 6 vertices: a triangle, and the opposite triangle in the same order. As seen from the second triangle, the first
    /// runs counter-clockwise. (VTK's documentation draws wedges the other way round than VTK's code.)
    Wedge,
    /// 8 vertices: a quadrilateral, and the opposite one in the same order.
    Hexahedron,
}

impl CellKind {
    /// The kind of a cell with `vertices` vertices.
    pub fn of(vertices: usize) -> Option<Self> {
        Some(match vertices {
            4 => CellKind::Tetrahedron,
            5 => CellKind::Pyramid,
            6 => CellKind::Wedge,
            8 => CellKind::Hexahedron,
            _ => return None,
        })
    }

    /// Number of vertices.
    pub fn vertices(self) -> usize {
        match self {
            CellKind::Tetrahedron => 4,
            CellKind::Pyramid => 5,
            CellKind::Wedge => 6,
            CellKind::Hexahedron => 8,
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            CellKind::Tetrahedron => "tetrahedron",
            CellKind::Pyramid => "pyramid",
            CellKind::Wedge => "wedge",
            CellKind::Hexahedron => "hexahedron",
        }
    }
}

/// Cells of several kinds as consecutive lists of vertices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MixedCells {
    /// Start of each cell in `vertices`, and the end of the last: one more than the number of cells.
    pub offsets: Vec<u32>,
    /// Vertex ids of all cells.
    pub vertices: Vec<u32>,
}

impl Default for MixedCells {
    /// No cells.
    fn default() -> MixedCells {
        MixedCells {
            offsets: vec![0],
            vertices: Vec::new(),
        }
    }
}

impl MixedCells {
    /// Appends a cell of 4, 5, 6 or 8 vertices.
    pub fn push(&mut self, cell: &[u32]) {
        if self.offsets.is_empty() {
            self.offsets.push(0);
        }
        self.vertices.extend_from_slice(cell);
        self.offsets.push(self.vertices.len() as u32);
    }

    fn range(&self, i: usize) -> Range<usize> {
        self.offsets[i] as usize..self.offsets[i + 1] as usize
    }
}

/// Cells of a [`VolumeMesh`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cells {
    /// Every cell is a tetrahedron.
    Tetrahedra(Vec<[u32; 4]>),
    /// Cells of any kind.
    Mixed(MixedCells),
}

impl Cells {
    /// Number of cells.
    pub fn len(&self) -> usize {
        match self {
            Cells::Tetrahedra(tetrahedra) => tetrahedra.len(),
            Cells::Mixed(cells) => cells.offsets.len().saturating_sub(1),
        }
    }

    /// Whether there is no cell.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Vertices of cell `i`.
    pub fn get(&self, i: usize) -> &[u32] {
        match self {
            Cells::Tetrahedra(tetrahedra) => &tetrahedra[i],
            Cells::Mixed(cells) => &cells.vertices[cells.range(i)],
        }
    }

    /// Vertices of all cells, one after the other.
    pub fn vertices_mut(&mut self) -> &mut [u32] {
        match self {
            Cells::Tetrahedra(tetrahedra) => tetrahedra.as_flattened_mut(),
            Cells::Mixed(cells) => &mut cells.vertices,
        }
    }

    /// Cells `kept` of these.
    fn gather(&self, kept: &[u32]) -> Cells {
        match self {
            Cells::Tetrahedra(list) => Cells::Tetrahedra(gather(list, kept)),
            Cells::Mixed(_) => {
                let mut left = MixedCells::default();
                kept.iter().for_each(|&c| left.push(self.get(c as usize)));
                Cells::Mixed(left)
            }
        }
    }

    /// Vertices of every cell, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u32]> + Clone {
        (0..self.len()).map(|i| self.get(i))
    }
}

/// A volume mesh as a file holds it.
#[derive(Clone, Debug, PartialEq)]
pub struct VolumeMesh {
    /// Vertex coordinates.
    pub points: Vec<DVec3>,
    /// Cells.
    pub cells: Cells,
    /// Region id of each cell.
    pub regions: Option<Vec<i32>>,
    /// Faces with a tag: triangles and quadrilaterals, most often on the boundary.
    pub faces: Polygons,
    /// Tag of each face in `faces`.
    pub face_tags: Vec<i32>,
    /// Other numbers of the points, the cells and the tagged faces.
    pub fields: MeshFields,
    /// Data on the mesh as a whole.
    pub about: Arc<About>,
}

impl VolumeMesh {
    /// Keeps the cells and the tagged faces with these ids, in their order, with their data.
    ///
    /// # Panics
    /// If an id is out of range, or a field or a list of tags has another length than its elements.
    pub fn keep(&mut self, cells: &[u32], faces: &[u32]) {
        self.cells = self.cells.gather(cells);
        self.regions = self.regions.as_deref().map(|list| gather(list, cells));
        self.fields.cells = self.fields.cells.gather(cells);
        let mut left = Polygons::default();
        (faces.iter()).for_each(|&f| left.push(self.faces.get(f as usize)));
        self.faces = left;
        self.face_tags = gather(&self.face_tags, faces);
        self.fields.sides = self.fields.sides.gather(faces);
    }

    /// Converts to a mesh of tetrahedra. Fields and data on the whole are dropped.
    ///
    /// # Errors
    /// [`Error::Unconverted`] when a cell is no tetrahedron or a tagged face no triangle.
    pub fn into_tet_mesh(self) -> Result<TetMesh> {
        let refuse = |reason: String| {
            let conversion = Conversion::Tetrahedra;
            Err(Error::Unconverted { reason, conversion })
        };
        let tetrahedra = match self.cells {
            Cells::Tetrahedra(tetrahedra) => tetrahedra,
            Cells::Mixed(cells) => {
                let cells = Cells::Mixed(cells);
                let mut tetrahedra = Vec::with_capacity(cells.len());
                for (i, cell) in cells.iter().enumerate() {
                    match <[u32; 4]>::try_from(cell) {
                        Ok(tetrahedron) => tetrahedra.push(tetrahedron),
                        Err(_) => {
                            let kind = CellKind::of(cell.len()).map_or("cell", CellKind::name);
                            return refuse(format!(
                                "cell {i} is a {kind}, but this operation takes tetrahedra only"
                            ));
                        }
                    }
                }
                tetrahedra
            }
        };
        let mut faces = Vec::with_capacity(self.faces.len());
        for (i, (face, &tag)) in self.faces.iter().zip(&self.face_tags).enumerate() {
            match <[u32; 3]>::try_from(face) {
                Ok(vertices) => faces.push(TaggedTriangle { vertices, tag }),
                Err(_) => {
                    return refuse(format!(
                        "tagged face {i} has {} vertices, but this operation takes triangles only",
                        face.len()
                    ));
                }
            }
        }
        Ok(TetMesh {
            points: self.points,
            tetrahedra,
            regions: self.regions,
            faces,
        })
    }
}

/// A triangle with a tag, most often on the boundary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaggedTriangle {
    /// Vertex ids.
    pub vertices: [u32; 3],
    /// The file's tag.
    pub tag: i32,
}

/// A mesh of tetrahedra.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TetMesh {
    /// Vertex coordinates.
    pub points: Vec<DVec3>,
    /// Vertex ids: with vertices a, b, c, d, det(b - a, c - a, d - a) is positive.
    pub tetrahedra: Vec<[u32; 4]>,
    /// Region id of each tetrahedron.
    pub regions: Option<Vec<i32>>,
    /// Faces with a tag.
    pub faces: Vec<TaggedTriangle>,
}

impl TetMesh {
    /// Inverts tetrahedra with negative orientation, by swapping their last two vertices. Returns their number.
    ///
    /// Signs are exact. A flat tetrahedron, or one with an index out of range, stays as it is.
    pub fn orient(&mut self) -> usize {
        let points = &self.points;
        let turned = AtomicUsize::new(0);
        parallel::for_chunks_mut(&mut self.tetrahedra, parallel::GRAIN, |_, tetrahedra| {
            let mut count = 0;
            for tetrahedron in tetrahedra {
                let in_range = tetrahedron.iter().all(|&v| (v as usize) < points.len());
                if in_range && orientation(points, tetrahedron) < 0.0 {
                    tetrahedron.swap(2, 3);
                    count += 1;
                }
            }
            turned.fetch_add(count, Relaxed);
        });
        turned.into_inner()
    }
}

/// About six times the volume of a tetrahedron, with the exact sign: positive if det(b - a, c - a, d - a) is positive.
pub fn orientation(points: &[DVec3], tetrahedron: &[u32; 4]) -> f64 {
    let [a, b, c, d] = tetrahedron.map(|v| {
        let DVec3 { x, y, z } = points[v as usize];
        Coord3D { x, y, z }
    });
    // `robust` has Shewchuk's sign, which is the opposite.
    -orient3d(a, b, c, d)
}

impl From<TetMesh> for VolumeMesh {
    fn from(mesh: TetMesh) -> VolumeMesh {
        let mut faces = Polygons::default();
        for face in &mesh.faces {
            faces.push(&face.vertices);
        }
        VolumeMesh {
            points: mesh.points,
            cells: Cells::Tetrahedra(mesh.tetrahedra),
            regions: mesh.regions,
            faces,
            face_tags: mesh.faces.iter().map(|face| face.tag).collect(),
            fields: MeshFields::default(),
            about: Arc::default(),
        }
    }
}

/// Most tetrahedra: each of their six edges has an id below `NONE`.
pub const MOST_TETRAHEDRA: usize = ((u32::MAX - 1) / 6) as usize;

/// Faces of a kind of cell, as places in the cell, each counter-clockwise as seen from outside.
pub fn faces(kind: CellKind) -> &'static [&'static [usize]] {
    match kind {
        CellKind::Tetrahedron => &[&[1, 2, 3], &[0, 3, 2], &[0, 1, 3], &[0, 2, 1]],
        CellKind::Pyramid => &[
            &[0, 3, 2, 1],
            &[0, 1, 4],
            &[1, 2, 4],
            &[2, 3, 4],
            &[3, 0, 4],
        ],
        CellKind::Wedge => &[
            &[0, 2, 1],
            &[3, 4, 5],
            &[0, 1, 4, 3],
            &[1, 2, 5, 4],
            &[2, 0, 3, 5],
        ],
        CellKind::Hexahedron => &[
            &[0, 3, 2, 1],
            &[4, 5, 6, 7],
            &[0, 1, 5, 4],
            &[1, 2, 6, 5],
            &[2, 3, 7, 6],
            &[3, 0, 4, 7],
        ],
    }
}

/// A face's vertices in ascending order. For a triangle the last one is [`NONE`].
pub fn key(face: impl Iterator<Item = u32>) -> [u32; 4] {
    let mut key = [NONE; 4];
    key.iter_mut().zip(face).for_each(|(place, v)| *place = v);
    key.sort_unstable();
    key
}

/// The smallest and the largest coordinates.
pub fn bounds(points: &[DVec3]) -> (DVec3, DVec3) {
    points
        .iter()
        .fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(low, high), &p| {
            (low.min(p), high.max(p))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn corner() -> TetMesh {
        TetMesh {
            points: vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z],
            tetrahedra: vec![[0, 1, 2, 3], [0, 2, 1, 3]],
            regions: Some(vec![1, 2]),
            faces: vec![TaggedTriangle {
                vertices: [0, 2, 1],
                tag: 7,
            }],
        }
    }

    #[test]
    fn orientation_is_that_of_the_determinant() {
        let mut mesh = corner();
        assert!(orientation(&mesh.points, &[0, 1, 2, 3]) > 0.0);
        assert!(orientation(&mesh.points, &[0, 2, 1, 3]) < 0.0);
        assert_eq!(mesh.orient(), 1);
        assert_eq!(mesh.tetrahedra, [[0, 1, 2, 3], [0, 2, 3, 1]]);
        assert_eq!(mesh.orient(), 0);
    }

    #[test]
    fn tetrahedra_pass_through_a_volume_mesh() {
        let mesh = corner();
        let volume = VolumeMesh::from(mesh.clone());
        assert_eq!(volume.clone().into_tet_mesh().unwrap(), mesh);
        let mut cells = MixedCells::default();
        for cell in volume.cells.iter() {
            cells.push(cell);
        }
        let mut mixed = VolumeMesh {
            cells: Cells::Mixed(cells),
            ..volume
        };
        assert_eq!(mixed.clone().into_tet_mesh().unwrap(), mesh);
        if let Cells::Mixed(cells) = &mut mixed.cells {
            cells.push(&[0, 1, 2, 3, 0]);
        }
        let error = mixed.into_tet_mesh().unwrap_err().to_string();
        assert_eq!(
            error,
            "cell 2 is a pyramid, but this operation takes tetrahedra only: divide its cells by `divide::tetrahedra`"
        );
    }
}
