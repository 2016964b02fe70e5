//! Writes points as text.
//!
//! `.xyz` has names of columns, as CloudCompare writes them (`//X Y Z`), only where a reader needs them: there are
//! fields, or the numbers of normals and colours do not show which are which. `.txt` and `.asc` always have them, and
//! `.csv` too, with commas between numbers.

use std::borrow::Cow;
use std::io::{self, Write as _};
use std::path::Path;

use crate::atomic_file::{AtomicFile, write_atomically};
use crate::fields::{Number, names_in_file};
use crate::rows_out::{push_f64, push_integer, write_records};
use trioxide_mesh::fields::{Field, MeshFields};
use trioxide_mesh::mesh::{Mesh, VertexAttributes};
use trioxide_mesh::{Result, parallel};

use super::names::Role;

/// The columns of the fields of points.
struct Scalars<'a> {
    names: Vec<String>,
    /// The field of each column, and the column's place in it.
    columns: Vec<(&'a Field, usize)>,
}

impl<'a> Scalars<'a> {
    fn of(mesh: &'a Mesh) -> Scalars<'a> {
        let fields = mesh.fields.points.iter();
        let columns = fields.flat_map(|field| (0..field.components).map(move |k| (field, k)));
        let columns: Vec<(&Field, usize)> = columns.collect();
        let names: Vec<Cow<str>> = columns
            .iter()
            .map(|&(field, k)| match field.components {
                1 => Cow::Borrowed(&*field.name),
                _ => format!("{}_{k}", field.name).into(),
            })
            .collect();
        Scalars {
            names: names_in_file(names.iter().map(|name| &**name), plain_name),
            columns,
        }
    }
}

/// A name as one word without a meaning of its own.
fn plain_name(name: &str) -> String {
    let letter = |c: char| match c {
        '"' | ',' | ';' | '#' => '_',
        c if c.is_whitespace() || c.is_control() => '_',
        c => c,
    };
    let name: String = name.chars().map(letter).collect();
    match Role::of(&name) {
        Role::Scalar => name,
        _ => format!("field_{name}"),
    }
}

/// Names of the fields that files do not hold.
pub(crate) fn lost_fields(mesh: &Mesh) -> Vec<String> {
    let MeshFields { cells, sides, .. } = &mesh.fields;
    cells
        .iter()
        .chain(sides)
        .map(|field| field.name.clone())
        .collect()
}

/// The fields that have another name in a file, and that name.
pub(crate) fn renamed(mesh: &Mesh) -> Vec<(String, String)> {
    let Scalars { names, columns } = Scalars::of(mesh);
    let firsts = names.into_iter().zip(columns).filter(|(_, (_, k))| *k == 0);
    let pairs = firsts.map(|(name, (field, _))| match field.components {
        1 => (field.name.clone(), name),
        _ => (
            field.name.clone(),
            name.strip_suffix("_0").unwrap_or(&name).to_owned(),
        ),
    });
    pairs.filter(|(name, written)| name != written).collect()
}

pub(crate) fn write(path: &Path, mesh: &Mesh) -> Result<()> {
    let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
    write_atomically(path, |file| match extension.to_str() {
        Some("csv") => write_to(file, mesh, b',', true),
        Some("txt" | "asc") => write_to(file, mesh, b' ', true),
        _ => write_to(file, mesh, b' ', !is_clear(mesh)),
    })
}

/// Whether the numbers of a cloud show what they are: see `names::guess`.
fn is_clear(mesh: &Mesh) -> bool {
    let VertexAttributes {
        normals, colors, ..
    } = &mesh.attributes;
    let are_colors = colors
        .as_ref()
        .is_none_or(|colors| parallel::any(colors, |[r, g, b, _]| r.max(g).max(b) > &1));
    let are_normals = colors.is_some()
        || normals.as_ref().is_none_or(|normals| {
            parallel::all(normals, |n| n.abs().max_element() <= 1.0)
                && parallel::any(normals, |n| n.min_element() < 0.0)
        });
    mesh.fields.points.is_empty() && are_colors && are_normals && !mesh.points.is_empty()
}

fn write_to(out: &mut AtomicFile, mesh: &Mesh, separator: u8, has_names: bool) -> io::Result<()> {
    let VertexAttributes {
        normals, colors, ..
    } = &mesh.attributes;
    let scalars = Scalars::of(mesh);
    if has_names {
        let (start, names) = match separator {
            b',' => ("", ["x y z", "nx ny nz", "r g b"]),
            _ => ("//", ["X Y Z", "Nx Ny Nz", "R G B"]),
        };
        let there = [true, normals.is_some(), colors.is_some()];
        let names = names
            .into_iter()
            .zip(there)
            .filter(|(_, is_there)| *is_there);
        let names = names.flat_map(|(names, _)| names.split(' '));
        let names: Vec<&str> = names
            .chain(scalars.names.iter().map(|name| &**name))
            .collect();
        let names = names.join(char::from(separator).encode_utf8(&mut [0; 4]));
        out.write_all(format!("{start}{names}\n").as_bytes())?;
    }
    if mesh.points.is_empty() {
        // Readers refuse a file without points that does not declare their number.
        return out.write_all(b"0\n");
    }
    write_records(out, mesh.points.len(), |buffer, i| {
        let normal = normals.as_ref().map(|normals| normals[i]);
        for x in [Some(mesh.points[i]), normal].into_iter().flatten() {
            for x in x.to_array() {
                push_f64(buffer, x);
                buffer.push(separator);
            }
        }
        if let Some(colors) = colors {
            for channel in &colors[i][..3] {
                push_integer(buffer, *channel);
                buffer.push(separator);
            }
        }
        for (field, k) in &scalars.columns {
            push_number(buffer, field, i * field.components + k);
            buffer.push(separator);
        }
        *buffer.last_mut().expect("a point has coordinates") = b'\n';
    })
}

/// Appends number `i` of a field. Floats have a point, so that a reader takes them for floats.
fn push_number(buffer: &mut Vec<u8>, field: &Field, i: usize) {
    let kind = field.values.kind();
    let start = buffer.len();
    Number::of(&field.values, i, kind).push_text(buffer);
    let is_whole = |byte: &u8| byte.is_ascii_digit() || *byte == b'-';
    if kind.is_float() && buffer[start..].iter().all(is_whole) {
        buffer.extend_from_slice(b".0");
    }
}
