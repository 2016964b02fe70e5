//! Writes XDMF files.

use std::fmt::Write as _;
use std::io;
use std::path::Path;

use crate::atomic_file::{Out, write_atomically};
use crate::grid_out::GridMesh;
use crate::rows_out::{push_f64, push_integer, write_records};
use trioxide_mesh::Result;
use trioxide_mesh::mesh::Mesh;
use trioxide_mesh::volume::VolumeMesh;

/// Writes a volume mesh: cells, then tagged faces.
pub(in crate::volume) fn write(path: &Path, mesh: &VolumeMesh) -> Result<()> {
    write_atomically(path, |file| write_to(file, GridMesh::Volume(mesh)))
}

/// Writes a surface or cloud: faces, then segments as lines.
pub(crate) fn write_surface(path: &Path, mesh: &Mesh) -> Result<()> {
    write_atomically(path, |file| write_to(file, GridMesh::Surface(mesh)))
}

/// XDMF's type and the vertices of element `i`.
fn cell(mesh: GridMesh<'_>, i: usize) -> (u8, &[u32]) {
    let vertices = mesh.cell(i);
    let number = match mesh.kind(i, true) {
        3 => 2,
        5 => 4,
        9 => 5,
        10 => 6,
        12 => 9,
        13 => 8,
        14 => 7,
        _ => 3,
    };
    (number, vertices)
}

fn write_to(out: &mut dyn Out, mesh: GridMesh) -> io::Result<()> {
    let (points, count) = (mesh.points(), mesh.len());
    // Polygons and lines give their number of nodes.
    let has_length = |number: u8| number <= 3;
    let numbers: usize = (0..count)
        .map(|i| {
            let (number, vertices) = cell(mesh, i);
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
    write_records(out, count, |buffer, i| {
        let (number, vertices) = cell(mesh, i);
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
    for (name, tag) in mesh.tags(mesh.has_markers()) {
        write!(
            out,
            "<Attribute Name=\"{name}\" AttributeType=\"Scalar\" Center=\"Cell\">\n\
             <DataItem DataType=\"Int\" Dimensions=\"{count}\" Format=\"XML\" Precision=\"4\">\n"
        )?;
        write_records(out, count, |buffer, i| {
            push_integer(buffer, tag(mesh, i));
            buffer.push(b'\n');
        })?;
        write!(out, "</DataItem>\n</Attribute>\n")?;
    }
    write!(out, "</Grid>\n</Domain>\n</Xdmf>\n")
}
