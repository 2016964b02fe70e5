//! Elements as a reader meets them.

use glam::DVec3;
use rayon::prelude::*;

use crate::text::Fault;
use trioxide_mesh::mesh::{NONE, Polygons};
use trioxide_mesh::volume::{CellKind, Cells, MixedCells, VolumeMesh};

/// A kind of element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// A point or a line with so many vertices: not kept.
    Lower(usize),
    /// A triangle or a quadrilateral.
    Face(usize),
    /// A cell.
    Cell(CellKind),
}

impl Shape {
    pub(super) const TRIANGLE: Shape = Shape::Face(3);
    pub(super) const QUADRILATERAL: Shape = Shape::Face(4);
    pub(super) const TETRAHEDRON: Shape = Shape::Cell(CellKind::Tetrahedron);

    /// Number of vertices.
    pub(super) fn vertices(self) -> usize {
        match self {
            Shape::Lower(vertices) | Shape::Face(vertices) => vertices,
            Shape::Cell(kind) => kind.vertices(),
        }
    }
}

/// Tags of the elements of a run.
#[derive(Clone, Copy)]
pub(super) enum Tags<'a> {
    All(i32),
    Each(&'a [i32]),
}

/// Cells and faces in the order of the file.
#[derive(Default)]
pub(super) struct Elements {
    cells: Vec<u32>,
    /// Number of cells.
    count: usize,
    /// Number of vertices of each cell; empty while all are tetrahedra.
    sizes: Vec<u8>,
    /// Whether the file says that there are regions: else those that are all 0 are none.
    pub(super) has_regions: bool,
    pub(super) regions: Vec<i32>,
    faces: Polygons,
    pub(super) face_tags: Vec<i32>,
    /// Element of the file that each cell is, and each face, where fields follow.
    pub(super) sources: [Vec<u32>; 2],
}

impl Elements {
    /// Appends elements of one shape, their vertices one behind the other.
    ///
    /// # Errors
    /// The rule that they break.
    pub(super) fn push(
        &mut self,
        shape: Shape,
        vertices: &[u32],
        tags: Tags,
    ) -> Result<(), String> {
        let count = vertices.len() / shape.vertices();
        match shape {
            _ if count == 0 => {}
            Shape::Lower(_) => {}
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

    /// The mesh.
    ///
    /// # Errors
    /// The rule that the cells break together.
    pub(super) fn finish(self, points: Vec<DVec3>) -> Result<VolumeMesh, String> {
        if points.len() >= u32::MAX as usize {
            let count = points.len();
            return Err(format!(
                "{count} vertices are more than 32-bit indices can name"
            ));
        }
        let cells = if self.sizes.is_empty() {
            if self.count >= u32::MAX as usize {
                return Err(too_many("cells"));
            }
            Cells::Tetrahedra(self.cells.as_chunks().0.to_vec())
        } else {
            if self.cells.len() >= u32::MAX as usize {
                return Err(too_many("cells"));
            }
            let mut offsets = Vec::with_capacity(self.count + 1);
            let mut end = 0;
            offsets.push(0);
            offsets.extend(self.sizes.iter().map(|&size| {
                end += u32::from(size);
                end
            }));
            Cells::Mixed(MixedCells {
                offsets,
                vertices: self.cells,
            })
        };
        let has_regions = self.has_regions || self.regions.iter().any(|&region| region != 0);
        Ok(VolumeMesh {
            points,
            cells,
            regions: has_regions.then_some(self.regions),
            faces: self.faces,
            face_tags: self.face_tags,
            fields: Default::default(),
        })
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

/// Tags of the elements of a [`Table`].
#[derive(Clone, Copy)]
pub(super) enum Tag {
    /// In this column.
    Column(usize),
    /// This one.
    All(i32),
}

/// Columns of a table of whole numbers, a row for each element.
pub(super) struct Table<'a> {
    pub(super) values: &'a [i64],
    /// Numbers in a row.
    pub(super) width: usize,
    /// First column of the vertices.
    pub(super) vertices: usize,
    /// Where the tags are.
    pub(super) tag: Tag,
}

impl Table<'_> {
    /// Appends its elements to `elements`. `index` is the vertex that a number names, or why it names none; `offset` the place
    /// in the file of a value.
    pub(super) fn read(
        &self,
        elements: &mut Elements,
        shape: Shape,
        index: impl Fn(i64) -> Result<u32, String> + Sync,
        fault: impl Fn(usize, String) -> Fault,
    ) -> Result<(), Fault> {
        let size = shape.vertices();
        let count = self.values.len() / self.width * size;
        let place = |i: usize| i / size * self.width + self.vertices + i % size;
        let found: Vec<u32> = (0..count)
            .into_par_iter()
            .map(|i| index(self.values[place(i)]).unwrap_or(NONE))
            .collect();
        // The first one in the file, whatever the threads found first.
        if let Some(i) = found.par_iter().position_first(|&vertex| vertex == NONE) {
            let reason = index(self.values[place(i)]).err().unwrap_or_default();
            return Err(fault(place(i), reason));
        }
        let in_column;
        let tags = match self.tag {
            Tag::All(tag) => Tags::All(tag),
            Tag::Column(column) => {
                in_column = self.column(column, &fault)?;
                Tags::Each(&in_column)
            }
        };
        elements
            .push(shape, &found, tags)
            .map_err(|reason| fault(0, reason))
    }

    /// The tags in a column.
    pub(super) fn column(
        &self,
        column: usize,
        fault: impl Fn(usize, String) -> Fault,
    ) -> Result<Vec<i32>, Fault> {
        let rows = self.values.chunks_exact(self.width).enumerate();
        rows.map(|(row, values)| {
            i32::try_from(values[column]).map_err(|_| {
                let reason = format!("tag {} has more than 32 bits", values[column]);
                fault(row * self.width + column, reason)
            })
        })
        .collect()
    }
}
