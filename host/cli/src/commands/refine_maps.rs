//! Where the parts of a refined triangulation come from, as files.

use std::io::Write;
use std::path::Path;

use trioxide::formats;
use trioxide::formats::atomic_file::write_atomically;
use trioxide::mesh::Refinement;
use trioxide::prolongation::Prolongation;
use trioxide::{Error, Result};

/// Writes where each part comes from.
pub fn write(
    folder: &Path,
    vertices: usize,
    ancestors: &[u32],
    rounds: &[Refinement],
) -> Result<()> {
    std::fs::create_dir_all(folder).map_err(|source| Error::file(folder, source))?;
    write_atomically(&folder.join("parent_triangles.txt"), |file| {
        writeln!(
            file,
            "# triangle of the input that each triangle is a part of"
        )?;
        ancestors.iter().try_for_each(|t| writeln!(file, "{t}"))
    })?;
    write_atomically(&folder.join("new_vertices.txt"), |file| {
        writeln!(
            file,
            "# round, edge that the vertex divides, vertices at its ends; from vertex {vertices} on"
        )?;
        for (i, round) in rounds.iter().enumerate() {
            for (edge, [a, b]) in round.divided.iter().zip(&round.ends) {
                writeln!(file, "{} {edge} {a} {b}", i + 1)?;
            }
        }
        Ok(())
    })?;
    let prolongation = Prolongation::of_rounds(vertices, rounds);
    formats::matrix_market::write(&folder.join("prolongation.mtx"), &prolongation)
}
