//! VTK's unstructured grid: `.vtu`.
//!
//! <https://docs.vtk.org/en/latest/vtk_file_formats/vtkxml_file_format.html>. Written is raw appended binary: triangles and
//! polygons as such, region ids as the cell array `region`; behind the faces, segments as lines, with their markers in the
//! cell array `marker`. An array has a value for every cell: lines are in region 0 and faces have marker 0, and neither
//! means anything. Read are the arrays of [`super::volume`], one piece, cells that are triangles, quads, polygons or lines, in
//! any order.

use std::io::{self, Write};
use std::path::Path;

use glam::DVec3;
use roxmltree::Node;

use super::Encoding;
use super::atomic_file::write_atomically;
use super::faces::FaceList;
use super::fields::{of_attributes, split, take_attributes};
use super::map_file;
use super::text::{Parsed, check_vertex, whole};
use super::volume::vtu::arrays::{Arrays, File, Length, array, child, count, fault};
use super::volume::vtu::fields;
use super::vtu_out::{self, Grid, Numbers};
use trioxide_mesh::Result;
use trioxide_mesh::fields::MeshFields;
use trioxide_mesh::mesh::{Faces, Mesh, Segment};

const LINE: u8 = 3;
const TRIANGLE: u8 = 5;
const POLYGON: u8 = 7;
const QUAD: u8 = 9;

pub(crate) fn read(path: &Path) -> Result<Mesh> {
    let file = map_file(path)?;
    parse(&file).map_err(|fault| fault.in_text(path, &file))
}

pub(crate) fn parse(file: &[u8]) -> Parsed<Mesh> {
    let file = File::new(file)?;
    let document = file.document()?;
    let root = document.root_element();
    let arrays = Arrays::new(&file, root)?;
    Reader { arrays }.mesh(root)
}

struct Reader<'a> {
    arrays: Arrays<'a>,
}

impl Reader<'_> {
    fn mesh(&self, root: Node) -> Parsed<Mesh> {
        let piece = child(child(root, "UnstructuredGrid")?, "Piece")?;
        let (point_count, cells) = (
            count(piece, "NumberOfPoints")?,
            count(piece, "NumberOfCells")?,
        );
        let points = child(child(piece, "Points")?, "DataArray")?;
        let numbers = Length::Exactly(point_count.saturating_mul(3));
        let coordinates = self.arrays.floats(points, numbers)?;
        let (coordinates, _) = coordinates.as_chunks::<3>();

        let cell_node = child(piece, "Cells")?;
        let cell_array = |name, length| {
            let node = array(cell_node, name)
                .ok_or_else(|| fault(cell_node, format!("there is no array {name}")))?;
            Ok((node, self.arrays.floats(node, length)?))
        };
        let (types_node, types) = cell_array("types", Length::Exactly(cells))?;
        let (offsets_node, offsets) = cell_array("offsets", Length::Exactly(cells))?;
        // Offsets that are no numbers are found below.
        let reach = offsets.iter().copied().fold(0.0, f64::max) as usize;
        let (connectivity_node, connectivity) = cell_array("connectivity", Length::AtMost(reach))?;
        let mut faces = FaceList::default();
        let mut segments = Vec::new();
        let mut sources = [Vec::new(), Vec::new()];
        let is_line = |i: usize| types[i] == f64::from(LINE);
        let mut begin = 0;
        for (i, (kind, end)) in types.iter().zip(&offsets).enumerate() {
            check_kind(i, *kind).map_err(|reason| fault(types_node, reason))?;
            let end = whole(*end).and_then(|end| usize::try_from(end).ok());
            let vertices = end
                .and_then(|end| connectivity.get(begin..end))
                .ok_or_else(|| {
                    fault(
                        offsets_node,
                        format!("the offset of cell {i} is outside of connectivity"),
                    )
                })?;
            begin += vertices.len();
            let checked = |vertex: f64| {
                whole(vertex)
                    .ok_or_else(|| format!("expected a vertex index, found `{vertex}`"))
                    .and_then(|vertex| check_vertex(vertex, 0, point_count))
                    .map_err(|reason| fault(connectivity_node, format!("cell {i}: {reason}")))
            };
            sources[usize::from(is_line(i))].push(i as u32);
            if is_line(i) {
                let &[from, to] = vertices else {
                    let reason = format!("cell {i}: a line has {} vertices, not 2", vertices.len());
                    return Err(fault(offsets_node, reason));
                };
                segments.push(Segment {
                    ends: [checked(from)?, checked(to)?],
                    marker: 0,
                });
                continue;
            }
            for vertex in vertices {
                faces.push_vertex(checked(*vertex)?);
            }
            faces
                .finish_face()
                .map_err(|reason| fault(offsets_node, format!("cell {i}: {reason}")))?;
        }
        let cell_data = child(piece, "CellData").ok();
        let tags = |name: &str, of_lines: bool| {
            let Some(node) = cell_data.and_then(|data| array(data, name)) else {
                return Ok(None);
            };
            let values = self
                .arrays
                .floats(node, Length::Exactly(cells))?
                .into_iter()
                .enumerate();
            let tag = |value| i32::try_from(whole(value)?).ok();
            let tags: Option<Vec<i32>> = values
                .filter(|(i, _)| is_line(*i) == of_lines)
                .map(|(_, value)| tag(value))
                .collect();
            let tags = tags.ok_or_else(|| fault(node, format!("a {name} is no 32-bit integer")))?;
            Ok(Some(tags))
        };
        let regions = tags("region", false)?;
        if !segments.is_empty()
            && let Some(markers) = tags("marker", true)?
        {
            for (segment, marker) in segments.iter_mut().zip(markers) {
                segment.marker = marker;
            }
        }
        let mut skipped = vec!["region"];
        if !segments.is_empty() {
            skipped.push("marker");
        }
        let of_points = child(piece, "PointData").ok();
        let of_points = fields::read(&self.arrays, of_points, point_count, &[])?;
        let of_cells = fields::read(&self.arrays, cell_data, cells, &skipped)?;
        let mut point_fields = of_points.into_iter().collect();
        let attributes = take_attributes(&mut point_fields);
        let sources = sources.each_ref().map(Vec::as_slice);
        let [cell_fields, side_fields] = split(of_cells, cells, sources);
        Ok(Mesh {
            points: coordinates.iter().map(|c| DVec3::from_array(*c)).collect(),
            faces: FaceList::concat(vec![faces]).map_err(|reason| fault(piece, reason))?,
            regions,
            segments,
            attributes,
            fields: MeshFields {
                points: point_fields,
                cells: cell_fields,
                sides: side_fields,
            },
        })
    }
}

fn check_kind(cell: usize, kind: f64) -> Result<(), String> {
    match [LINE, TRIANGLE, POLYGON, QUAD]
        .map(f64::from)
        .contains(&kind)
    {
        true => Ok(()),
        false => Err(format!(
            "cell {cell} has VTK type {kind}, but lines (3), triangles (5), polygons (7) and quads (9) are read"
        )),
    }
}

pub(crate) fn write(path: &Path, mesh: &Mesh) -> Result<()> {
    write_atomically(path, |file| write_to(file, mesh))
}

fn write_to(out: &mut (impl Write + Send), mesh: &Mesh) -> io::Result<()> {
    let (points, faces, lines) = (mesh.points.len(), mesh.faces.len(), mesh.segments.len());
    let cells = faces + lines;
    let face_corners = match &mesh.faces {
        Faces::Triangles(triangles) => 3 * triangles.len(),
        Faces::Polygons(polygons) => polygons.vertices.len(),
    };
    let cell = |i: usize| match i.checked_sub(faces) {
        None => mesh.faces.get(i),
        Some(line) => &mesh.segments[line].ends,
    };
    let point = |i: usize, numbers: &mut Numbers| {
        for coordinate in mesh.points[i].to_array() {
            numbers.float(coordinate);
        }
    };
    let vertices = |i: usize, numbers: &mut Numbers| {
        for &vertex in cell(i) {
            numbers.integer(vertex.into());
        }
    };
    let end = |i: usize, numbers: &mut Numbers| {
        let end = match (i.checked_sub(faces), &mesh.faces) {
            (Some(line), _) => face_corners + 2 * (line + 1),
            (None, Faces::Triangles(_)) => 3 * (i + 1),
            (None, Faces::Polygons(polygons)) => polygons.offsets[i + 1] as usize,
        };
        numbers.integer(end as i64);
    };
    let kind = |i: usize, numbers: &mut Numbers| {
        let kind = match (i < faces, cell(i).len()) {
            (false, _) => LINE,
            (true, 3) => TRIANGLE,
            (true, _) => POLYGON,
        };
        numbers.integer(kind.into());
    };
    let region = |i: usize, numbers: &mut Numbers| {
        let regions = mesh.regions.as_deref().unwrap_or_default();
        let region = if i < faces { regions[i] } else { 0 };
        numbers.integer(region.into());
    };
    let marker = |i: usize, numbers: &mut Numbers| {
        let line = i.checked_sub(faces);
        let marker = line.map_or(0, |line| mesh.segments[line].marker);
        numbers.integer(marker.into());
    };
    let corners = face_corners + 2 * lines;
    let mut grid = Grid::new(points, cells, corners, [&point, &vertices, &end, &kind]);
    if lines > 0 {
        grid.cell_data = " Scalars=\"marker\"".to_owned();
    }
    if mesh.regions.is_some() {
        grid.cell_data = " Scalars=\"region\"".to_owned();
        grid.push_tags("region", &region);
    }
    if lines > 0 {
        grid.push_tags("marker", &marker);
    }
    let attributes = of_attributes(&mesh.attributes);
    grid.push_point_fields(&attributes);
    grid.push_point_fields(&mesh.fields.points);
    grid.push_cell_fields([&mesh.fields.cells, &mesh.fields.sides], [faces, lines]);
    vtu_out::write(out, &grid, Encoding::Binary)
}
