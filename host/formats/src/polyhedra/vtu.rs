//! `.vtu` files of polyhedra: cells of type 42, with their faces in the arrays `faces` and `faceoffsets`.
//!
//! <https://docs.vtk.org/en/latest/vtk_file_formats/vtkxml_file_format.html>. For each polyhedron `faces` has its
//! number of faces, and for each face its number of vertices and its vertices. `faceoffsets` has the end of each
//! polyhedron in `faces`, and -1 for other cells. The connectivity of a polyhedron lists its vertices. VTK writes
//! another layout from 9.4 on: `polyhedron_to_faces` lists each polyhedron's faces up to its end in
//! `polyhedron_offsets`, `face_connectivity` each face's vertices up to its end in `face_offsets`. Both are read; the
//! first, which all versions read, is written. Tagged faces are cells of their own, with the array `marker`. Other
//! arrays of points and cells are fields.

use std::path::Path;

use roxmltree::Node;
use trioxide_mesh::fields::MeshFields;
use trioxide_mesh::polyhedra::{PolyhedraBuilder, PolyhedralMesh, TaggedFace};
use trioxide_mesh::{Result, parallel};

use crate::Encoding;
use crate::atomic_file::write_atomically;
use crate::fields::{Joined, RESERVED, split};
use crate::input::peek_file;
use crate::references::Copies;
use crate::text::{Parsed, check_vertex};
use crate::volume::vtu::arrays::{Arrays, File, Length, array, child, count, fault, named_array};
use crate::volume::vtu::fields;
use crate::vtu_array::{Array, Numbers, TAG, index_type};
use crate::vtu_out::{Sections, with_sections as with_grid_sections, write_grid};

/// VTK's number of a polyhedron.
const POLYHEDRON: i64 = 42;

/// Whether the file at `path` is a `.vtu` file with polyhedra.
pub fn is_polyhedra(path: &Path) -> bool {
    let is_vtu = path
        .extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("vtu"));
    is_vtu && peek_file(path, |file| has_polyhedra(file).unwrap_or(false)).unwrap_or(false)
}

fn has_polyhedra(file: &[u8]) -> Parsed<bool> {
    let file = File::new(file)?;
    let document = file.document()?;
    let root = document.root_element();
    let arrays = Arrays::new(&file, root)?;
    let piece = only_piece(root)?;
    let cells = child(piece, "Cells")?;
    let length = Length::Exactly(count(piece, "NumberOfCells")?);
    let types = arrays.integers(named_array(cells, "types")?, length)?;
    Ok(types.contains(&POLYHEDRON))
}

fn only_piece<'a, 'b>(root: Node<'a, 'b>) -> Parsed<Node<'a, 'b>> {
    child(child(root, "UnstructuredGrid")?, "Piece")
}

/// The polyhedra of a file with one piece.
pub(super) fn parse(file: &[u8]) -> Parsed<PolyhedralMesh> {
    let file = File::new(file)?;
    let document = file.document()?;
    let root = document.root_element();
    let arrays = Arrays::new(&file, root)?;
    let piece = only_piece(root)?;
    let of_points = count(piece, "NumberOfPoints")?;
    let points = arrays.points(piece, of_points)?;
    let cells = Cells::read(&arrays, piece)?;
    let mut builder = PolyhedraBuilder::default();
    let mut tagged = Vec::new();
    let (mut regions, mut markers) = (Vec::new(), Vec::new());
    let region = cells.tags(&arrays, piece, "region")?;
    let marker = cells.tags(&arrays, piece, "marker")?;
    for (i, &kind) in cells.types.iter().enumerate() {
        let vertices = |list: &[i64]| -> Result<Vec<u32>, String> {
            list.iter()
                .map(|&v| check_vertex(v, 0, points.len()))
                .collect()
        };
        let in_cell = |reason: String| fault(cells.node, format!("cell {i}: {reason}"));
        match kind {
            POLYHEDRON => {
                let faces = cells.faces_of(i)?;
                let faces: Result<Vec<Vec<u32>>, String> =
                    faces.into_iter().map(vertices).collect();
                builder.push(&faces.map_err(in_cell)?).map_err(in_cell)?;
                regions.extend(region.as_ref().map(|tags| tags[i]));
            }
            5 | 7 | 9 => {
                tagged.push(vertices(cells.vertices_of(i)?).map_err(in_cell)?);
                markers.push(marker.as_ref().map_or(0, |tags| tags[i]));
            }
            0..=2 => {}
            other => {
                return Err(in_cell(format!(
                    "has type {other}, but a mesh of polyhedra has cells of type {POLYHEDRON} and faces only"
                )));
            }
        }
    }
    let find = |face: &Vec<u32>| {
        let found = builder.find(face);
        found.ok_or_else(|| fault(cells.node, "a tagged face is no face of a polyhedron"))
    };
    let faces: Vec<u32> = tagged.iter().map(find).collect::<Parsed<_>>()?;
    let tagged = faces.into_iter().zip(markers);
    let tagged = tagged.map(|(face, tag)| TaggedFace { face, tag }).collect();
    let fields = cells.fields(&arrays, piece, points.len())?;
    Ok(PolyhedralMesh {
        points,
        regions: region.map(|_| regions),
        tagged,
        fields,
        ..builder.finish()
    })
}

/// The arrays of a piece's cells.
struct Cells<'a, 'b> {
    node: Node<'a, 'b>,
    types: Vec<i64>,
    offsets: Vec<i64>,
    connectivity: Vec<i64>,
    faces: Faces,
    /// Count of the faces' copies: any number of cells may name one face.
    copies: Copies,
}

/// Faces of the polyhedra.
enum Faces {
    /// For each polyhedron the number of its faces, and for each face its number of vertices and its vertices; and the
    /// end of each cell, -1 for none.
    Streams { numbers: Vec<i64>, ends: Vec<i64> },
    /// Vertices of faces and the end of each face; faces of polyhedra and the end of each cell.
    Lists {
        vertices: Vec<i64>,
        face_ends: Vec<i64>,
        faces: Vec<i64>,
        ends: Vec<i64>,
    },
}

impl<'a, 'b> Cells<'a, 'b> {
    fn read(arrays: &Arrays, piece: Node<'a, 'b>) -> Parsed<Cells<'a, 'b>> {
        let cells = count(piece, "NumberOfCells")?;
        let node = child(piece, "Cells")?;
        let numbers = |name: &str, length| arrays.integers(named_array(node, name)?, length);
        let reach = |ends: &[i64]| {
            let reach = ends.iter().copied().max().unwrap_or(0).max(0);
            Length::AtMost(usize::try_from(reach).unwrap_or(0))
        };
        let types = numbers("types", Length::Exactly(cells))?;
        let offsets = numbers("offsets", Length::Exactly(cells))?;
        let connectivity = numbers("connectivity", reach(&offsets))?;
        let is_new = array(node, "polyhedron_to_faces").is_some() && array(node, "faces").is_none();
        let faces = if is_new {
            let ends = numbers("polyhedron_offsets", Length::Exactly(cells))?;
            let faces = numbers("polyhedron_to_faces", reach(&ends))?;
            let last = faces
                .iter()
                .copied()
                .max()
                .map_or(0, |last| last.saturating_add(1));
            let face_ends = numbers("face_offsets", reach(&[last]))?;
            Faces::Lists {
                vertices: numbers("face_connectivity", reach(&face_ends))?,
                face_ends,
                faces,
                ends,
            }
        } else {
            let ends = numbers("faceoffsets", Length::Exactly(cells))?;
            Faces::Streams {
                numbers: numbers("faces", reach(&ends))?,
                ends,
            }
        };
        let stored = match &faces {
            Faces::Streams { numbers, .. } => numbers.len(),
            Faces::Lists {
                vertices, faces, ..
            } => vertices.len() + faces.len(),
        };
        Ok(Cells {
            node,
            types,
            offsets,
            connectivity,
            faces,
            copies: Copies::new(stored),
        })
    }

    /// The slice of `list` from `start` to `end`.
    fn slice<'l>(&self, list: &'l [i64], start: i64, end: i64, i: usize) -> Parsed<&'l [i64]> {
        let range = usize::try_from(start).ok().zip(usize::try_from(end).ok());
        range
            .and_then(|(start, end)| list.get(start..end))
            .ok_or_else(|| {
                fault(
                    self.node,
                    format!("cell {i} has offsets outside of its array"),
                )
            })
    }

    fn vertices_of(&self, i: usize) -> Parsed<&[i64]> {
        let start = i.checked_sub(1).map_or(0, |before| self.offsets[before]);
        self.slice(&self.connectivity, start, self.offsets[i], i)
    }

    /// Faces of polyhedron `i`.
    fn faces_of(&self, i: usize) -> Parsed<Vec<&[i64]>> {
        match &self.faces {
            Faces::Streams { numbers, ends } => {
                let before = ends[..i].iter().rev();
                let start = before.copied().find(|&end| end >= 0).unwrap_or(0);
                self.split(self.slice(numbers, start, ends[i], i)?, i)
            }
            Faces::Lists {
                vertices,
                face_ends,
                faces,
                ends,
            } => {
                let start_of = |ends: &[i64], i: usize| i.checked_sub(1).map_or(0, |i| ends[i]);
                let own = self.slice(faces, start_of(ends, i), ends[i], i)?;
                let face = |&face: &i64| {
                    let place = usize::try_from(face).ok();
                    let place =
                        place
                            .filter(|&place| place < face_ends.len())
                            .ok_or_else(|| {
                                fault(self.node, format!("cell {i}: there is no face {face}"))
                            })?;
                    let start = start_of(face_ends, place);
                    let face = self.slice(vertices, start, face_ends[place], i)?;
                    let counted = self.copies.count(face.len(), face.len());
                    counted.map_err(|reason| fault(self.node, reason))?;
                    Ok(face)
                };
                own.iter().map(face).collect()
            }
        }
    }

    /// The faces in the stream of polyhedron `i`.
    fn split<'l>(&self, stream: &'l [i64], i: usize) -> Parsed<Vec<&'l [i64]>> {
        let broken = || fault(self.node, format!("cell {i}: its list of faces is cut off"));
        let (&count, mut rest) = stream.split_first().ok_or_else(broken)?;
        let mut faces = Vec::new();
        for _ in 0..count {
            let (&size, behind) = rest.split_first().ok_or_else(broken)?;
            let size = usize::try_from(size).map_err(|_| broken())?;
            if size > behind.len() {
                return Err(broken());
            }
            let (face, behind) = behind.split_at(size);
            faces.push(face);
            rest = behind;
        }
        match rest.is_empty() {
            true => Ok(faces),
            false => Err(fault(
                self.node,
                format!("cell {i}: its list of faces is too long"),
            )),
        }
    }

    /// Fields of points, polyhedra and tagged faces.
    fn fields(&self, arrays: &Arrays, piece: Node, points: usize) -> Parsed<MeshFields> {
        let data = |name| child(piece, name).ok();
        let of_points = fields::read(arrays, data("PointData"), points, &[])?;
        let count = self.types.len();
        let of_cells = fields::read(arrays, data("CellData"), count, &["region", "marker"])?;
        let ids = |is_wanted: fn(i64) -> bool| -> Vec<u32> {
            let cells = (0u32..).zip(&self.types);
            let wanted = cells.filter(|&(_, &kind)| is_wanted(kind));
            wanted.map(|(i, _)| i).collect()
        };
        let solid = ids(|kind| kind == POLYHEDRON);
        let tagged = ids(|kind| matches!(kind, 5 | 7 | 9));
        let [cells, sides] = split(of_cells, count, [&solid, &tagged]);
        Ok(MeshFields {
            points: of_points.into_iter().collect(),
            cells,
            sides,
        })
    }

    /// The cells' array of that name, if there is one.
    fn tags(&self, arrays: &Arrays, piece: Node, name: &str) -> Parsed<Option<Vec<i32>>> {
        let data = child(piece, "CellData").ok();
        let Some(node) = data.and_then(|data| array(data, name)) else {
            return Ok(None);
        };
        let values = arrays.integers(node, Length::Exactly(self.types.len()))?;
        let tag = |value: i64| {
            let tag = i32::try_from(value);
            tag.map_err(|_| fault(node, format!("{name} {value} is no 32-bit integer")))
        };
        values.into_iter().map(tag).collect::<Parsed<_>>().map(Some)
    }
}

pub(super) fn write(path: &Path, mesh: &PolyhedralMesh, encoding: Encoding) -> Result<()> {
    with_sections(mesh, !mesh.tagged.is_empty(), |counts, sections| {
        write_atomically(path, |file| write_grid(file, counts, sections, encoding))
    })
}

/// Vertices of polyhedron `p`, ascending.
fn vertices_of(mesh: &PolyhedralMesh, p: usize) -> Vec<u32> {
    let faces = mesh.sides_of(p).iter();
    let mut vertices: Vec<u32> = faces
        .flat_map(|&side| mesh.faces.get(side as usize / 2))
        .copied()
        .collect();
    vertices.sort_unstable();
    vertices.dedup();
    vertices
}

fn running_sum(counts: impl Iterator<Item = usize>) -> Vec<usize> {
    counts
        .scan(0, |sum, count| {
            *sum += count;
            Some(*sum)
        })
        .collect()
}

/// Calls `then` with the counts and the sections of a mesh's file. With `has_markers`, there is an array of markers
/// even if no face is tagged.
///
/// Polyhedra and tags must name all faces that the file needs, as seen from outside of any polyhedron.
pub(crate) fn with_sections<R>(
    mesh: &PolyhedralMesh,
    has_markers: bool,
    then: impl FnOnce(&str, &Sections) -> R,
) -> R {
    let solid = mesh.len();
    let cells = solid + mesh.tagged.len();
    let tagged = |i: usize| mesh.faces.get(mesh.tagged[i - solid].face as usize);
    let corners = parallel::collect(cells, |i| match i < solid {
        true => vertices_of(mesh, i).len(),
        false => tagged(i).len(),
    });
    let ends = running_sum(corners.into_iter());
    let face_ends = running_sum((0..solid).map(|p| {
        let sides = mesh.sides_of(p).iter();
        1 + sides
            .map(|&side| 1 + mesh.faces.get(side as usize / 2).len())
            .sum::<usize>()
    }));
    let vertices = |i: usize, numbers: &mut Numbers| match i < solid {
        true => vertices_of(mesh, i)
            .into_iter()
            .for_each(|v| numbers.integer(v.into())),
        false => tagged(i).iter().for_each(|&v| numbers.integer(v.into())),
    };
    let end = |i: usize, numbers: &mut Numbers| numbers.integer(ends[i] as i64);
    let kind = |i: usize, numbers: &mut Numbers| {
        numbers.integer(match i.checked_sub(solid) {
            None => POLYHEDRON,
            Some(_) if tagged(i).len() == 3 => 5,
            Some(_) => 7,
        });
    };
    let faces = |p: usize, numbers: &mut Numbers| {
        let sides = mesh.sides_of(p);
        numbers.integer(sides.len() as i64);
        for &side in sides {
            let vertices = mesh.vertices_of(side);
            numbers.integer(vertices.len() as i64);
            vertices.for_each(|v| numbers.integer(v.into()));
        }
    };
    let face_end = |i: usize, numbers: &mut Numbers| {
        numbers.integer(face_ends.get(i).map_or(-1, |&end| end as i64));
    };
    let region = |i: usize, numbers: &mut Numbers| {
        let regions = mesh.regions.as_deref().unwrap_or_default();
        numbers.integer(regions.get(i).copied().unwrap_or(0).into());
    };
    let marker = |i: usize, numbers: &mut Numbers| {
        let face = i.checked_sub(solid);
        numbers.integer(face.map_or(0, |face| mesh.tagged[face].tag).into());
    };
    let last = |ends: &[usize]| ends.last().copied().unwrap_or(0);
    let (of_corners, of_faces) = (last(&ends), last(&face_ends));
    let most = mesh.points.len().max(of_corners).max(of_faces);
    let index = index_type(most);
    let of_cells = [
        Array::new(index, "connectivity", [of_corners, cells], &vertices),
        Array::new(index, "offsets", [cells, cells], &end),
        Array::new(("UInt8", 1), "types", [cells, cells], &kind),
        Array::new(index, "faces", [of_faces, solid], &faces),
        Array::new(index, "faceoffsets", [cells, cells], &face_end),
    ];
    let mut data = Vec::new();
    if mesh.regions.is_some() {
        data.push(Array::new(TAG, "region", [cells, cells], &region));
    }
    if has_markers {
        data.push(Array::new(TAG, "marker", [cells, cells], &marker));
    }
    let lists = [&mesh.fields.cells, &mesh.fields.sides];
    let fields = [
        mesh.fields.points.iter().map(Joined::of).collect(),
        Joined::of_two(lists, [solid, mesh.tagged.len()], RESERVED),
    ];
    with_grid_sections(&mesh.points, cells, &of_cells, (data, ""), &fields, then)
}
