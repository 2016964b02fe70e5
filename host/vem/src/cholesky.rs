//! The factorization of small matrices: the coarsest, and those of pieces.

use super::sparse::SparseMatrix;

/// Most rows of a matrix that is factored.
const MOST_ROWS: usize = 1600;

/// The dense factors of the coarsest matrix. A matrix that is too large or not definite has no factors and is replaced
/// by the identity: its diagonal is 1.
pub struct Cholesky {
    rows: usize,
    /// Lower triangle by rows; empty without factors.
    lower: Vec<f64>,
}

impl Cholesky {
    /// The factors of a symmetric matrix with a diagonal of ones.
    pub fn new(matrix: &SparseMatrix) -> Self {
        let n = matrix.len();
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
        Self { rows: n, lower }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Solves matrix x = right.
    pub fn solve(&self, right: &[f32], result: &mut [f32]) {
        if self.lower.is_empty() {
            result.copy_from_slice(right);
            return;
        }
        let mut x: Vec<f64> = right.iter().map(|&right| right.into()).collect();
        solve_factored(&self.lower, &mut x);
        for (result, x) in result.iter_mut().zip(x) {
            *result = x as f32;
        }
    }
}

/// Replaces the right-hand side `x` by the solution, for the factor of a dense matrix.
pub fn solve_factored(lower: &[f64], x: &mut [f64]) {
    let n = x.len();
    for i in 0..n {
        let row = &lower[i * n..i * n + i];
        let sum: f64 = row.iter().zip(&*x).map(|(entry, x)| entry * x).sum();
        x[i] = (x[i] - sum) / lower[i * n + i];
    }
    for i in (0..n).rev() {
        x[i] /= lower[i * n + i];
        for j in 0..i {
            x[j] -= lower[i * n + j] * x[i];
        }
    }
}

/// Replaces a dense matrix's lower triangle by its Cholesky factor. Returns whether the matrix is positive definite.
pub fn factor(lower: &mut [f64], n: usize) -> bool {
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
