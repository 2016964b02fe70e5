//! Algebraic multigrid by smoothed aggregation, as a preconditioner of conjugate gradients.
//!
//! Vanek, Mandel and Brezina, "Algebraic multigrid by smoothed aggregation for second and fourth order elliptic problems"
//! (Computing 56, 1996). A level: rows with strong couplings are put together into aggregates; a function that is constant on each
//! is smoothed by a step of Jacobi's method; the coarse matrix is that of the smoothed functions (Galerkin). Down to a matrix that is
//! factored (Cholesky).
//!
//! Differences. The largest eigenvalue is estimated by steps of the power method from a fixed start, with a tenth added. The smoother is
//! a Chebyshev polynomial in place of Gauss-Seidel: it is symmetric, as conjugate gradients need, and each of its rows is a sum of
//! its own. Of degree 2 it takes a fifth less time than of degree 3, with a few iterations more.
//!
//! Aggregates are chosen one after the other; all else runs in parallel, each row by one thread. So the bits are the same for any
//! number of threads.

use trioxide_mesh::mesh::NONE;
use trioxide_mesh::{Result, progress};

use super::cholesky::Cholesky;
use super::rows::Rows;
use super::sparse::{Matrix, block_sums, update};

/// Couplings |a_ij| below this many square roots of a_ii a_jj are weak on the finest level.
const STRENGTH: f64 = 0.08;
/// Rows at which a level is factored.
const COARSEST: usize = 400;
/// Most levels.
const LEVELS: usize = 24;
/// Steps of the power method.
const POWER_STEPS: usize = 12;
/// Degree of the smoother's polynomial.
const DEGREE: usize = 2;
/// The smoother's polynomial is small between this part of the largest eigenvalue and the eigenvalue.
const SMOOTHED_PART: f64 = 0.15;

/// A level and the way to the next.
struct Level {
    matrix: Matrix,
    /// Upper bound of the eigenvalues of the matrix divided by its diagonal.
    largest: f64,
    /// From the next level to this one; a row for each of this level's.
    up: Rows,
    /// Its transpose.
    down: Rows,
}

/// A preconditioner.
pub struct Multigrid {
    levels: Vec<Level>,
    coarsest: Cholesky,
}

/// Vectors of the levels, kept from one use to the next.
pub struct Workspace(Vec<Vectors>);

#[derive(Default)]
struct Vectors {
    right: Vec<f64>,
    x: Vec<f64>,
    residual: Vec<f64>,
    step: Vec<f64>,
}

impl Multigrid {
    /// The levels of `matrix`, which they take.
    ///
    /// # Errors
    /// [`trioxide_mesh::Error::Interrupted`].
    pub fn new(mut matrix: Matrix) -> Result<Self> {
        let mut levels = Vec::new();
        let mut strength = STRENGTH;
        while matrix.rows() > COARSEST && levels.len() < LEVELS {
            progress::check()?;
            let (aggregates, count) = aggregate(&matrix, strength);
            // Rows that barely couple are not worth a level more.
            if 10 * count > 9 * matrix.rows() {
                break;
            }
            progress::check()?;
            let largest = 1.1 * largest_eigenvalue(&matrix);
            let up = prolongation(&matrix, &aggregates, strength, largest);
            progress::check()?;
            let down = up.transposed(count);
            progress::check()?;
            let next = coarse(&matrix, &up, &down);
            levels.push(Level {
                matrix,
                largest,
                up,
                down,
            });
            matrix = next;
            strength /= 2.0;
        }
        let coarsest = Cholesky::new(matrix);
        Ok(Self { levels, coarsest })
    }

    /// Number of levels.
    #[cfg(test)]
    pub fn levels(&self) -> usize {
        self.levels.len() + 1
    }

    /// The finest matrix.
    pub fn finest(&self) -> &Matrix {
        match self.levels.first() {
            Some(level) => &level.matrix,
            None => &self.coarsest.matrix,
        }
    }

    /// Room for [`Multigrid::apply`].
    pub fn workspace(&self) -> Workspace {
        let sizes = self.levels.iter().map(|level| level.matrix.rows());
        let sizes = sizes.chain([self.coarsest.matrix.rows()]);
        Workspace(
            sizes
                .map(|n| Vectors {
                    right: vec![0.0; n],
                    x: vec![0.0; n],
                    residual: vec![0.0; n],
                    step: vec![0.0; n],
                })
                .collect(),
        )
    }

    /// An approximate solution of `matrix x = right`: one V-cycle from 0.
    pub fn apply(&self, right: &[f64], workspace: &mut Workspace, x: &mut [f64]) {
        workspace.0[0].right.copy_from_slice(right);
        self.cycle(0, &mut workspace.0);
        x.copy_from_slice(&workspace.0[0].x);
    }

    fn cycle(&self, depth: usize, vectors: &mut [Vectors]) {
        let (own, below) = vectors.split_first_mut().expect("a level");
        let Some(level) = self.levels.get(depth) else {
            self.coarsest.solve(&own.right, &mut own.x);
            return;
        };
        own.x.fill(0.0);
        level.smooth(own, true);
        level.residual(own);
        level.down.times(&own.residual, false, &mut below[0].right);
        self.cycle(depth + 1, below);
        level.up.times(&below[0].x, true, &mut own.x);
        level.smooth(own, false);
    }
}

impl Level {
    /// residual = right - matrix x
    fn residual(&self, own: &mut Vectors) {
        let (matrix, x, right) = (&self.matrix, &own.x, &own.right);
        update(&mut own.residual, |i, _| right[i] - matrix.row_times(i, x));
    }

    /// Steps of Chebyshev's iteration for the matrix divided by its diagonal (Saad, Iterative Methods for Sparse Linear Systems,
    /// algorithm 12.1). `from_zero`: x is 0 before.
    fn smooth(&self, own: &mut Vectors, from_zero: bool) {
        let (high, low) = (self.largest, SMOOTHED_PART * self.largest);
        let (middle, half) = ((high + low) / 2.0, (high - low) / 2.0);
        let ratio = middle / half;
        let mut rho = 1.0 / ratio;
        let diagonal = &self.matrix.diagonal;
        for degree in 0..DEGREE {
            if degree == 0 && from_zero {
                own.residual.copy_from_slice(&own.right);
            } else {
                self.residual(own);
            }
            let residual = &own.residual;
            if degree == 0 {
                update(&mut own.step, |i, _| residual[i] / diagonal[i] / middle);
            } else {
                let next = 1.0 / (2.0 * ratio - rho);
                let (keep, take) = (next * rho, 2.0 * next / half);
                update(&mut own.step, |i, step| {
                    keep * step + take * residual[i] / diagonal[i]
                });
                rho = next;
            }
            let step = &own.step;
            update(&mut own.x, |i, x| x + step[i]);
        }
    }
}

/// Whether an entry off the diagonal couples strongly.
fn is_strong(matrix: &Matrix, strength: f64, i: usize, j: u32, entry: f64) -> bool {
    let scale = matrix.diagonal[i] * matrix.diagonal[j as usize];
    entry * entry > strength * strength * scale
}

/// The aggregate of each row, and their number. A row without strong couplings is an aggregate of its own.
fn aggregate(matrix: &Matrix, strength: f64) -> (Vec<u32>, usize) {
    let n = matrix.rows();
    let mut aggregates = vec![NONE; n];
    let mut count = 0;
    let strong = |i: usize| {
        let others = matrix.row(i).filter(move |&(j, _)| j as usize != i);
        others.filter(move |&(j, entry)| is_strong(matrix, strength, i, j, entry))
    };
    // Rows with all of their neighbours, where none has an aggregate.
    for i in 0..n {
        if aggregates[i] == NONE && strong(i).all(|(j, _)| aggregates[j as usize] == NONE) {
            aggregates[i] = count;
            strong(i).for_each(|(j, _)| aggregates[j as usize] = count);
            count += 1;
        }
    }
    // The others join the aggregate that they couple with most.
    let first = aggregates.clone();
    for i in 0..n {
        if first[i] == NONE {
            let known = strong(i).filter(|&(j, _)| first[j as usize] != NONE);
            let best = known.reduce(|best, other| {
                if other.1.abs() > best.1.abs() {
                    other
                } else {
                    best
                }
            });
            if let Some((j, _)) = best {
                aggregates[i] = first[j as usize];
            }
        }
    }
    // What is left, by itself.
    for i in 0..n {
        if aggregates[i] == NONE {
            aggregates[i] = count;
            for (j, _) in strong(i).collect::<Vec<_>>() {
                if aggregates[j as usize] == NONE {
                    aggregates[j as usize] = count;
                }
            }
            count += 1;
        }
    }
    (aggregates, count as usize)
}

/// The largest eigenvalue of the matrix divided by its diagonal, from below.
fn largest_eigenvalue(matrix: &Matrix) -> f64 {
    let n = matrix.rows();
    // Any start that is no eigenvector of a small eigenvalue: signs that do not repeat soon.
    let mixed = |i: usize| (i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
    let mut x: Vec<f64> = (0..n).map(|i| mixed(i) as f64 / 8388608.0 - 1.0).collect();
    let mut product = vec![0.0; n];
    let mut largest = 1.0;
    for _ in 0..POWER_STEPS {
        let norm = block_sums(n, |i| x[i] * x[i] * matrix.diagonal[i]).sqrt();
        if norm == 0.0 {
            break;
        }
        update(&mut x, |_, x| x / norm);
        update(&mut product, |i, _| {
            matrix.row_times(i, &x) / matrix.diagonal[i]
        });
        // Rayleigh's quotient in the norm of the diagonal.
        largest = block_sums(n, |i| x[i] * product[i] * matrix.diagonal[i]);
        std::mem::swap(&mut x, &mut product);
    }
    largest
}

/// Smoothed functions of the aggregates: (I - 4/3 / largest * D^-1 F) of functions that are 1 on an aggregate, where F is the matrix with
/// its weak entries moved to the diagonal.
fn prolongation(matrix: &Matrix, aggregates: &[u32], strength: f64, largest: f64) -> Rows {
    Rows::gather(matrix.rows(), |i, row| {
        let mut diagonal = matrix.diagonal[i];
        for (j, entry) in matrix.row(i) {
            if j as usize != i && !is_strong(matrix, strength, i, j, entry) {
                diagonal += entry;
            }
        }
        // A diagonal that its weak entries eat up is no scale.
        let scale = if diagonal > 0.1 * matrix.diagonal[i] {
            diagonal
        } else {
            matrix.diagonal[i]
        };
        let factor = 4.0 / 3.0 / largest / scale;
        row.add(aggregates[i], 1.0 - factor * diagonal);
        for (j, entry) in matrix.row(i) {
            if j as usize != i && is_strong(matrix, strength, i, j, entry) {
                row.add(aggregates[j as usize], -factor * entry);
            }
        }
    })
}

/// down * matrix * up.
fn coarse(matrix: &Matrix, up: &Rows, down: &Rows) -> Matrix {
    let product = Rows::gather(matrix.rows(), |i, row| {
        for (j, entry) in matrix.row(i) {
            for (column, value) in up.row(j as usize) {
                row.add(column, entry * value);
            }
        }
    });
    let rows = Rows::gather(down.len(), |i, row| {
        for (j, entry) in down.row(i) {
            for (column, value) in product.row(j as usize) {
                row.add(column, entry * value);
            }
        }
    });
    let diagonal = |i: usize| {
        let own = rows.row(i).find(|&(j, _)| j as usize == i);
        own.map_or(0.0, |(_, entry)| entry)
    };
    Matrix {
        diagonal: (0..rows.len()).map(diagonal).collect(),
        offsets: rows.offsets,
        columns: rows.columns,
        entries: rows.entries,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// -laplace u on a square of n x n points, each step of y weighted by `weight`.
    pub(crate) fn square(n: usize, weight: f64) -> Matrix {
        let mut matrix = Matrix {
            offsets: vec![0],
            ..Matrix::default()
        };
        for i in 0..n * n {
            let (x, y) = (i % n, i / n);
            let mut push = |is_there: bool, j: usize, entry: f64| {
                if is_there {
                    matrix.columns.push(j as u32);
                    matrix.entries.push(entry);
                }
            };
            push(y > 0, i.wrapping_sub(n), -weight);
            push(x > 0, i.wrapping_sub(1), -1.0);
            push(true, i, 2.0 + 2.0 * weight);
            push(x + 1 < n, i + 1, -1.0);
            push(y + 1 < n, i + n, -weight);
            matrix.offsets.push(matrix.columns.len());
            matrix.diagonal.push(2.0 + 2.0 * weight);
        }
        matrix
    }

    #[test]
    fn aggregates_cover_all_rows() {
        let matrix = square(60, 1.0);
        let (aggregates, count) = aggregate(&matrix, STRENGTH);
        assert!(count > 300 && count < 1300, "{count}");
        let mut sizes = vec![0; count];
        aggregates.iter().for_each(|&a| sizes[a as usize] += 1);
        assert!(sizes.iter().all(|&size| size > 0));
        let largest = largest_eigenvalue(&matrix);
        assert!(largest > 1.6 && largest < 2.0, "{largest}");
    }

    /// A Galerkin matrix is symmetric, and so is a cycle: x . B y = y . B x.
    #[test]
    fn a_cycle_is_symmetric() {
        let grid = Multigrid::new(square(50, 0.3)).unwrap();
        assert!(grid.levels() > 1);
        let n = 2500;
        let vector = |seed: u64| -> Vec<f64> {
            let mixed = |i: u64| (i + seed).wrapping_mul(0xD134_2543_DE82_EF95) >> 33;
            (0..n as u64).map(|i| mixed(i) as f64 / 1e9 - 1.0).collect()
        };
        let (a, b) = (vector(1), vector(77));
        let mut workspace = grid.workspace();
        let mut apply = |right: &[f64]| {
            let mut x = vec![0.0; n];
            grid.apply(right, &mut workspace, &mut x);
            x
        };
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let (xa, xb) = (apply(&a), apply(&b));
        assert!((dot(&xa, &b) - dot(&xb, &a)).abs() < 1e-9 * dot(&xa, &a));
        assert!(dot(&xa, &a) > 0.0 && dot(&xb, &b) > 0.0);
    }
}
