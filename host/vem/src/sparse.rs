use trioxide_mesh::parallel;

/// Rows or entries that one task works on. Sums go over these blocks and then over the blocks in order, so that the
/// result is the same for any number of threads.
pub const BLOCK: usize = 2048;

/// A sparse symmetric positive definite matrix, by rows.
#[derive(Default)]
pub struct Matrix {
    /// Start of each row, and the end of the last.
    pub offsets: Vec<usize>,
    /// Columns of the entries, ascending in each row.
    pub columns: Vec<u32>,
    pub entries: Vec<f64>,
    pub diagonal: Vec<f64>,
}

impl Matrix {
    pub fn rows(&self) -> usize {
        self.diagonal.len()
    }

    /// Columns and entries of a row.
    pub fn row(&self, i: usize) -> impl Iterator<Item = (u32, f64)> + '_ {
        let range = self.offsets[i]..self.offsets[i + 1];
        let columns = self.columns[range.clone()].iter().copied();
        columns.zip(self.entries[range].iter().copied())
    }

    /// The product of row `i` with x.
    pub fn row_times(&self, i: usize, x: &[f64]) -> f64 {
        self.row(i).map(|(j, entry)| entry * x[j as usize]).sum()
    }
}

/// Sets every entry of `values` to the value of `new` for its index and the old entry.
pub fn update(values: &mut [f64], new: impl Fn(usize, f64) -> f64 + Sync) {
    parallel::for_chunks_mut(values, BLOCK, |block, values| {
        for (i, value) in (block * BLOCK..).zip(values) {
            *value = new(i, *value);
        }
    });
}

/// Sum of `term` over 0..n, in a fixed order.
pub fn block_sums(n: usize, term: impl Fn(usize) -> f64 + Sync) -> f64 {
    let sums = parallel::map_pieces(n, BLOCK, |range| range.map(&term).sum::<f64>());
    sums.iter().sum()
}
