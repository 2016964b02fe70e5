//! Writes XDMF files.

use std::fmt::Write as _;
use std::io;
use std::path::Path;

use glam::DVec3;

use crate::atomic_file::{Out, write_atomically};
use crate::rows_out::{push_f64, push_integer, write_records};
use trioxide_mesh::Result;
use trioxide_mesh::mesh::Mesh;
use trioxide_mesh::volume::VolumeMesh;

/// Cells to write: XDMF's number and the vertices of each.
struct Cells<'a> {
    points: &'a [DVec3],
    count: usize,
    /// XDMF's type and the vertices of cell `i`.
    cell: &'a (dyn Fn(usize) -> (u8, &'a [u32]) + Sync),
    arrays: Vec<(&'static str, &'a (dyn Fn(usize) -> i32 + Sync))>,
}

pub(in crate::volume) fn write(path: &Path, mesh: &VolumeMesh) -> Result<()> {
    let solid = mesh.cells.len();
    let cell = |i: usize| match i.checked_sub(solid) {
        None => {
            let cell = mesh.cells.get(i);
            let number = match cell.len() {
                4 => 6,
                5 => 7,
                6 => 8,
                _ => 9,
            };
            (number, cell)
        }
        Some(face) => face_cell(mesh.faces.get(face)),
    };
    let region = |i: usize| {
        let regions = mesh.regions.as_deref().unwrap_or_default();
        regions.get(i).copied().unwrap_or(0)
    };
    let marker = |i: usize| i.checked_sub(solid).map_or(0, |face| mesh.face_tags[face]);
    let mut cells = Cells {
        points: &mesh.points,
        count: solid + mesh.faces.len(),
        cell: &cell,
        arrays: Vec::new(),
    };
    if mesh.regions.is_some() {
        cells.arrays.push(("region", &region));
    }
    if !mesh.faces.is_empty() {
        cells.arrays.push(("marker", &marker));
    }
    write_atomically(path, |file| write_to(file, &cells))
}

fn face_cell(face: &[u32]) -> (u8, &[u32]) {
    let number = match face.len() {
        3 => 4,
        4 => 5,
        _ => 3,
    };
    (number, face)
}

/// Writes a surface or cloud: faces, then segments as lines.
pub(crate) fn write_surface(path: &Path, mesh: &Mesh) -> Result<()> {
    let faces = mesh.faces.len();
    let cell = |i: usize| match i.checked_sub(faces) {
        None => face_cell(mesh.faces.get(i)),
        Some(line) => (2, &mesh.segments[line].ends[..]),
    };
    let region = |i: usize| {
        let regions = mesh.regions.as_deref().unwrap_or_default();
        regions.get(i).copied().unwrap_or(0)
    };
    let marker = |i: usize| {
        let line = i.checked_sub(faces);
        line.map_or(0, |line| mesh.segments[line].marker)
    };
    let mut cells = Cells {
        points: &mesh.points,
        count: faces + mesh.segments.len(),
        cell: &cell,
        arrays: Vec::new(),
    };
    if mesh.regions.is_some() {
        cells.arrays.push(("region", &region));
    }
    if !mesh.segments.is_empty() {
        cells.arrays.push(("marker", &marker));
    }
    write_atomically(path, |file| write_to(file, &cells))
}

fn write_to(out: &mut dyn Out, cells: &Cells) -> io::Result<()> {
    let Cells {
        points,
        count,
        cell,
        arrays,
    } = cells;
    // Polygons and lines give their number of nodes.
    let has_length = |number: u8| number <= 3;
    let numbers: usize = (0..*count)
        .map(|i| {
            let (number, vertices) = cell(i);
            1 + usize::from(has_length(number)) + vertices.len()
        })
        .sum();
    let mut head = String::new();
    write!(
        head,
        "<?xml version=\"1.0\"?>\n<Xdmf Version=\"3.0\">\n<Domain>\n<Grid Name=\"mesh\" GridType=\"Uniform\">\n\
         <Geometry GeometryType=\"XYZ\">\n<DataItem DataType=\"Float\" Dimensions=\"{} 3\" Format=\"XML\" Precision=\"8\">\n",
        points.len()
    )
    .expect("strings take all that is written");
    out.write_all(head.as_bytes())?;
    write_records(out, points.len(), |buffer, i| {
        for coordinate in points[i].to_array() {
            push_f64(buffer, coordinate);
            buffer.push(b' ');
        }
        buffer.push(b'\n');
    })?;
    write!(
        out,
        "</DataItem>\n</Geometry>\n<Topology TopologyType=\"Mixed\" NumberOfElements=\"{count}\">\n\
         <DataItem DataType=\"Int\" Dimensions=\"{numbers}\" Format=\"XML\" Precision=\"8\">\n"
    )?;
    write_records(out, *count, |buffer, i| {
        let (number, vertices) = cell(i);
        push_integer(buffer, number);
        buffer.push(b' ');
        if has_length(number) {
            push_integer(buffer, vertices.len());
            buffer.push(b' ');
        }
        for &vertex in vertices {
            push_integer(buffer, vertex);
            buffer.push(b' ');
        }
        buffer.push(b'\n');
    })?;
    write!(out, "</DataItem>\n</Topology>\n")?;
    for (name, value) in arrays {
        write!(
            out,
            "<Attribute Name=\"{name}\" AttributeType=\"Scalar\" Center=\"Cell\">\n\
             <DataItem DataType=\"Int\" Dimensions=\"{count}\" Format=\"XML\" Precision=\"4\">\n"
        )?;
        write_records(out, *count, |buffer, i| {
            push_integer(buffer, value(i));
            buffer.push(b'\n');
        })?;
        write!(out, "</DataItem>\n</Attribute>\n")?;
    }
    write!(out, "</Grid>\n</Domain>\n</Xdmf>\n")
}
