//! The maps between nested levels: `level_1_parents.txt`, `level_1_prolongation.mtx` and so on in one folder.
//!
//! The first file of a level lists the piece of the level that each piece of the one before belongs to, one per line;
//! before level 1 come the polygons or polyhedra of the mesh. The second is the matrix that gives each of them its
//! piece's value ([`matrix_market`](crate::matrix_market)).

use std::io;
use std::path::{Path, PathBuf};

use crate::atomic_file::{AtomicFile, Out};
use crate::matrix_market;
use crate::numbers_out::NUMBER;
use crate::rows_out::write_rows;
use trioxide_mesh::{Error, Result};

/// The files in `folder` that [`write`] writes for a level.
pub fn files(folder: &Path, level: usize) -> [PathBuf; 2] {
    ["parents.txt", "prolongation.mtx"].map(|name| folder.join(format!("level_{level}_{name}")))
}

/// Writes the maps of all levels to `folder`, which is created if needed: of each level from 1 on the number of its
/// pieces, and the one that each piece of the level before belongs to. All files or none are replaced.
///
/// # Errors
/// [`Error::File`] when the folder cannot be made or a file cannot be written.
pub fn write<'a>(
    folder: &Path,
    levels: impl IntoIterator<Item = (usize, &'a [u32])>,
) -> Result<()> {
    std::fs::create_dir_all(folder).map_err(|source| Error::file(folder, source))?;
    let mut written = Vec::new();
    for (level, (pieces, parents)) in (1..).zip(levels) {
        let [list, matrix] = files(folder, level);
        written.push(AtomicFile::written(&list, |out| {
            write_parents(out, level, parents)
        })?);
        written.push(AtomicFile::written(&matrix, |out| {
            matrix_market::write_constants(out, pieces, parents)
        })?);
    }
    AtomicFile::commit_all(written)
}

fn write_parents(out: &mut dyn Out, level: usize, parents: &[u32]) -> io::Result<()> {
    let before = level - 1;
    writeln!(
        out,
        "# piece of level {level} that each piece of level {before} belongs to"
    )?;
    write_rows(out, parents.len(), NUMBER, |row, i| {
        row.number(parents[i], b'\n')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_has_a_list_and_a_matrix() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("deep/maps");
        write(&folder, [(2, &[0, 1, 0][..]), (1, &[0, 0])]).unwrap();
        let read = |level| files(&folder, level).map(|path| std::fs::read_to_string(path).unwrap());
        let head = "%%MatrixMarket matrix coordinate real general\n";
        assert_eq!(
            read(1),
            [
                "# piece of level 1 that each piece of level 0 belongs to\n0\n1\n0\n".to_owned(),
                format!("{head}3 2 3\n1 1 1\n2 2 1\n3 1 1\n"),
            ]
        );
        let [_, matrix] = read(2);
        assert_eq!(matrix, format!("{head}2 1 2\n1 1 1\n2 1 1\n"));
    }
}
