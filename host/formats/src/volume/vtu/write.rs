//! Writing of `.vtu` files.

use std::io::{self, Write};
use std::path::Path;

use super::super::Encoding;
use super::super::vtk_cells::{self, Record, number};
use crate::atomic_file::write_atomically;
use crate::rows_out::{push_f64, push_integer, write_records};
use trioxide_mesh::Result;
use trioxide_mesh::volume::{Cells, VolumeMesh};

/// An array of the file: a record is what belongs to one point or cell.
struct Array<'a> {
    kind: &'static str,
    /// Bytes of one number.
    size: usize,
    name: &'static str,
    /// More attributes of the element.
    more: &'static str,
    /// Numbers in all.
    numbers: usize,
    records: usize,
    record: &'a Record<'a, Value>,
}

#[derive(Clone, Copy)]
enum Value {
    Float(f64),
    Integer(i64),
}

pub(in super::super) fn write(path: &Path, mesh: &VolumeMesh, encoding: Encoding) -> Result<()> {
    write_atomically(path, |file| write_to(file, mesh, encoding))
}

fn write_to(
    out: &mut (impl Write + Send),
    mesh: &VolumeMesh,
    encoding: Encoding,
) -> io::Result<()> {
    let (points, solid, faces) = (mesh.points.len(), mesh.cells.len(), mesh.faces.len());
    let cells = solid + faces;
    let solid_corners = match &mesh.cells {
        Cells::Tetrahedra(tetrahedra) => 4 * tetrahedra.len(),
        Cells::Mixed(cells) => cells.vertices.len(),
    };
    let corners = solid_corners + mesh.faces.vertices.len();
    // 32 bits are half the file.
    let (index, size) = match i32::try_from(points.max(corners)) {
        Ok(_) => ("Int32", 4),
        Err(_) => ("Int64", 8),
    };
    let cell = |i: usize| match i.checked_sub(solid) {
        None => mesh.cells.get(i),
        Some(face) => mesh.faces.get(face),
    };
    let point = |i: usize, push: &mut dyn FnMut(Value)| {
        for coordinate in mesh.points[i].to_array() {
            push(Value::Float(coordinate));
        }
    };
    let vertices = |i: usize, push: &mut dyn FnMut(Value)| {
        for vertex in vtk_cells::vertices(cell(i)) {
            push(Value::Integer(vertex.into()));
        }
    };
    let end = |i: usize, push: &mut dyn FnMut(Value)| {
        let end = match (i.checked_sub(solid), &mesh.cells) {
            (Some(face), _) => solid_corners + mesh.faces.offsets[face + 1] as usize,
            (None, Cells::Tetrahedra(_)) => 4 * (i + 1),
            (None, Cells::Mixed(cells)) => cells.offsets[i + 1] as usize,
        };
        push(Value::Integer(end as i64));
    };
    let kind = |i: usize, push: &mut dyn FnMut(Value)| {
        push(Value::Integer(number(i >= solid, cell(i).len()).into()));
    };
    let region = |i: usize, push: &mut dyn FnMut(Value)| {
        let regions = mesh.regions.as_deref().unwrap_or_default();
        push(Value::Integer(regions.get(i).copied().unwrap_or(0).into()));
    };
    let marker = |i: usize, push: &mut dyn FnMut(Value)| {
        let tag = i.checked_sub(solid).map_or(0, |face| mesh.face_tags[face]);
        push(Value::Integer(tag.into()));
    };
    let array = |kind, size, name, numbers, records, record| Array {
        kind,
        size,
        name,
        more: "",
        numbers,
        records,
        record,
    };
    let mut arrays = vec![
        Array {
            more: " NumberOfComponents=\"3\"",
            ..array("Float64", 8, "Points", 3 * points, points, &point)
        },
        array(index, size, "connectivity", corners, cells, &vertices),
        array(index, size, "offsets", cells, cells, &end),
        array("UInt8", 1, "types", cells, cells, &kind),
    ];
    if mesh.regions.is_some() {
        arrays.push(array("Int32", 4, "region", cells, cells, &region));
    }
    if faces > 0 {
        arrays.push(array("Int32", 4, "marker", cells, cells, &marker));
    }

    write!(
        out,
        "<?xml version=\"1.0\"?>\n\
         <VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\">\n  \
         <UnstructuredGrid>\n    \
         <Piece NumberOfPoints=\"{points}\" NumberOfCells=\"{cells}\">\n",
    )?;
    let mut offset = 0;
    for (parent, range) in [
        ("Points", 0..1),
        ("Cells", 1..4),
        ("CellData", 4..arrays.len()),
    ] {
        if range.is_empty() {
            continue;
        }
        writeln!(out, "      <{parent}>")?;
        for array in &arrays[range] {
            let Array {
                kind, name, more, ..
            } = array;
            write!(
                out,
                "        <DataArray type=\"{kind}\" Name=\"{name}\"{more}"
            )?;
            if encoding == Encoding::Text {
                writeln!(out, " format=\"ascii\">")?;
                write_records(out, array.records, |buffer, i| {
                    (array.record)(i, &mut |value| {
                        match value {
                            Value::Float(x) => push_f64(buffer, x),
                            Value::Integer(n) => push_integer(buffer, n),
                        }
                        buffer.push(b' ');
                    });
                    if let Some(last) = buffer.last_mut() {
                        *last = b'\n';
                    }
                })?;
                writeln!(out, "        </DataArray>")?;
            } else {
                writeln!(out, " format=\"appended\" offset=\"{offset}\"/>")?;
                // Each array has its length before it.
                offset += 8 + array.size * array.numbers;
            }
        }
        writeln!(out, "      </{parent}>")?;
    }
    write!(out, "    </Piece>\n  </UnstructuredGrid>\n")?;
    if encoding != Encoding::Text {
        write!(out, "  <AppendedData encoding=\"raw\">\n_")?;
        for array in &arrays {
            out.write_all(&((array.size * array.numbers) as u64).to_le_bytes())?;
            write_records(out, array.records, |buffer, i| {
                (array.record)(i, &mut |value| match value {
                    Value::Float(x) => buffer.extend_from_slice(&x.to_le_bytes()),
                    Value::Integer(n) => buffer.extend_from_slice(&n.to_le_bytes()[..array.size]),
                });
            })?;
        }
        write!(out, "\n  </AppendedData>\n")?;
    }
    writeln!(out, "</VTKFile>")
}
