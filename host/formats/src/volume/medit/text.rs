//! The text form.

use std::io::{self, Write};
use std::path::Path;

use glam::DVec3;

use super::super::elements::{Elements, Shape, Table, Tag};
use super::super::select;
use super::super::tokens::{Text, nth_token};
use super::{SECOND_ORDER, SECTIONS, check_dimension, finish, second_order};
use crate::atomic_file::write_atomically;
use crate::rows_out::{push_f64, push_integer, write_records};
use crate::text::{Fault, Parsed, check_vertex, text_start};
use trioxide_mesh::Result;
use trioxide_mesh::volume::VolumeMesh;

pub(super) fn parse(file: &[u8]) -> Parsed<VolumeMesh> {
    let mut text = Text::new(file, text_start(file));
    if text.word() != Some(b"MeshVersionFormatted") {
        let reason = "expected MeshVersionFormatted at the start of the file";
        return Err(Fault::new(text_start(file), reason));
    }
    text.number::<i64>("a version")?;
    let mut points = None;
    let mut elements = Elements::default();
    let mut has_dimension = false;
    loop {
        let begin = text.skip_blanks();
        let Some(word) = text.word() else { break };
        if word == b"End" {
            break;
        }
        if word == b"Dimension" {
            let offset = text.skip_blanks();
            check_dimension(text.number("a dimension")?)
                .map_err(|reason| Fault::new(offset, reason))?;
            has_dimension = true;
        } else if word == b"Vertices" {
            if !has_dimension || points.is_some() {
                let reason = "Vertices must stand once, behind Dimension 3";
                return Err(Fault::new(begin, reason));
            }
            points = Some(read_points(&mut text)?);
        } else if let Some((keyword, _, shape)) = SECTIONS
            .iter()
            .find(|(keyword, _, _)| word == keyword.as_bytes() || is_misspelt(word, keyword))
        {
            let points = points
                .as_ref()
                .ok_or_else(|| Fault::new(begin, format!("{keyword} stand before the Vertices")))?;
            read_elements(&mut text, keyword, *shape, points.len(), &mut elements)?;
        } else if let Some((keyword, _)) = SECOND_ORDER
            .iter()
            .find(|(keyword, _)| word == keyword.as_bytes())
        {
            return Err(Fault::new(begin, second_order(keyword)));
        } else if word[0].is_ascii_alphabetic() {
            skip_section(&mut text);
        } else {
            text.at = begin;
            return Err(text.unexpected("a keyword such as Vertices or End"));
        }
    }
    finish(elements, points, file.len())
}

/// Some programs write it with one letter less.
fn is_misspelt(word: &[u8], keyword: &str) -> bool {
    keyword == "Hexahedra" && word == b"Hexaedra"
}

fn read_points(text: &mut Text) -> Parsed<Vec<DVec3>> {
    let count = text.count("the number of vertices")?;
    let numbers = text.numbers::<f64>(count.saturating_mul(4), "vertices")?;
    let rows = numbers.as_chunks::<4>().0.iter();
    Ok(rows.map(|&[x, y, z, _]| DVec3::new(x, y, z)).collect())
}

fn read_elements(
    text: &mut Text,
    keyword: &str,
    shape: Shape,
    points: usize,
    elements: &mut Elements,
) -> Parsed<()> {
    let count = text.count("the number of elements")?;
    let start = text.at;
    let width = shape.vertices() + 1;
    let values = text.numbers::<i64>(count.saturating_mul(width), keyword)?;
    let table = Table {
        values: &values,
        width,
        vertices: 0,
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

/// Goes to the next keyword.
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

pub(in super::super) fn write(path: &Path, mesh: &VolumeMesh) -> Result<()> {
    write_atomically(path, |file| write_to(file, mesh))
}

fn write_to(out: &mut (impl Write + Send), mesh: &VolumeMesh) -> io::Result<()> {
    // Version 2: doubles.
    write!(
        out,
        "MeshVersionFormatted 2\nDimension 3\n\nVertices\n{}\n",
        mesh.points.len()
    )?;
    write_records(out, mesh.points.len(), |buffer, i| {
        for coordinate in mesh.points[i].to_array() {
            push_f64(buffer, coordinate);
            buffer.push(b' ');
        }
        buffer.extend_from_slice(b"0\n");
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
    write!(out, "\nEnd\n")
}
