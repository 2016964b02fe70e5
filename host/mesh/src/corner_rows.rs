//! The rows of a prolongation on triangles, 16 bytes each.
//!
//! A new vertex lies in a triangle of the coarse mesh, so its row holds at most three weights. After R rounds they are
//! multiples of 2^-R, which one byte each holds up to [`MOST_ROUNDS`]. A
//! [`Prolongation`](crate::prolongation::Prolongation) has no limit on rounds, and takes three times the memory.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

use bytemuck::{Pod, Zeroable};

use crate::parallel;
use crate::prolongation::Refinement;

/// Most rounds: their weights below 1 are less than 256 / 2^8.
pub const MOST_ROUNDS: usize = 8;

/// One row: up to three columns, ascending, and their weights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct CornerRow {
    /// Vertices of the coarse mesh.
    columns: [u32; 3],
    /// Weights as multiples of 2^-halvings; 0 where the row has no further entry.
    parts: [u8; 3],
    /// log2 of the weights' common denominator.
    halvings: u8,
}

impl CornerRow {
    /// The row of a vertex of the coarse mesh.
    fn unit(vertex: u32) -> CornerRow {
        CornerRow {
            columns: [vertex, 0, 0],
            parts: [1, 0, 0],
            halvings: 0,
        }
    }

    /// Columns, ascending, and their weights as multiples of 2^-[`MOST_ROUNDS`].
    pub fn entries(&self) -> impl Iterator<Item = (u32, usize)> + '_ {
        let entries = self.columns.iter().zip(&self.parts).take(self.len());
        let shift = MOST_ROUNDS - usize::from(self.halvings);
        entries.map(move |(&column, &part)| (column, usize::from(part) << shift))
    }

    /// Number of entries: 1, 2 or 3.
    fn len(&self) -> usize {
        1 + usize::from(self.parts[1] > 0) + usize::from(self.parts[2] > 0)
    }

    /// The mean of two rows. `None` if it has more than three entries, or its denominator exceeds 2^[`MOST_ROUNDS`].
    fn mean(a: &CornerRow, b: &CornerRow) -> Option<CornerRow> {
        let halvings = a.halvings.max(b.halvings);
        let part = |row: &CornerRow, k: usize| u16::from(row.parts[k]) << (halvings - row.halvings);
        let (mut i, mut j) = (0, 0);
        let (mut columns, mut parts, mut count) = ([0; 3], [0_u16; 3], 0);
        while i < a.len() || j < b.len() {
            let (has_left, has_right) = (i < a.len(), j < b.len());
            let takes_left = has_left && (!has_right || a.columns[i] <= b.columns[j]);
            let takes_right = has_right && (!has_left || b.columns[j] <= a.columns[i]);
            if count == 3 {
                return None;
            }
            columns[count] = if takes_left {
                a.columns[i]
            } else {
                b.columns[j]
            };
            if takes_left {
                parts[count] += part(a, i);
                i += 1;
            }
            if takes_right {
                parts[count] += part(b, j);
                j += 1;
            }
            count += 1;
        }
        // In lowest terms. The sum of all parts is 2^(halvings + 1), so it can be halved at most as often.
        let common = (parts[0] | parts[1] | parts[2]).trailing_zeros();
        let halvings = u32::from(halvings) + 1 - common;
        if halvings > MOST_ROUNDS as u32 {
            return None;
        }
        Some(CornerRow {
            columns,
            // If there are several parts, each is below 2^8; a single part is 1.
            parts: parts.map(|part| (part >> common) as u8),
            halvings: halvings as u8,
        })
    }
}

/// The rows of all vertices of a refined mesh of triangles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CornerRows {
    /// Vertices of the coarse mesh.
    vertices: usize,
    /// Rows of the new vertices.
    added: Vec<CornerRow>,
    /// Entries of all rows.
    entries: usize,
}

impl CornerRows {
    /// The rows of [`Prolongation::of_rounds`](crate::prolongation::Prolongation::of_rounds). `None` if a row does not
    /// fit.
    ///
    /// # Panics
    /// When an edge's end is no vertex of its round.
    pub fn of_rounds(vertices: usize, rounds: &[Refinement]) -> Option<CornerRows> {
        let count = rounds.iter().map(|round| round.ends.len()).sum();
        let mut added = parallel::zeroed::<CornerRow>(count);
        let (entries, fits) = (AtomicUsize::new(vertices), AtomicBool::new(true));
        let mut begin = 0;
        for round in rounds {
            let (before, rest) = added.split_at_mut(begin);
            let known = vertices + begin;
            let row = |v: u32| match (v as usize).checked_sub(vertices) {
                None => CornerRow::unit(v),
                Some(i) => before[i],
            };
            let new = &mut rest[..round.ends.len()];
            parallel::for_chunks_mut(new, parallel::GRAIN, |k, new| {
                let mut sum = 0;
                let ends = &round.ends[k * parallel::GRAIN..][..new.len()];
                for (place, &[a, b]) in new.iter_mut().zip(ends) {
                    assert!((a.max(b) as usize) < known, "vertices {a}, {b} of {known}");
                    match CornerRow::mean(&row(a), &row(b)) {
                        Some(mean) => *place = mean,
                        None => return fits.store(false, Relaxed),
                    }
                    sum += place.len();
                }
                entries.fetch_add(sum, Relaxed);
            });
            if !fits.load(Relaxed) {
                return None;
            }
            begin += round.ends.len();
        }
        Some(CornerRows {
            vertices,
            added,
            entries: entries.into_inner(),
        })
    }

    /// Vertices of the refined mesh.
    pub fn rows(&self) -> usize {
        self.vertices + self.added.len()
    }

    /// Vertices of the coarse mesh.
    pub fn vertices(&self) -> usize {
        self.vertices
    }

    /// Entries of all rows.
    pub fn entries(&self) -> usize {
        self.entries
    }

    /// Row `i`.
    ///
    /// # Panics
    /// If there is none.
    pub fn row(&self, i: usize) -> CornerRow {
        match i.checked_sub(self.vertices) {
            None => CornerRow::unit(i as u32),
            Some(i) => self.added[i],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prolongation::Prolongation;

    fn rounds<const N: usize>(ends: [&[[u32; 2]]; N]) -> [Refinement; N] {
        ends.map(|ends| Refinement {
            ends: ends.to_vec(),
            ..Refinement::default()
        })
    }

    /// Rounds of bisection towards vertex 0: weights 2^-R and 1 - 2^-R.
    fn halved(count: u32) -> Vec<Refinement> {
        let round = |r| Refinement {
            ends: vec![[0, if r == 0 { 1 } else { 1 + r }]],
            ..Refinement::default()
        };
        (0..count).map(round).collect()
    }

    #[test]
    fn rows_are_those_of_the_prolongation() {
        let cases: [(usize, Vec<Refinement>); 4] = [
            (3, rounds([&[[0, 1]], &[[3, 2], [0, 3]]]).to_vec()),
            // Two vertices at one place, whose mean is there too; and two vertices whose mean is a vertex of the input.
            (3, rounds([&[[2, 0], [0, 2]], &[[3, 4], [2, 2]]]).to_vec()),
            (2, halved(MOST_ROUNDS as u32)),
            (0, Vec::new()),
        ];
        for (vertices, rounds) in cases {
            let matrix = Prolongation::of_rounds(vertices, &rounds);
            let rows = CornerRows::of_rounds(vertices, &rounds).unwrap();
            assert_eq!((rows.rows(), rows.vertices()), (matrix.rows(), vertices));
            assert_eq!(rows.entries(), matrix.columns.len());
            for i in 0..matrix.rows() {
                let row = rows.row(i);
                let ours = row
                    .entries()
                    .map(|(column, part)| (column, part as f64 / 256.0));
                assert!(ours.eq(matrix.row(i)), "row {i}");
            }
        }
    }

    #[test]
    fn rows_that_do_not_fit_are_none() {
        assert_eq!(
            CornerRows::of_rounds(2, &halved(MOST_ROUNDS as u32 + 1)),
            None
        );
        let four = rounds([&[[0, 1], [2, 3]], &[[4, 5]]]);
        assert_eq!(CornerRows::of_rounds(4, &four), None);
    }

    #[test]
    #[should_panic(expected = "vertices 3, 0 of 3")]
    fn ends_are_older() {
        CornerRows::of_rounds(3, &rounds([&[[0, 1], [3, 0]]]));
    }
}
