//! Conjugate gradients.

use trioxide_mesh::{Error, Result, parallel, progress};

use super::blocks::Blocks;
use super::multigrid::Multigrid;
use super::nested::Transfer;
use super::sparse::{SparseMatrix, block_sums, update, update_blocks};

/// A system is solved when the residual's norm falls to this multiple of the right-hand side's norm.
const TOLERANCE: f64 = 1e-13;

/// Iterations without a smaller residual after which the iteration stops.
const STALLED: usize = 2000;

/// The solution of a system.
#[derive(Debug, PartialEq)]
pub struct Solved {
    pub x: Vec<f64>,
    pub iterations: usize,
    /// Levels of the preconditioner, with the finest.
    pub levels: usize,
}

impl SparseMatrix {
    /// Solves `self x = b`. Uses conjugate gradients, preconditioned by multigrid, for the matrix whose rows and
    /// columns are divided by the square roots of its diagonal. `transfers` lead to the first coarse levels.
    ///
    /// # Errors
    /// [`Error::Invalid`] when rounding prevents convergence, as in matrices of slivers; [`Error::Interrupted`].
    pub fn solve(mut self, b: &[f64], transfers: Vec<Transfer>) -> Result<Solved> {
        let n = self.len();
        let roots = self.scale().ok_or_else(too_thin)?;
        let matrix = Blocks::of(&self, |entry| entry);
        let mut residual = parallel::collect(n, |i| b[i] / roots[i]);
        let grid = Multigrid::new(self, roots.clone(), transfers)?;
        let mut workspace = grid.workspace();
        let mut x = vec![0.0; n];
        let mut direction = vec![0.0; n];
        let mut product = vec![0.0; n];
        let [mut norm] = block_sums(n, |i| [residual[i] * residual[i]]);
        let goal = norm * TOLERANCE * TOLERANCE;
        let most = 1000 + 10 * n;
        let (mut last, mut best) = (0.0, f64::INFINITY);
        let mut since_best = 0;
        let counted = progress::count("iteration", 0);
        for iteration in 0..most {
            counted.advance(1);
            progress::check()?;
            if norm <= goal {
                update(&mut x, |i, x| x / roots[i]);
                return Ok(Solved {
                    x,
                    iterations: iteration,
                    levels: grid.levels(),
                });
            }
            // Rounding limits the residual from below.
            (best, since_best) = match norm < best {
                true => (norm, 0),
                false => (best, since_best + 1),
            };
            if since_best > STALLED {
                break;
            }
            let length = norm.sqrt();
            let scaled = grid.apply(&residual, 1.0 / length, &mut workspace);
            let scaled = |i: usize| length * f64::from(scaled[i]);
            let [energy] = block_sums(n, |i| [residual[i] * scaled(i)]);
            let ratio = if iteration == 0 { 0.0 } else { energy / last };
            last = energy;
            update(&mut direction, |i, d| scaled(i) + ratio * d);
            let curvature = matrix.times(&direction, &mut product);
            let step = energy / curvature;
            if !(curvature > 0.0 && step.is_finite()) {
                break;
            }
            norm = update_blocks([&mut x, &mut residual], |begin, [x, residual]| {
                let mut norm = 0.0;
                for (k, (x, residual)) in x.iter_mut().zip(residual).enumerate() {
                    *x += step * direction[begin + k];
                    *residual -= step * product[begin + k];
                    norm += *residual * *residual;
                }
                norm
            });
        }
        Err(too_thin())
    }
}

fn too_thin() -> Error {
    Error::Invalid {
        element: "mesh".into(),
        rule: "has polygons too thin to solve on: remove slivers from it".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// -u'' on n points of a line.
    fn line(n: usize) -> SparseMatrix {
        let mut matrix = SparseMatrix {
            offsets: vec![0],
            ..SparseMatrix::default()
        };
        for i in 0..n {
            for j in i.saturating_sub(1)..n.min(i + 2) {
                matrix.columns.push(j as u32);
                matrix.entries.push(if i == j { 2.0 } else { -1.0 });
            }
            matrix.offsets.push(matrix.columns.len());
        }
        matrix
    }

    #[test]
    fn solves_a_line_to_the_last_digits() {
        let n = 5000;
        let Solved { x, iterations, .. } = line(n).solve(&vec![1.0; n], Vec::new()).unwrap();
        assert!(iterations < 100, "{iterations}");
        for (i, x) in x.iter().enumerate() {
            let expected = 0.5 * (i + 1) as f64 * (n - i) as f64;
            assert!(
                (x - expected).abs() < 1e-8 * expected,
                "{i}: {x} {expected}"
            );
        }
        let nothing = line(3).solve(&[0.0; 3], Vec::new()).unwrap();
        assert_eq!((nothing.x, nothing.iterations), (vec![0.0; 3], 0));
        assert!(line(0).solve(&[], Vec::new()).unwrap().x.is_empty());
    }

    /// Iterations hardly grow with the size, and the bits do not depend on the threads.
    #[test]
    fn iterations_hardly_grow_with_the_size() {
        let solved = |side: usize, threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            let matrix = crate::multigrid::tests::square(side, 1.0);
            pool.unwrap()
                .install(|| matrix.solve(&vec![1.0; side * side], Vec::new()).unwrap())
        };
        let coarse = solved(60, 2).iterations;
        let larger = solved(240, 2);
        let fine = larger.iterations;
        assert!(coarse < 40 && fine < coarse + 20, "{coarse} {fine}");
        assert!(solved(240, 1) == larger);
    }

    #[test]
    fn an_indefinite_matrix_is_refused() {
        let mut matrix = line(2);
        matrix.entries = vec![2.0, -3.0, -3.0, 2.0];
        assert!(matrix.solve(&[1.0, 1.0], Vec::new()).is_err());
    }
}
