//! Input files of Abaqus and CalculiX: `.inp`.
//!
//! Keywords begin with `*`, comments with `**`. Nodes and elements whose type names a line, a face or a cell are read;
//! elements of second order by their corners. The region of an element is the first set that contains it ([`sets`]),
//! of the sections (`*SOLID SECTION`, `*SHELL SECTION` and others), `*ELEMENT` and `*ELSET`, numbered from 1 in this
//! order; names are kept. Node sets and surfaces are left out with a note. Included files are read too ([`include`]).
//! Parts are joined in order; instances stay at their part's place.
//!
//! Sets `region_7` and `marker_7` (`region_m7` for -7) are written, and read as these numbers, as Gmsh's
//! `PhysicalSurface7` is; a name is an `*ELSET` with nothing but such a set. A plane surface is written as `CPS3` and
//! `CPS4`, a surface in space as `S3` and `S4`.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::Path;

use glam::DVec3;

use super::elements::{Elements, Grid, Shape};
use super::{Output, Selected, select};
use crate::atomic_file::{Out, write_atomically};
use crate::foreign;
use crate::input::peek_file;
use crate::map_file;
use crate::references::{Copies, ReadOptions};
use crate::rows_out::{push_f64, push_integer, write_records};
use crate::text::{Fault, Parsed, listed, parse_integer, show, text_start, with_line_feeds};
use trioxide_mesh::Result;
use trioxide_mesh::volume::CellKind;

mod include;
mod sets;
mod types;

use include::Expanded;
use sets::{Numbers, PartSets, Set, note_on_empty, number_in};
use types::shape;

/// A keyword with its parameters, whose names are in upper case, and the data lines after it.
struct Block<'a> {
    /// Offset of the keyword.
    at: usize,
    keyword: String,
    parameters: Vec<(String, String)>,
    /// Data lines, each with its offset.
    lines: Vec<(usize, &'a [u8])>,
}

impl Block<'_> {
    fn parameter(&self, name: &str) -> Option<&str> {
        let found = self.parameters.iter().find(|(other, _)| other == name)?;
        Some(&found.1)
    }

    /// The name of a set, in upper case.
    fn set(&self, name: &str) -> String {
        self.parameter(name)
            .unwrap_or_default()
            .to_ascii_uppercase()
    }

    /// The shape of an `*ELEMENT`, and the number of its nodes that are not corners.
    fn shape(&self) -> Option<(Shape, usize)> {
        shape(&self.parameter("TYPE")?.to_ascii_uppercase())
    }
}

/// The blocks of a file.
fn blocks(file: &[u8]) -> Vec<Block<'_>> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut at = text_start(file);
    let mut continues = false;
    while at < file.len() {
        let length = memchr::memchr(b'\n', &file[at..]).unwrap_or(file.len() - at);
        let line = file[at..at + length].trim_ascii();
        let offset = at;
        at += length + 1;
        if line.is_empty() || line.starts_with(b"**") {
            continue;
        }
        let is_keyword = line.starts_with(b"*");
        let text = String::from_utf8_lossy(line.strip_prefix(b"*").unwrap_or(line));
        let words = text.split(',').map(str::trim);
        let pair = |word: &str| {
            let (name, value) = word.split_once('=').unwrap_or((word, ""));
            let value = value.trim().trim_matches('"');
            (name.trim().to_ascii_uppercase(), value.to_owned())
        };
        let filled = words.filter(|word| !word.is_empty());
        match (is_keyword, blocks.last_mut()) {
            (true, _) => {
                let mut words = filled;
                blocks.push(Block {
                    at: offset,
                    keyword: words.next().unwrap_or_default().to_ascii_uppercase(),
                    parameters: words.map(pair).collect(),
                    lines: Vec::new(),
                });
                continues = line.ends_with(b",");
            }
            (false, Some(block)) if continues && block.lines.is_empty() => {
                block.parameters.extend(filled.map(pair));
                continues = line.ends_with(b",");
            }
            (false, Some(block)) => block.lines.push((offset, line)),
            (false, None) => {}
        }
    }
    blocks
}

/// Whether the file has cells of three dimensions.
pub(super) fn is_volume(path: &Path, options: ReadOptions) -> bool {
    let is_volume = |file: &[u8]| {
        Expanded::of(path, file, options).is_ok_and(|expanded| has_cells(&expanded.text))
    };
    peek_file(path, is_volume).unwrap_or(false)
}

fn has_cells(file: &[u8]) -> bool {
    let solid = |block: &Block| {
        block.keyword == "ELEMENT"
            && (block.shape()).is_some_and(|(shape, _)| matches!(shape, Shape::Cell(_)))
            && !block.lines.is_empty()
    };
    blocks(file).iter().any(solid)
}

/// The mesh of a file, and of the files that it includes.
pub(super) fn read_grid(path: &Path, options: ReadOptions) -> Result<Grid> {
    let file = map_file(path)?;
    let expanded = Expanded::of(path, &file, options)?;
    parse_grid(&expanded.text).map_err(|fault| expanded.error(fault))
}

/// Elements of one `*ELEMENT`.
struct Run {
    shape: Shape,
    set: String,
    /// Number of each, and the vertices of its corners.
    numbers: Vec<i64>,
    vertices: Vec<u32>,
}

/// The content of one part, or of the whole file.
#[derive(Default)]
struct ModelPart {
    vertices: HashMap<i64, u32>,
    runs: Vec<Run>,
    sets: HashMap<String, Set>,
    /// Names of the sets, in the order of the file.
    order: Vec<String>,
    /// Sets of the sections.
    sections: Vec<String>,
}

struct Reader {
    points: Vec<DVec3>,
    elements: Elements,
    part: ModelPart,
    numbers: Numbers,
    /// Sets of nodes, surfaces, and sets without elements.
    left_out: [Vec<String>; 3],
    skipped: Vec<String>,
    /// Keywords of steps, loads and materials.
    unread: Vec<String>,
    has_moved_instances: bool,
    /// Count of the elements of ranges: a line may name any number of elements.
    copies: Copies,
}

/// The mesh of a file.
pub(crate) fn parse_grid(file: &[u8]) -> Parsed<Grid> {
    let file = &*with_line_feeds(file);
    let blocks = blocks(file);
    let mut reader = Reader {
        points: Vec::new(),
        elements: Elements::default(),
        part: ModelPart::default(),
        numbers: Numbers::default(),
        left_out: Default::default(),
        skipped: Vec::new(),
        unread: Vec::new(),
        has_moved_instances: false,
        copies: Copies::new(file.len()),
    };
    if !blocks.iter().any(|block| block.keyword == "NODE") {
        let fault = Fault::new(file.len(), "there is no *NODE");
        return Err(foreign::named(file, "inp", fault));
    }
    for block in &blocks {
        if let Some(name) = block.parameter("ELSET").or(block.parameter("ESET")) {
            let set = name.to_ascii_uppercase();
            reader.numbers.taken.extend(number_in(&set));
            let spelled = reader.numbers.spelled.entry(set);
            spelled.or_insert_with(|| name.to_owned());
        }
        if let (Some(name), true) = (
            block.parameter("NSET"),
            matches!(block.keyword.as_str(), "NODE" | "NSET"),
        ) {
            push_new(&mut reader.left_out[0], name);
        }
    }
    for block in &blocks {
        match block.keyword.as_str() {
            "PART" => reader.finish_part(block.at)?,
            "NODE" => reader.read_nodes(block)?,
            "ELEMENT" => reader.read_elements(block)?,
            "ELSET" | "ESET" => reader.read_set(block)?,
            "SURFACE" => {
                let name = block.parameter("NAME").unwrap_or_default();
                push_new(&mut reader.left_out[1], name);
            }
            "INSTANCE" => reader.has_moved_instances |= !block.lines.is_empty(),
            keyword if keyword.ends_with(" SECTION") => {
                let set = block.set("ELSET");
                if !set.is_empty() && !reader.part.sections.contains(&set) {
                    reader.part.sections.push(set);
                }
            }
            keyword if is_frame(keyword) => {}
            keyword => push_new(&mut reader.unread, keyword),
        }
    }
    reader.finish_part(file.len())?;
    let Reader {
        points,
        mut elements,
        left_out: [nodes, surfaces, empty],
        skipped,
        unread,
        ..
    } = reader;
    for (what, names) in [("sets of nodes", nodes), ("surfaces", surfaces)] {
        if !names.is_empty() {
            let note = format!("{what} are left out: {}", listed(names));
            elements.notes.push(note);
        }
    }
    elements.notes.extend(note_on_empty(empty));
    if !skipped.is_empty() {
        let note = format!("elements of the types {} are left out", skipped.join(", "));
        elements.notes.push(note);
    }
    if !unread.is_empty() {
        let keywords = listed(unread.into_iter().map(|keyword| format!("*{keyword}")));
        elements
            .notes
            .push(format!("other keywords are left out: {keywords}"));
    }
    if reader.has_moved_instances {
        let note = "its instances are read where their part is, without their translation";
        elements.notes.push(note.into());
    }
    Grid::new(points, elements).map_err(|reason| Fault::new(file.len(), reason))
}

/// Whether a keyword holds nothing itself, or is in another note.
fn is_frame(keyword: &str) -> bool {
    let frames = ["HEADING", "PREPRINT", "NSET", "ASSEMBLY", "INCLUDE"];
    keyword.is_empty() || keyword.starts_with("END ") || frames.contains(&keyword)
}

/// The words between the commas or blanks of a line, each with its offset.
fn words<'a>(
    &(offset, line): &(usize, &'a [u8]),
) -> impl Iterator<Item = (usize, &'a [u8])> + use<'a> {
    let is_between = |byte: &u8| *byte == b',' || byte.is_ascii_whitespace();
    let mut at = 0;
    line.split(is_between).filter_map(move |word| {
        let begin = at;
        at += word.len() + 1;
        (!word.is_empty()).then_some((offset + begin, word))
    })
}

fn integer((offset, word): (usize, &[u8]), what: &str) -> Parsed<i64> {
    match parse_integer(word) {
        Some((value, length)) if length == word.len() => Ok(value),
        _ => Err(Fault::new(
            offset,
            format!("expected {what}, found `{}`", show(word)),
        )),
    }
}

impl Reader {
    fn read_nodes(&mut self, block: &Block) -> Parsed<()> {
        for line in &block.lines {
            let mut words = words(line);
            let Some(first) = words.next() else { continue };
            let number = integer(first, "a node's number")?;
            let mut point = [0.0; 3];
            let mut found = 0;
            for (coordinate, (offset, word)) in point.iter_mut().zip(words) {
                *coordinate = fast_float2::parse(word).map_err(|_| {
                    Fault::new(
                        offset,
                        format!("expected a coordinate, found `{}`", show(word)),
                    )
                })?;
                found += 1;
            }
            if found < 2 {
                let reason =
                    format!("node {number} has {found} coordinates, but 2 or 3 are needed");
                return Err(Fault::new(line.0, reason));
            }
            let vertex = self.points.len() as u32;
            if self.part.vertices.insert(number, vertex).is_some() {
                return Err(Fault::new(
                    line.0,
                    format!("there is a second node {number}"),
                ));
            }
            self.points.push(DVec3::from_array(point));
        }
        Ok(())
    }

    fn read_elements(&mut self, block: &Block) -> Parsed<()> {
        let Some(kind) = block.parameter("TYPE") else {
            return Err(Fault::new(block.at, "the *ELEMENT names no TYPE"));
        };
        let Some((shape, side_nodes)) = block.shape() else {
            if !self.skipped.iter().any(|other| other == kind) {
                self.skipped.push(kind.to_owned());
            }
            return Ok(());
        };
        let mut run = Run {
            shape,
            set: block.set("ELSET"),
            numbers: Vec::new(),
            vertices: Vec::new(),
        };
        let corners = shape.vertices();
        let mut sides = Vec::new();
        // An element's line may continue in the next line.
        let mut place = 0;
        for word in block.lines.iter().flat_map(words) {
            let number = integer(word, "a whole number")?;
            if place == 0 {
                run.numbers.push(number);
            } else {
                let vertex = self.part.vertices.get(&number).ok_or_else(|| {
                    Fault::new(word.0, format!("there is no node {number} before here"))
                })?;
                // In a line of second order the middle node comes second.
                let is_corner = match (shape, side_nodes) {
                    (Shape::Line, 1) => place != 2,
                    _ => place <= corners,
                };
                match is_corner {
                    true => run.vertices.push(*vertex),
                    false => sides.push(*vertex),
                }
            }
            place = (place + 1) % (1 + corners + side_nodes);
        }
        if place != 0 {
            let last = block.lines.last().map_or(block.at, |line| line.0);
            let reason = format!(
                "an element of type {kind} has {} nodes, but {} are there",
                corners + side_nodes,
                place - 1
            );
            return Err(Fault::new(last, reason));
        }
        if side_nodes > 0 {
            self.elements.push_side_nodes(run.numbers.len(), &sides);
        }
        if !run.set.is_empty() {
            push_new(&mut self.part.order, &run.set);
        }
        self.part.runs.push(run);
        Ok(())
    }

    fn read_set(&mut self, block: &Block) -> Parsed<()> {
        let name = [block.set("ELSET"), block.set("ESET")].concat();
        push_new(&mut self.part.order, &name);
        let Set { members, subsets } = self.part.sets.entry(name).or_default();
        for line in &block.lines {
            if block.parameter("GENERATE").is_some() {
                let numbers: Vec<i64> = words(line)
                    .map(|word| integer(word, "an element's number"))
                    .collect::<Parsed<_>>()?;
                let (first, last) = match numbers[..] {
                    [first, last, ..] if last >= first => (first, last),
                    _ => continue,
                };
                let step = numbers.get(2).copied().unwrap_or(1).max(1);
                // At most as many as there can be elements: the file may name any number.
                let count = (last.saturating_sub(first) / step) as usize;
                if self.copies.count(count, count).is_err() {
                    let reason = format!("elements {first} to {last} are more than there are");
                    return Err(Fault::new(line.0, reason));
                }
                members.extend((first..=last).step_by(step as usize));
                continue;
            }
            for (_, word) in words(line) {
                match parse_integer(word) {
                    Some((number, length)) if length == word.len() => members.push(number),
                    _ => subsets.push(String::from_utf8_lossy(word).to_ascii_uppercase()),
                }
            }
        }
        Ok(())
    }

    /// Appends the elements of a part with their sets as tags.
    fn finish_part(&mut self, at: usize) -> Parsed<()> {
        let part = std::mem::take(&mut self.part);
        let sets = PartSets {
            runs: &part.runs,
            sets: &part.sets,
            order: &part.order,
            sections: &part.sections,
        };
        let empty = sets.push(&mut self.numbers, &mut self.elements, at)?;
        self.left_out[2].extend(empty);
        Ok(())
    }
}

/// Appends a name that is not in the list.
fn push_new(names: &mut Vec<String>, name: &str) {
    if !names.iter().any(|other| other == name) {
        names.push(name.to_owned());
    }
}

/// Written types, for a surface in the plane.
const WRITTEN: [(&str, Shape); 7] = [
    ("C3D4", Shape::TETRAHEDRON),
    ("C3D5", Shape::Cell(CellKind::Pyramid)),
    ("C3D6", Shape::Cell(CellKind::Wedge)),
    ("C3D8", Shape::Cell(CellKind::Hexahedron)),
    ("CPS3", Shape::TRIANGLE),
    ("CPS4", Shape::QUADRILATERAL),
    ("T3D2", Shape::Line),
];

pub(crate) fn write(path: &Path, mesh: Output) -> Result<()> {
    write_atomically(path, |file| write_to(file, mesh))
}

fn write_to(out: &mut dyn Out, mesh: Output) -> io::Result<()> {
    let is_flat = mesh.cells.is_empty() && mesh.points.iter().all(|point| point.z == 0.0);
    write!(out, "*HEADING\nwritten by trioxide\n*NODE\n")?;
    write_records(out, mesh.points.len(), |buffer, i| {
        push_integer(buffer, i + 1);
        for coordinate in mesh.points[i].to_array() {
            buffer.extend_from_slice(b", ");
            push_f64(buffer, coordinate);
        }
        buffer.push(b'\n');
    })?;
    let mut number = 1;
    let mut names = BTreeMap::new();
    for (kind, shape) in WRITTEN {
        let kind = match (shape, is_flat) {
            (Shape::Face(corners), false) => format!("S{corners}"),
            _ => kind.to_owned(),
        };
        // Faces of a volume mesh, and lines, have markers.
        let prefix = match shape {
            Shape::Cell(_) => "region",
            Shape::Face(_) if mesh.cells.is_empty() => "region",
            _ => "marker",
        };
        let selected: Selected = select(mesh, shape);
        let mut begin = 0;
        while begin < selected.len() {
            let tag = |k: usize| selected.element(mesh, shape, k).1;
            let first = tag(begin);
            let length = (begin..selected.len())
                .take_while(|&k| tag(k) == first)
                .count();
            write!(out, "*ELEMENT, TYPE={kind}")?;
            match first {
                0 => writeln!(out)?,
                tag => writeln!(out, ", ELSET={}", set(prefix, tag))?,
            }
            write_records(out, length, |buffer, k| {
                push_integer(buffer, number + k);
                for &vertex in selected.element(mesh, shape, begin + k).0 {
                    buffer.extend_from_slice(b", ");
                    push_integer(buffer, u64::from(vertex) + 1);
                }
                buffer.push(b'\n');
            })?;
            let place = (shape.dimension(), first);
            if let Some(name) = mesh.about.groups.get(&place).filter(|_| first != 0) {
                names.insert(place, (name, set(prefix, first)));
            }
            begin += length;
            number += length;
        }
    }
    for (name, set) in names.into_values() {
        // The format has no way to write these within a name.
        let name = name.replace([',', '=', '"', '\n', '\r'], "_");
        writeln!(out, "*ELSET, ELSET={name}\n{set}")?;
    }
    Ok(())
}

/// The name of the set of elements with a tag.
fn set(prefix: &str, tag: i32) -> String {
    let sign = if tag < 0 { "m" } else { "" };
    format!("{prefix}_{sign}{}", tag.unsigned_abs())
}
