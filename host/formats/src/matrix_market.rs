//! Sparse matrices in the Matrix Market exchange format: `.mtx`, written only.
//!
//! <https://math.nist.gov/MatrixMarket/formats.html>, `coordinate real general`: the numbers of rows, columns and entries, and
//! a row, a column, both from 1, and a value for each entry.

use std::io;
use std::path::Path;

use super::atomic_file::{Out, write_atomically};
use super::rows_out::{push_f64, push_integer, write_records};
use trioxide_mesh::Result;
use trioxide_mesh::prolongation::Prolongation;

/// Writes a prolongation, its rows in order.
///
/// # Errors
/// [`Error::File`](trioxide_mesh::Error::File) when the file cannot be written.
pub fn write(path: &Path, matrix: &Prolongation) -> Result<()> {
    write_atomically(path, |file| write_to(file, matrix))
}

pub(crate) fn write_to(out: &mut dyn Out, matrix: &Prolongation) -> io::Result<()> {
    writeln!(
        out,
        "%%MatrixMarket matrix coordinate real general\n{} {} {}",
        matrix.rows(),
        matrix.vertices,
        matrix.columns.len()
    )?;
    write_records(out, matrix.rows(), |buffer, i| {
        for (column, weight) in matrix.row(i) {
            push_integer(buffer, i + 1);
            buffer.push(b' ');
            push_integer(buffer, u64::from(column) + 1);
            buffer.push(b' ');
            push_f64(buffer, weight);
            buffer.push(b'\n');
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use trioxide_mesh::mesh::Refinement;

    #[test]
    fn entries_are_numbered_from_1() {
        let round = Refinement {
            ends: vec![[1, 0]],
            ..Refinement::default()
        };
        let mut out = Vec::new();
        write_to(&mut out, &Prolongation::of_rounds(2, &[round])).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "%%MatrixMarket matrix coordinate real general\n3 2 4\n1 1 1\n2 2 1\n3 1 0.5\n3 2 0.5\n"
        );
    }
}
