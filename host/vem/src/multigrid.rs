//! Multigrid as a preconditioner of conjugate gradients: algebraic by smoothed aggregation, or over nested polygons,
//! whose set-up is in `nested`.
//!
//! Algebraic levels: Vanek, Mandel and Brezina, "Algebraic multigrid by smoothed aggregation for second and fourth
//! order elliptic problems" (Computing 56, 1996). On each level, strongly coupled rows form aggregates. A function that
//! is constant on each aggregate is smoothed by a step of the Jacobi method. The coarse matrix is that of the smoothed
//! functions (Galerkin). The coarsest matrix is factored (Cholesky).
//!
//! Differences. The smoother is a sweep of the Gauss-Seidel method in every block of rows at once ([`Smoother`]),
//! forward on the way down and backward on the way up, so that a cycle is symmetric, as conjugate gradients need. Each
//! matrix is scaled to a diagonal of ones. A cycle computes in single precision, which halves its reads: its rounding
//! costs digits of the correction, not of the solution.
//!
//! A cycle is a V over algebraic levels. Below the first of the nested levels it is a W: each level is corrected twice
//! by the next, which keeps the iterations from growing with the number of levels.
//!
//! The algebraic set-up, in double precision, is in `coarsening`. Sums use fixed blocks, so the bits are the same for
//! any number of threads.

use trioxide_mesh::{Result, parallel, progress};

use super::blocks::Smoother;
use super::cholesky::Cholesky;
use super::coarsening::{aggregate, coarse, largest_eigenvalue, prolongation};
use super::nested::Transfer;
use super::sparse::{SparseMatrix, update};

/// Couplings |a_ij| below this multiple of sqrt(a_ii a_jj) are weak on the finest level.
pub(super) const STRENGTH: f64 = 0.08;
/// A level with at most this many rows is factored.
const COARSEST: usize = 400;
/// Most levels.
const LEVELS: usize = 24;

/// A level and its transfers to the next coarser level.
struct Level {
    smoother: Smoother,
    /// From the next level to this one; one row for each row of this level.
    up: SparseMatrix<f32>,
    /// Its transpose.
    down: SparseMatrix<f32>,
    /// Whether the next level corrects twice.
    is_twice: bool,
}

/// A preconditioner.
pub struct Multigrid {
    levels: Vec<Level>,
    coarsest: Cholesky,
}

/// Vectors of the levels, reused between calls.
pub struct Workspace(Vec<Vectors>);

struct Vectors {
    right: Vec<f32>,
    x: Vec<f32>,
    residual: Vec<f32>,
}

impl Multigrid {
    /// The levels of a symmetric `matrix` with a diagonal of ones. Coarse levels must represent the function with the
    /// values `roots`: the square roots of the diagonal before `matrix` was scaled. `transfers` lead to the first
    /// coarse levels; aggregation makes further ones.
    ///
    /// # Errors
    /// [`trioxide_mesh::Error::Interrupted`].
    pub fn new(
        mut matrix: SparseMatrix,
        mut roots: Vec<f64>,
        transfers: Vec<Transfer>,
    ) -> Result<Self> {
        let mut transfers = transfers.into_iter();
        let mut levels = Vec::new();
        let mut strength = STRENGTH;
        while matrix.len() > COARSEST && levels.len() < LEVELS {
            progress::check()?;
            let transfer = transfers.next();
            let is_twice = transfer.is_some() && !levels.is_empty();
            let (up, count) = match transfer {
                Some(transfer) => transfer.prolongation(&matrix, &roots),
                None => {
                    let (aggregates, count) = aggregate(&matrix, strength);
                    // Barely coupled rows are not worth another level.
                    if 10 * count > 9 * matrix.len() {
                        break;
                    }
                    progress::check()?;
                    let largest = 1.1 * largest_eigenvalue(&matrix);
                    let up = prolongation(&matrix, &roots, &aggregates, strength, largest);
                    strength /= 2.0;
                    (up, count)
                }
            };
            progress::check()?;
            let down = up.transposed(count);
            progress::check()?;
            let mut next = coarse(&matrix, &up, &down);
            // Rounding has made it indefinite.
            let Some(next_roots) = next.scale() else {
                break;
            };
            levels.push(Level {
                smoother: Smoother::of(&matrix),
                up: up.rounded(|_, column| next_roots[column]),
                down: down.rounded(|row, _| next_roots[row]),
                is_twice,
            });
            (matrix, roots) = (next, next_roots);
        }
        // The coarsest level leaves no residual.
        if let Some(last) = levels.last_mut() {
            last.is_twice = false;
        }
        let coarsest = Cholesky::new(&matrix);
        Ok(Self { levels, coarsest })
    }

    /// Number of levels.
    pub fn levels(&self) -> usize {
        self.levels.len() + 1
    }

    /// Memory for [`Multigrid::apply`].
    pub fn workspace(&self) -> Workspace {
        let sizes = self.levels.iter().map(|level| level.smoother.len());
        let sizes = sizes.chain([self.coarsest.len()]);
        Workspace(
            sizes
                .map(|n| Vectors {
                    right: vec![0.0; n],
                    x: vec![0.0; n],
                    residual: vec![0.0; n],
                })
                .collect(),
        )
    }

    /// An approximate solution of `matrix x = scale right`: one cycle from 0. `scale` brings the numbers near 1,
    /// within the range of single precision.
    pub fn apply<'a>(&self, right: &[f64], scale: f64, workspace: &'a mut Workspace) -> &'a [f32] {
        update(&mut workspace.0[0].right, |i, _| (scale * right[i]) as f32);
        self.cycle(0, &mut workspace.0);
        &workspace.0[0].x
    }

    fn cycle(&self, depth: usize, vectors: &mut [Vectors]) {
        let (own, below) = vectors.split_first_mut().expect("a level");
        let Some(level) = self.levels.get(depth) else {
            self.coarsest.solve(&own.right, &mut own.x);
            return;
        };
        let Vectors { right, x, residual } = own;
        level.smoother.forward(right, x, residual);
        for correction in 0..1 + usize::from(level.is_twice) {
            if correction > 0 {
                level.smoother.residual(right, x, residual);
            }
            update(&mut below[0].right, |i, _| {
                level.down.row_times(i, residual)
            });
            self.cycle(depth + 1, below);
            update(x, |i, x| x + level.up.row_times(i, &below[0].x));
        }
        level.smoother.backward(right, x, residual);
    }
}

impl SparseMatrix {
    /// The matrix in single precision, each entry divided by `divisor` of its row and column.
    fn rounded(self, divisor: impl Fn(usize, usize) -> f64 + Sync) -> SparseMatrix<f32> {
        let entries = parallel::map_pieces(self.len(), super::sparse::BLOCK, |rows| {
            let of_row = |i: usize| {
                let divisor = &divisor;
                self.row(i)
                    .map(move |(j, entry)| (entry / divisor(i, j as usize)) as f32)
            };
            rows.flat_map(of_row).collect()
        });
        SparseMatrix {
            entries: parallel::concat(entries),
            offsets: self.offsets,
            columns: self.columns,
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// -laplace u on a square of n x n points; couplings along y are multiplied by `weight`.
    pub(crate) fn square(n: usize, weight: f64) -> SparseMatrix {
        let mut matrix = SparseMatrix {
            offsets: vec![0],
            ..SparseMatrix::default()
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
        }
        matrix
    }

    /// A Galerkin matrix is symmetric, and so is a cycle: x . B y = y . B x.
    #[test]
    fn a_cycle_is_symmetric() {
        let mut matrix = square(50, 0.3);
        let roots = matrix.scale().unwrap();
        let grid = Multigrid::new(matrix, roots, Vec::new()).unwrap();
        assert!(grid.levels() > 1);
        let n = 2500;
        let vector = |seed: u64| -> Vec<f64> {
            let mixed = |i: u64| (i + seed).wrapping_mul(0xD134_2543_DE82_EF95) >> 33;
            (0..n as u64).map(|i| mixed(i) as f64 / 1e9 - 1.0).collect()
        };
        let (a, b) = (vector(1), vector(77));
        let mut workspace = grid.workspace();
        let mut apply = |right: &[f64]| -> Vec<f64> {
            let x = grid.apply(right, 1.0, &mut workspace);
            x.iter().map(|&x| f64::from(x)).collect()
        };
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let (xa, xb) = (apply(&a), apply(&b));
        assert!((dot(&xa, &b) - dot(&xb, &a)).abs() < 1e-5 * dot(&xa, &a));
        assert!(dot(&xa, &a) > 0.0 && dot(&xb, &b) > 0.0);
    }
}
