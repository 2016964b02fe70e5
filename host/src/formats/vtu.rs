//! VTK's unstructured grid: `.vtu`.
//!
//! <https://docs.vtk.org/en/latest/vtk_file_formats/vtkxml_file_format.html>. Written is raw appended binary: triangles and
//! polygons as such, region ids as the cell array `region`; behind the faces, segments as lines, with their markers in the
//! cell array `marker`. An array has a value for every cell: lines are in region 0 and faces have marker 0, and neither
//! means anything. Read are raw appended and text arrays without compression, one piece, cells that are triangles, quads,
//! polygons or lines, in any order.

use std::borrow::Cow;
use std::io::{self, Write};
use std::path::Path;

use glam::DVec3;
use rayon::prelude::*;
use roxmltree::{Document, Node};

use super::atomic_file::write_atomically;
use super::faces::FaceList;
use super::map_file;
use super::rows_out::write_records;
use super::text::{Fault, Parsed, check_vertex, show, whole};
use crate::Result;
use crate::mesh::{Faces, Mesh, Segment};

const LINE: u8 = 3;
const TRIANGLE: u8 = 5;
const POLYGON: u8 = 7;
const QUAD: u8 = 9;

pub(crate) fn read(path: &Path) -> Result<Mesh> {
    let file = map_file(path)?;
    parse(&file).map_err(|fault| fault.in_text(path, &file))
}

pub(crate) fn parse(file: &[u8]) -> Parsed<Mesh> {
    // Raw data is no XML: the document ends before it.
    let (head, raw) = match memchr::memmem::find(file, b"<AppendedData") {
        None => (Cow::Borrowed(file), None),
        Some(begin) => {
            let mark = memchr::memchr(b'_', &file[begin..])
                .ok_or_else(|| Fault::new(begin, "the appended data has no `_` before it"))?;
            let tag = &file[begin..begin + mark];
            if memchr::memmem::find(tag, b"raw").is_none() {
                let reason = "the appended data is not raw: write it without base64";
                return Err(Fault::new(begin, reason));
            }
            let head = [&file[..begin], b"</VTKFile>"].concat();
            (Cow::Owned(head), Some(begin + mark + 1))
        }
    };
    let head = std::str::from_utf8(&head)
        .map_err(|error| Fault::new(error.valid_up_to(), "the XML is not UTF-8"))?;
    let document = Document::parse(head).map_err(|error| {
        let row = error.pos().row as usize;
        let offset = memchr::memchr_iter(b'\n', head.as_bytes()).nth(row.saturating_sub(2));
        let offset = if row < 2 {
            0
        } else {
            offset.map_or(0, |at| at + 1)
        };
        Fault::new(offset, error.to_string())
    })?;
    let reader = Reader::new(file, raw, document.root_element())?;
    reader.mesh(document.root_element())
}

/// The file, and how its arrays are laid down.
struct Reader<'a> {
    file: &'a [u8],
    /// Offset of the appended data.
    raw: Option<usize>,
    is_little_endian: bool,
    /// Size in bytes of the length before each array.
    length_size: usize,
}

fn fault(node: Node, reason: impl Into<String>) -> Fault {
    Fault::new(node.range().start, reason)
}

fn child<'a, 'b>(node: Node<'a, 'b>, name: &str) -> Parsed<Node<'a, 'b>> {
    let mut all = node.children().filter(|child| child.has_tag_name(name));
    let first = all
        .next()
        .ok_or_else(|| fault(node, format!("there is no {name} here")))?;
    match all.next() {
        None => Ok(first),
        Some(second) => Err(fault(second, format!("there is a second {name}"))),
    }
}

fn array<'a, 'b>(node: Node<'a, 'b>, name: &str) -> Option<Node<'a, 'b>> {
    node.children().find(|child| {
        child.has_tag_name("DataArray") && child.attribute("Name").is_some_and(|n| n == name)
    })
}

fn count(node: Node, attribute: &str) -> Parsed<usize> {
    let text = node.attribute(attribute).unwrap_or_default();
    text.trim().parse().map_err(|_| {
        fault(
            node,
            format!("expected a number in {attribute}, found `{text}`"),
        )
    })
}

impl<'a> Reader<'a> {
    fn new(file: &'a [u8], raw: Option<usize>, root: Node) -> Parsed<Reader<'a>> {
        if !root.has_tag_name("VTKFile") || root.attribute("type") != Some("UnstructuredGrid") {
            return Err(fault(root, "expected a VTKFile of type UnstructuredGrid"));
        }
        if let Some(compressor) = root.attribute("compressor") {
            let reason = format!("the data is compressed ({compressor}): write it uncompressed");
            return Err(fault(root, reason));
        }
        Ok(Reader {
            file,
            raw,
            is_little_endian: root.attribute("byte_order") != Some("BigEndian"),
            length_size: match root.attribute("header_type") {
                Some("UInt64") => 8,
                _ => 4,
            },
        })
    }

    fn mesh(&self, root: Node) -> Parsed<Mesh> {
        let piece = child(child(root, "UnstructuredGrid")?, "Piece")?;
        let (point_count, cells) = (
            count(piece, "NumberOfPoints")?,
            count(piece, "NumberOfCells")?,
        );
        let points = child(child(piece, "Points")?, "DataArray")?;
        let coordinates = self.numbers(points, point_count.checked_mul(3))?;
        let (coordinates, _) = coordinates.as_chunks::<3>();

        let cell_node = child(piece, "Cells")?;
        let cell_array = |name, length| {
            let node = array(cell_node, name)
                .ok_or_else(|| fault(cell_node, format!("there is no array {name}")))?;
            Ok((node, self.numbers(node, length)?))
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
            let values = self.numbers(node, Some(cells))?.into_iter().enumerate();
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

    /// The numbers of an array, which must be `length` where that is known.
    fn numbers(&self, node: Node, length: Option<usize>) -> Parsed<Vec<f64>> {
        let numbers = match node.attribute("format") {
            Some("appended") => self.appended(node)?,
            Some("ascii") => node
                .text()
                .unwrap_or_default()
                .split_ascii_whitespace()
                .map(|token| {
                    fast_float2::parse(token).map_err(|_| {
                        let token = show(token.as_bytes());
                        fault(node, format!("expected a number, found `{token}`"))
                    })
                })
                .collect::<Parsed<Vec<f64>>>()?,
            _ => {
                let reason = "the array is neither appended nor text: write it as one of them";
                return Err(fault(node, reason));
            }
        };
        match length {
            Some(length) if length != numbers.len() => {
                let reason = format!("expected {length} numbers, found {}", numbers.len());
                Err(fault(node, reason))
            }
            _ => Ok(numbers),
        }
    }

    fn appended(&self, node: Node) -> Parsed<Vec<f64>> {
        let out_of_file = || fault(node, "the array reaches beyond the end of the file");
        let begin = self
            .raw
            .and_then(|raw| raw.checked_add(count(node, "offset").ok()?))
            .ok_or_else(out_of_file)?;
        let data = begin
            .checked_add(self.length_size)
            .ok_or_else(out_of_file)?;
        let length = self.file.get(begin..data).ok_or_else(out_of_file)?;
        let length = match self.length_size {
            8 => self.number(length, u64::from_le_bytes, u64::from_be_bytes),
            _ => u64::from(self.number(length, u32::from_le_bytes, u32::from_be_bytes)),
        };
        let bytes = usize::try_from(length)
            .ok()
            .and_then(|length| self.file.get(data..data.checked_add(length)?))
            .ok_or_else(out_of_file)?;
        macro_rules! numbers {
            ($type:ty) => {
                bytes
                    .par_chunks_exact(size_of::<$type>())
                    .map(|b| self.number(b, <$type>::from_le_bytes, <$type>::from_be_bytes) as f64)
                    .collect()
            };
        }
        // Indices have 32 bits: as f64 they stay exact.
        Ok(match node.attribute("type").unwrap_or_default() {
            "Int8" => numbers!(i8),
            "UInt8" => numbers!(u8),
            "Int16" => numbers!(i16),
            "UInt16" => numbers!(u16),
            "Int32" => numbers!(i32),
            "UInt32" => numbers!(u32),
            "Int64" => numbers!(i64),
            "UInt64" => numbers!(u64),
            "Float32" => numbers!(f32),
            "Float64" => numbers!(f64),
            other => return Err(fault(node, format!("there is no number type `{other}`"))),
        })
    }

    fn number<const N: usize, T>(
        &self,
        bytes: &[u8],
        little: fn([u8; N]) -> T,
        big: fn([u8; N]) -> T,
    ) -> T {
        let bytes = bytes.try_into().expect("the bytes of one number");
        if self.is_little_endian {
            little(bytes)
        } else {
            big(bytes)
        }
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
