//! The maps back of a reordered mesh: `old_vertices.txt` and `old_cells.txt` in one folder.
//!
//! The first file lists the old id of each vertex, one per line, the second that of each face or cell.

use std::path::{Path, PathBuf};

use crate::atomic_file::{AtomicFile, Out};
use crate::numbers_out::NUMBER;
use crate::rows_out::write_rows;
use trioxide_mesh::{Error, Result};

/// The files in `folder` that [`write`] writes.
pub fn files(folder: &Path) -> [PathBuf; 2] {
    ["old_vertices.txt", "old_cells.txt"].map(|name| folder.join(name))
}

/// Writes the old ids of vertices and cells to `folder`, which is created if needed. Both files or none are replaced.
///
/// # Errors
/// [`Error::File`] when the folder cannot be made or a file cannot be written.
pub fn write(folder: &Path, vertices: &[u32], cells: &[u32]) -> Result<()> {
    std::fs::create_dir_all(folder).map_err(|source| Error::file(folder, source))?;
    let [of_vertices, of_cells] = files(folder);
    AtomicFile::commit_all([
        AtomicFile::written(&of_vertices, |out| list(out, "vertex", vertices))?,
        AtomicFile::written(&of_cells, |out| list(out, "face or cell", cells))?,
    ])
}

fn list(out: &mut dyn Out, element: &str, ids: &[u32]) -> std::io::Result<()> {
    writeln!(out, "# old id of each {element}")?;
    write_rows(out, ids.len(), NUMBER, |row, i| row.number(ids[i], b'\n'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_files_have_a_line_for_each_element() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("deep/maps");
        for cells in [&[4, 0][..], &[]] {
            write(&folder, &[2, 0, 1], cells).unwrap();
            let [vertices, lines] =
                files(&folder).map(|path| std::fs::read_to_string(path).unwrap());
            assert_eq!(vertices, "# old id of each vertex\n2\n0\n1\n");
            let rows: String = cells.iter().map(|id| format!("{id}\n")).collect();
            assert_eq!(lines, format!("# old id of each face or cell\n{rows}"));
        }
    }
}
