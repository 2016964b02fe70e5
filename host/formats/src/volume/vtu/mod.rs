//! VTK's XML files: unstructured grids `.vtu`, polygons `.vtp`, and their parallel forms `.pvtu` and `.pvtp`.
//!
//! <https://docs.vtk.org/en/latest/vtk_file_formats/vtkxml_file_format.html>. It reads text, inline base64, and
//! appended raw or base64 arrays, uncompressed or compressed by zlib, LZ4 or LZMA, with 32- and 64-bit headers, in any
//! number of pieces, which are joined in order without their ghost cells. [`crate::references`] finds pieces in other
//! files. Cells are those of [`super::vtk_cells`]. The cell array `region`, or the array of another program
//! ([`vtk_cells::find_regions`]), holds region ids. `marker` holds the tags of a volume mesh's faces and of a
//! surface's lines; without it the region array holds these too.
//!
//! It writes raw appended binary, or text: volume meshes here, surfaces in [`crate::vtu`] and [`crate::vtp`].

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use roxmltree::Node;

use super::bytes::Numbers;
use super::elements::Grid;
use super::vtk_cells;
use crate::Encoding;
use crate::grid_out::GridMesh;
use crate::input::peek_file;
use crate::map_file;
use crate::references::{Copies, ReadOptions, References};
use crate::text::{Fault, Parsed, check_vertex, whole};
use trioxide_mesh::volume::VolumeMesh;
use trioxide_mesh::{Error, Result, parallel};

pub(crate) mod arrays;
mod compression;
pub(crate) mod fields;

use arrays::{Arrays, File, Length, array, child, count, fault, named_array};

/// Whether the file or its pieces have cells of three dimensions.
pub(super) fn is_volume(path: &Path, options: ReadOptions) -> bool {
    has_cells(path, options, &|types| {
        parallel::any(types, |&kind| vtk_cells::is_solid(kind))
    })
}

/// Whether the types of a piece's cells are `wanted`, of any piece of the file or of the files that it names.
pub(crate) fn has_cells(
    path: &Path,
    options: ReadOptions,
    wanted: &dyn Fn(&[i64]) -> bool,
) -> bool {
    let in_file = |file: &[u8]| file_has_cells(file, wanted).unwrap_or(false);
    let has_cells = |file: &[u8]| match sources(References::of(path, options), file) {
        Ok(Some(sources)) => {
            let mut seen = HashSet::new();
            let mut sources = sources.iter().filter(|source| seen.insert(*source));
            sources.any(|source| map_file(source).is_ok_and(|file| in_file(&file)))
        }
        Ok(None) => in_file(file),
        // The reader of the file reports the error.
        Err(_) => false,
    };
    peek_file(path, has_cells).unwrap_or(false)
}

fn file_has_cells(file: &[u8], wanted: &dyn Fn(&[i64]) -> bool) -> Parsed<bool> {
    let file = File::new(file)?;
    let document = file.document()?;
    let root = document.root_element();
    let arrays = Arrays::new(&file, root)?;
    for piece in pieces(root)? {
        if let Ok(cells) = child(piece, "Cells") {
            let length = Length::Exactly(count(piece, "NumberOfCells")?);
            let types = array(cells, "types").ok_or_else(|| fault(cells, "no types"))?;
            if wanted(&arrays.integers(types, length)?) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// The mesh of a file, or of the files that a parallel one names.
pub(crate) fn read_grid(path: &Path, options: ReadOptions) -> Result<Grid> {
    let mut joined: Option<Grid> = None;
    let pieces = for_pieces(path, options, &mut |piece| append(piece, &mut joined))?;
    let mut grid = joined.ok_or_else(|| Error::format(path, "the file names no piece"))?;
    note_pieces(&mut grid, pieces);
    Ok(grid)
}

/// Appends the mesh of a piece. Returns its number of numbers.
fn append(piece: &Piece, joined: &mut Option<Grid>) -> Parsed<usize> {
    let mut grid = piece.read()?;
    let left_out = fields::left_out(piece.node);
    left_out.into_iter().for_each(|note| grid.note(note));
    let numbers = grid.numbers();
    let appended = grid.append_to(joined);
    appended.map_err(|reason| fault(piece.node, reason))?;
    Ok(numbers)
}

/// Passes each piece of a file, or of the files that a parallel one names, to `read`, which returns how many numbers
/// the piece has. Returns the number of pieces.
pub(crate) fn for_pieces(
    path: &Path,
    options: ReadOptions,
    read: &mut dyn FnMut(&Piece) -> Parsed<usize>,
) -> Result<usize> {
    let file = map_file(path)?;
    let in_text = |fault: Fault| fault.in_text(path, &file);
    let sources = sources(References::of(path, options), &file).map_err(in_text)?;
    let Some(sources) = sources else {
        let (pieces, _) = pieces_in(&file, read).map_err(in_text)?;
        return Ok(pieces);
    };
    let copies = Copies::new(file.len());
    let mut count = 0;
    for source in &sources {
        let file = map_file(source)?;
        copies.add_file(source, file.len());
        let (pieces, numbers) =
            pieces_in(&file, read).map_err(|fault| fault.in_text(source, &file))?;
        let counted = copies.count(file.len(), numbers);
        counted.map_err(|reason| Error::format(path, reason))?;
        count += pieces;
    }
    Ok(count)
}

/// Passes each piece in a file to `read`. Returns the number of pieces, and of their numbers.
fn pieces_in(file: &[u8], read: &mut dyn FnMut(&Piece) -> Parsed<usize>) -> Parsed<(usize, usize)> {
    let file = File::new(file)?;
    let document = file.document()?;
    let root = document.root_element();
    let arrays = Arrays::new(&file, root)?;
    let pieces = pieces(root)?;
    let mut numbers = 0usize;
    for &node in &pieces {
        let piece = Piece {
            arrays: &arrays,
            node,
        };
        numbers = numbers.saturating_add(read(&piece)?);
    }
    Ok((pieces.len(), numbers))
}

fn note_pieces(grid: &mut Grid, pieces: usize) {
    if pieces > 1 {
        grid.note(format!(
            "its {pieces} pieces are put one behind the other: vertices that they share are there several times until they are welded"
        ));
    }
}

/// The files that a parallel file names; `None` for a file of another kind.
fn sources(references: References, file: &[u8]) -> Parsed<Option<Vec<PathBuf>>> {
    let head = &file[..file.len().min(4096)];
    if !["\"PUnstructuredGrid\"", "\"PPolyData\""]
        .iter()
        .any(|kind| memchr::memmem::find(head, kind.as_bytes()).is_some())
    {
        return Ok(None);
    }
    let file = File::new(file)?;
    let document = file.document()?;
    let root = document.root_element();
    let (Some("PUnstructuredGrid" | "PPolyData"), Some(grid)) =
        (root.attribute("type"), root.first_element_child())
    else {
        return Ok(None);
    };
    let pieces = grid.children().filter(|node| node.has_tag_name("Piece"));
    let source = |piece: Node| match piece.attribute("Source") {
        Some(source) => (references.find(source)).map_err(|reason| fault(piece, reason)),
        None => Err(fault(piece, "the piece has no Source")),
    };
    pieces.map(source).collect::<Parsed<_>>().map(Some)
}

/// The pieces of a file.
fn pieces<'a, 'b>(root: Node<'a, 'b>) -> Parsed<Vec<Node<'a, 'b>>> {
    let name = root.attribute("type").unwrap_or_default();
    let grid = child(root, name)?;
    let pieces: Vec<_> = (grid.children())
        .filter(|node| node.has_tag_name("Piece"))
        .collect();
    match pieces.is_empty() {
        true => Err(fault(grid, "there is no Piece here")),
        false => Ok(pieces),
    }
}

/// The mesh of a file that contains all its pieces.
#[cfg(test)]
pub(crate) fn parse_grid(file: &[u8]) -> Parsed<Grid> {
    let mut joined: Option<Grid> = None;
    let (pieces, _) = pieces_in(file, &mut |piece| append(piece, &mut joined))?;
    let mut grid = joined.ok_or_else(|| Fault::new(0, "there is no Piece here"))?;
    note_pieces(&mut grid, pieces);
    Ok(grid)
}

/// Names of cell arrays that mark the cells of neighbouring pieces.
pub(crate) const GHOSTS: [&str; 2] = ["vtkGhostType", "vtkGhostLevels"];

/// Cells of a piece, in the order of its cell arrays.
struct Cells<'a, 'b> {
    types: Vec<i64>,
    /// End of each cell in the connectivity.
    offsets: Vec<i64>,
    connectivity: Vec<i64>,
    /// The elements at which faults in the three lists are reported.
    nodes: [Node<'a, 'b>; 3],
}

/// A piece of a file.
pub(crate) struct Piece<'a, 'b, 'c> {
    pub(crate) arrays: &'c Arrays<'c>,
    pub(crate) node: Node<'a, 'b>,
}

impl<'a, 'b> Piece<'a, 'b, '_> {
    fn read(&self) -> Parsed<Grid> {
        let piece = self.node;
        let count_of_points = count(piece, "NumberOfPoints")?;
        let points = self.arrays.points(piece, count_of_points)?;
        let mut cells = match piece.has_attribute("NumberOfCells") {
            true => self.cells()?,
            false => self.polygons()?,
        };
        let of_faces = |kind| !vtk_cells::is_line(kind);
        let (regions, name) =
            vtk_cells::find_regions(|name| self.tags(name, &cells.types, of_faces))?;
        let mut skipped = GHOSTS.to_vec();
        skipped.extend(name);
        let is_volume = parallel::any(&cells.types, |&kind| vtk_cells::is_solid(kind));
        let markers = self.tags("marker", &cells.types, |kind| match is_volume {
            true => !vtk_cells::is_solid(kind),
            false => vtk_cells::is_line(kind),
        })?;
        if is_volume || parallel::any(&cells.types, |&kind| vtk_cells::is_line(kind)) {
            skipped.push("marker");
        }
        self.hide_ghosts(&mut cells.types)?;
        let Cells { offsets, .. } = &cells;
        let mut elements = vtk_cells::read(
            &cells.types,
            |i| (i.checked_sub(1).map_or(0, |i| offsets[i]), offsets[i]),
            &cells.connectivity,
            |vertex| check_vertex(vertex, 0, points.len()),
            &[regions.as_deref(), markers.as_deref()],
        )
        .map_err(|(place, reason)| {
            let [types, offsets, connectivity] = cells.nodes;
            let node = match place {
                vtk_cells::FaultyArray::Types => types,
                vtk_cells::FaultyArray::Offsets => offsets,
                vtk_cells::FaultyArray::Vertices => connectivity,
            };
            fault(node, reason)
        })?;
        elements.has_regions = regions.is_some();
        elements.has_copies = name.is_some_and(|name| name != "region");
        let data = |name| child(piece, name).ok();
        let of_points = fields::read(self.arrays, data("PointData"), count_of_points, &[])?;
        let of_cells = fields::read(self.arrays, data("CellData"), cells.types.len(), &skipped)?;
        let grid = Grid::new(points, elements).map_err(|reason| fault(piece, reason))?;
        Ok(grid.with_fields(of_points, of_cells, cells.types.len()))
    }

    /// Makes points, which are skipped, of the cells of neighbouring pieces.
    pub(crate) fn hide_ghosts(&self, types: &mut [i64]) -> Parsed<()> {
        for (name, hidden) in GHOSTS.into_iter().zip([1 | 32, i32::MAX]) {
            if let Some(ghosts) = self.tags(name, types, |_| true)? {
                for (kind, ghost) in types.iter_mut().zip(ghosts) {
                    if ghost & hidden != 0 {
                        *kind = 0;
                    }
                }
            }
        }
        Ok(())
    }

    /// The whole numbers of a required array.
    fn integers(
        &self,
        node: Node<'a, 'b>,
        name: &str,
        length: Length,
    ) -> Parsed<(Node<'a, 'b>, Vec<i64>)> {
        let found = named_array(node, name)?;
        Ok((found, self.arrays.integers(found, length)?))
    }

    /// Offsets and connectivity of `cells` cells in an element.
    pub(crate) fn lists(
        &self,
        node: Node<'a, 'b>,
        cells: usize,
    ) -> Parsed<[(Node<'a, 'b>, Vec<i64>); 2]> {
        let offsets = self.integers(node, "offsets", Length::Exactly(cells))?;
        let reach = offsets.1.iter().copied().max().unwrap_or(0);
        let reach = Length::AtMost(usize::try_from(reach).unwrap_or(0));
        let connectivity = self.integers(node, "connectivity", reach)?;
        Ok([offsets, connectivity])
    }

    /// The cells of an unstructured grid.
    fn cells(&self) -> Parsed<Cells<'a, 'b>> {
        let cells = count(self.node, "NumberOfCells")?;
        let node = child(self.node, "Cells")?;
        let (types_node, types) = self.integers(node, "types", Length::Exactly(cells))?;
        let [(offsets_node, offsets), (connectivity_node, connectivity)] =
            self.lists(node, cells)?;
        Ok(Cells {
            types,
            offsets,
            connectivity,
            nodes: [types_node, offsets_node, connectivity_node],
        })
    }

    /// Checks that the piece has no cells of a kind of which it declares none.
    fn check_empty(&self, name: &str, number: &str) -> Parsed<()> {
        let offsets = child(self.node, name).ok();
        let Some(offsets) = offsets.and_then(|node| array(node, "offsets")) else {
            return Ok(());
        };
        // Some writers give an empty array no data, or a truncated header.
        match self.arrays.integers(offsets, Length::AtMost(usize::MAX)) {
            Ok(found) if !found.is_empty() => {
                let reason = format!("{number} declares no cells, but {} are there", found.len());
                Err(fault(offsets, reason))
            }
            _ => Ok(()),
        }
    }

    /// The cells of polygonal data, in the order of its cell arrays.
    fn polygons(&self) -> Parsed<Cells<'a, 'b>> {
        let mut all = Cells {
            types: Vec::new(),
            offsets: Vec::new(),
            connectivity: Vec::new(),
            nodes: [self.node; 3],
        };
        for (name, number, kind) in [
            ("Verts", "NumberOfVerts", 2),
            ("Lines", "NumberOfLines", 4),
            ("Polys", "NumberOfPolys", 7),
            ("Strips", "NumberOfStrips", 6),
        ] {
            let cells = match self.node.has_attribute(number) {
                true => count(self.node, number)?,
                false => 0,
            };
            if cells == 0 {
                self.check_empty(name, number)?;
                continue;
            }
            let node = child(self.node, name)?;
            let [(offsets_node, offsets), (_, connectivity)] = self.lists(node, cells)?;
            let begin = all.connectivity.len() as i64;
            let ends = |end: &i64| (0..=connectivity.len() as i64).contains(end);
            if let Some(cell) = offsets.iter().position(|end| !ends(end)) {
                let reason = format!("the offset of cell {cell} is outside of connectivity");
                return Err(fault(offsets_node, reason));
            }
            all.types.resize(all.types.len() + cells, kind);
            all.offsets.extend(offsets.iter().map(|end| begin + end));
            // No numbers may stand between the lists of two kinds.
            let used = offsets.last().map_or(0, |&end| end as usize);
            all.connectivity.extend_from_slice(&connectivity[..used]);
        }
        Ok(all)
    }

    /// The cell array of this name, if it has one whole number per cell. In our own arrays, only cells that are `meant`
    /// need one.
    pub(crate) fn tags(
        &self,
        name: &str,
        types: &[i64],
        is_meant: impl Fn(i64) -> bool,
    ) -> Parsed<Option<Vec<i32>>> {
        let cell_data = child(self.node, "CellData").ok();
        let Some(node) = cell_data.and_then(|data| array(data, name)) else {
            return Ok(None);
        };
        // Another program's array of this name may have another meaning.
        let is_ours = matches!(name, "region" | "marker");
        let is_scalar = matches!(node.attribute("NumberOfComponents"), None | Some("1"));
        if !is_ours && !is_scalar {
            return Ok(None);
        }
        let tag = |i: usize, tag: Option<i64>| match tag.map(i32::try_from) {
            Some(Ok(tag)) => Some(tag),
            _ if is_ours && !is_meant(types[i]) => Some(0),
            _ => None,
        };
        let tags: Option<Vec<i32>> =
            match self.arrays.numbers(node, Length::Exactly(types.len()))? {
                Numbers::Integers(values) => {
                    let values = values.into_iter().enumerate();
                    values.map(|(i, value)| tag(i, Some(value))).collect()
                }
                Numbers::Floats(values) => {
                    let values = values.into_iter().enumerate();
                    values.map(|(i, value)| tag(i, whole(value))).collect()
                }
            };
        if tags.is_none() && is_ours {
            return Err(fault(node, format!("a {name} is no 32-bit integer")));
        }
        Ok(tags)
    }
}

/// Writes the cells and tagged faces of a volume mesh.
pub(super) fn write(path: &Path, mesh: &VolumeMesh, encoding: Encoding) -> Result<()> {
    crate::vtu::write_mesh(path, GridMesh::Volume(mesh), encoding)
}
