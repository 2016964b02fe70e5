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

use super::atomic_file::write_atomically;
use super::faces::FaceList;
use super::map_file;
use super::rows_out::write_records;
use super::text::{Parsed, check_vertex, whole};
use super::volume::vtu::arrays::{Arrays, File, array, child, count, fault};
use trioxide_mesh::Result;
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
        let coordinates = self.arrays.floats(points, point_count.checked_mul(3))?;
        let (coordinates, _) = coordinates.as_chunks::<3>();

        let cell_node = child(piece, "Cells")?;
        let cell_array = |name, length| {
            let node = array(cell_node, name)
                .ok_or_else(|| fault(cell_node, format!("there is no array {name}")))?;
            Ok((node, self.arrays.floats(node, length)?))
        };
        let (types_node, types) = cell_array("types", Some(cells))?;
        let (offsets_node, offsets) = cell_array("offsets", Some(cells))?;
        let (connectivity_node, connectivity) = cell_array("connectivity", None)?;
        let mut faces = FaceList::default();
        let mut segments = Vec::new();
        let is_line = |i: usize| types[i] == f64::from(LINE);
        let mut begin = 0;
        for (i, (kind, end)) in types.iter().zip(&offsets).enumerate() {
            if ![LINE, TRIANGLE, POLYGON, QUAD]
                .map(f64::from)
                .contains(kind)
            {
                let reason = format!(
                    "cell {i} has VTK type {kind}, but lines (3), triangles (5), polygons (7) and quads (9) are read"
                );
                return Err(fault(types_node, reason));
            }
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
                .floats(node, Some(cells))?
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
        Ok(Mesh {
            points: coordinates.iter().map(|c| DVec3::from_array(*c)).collect(),
            faces: FaceList::concat(vec![faces]).map_err(|reason| fault(piece, reason))?,
            regions,
            segments,
            ..Mesh::default()
        })
    }
}

pub(crate) fn write(path: &Path, mesh: &Mesh) -> Result<()> {
    write_atomically(path, |file| write_to(file, mesh))
}

fn write_to(out: &mut (impl Write + Send), mesh: &Mesh) -> io::Result<()> {
    let (points, faces, lines) = (mesh.points.len(), mesh.faces.len(), mesh.segments.len());
    let cells = faces + lines;
    let connectivity = match &mesh.faces {
        Faces::Triangles(triangles) => triangles.as_flattened(),
        Faces::Polygons(polygons) => &polygons.vertices,
    };
    // 32 bits are half the file.
    let corners = connectivity.len() + 2 * lines;
    let is_small = i32::try_from(points.max(corners)).is_ok();
    let (index, index_size) = if is_small { ("Int32", 4) } else { ("Int64", 8) };
    let push_index = |buffer: &mut Vec<u8>, value: usize| match is_small {
        true => buffer.extend_from_slice(&(value as i32).to_le_bytes()),
        false => buffer.extend_from_slice(&(value as i64).to_le_bytes()),
    };

    let lengths = [
        24 * points,
        index_size * corners,
        index_size * cells,
        cells,
        4 * cells,
        4 * cells,
    ];
    let has_regions = mesh.regions.is_some();
    let has_array = [true, true, true, true, has_regions, lines > 0];
    // Each array has its length before it.
    let mut offsets = [0; 6];
    for i in 1..6 {
        let before = if has_array[i - 1] {
            8 + lengths[i - 1]
        } else {
            0
        };
        offsets[i] = offsets[i - 1] + before;
    }
    let array = |kind: &str, name: &str, more: &str, i: usize| {
        let offset = offsets[i];
        format!(
            "        <DataArray type=\"{kind}\" Name=\"{name}\"{more} format=\"appended\" offset=\"{offset}\"/>\n"
        )
    };
    write!(
        out,
        "<?xml version=\"1.0\"?>\n\
         <VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\">\n  \
         <UnstructuredGrid>\n    \
         <Piece NumberOfPoints=\"{points}\" NumberOfCells=\"{cells}\">\n      \
         <Points>\n{}      </Points>\n      \
         <Cells>\n{}{}{}      </Cells>\n",
        array("Float64", "Points", " NumberOfComponents=\"3\"", 0),
        array(index, "connectivity", "", 1),
        array(index, "offsets", "", 2),
        array("UInt8", "types", "", 3),
    )?;
    let tags: Vec<(&str, String)> = [(4, "region"), (5, "marker")]
        .into_iter()
        .filter(|(i, _)| has_array[*i])
        .map(|(i, name)| (name, array("Int32", name, "", i)))
        .collect();
    if let Some((first, _)) = tags.first() {
        writeln!(out, "      <CellData Scalars=\"{first}\">")?;
        for (_, array) in &tags {
            write!(out, "{array}")?;
        }
        writeln!(out, "      </CellData>")?;
    }
    write!(
        out,
        "    </Piece>\n  </UnstructuredGrid>\n  <AppendedData encoding=\"raw\">\n_"
    )?;
    let write_length =
        |out: &mut _, i: usize| Write::write_all(out, &(lengths[i] as u64).to_le_bytes());
    write_length(out, 0)?;
    write_records(out, points, |buffer, i| {
        for coordinate in mesh.points[i].to_array() {
            buffer.extend_from_slice(&coordinate.to_le_bytes());
        }
    })?;
    write_length(out, 1)?;
    write_records(out, connectivity.len(), |buffer, i| {
        push_index(buffer, connectivity[i] as usize)
    })?;
    write_records(out, lines, |buffer, i| {
        for end in mesh.segments[i].ends {
            push_index(buffer, end as usize);
        }
    })?;
    write_length(out, 2)?;
    write_records(out, faces, |buffer, i| {
        push_index(
            buffer,
            match &mesh.faces {
                Faces::Triangles(_) => 3 * (i + 1),
                Faces::Polygons(polygons) => polygons.offsets[i + 1] as usize,
            },
        );
    })?;
    write_records(out, lines, |buffer, i| {
        push_index(buffer, connectivity.len() + 2 * (i + 1))
    })?;
    write_length(out, 3)?;
    write_records(out, faces, |buffer, i| {
        buffer.push(match &mesh.faces {
            Faces::Polygons(polygons) if polygons.get(i).len() != 3 => POLYGON,
            _ => TRIANGLE,
        });
    })?;
    write_records(out, lines, |buffer, _| buffer.push(LINE))?;
    if let Some(regions) = &mesh.regions {
        write_length(out, 4)?;
        write_records(out, cells, |buffer, i| {
            let region = if i < faces { regions[i] } else { 0 };
            buffer.extend_from_slice(&region.to_le_bytes());
        })?;
    }
    if lines > 0 {
        write_length(out, 5)?;
        write_records(out, cells, |buffer, i| {
            let line = i.checked_sub(faces);
            let marker = line.map_or(0, |line| mesh.segments[line].marker);
            buffer.extend_from_slice(&marker.to_le_bytes());
        })?;
    }
    write!(out, "\n  </AppendedData>\n</VTKFile>\n")
}
