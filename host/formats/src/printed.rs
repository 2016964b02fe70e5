//! Rows of vertices, printed before the rest of the file is known.
//!
//! In text formats, printing coordinates takes most of the time of writing. If a command does not change the vertices,
//! idle cores print their rows while a GPU starts, and the writer only copies them. The file is the same in both cases.

use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use glam::DVec3;

use super::atomic_file::Out;
use super::rows_out::{write_parts, write_records};
use super::{Format, write};
use trioxide_mesh::mesh::Mesh;
use trioxide_mesh::{Result, parallel, progress};

/// Vertices of a part. Its text is large enough for huge pages, whose fewer page faults disturb a starting driver less.
const PART: usize = if cfg!(test) { 100 } else { 192 << 10 };
/// Most vertices: some 350 MB of text. Larger meshes would leave less memory, and the GPU starts as early.
const MOST: usize = if cfg!(test) { 1000 } else { 8 << 20 };
/// Vertices between two tests whether the time is over.
const ROWS: usize = if cfg!(test) { 10 } else { 4 << 10 };
/// Bytes reserved per row, for rows in the plane; the buffer grows if needed.
const BYTES: usize = 48;

/// A format whose rows of vertices hold only coordinates, if vertices have no attributes.
pub(crate) struct VertexRows {
    /// Appends the row of a vertex.
    pub(crate) push: fn(&mut Vec<u8>, DVec3),
    /// Writes a file.
    pub(crate) write: fn(&Path, &Mesh, &Printed) -> Result<()>,
}

/// Printed rows of the vertices of a mesh without attributes, as many as there was time for.
#[derive(Default)]
pub struct Printed {
    /// Name of the format; empty if no rows are printed.
    format: &'static str,
    /// Vertices in ascending order, and their rows.
    parts: Vec<(Range<usize>, Vec<u8>)>,
}

/// Whether rows of vertices of the file `path` can be printed by [`print_ahead`].
pub fn is_printed_ahead(path: &Path) -> bool {
    Format::to_write(path).is_ok_and(|format| format.rows.is_some())
}

/// Prints the rows of vertices of the file `path`, on all threads, until all are printed or the time `is_over`.
pub fn print_ahead(
    path: &Path,
    vertices: usize,
    point: impl Fn(usize) -> DVec3 + Sync,
    is_over: &AtomicBool,
) -> Printed {
    let format = Format::to_write(path).ok();
    let rows = format.and_then(|format| Some((format.name, format.rows.as_ref()?)));
    let Some((format, VertexRows { push, .. })) = rows else {
        return Printed::default();
    };
    let vertices = vertices.min(MOST);
    let parts = parallel::collect_tasks(vertices.div_ceil(PART), |part| {
        let (begin, end) = (part * PART, vertices.min((part + 1) * PART));
        let bytes = match is_over.load(Relaxed) {
            true => 0,
            false => BYTES * (end - begin),
        };
        let (mut at, mut text) = (begin, Vec::with_capacity(bytes));
        while at < end && !is_over.load(Relaxed) {
            let rows = at..end.min(at + ROWS);
            at = rows.end;
            rows.for_each(|i| push(&mut text, point(i)));
        }
        (begin..at, text)
    });
    Printed { format, parts }
}

/// As [`write`](fn@super::write), with printed rows of the same vertices.
///
/// # Errors
/// As [`write`](fn@super::write).
pub fn write_printed(path: &Path, mesh: &Mesh, printed: &Printed) -> Result<()> {
    let format = Format::to_write(path)?;
    match &format.rows {
        Some(rows) if format.name == printed.format && mesh.attributes == Default::default() => {
            debug_assert!(printed.is_of(mesh, rows.push), "the same vertices");
            progress::stage(format!("write {}", path.display()));
            (rows.write)(path, mesh, printed)
        }
        _ => write(path, mesh),
    }
}

impl Printed {
    /// Whether the rows are those of the mesh's first vertices.
    fn is_of(&self, mesh: &Mesh, push: fn(&mut Vec<u8>, DVec3)) -> bool {
        parallel::all(&self.parts, |(range, text)| {
            let mut again = Vec::new();
            mesh.points[range.clone()]
                .iter()
                .for_each(|&point| push(&mut again, point));
            again == *text
        })
    }
}

/// Writes the rows of `count` vertices. `format` appends rows that are not printed.
pub(crate) fn write_rows(
    out: &mut dyn Out,
    count: usize,
    printed: &Printed,
    format: impl Fn(&mut Vec<u8>, usize) + Sync,
) -> io::Result<()> {
    let (mut at, mut run) = (0, Vec::new());
    for (range, text) in &printed.parts {
        // The end of a part is missing if the time was over.
        if at < range.start {
            write_parts(out, &run)?;
            run.clear();
            write_records(out, range.start - at, |buffer, i| format(buffer, at + i))?;
        }
        run.push(&text[..]);
        at = range.end;
    }
    write_parts(out, &run)?;
    write_records(out, count - at, |buffer, i| format(buffer, at + i))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;
    use trioxide_mesh::mesh::Faces;

    #[test]
    fn files_do_not_show_what_was_printed_ahead() {
        let points = |n| (0..n).map(|i| DVec3::new(1.0 / f64::from(i), f64::from(i), -0.0));
        let folder = tempfile::tempdir().unwrap();
        for (count, over_at) in [
            (0, 1),
            (50, 1000),
            (750, 1000),
            (750, 0),
            (750, 333),
            (1450, 2000),
        ] {
            let mesh = Mesh {
                points: points(count).collect(),
                faces: Faces::Triangles(vec![[0, 1, 2]; count as usize / 3]),
                ..Mesh::default()
            };
            let mut colored = mesh.clone();
            colored.attributes.colors = Some(vec![[0, 51, 255, 255]; mesh.points.len()]);
            for extension in ["off", "obj", "ply"] {
                if count == 0 && extension == "obj" {
                    // Refused.
                    continue;
                }
                let path = folder.path().join("a").with_extension(extension);
                assert_eq!(is_printed_ahead(&path), extension != "ply");
                let (is_over, calls) = (AtomicBool::new(false), AtomicUsize::new(0));
                let point = |i: usize| {
                    is_over.fetch_or(calls.fetch_add(1, Relaxed) >= over_at, Relaxed);
                    mesh.points[i]
                };
                let printed = print_ahead(&path, mesh.points.len(), point, &is_over);
                for mesh in [&mesh, &colored] {
                    write(&path, mesh).unwrap();
                    let expected = std::fs::read(&path).unwrap();
                    write_printed(&path, mesh, &printed).unwrap();
                    assert!(
                        std::fs::read(&path).unwrap() == expected,
                        "{extension} {count}"
                    );
                }
            }
        }
    }
}
