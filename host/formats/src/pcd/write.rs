//! Writes `.pcd`, binary or text.

use std::io;
use std::path::Path;

use glam::DVec3;

use super::super::Encoding;
use super::super::atomic_file::{Out, write_atomically};
use super::super::fields::{Number, names_in_file};
use super::super::rows_out::{push_f64, push_integer, write_records};
use super::{COORDINATES, NORMALS, is_color};
use trioxide_mesh::mesh::{Mesh, VertexAttributes};
use trioxide_mesh::{Result, parallel};

pub(crate) fn write(path: &Path, mesh: &Mesh, encoding: Encoding) -> Result<()> {
    write_atomically(path, |file| {
        write_to(file, mesh, encoding != Encoding::Text)
    })
}

/// The names of the fields of points in a file: one word each, without a meaning of its own.
fn names_of(mesh: &Mesh) -> Vec<String> {
    let fields = mesh.fields.points.iter();
    names_in_file(fields.map(|field| &*field.name), plain_name)
}

fn plain_name(name: &str) -> String {
    let letter = |c: char| {
        if c == '#' || c.is_whitespace() || c.is_control() {
            '_'
        } else {
            c
        }
    };
    let name: String = name.chars().map(letter).collect();
    let is_taken = COORDINATES.contains(&&*name) || NORMALS.contains(&&*name) || is_color(&name);
    match is_taken || matches!(&*name, "" | "_") {
        true => format!("field_{name}"),
        false => name,
    }
}

/// The fields that have another name in a file, and that name.
pub(crate) fn renamed(mesh: &Mesh) -> Vec<(String, String)> {
    let names = mesh.fields.points.iter().map(|field| field.name.clone());
    names
        .zip(names_of(mesh))
        .filter(|(name, written)| name != written)
        .collect()
}

fn write_to(out: &mut dyn Out, mesh: &Mesh, is_binary: bool) -> io::Result<()> {
    let VertexAttributes {
        normals, colors, ..
    } = &mesh.attributes;
    let is_exact = |p: &DVec3| {
        p.to_array()
            .iter()
            .all(|&x| x.is_nan() || f64::from(x as f32) == x)
    };
    let is_single = parallel::all(&mesh.points, is_exact)
        && normals
            .as_ref()
            .is_none_or(|normals| parallel::all(normals, is_exact));
    let size = if is_single { 4 } else { 8 };
    let row = |name: &str, size: usize, kind: char, count: usize| {
        [
            name.to_owned(),
            size.to_string(),
            kind.to_string(),
            count.to_string(),
        ]
    };
    let mut fields = Vec::from(COORDINATES.map(|name| row(name, size, 'F', 1)));
    if normals.is_some() {
        fields.extend(NORMALS.map(|name| row(name, size, 'F', 1)));
    }
    if let Some(colors) = colors {
        let is_opaque = parallel::all(colors, |color| color[3] == u8::MAX);
        fields.push(row(if is_opaque { "rgb" } else { "rgba" }, 4, 'U', 1));
    }
    for (field, name) in mesh.fields.points.iter().zip(names_of(mesh)) {
        let kind = field.values.kind();
        // F, I or U.
        let letter = kind.name().as_bytes()[0].to_ascii_uppercase();
        fields.push(row(
            &name,
            kind.size(),
            char::from(letter),
            field.components,
        ));
    }
    let column = |k: usize| {
        let words: Vec<&str> = fields.iter().map(|field| &*field[k]).collect();
        words.join(" ")
    };
    let points = mesh.points.len();
    write!(
        out,
        "# .PCD v0.7 - Point Cloud Data file format\nVERSION 0.7\nFIELDS {}\nSIZE {}\nTYPE {}\nCOUNT {}\n\
         WIDTH {points}\nHEIGHT 1\nVIEWPOINT 0 0 0 1 0 0 0\nPOINTS {points}\nDATA {}\n",
        column(0),
        column(1),
        column(2),
        column(3),
        if is_binary { "binary" } else { "ascii" },
    )?;
    write_records(out, points, |buffer, i| {
        let normal = normals.as_ref().map(|normals| normals[i]);
        for x in [Some(mesh.points[i]), normal].into_iter().flatten() {
            for x in x.to_array() {
                match (is_binary, is_single) {
                    (true, true) => buffer.extend_from_slice(&(x as f32).to_le_bytes()),
                    (true, false) => buffer.extend_from_slice(&x.to_le_bytes()),
                    (false, _) => {
                        push_f64(buffer, x);
                        buffer.push(b' ');
                    }
                }
            }
        }
        if let Some(colors) = colors {
            let [r, g, b, a] = colors[i];
            let packed = u32::from_le_bytes([b, g, r, a]);
            match is_binary {
                true => buffer.extend_from_slice(&packed.to_le_bytes()),
                false => {
                    push_integer(buffer, packed);
                    buffer.push(b' ');
                }
            }
        }
        for field in &mesh.fields.points {
            let kind = field.values.kind();
            for k in i * field.components..(i + 1) * field.components {
                let number = Number::of(&field.values, k, kind);
                match is_binary {
                    true => number.push_bytes(buffer, kind.size(), false),
                    false => {
                        number.push_text(buffer);
                        buffer.push(b' ');
                    }
                }
            }
        }
        if !is_binary {
            *buffer.last_mut().expect("a point has coordinates") = b'\n';
        }
    })
}
