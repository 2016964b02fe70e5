//! The mesh files of gpu-longest-edge-bisection-2011 (appendix B): text of points, directed edges, and triangles by
//! their edges: `.edges`.
//!
//! An input file ([`Layout::Points`], figure B.1) has three sections, each its size and its entries: points, two
//! coordinates; edges, the numbers of two points, from 0; triangles, the numbers of three edges, from 1 and negative
//! where the triangle runs along the edge in reverse, and 1 or 0, whether it is marked for refinement. An output file
//! ([`Layout::Ends`], figure B.2) has no points, and edges by the coordinates of their ends: `[7.5 8] [15 0]`. Blank
//! lines and what follows a `#` are skipped.
//!
//! Both layouts are read. Ends with equal coordinates are one point, numbered as they come; points that happen to
//! coincide do not survive an output file. The paper's triangles run along each edge at least once in its direction and
//! asks to convert others: an edge that its one triangle runs along in reverse is turned on reading. Triangles may run
//! clockwise, as in the paper's own example.

use std::io;
use std::ops::Range;
use std::path::Path;

use glam::DVec2;
use rayon::slice::ParallelSliceMut;

use super::atomic_file::{Out, write_atomically};
use super::rows_out::{push_f64, push_integer, write_records};
use super::text::{Fault, Line, Parsed, Rows, text_start};
use super::{complete, map_file, triangles};
use trioxide_mesh::edge_table::{self, EdgeTable};
use trioxide_mesh::mesh::{EdgeTriangulation, Mesh, NONE, Triangulation};
use trioxide_mesh::{Error, Result, parallel};

/// Which of the paper's files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Its input: points, and edges between them.
    Points,
    /// Its output: edges by the coordinates of their ends.
    Ends,
}

/// Reads a file of either layout: the mesh with the file's own numbers, less one for edges, and whether each triangle
/// is marked. The mesh has no tags, and keeps `trioxide_mesh::rules::topology`.
///
/// # Errors
/// [`Error::File`] when the file cannot be read, [`Error::Parse`] when it does not follow its format.
pub fn read(path: &Path) -> Result<(EdgeTriangulation, Vec<bool>)> {
    complete(|| {
        let file = map_file(path)?;
        parse(&file).map_err(|fault| fault.in_text(path, &file))
    })
}

pub(crate) fn read_mesh(path: &Path) -> Result<Mesh> {
    Ok(Triangulation::from(read(path)?.0).into())
}

pub(crate) fn parse(file: &[u8]) -> Parsed<(EdgeTriangulation, Vec<bool>)> {
    let rows = Rows::new(file, text_start(file));
    let has_ends = match rows.row(1, "") {
        Ok(mut row) => row.bracketed("").is_ok() || rows.count == 2,
        Err(_) => false,
    };
    let (points, mut edges, edge_rows) = match has_ends {
        false => {
            let point_rows = section(&rows, 0, "points")?;
            let points = parse_points(&rows, point_rows.clone())?;
            let edge_rows = section(&rows, point_rows.end, "edges")?;
            let edges = parse_edges(&rows, edge_rows.clone(), points.len())?;
            (points, edges, edge_rows)
        }
        true => {
            let edge_rows = section(&rows, 0, "edges")?;
            let ends = parse_ends(&rows, edge_rows.clone())?;
            let (points, edges) = merge_ends(&ends);
            (points, edges, edge_rows)
        }
    };
    let triangle_rows = section(&rows, edge_rows.end, "triangles")?;
    rows.expect_end(triangle_rows.end, "the triangles")?;
    for (count, most) in [(points.len(), NONE as usize), (edges.len(), 1 << 31)] {
        if count >= most {
            let reason = format!("{count} points or edges are more than 32-bit indices can name");
            return Err(Fault::new(0, reason));
        }
    }
    let (mut sides, marked) = parse_triangles(&rows, triangle_rows.clone(), &edges)?;
    own_edges(&rows, &edge_rows, &triangle_rows, &mut edges, &mut sides)?;
    let mesh = EdgeTriangulation {
        points,
        edges,
        triangles: sides,
        tags: Vec::new(),
    };
    Ok((mesh, marked))
}

/// The rows of the section whose size stands in `row`.
fn section(rows: &Rows, row: usize, what: &str) -> Parsed<Range<usize>> {
    let size = format!("the number of {what}");
    let mut line = rows.row(row, &size)?;
    let count = line.count(&size)?;
    line.expect_end()?;
    rows.expect(row + 1, count, what)
}

fn parse_points(rows: &Rows, range: Range<usize>) -> Parsed<Vec<DVec2>> {
    let points = rows.parse(range, |points: &mut Vec<DVec2>, _, line| {
        points.push(DVec2::new(line.f64("x")?, line.f64("y")?));
        line.expect_end()
    })?;
    Ok(parallel::concat(points))
}

fn parse_edges(rows: &Rows, range: Range<usize>, points: usize) -> Parsed<Vec<[u32; 2]>> {
    let edges = rows.parse(range, |edges: &mut Vec<[u32; 2]>, _, line| {
        let offset = line.offset();
        let ends = [line.vertex(0, points)?, line.vertex(0, points)?];
        if ends[0] == ends[1] {
            let reason = format!("the edge starts and ends at vertex {}", ends[0]);
            return Err(Fault::new(offset, reason));
        }
        edges.push(ends);
        line.expect_end()
    })?;
    Ok(parallel::concat(edges))
}

fn parse_ends(rows: &Rows, range: Range<usize>) -> Parsed<Vec<[DVec2; 2]>> {
    let point = |line: &mut Line| {
        let mut inside = line.bracketed("a point in brackets")?;
        let point = DVec2::new(inside.f64("x")?, inside.f64("y before `]`")?);
        inside.expect_end()?;
        Ok(point)
    };
    let ends = rows.parse(range, |ends: &mut Vec<[DVec2; 2]>, _, line| {
        let offset = line.offset();
        let [a, b] = [point(line)?, point(line)?];
        if key(a) == key(b) {
            let reason = format!("the edge starts and ends at [{} {}]", a.x, a.y);
            return Err(Fault::new(offset, reason));
        }
        ends.push([a, b]);
        line.expect_end()
    })?;
    Ok(parallel::concat(ends))
}

/// The same for points that are one: -0 is 0.
fn key(point: DVec2) -> [u64; 2] {
    (point + DVec2::ZERO).to_array().map(f64::to_bits)
}

/// Points in the order in which they come first, and the edges between them.
fn merge_ends(ends: &[[DVec2; 2]]) -> (Vec<DVec2>, Vec<[u32; 2]>) {
    let all = ends.as_flattened();
    let mut order: Vec<(usize, [u64; 2])> =
        all.iter().map(|&point| key(point)).enumerate().collect();
    order.par_sort_unstable_by_key(|&(i, key)| (key, i));
    // The first end that is the same point.
    let mut first = vec![0; all.len()];
    for same in order.chunk_by(|a, b| a.1 == b.1) {
        for (i, _) in same {
            first[*i] = same[0].0;
        }
    }
    let mut points = Vec::new();
    let mut numbers = vec![0; all.len()];
    for i in 0..all.len() {
        numbers[i] = if first[i] == i {
            points.push(all[i]);
            (points.len() - 1) as u32
        } else {
            numbers[first[i]]
        };
    }
    (points, numbers.as_chunks().0.to_vec())
}

/// Sides and marks, in the order of the file.
fn parse_triangles(
    rows: &Rows,
    range: Range<usize>,
    edges: &[[u32; 2]],
) -> Parsed<(Vec<[u32; 3]>, Vec<bool>)> {
    type Part = (Vec<[u32; 3]>, Vec<bool>);
    let parts = rows.parse(range, |(triangles, marked): &mut Part, _, line| {
        let offset = line.offset();
        let mut sides = [0; 3];
        for side in &mut sides {
            *side = parse_side(line, edges.len())?;
        }
        let start = |side: u32| edges[side as usize / 2][side as usize % 2];
        for k in 0..3 {
            let (side, next) = (sides[k], sides[(k + 1) % 3]);
            if start(side ^ 1) != start(next) {
                let reason = format!(
                    "edge {} leads to vertex {}, but edge {} starts at vertex {}",
                    number(side),
                    start(side ^ 1),
                    number(next),
                    start(next)
                );
                return Err(Fault::new(offset, reason));
            }
        }
        let mut mark = line.clone();
        let is_marked = match line.integer("a mark, 0 or 1")? {
            0 => false,
            1 => true,
            _ => return Err(mark.unexpected("a mark, 0 or 1")),
        };
        triangles.push(sides);
        marked.push(is_marked);
        line.expect_end()
    })?;
    let (triangles, marked): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
    Ok((parallel::concat(triangles), parallel::concat(marked)))
}

fn parse_side(line: &mut Line, edges: usize) -> Parsed<u32> {
    let offset = line.offset();
    let number = line.integer("the number of an edge")?;
    match usize::try_from(number.unsigned_abs()) {
        Ok(e) if (1..=edges).contains(&e) => Ok(2 * (e as u32 - 1) + u32::from(number < 0)),
        _ => Err(Fault::new(
            offset,
            format!(
                "edge {number} does not exist: {edges} edges are numbered from 1, in reverse from -1"
            ),
        )),
    }
}

/// How the file writes a side.
fn number(side: u32) -> i64 {
    let number = i64::from(side / 2) + 1;
    if side % 2 == 1 { -number } else { number }
}

/// Checks that each side is in one triangle at most, and turns the edges that only run in reverse.
fn own_edges(
    rows: &Rows,
    edge_rows: &Range<usize>,
    triangle_rows: &Range<usize>,
    edges: &mut [[u32; 2]],
    triangles: &mut [[u32; 3]],
) -> Parsed<()> {
    let fault = |row: usize, reason: String| -> Parsed<()> {
        Err(Fault::new(rows.row(row, "a row")?.offset(), reason))
    };
    // Half-edge 3t + k of each side.
    let mut owner = vec![usize::MAX; 2 * edges.len()];
    for (h, &side) in triangles.as_flattened().iter().enumerate() {
        if std::mem::replace(&mut owner[side as usize], h) != usize::MAX {
            let reason = format!(
                "another triangle runs along edge {} the same way: they overlap",
                number(side)
            );
            return fault(triangle_rows.start + h / 3, reason);
        }
    }
    for (e, ends) in edges.iter_mut().enumerate() {
        match [owner[2 * e], owner[2 * e + 1]] {
            [usize::MAX, usize::MAX] => {
                let reason = format!("edge {} is in no triangle", e + 1);
                return fault(edge_rows.start + e, reason);
            }
            [usize::MAX, h] => {
                ends.reverse();
                triangles[h / 3][h % 3] ^= 1;
            }
            _ => {}
        }
    }
    let mut sorted: Vec<(u32, u32, usize)> = edges
        .iter()
        .enumerate()
        .map(|(e, &[a, b])| (a.min(b), a.max(b), e))
        .collect();
    sorted.par_sort_unstable();
    let same = sorted
        .windows(2)
        .filter(|pair| (pair[0].0, pair[0].1) == (pair[1].0, pair[1].1));
    match same.map(|pair| (pair[1].2, pair[0].2)).min() {
        None => Ok(()),
        Some((second, first)) => {
            let reason = format!(
                "edge {} has the same ends as edge {}",
                second + 1,
                first + 1
            );
            fault(edge_rows.start + second, reason)
        }
    }
}

/// Writes a mesh, and which triangles are marked: T, or empty for none. Tags are not written.
///
/// # Errors
/// [`Error::File`] when the file cannot be written.
pub fn write(path: &Path, mesh: &EdgeTriangulation, marked: &[bool], layout: Layout) -> Result<()> {
    write_atomically(path, |file| write_to(file, mesh, marked, layout))
}

pub(crate) fn write_to(
    out: &mut dyn Out,
    mesh: &EdgeTriangulation,
    marked: &[bool],
    layout: Layout,
) -> io::Result<()> {
    let push_point = |buffer: &mut Vec<u8>, point: DVec2| {
        push_f64(buffer, point.x);
        buffer.push(b' ');
        push_f64(buffer, point.y);
    };
    if layout == Layout::Points {
        writeln!(out, "#points\n{}", mesh.points.len())?;
        write_records(out, mesh.points.len(), |buffer, i| {
            push_point(buffer, mesh.points[i]);
            buffer.push(b'\n');
        })?;
        writeln!(out)?;
    }
    writeln!(out, "#edges\n{}", mesh.edges.len())?;
    write_records(out, mesh.edges.len(), |buffer, e| {
        for (k, &v) in mesh.edges[e].iter().enumerate() {
            if k > 0 {
                buffer.push(b' ');
            }
            match layout {
                Layout::Points => push_integer(buffer, v),
                Layout::Ends => {
                    buffer.push(b'[');
                    push_point(buffer, mesh.points[v as usize]);
                    buffer.push(b']');
                }
            }
        }
        buffer.push(b'\n');
    })?;
    writeln!(out, "\n#triangles\n{}", mesh.triangles.len())?;
    write_records(out, mesh.triangles.len(), |buffer, t| {
        for &side in &mesh.triangles[t] {
            push_integer(buffer, number(side));
            buffer.push(b' ');
        }
        let is_marked = marked.get(t).copied().unwrap_or(false);
        buffer.extend_from_slice(if is_marked { b"1\n" } else { b"0\n" });
    })?;
    match layout {
        Layout::Points => writeln!(out, "\n#end"),
        Layout::Ends => Ok(()),
    }
}

/// Writes a mesh of triangles with its points, no triangle marked.
pub(crate) fn write_mesh(path: &Path, mesh: &Mesh) -> Result<()> {
    let unfit = |reason: String| Error::Format {
        path: path.to_owned(),
        reason,
    };
    if let Some(i) = mesh.points.iter().position(|p| p.z != mesh.points[0].z) {
        return Err(unfit(format!(
            "the format holds planar meshes only, but vertex {i} has another z"
        )));
    }
    let triangles = triangles(path, &mesh.faces)?;
    check_edges(mesh.points.len(), &triangles).map_err(unfit)?;
    let points = mesh.points.iter().map(|p| p.truncate()).collect();
    write(
        path,
        &edge_table::edges(points, &triangles),
        &[],
        Layout::Points,
    )
}

/// Why the edges of triangles cannot have owners, if so.
fn check_edges(vertices: usize, triangles: &[[u32; 3]]) -> Result<(), String> {
    for (t, &[a, b, c]) in triangles.iter().enumerate() {
        if a == b || b == c || c == a || [a, b, c].iter().any(|&v| v as usize >= vertices) {
            return Err(format!(
                "triangle {t} has vertices {a}, {b}, {c} of {vertices}: they must exist and differ"
            ));
        }
    }
    let start = |h: u32| triangles[h as usize / 3][h as usize % 3];
    for ([a, b], group) in EdgeTable::of_triangles(vertices, triangles).edges() {
        match group {
            [_] => {}
            [(_, g), (_, h)] if start(*g) != start(*h) => {}
            _ => {
                return Err(format!(
                    "the format holds edges with a triangle on one or each side, but edge {a}-{b} has \
                     {} triangles, of which some run along it the same way",
                    group.len()
                ));
            }
        }
    }
    Ok(())
}
