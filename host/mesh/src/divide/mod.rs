//! Faces into triangles, and cells into tetrahedra, without new vertices.
//!
//! | function | divides | rule |
//! | --- | --- | --- |
//! | [`triangles`] | polygons of a surface | the shortest diagonal first: the head of `polygon.rs`, with its proof |
//! | [`tetrahedra`] | pyramids, wedges and hexahedra | the lowest vertex: the head of `cell.rs` |
//!
//! Both are functions of the vertices of a face or cell alone, so neighbours do not wait for one another, and the
//! result is the same for any number of threads. Triangles of one polygon lie in it, whatever its shape; two cells
//! that share a quadrilateral divide it by one diagonal.
//!
//! Parts follow in the order of the faces or cells that they are parts of. The triangles of a polygon begin at their
//! lowest vertex and are in ascending order, so they do not depend on the corner at which the polygon begins; the
//! tetrahedra of a cell are in the order of its faces. Triangles and tetrahedra of the input stay as they are.
//!
//! A part has the region and the fields of its face or cell. Vertices, their data, and segments are those of the
//! input.

mod cell;
mod polygon;
#[cfg(test)]
mod tests;

use crate::fields::MeshFields;
use crate::mesh::{Faces, Mesh, Polygons, gather};
use crate::parallel;
use crate::volume::{CellKind, Cells, VolumeMesh, orientation};
use crate::{Error, Result};

pub use polygon::{Divider, Trouble};

/// A divided mesh.
#[derive(Clone, Debug, PartialEq)]
pub struct Divided<M> {
    /// The mesh.
    pub mesh: M,
    /// The face or cell of the input that each face or cell is a part of.
    pub parents: Vec<u32>,
    /// Sentences on faces and cells without a proper division.
    pub notes: Vec<String>,
}

/// Elements that share a property: their number and the first one.
#[derive(Clone, Copy, Default)]
struct Found {
    count: usize,
    first: usize,
}

impl Found {
    fn add(&mut self, count: usize, element: usize) {
        if self.count == 0 {
            self.first = element;
        }
        self.count += count;
    }

    /// The sentence on these elements, if there are any. `what` is in singular and plural.
    fn note(self, what: [&str; 2], fate: &str, element: &str) -> Option<String> {
        let Found { count, first } = self;
        let what = what[usize::from(count != 1)];
        (count > 0).then(|| format!("{count} {what} {fate} (first: {element} {first})"))
    }

    /// Adds elements that follow.
    fn append(&mut self, other: Found) {
        if other.count > 0 {
            self.add(other.count, other.first);
        }
    }
}

/// The parts of a piece of the elements.
struct Part<T> {
    parts: Vec<T>,
    parents: Vec<u32>,
    found: [Found; 3],
}

impl<T> Default for Part<T> {
    fn default() -> Part<T> {
        Part {
            parts: Vec::new(),
            parents: Vec::new(),
            found: Default::default(),
        }
    }
}

/// Joins pieces in their order.
fn join<T: Send>(mut pieces: Vec<Part<T>>) -> Part<T> {
    let mut found = [Found::default(); 3];
    for piece in &pieces {
        found
            .iter_mut()
            .zip(piece.found)
            .for_each(|(all, its)| all.append(its));
    }
    Part {
        parts: parallel::concat_lists(&mut pieces, |piece| &mut piece.parts),
        parents: parallel::concat_lists(&mut pieces, |piece| &mut piece.parents),
        found,
    }
}

/// Divides the faces of a surface into triangles.
///
/// A face with fewer than three different corners is left out. Where all corners of a face lie on one line, and where
/// an edge of length 0 leaves no choice, triangles have no area. No triangles cover a face once that crosses itself,
/// as seen along its normal: it is divided by diagonals from its lowest vertex, which keeps its sides and so a closed
/// surface closed. `notes` has the numbers of all three.
///
/// # Errors
/// [`Error::Invalid`] for a face with a vertex that does not exist or is not finite; for fields or regions of another
/// length than the mesh's.
pub fn triangles(mesh: Mesh) -> Result<Divided<Mesh>> {
    check_lengths(
        &mesh.fields,
        mesh.regions.as_deref(),
        [mesh.points.len(), mesh.faces.len(), mesh.segments.len()],
    )?;
    let Faces::Polygons(polygons) = &mesh.faces else {
        return Ok(Divided {
            parents: (0..mesh.faces.len() as u32).collect(),
            mesh,
            notes: Vec::new(),
        });
    };
    let pieces = parallel::map_pieces(polygons.len(), parallel::GRAIN, |range| {
        let mut part = Part::default();
        let mut divider = Divider::default();
        let mut positions = Vec::new();
        for i in range {
            let face = polygons.get(i);
            check_ids(mesh.points.len(), "face", i, face)?;
            if let Ok(triangle) = face.try_into() {
                part.parts.push(triangle);
                part.parents.push(i as u32);
                continue;
            }
            let before = part.parts.len();
            positions.clear();
            match divider.divide(&mesh.points, face, &mut positions) {
                Ok(()) => {
                    let triangles = positions.iter().map(|ids| ids.map(|k| face[k]));
                    part.parts.extend(triangles.map(from_lowest));
                    part.found[1].add(divider.flat_triangles(), i);
                }
                Err(Trouble::Few) => part.found[0].add(1, i),
                Err(Trouble::Crosses) => {
                    cell::divide_face(face, |triangle| part.parts.push(triangle));
                    part.found[2].add(1, i);
                }
                Err(Trouble::NotFinite(k)) => return Err(Error::not_finite(face[k] as usize)),
            }
            part.parts[before..].sort_unstable();
            part.parents.resize(part.parts.len(), i as u32);
        }
        Ok(part)
    });
    let part = join(pieces.into_iter().collect::<Result<Vec<_>>>()?);
    let [few, flat, crossing] = part.found;
    let few = few.note(
        [
            "face of fewer than three different corners is",
            "faces of fewer than three different corners are",
        ],
        "left out",
        "face",
    );
    let flat = flat.note(
        ["triangle has", "triangles have"],
        "no area, since corners lie on one line",
        "of face",
    );
    let crossing = crossing.note(
        ["face crosses itself", "faces cross themselves"],
        "as seen along the normal: triangles overlap or turn over",
        "face",
    );
    let notes = few.into_iter().chain(flat).chain(crossing).collect();
    let fields = MeshFields {
        cells: mesh.fields.cells.gather(&part.parents),
        points: mesh.fields.points,
        sides: mesh.fields.sides,
    };
    Ok(Divided {
        mesh: Mesh {
            faces: Faces::Triangles(part.parts),
            regions: (mesh.regions.as_ref()).map(|regions| gather(regions, &part.parents)),
            fields,
            ..mesh
        },
        parents: part.parents,
        notes,
    })
}

/// Divides pyramids, wedges, hexahedra, and tagged quadrilaterals, by diagonals from the lowest vertex.
///
/// Where all tetrahedra of a cell are negative the cell is inside out: they are turned. A cell far from convex, a
/// warped one, can have tetrahedra without a volume or inverted ones beside others: another division would not fit its
/// neighbours, so they stay. `notes` has the numbers of both.
///
/// # Errors
/// [`Error::Invalid`] for a cell or tagged face with a vertex that does not exist, for a cell of an unknown kind, and
/// for fields or regions of another length than the mesh's.
pub fn tetrahedra(mesh: VolumeMesh) -> Result<Divided<VolumeMesh>> {
    check_lengths(
        &mesh.fields,
        mesh.regions.as_deref(),
        [mesh.points.len(), mesh.cells.len(), mesh.faces.len()],
    )?;
    let (faces, tags, face_parents) = divided_faces(&mesh)?;
    let points = &mesh.points;
    let pieces = parallel::map_pieces(mesh.cells.len(), parallel::GRAIN, |range| {
        let mut part = Part::default();
        for i in range {
            let cell = mesh.cells.get(i);
            check_ids(points.len(), "cell", i, cell)?;
            let Some(kind) = CellKind::of(cell.len()) else {
                return Err(invalid(
                    format!("cell {i}"),
                    format!("has {} vertices, but cells have 4, 5, 6 or 8", cell.len()),
                ));
            };
            let before = part.parts.len();
            cell::divide_cell(cell, kind, |tetrahedron| part.parts.push(tetrahedron));
            part.parents.resize(part.parts.len(), i as u32);
            if kind == CellKind::Tetrahedron {
                continue;
            }
            let own = &mut part.parts[before..];
            let volumes = own
                .iter()
                .map(|tetrahedron| orientation(points, tetrahedron));
            let (mut proper, mut inverted, mut flat) = (0, 0, 0);
            for volume in volumes {
                match volume {
                    volume if volume > 0.0 => proper += 1,
                    volume if volume < 0.0 => inverted += 1,
                    _ => flat += 1,
                }
            }
            if proper == 0 && inverted > 0 {
                own.iter_mut()
                    .for_each(|tetrahedron| tetrahedron.swap(2, 3));
                part.found[0].add(1, i);
                inverted = 0;
            }
            part.found[1].add(inverted + flat, i);
        }
        Ok(part)
    });
    let part = join(pieces.into_iter().collect::<Result<Vec<_>>>()?);
    let [turned, bad, _] = part.found;
    let turned = turned.note(["cell is", "cells are"], "inside out, and turned", "cell");
    let bad = bad.note(
        ["tetrahedron is", "tetrahedra are"],
        "inverted or flat, since cells are warped; smoothing can untangle them",
        "of cell",
    );
    let notes = turned.into_iter().chain(bad).collect();
    Ok(Divided {
        mesh: VolumeMesh {
            regions: (mesh.regions.as_ref()).map(|regions| gather(regions, &part.parents)),
            fields: MeshFields {
                cells: mesh.fields.cells.gather(&part.parents),
                sides: mesh.fields.sides.gather(&face_parents),
                points: mesh.fields.points,
            },
            cells: Cells::Tetrahedra(part.parts),
            faces,
            face_tags: tags,
            ..mesh
        },
        parents: part.parents,
        notes,
    })
}

/// The tagged faces of a mesh with triangles only, their tags, and the face that each is a part of.
fn divided_faces(mesh: &VolumeMesh) -> Result<(Polygons, Vec<i32>, Vec<u32>)> {
    let (mut vertices, mut parents) = (Vec::new(), Vec::new());
    for (i, face) in mesh.faces.iter().enumerate() {
        check_ids(mesh.points.len(), "tagged face", i, face)?;
        match <[u32; 3]>::try_from(face) {
            Ok(triangle) => vertices.push(triangle),
            Err(_) => cell::divide_face(face, |triangle| vertices.push(triangle)),
        }
        parents.resize(vertices.len(), i as u32);
    }
    let tags = gather(&mesh.face_tags, &parents);
    Ok((vertices.into(), tags, parents))
}

/// The triangle from its lowest vertex on.
fn from_lowest([a, b, c]: [u32; 3]) -> [u32; 3] {
    match a.min(b).min(c) {
        lowest if lowest == a => [a, b, c],
        lowest if lowest == b => [b, c, a],
        _ => [c, a, b],
    }
}

fn invalid(element: String, rule: String) -> Error {
    Error::Invalid { element, rule }
}

fn check_ids(points: usize, what: &str, i: usize, ids: &[u32]) -> Result<()> {
    match ids.iter().find(|&&v| v as usize >= points) {
        None => Ok(()),
        Some(v) => Err(invalid(
            format!("{what} {i}"),
            format!("has vertex {v}, but the mesh has {points} vertices"),
        )),
    }
}

/// Refuses fields and regions that do not fit the numbers of points, elements and sides.
fn check_lengths(
    fields: &MeshFields,
    regions: Option<&[i32]>,
    [points, elements, sides]: [usize; 3],
) -> Result<()> {
    fields.check(points, elements, sides)?;
    match regions.map(<[i32]>::len) {
        Some(count) if count != elements => Err(invalid(
            "regions".to_owned(),
            format!("have {count} rows: {elements} are needed"),
        )),
        _ => Ok(()),
    }
}
