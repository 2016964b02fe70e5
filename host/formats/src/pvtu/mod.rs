//! `.pvtu`: the list of a mesh's pieces, one `.vtu` each.
//!
//! <https://docs.vtk.org/en/latest/vtk_file_formats/vtkxml_file_format.html>. Each cell is in one piece, and no cell is
//! a ghost: the pieces in order have the cells in their order. A vertex is in all pieces with cells at it; in all but
//! the first of them it is marked as a duplicate, by a 1 in the point array `vtkGhostType`. The array `vertex` has the
//! vertices' ids in the whole mesh.

use std::io::{self, Write};
use std::path::Path;

use trioxide_mesh::Result;
use trioxide_mesh::fields::{Field, MeshFields};
use trioxide_mesh::mesh::Mesh;
use trioxide_mesh::polyhedra::PolyhedralMesh;
use trioxide_mesh::volume::VolumeMesh;

use crate::atomic_file::{AtomicFile, Out, write_atomically};
use crate::grid_out::GridMesh;
use crate::vtu_out::{Sections, arrays_of, write_grid};
use crate::{Encoding, polyhedra, vtu};

mod cut;
#[cfg(test)]
mod tests;

pub use cut::Cut;

/// VTK's array that marks ghost cells, and points of an earlier piece.
const GHOSTS: &str = "vtkGhostType";

/// The cells of a mesh, or of a piece of one.
pub enum Cells {
    /// Faces and segments.
    Surface(Mesh),
    /// Cells of three dimensions, and tagged faces.
    Volume(VolumeMesh),
    /// Polyhedra and tagged faces.
    Polyhedra(PolyhedralMesh),
}

impl Cells {
    /// Whether there are segments, or tagged faces.
    fn has_markers(&self) -> bool {
        match self {
            Cells::Surface(mesh) => !mesh.segments.is_empty(),
            Cells::Volume(mesh) => !mesh.faces.is_empty(),
            Cells::Polyhedra(mesh) => !mesh.tagged.is_empty(),
        }
    }
}

/// A piece of a mesh. All pieces have the same arrays.
pub struct Piece {
    cells: Cells,
    /// Whether any piece has segments, or tagged faces.
    has_markers: bool,
}

impl Piece {
    /// The piece of a surface. `vertices` are the ids of its vertices in the whole mesh; `duplicates` has a 1 for each
    /// vertex of an earlier piece, or else 0. `has_markers`: whether any piece has segments.
    pub fn of_surface(
        mut mesh: Mesh,
        vertices: Vec<i64>,
        duplicates: Vec<u8>,
        has_markers: bool,
    ) -> Self {
        number(&mut mesh.fields, vertices, duplicates, mesh.faces.len());
        Self {
            cells: Cells::Surface(mesh),
            has_markers,
        }
    }

    /// The bytes of the piece's `.vtu`.
    ///
    /// # Panics
    /// Never: it writes to memory.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.write_to(&mut bytes).expect("it is written to memory");
        bytes
    }

    /// Writes the piece's `.vtu`.
    ///
    /// # Errors
    /// Those of writing.
    pub fn write(&self, file: &mut AtomicFile) -> io::Result<()> {
        self.write_to(file)
    }

    fn write_to(&self, out: &mut dyn Out) -> io::Result<()> {
        self.with_sections(|counts, sections| {
            write_grid(out, counts, sections, Encoding::default())
        })
    }

    fn with_sections<R>(&self, then: impl FnOnce(&str, &Sections) -> R) -> R {
        let has_markers = self.has_markers;
        match &self.cells {
            Cells::Surface(mesh) => vtu::with_sections(GridMesh::Surface(mesh), has_markers, then),
            Cells::Volume(mesh) => vtu::with_sections(GridMesh::Volume(mesh), has_markers, then),
            Cells::Polyhedra(mesh) => polyhedra::vtu::with_sections(mesh, has_markers, then),
        }
    }

    /// Writes the list of `pieces`, names of files in the folder of `path`. They must have the arrays of this piece.
    ///
    /// # Errors
    /// [`Error::File`](trioxide_mesh::Error::File) when the file cannot be written.
    pub fn write_list(&self, path: &Path, pieces: &[String]) -> Result<()> {
        let arrays = self.with_sections(|_, sections| arrays_of(sections));
        write_list(path, pieces, &arrays)
    }
}

/// The names of the files of `count` pieces, next to the list at `path`.
pub fn piece_names(path: &Path, count: usize) -> Vec<String> {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    (0..count).map(|k| format!("{stem}_{k}.vtu")).collect()
}

/// Adds the ids and duplicates of a piece's vertices, and marks its `cells` as no ghosts. The mesh's own arrays of
/// ghosts belong to other pieces and are removed.
fn number(fields: &mut MeshFields, vertices: Vec<i64>, duplicates: Vec<u8>, cells: usize) {
    for of_elements in [&mut fields.points, &mut fields.cells, &mut fields.sides] {
        of_elements.take(GHOSTS);
    }
    fields.points.push(Field::scalars("vertex", vertices));
    fields.points.push(Field::scalars(GHOSTS, duplicates));
    fields.cells.push(Field::scalars(GHOSTS, vec![0_u8; cells]));
}

fn write_list(path: &Path, pieces: &[String], [of_points, of_cells]: &[String; 2]) -> Result<()> {
    let escape = |name: &str| {
        let name = name.replace('&', "&amp;").replace('<', "&lt;");
        name.replace('>', "&gt;").replace('"', "&quot;")
    };
    let sources = pieces
        .iter()
        .map(|piece| format!("    <Piece Source=\"{}\"/>\n", escape(piece)));
    let text = format!(
        "<?xml version=\"1.0\"?>\n\
         <VTKFile type=\"PUnstructuredGrid\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\">\n  \
         <PUnstructuredGrid GhostLevel=\"0\">\n    \
         <PPointData>\n{of_points}    </PPointData>\n    \
         <PPoints>\n      <PDataArray type=\"Float64\" Name=\"Points\" NumberOfComponents=\"3\"/>\n    </PPoints>\n    \
         <PCellData>\n{of_cells}    </PCellData>\n{}  \
         </PUnstructuredGrid>\n</VTKFile>\n",
        sources.collect::<String>()
    );
    write_atomically(path, |file| file.write_all(text.as_bytes()))
}
