//! Object File Format: `.off`.
//!
//! <http://www.geomview.org/docs/html/OFF.html>. Read are `OFF` and its variants with colours, normals and texture
//! coordinates (`COFF`, `NOFF`, `STOFF` and their mixtures), whose additions are skipped; comments and blank lines anywhere;
//! the counts on one line or several; one vertex or face a line.

use std::io::{self, Write};
use std::path::Path;

use glam::DVec3;

use super::atomic_file::write_atomically;
use super::faces::FaceList;
use super::map_file;
use super::rows_out::{push_f64, push_integer, write_records};
use super::text::{Fault, Line, Parsed, Rows, concat, show, text_start, with_line_feeds};
use trioxide_mesh::Result;
use trioxide_mesh::mesh::Mesh;

pub(crate) fn read(path: &Path) -> Result<Mesh> {
    let file = map_file(path)?;
    parse(&file).map_err(|fault| fault.in_text(path, &file))
}

pub(crate) fn parse(file: &[u8]) -> Parsed<Mesh> {
    let file = &*with_line_feeds(file);
    let rows = Rows::new(file, text_start(file));
    let (vertices, faces, first) = parse_header(&rows)?;
    let vertex_rows = rows.expect(first, vertices, "vertices")?;
    let face_rows = rows.expect(vertex_rows.end, faces, "faces")?;
    rows.expect_end(face_rows.end, "the faces")?;
    let points = rows.parse(vertex_rows, |points: &mut Vec<DVec3>, _, line| {
        points.push(parse_point(line)?);
        Ok(())
    })?;
    let faces = rows.parse(face_rows, |faces: &mut FaceList, _, line| {
        let offset = line.offset();
        for _ in 0..line.count("the number of a face's vertices")? {
            faces.push_vertex(line.vertex(0, vertices)?);
        }
        // What follows is a colour.
        faces
            .finish_face()
            .map_err(|reason| Fault::new(offset, reason))
    })?;
    Ok(Mesh {
        points: concat(points),
        faces: FaceList::concat(faces).map_err(|reason| Fault::new(file.len(), reason))?,
        ..Mesh::default()
    })
}

/// Three coordinates.
pub(crate) fn parse_point(line: &mut Line) -> Parsed<DVec3> {
    let [x, y, z] = ["x", "y", "z"];
    Ok(DVec3::new(line.f64(x)?, line.f64(y)?, line.f64(z)?))
}

/// Numbers of vertices and faces, and the row behind them.
fn parse_header(rows: &Rows) -> Parsed<(usize, usize, usize)> {
    let mut row = 0;
    let mut line = rows.row(row, "OFF")?;
    // The keyword may be missing.
    if line.clone().integer("").is_err() {
        let offset = line.offset();
        let keyword = line.token().unwrap_or_default();
        let variant = keyword.strip_suffix(b"OFF").ok_or_else(|| {
            Fault::new(offset, format!("expected OFF, found `{}`", show(keyword)))
        })?;
        if !variant.iter().all(|letter| b"STCN".contains(letter)) {
            return Err(Fault::new(
                offset,
                format!("{} is not read: write it as OFF", show(keyword)),
            ));
        }
        if line.clone().token() == Some(b"BINARY") {
            return Err(Fault::new(
                line.offset(),
                "binary OFF is not read: write it as text",
            ));
        }
    }
    let mut counts = [0; 2];
    for (count, what) in counts.iter_mut().zip(["vertices", "faces"]) {
        let what = format!("the number of {what}");
        if line.is_finished() {
            row += 1;
            line = rows.row(row, &what)?;
        }
        *count = line.count(&what)?;
    }
    let [vertices, faces] = counts;
    row += 1;
    if !line.is_finished() {
        line.integer("the number of edges")?;
        return Ok((vertices, faces, row));
    }
    // The number of edges may be missing, or stand on a line of its own, as no vertex does.
    let is_alone = |mut line: Line| line.integer("").is_ok() && line.is_finished();
    let has_edges = rows.row(row, "").is_ok_and(is_alone);
    Ok((vertices, faces, row + usize::from(has_edges)))
}

pub(crate) fn write(path: &Path, mesh: &Mesh) -> Result<()> {
    write_atomically(path, |file| write_to(file, mesh))
}

fn write_to(out: &mut (impl Write + Send), mesh: &Mesh) -> io::Result<()> {
    let faces = mesh.faces.len();
    writeln!(out, "OFF\n{} {faces} 0", mesh.points.len())?;
    write_records(out, mesh.points.len(), |buffer, i| {
        push_point(buffer, mesh.points[i]);
    })?;
    write_records(out, faces, |buffer, i| {
        let polygon = mesh.faces.get(i);
        push_integer(buffer, polygon.len());
        for vertex in polygon {
            buffer.push(b' ');
            push_integer(buffer, *vertex);
        }
        buffer.push(b'\n');
    })
}

/// Appends three coordinates and a line end.
pub(crate) fn push_point(buffer: &mut Vec<u8>, point: DVec3) {
    push_f64(buffer, point.x);
    buffer.push(b' ');
    push_f64(buffer, point.y);
    buffer.push(b' ');
    push_f64(buffer, point.z);
    buffer.push(b'\n');
}
