//! Points as text, one per line: `.xyz`.
//!
//! `x y z`, then a normal `nx ny nz` and a colour `r g b` from 0 to 255; either may be missing. There is no standard:
//! in files with six columns, the last three are colours if all of them are whole numbers from 0 to 255 and one is over
//! 1, or else normals. With 4 or 7 columns the fourth is an intensity, which is left out with a note, and the last
//! three a colour. Commas or semicolons may separate numbers. A first line that is not three numbers (names of columns,
//! or the number of points) is skipped if points follow. `#` begins a comment.

use std::borrow::Cow;
use std::io;
use std::path::Path;

use glam::DVec3;

use super::atomic_file::{AtomicFile, write_atomically};
use super::off::parse_point;
use super::rows_out::{push_f64, push_integer, write_records};
use super::text::{Fault, Line, Parsed, TextRows, text_start, with_line_feeds};
use super::{Loaded, parse_file};
use trioxide_mesh::mesh::{Mesh, VertexAttributes};
use trioxide_mesh::{Result, parallel};

pub(crate) fn read(path: &Path) -> Result<Loaded> {
    parse_file(path, parse)
}

/// A part of the rows.
#[derive(Default)]
struct Chunk {
    points: Vec<DVec3>,
    /// The columns after the first three, in groups of three.
    others: Vec<DVec3>,
}

/// The text with blanks instead of commas or semicolons between numbers, at the same offsets.
///
/// # Errors
/// Both in one line of numbers: one of them may be a decimal mark.
fn with_blanks(file: &[u8]) -> Parsed<Cow<'_, [u8]>> {
    let has = |byte| memchr::memchr(byte, file);
    let (Some(_), Some(semicolon)) = (has(b','), has(b';')) else {
        let is_between = |byte: &u8| matches!(byte, b',' | b';');
        return Ok(match has(b',').or(has(b';')) {
            None => Cow::Borrowed(file),
            Some(_) => file
                .iter()
                .map(|byte| if is_between(byte) { b' ' } else { *byte })
                .collect(),
        });
    };
    let reason =
        "there are commas and semicolons: write decimal points, and one of the two between numbers";
    Err(Fault::new(semicolon, reason))
}

pub(crate) fn parse(file: &[u8]) -> Parsed<Loaded> {
    let file = &*with_line_feeds(file);
    let separated = with_blanks(file)?;
    let file = &*separated;
    let rows = TextRows::new(file, text_start(file));
    let is_point = |row| {
        rows.row(row, "")
            .is_ok_and(|mut line| parse_point(&mut line).is_ok())
    };
    let first = usize::from(rows.count > 0 && !is_point(0));
    if first == rows.count {
        return match first {
            0 => Ok(Mesh::default().into()),
            _ => no_points(rows.row(0, "a point")?).map(Loaded::from),
        };
    }
    let columns = rows.row(first, "a point")?.tokens();
    // After the position, an intensity.
    let has_intensity = matches!(columns, 4 | 7);
    if !matches!(columns, 3 | 4 | 6 | 7 | 9) {
        return Err(Fault::new(
            rows.row(first, "a point")?.offset(),
            format!(
                "a point has {columns} numbers, but 3 (x y z), 4 (and an intensity), 6 (x y z and a normal or a colour), 7 (x y z, \
                 an intensity and a colour) or 9 (x y z, a normal and a colour) are read"
            ),
        ));
    }
    let mut chunks = rows.parse(first..rows.count, |chunk: &mut Chunk, _, line| {
        chunk.points.push(parse_point(line)?);
        if has_intensity {
            line.f64("an intensity")?;
        }
        for _ in 1..columns / 3 {
            chunk.others.push(parse_point(line)?);
        }
        match line.is_finished() {
            true => Ok(()),
            false => Err(line.unexpected("the end of the line, as in the first one")),
        }
    })?;
    let others = parallel::concat_lists(&mut chunks, |chunk| &mut chunk.others);
    let mut attributes = VertexAttributes::default();
    match columns {
        3 | 4 => {}
        6 if !are_colors(&others) => attributes.normals = Some(others),
        6 | 7 => attributes.colors = Some(parallel::map(&others, to_color)),
        _ => {
            let colors = parallel::map_chunks(&others, 2, |pair| to_color(&pair[1]));
            attributes.normals = Some(parallel::map_chunks(&others, 2, |pair| pair[0]));
            attributes.colors = Some(colors);
        }
    }
    let mut loaded = Loaded::from(Mesh {
        points: parallel::concat_lists(&mut chunks, |chunk| &mut chunk.points),
        attributes,
        ..Mesh::default()
    });
    if has_intensity {
        let note = "its fourth column, as an intensity, is left out";
        loaded.notes.push(note.to_owned());
    }
    Ok(loaded)
}

/// The cloud of a file whose only row is no point: empty if the row is the number 0 or names of columns.
fn no_points(row: Line) -> Parsed<Mesh> {
    let mut number = row.clone();
    if number.integer("").is_ok_and(|count| count == 0) && number.is_finished() {
        return Ok(Mesh::default());
    }
    let is_name = |token: &[u8]| {
        token[0].is_ascii_alphabetic() && token.iter().all(|byte| byte.is_ascii_alphanumeric())
    };
    let mut names = row.clone();
    let names: Vec<&[u8]> = std::iter::from_fn(|| names.token()).collect();
    if names.len() >= 3 && names.into_iter().all(is_name) {
        return Ok(Mesh::default());
    }
    Err(row
        .clone()
        .unexpected("three numbers between blanks (no point follows this line)"))
}

fn are_colors(columns: &[DVec3]) -> bool {
    let is_channel = |x: f64| x.trunc() == x && (0.0..=255.0).contains(&x);
    parallel::all(columns, |c| c.to_array().into_iter().all(is_channel))
        && parallel::any(columns, |c| c.max_element() > 1.0)
}

fn to_color(columns: &DVec3) -> [u8; 4] {
    let [r, g, b] = columns.to_array().map(|x| x.round() as u8);
    [r, g, b, u8::MAX]
}

pub(crate) fn write(path: &Path, mesh: &Mesh) -> Result<()> {
    write_atomically(path, |file| write_to(file, mesh))
}

fn write_to(out: &mut AtomicFile, mesh: &Mesh) -> io::Result<()> {
    let VertexAttributes {
        normals, colors, ..
    } = &mesh.attributes;
    write_records(out, mesh.points.len(), |buffer, i| {
        let normal = normals.as_ref().map(|normals| normals[i]);
        for x in [Some(mesh.points[i]), normal].into_iter().flatten() {
            for x in x.to_array() {
                push_f64(buffer, x);
                buffer.push(b' ');
            }
        }
        if let Some(colors) = colors {
            for channel in &colors[i][..3] {
                push_integer(buffer, *channel);
                buffer.push(b' ');
            }
        }
        *buffer.last_mut().expect("a point has coordinates") = b'\n';
    })
}
