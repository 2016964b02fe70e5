//! Sparse matrices, and lists that all threads change by blocks.

use std::iter::Sum;
use std::ops::Mul;

use rayon::prelude::*;

use trioxide_mesh::parallel;
use trioxide_mesh::progress::{self, Interrupt};

/// Rows or entries of one task. Sums go over these blocks and then over the blocks in order, so the result is the same
/// for any number of threads.
pub const BLOCK: usize = 2048;

/// A sparse matrix by rows.
#[derive(Default)]
pub struct SparseMatrix<T = f64> {
    /// Start of each row, and the end of the last.
    pub offsets: Vec<usize>,
    /// Columns of the entries, ascending in each row.
    pub columns: Vec<u32>,
    pub entries: Vec<T>,
}

impl<T: Copy> SparseMatrix<T> {
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Columns and entries of a row.
    pub fn row(&self, i: usize) -> impl Iterator<Item = (u32, T)> + '_ {
        let range = self.offsets[i]..self.offsets[i + 1];
        let columns = self.columns[range.clone()].iter().copied();
        columns.zip(self.entries[range].iter().copied())
    }
}

impl<T: Copy + Mul<Output = T> + Sum> SparseMatrix<T> {
    /// The product of row `i` with x.
    pub fn row_times(&self, i: usize, x: &[T]) -> T {
        self.row(i).map(|(j, entry)| entry * x[j as usize]).sum()
    }
}

impl SparseMatrix {
    /// Builds a matrix row by row: `fill` appends the entries of a row, on one thread, and returns a value for it.
    pub fn gather<V: Send>(
        count: usize,
        fill: impl Fn(usize, &mut Row) -> V + Sync,
    ) -> (SparseMatrix, Vec<V>) {
        let mut offsets = vec![0];
        let (mut all_columns, mut all_entries, mut all_values) =
            (Vec::new(), Vec::new(), Vec::new());
        let interrupt = progress::watched();
        let blocks: Vec<_> = (0..count.div_ceil(BLOCK))
            .into_par_iter()
            .map_init(Row::default, |row, block| {
                let (mut lengths, mut columns, mut entries) = (Vec::new(), Vec::new(), Vec::new());
                let mut values = Vec::new();
                if interrupt.as_ref().is_some_and(Interrupt::is_set) {
                    return (lengths, columns, entries, values);
                }
                for i in block * BLOCK..count.min((block + 1) * BLOCK) {
                    values.push(fill(i, row));
                    lengths.push(row.columns.len());
                    row.columns.sort_unstable();
                    for &column in &row.columns {
                        columns.push(column);
                        entries.push(row.values[column as usize]);
                    }
                    row.clear();
                }
                (lengths, columns, entries, values)
            })
            .collect();
        // Unwinds before a caller takes a skipped block for an empty one.
        progress::unwind();
        for (lengths, columns, entries, values) in blocks {
            for length in lengths {
                offsets.push(offsets[offsets.len() - 1] + length);
            }
            all_columns.push(columns);
            all_entries.push(entries);
            all_values.push(values);
        }
        let rows = SparseMatrix {
            offsets,
            columns: parallel::concat(all_columns),
            entries: parallel::concat(all_entries),
        };
        (rows, parallel::concat(all_values))
    }

    /// The transpose, with `columns` rows.
    pub fn transposed(&self, columns: usize) -> SparseMatrix {
        let mut offsets = vec![0; columns + 1];
        for &column in &self.columns {
            offsets[column as usize + 1] += 1;
        }
        for i in 0..columns {
            offsets[i + 1] += offsets[i];
        }
        let mut cursor = offsets.clone();
        let mut result = SparseMatrix {
            offsets,
            columns: vec![0; self.columns.len()],
            entries: vec![0.0; self.columns.len()],
        };
        for i in 0..self.len() {
            for (column, entry) in self.row(i) {
                let place = cursor[column as usize];
                result.columns[place] = i as u32;
                result.entries[place] = entry;
                cursor[column as usize] += 1;
            }
        }
        result
    }

    /// Divides each row and each column of a symmetric matrix by the square root of its diagonal entry. Returns the
    /// roots; `None`, and leaves the matrix unchanged, if a diagonal entry is missing, not positive or not finite.
    pub fn scale(&mut self) -> Option<Vec<f64>> {
        let diagonal = parallel::collect(self.len(), |i| {
            let row = self.offsets[i]..self.offsets[i + 1];
            let own = self.columns[row.clone()].binary_search(&(i as u32));
            own.map_or(0.0, |place| self.entries[row.start + place])
        });
        if parallel::any(&diagonal, |&d| !(d > 0.0 && d.is_finite())) {
            return None;
        }
        let roots = parallel::map(&diagonal, |d| d.sqrt());
        let (offsets, columns) = (&self.offsets, &self.columns);
        let scaled = parallel::map_pieces(roots.len(), BLOCK, |rows| {
            let mut entries = Vec::with_capacity(offsets[rows.end] - offsets[rows.start]);
            for i in rows {
                let row = offsets[i]..offsets[i + 1];
                for (&j, entry) in columns[row.clone()].iter().zip(&self.entries[row]) {
                    let j = j as usize;
                    entries.push(match i == j {
                        true => 1.0,
                        false => entry / roots[i] / roots[j],
                    });
                }
            }
            entries
        });
        self.entries = parallel::concat(scaled);
        Some(roots)
    }
}

/// A row under construction: values by column, and the list of its columns.
#[derive(Default)]
pub struct Row {
    columns: Vec<u32>,
    values: Vec<f64>,
    is_there: Vec<bool>,
}

impl Row {
    pub fn add(&mut self, column: u32, value: f64) {
        let j = column as usize;
        if j >= self.values.len() {
            self.values.resize(j + 1, 0.0);
            self.is_there.resize(j + 1, false);
        }
        if !self.is_there[j] {
            self.is_there[j] = true;
            self.values[j] = 0.0;
            self.columns.push(column);
        }
        self.values[j] += value;
    }

    fn clear(&mut self) {
        for &column in &self.columns {
            self.is_there[column as usize] = false;
        }
        self.columns.clear();
    }
}

/// Sets every entry of `values` to `new` of its index and the old entry.
pub fn update<T: Copy + Send>(values: &mut [T], new: impl Fn(usize, T) -> T + Sync) {
    parallel::for_chunks_mut(values, BLOCK, |block, values| {
        for (i, value) in (block * BLOCK..).zip(values) {
            *value = new(i, *value);
        }
    });
}

/// Calls `body` with the first index and the slices of `lists`, all of one length, in each block. Returns the sum of
/// its results, in a fixed order.
pub fn update_blocks<const N: usize, T: Send>(
    lists: [&mut [T]; N],
    body: impl Fn(usize, [&mut [T]; N]) -> f64 + Sync,
) -> f64 {
    let count = lists[0].len().div_ceil(BLOCK);
    let mut chunks = lists.map(|list| list.chunks_mut(BLOCK));
    let mut blocks: Vec<_> = (0..count)
        .map(|_| {
            let parts = chunks.each_mut().map(|chunks| chunks.next());
            (parts.map(|part| part.expect("lists of one length")), 0.0)
        })
        .collect();
    parallel::for_each_mut(&mut blocks, |block, (parts, sum)| {
        *sum = body(block * BLOCK, parts.each_mut().map(|part| &mut **part));
    });
    blocks.iter().map(|(_, sum)| sum).sum()
}

/// Sums of `term` over 0..n, in a fixed order.
pub fn block_sums<const N: usize>(n: usize, term: impl Fn(usize) -> [f64; N] + Sync) -> [f64; N] {
    let add = |sums: [f64; N], terms: [f64; N]| std::array::from_fn(|k| sums[k] + terms[k]);
    let sums = parallel::map_pieces(n, BLOCK, |range| range.map(&term).fold([0.0; N], add));
    sums.into_iter().fold([0.0; N], add)
}
