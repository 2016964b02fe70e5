//! `.vtu` files of polyhedra: cells of type 42, with their faces in the arrays `faces` and `faceoffsets`.
//!
//! <https://docs.vtk.org/en/latest/vtk_file_formats/vtkxml_file_format.html>. For each polyhedron `faces` has its
//! number of faces, and for each face its number of vertices and its vertices. `faceoffsets` has the end of each
//! polyhedron in `faces`, and -1 for other cells. The connectivity of a polyhedron lists its vertices. VTK writes
//! another layout from 9.4 on: `polyhedron_to_faces` lists each polyhedron's faces up to its end in
//! `polyhedron_offsets`, `face_connectivity` each face's vertices up to its end in `face_offsets`. Both are read; the
//! first is written. Tagged faces are cells of their own, with the array `marker`. Other
//! arrays of points and cells are fields.

use std::path::Path;

use roxmltree::Node;
use trioxide_mesh::polyhedra::PolyhedralMesh;
use trioxide_mesh::{Result, parallel};

use super::Noted;
use super::listed::{self, Listed, PushFace};
use crate::atomic_file::write_atomically;
use crate::fields::{Joined, RESERVED};
use crate::references::Copies;
use crate::text::Parsed;
use crate::volume::vtk_cells::{POLYHEDRON, find_regions, is_polyhedron};
use crate::volume::vtu::arrays::{Length, array, child, count, fault, named_array};
use crate::volume::vtu::{GHOSTS, Piece, fields, for_pieces, has_cells};
use crate::vtu_array::{Array, Numbers, TAG, index_type};
use crate::vtu_out::{Sections, with_sections as with_grid_sections, write_grid};
use crate::{Encoding, ReadOptions};

pub(super) fn has_polyhedra(path: &Path, options: ReadOptions) -> bool {
    has_cells(path, options, &|types| {
        parallel::any(types, |&kind| is_polyhedron(kind))
    })
}

pub(super) fn read(path: &Path, options: ReadOptions) -> Result<Noted> {
    let mut listed = Listed::default();
    for_pieces(path, options, &mut |piece| push_piece(piece, &mut listed))?;
    let refuse = |reason: String| trioxide_mesh::Error::format(path, reason);
    listed.finish().map_err(refuse)
}

/// Appends a piece. Returns how many numbers it has.
fn push_piece(piece: &Piece, listed: &mut Listed) -> Parsed<usize> {
    let of_points = count(piece.node, "NumberOfPoints")?;
    let points = piece.arrays.points(piece.node, of_points)?;
    let cells = Cells::read(piece)?;
    let is_face = |kind: i64| kind != 0;
    let (regions, name) = find_regions(|name| piece.tags(name, &cells.types, is_face))?;
    let markers = piece.tags("marker", &cells.types, is_face)?;
    let mut skipped = GHOSTS.to_vec();
    skipped.extend(name);
    skipped.push("marker");
    let data = |name| child(piece.node, name).ok();
    let of_points = fields::read(piece.arrays, data("PointData"), of_points, &GHOSTS)?;
    let of_cells = fields::read(piece.arrays, data("CellData"), cells.types.len(), &skipped)?;
    let numbers = listed.push(
        points,
        listed::Cells {
            types: &cells.types,
            vertices: &|i| cells.vertices_of(i),
            faces: &|i, push| cells.pass_faces(i, push),
            regions: regions.as_deref(),
            markers: markers.as_deref(),
            fields: [of_points, of_cells],
        },
    );
    listed.note(fields::left_out(piece.node));
    numbers.map_err(|reason| fault(cells.node, reason))
}

/// The arrays of a piece's cells.
struct Cells<'a, 'b> {
    node: Node<'a, 'b>,
    types: Vec<i64>,
    offsets: Vec<i64>,
    connectivity: Vec<i64>,
    faces: Faces,
    /// Count of the copies of lists: any number of cells may name one face, or one part of a list.
    copies: Copies,
}

/// Faces of the polyhedra.
enum Faces {
    /// No cell is a polyhedron.
    None,
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
    fn read(piece: &Piece<'a, 'b, '_>) -> Parsed<Cells<'a, 'b>> {
        let cells = count(piece.node, "NumberOfCells")?;
        let node = child(piece.node, "Cells")?;
        let numbers = |name: &str, length| piece.arrays.integers(named_array(node, name)?, length);
        let reach = |ends: &[i64]| {
            let reach = ends.iter().copied().max().unwrap_or(0).max(0);
            Length::AtMost(usize::try_from(reach).unwrap_or(0))
        };
        let mut types = numbers("types", Length::Exactly(cells))?;
        let [(_, offsets), (_, connectivity)] = piece.lists(node, cells)?;
        let is_new = array(node, "polyhedron_to_faces").is_some() && array(node, "faces").is_none();
        let faces = if !types.contains(&POLYHEDRON) {
            Faces::None
        } else if is_new {
            let ends = numbers("polyhedron_offsets", Length::Exactly(cells))?;
            let faces = numbers("polyhedron_to_faces", reach(&ends))?;
            let last = faces.iter().copied().max();
            let last = last.map_or(0, |last| last.saturating_add(1));
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
            Faces::None => 0,
            Faces::Streams { numbers, .. } => numbers.len(),
            Faces::Lists {
                vertices, faces, ..
            } => vertices.len() + faces.len(),
        };
        piece.hide_ghosts(&mut types)?;
        Ok(Cells {
            node,
            types,
            offsets,
            faces,
            copies: Copies::new(stored + connectivity.len()),
            connectivity,
        })
    }

    fn vertices_of(&self, i: usize) -> Result<&[i64], String> {
        let vertices = slice(&self.connectivity, &self.offsets, i)?;
        self.copies.count(vertices.len(), vertices.len())?;
        Ok(vertices)
    }

    /// Passes each face of polyhedron `i` to `push`.
    fn pass_faces(&self, i: usize, push: &mut PushFace) -> Result<(), String> {
        match &self.faces {
            Faces::None => Ok(()),
            Faces::Streams { numbers, ends } => {
                let before = ends[..i].iter().rev();
                let start = before.copied().find(|&end| end >= 0).unwrap_or(0);
                let stream = range(numbers, start, ends[i])?;
                self.copies.count(stream.len(), stream.len())?;
                pass_stream(stream, push)
            }
            Faces::Lists {
                vertices,
                face_ends,
                faces,
                ends,
            } => {
                for &face in slice(faces, ends, i)? {
                    let place = usize::try_from(face).ok();
                    let place = place.filter(|&place| place < face_ends.len());
                    let place = place.ok_or_else(|| format!("there is no face {face}"))?;
                    let face = slice(vertices, face_ends, place)?;
                    self.copies.count(1 + face.len(), 1 + face.len())?;
                    push(face)?;
                }
                Ok(())
            }
        }
    }
}

/// The numbers of `list` between two offsets.
fn range(list: &[i64], start: i64, end: i64) -> Result<&[i64], String> {
    let range = usize::try_from(start).ok().zip(usize::try_from(end).ok());
    range
        .and_then(|(start, end)| list.get(start..end))
        .ok_or_else(|| format!("offsets {start} and {end} are outside of their array"))
}

/// Part `i` of `list`, by the end of each part.
fn slice<'l>(list: &'l [i64], ends: &[i64], i: usize) -> Result<&'l [i64], String> {
    range(
        list,
        i.checked_sub(1).map_or(0, |before| ends[before]),
        ends[i],
    )
}

/// Passes the faces in the stream of a polyhedron to `push`: its number of faces, and for each face its number of
/// vertices and its vertices.
pub(super) fn pass_stream(stream: &[i64], push: &mut PushFace) -> Result<(), String> {
    let broken = || "its list of faces is cut off".to_owned();
    let (&count, mut rest) = stream.split_first().ok_or_else(broken)?;
    for _ in 0..count {
        let (&size, behind) = rest.split_first().ok_or_else(broken)?;
        let size = usize::try_from(size).map_err(|_| broken())?;
        let (face, behind) = behind.split_at_checked(size).ok_or_else(broken)?;
        push(face)?;
        rest = behind;
    }
    match rest.is_empty() {
        true => Ok(()),
        false => Err("its list of faces is too long".to_owned()),
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
