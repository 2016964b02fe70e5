//! The files of the Triangle mesh generator: `.node` with points, `.ele` with triangles, `.poly` with segments.
//!
//! <https://www.cs.cmu.edu/~quake/triangle.node.html>, `triangle.ele.html`, `triangle.poly.html`. A mesh is a `.node`
//! and an `.ele` file of one stem; either path, or the bare stem, names both. A `.poly` file of the same stem adds its
//! segments; it must have no points, or the first points of the `.node` file. A `.neigh` file is not used: neighbours
//! are computed. Points are numbered from 0 or from 1, as the first point is. The first attribute of the triangles is
//! their region; if it is not a whole number throughout, it is a field, and regions number its values, with a note
//! ([`columns`](super::columns)). Other attributes, and attributes and markers of points, are fields. Triangles of
//! second order (`-o2`) are read by their corners. A `.node` file without an `.ele` file of its stem is read as points.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use glam::DVec3;

use super::atomic_file::{AtomicFile, Out};
use super::columns::{Attributes, Columns, Kept};
use super::input::parse_existing;
use super::rows_out::{push_after_blanks, push_f64, push_integer, write_records};
use super::text::{Fault, Line, Parsed, TextRows, text_start, with_line_feeds};
use super::volume::elements::{self, Grid, Shape, Tags};
use super::{Loaded, parse_file, triangles};
use trioxide_mesh::fields::{Fields, MeshFields};
use trioxide_mesh::mesh::{Faces, Mesh, Segment};
use trioxide_mesh::{Error, Result, parallel};

pub(crate) fn read(path: &Path) -> Result<Loaded> {
    let nodes = parse_file(&sibling(path, "node"), parse_nodes)?;
    let ele_path = sibling(path, "ele");
    if is_lone_node(path)? {
        let mut loaded = Loaded::from(nodes.into_mesh());
        let note = "there is no .ele file beside it: the points alone are read";
        let outline = match sibling(path, "poly") {
            poly if poly.is_file() => format!(": triangulate {} takes its outline", poly.display()),
            _ => String::new(),
        };
        loaded.notes.push(format!("{note}{outline}"));
        return Ok(loaded);
    }
    let elements = parse_file(&ele_path, |file| parse_elements(file, &nodes))?;
    let poly_path = sibling(path, "poly");
    let segments = parse_existing(&poly_path, |file| parse_segments(file, &nodes))?;
    elements
        .into_mesh(nodes, segments.unwrap_or_default())
        .map_err(|reason| Fault::new(0, reason).in_text(&ele_path, &[]))
}

/// Whether `path` is a `.node` file without triangles.
pub(crate) fn is_lone_node(path: &Path) -> Result<bool> {
    let is_node = path
        .extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("node"));
    let triangles = sibling(path, "ele");
    let has_triangles = triangles.try_exists();
    Ok(is_node && !has_triangles.map_err(|source| Error::file(&triangles, source))?)
}

/// Whether `path` is a bare stem: `bay.1` for `bay.1.node` and `bay.1.ele`.
pub(crate) fn is_stem(path: &Path) -> bool {
    sibling(path, "node").is_file() && sibling(path, "ele").is_file()
}

/// The files of a mesh of triangles or of tetrahedra that `path` names.
pub(crate) fn files(path: &Path) -> Vec<PathBuf> {
    let extensions = ["node", "ele", "poly", "face"];
    extensions.map(|extension| sibling(path, extension)).into()
}

/// The file with the stem of `path` and `extension`, in the case of the extension of `path`.
pub(crate) fn sibling(path: &Path, extension: &str) -> PathBuf {
    let given = path.extension().and_then(OsStr::to_str).unwrap_or_default();
    if !["node", "ele", "poly"].contains(&given.to_ascii_lowercase().as_str()) {
        let mut name = path.as_os_str().to_owned();
        name.push(".");
        name.push(extension);
        return name.into();
    }
    if given.bytes().all(|letter| letter.is_ascii_uppercase()) {
        return path.with_extension(extension.to_ascii_uppercase());
    }
    path.with_extension(extension)
}

/// The content of a `.node` file.
pub(crate) struct Nodes {
    pub(crate) points: Vec<DVec3>,
    /// Number of the first point: 0 or 1.
    pub(crate) base: u32,
    /// Number of coordinates in the file: 2 or 3.
    pub(crate) dimensions: usize,
    /// Attributes and markers.
    pub(crate) fields: Fields,
}

impl Nodes {
    /// The points alone.
    pub(crate) fn into_mesh(self) -> Mesh {
        let mut mesh = Mesh {
            points: self.points,
            ..Mesh::default()
        };
        mesh.fields.points = self.fields;
        mesh
    }
}

/// The number of the next header field, or `default` if the header is shorter.
pub(crate) fn header_count(line: &mut Line, what: &str, default: usize) -> Parsed<usize> {
    match line.is_finished() {
        true => Ok(default),
        false => line.count(what),
    }
}

pub(crate) fn parse_nodes(file: &[u8]) -> Parsed<Nodes> {
    let file = &*with_line_feeds(file);
    let rows = TextRows::new(file, text_start(file));
    let (nodes, end) = parse_points(&rows)?;
    rows.expect_end(end, "the points")?;
    Ok(nodes)
}

/// The points at the start of a `.node` or `.poly` file, and the row after them.
pub(crate) fn parse_points(rows: &TextRows) -> Parsed<(Nodes, usize)> {
    let mut header = rows.row(0, "the number of points")?;
    let count = header.count("the number of points")?;
    let offset = header.offset();
    let dimensions = header_count(&mut header, "the number of dimensions", 2)?;
    if dimensions != 2 && dimensions != 3 {
        let reason = format!("points have {dimensions} coordinates, but 2 or 3 are read");
        return Err(Fault::new(offset, reason));
    }
    let columns = Columns {
        attributes: header_count(&mut header, "the number of attributes", 0)?,
        has_marker: header_count(&mut header, "the number of markers", 0)? > 0,
    };
    let points = rows.expect(1, count, "points")?;
    let end = points.end;
    let base = match count {
        0 => 0,
        _ => first_index(rows.row(1, "a point")?)?,
    };
    let parse = |row: usize, line: &mut Line| {
        let offset = line.offset();
        let index = line.integer("a point's number")?;
        if index != row as i64 + i64::from(base) {
            let expected = row as u64 + u64::from(base);
            let reason = format!(
                "point {index} stands where point {expected} should: number points in order"
            );
            return Err(Fault::new(offset, reason));
        }
        let (x, y) = (line.f64("x")?, line.f64("y")?);
        let z = if dimensions == 3 { line.f64("z")? } else { 0.0 };
        Ok(DVec3::new(x, y, z))
    };
    if columns.is_empty() {
        let points = rows.parse_each(points, parse)?;
        let fields = Fields::default();
        return Ok((
            Nodes {
                points,
                base,
                dimensions,
                fields,
            },
            end,
        ));
    }
    let mut chunks = rows.parse(points, |(points, numbers): &mut (Vec<_>, _), row, line| {
        points.push(parse(row, line)?);
        columns.read(line, numbers)
    })?;
    let nodes = Nodes {
        points: parallel::concat_lists(&mut chunks, |chunk| &mut chunk.0),
        base,
        dimensions,
        fields: columns.fields(&parallel::concat_lists(&mut chunks, |chunk| &mut chunk.1)),
    };
    Ok((nodes, end))
}

/// The number of the first point.
fn first_index(mut line: Line) -> Parsed<u32> {
    let offset = line.offset();
    match line.integer("a point's number")? {
        index @ (0 | 1) => Ok(index as u32),
        index => {
            let reason = format!("the first point has number {index}: it must be 0 or 1");
            Err(Fault::new(offset, reason))
        }
    }
}

/// The content of an `.ele` file.
pub(crate) struct Elements {
    pub(crate) triangles: Vec<[u32; 3]>,
    pub(crate) attributes: Attributes,
    /// Nodes of triangles of second order that are not corners.
    pub(crate) side_nodes: Vec<u32>,
}

impl Elements {
    /// The mesh, without the nodes on sides.
    ///
    /// # Errors
    /// The rule that the elements break together.
    pub(crate) fn into_mesh(self, nodes: Nodes, segments: Vec<Segment>) -> Result<Loaded, String> {
        let Attributes {
            regions,
            fields,
            notes,
        } = self.attributes;
        if self.side_nodes.is_empty() {
            let mut mesh = Mesh {
                faces: Faces::Triangles(self.triangles),
                regions,
                segments,
                ..nodes.into_mesh()
            };
            mesh.fields.cells = fields;
            return Ok(Loaded { mesh, notes });
        }
        let mut all = elements::Elements::default();
        all.has_regions = regions.is_some();
        all.notes = notes;
        let tags = regions.as_deref().map_or(Tags::All(0), Tags::Each);
        all.push(Shape::TRIANGLE, self.triangles.as_flattened(), tags)?;
        for segment in &segments {
            all.push(Shape::Line, &segment.ends, Tags::All(segment.marker))?;
        }
        all.push_side_nodes(self.triangles.len(), &self.side_nodes);
        // The grid has faces as sides.
        let fields = MeshFields {
            points: nodes.fields,
            sides: fields,
            ..MeshFields::default()
        };
        let grid = Grid::new(nodes.points, all)?;
        Ok(grid.with_mesh_fields(fields).into_surface()?)
    }
}

/// Triangles or tetrahedra of one chunk.
#[derive(Default)]
pub(crate) struct SimplexChunk {
    pub(crate) vertices: Vec<u32>,
    pub(crate) side_nodes: Vec<u32>,
    /// Attributes of `.ele` files.
    attributes: Vec<f64>,
    /// Markers of `.face` files.
    pub(crate) tags: Vec<i32>,
}

impl SimplexChunk {
    /// Reads `corners` corners, and `side_nodes` nodes on sides.
    pub(crate) fn read_nodes(
        &mut self,
        line: &mut Line,
        nodes: &Nodes,
        [corners, side_nodes]: [usize; 2],
    ) -> Parsed<()> {
        let mut read = |list: &mut Vec<u32>, count| {
            for _ in 0..count {
                list.push(line.vertex(nodes.base, nodes.points.len())?);
            }
            Ok(())
        };
        read(&mut self.vertices, corners)?;
        read(&mut self.side_nodes, side_nodes)
    }
}

/// The elements of an `.ele` file with `corners` corners, called `one` and `many`, and their attributes.
pub(crate) fn parse_simplices(
    file: &[u8],
    nodes: &Nodes,
    corners: usize,
    [one, many]: [&str; 2],
) -> Parsed<(Vec<SimplexChunk>, Attributes)> {
    let file = &*with_line_feeds(file);
    let rows = TextRows::new(file, text_start(file));
    let number = format!("the number of {many}");
    let mut header = rows.row(0, &number)?;
    let count = header.count(&number)?;
    let offset = header.offset();
    let of_one = format!("the number of nodes per {one}");
    let nodes_of_one = header_count(&mut header, &of_one, corners)?;
    let second_order = corners * (corners + 1) / 2;
    if (corners, nodes_of_one) == (3, 4) {
        let reason = "the elements are tetrahedra (4 nodes), but triangles are needed";
        return Err(Fault::new(offset, reason));
    }
    if nodes_of_one != corners && nodes_of_one != second_order {
        let reason = format!(
            "the elements have {nodes_of_one} nodes, but {corners} or {second_order} are needed"
        );
        return Err(Fault::new(offset, reason));
    }
    let columns = Columns {
        attributes: header_count(&mut header, "the number of attributes", 0)?,
        has_marker: false,
    };
    let elements = rows.expect(1, count, many)?;
    rows.expect_end(elements.end, &format!("the {many}"))?;
    let number = format!("a {one}'s number");
    let mut chunks = rows.parse(elements, |chunk: &mut SimplexChunk, _, line| {
        line.integer(&number)?;
        chunk.read_nodes(line, nodes, [corners, nodes_of_one - corners])?;
        columns.read(line, &mut chunk.attributes)
    })?;
    let numbers = parallel::concat_lists(&mut chunks, |chunk| &mut chunk.attributes);
    Ok((chunks, Attributes::new(columns.attributes, &numbers)))
}

pub(crate) fn parse_elements(file: &[u8], nodes: &Nodes) -> Parsed<Elements> {
    let (mut chunks, attributes) = parse_simplices(file, nodes, 3, ["triangle", "triangles"])?;
    let triangles = chunks.iter().map(|chunk| chunk.vertices.as_chunks().0);
    Ok(Elements {
        triangles: parallel::concat_slices(&triangles.collect::<Vec<_>>()),
        attributes,
        side_nodes: parallel::concat_lists(&mut chunks, |chunk| &mut chunk.side_nodes),
    })
}

/// The segments of a `.poly` file. Its holes and regions were used to make the mesh, and are not needed again.
pub(crate) fn parse_segments(file: &[u8], nodes: &Nodes) -> Parsed<Vec<Segment>> {
    let file = &*with_line_feeds(file);
    let rows = TextRows::new(file, text_start(file));
    let (own, row) = parse_points(&rows)?;
    // A mesh generator keeps the points of its input and appends its own.
    let base = match own.points.len() {
        0 => nodes.base,
        _ => own.base,
    };
    if !nodes.points.starts_with(&own.points) {
        let reason = "its points are not those of the .node file beside it: rename one of the two";
        return Err(Fault::new(rows.row(0, "")?.offset(), reason));
    }
    parse_segment_rows(&rows, row, base, nodes.points.len()).map(|(segments, _)| segments)
}

/// The segments from a row on, between `count` points numbered from `base`, and the row after them.
pub(crate) fn parse_segment_rows(
    rows: &TextRows,
    row: usize,
    base: u32,
    points: usize,
) -> Parsed<(Vec<Segment>, usize)> {
    let mut header = rows.row(row, "the number of segments")?;
    let count = header.count("the number of segments")?;
    let markers = header_count(&mut header, "the number of markers", 0)?;
    let segments = rows.expect(row + 1, count, "segments")?;
    let end = segments.end;
    let segments = rows.parse_each(segments, |_, line| {
        line.integer("a segment's number")?;
        let mut ends = [0; 2];
        for vertex in &mut ends {
            *vertex = line.vertex(base, points)?;
        }
        let marker = match markers {
            0 => 0,
            _ => line.tag("a marker", "marker")?,
        };
        Ok(Segment { ends, marker })
    })?;
    Ok((segments, end))
}

/// Whether a `.poly` file has points of its own, as a program that makes outlines writes it.
fn has_points(path: &Path) -> bool {
    if !path.is_file() {
        return false;
    }
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(1 << 16).read_to_end(&mut head));
    let rows = TextRows::new(&head, text_start(&head));
    let count = rows.row(0, "").and_then(|mut row| row.count(""));
    read.is_ok() && count.is_ok_and(|count| count > 0)
}

/// Writes a `.node` and an `.ele` file, numbered from 0, and a `.poly` file if there are segments.
pub(crate) fn write(path: &Path, mesh: &Mesh) -> Result<()> {
    let triangles = triangles(path, &mesh.faces)?;
    let poly_path = sibling(path, "poly");
    if mesh.segments.is_empty() && poly_path.exists() {
        let reason = "stands beside the output and would be read as its segments: move it away or choose another name";
        return Err(Error::format(&poly_path, reason));
    }
    if has_points(&poly_path) {
        let reason = "stands beside the output and is an outline with points of its own, which the segments of the output would \
                      replace: move it away or choose another name";
        return Err(Error::format(&poly_path, reason));
    }
    let regions = mesh.regions.as_deref();
    let mut files = vec![
        AtomicFile::written(&sibling(path, "node"), |out| {
            write_nodes(out, &mesh.points, &mesh.fields.points)
        })?,
        AtomicFile::written(&sibling(path, "ele"), |out| {
            writeln!(out, "{} 3 {}", triangles.len(), u8::from(regions.is_some()))?;
            write_lists(
                out,
                triangles.len(),
                |i| &triangles[i],
                |i| Some(regions?[i]),
            )
        })?,
    ];
    if !mesh.segments.is_empty() {
        files.push(AtomicFile::written(&poly_path, |out| {
            // No points: they are in the .node file.
            writeln!(out, "0 2 0 0")?;
            write_segment_rows(out, &mesh.segments)
        })?);
    }
    // They are committed only when all are complete.
    AtomicFile::commit_all(files)
}

/// Writes points with the fields that are attributes and markers.
pub(crate) fn write_nodes(
    out: &mut dyn Out,
    points: &[DVec3],
    fields: &Fields,
) -> std::io::Result<()> {
    let kept = Kept::of(fields);
    let [attributes, markers] = kept.counts();
    let is_flat = points.iter().all(|point| point.z == 0.0);
    let dimensions = if is_flat { 2 } else { 3 };
    writeln!(out, "{} {dimensions} {attributes} {markers}", points.len())?;
    write_records(out, points.len(), |buffer, i| {
        push_integer(buffer, i);
        for coordinate in &points[i].to_array()[..dimensions] {
            buffer.push(b' ');
            push_f64(buffer, *coordinate);
        }
        kept.push(buffer, i);
        buffer.push(b'\n');
    })
}

/// Writes `count` numbered lists of vertices, each with its tag if it has one.
pub(crate) fn write_lists<'a>(
    out: &mut dyn Out,
    count: usize,
    vertices: impl Fn(usize) -> &'a [u32] + Sync,
    tag: impl Fn(usize) -> Option<i32> + Sync,
) -> std::io::Result<()> {
    write_records(out, count, |buffer, i| {
        push_integer(buffer, i);
        push_after_blanks(buffer, vertices(i).iter().copied());
        push_after_blanks(buffer, tag(i));
        buffer.push(b'\n');
    })
}

/// Writes the segments of a `.poly` file after its points, and no holes.
pub(crate) fn write_segment_rows(out: &mut dyn Out, segments: &[Segment]) -> std::io::Result<()> {
    writeln!(out, "{} 1", segments.len())?;
    let marker = |i: usize| Some(segments[i].marker);
    write_lists(out, segments.len(), |i| &segments[i].ends, marker)?;
    writeln!(out, "0")
}
