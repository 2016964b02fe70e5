//! Symmetric matrices by blocks of rows, stored as half of each block, for the iteration's repeated reads.
//!
//! If unknowns follow a space-filling curve, nearly all entries lie in square blocks along the diagonal. Of each block
//! only the part below the diagonal is stored, with columns of 16 bits; it also serves as the part above. Each block is
//! one thread's work in a fixed order, so the results have the same bits for any number of threads.

use trioxide_mesh::parallel;

use super::sparse::{BLOCK, SparseMatrix, update_blocks};

/// A symmetric matrix whose diagonal is 1.
pub struct Blocks<T> {
    blocks: Vec<Block<T>>,
}

struct Block<T> {
    /// Entries below the diagonal; columns from the block's first.
    below: RowEntries<u16, T>,
    /// Entries whose column is in another block.
    outside: RowEntries<u32, T>,
}

/// Some entries of a block's rows.
struct RowEntries<C, T> {
    /// Number of entries of each row.
    lengths: Vec<u32>,
    columns: Vec<C>,
    entries: Vec<T>,
}

impl<C, T> Default for RowEntries<C, T> {
    fn default() -> Self {
        RowEntries {
            lengths: Vec::new(),
            columns: Vec::new(),
            entries: Vec::new(),
        }
    }
}

impl<C: Copy, T: Copy> RowEntries<C, T> {
    /// Columns and entries of each row, in ascending order.
    fn rows(&self) -> impl Iterator<Item = Entries<'_, C, T>> {
        let (mut columns, mut entries) = (&self.columns[..], &self.entries[..]);
        self.lengths.iter().map(move |&length| {
            let row;
            (row, columns) = columns.split_at(length as usize);
            let of_row;
            (of_row, entries) = entries.split_at(length as usize);
            Entries(row, of_row)
        })
    }

    /// Columns and entries of each row, in descending order.
    fn rows_backward(&self) -> impl Iterator<Item = Entries<'_, C, T>> {
        let (mut columns, mut entries) = (&self.columns[..], &self.entries[..]);
        self.lengths.iter().rev().map(move |&length| {
            let rest = columns.len() - length as usize;
            let row;
            (columns, row) = columns.split_at(rest);
            let of_row;
            (entries, of_row) = entries.split_at(rest);
            Entries(row, of_row)
        })
    }
}

/// Columns and entries of a row.
#[derive(Clone, Copy)]
struct Entries<'a, C, T>(&'a [C], &'a [T]);

impl<'a, C: Copy, T: Copy> Entries<'a, C, T> {
    fn iter(self) -> impl Iterator<Item = (C, T)> + 'a {
        self.0.iter().copied().zip(self.1.iter().copied())
    }
}

impl<T: Copy + Send + Sync> Blocks<T> {
    /// The blocks of a symmetric matrix with a diagonal of ones. `number` converts each entry.
    pub fn of(matrix: &SparseMatrix, number: impl Fn(f64) -> T + Sync) -> Blocks<T> {
        let blocks = parallel::map_pieces(matrix.len(), BLOCK, |rows| {
            let (mut below, mut outside) = (RowEntries::default(), RowEntries::default());
            let begin = rows.start;
            for i in rows.clone() {
                let (before, before_outside) = (below.columns.len(), outside.columns.len());
                for (j, entry) in matrix.row(i) {
                    let column = j as usize;
                    if !rows.contains(&column) {
                        outside.columns.push(j);
                        outside.entries.push(number(entry));
                    } else if column < i {
                        below.columns.push((column - begin) as u16);
                        below.entries.push(number(entry));
                    }
                }
                below.lengths.push((below.columns.len() - before) as u32);
                outside
                    .lengths
                    .push((outside.columns.len() - before_outside) as u32);
            }
            Block { below, outside }
        });
        Blocks { blocks }
    }
}

impl Blocks<f64> {
    /// product = matrix times x. Returns x . product.
    pub fn times(&self, x: &[f64], product: &mut [f64]) -> f64 {
        update_blocks([product], |begin, [product]| {
            let block = &self.blocks[begin / BLOCK];
            let own = &x[begin..begin + product.len()];
            for (i, row) in block.outside.rows().enumerate() {
                let sum: f64 = row.iter().map(|(j, entry)| entry * x[j as usize]).sum();
                product[i] = own[i] + sum;
            }
            for (i, row) in block.below.rows().enumerate() {
                let mut sum = 0.0;
                for (j, entry) in row.iter() {
                    sum += entry * own[j as usize];
                    product[j as usize] += entry * own[i];
                }
                product[i] += sum;
            }
            own.iter().zip(&*product).map(|(x, y)| x * y).sum()
        })
    }
}

/// A matrix A in single precision with its smoother: a sweep of the Gauss-Seidel method in every block at once.
///
/// The sweep is M = D + L. L is the part of A below the diagonal within the blocks. D is the diagonal plus half the sum
/// of absolute values of a row's entries outside of its block. Then M + M^T - A is positive definite for any positive
/// definite A, and so is a cycle that begins with M and ends with M^T (Baker, Falgout, Kolev and Yang, "Multigrid
/// smoothers for ultraparallel computing", SIAM Journal on Scientific Computing 33(5), 2011, section 5).
pub struct Smoother {
    matrix: Blocks<f32>,
    /// 1 / D.
    inverse: Vec<f32>,
}

impl Smoother {
    /// The smoother of a symmetric matrix with a diagonal of ones.
    pub fn of(matrix: &SparseMatrix) -> Smoother {
        let inverse = parallel::collect(matrix.len(), |i| {
            let begin = i / BLOCK * BLOCK;
            let is_outside = |j: u32| !(begin..begin + BLOCK).contains(&(j as usize));
            let outside = matrix.row(i).filter(|&(j, _)| is_outside(j));
            let sum: f64 = outside.map(|(_, entry)| entry.abs()).sum();
            (1.0 / (1.0 + 0.5 * sum)) as f32
        });
        Smoother {
            matrix: Blocks::of(matrix, |entry| entry as f32),
            inverse,
        }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.inverse.len()
    }

    /// x = M^-1 right, and residual = right - A x.
    pub fn forward(&self, right: &[f32], x: &mut [f32], residual: &mut [f32]) {
        update_blocks([&mut *x, residual], |begin, [x, residual]| {
            let own = begin..begin + x.len();
            let (right, inverse) = (&right[own.clone()], &self.inverse[own]);
            residual.fill(0.0);
            let below = &self.matrix.blocks[begin / BLOCK].below;
            for (i, row) in below.rows().enumerate() {
                let sum: f32 = row.iter().map(|(j, entry)| entry * x[j as usize]).sum();
                let value = (right[i] - sum) * inverse[i];
                x[i] = value;
                // M x = right: the residual is the part above the diagonal...
                for (j, entry) in row.iter() {
                    residual[j as usize] -= entry * value;
                }
            }
            0.0
        });
        // ... and the part outside of the blocks.
        self.outside(x, residual, |residual, x, row, all| {
            let terms = row.map(|(j, entry)| entry * all[j as usize] - 0.5 * entry.abs() * x);
            residual - terms.sum::<f32>()
        });
    }

    /// residual = right - A x.
    pub fn residual(&self, right: &[f32], x: &[f32], residual: &mut [f32]) {
        update_blocks([residual], |begin, [residual]| {
            let block = &self.matrix.blocks[begin / BLOCK];
            let own = begin..begin + residual.len();
            let (right, own) = (&right[own.clone()], &x[own]);
            for (i, row) in block.outside.rows().enumerate() {
                let sum: f32 = row.iter().map(|(j, entry)| entry * x[j as usize]).sum();
                residual[i] = right[i] - own[i] - sum;
            }
            for (i, row) in block.below.rows().enumerate() {
                let mut sum = 0.0;
                for (j, entry) in row.iter() {
                    sum += entry * own[j as usize];
                    residual[j as usize] -= entry * own[i];
                }
                residual[i] -= sum;
            }
            0.0
        });
    }

    /// x += M^-T (right - A x). `rest` is scratch memory of the sweep.
    pub fn backward(&self, right: &[f32], x: &mut [f32], rest: &mut [f32]) {
        rest.copy_from_slice(right);
        self.outside(x, rest, |rest, _, row, all| {
            rest - row.map(|(j, entry)| entry * all[j as usize]).sum::<f32>()
        });
        update_blocks([x, rest], |begin, [x, rest]| {
            let inverse = &self.inverse[begin..begin + x.len()];
            let below = &self.matrix.blocks[begin / BLOCK].below;
            for (i, row) in (0..x.len()).rev().zip(below.rows_backward()) {
                let sum: f32 = row.iter().map(|(j, entry)| entry * x[j as usize]).sum();
                let value = x[i] + (rest[i] - x[i] - sum) * inverse[i];
                x[i] = value;
                for (j, entry) in row.iter() {
                    rest[j as usize] -= entry * value;
                }
            }
            0.0
        });
    }

    /// Sets each entry of `list` to `new` of the entry, x in its row, the row's entries outside of the block, and all
    /// x.
    fn outside(
        &self,
        x: &[f32],
        list: &mut [f32],
        new: impl Fn(f32, f32, &mut dyn Iterator<Item = (u32, f32)>, &[f32]) -> f32 + Sync,
    ) {
        parallel::for_chunks_mut(list, BLOCK, |k, list| {
            let rows = self.matrix.blocks[k].outside.rows();
            for (i, (entry, row)) in list.iter_mut().zip(rows).enumerate() {
                if !row.0.is_empty() {
                    *entry = new(*entry, x[k * BLOCK + i], &mut row.iter(), x);
                }
            }
        });
    }
}
