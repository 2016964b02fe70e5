//! The coarsest matrix, factored.

use super::sparse::Matrix;

/// Rows of the largest matrix that is factored.
const MOST_ROWS: usize = 1600;

/// The factors of the coarsest matrix, full; for one that is too large for that, its diagonal.
pub struct Cholesky {
    pub matrix: Matrix,
    /// Lower triangle by rows; empty if there is none.
    lower: Vec<f64>,
}

impl Cholesky {
    pub fn new(matrix: Matrix) -> Self {
        let n = matrix.rows();
        let mut lower = Vec::new();
        if n <= MOST_ROWS {
            lower = vec![0.0; n * n];
            for i in 0..n {
                for (j, entry) in matrix.row(i) {
                    lower[i * n + j as usize] = entry;
                }
            }
            let is_definite = factor(&mut lower, n);
            if !is_definite {
                lower.clear();
            }
        }
        Self { matrix, lower }
    }

    pub fn solve(&self, right: &[f64], x: &mut [f64]) {
        let n = right.len();
        if self.lower.is_empty() {
            for (i, x) in x.iter_mut().enumerate() {
                *x = right[i] / self.matrix.diagonal[i];
            }
            return;
        }
        for i in 0..n {
            let row = &self.lower[i * n..i * n + i];
            let sum: f64 = row.iter().zip(&*x).map(|(entry, x)| entry * x).sum();
            x[i] = (right[i] - sum) / self.lower[i * n + i];
        }
        for i in (0..n).rev() {
            x[i] /= self.lower[i * n + i];
            for j in 0..i {
                x[j] -= self.lower[i * n + j] * x[i];
            }
        }
    }
}

/// Cholesky's factor in place of a full matrix's lower triangle. Whether the matrix is positive definite.
fn factor(lower: &mut [f64], n: usize) -> bool {
    for i in 0..n {
        for j in 0..=i {
            let (before, own) = lower.split_at(i * n);
            let row_i = &own[..j];
            let row_j = if j == i {
                row_i
            } else {
                &before[j * n..j * n + j]
            };
            let sum: f64 = row_i.iter().zip(row_j).map(|(a, b)| a * b).sum();
            let rest = lower[i * n + j] - sum;
            if j == i {
                if !(rest > 0.0 && rest.is_finite()) {
                    return false;
                }
                lower[i * n + i] = rest.sqrt();
            } else {
                lower[i * n + j] = rest / lower[j * n + j];
            }
        }
    }
    true
}
