//! Sparse matrices in the Matrix Market exchange format: `.mtx`, written only.
//!
//! <https://math.nist.gov/MatrixMarket/formats.html>, `coordinate real general`: the numbers of rows, columns and
//! entries, and a row, a column, both from 1, and a value for each entry.

use std::io;
use std::path::Path;

use super::atomic_file::{Out, write_atomically};
use super::numbers_out::{NUMBER, STORE, number, push_f64, push_integer};
use super::rows_out::{write_records, write_rows};
use trioxide_mesh::Result;
use trioxide_mesh::corner_rows::{CornerRows, MOST_ROUNDS};
use trioxide_mesh::prolongation::{Prolongation, Refinement};

/// Writes a prolongation, its rows in order.
///
/// # Errors
/// [`Error::File`](trioxide_mesh::Error::File) when the file cannot be written.
pub fn write(path: &Path, matrix: &Prolongation) -> Result<()> {
    write_atomically(path, |file| write_to(file, matrix))
}

pub(crate) fn write_to(out: &mut dyn Out, matrix: &Prolongation) -> io::Result<()> {
    write_head(out, matrix.rows(), matrix.vertices, matrix.columns.len())?;
    write_records(out, matrix.rows(), |buffer, i| {
        let row = buffer.len();
        push_integer(buffer, i + 1);
        buffer.push(b' ');
        let number = row..buffer.len();
        for (k, (column, weight)) in matrix.row(i).enumerate() {
            if k > 0 {
                buffer.extend_from_within(number.clone());
            }
            push_integer(buffer, u64::from(column) + 1);
            buffer.push(b' ');
            push_f64(buffer, weight);
            buffer.push(b'\n');
        }
    })
}

fn write_head(out: &mut dyn Out, rows: usize, columns: usize, entries: usize) -> io::Result<()> {
    writeln!(
        out,
        "%%MatrixMarket matrix coordinate real general\n{rows} {columns} {entries}"
    )
}

/// Writes the prolongation of rounds on a triangle mesh with `vertices` vertices: the same file as [`write_to`] of its
/// matrix. If the rows fit in [`CornerRows`], the matrix is not built.
///
/// # Panics
/// As [`Prolongation::of_rounds`].
pub(crate) fn write_rounds(
    out: &mut dyn Out,
    vertices: usize,
    rounds: &[Refinement],
) -> io::Result<()> {
    match CornerRows::of_rounds(vertices, rounds) {
        Some(rows) => write_corner_rows(out, &rows),
        None => write_to(out, &Prolongation::of_rounds(vertices, rounds)),
    }
}

/// Writes the matrix that gives row i the value of column `parents[i]`, one of `columns`.
pub(crate) fn write_constants(
    out: &mut dyn Out,
    columns: usize,
    parents: &[u32],
) -> io::Result<()> {
    write_head(out, parents.len(), columns, parents.len())?;
    write_rows(out, parents.len(), 2 * NUMBER + "1\n".len(), |text, i| {
        text.number(i as u32 + 1, b' ');
        text.number(parents[i] + 1, b' ');
        text.number(1, b'\n');
    })
}

/// Most bytes of an entry: its row, its column and its weight.
const ENTRY: usize = 2 * NUMBER + "0.99609375\n".len();

fn write_corner_rows(out: &mut dyn Out, matrix: &CornerRows) -> io::Result<()> {
    write_head(out, matrix.rows(), matrix.vertices(), matrix.entries())?;
    let weights = weights();
    write_rows(out, matrix.rows(), 3 * ENTRY, |text, i| {
        let (row, length) = number(i as u32 + 1, b' ');
        for (column, part) in matrix.row(i).entries() {
            text.text(&row, length);
            text.number(column + 1, b' ');
            let (weight, length) = &weights[part];
            text.text(weight, *length);
        }
    })
}

/// The texts of all weights of [`CornerRows`], with the end of the line, and their lengths.
fn weights() -> Vec<([u8; STORE], usize)> {
    let parts = 1 << MOST_ROUNDS;
    Vec::from_iter((0..=parts).map(|part| {
        let mut text = Vec::new();
        push_f64(&mut text, f64::from(part) / f64::from(parts));
        text.push(b'\n');
        let length = text.len();
        text.resize(STORE, 0);
        (text.try_into().expect("as long as a store"), length)
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_corners_are_those_of_the_matrix() {
        // Each vertex halves the edge from the previous one to one of the first three: weights of up to 8 halvings, and
        // one more round, for which the matrix is built.
        for most in [1, 3, 8, 9] {
            let round = |r: u32| Refinement {
                ends: vec![[if r == 0 { 1 } else { 2 + r }, 2 * (r % 2)], [1, 2]],
                ..Refinement::default()
            };
            let rounds: Vec<Refinement> = (0..most).map(round).collect();
            let (mut ours, mut expected) = (Vec::new(), Vec::new());
            write_rounds(&mut ours, 3, &rounds).unwrap();
            write_to(&mut expected, &Prolongation::of_rounds(3, &rounds)).unwrap();
            assert_eq!(
                String::from_utf8(ours).unwrap(),
                String::from_utf8(expected).unwrap()
            );
        }
    }

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
