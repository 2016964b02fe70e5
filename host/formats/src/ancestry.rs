//! The ancestors of a refined mesh's parts: `parent_triangles.txt` or `parent_tetrahedra.txt`, `new_vertices.txt` and
//! `prolongation.mtx` in one folder.
//!
//! The first file lists the input cell that each cell is a part of, one per line. The second lists, for each new
//! vertex, its round from 1 on, the divided edge, and the vertices at the edge's ends; edges of tetrahedra have no
//! numbers. The third is the matrix that maps values at the input's vertices to the refined mesh ([`matrix_market`]).

use std::io;
use std::path::{Path, PathBuf};

use crate::atomic_file::{AtomicFile, Out};
use crate::matrix_market;
use crate::numbers_out::NUMBER;
use crate::rows_out::write_rows;
use trioxide_mesh::mesh::{Refinement, Simplices};
use trioxide_mesh::{Error, Result, progress};

/// The files in `folder` that [`write`] writes for a mesh of these cells.
pub fn files(folder: &Path, cells: Simplices) -> [PathBuf; 3] {
    let parents = format!("parent_{}.txt", cells.names()[1]);
    [&*parents, "new_vertices.txt", "prolongation.mtx"].map(|name| folder.join(name))
}

/// Writes the ancestry to `folder`, which is created if needed: the `ancestors` of all cells, and the `rounds` of
/// refinement of a mesh of `vertices` vertices. All files or none are replaced. If two processes write to one folder,
/// all files come from one of them.
///
/// # Errors
/// [`Error::File`] when the folder cannot be made or a file cannot be written.
pub fn write(
    folder: &Path,
    cells: Simplices,
    vertices: usize,
    ancestors: &[u32],
    rounds: &[Refinement],
) -> Result<()> {
    std::fs::create_dir_all(folder).map_err(|source| Error::file(folder, source))?;
    let [parents, added, prolongation] = files(folder, cells);
    // Two files at a time: the system serializes the writes of one file.
    let write_lists = || -> Result<[AtomicFile; 2]> {
        Ok([
            AtomicFile::written(&parents, |out| write_parents(out, cells, ancestors))?,
            AtomicFile::written(&added, |out| write_added(out, cells, vertices, rounds))?,
        ])
    };
    let write_matrix = || {
        AtomicFile::written(&prolongation, |out| {
            matrix_market::write_rounds(out, vertices, rounds)
        })
    };
    let interrupt = progress::watched().unwrap_or_default();
    // The counts of the two files end in any order, before this one.
    let _counted = progress::count("", 0);
    let (lists, matrix) = rayon::join(
        || interrupt.watch(write_lists),
        || interrupt.watch(write_matrix),
    );
    let [parents, added] = lists?;
    AtomicFile::commit_all([parents, added, matrix?])
}

fn write_parents(out: &mut dyn Out, cells: Simplices, ancestors: &[u32]) -> io::Result<()> {
    let [cell, _] = cells.names();
    writeln!(out, "# {cell} of the input that each {cell} is a part of")?;
    write_rows(out, ancestors.len(), NUMBER, |row, i| {
        row.number(ancestors[i], b'\n');
    })
}

fn write_added(
    out: &mut dyn Out,
    cells: Simplices,
    vertices: usize,
    rounds: &[Refinement],
) -> io::Result<()> {
    let has_edges = cells == Simplices::Triangles;
    let columns = match has_edges {
        true => "edge that the vertex divides, vertices at its ends",
        false => "vertices at the ends of the edge that the vertex divides",
    };
    writeln!(out, "# round, {columns}; from vertex {vertices} on")?;
    for (number, round) in (1..).zip(rounds) {
        write_rows(out, round.ends.len(), 4 * NUMBER, |row, i| {
            let [a, b] = round.ends[i];
            row.number(number, b' ');
            if has_edges {
                row.number(round.divided[i], b' ');
            }
            row.number(a, b' ');
            row.number(b, b'\n');
        })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_three_files_hold_the_parents_the_new_vertices_and_the_matrix() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("deep/maps");
        let rounds = [([4, 7], [[1, 0], [2, 1]]), ([0, 9], [[3, 1], [0, 2]])];
        let rounds = rounds.map(|(divided, ends)| Refinement {
            divided: divided.to_vec(),
            ends: ends.to_vec(),
            parents: Vec::new(),
        });
        let read = || {
            files(&folder, Simplices::Triangles).map(|path| std::fs::read_to_string(path).unwrap())
        };
        for _ in 0..2 {
            write(&folder, Simplices::Triangles, 3, &[0, 12, 0], &rounds).unwrap();
            let [parents, added, matrix] = read();
            let head = "# triangle of the input that each triangle is a part of\n";
            assert_eq!(parents, format!("{head}0\n12\n0\n"));
            let head =
                "# round, edge that the vertex divides, vertices at its ends; from vertex 3 on\n";
            assert_eq!(added, format!("{head}1 4 1 0\n1 7 2 1\n2 0 3 1\n2 9 0 2\n"));
            assert!(matrix.contains("\n7 3 "), "{matrix}");
            // No rounds on no triangles.
            write(&folder, Simplices::Triangles, 0, &[], &[]).unwrap();
            assert_eq!(read().map(|text| text.lines().count()), [1, 1, 2]);
        }
        assert_eq!(folder.read_dir().unwrap().count(), 3);
        // Edges of tetrahedra have no numbers.
        let rounds = rounds.map(|round| Refinement {
            divided: Vec::new(),
            ..round
        });
        write(&folder, Simplices::Tetrahedra, 3, &[0, 1], &rounds).unwrap();
        let [parents, added, _] = files(&folder, Simplices::Tetrahedra);
        let [parents, added] = [parents, added].map(|path| std::fs::read_to_string(path).unwrap());
        let head = "# tetrahedron of the input that each tetrahedron is a part of\n";
        assert_eq!(parents, format!("{head}0\n1\n"));
        let (_, rows) = added.split_once('\n').unwrap();
        assert_eq!(rows, "1 1 0\n1 2 1\n2 3 1\n2 0 2\n");
    }
}
