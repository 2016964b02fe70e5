//! Binary files of plain triangles, read in slices: several processes each read some of the rows.

use std::ops::Range;
use std::path::Path;

use glam::DVec3;

pub use super::columns::Triangles;
use super::columns::{TriangleColumns, VertexColumns};
use super::header::{Element, Encoding, Header, Kind, Order, Role};
use crate::input::{Bytes, is_pipe, map_file};
use trioxide_mesh::Result;
use trioxide_mesh::mesh::Segment;

/// A binary file of vertices without attributes and fields, and of triangles with or without regions.
pub struct Slices {
    file: Bytes,
    header: Header,
    endian: Order,
    triangles: TriangleColumns,
    /// Bytes of a vertex.
    size: usize,
}

impl Slices {
    /// Opens the file `path`. `None` for another kind of file, or a faulty one: the caller must read it whole.
    ///
    /// # Errors
    /// [`Error::File`](trioxide_mesh::Error::File) when the file cannot be opened.
    pub fn open(path: &Path) -> Result<Option<Self>> {
        if is_pipe(path) {
            return Ok(None);
        }
        let file = map_file(path)?;
        let Ok(header) = Header::parse(&file) else {
            return Ok(None);
        };
        Ok(Self::with_header(file, header))
    }

    fn with_header(file: Bytes, header: Header) -> Option<Self> {
        let Encoding::Binary(endian) = header.encoding else {
            return None;
        };
        let [vertex, face] = &header.elements[..] else {
            return None;
        };
        let is_named = vertex.name == "vertex" && face.name == "face";
        let is_bare = header.textures.is_empty() && !header.has_stale_segments;
        if !is_named || !is_bare || !is_plain(vertex) || !is_plain(face) {
            return None;
        }
        let mut size = 0;
        for property in &vertex.properties {
            let Kind::Scalar(scalar) = property.kind else {
                return None;
            };
            size += scalar.size();
        }
        let start = vertex.count.checked_mul(size)?.checked_add(header.end)?;
        let triangles = TriangleColumns::new(face, file.get(start..)?, endian)?;
        Some(Self {
            triangles,
            size,
            endian,
            header,
            file,
        })
    }

    fn element(&self, i: usize) -> &Element {
        &self.header.elements[i]
    }

    /// Checks that the file is as long as when it was opened: otherwise its slices are meaningless.
    ///
    /// # Errors
    /// [`Error::File`](trioxide_mesh::Error::File) for a file that became shorter.
    pub fn check(&self) -> Result<()> {
        self.file.check()
    }

    /// Number of vertices.
    pub fn vertices(&self) -> usize {
        self.element(0).count
    }

    /// Number of triangles.
    pub fn triangles(&self) -> usize {
        self.element(1).count
    }

    /// All segments.
    pub fn segments(&self) -> &[Segment] {
        &self.header.segments
    }

    /// Points of a range of vertices.
    ///
    /// # Panics
    /// When the range ends after the last vertex.
    pub fn points(&self, range: Range<usize>) -> Vec<DVec3> {
        assert!(range.end <= self.vertices(), "a range of the vertices");
        let [start, end] = [range.start, range.end].map(|i| self.header.end + i * self.size);
        let columns = VertexColumns {
            element: self.element(0),
            bytes: &self.file[start..end],
            size: self.size,
            endian: self.endian,
        };
        columns.read([false; 3], &mut Vec::new()).0
    }

    /// Corners of a range of triangles, and their regions if the file has them. `None` if one is faulty: reading the
    /// whole file reports the fault.
    ///
    /// # Panics
    /// When the range ends after the last triangle.
    pub fn corners(&self, range: Range<usize>) -> Option<Triangles> {
        assert!(range.end <= self.triangles(), "a range of the triangles");
        let start = self.header.end + self.vertices() * self.size;
        self.triangles
            .read(&self.file[start..], range, self.vertices())
    }
}

/// Whether a slice holds all properties of an element.
fn is_plain(element: &Element) -> bool {
    element.properties.iter().all(|property| {
        matches!(
            property.role,
            Role::Coordinate(_) | Role::Corners | Role::Region
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Encoding;
    use std::sync::Arc;
    use trioxide_mesh::about::About;
    use trioxide_mesh::mesh::{Faces, Mesh, VertexAttributes};

    fn mesh() -> Mesh {
        Mesh {
            points: (0..9).map(|i| DVec3::new(f64::from(i), 0.5, 0.0)).collect(),
            faces: Faces::Triangles((0..7).map(|i| [i, i + 1, i + 2]).collect()),
            regions: Some((0..7).map(|i| i - 3).collect()),
            segments: vec![Segment {
                ends: [3, 4],
                marker: 9,
            }],
            ..Mesh::default()
        }
    }

    fn opened(mesh: &Mesh, encoding: Encoding) -> Option<Slices> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.ply");
        crate::write_encoded(&path, mesh, Some(encoding)).unwrap();
        Slices::open(&path).unwrap()
    }

    #[test]
    fn slices_are_parts_of_the_whole_file() {
        let mesh = mesh();
        let Faces::Triangles(triangles) = &mesh.faces else {
            panic!("triangles")
        };
        for encoding in [Encoding::Binary, Encoding::BigEndian] {
            let slices = opened(&mesh, encoding).unwrap();
            assert_eq!((slices.vertices(), slices.triangles()), (9, 7));
            assert_eq!(slices.segments(), mesh.segments);
            for range in [0..0, 0..7, 2..5, 6..7] {
                assert_eq!(slices.points(range.clone()), mesh.points[range.clone()]);
                let (corners, regions) = slices.corners(range.clone()).unwrap();
                assert_eq!(corners, triangles[range.clone()]);
                assert_eq!(regions.unwrap(), mesh.regions.as_ref().unwrap()[range]);
            }
        }
    }

    #[test]
    fn what_a_slice_would_drop_is_read_whole() {
        let plain = mesh();
        assert!(opened(&plain, Encoding::Text).is_none());
        let mut normals = plain.clone();
        normals.attributes = VertexAttributes {
            normals: Some(vec![DVec3::Z; 9]),
            ..VertexAttributes::default()
        };
        assert!(opened(&normals, Encoding::Binary).is_none());
        let mut textured = plain.clone();
        textured.about = Arc::new(About {
            textures: vec!["skin.png".to_owned()],
            ..About::default()
        });
        assert!(opened(&textured, Encoding::Binary).is_none());
        let mut polygons = plain.clone();
        polygons.regions = None;
        polygons.faces = Faces::default();
        assert!(opened(&polygons, Encoding::Binary).is_none());
    }

    #[test]
    fn a_faulty_triangle_is_left_to_the_reader_of_the_whole_file() {
        let mut mesh = mesh();
        mesh.faces = Faces::Triangles(vec![[0, 1, 2], [0, 1, 77]]);
        mesh.regions = None;
        mesh.segments.clear();
        let slices = opened(&mesh, Encoding::Binary).unwrap();
        assert!(slices.corners(0..1).is_some() && slices.corners(1..2).is_none());
    }
}
