//! The text form.

use std::io;
use std::path::Path;

use glam::DVec3;

use super::super::elements::{Elements, Grid, Shape, Table, Tag};
use super::super::tokens::{Text, nth_token};
use super::super::{Output, select};
use super::marks::{Marks, list, lists, references};
use super::{SECTIONS, check_dimension, dimension, finish, is_solid, section};
use crate::atomic_file::{Out, write_atomically};
use crate::foreign;
use crate::rows_out::{push_f64, push_integer, write_records};
use crate::text::{Fault, Parsed, check_vertex, text_start};
use trioxide_mesh::Result;

pub(super) fn parse(file: &[u8]) -> Parsed<Grid> {
    let mut text = Text::new(file, text_start(file));
    if text.word() != Some(b"MeshVersionFormatted") {
        let reason = "expected MeshVersionFormatted at the start of the file";
        let fault = Fault::new(text_start(file), reason);
        return Err(foreign::named(file, "mesh", fault));
    }
    text.number::<i64>("a version")?;
    let mut points = None;
    let mut elements = Elements::default();
    let mut marks = Marks::default();
    let mut dimension = None;
    loop {
        let begin = text.skip_blanks();
        let Some(word) = text.word() else { break };
        if word == b"End" {
            break;
        }
        if word == b"Dimension" {
            let offset = text.skip_blanks();
            let found = check_dimension(text.number("a dimension")?)
                .map_err(|reason| Fault::new(offset, reason))?;
            dimension = Some(found);
        } else if word == b"Vertices" {
            let (Some(dimension), None) = (dimension, &points) else {
                let reason = "Vertices must stand once, behind the Dimension";
                return Err(Fault::new(begin, reason));
            };
            points = Some(read_points(&mut text, dimension, &mut marks)?);
        } else if let Some((keyword, shape, side_nodes)) =
            section(|keyword, _| word == keyword.as_bytes() || is_misspelt(word, keyword))
        {
            let points = points
                .as_ref()
                .ok_or_else(|| Fault::new(begin, format!("{keyword} stand before the Vertices")))?;
            marks.begin(keyword, &elements);
            let shape = (shape, side_nodes);
            read_elements(&mut text, keyword, shape, points.len(), &mut elements)?;
        } else if let Some(list) = list(|keyword, _| word == keyword.as_bytes()) {
            let count = text.count("the number of elements")?;
            marks.add(list, begin, text.numbers(count, "numbers of elements")?);
        } else if word[0].is_ascii_alphabetic() {
            let name = String::from_utf8_lossy(word).into_owned();
            let at = text.at;
            if text.count("").is_ok_and(|count| count > 0) {
                marks.skip(name);
            }
            text.at = at;
            skip_section(&mut text);
        } else {
            text.at = begin;
            return Err(text.unexpected("a keyword such as Vertices or End"));
        }
    }
    finish(elements, marks, points, file.len())
}

/// Whether the file has cells of three dimensions.
pub(super) fn is_volume(file: &[u8]) -> bool {
    let solid = |keyword: &str| section(|other, _| other == keyword).is_some_and(|s| is_solid(s.1));
    // Each capital letter may begin a keyword: numbers contain none.
    ["Tetrahedra", "Pyramids", "Prisms", "Hexa"]
        .iter()
        .any(|start| {
            memchr::memmem::find_iter(file, start.as_bytes()).any(|at| {
                let mut text = Text::new(file, at);
                let is_start = at == 0 || file[at - 1].is_ascii_whitespace();
                let word = text.word().unwrap_or_default();
                let word = if word == b"Hexaedra" {
                    b"Hexahedra"
                } else {
                    word
                };
                let is_keyword = std::str::from_utf8(word).is_ok_and(solid);
                is_start && is_keyword && text.count("").is_ok_and(|count| count > 0)
            })
        })
}

/// Some programs omit one letter of the keyword.
fn is_misspelt(word: &[u8], keyword: &str) -> bool {
    keyword == "Hexahedra" && word == b"Hexaedra"
}

fn read_points(text: &mut Text, dimension: usize, marks: &mut Marks) -> Parsed<Vec<DVec3>> {
    let count = text.count("the number of vertices")?;
    let width = dimension + 1;
    let numbers = text.numbers::<f64>(count.saturating_mul(width), "vertices")?;
    let rows = numbers.chunks_exact(width);
    marks.references = rows.clone().map(|row| row[dimension]).collect();
    Ok(rows
        .map(|row| DVec3::new(row[0], row[1], if dimension == 3 { row[2] } else { 0.0 }))
        .collect())
}

fn read_elements(
    text: &mut Text,
    keyword: &str,
    (shape, side_nodes): (Shape, usize),
    points: usize,
    elements: &mut Elements,
) -> Parsed<()> {
    let count = text.count("the number of elements")?;
    let start = text.at;
    let width = shape.vertices() + side_nodes + 1;
    let values = text.numbers::<i64>(count.saturating_mul(width), keyword)?;
    let table = Table {
        values: &values,
        width,
        vertices: 0,
        side_nodes,
        tag: Tag::Column(width - 1),
    };
    let file = text.file;
    table.read(
        elements,
        shape,
        |vertex| check_vertex(vertex, 1, points),
        |i, reason| {
            let offset = Text::new(file, nth_token(file, start, i)).skip_blanks();
            Fault::new(offset, reason)
        },
    )
}

/// Moves to the next keyword.
fn skip_section(text: &mut Text) {
    loop {
        let begin = text.skip_blanks();
        match text.word() {
            Some(word) if word[0].is_ascii_alphabetic() && !is_float(word) => {
                text.at = begin;
                return;
            }
            Some(_) => {}
            None => return,
        }
    }
}

fn is_float(word: &[u8]) -> bool {
    fast_float2::parse::<f64, _>(word).is_ok()
}

pub(crate) fn write(path: &Path, mesh: Output) -> Result<()> {
    write_atomically(path, |file| write_to(file, mesh))
}

fn write_to(out: &mut dyn Out, mesh: Output) -> io::Result<()> {
    let dimension = dimension(mesh);
    let references = references(mesh);
    // Version 2: doubles.
    write!(
        out,
        "MeshVersionFormatted 2\nDimension {dimension}\n\nVertices\n{}\n",
        mesh.points.len()
    )?;
    write_records(out, mesh.points.len(), |buffer, i| {
        for coordinate in &mesh.points[i].to_array()[..dimension] {
            push_f64(buffer, *coordinate);
            buffer.push(b' ');
        }
        push_integer(buffer, references.map_or(0, |references| references[i]));
        buffer.push(b'\n');
    })?;
    for (keyword, _, shape) in SECTIONS {
        let ids = select(mesh, shape);
        if ids.is_empty() {
            continue;
        }
        write!(out, "\n{keyword}\n{}\n", ids.len())?;
        write_records(out, ids.len(), |buffer, k| {
            let (vertices, tag) = ids.element(mesh, shape, k);
            for &vertex in vertices {
                push_integer(buffer, vertex + 1);
                buffer.push(b' ');
            }
            push_integer(buffer, tag);
            buffer.push(b'\n');
        })?;
    }
    for (keyword, _, numbers) in lists(mesh) {
        write!(out, "\n{keyword}\n{}\n", numbers.len())?;
        write_records(out, numbers.len(), |buffer, k| {
            push_integer(buffer, numbers[k]);
            buffer.push(b'\n');
        })?;
    }
    write!(out, "\nEnd\n")
}
