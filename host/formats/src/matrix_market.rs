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
    let weights = Weights::new();
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
            weights.push(buffer, weight);
            buffer.push(b'\n');
        }
    })
}

/// The texts of weights of a few rounds, which most entries have: multiples of 1 / [`PARTS`] up to 1.
struct Weights(Vec<([u8; 8], usize)>);

/// Five rounds: the longest text, 0.03125, has 7 bytes.
const PARTS: usize = 32;

impl Weights {
    fn new() -> Weights {
        Weights(Vec::from_iter((0..=PARTS).map(|part| {
            let mut text = Vec::new();
            push_f64(&mut text, part as f64 / PARTS as f64);
            let length = text.len();
            text.resize(8, 0);
            (text.try_into().expect("8 bytes"), length)
        })))
    }

    fn push(&self, buffer: &mut Vec<u8>, weight: f64) {
        let parts = weight * PARTS as f64;
        // A negative number and NaN become part 0, which they are not.
        let part = parts as usize;
        match self.0.get(part) {
            Some((text, length)) if part as f64 == parts => {
                buffer.extend_from_slice(text);
                buffer.truncate(buffer.len() - text.len() + length);
            }
            _ => push_f64(buffer, weight),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trioxide_mesh::mesh::Refinement;

    #[test]
    fn weights_are_the_texts_of_their_numbers() {
        let weights = Weights::new();
        for weight in [
            0.03125,
            0.96875,
            1.0,
            0.015625,
            0.984375,
            1.03125,
            5e-324,
            -0.5,
            f64::NAN,
        ] {
            let (mut ours, mut expected) = (b"7 ".to_vec(), b"7 ".to_vec());
            weights.push(&mut ours, weight);
            push_f64(&mut expected, weight);
            assert_eq!(ours, expected);
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
