//! Sparse matrices of any shape.

use rayon::prelude::*;

use super::sparse::{BLOCK, update};

/// A sparse matrix by rows, of any shape.
#[derive(Default)]
pub struct Rows {
    pub offsets: Vec<usize>,
    pub columns: Vec<u32>,
    pub entries: Vec<f64>,
}

impl Rows {
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    pub fn row(&self, i: usize) -> impl Iterator<Item = (u32, f64)> + '_ {
        let range = self.offsets[i]..self.offsets[i + 1];
        let columns = self.columns[range.clone()].iter().copied();
        columns.zip(self.entries[range].iter().copied())
    }

    /// Rows that `fill` gives, each by one thread.
    pub fn gather(count: usize, fill: impl Fn(usize, &mut Row) + Sync) -> Rows {
        let blocks: Vec<(Vec<usize>, Vec<u32>, Vec<f64>)> = (0..count.div_ceil(BLOCK))
            .into_par_iter()
            .map_init(Row::default, |row, block| {
                let (mut lengths, mut columns, mut entries) = (Vec::new(), Vec::new(), Vec::new());
                for i in block * BLOCK..count.min((block + 1) * BLOCK) {
                    fill(i, row);
                    lengths.push(row.columns.len());
                    row.columns.sort_unstable();
                    for &column in &row.columns {
                        columns.push(column);
                        entries.push(row.values[column as usize]);
                    }
                    row.clear();
                }
                (lengths, columns, entries)
            })
            .collect();
        let mut rows = Rows {
            offsets: vec![0],
            ..Rows::default()
        };
        for (lengths, columns, entries) in blocks {
            for length in lengths {
                rows.offsets
                    .push(rows.offsets[rows.offsets.len() - 1] + length);
            }
            rows.columns.extend(columns);
            rows.entries.extend(entries);
        }
        rows
    }

    /// The transpose, with `columns` rows; entries of a row in ascending order.
    pub fn transposed(&self, columns: usize) -> Rows {
        let mut offsets = vec![0; columns + 1];
        for &column in &self.columns {
            offsets[column as usize + 1] += 1;
        }
        for i in 0..columns {
            offsets[i + 1] += offsets[i];
        }
        let mut cursor = offsets.clone();
        let mut result = Rows {
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

    /// result += or = this matrix times x.
    pub fn times(&self, x: &[f64], adds: bool, result: &mut [f64]) {
        update(result, |i, before| {
            let sum: f64 = self.row(i).map(|(j, entry)| entry * x[j as usize]).sum();
            if adds { before + sum } else { sum }
        });
    }
}

/// A row that is added up: values by column, and the columns that have one.
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
