//! MFEM's meshes: `.mesh`, as Medit's, known by their first line. Versions 1.0 to 1.3.
//!
//! <https://mfem.org/mesh-format-v1.0/>, and `Mesh::Loader` of MFEM's sources. Elements are lines, faces or cells;
//! their attributes are regions, those of the boundary tags of faces or markers of lines. A curved mesh has the numbers
//! of a field in place of coordinates: of `H1` the first ones are the vertices, so elements are read by their corners.
//! Names of sets of attributes (1.3) and the entities that a part of a mesh shares with others (1.2) are left out with
//! a note.
//!
//! NURBS and nonconforming meshes, meshes that MFEM generates, and discontinuous fields, of periodic meshes, are
//! refused.

use glam::DVec3;

use super::elements::{Elements, Grid, Shape, Tags};
use super::tokens::{Text, nth_token};
use crate::text::listed;
use crate::text::{Fault, Parsed, check_tag, check_vertex, show, text_start};
use trioxide_mesh::volume::CellKind;

/// Shapes by MFEM's number.
const SHAPES: [Shape; 8] = [
    Shape::Point,
    Shape::Line,
    Shape::TRIANGLE,
    Shape::QUADRILATERAL,
    Shape::TETRAHEDRON,
    Shape::Cell(CellKind::Hexahedron),
    Shape::Cell(CellKind::Wedge),
    Shape::Cell(CellKind::Pyramid),
];

/// The way of a mesh that is not read.
const WAY: &str = "write it by MFEM's Mesh::PrintVTU, and read that .vtu file";

/// Whether a file is one of MFEM.
pub(crate) fn is_mfem(file: &[u8]) -> bool {
    file[Text::new(file, text_start(file)).skip_blanks()..].starts_with(b"MFEM ")
}

/// Whether the file has cells of three dimensions.
pub(super) fn is_volume(file: &[u8]) -> bool {
    let search = || -> Parsed<bool> {
        let mut text = opened(file)?;
        let dimension = dimension(&mut text)?;
        let is_next = text.word() == Some(b"elements");
        Ok(dimension == 3 && is_next && text.count("")? > 0)
    };
    search().unwrap_or(false)
}

/// The text after the first line, which names the version.
fn opened(file: &[u8]) -> Parsed<Text<'_>> {
    let mut text = Text::new(file, text_start(file));
    let begin = text.skip_blanks();
    let line = String::from_utf8_lossy(text.line().trim_ascii()).into_owned();
    let kind = match line.as_str() {
        "MFEM mesh v1.0" | "MFEM mesh v1.1" | "MFEM mesh v1.2" | "MFEM mesh v1.3" => {
            return Ok(text);
        }
        line if line.contains("NURBS") => "a NURBS mesh of MFEM",
        line if line.contains("NC mesh") => "a nonconforming mesh of MFEM",
        line if line.contains("INLINE") => "a rule by which MFEM generates a mesh",
        _ => {
            let line = show(line.as_bytes());
            let reason =
                format!("`{line}` is not read, but MFEM's meshes of versions 1.0 to 1.3: {WAY}");
            return Err(Fault::new(begin, reason));
        }
    };
    Err(Fault::new(
        begin,
        format!("the file is {kind}, which is not read: {WAY}"),
    ))
}

fn dimension(text: &mut Text) -> Parsed<usize> {
    if text.clone().word() != Some(b"dimension") {
        return Err(text.unexpected("the dimension"));
    }
    text.word();
    let offset = text.skip_blanks();
    match text.count("a dimension")? {
        dimension @ 1..=3 => Ok(dimension),
        dimension => {
            let reason = format!("the dimension is {dimension}, but 1, 2 or 3 is needed");
            Err(Fault::new(offset, reason))
        }
    }
}

/// The mesh of a file.
pub(super) fn parse(file: &[u8]) -> Parsed<Grid> {
    let mut text = opened(file)?;
    dimension(&mut text)?;
    let (mut lists, mut count) = (Vec::new(), 0);
    let mut elements = Elements::default();
    let mut names = Vec::new();
    let mut points = None;
    loop {
        let begin = text.skip_blanks();
        match text.word() {
            Some(b"elements") => {
                lists.push(List::read(&mut text, "elements")?);
                count = lists[lists.len() - 1].count;
            }
            Some(b"boundary") => lists.push(List::read(&mut text, "elements of the boundary")?),
            Some(b"attribute_sets" | b"bdr_attribute_sets") => read_sets(&mut text, &mut names)?,
            Some(b"vertex_parents") => {
                let reason = format!("the mesh of MFEM is nonconforming, which is not read: {WAY}");
                return Err(Fault::new(begin, reason));
            }
            // From which elements those of the mesh were refined.
            Some(b"coarse_elements") => text.at = end_of_integers(file, text.at),
            Some(b"vertices") => {
                let count = text.count("the number of vertices")?;
                points = Some((count, read_points(&mut text, count)?));
            }
            Some(b"mfem_serial_mesh_end") => {
                if text.word().is_some_and(|word| word != b"mfem_mesh_end") {
                    let note =
                        "it is a part of a mesh: the parts that share its boundary are not kept";
                    elements.notes.push(note.to_owned());
                }
                break;
            }
            Some(b"mfem_mesh_end") | None => break,
            Some(_) => {
                text.at = begin;
                return Err(text.unexpected("a section such as elements, boundary or vertices"));
            }
        }
    }
    let (vertices, points) =
        points.ok_or_else(|| Fault::new(file.len(), "there are no vertices"))?;
    for list in &lists {
        list.push_to(&mut elements, file, vertices)?;
    }
    if points.len() > vertices {
        let nodes: Vec<u32> = (vertices as u32..points.len() as u32).collect();
        elements.push_side_nodes(count, &nodes);
    }
    if !names.is_empty() {
        let names = listed(names);
        elements
            .notes
            .push(format!("names of sets of attributes are not kept: {names}"));
    }
    Grid::new(points, elements).map_err(|reason| Fault::new(file.len(), reason))
}

/// Elements, each with its attribute, the number of its shape, and its vertices.
struct List {
    name: &'static str,
    count: usize,
    /// Offset of the first number.
    start: usize,
    values: Vec<i64>,
}

impl List {
    fn read(text: &mut Text, name: &'static str) -> Parsed<List> {
        let count = text.count("the number of elements")?;
        let start = text.at;
        let values = text.numbers_until(end_of_integers(text.file, start))?;
        Ok(List {
            name,
            count,
            start,
            values,
        })
    }

    fn push_to(&self, elements: &mut Elements, file: &[u8], points: usize) -> Parsed<()> {
        let fault = |at: usize, reason: String| {
            let offset = Text::new(file, nth_token(file, self.start, at)).skip_blanks();
            Fault::new(offset, reason)
        };
        let mut push = |shape, vertices: &mut Vec<u32>, tags: &mut Vec<i32>, at| {
            let pushed = elements.push(shape, vertices, Tags::Each(tags));
            vertices.clear();
            tags.clear();
            pushed.map_err(|reason| fault(at, reason))
        };
        // Successive elements of one shape are appended together.
        let (mut run, mut vertices, mut tags) = (Shape::Point, Vec::new(), Vec::new());
        let mut at = 0;
        for found in 0..self.count {
            let &[attribute, kind, ..] = &self.values[at..] else {
                return Err(self.missing(found, fault(at, String::new()).offset));
            };
            let shape = usize::try_from(kind).ok().and_then(|kind| SHAPES.get(kind));
            let &shape = shape.ok_or_else(|| {
                fault(
                    at + 1,
                    format!("MFEM has no shape of elements {kind}: 0 to 7 are read"),
                )
            })?;
            if shape != run {
                push(run, &mut vertices, &mut tags, at)?;
                run = shape;
            }
            let ids = at + 2..at + 2 + shape.vertices();
            let Some(corners) = self.values.get(ids.clone()) else {
                return Err(self.missing(found, fault(self.values.len(), String::new()).offset));
            };
            tags.push(check_tag(attribute, "attribute").map_err(|reason| fault(at, reason))?);
            for (corner, &id) in ids.clone().zip(corners) {
                let vertex = check_vertex(id, 0, points);
                vertices.push(vertex.map_err(|reason| fault(corner, reason))?);
            }
            at = ids.end;
        }
        if at < self.values.len() {
            let reason = format!("expected {} {}, but more follow", self.count, self.name);
            return Err(fault(at, reason));
        }
        push(run, &mut vertices, &mut tags, at)
    }

    fn missing(&self, found: usize, offset: usize) -> Fault {
        let List { count, name, .. } = self;
        Fault::new(
            offset,
            format!("expected {count} {name}, but the list ends after {found}"),
        )
    }
}

/// The offset of the first letter after `at` that is not in a comment: a list of whole numbers has none.
fn end_of_integers(file: &[u8], mut at: usize) -> usize {
    while let Some(length) = (file[at..].iter()).position(|c| *c == b'#' || c.is_ascii_alphabetic())
    {
        at += length;
        if file[at] != b'#' {
            return at;
        }
        let rest = &file[at..];
        at += memchr::memchr(b'\n', rest).unwrap_or(rest.len());
    }
    file.len()
}

/// Reads sets of attributes: each a name in quotes and a list of numbers.
fn read_sets(text: &mut Text, names: &mut Vec<String>) -> Parsed<()> {
    for _ in 0..text.count("the number of sets")? {
        let begin = text.skip_blanks();
        let rest = &text.file[begin..];
        let length = (rest.strip_prefix(b"\"")).and_then(|rest| memchr::memchr(b'"', rest));
        let Some(length) = length else {
            return Err(text.unexpected("the name of a set in quotes"));
        };
        names.push(String::from_utf8_lossy(&rest[1..=length]).into_owned());
        text.at = begin + length + 2;
        let count = text.count("the number of attributes of a set")?;
        text.numbers::<i64>(count, "attributes")?;
    }
    Ok(())
}

/// The vertices; of a curved mesh all its nodes, the vertices first.
fn read_points(text: &mut Text, count: usize) -> Parsed<Vec<DVec3>> {
    if text.clone().word() != Some(b"nodes") {
        let width = width(text, "the number of coordinates")?;
        let numbers = text.numbers::<f64>(count.saturating_mul(width), "vertices")?;
        return Ok(numbers.chunks_exact(width).map(point).collect());
    }
    text.word();
    let collection = text.skip_blanks();
    let mut name = &b""[..];
    let (mut coordinates, mut ordering) = (0, 0);
    loop {
        let before = text.clone();
        match text.word() {
            Some(b"FiniteElementSpace") => {}
            Some(b"FiniteElementCollection:") => name = text.word().unwrap_or_default(),
            Some(b"VDim:") => coordinates = width(text, "the number of coordinates")?,
            Some(b"Ordering:") => ordering = text.count("0 or 1")?,
            _ => {
                *text = before;
                break;
            }
        }
    }
    let is_known = [&b"Linear"[..], b"Quadratic", b"Cubic"].contains(&name)
        || name.starts_with(b"H1") && !name.starts_with(b"H1_Trace");
    if !is_known || coordinates == 0 || ordering > 1 {
        let reason = format!(
            "nodes of the kind {} are not read, as of periodic meshes, but those of H1: {WAY}",
            show(name)
        );
        return Err(Fault::new(collection, reason));
    }
    let end = memchr::memmem::find(&text.file[text.at..], b"mfem_");
    let end = end.map_or(text.file.len(), |length| text.at + length);
    let numbers = text.numbers_until::<f64>(end)?;
    let nodes = numbers.len() / coordinates;
    if numbers.len() % coordinates != 0 || nodes < count || nodes >= u32::MAX as usize {
        let reason = format!(
            "{} numbers are no nodes of {coordinates} coordinates for {count} vertices",
            numbers.len()
        );
        return Err(Fault::new(collection, reason));
    }
    let rows = numbers.chunks_exact(coordinates);
    Ok(match ordering {
        1 => rows.map(point).collect(),
        // All x before all y.
        _ => (0..nodes)
            .map(|i| {
                let mut row = [0.0; 3];
                (0..coordinates).for_each(|axis| row[axis] = numbers[axis * nodes + i]);
                row.into()
            })
            .collect(),
    })
}

fn width(text: &mut Text, what: &str) -> Parsed<usize> {
    let offset = text.skip_blanks();
    match text.count(what)? {
        width @ 1..=3 => Ok(width),
        width => {
            let reason = format!("points have {width} coordinates, but 1, 2 or 3 are read");
            Err(Fault::new(offset, reason))
        }
    }
}

fn point(row: &[f64]) -> DVec3 {
    let mut point = [0.0; 3];
    point[..row.len()].copy_from_slice(row);
    point.into()
}
