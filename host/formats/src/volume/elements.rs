//! Elements of any dimension, as readers collect them.

use std::sync::Arc;

use glam::DVec3;

use super::grid_fields::GridFields;
use super::wedges::turn_wedges;
use crate::Loaded;
use crate::fields::take_attributes;
use trioxide_mesh::about::About;
use trioxide_mesh::error::{Conversion, Error};
use trioxide_mesh::fields::{Field, Fields, MeshFields};
use trioxide_mesh::mesh::{Faces, Mesh, Polygons, Segment};
use trioxide_mesh::parallel;
use trioxide_mesh::volume::{CellKind, Cells, MixedCells, VolumeMesh};

mod repeated;
mod table;

use repeated::OtherGroups;
pub(super) use table::Table;
pub(crate) use table::Tag;

/// A kind of element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A point: dropped, because all points are vertices.
    Point,
    /// A line between two vertices.
    Line,
    /// A face with this number of vertices.
    Face(usize),
    /// A cell.
    Cell(CellKind),
}

impl Shape {
    pub(crate) const TRIANGLE: Shape = Shape::Face(3);
    pub(crate) const QUADRILATERAL: Shape = Shape::Face(4);
    pub(crate) const TETRAHEDRON: Shape = Shape::Cell(CellKind::Tetrahedron);

    /// Its dimension.
    pub(crate) fn dimension(self) -> usize {
        match self {
            Shape::Point => 0,
            Shape::Line => 1,
            Shape::Face(_) => 2,
            Shape::Cell(_) => 3,
        }
    }

    /// Number of vertices.
    pub(crate) fn vertices(self) -> usize {
        match self {
            Shape::Point => 1,
            Shape::Line => 2,
            Shape::Face(vertices) => vertices,
            Shape::Cell(kind) => kind.vertices(),
        }
    }
}

/// Tags of the elements of a run.
#[derive(Clone, Copy)]
pub(crate) enum Tags<'a> {
    All(i32),
    Each(&'a [i32]),
}

/// Elements in the order of the file.
#[derive(Default)]
pub(crate) struct Elements {
    cells: Vec<u32>,
    /// Number of cells.
    count: usize,
    /// Number of vertices of each cell; empty while all cells are tetrahedra.
    sizes: Vec<u8>,
    /// Whether the file states that there are regions: otherwise regions of 0 throughout are none.
    pub(crate) has_regions: bool,
    pub(super) regions: Vec<i32>,
    faces: Polygons,
    pub(super) face_tags: Vec<i32>,
    /// For fields: the file's element of each cell, each face and each line.
    pub(super) sources: [Vec<u32>; 3],
    /// Lines, each with its tag.
    pub(super) lines: Vec<Segment>,
    /// Nodes of higher-order elements that are not corners of theirs.
    side_nodes: Vec<u32>,
    /// Number of elements of higher order.
    curved: usize,
    /// Whether wedges may have the other orientation ([`turn_wedges`]).
    pub(super) has_vtk_wedges: bool,
    /// Whether the file gives an element once for each of its groups. A file of ours does not.
    pub(super) has_copies: bool,
    /// Groups that elements are in beside the one that they have.
    pub(super) groups: OtherGroups,
    /// Sentences on parts of the file that the mesh does not have.
    pub(crate) notes: Vec<String>,
}

impl Elements {
    /// Appends elements of one shape, given by their consecutive vertices.
    ///
    /// # Errors
    /// The rule that they break.
    pub(crate) fn push(
        &mut self,
        shape: Shape,
        vertices: &[u32],
        tags: Tags,
    ) -> Result<(), String> {
        let count = vertices.len() / shape.vertices();
        match shape {
            _ if count == 0 => {}
            Shape::Point => {}
            Shape::Line => {
                let ends = vertices.as_chunks().0.iter().enumerate();
                self.lines.extend(ends.map(|(i, &ends)| Segment {
                    ends,
                    marker: match tags {
                        Tags::All(tag) => tag,
                        Tags::Each(tags) => tags[i],
                    },
                }));
            }
            Shape::Face(size) => {
                // No index may be `NONE`.
                let corners = self.faces.vertices.len() + vertices.len();
                if corners >= u32::MAX as usize {
                    return Err(too_many("faces"));
                }
                if self.faces.offsets.is_empty() {
                    self.faces.offsets.push(0);
                }
                let begin = self.faces.vertices.len();
                let ends = (1..=count).map(|i| (begin + size * i) as u32);
                self.faces.offsets.extend(ends);
                self.faces.vertices.extend_from_slice(vertices);
                extend(&mut self.face_tags, tags, count);
            }
            Shape::Cell(kind) => {
                if kind != CellKind::Tetrahedron && self.sizes.is_empty() {
                    self.sizes.resize(self.count, 4);
                }
                if kind != CellKind::Tetrahedron || !self.sizes.is_empty() {
                    self.sizes.resize(self.count + count, kind.vertices() as u8);
                }
                self.count += count;
                self.cells.extend_from_slice(vertices);
                extend(&mut self.regions, tags, count);
            }
        }
        Ok(())
    }

    /// Notes `elements` of higher order, and their nodes that are not corners.
    pub(crate) fn push_side_nodes(&mut self, elements: usize, nodes: &[u32]) {
        self.curved += elements;
        self.side_nodes.extend_from_slice(nodes);
    }

    /// Whether there are elements of higher order.
    pub(super) fn has_side_nodes(&self) -> bool {
        self.curved > 0
    }

    /// Appends elements whose vertices are numbered from `shift`.
    fn append(&mut self, mut other: Elements, shift: u32) -> Result<(), String> {
        let corners = other.cells.iter_mut().chain(&mut other.faces.vertices);
        let ends = other.lines.iter_mut().flat_map(|line| &mut line.ends);
        corners.chain(ends).for_each(|corner| *corner += shift);
        for (mine, its, what) in [
            (self.cells.len(), other.cells.len(), "cells"),
            (
                self.faces.vertices.len(),
                other.faces.vertices.len(),
                "faces",
            ),
        ] {
            if mine + its >= u32::MAX as usize {
                return Err(too_many(what));
            }
        }
        if !(self.sizes.is_empty() && other.sizes.is_empty()) {
            for elements in [&mut *self, &mut other] {
                elements.sizes.resize(elements.count, 4);
            }
            self.sizes.append(&mut other.sizes);
        }
        self.cells.append(&mut other.cells);
        self.count += other.count;
        self.groups.names.append(&mut other.groups.names);
        self.has_regions |= other.has_regions;
        self.has_vtk_wedges |= other.has_vtk_wedges;
        self.regions.append(&mut other.regions);
        self.face_tags.append(&mut other.face_tags);
        self.lines.append(&mut other.lines);
        for face in other.faces.iter() {
            self.faces.push(face);
        }
        for note in other.notes {
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
        Ok(())
    }

    /// Removes the nodes from `points` that are only on sides. Returns the ids of the other nodes.
    fn drop_side_nodes(&mut self, points: &mut Vec<DVec3>) -> Vec<u32> {
        let mut is_dropped = vec![false; points.len()];
        for &node in &self.side_nodes {
            is_dropped[node as usize] = true;
        }
        let ends = self.lines.iter().flat_map(|line| &line.ends);
        for &corner in self.cells.iter().chain(&self.faces.vertices).chain(ends) {
            is_dropped[corner as usize] = false;
        }
        let mut kept = 0;
        let mut ids = Vec::with_capacity(points.len());
        for &is_dropped in &is_dropped {
            ids.push(kept);
            kept += u32::from(!is_dropped);
        }
        let mut node = 0;
        points.retain(|_| {
            node += 1;
            !is_dropped[node - 1]
        });
        let ends = self.lines.iter_mut().flat_map(|line| &mut line.ends);
        let corners = self.cells.iter_mut().chain(&mut self.faces.vertices);
        corners
            .chain(ends)
            .for_each(|corner| *corner = ids[*corner as usize]);
        self.notes.push(format!(
            "{} elements are of higher order: their sides are read as straight, and {} nodes on them are left out",
            self.curved,
            is_dropped.len() - points.len()
        ));
        let nodes = 0..is_dropped.len() as u32;
        nodes.filter(|&node| !is_dropped[node as usize]).collect()
    }
}

/// Points and elements of any dimension.
pub(crate) struct Grid {
    points: Vec<DVec3>,
    elements: Elements,
    /// Ids in the file of `points`, if some of the file's nodes are left out.
    kept: Option<Vec<u32>>,
    /// Ids of the cells and of the faces that are not left out, if some are.
    kept_elements: [Option<Vec<u32>>; 2],
    fields: GridFields,
}

impl Grid {
    /// From elements whose nodes are all among `points`.
    ///
    /// # Errors
    /// The rule that they break together.
    pub(crate) fn new(mut points: Vec<DVec3>, mut elements: Elements) -> Result<Grid, String> {
        if points.len() >= u32::MAX as usize {
            let count = points.len();
            return Err(format!(
                "{count} vertices are more than 32-bit indices can name"
            ));
        }
        let kept_elements = match elements.has_copies {
            true => elements.drop_repeated(points.len()),
            false => [None, None],
        };
        elements.notes.extend(elements.groups.note());
        let mut kept = None;
        if elements.curved > 0 {
            kept = Some(elements.drop_side_nodes(&mut points));
        }
        Ok(Grid {
            points,
            elements,
            kept,
            kept_elements,
            fields: GridFields::default(),
        })
    }

    /// Adds fields of the file's nodes, and of its `count` elements, whose ids are in [`Elements::sources`].
    pub(crate) fn with_fields(
        mut self,
        points: Vec<Field>,
        elements: Vec<Field>,
        count: usize,
    ) -> Grid {
        self.fields = GridFields {
            points: self.of_kept(points),
            elements,
            count,
            ..GridFields::default()
        };
        self
    }

    /// Adds fields of the file's nodes, of its cells, and of its faces as sides.
    pub(crate) fn with_mesh_fields(mut self, fields: MeshFields) -> Grid {
        let of_kept = |fields: Fields, kept: &Option<Vec<u32>>| match kept {
            None => fields,
            Some(ids) => fields.gather(ids),
        };
        let [cells, faces] = &self.kept_elements;
        self.fields = GridFields {
            points: self.of_kept(fields.points.iter().cloned().collect()),
            lists: [
                of_kept(fields.cells, cells),
                of_kept(fields.sides, faces),
                Fields::default(),
            ],
            ..GridFields::default()
        };
        self
    }

    /// Adds fields of the lines.
    pub(crate) fn with_line_fields(mut self, fields: Fields) -> Grid {
        self.fields.lists[2] = fields;
        self
    }

    /// Fields of the nodes that are kept.
    fn of_kept(&self, fields: Vec<Field>) -> Vec<Field> {
        match &self.kept {
            None => fields,
            Some(ids) => fields.iter().map(|field| field.gather(ids)).collect(),
        }
    }

    /// Coordinates, vertices of elements, and numbers of fields.
    pub(crate) fn numbers(&self) -> usize {
        let Elements {
            cells,
            faces,
            lines,
            ..
        } = &self.elements;
        let mesh = 3 * self.points.len() + cells.len() + faces.vertices.len() + 2 * lines.len();
        mesh + self.fields.numbers()
    }

    /// Whether there are cells of three dimensions.
    pub(crate) fn has_cells(&self) -> bool {
        self.elements.count > 0
    }

    /// Adds a note on a part of the file that the mesh does not have.
    pub(crate) fn note(&mut self, note: String) {
        self.elements.notes.push(note);
    }

    /// Appends this mesh to `all`.
    ///
    /// # Errors
    /// As [`Grid::join`].
    pub(crate) fn append_to(self, all: &mut Option<Grid>) -> Result<(), String> {
        *all = Some(match all.take() {
            None => self,
            Some(before) => before.join(self)?,
        });
        Ok(())
    }

    /// This mesh, followed by another one.
    ///
    /// # Errors
    /// The rule that they break together.
    fn join(mut self, other: Grid) -> Result<Grid, String> {
        let count = self.points.len() + other.points.len();
        if count >= u32::MAX as usize {
            return Err(format!(
                "{count} vertices are more than 32-bit indices can name"
            ));
        }
        let shift = self.points.len() as u32;
        let mut other = other;
        let lost = self.fields.append(
            std::mem::take(&mut other.fields),
            [self.points.len(), other.points.len()],
            &mut self.elements.sources,
            &other.elements.sources,
        );
        if !lost.is_empty() {
            let names = lost.join(", ");
            self.note(format!(
                "not all pieces have numbers of one type for {names}: left out"
            ));
        }
        self.points.extend(other.points);
        self.elements.append(other.elements, shift)?;
        Ok(self)
    }

    /// The volume mesh, and notes on parts of the file that it does not have.
    ///
    /// # Errors
    /// The rule that the cells break together.
    pub(crate) fn into_volume(self) -> Result<(VolumeMesh, Vec<String>), String> {
        let Grid {
            points,
            elements,
            fields,
            ..
        } = self;
        let [cells, faces, _] = &elements.sources;
        let lost: Vec<String> = fields.lists[2].iter().map(|f| f.name.clone()).collect();
        let fields = fields.into_mesh_fields([cells, faces]);
        let mut notes = elements.notes;
        if !elements.lines.is_empty() {
            let lines = elements.lines.len();
            let of_lines = lost.iter().map(|name| format!(", with the field {name}"));
            notes.push(format!(
                "a volume mesh has no lines: {lines} of the file are left out{}",
                of_lines.collect::<String>()
            ));
        }
        if let Some(i) = (elements.faces.iter()).position(|face| face.len() > 4) {
            return Err(format!(
                "face {i} has {} vertices, but faces of a volume mesh have 3 or 4: write it without its faces",
                elements.faces.get(i).len()
            ));
        }
        let cells = if elements.sizes.is_empty() {
            if elements.count >= u32::MAX as usize {
                return Err(too_many("cells"));
            }
            Cells::Tetrahedra(elements.cells.as_chunks().0.to_vec())
        } else {
            if elements.cells.len() >= u32::MAX as usize {
                return Err(too_many("cells"));
            }
            let mut offsets = Vec::with_capacity(elements.count + 1);
            let mut end = 0;
            offsets.push(0);
            offsets.extend(elements.sizes.iter().map(|&size| {
                end += u32::from(size);
                end
            }));
            Cells::Mixed(MixedCells {
                offsets,
                vertices: elements.cells,
            })
        };
        let has_regions =
            elements.has_regions || elements.regions.iter().any(|&region| region != 0);
        let mut mesh = VolumeMesh {
            points,
            cells,
            regions: has_regions.then_some(elements.regions),
            faces: elements.faces,
            face_tags: elements.face_tags,
            fields,
            about: Arc::new(About::of_groups(elements.groups.names)),
        };
        if elements.has_vtk_wedges {
            turn_wedges(&mut mesh);
        }
        Ok((mesh, notes))
    }

    /// The surface or cloud: tags of faces become regions, lines become segments.
    ///
    /// # Errors
    /// [`Error::Unconverted`] if there are cells of three dimensions.
    pub(crate) fn into_surface(self) -> Result<Loaded, Error> {
        let Grid {
            points,
            elements,
            fields,
            ..
        } = self;
        if elements.count > 0 {
            let cells = match elements.count {
                1 => "a cell that fills space".to_owned(),
                count => format!("{count} cells that fill space"),
            };
            return Err(Error::Unconverted {
                reason: format!("the mesh has {cells}, but faces are needed"),
                conversion: Conversion::Boundary {
                    of_tetrahedra: elements.sizes.is_empty(),
                },
            });
        }
        let [_, faces, lines] = &elements.sources;
        let mut fields = fields;
        // Fields of faces are fields of sides in a volume mesh, fields of cells in a surface.
        let [_, of_faces, of_lines] = std::mem::take(&mut fields.lists);
        fields.lists = [of_faces, of_lines, Fields::default()];
        let mut fields = fields.into_mesh_fields([faces, lines]);
        let attributes = take_attributes(&mut fields.points);
        let tags = elements.face_tags;
        let has_regions = elements.has_regions || tags.iter().any(|&tag| tag != 0);
        let offsets = &elements.faces.offsets;
        let is_other = |i: usize| offsets[i + 1] - offsets[i] != 3;
        let mesh = Mesh {
            points,
            regions: has_regions.then_some(tags),
            faces: match parallel::find(elements.faces.len(), is_other).is_none() {
                true => Faces::Triangles(elements.faces.vertices.as_chunks().0.to_vec()),
                false => Faces::Polygons(elements.faces),
            },
            segments: elements.lines,
            attributes,
            fields,
            about: Arc::new(About::of_groups(elements.groups.names)),
        };
        let notes = elements.notes;
        Ok(Loaded { mesh, notes })
    }
}

fn extend(all: &mut Vec<i32>, tags: Tags, count: usize) {
    match tags {
        Tags::All(tag) => all.resize(all.len() + count, tag),
        Tags::Each(tags) => all.extend_from_slice(&tags[..count]),
    }
}

fn too_many(what: &str) -> String {
    format!(
        "the {what} have more than {} corners together",
        u32::MAX - 1
    )
}
