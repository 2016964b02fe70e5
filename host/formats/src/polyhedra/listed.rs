//! Polyhedra as VTK's formats list them: beside other cells, in pieces, and with faces in any direction.
//!
//! Tetrahedra, pyramids, wedges, hexahedra, voxels and prisms become polyhedra by their faces, those of higher order by
//! their corners. Faces are tagged faces; lines are left out. All keep the order of the file. Vertices that pieces
//! share, by equal coordinates, become one.

use std::collections::HashMap;

use glam::DVec3;
use trioxide_mesh::fields::Field;
use trioxide_mesh::mesh::Polygons;
use trioxide_mesh::polyhedra::{PolyhedraBuilder, PolyhedralMesh};
use trioxide_mesh::volume::{self, CellKind};

use super::Noted;
use crate::text::check_vertex;
use crate::volume::elements::Shape;
use crate::volume::grid_fields::GridFields;
use crate::volume::vtk_cells::{POLYHEDRON, arrange};

/// The cells of a piece.
pub(super) struct Cells<'a> {
    /// VTK's types.
    pub(super) types: &'a [i64],
    /// Vertices of a cell that is no polyhedron.
    pub(super) vertices: &'a dyn Fn(usize) -> Result<&'a [i64], String>,
    /// Passes the vertices of each face of a polyhedron to a function.
    pub(super) faces: &'a dyn Fn(usize, &mut PushFace) -> Result<(), String>,
    pub(super) regions: Option<&'a [i32]>,
    pub(super) markers: Option<&'a [i32]>,
    /// Fields of the points and of the cells.
    pub(super) fields: [Vec<Field>; 2],
}

pub(super) type PushFace<'p> = dyn FnMut(&[i64]) -> Result<(), String> + 'p;

/// The pieces of a file so far.
#[derive(Default)]
pub(super) struct Listed {
    points: Vec<DVec3>,
    pieces: usize,
    seams: Seams,
    builder: PolyhedraBuilder,
    has_regions: bool,
    regions: Vec<i32>,
    tagged: Polygons,
    tags: Vec<i32>,
    fields: GridFields,
    /// The file's cell of each polyhedron and of each tagged face.
    sources: [Vec<u32>; 3],
    /// Names of fields that not all pieces have.
    lost: Vec<String>,
    lines: usize,
    points_alone: usize,
    curved: usize,
    /// Notes on parts of pieces, each once.
    notes: Vec<String>,
}

impl Listed {
    /// Adds a note on a part of a piece.
    pub(super) fn note(&mut self, note: Option<String>) {
        let is_new = |note: &String| !self.notes.contains(note);
        let note = note.filter(is_new);
        self.notes.extend(note);
    }

    /// Appends a piece. Returns how many numbers it has.
    pub(super) fn push(&mut self, points: Vec<DVec3>, cells: Cells) -> Result<usize, String> {
        let (before, corners) = (
            self.points.len(),
            self.builder.corners() + self.tagged.vertices.len(),
        );
        let Cells {
            types,
            fields: [of_points, of_cells],
            ..
        } = &cells;
        let (ids, kept) = self.add_points(&points);
        if self.points.len() >= u32::MAX as usize {
            return Err("more vertices than 32-bit indices can name".to_owned());
        }
        let of_points: Vec<Field> = match kept.len() == points.len() {
            true => of_points.clone(),
            false => of_points.iter().map(|field| field.gather(&kept)).collect(),
        };
        let fields = GridFields {
            points: of_points,
            elements: of_cells.clone(),
            count: types.len(),
            ..GridFields::default()
        };
        let mut sources: [Vec<u32>; 3] = Default::default();
        let index = |v: &i64| check_vertex(*v, 0, ids.len()).map(|v| ids[v as usize]);
        let mut found: Vec<u32> = Vec::new();
        for (i, &kind) in types.iter().enumerate() {
            let in_cell = |reason: String| format!("cell {i}: {reason}");
            found.clear();
            let is_solid = match kind {
                // A ghost.
                0 => continue,
                1 | 2 => {
                    self.points_alone += 1;
                    continue;
                }
                POLYHEDRON => {
                    let builder = &mut self.builder;
                    let mut push = |face: &[i64]| -> Result<(), String> {
                        found.clear();
                        for v in face {
                            found.push(index(v)?);
                        }
                        let pushed = builder.push_face(found.iter().copied());
                        pushed.map_err(|error| error.to_string())
                    };
                    (cells.faces)(i, &mut push).map_err(in_cell)?;
                    true
                }
                _ => {
                    for v in (cells.vertices)(i)? {
                        found.push(index(v).map_err(in_cell)?);
                    }
                    self.push_cell(i, kind, &mut found, &cells)?
                }
            };
            if is_solid {
                self.builder
                    .end()
                    .map_err(|error| in_cell(error.to_string()))?;
                self.regions.push(cells.regions.map_or(0, |tags| tags[i]));
                sources[0].push(i as u32);
            }
            let tagged = self.tagged.len() - self.sources[1].len() - sources[1].len();
            sources[1].extend((0..tagged).map(|_| i as u32));
        }
        self.has_regions |= cells.regions.is_some();
        let counts = [before, kept.len()];
        let numbers = 3 * points.len()
            + fields.numbers()
            + self.builder.corners()
            + self.tagged.vertices.len()
            - corners;
        self.lost.extend(
            self.fields
                .append(fields, counts, &mut self.sources, &sources),
        );
        self.pieces += 1;
        Ok(numbers)
    }

    /// Appends the faces of a cell that is no polyhedron, or a tagged face. Returns whether it is a cell.
    fn push_cell(
        &mut self,
        i: usize,
        kind: i64,
        found: &mut Vec<u32>,
        cells: &Cells,
    ) -> Result<bool, String> {
        let in_cell = |reason: String| format!("cell {i}: {reason}");
        let mut push = |face: &mut dyn Iterator<Item = u32>| {
            let pushed = self.builder.push_face(face);
            pushed.map_err(|error| in_cell(error.to_string()))
        };
        let prism = match kind {
            15 => 5,
            16 => 6,
            _ => 0,
        };
        if prism > 0 {
            if found.len() != 2 * prism {
                let count = found.len();
                return Err(in_cell(format!(
                    "a prism over {prism} vertices has {count} vertices"
                )));
            }
            let (base, top) = found.split_at(prism);
            push(&mut base.iter().rev().copied())?;
            push(&mut top.iter().copied())?;
            for k in 0..prism {
                let next = (k + 1) % prism;
                push(&mut [base[k], base[next], top[next], top[k]].into_iter())?;
            }
            return Ok(true);
        }
        let (shape, corners) = arrange(i, kind, found)?;
        self.curved += usize::from(corners < found.len());
        match shape {
            Shape::Cell(kind) => {
                let cell = &found[..CellKind::vertices(kind)];
                for face in volume::faces(kind) {
                    push(&mut face.iter().map(|&k| cell[k]))?;
                }
                return Ok(true);
            }
            Shape::Face(vertices) => {
                let tags = cells.markers.or(cells.regions);
                for face in found[..corners].chunks(vertices) {
                    self.tagged.push(face);
                    self.tags.push(tags.map_or(0, |tags| tags[i]));
                }
            }
            Shape::Line => self.lines += 1,
            Shape::Point => {}
        }
        Ok(false)
    }

    /// Adds a piece's points. Returns the id of each, and the places of the points that earlier pieces do not have.
    fn add_points(&mut self, points: &[DVec3]) -> (Vec<u32>, Vec<u32>) {
        let begin = self.points.len() as u32;
        let all = 0..points.len() as u32;
        if self.pieces == 0 {
            self.points.extend_from_slice(points);
            return (all.clone().collect(), all.collect());
        }
        if self.pieces == 1 {
            self.seams.add(&self.points, 0);
        }
        let (mut ids, mut kept) = (Vec::with_capacity(points.len()), Vec::new());
        for (place, &point) in all.zip(points) {
            let id = self.seams.find(point, self.pieces).unwrap_or_else(|| {
                self.points.push(point);
                kept.push(place);
                self.points.len() as u32 - 1
            });
            ids.push(id);
        }
        self.seams.add(&self.points[begin as usize..], begin);
        (ids, kept)
    }

    /// The mesh, and notes on the parts that were turned or left out.
    pub(super) fn finish(self) -> Result<Noted, String> {
        let said = |error: trioxide_mesh::Error| error.to_string();
        let mut notes = self.builder.notes();
        let mut mesh = PolyhedralMesh {
            points: self.points,
            ..self.builder.finish().map_err(said)?
        };
        notes.extend(mesh.orient().map_err(said)?.notes());
        let (tagged, kept, note) = mesh.tag_faces(&self.tagged, &self.tags);
        notes.extend(note);
        let [cells, faces, _] = self.sources;
        let faces = kept.iter().map(|&i| faces[i as usize]).collect();
        mesh.tagged = tagged;
        mesh.regions = self.has_regions.then_some(self.regions);
        mesh.fields = self.fields.into_mesh_fields([&cells, &faces]);
        if self.lines > 0 {
            let lines = self.lines;
            notes.push(format!(
                "a mesh of polyhedra has no lines: {lines} of the file are left out"
            ));
        }
        if self.points_alone > 0 {
            let count = self.points_alone;
            notes.push(format!("left out: cells of type vertex ({count})"));
        }
        notes.extend(self.notes);
        if self.curved > 0 {
            let curved = self.curved;
            notes.push(format!(
                "{curved} cells are of higher order: their sides are read as straight, and the nodes on them belong to no polyhedron"
            ));
        }
        if !self.lost.is_empty() {
            let names = self.lost.join(", ");
            notes.push(format!(
                "not all pieces have numbers of one type for {names}: left out"
            ));
        }
        if self.pieces > 1 {
            let (pieces, shared) = (self.pieces, self.seams.shared);
            notes.push(format!(
                "its {pieces} pieces are joined: {shared} vertices with the coordinates of a vertex of an earlier piece are that vertex"
            ));
        }
        Ok((mesh, notes))
    }
}

/// Vertices of earlier pieces by their coordinates.
#[derive(Default)]
struct Seams {
    /// The first vertex of these coordinates, and the last piece that has it.
    ids: HashMap<[u64; 3], (u32, usize)>,
    shared: usize,
}

impl Seams {
    /// Coordinates as bits, with one zero.
    fn key(point: DVec3) -> [u64; 3] {
        point.to_array().map(|x| (x + 0.0).to_bits())
    }

    /// The earlier vertex at `point`, once for each piece: a piece that has two vertices there keeps them apart.
    fn find(&mut self, point: DVec3, piece: usize) -> Option<u32> {
        let (id, last) = self.ids.get_mut(&Seams::key(point))?;
        if std::mem::replace(last, piece) == piece {
            return None;
        }
        self.shared += 1;
        Some(*id)
    }

    fn add(&mut self, points: &[DVec3], begin: u32) {
        for (id, &point) in (begin..).zip(points) {
            self.ids.entry(Seams::key(point)).or_insert((id, 0));
        }
    }
}
