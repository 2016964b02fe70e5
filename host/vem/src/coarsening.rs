//! A coarser matrix by smoothed aggregation: the set-up of `multigrid`. Matrices have a diagonal of ones.
//!
//! Differences from the paper. The largest eigenvalue is estimated by steps of the power method from a fixed start; the
//! caller adds a tenth. Aggregates are chosen sequentially; all else runs in parallel, each row on one thread.

use trioxide_mesh::mesh::NONE;

use super::sparse::{SparseMatrix, block_sums, update};

/// Steps of the power method.
const POWER_STEPS: usize = 12;

/// Whether an off-diagonal entry is a strong coupling.
fn is_strong(strength: f64, entry: f64) -> bool {
    entry.abs() > strength
}

/// The aggregate of each row, and their number. A row without strong couplings is an aggregate of its own.
pub fn aggregate(matrix: &SparseMatrix, strength: f64) -> (Vec<u32>, usize) {
    let n = matrix.len();
    let mut aggregates = vec![NONE; n];
    let mut count = 0;
    let strong = |i: usize| {
        let others = matrix.row(i).filter(move |&(j, _)| j as usize != i);
        others.filter(move |&(_, entry)| is_strong(strength, entry))
    };
    // Rows with all of their neighbours, if none of these has an aggregate.
    for i in 0..n {
        if aggregates[i] == NONE && strong(i).all(|(j, _)| aggregates[j as usize] == NONE) {
            aggregates[i] = count;
            strong(i).for_each(|(j, _)| aggregates[j as usize] = count);
            count += 1;
        }
    }
    // The other rows join the aggregate of their strongest coupling.
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
    // The remaining rows are aggregates of their own.
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

/// A lower bound of the largest eigenvalue.
pub fn largest_eigenvalue(matrix: &SparseMatrix) -> f64 {
    let n = matrix.len();
    // Any start works that is no eigenvector of a small eigenvalue: signs with a long period.
    let mixed = |i: usize| (i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
    let mut x: Vec<f64> = (0..n).map(|i| mixed(i) as f64 / 8388608.0 - 1.0).collect();
    let mut product = vec![0.0; n];
    let mut largest = 1.0;
    for _ in 0..POWER_STEPS {
        update(&mut product, |i, _| matrix.row_times(i, &x));
        let [square, energy] = block_sums(n, |i| [x[i] * x[i], x[i] * product[i]]);
        if square == 0.0 {
            break;
        }
        // The Rayleigh quotient.
        largest = energy / square;
        let norm = square.sqrt();
        update(&mut x, |i, _| product[i] / norm);
    }
    largest
}

/// Smoothed functions of the aggregates: (I - 4/3 / largest * D^-1 F) of functions that are `roots` on an aggregate. F
/// is the matrix with its weak entries moved to the diagonal D, so F and the matrix have the same product with `roots`.
pub fn prolongation(
    matrix: &SparseMatrix,
    roots: &[f64],
    aggregates: &[u32],
    strength: f64,
    largest: f64,
) -> SparseMatrix {
    let (rows, _) = SparseMatrix::gather(matrix.len(), |i, row| {
        let mut diagonal = 1.0;
        for (j, entry) in matrix.row(i) {
            if j as usize != i && !is_strong(strength, entry) {
                diagonal += entry * roots[j as usize] / roots[i];
            }
        }
        // A diagonal that its weak entries nearly cancel is no scale.
        let scale = if diagonal > 0.1 { diagonal } else { 1.0 };
        let factor = 4.0 / 3.0 / largest / scale;
        row.add(aggregates[i], (1.0 - factor * diagonal) * roots[i]);
        for (j, entry) in matrix.row(i) {
            if j as usize != i && is_strong(strength, entry) {
                row.add(aggregates[j as usize], -factor * entry * roots[j as usize]);
            }
        }
    });
    rows
}

/// down * matrix * up.
pub fn coarse(matrix: &SparseMatrix, up: &SparseMatrix, down: &SparseMatrix) -> SparseMatrix {
    let times = |left: &SparseMatrix, right: &SparseMatrix| {
        let (rows, _) = SparseMatrix::gather(left.len(), |i, row| {
            for (j, entry) in left.row(i) {
                for (column, value) in right.row(j as usize) {
                    row.add(column, entry * value);
                }
            }
        });
        rows
    };
    times(down, &times(matrix, up))
}

#[cfg(test)]
mod tests {
    use super::super::multigrid::{STRENGTH, tests::square};
    use super::*;

    #[test]
    fn aggregates_cover_all_rows() {
        let mut matrix = square(60, 1.0);
        matrix.scale().unwrap();
        let (aggregates, count) = aggregate(&matrix, STRENGTH);
        assert!(count > 300 && count < 1300, "{count}");
        let mut sizes = vec![0; count];
        aggregates.iter().for_each(|&a| sizes[a as usize] += 1);
        assert!(sizes.iter().all(|&size| size > 0));
        let largest = largest_eigenvalue(&matrix);
        assert!(largest > 1.6 && largest < 2.0, "{largest}");
    }
}
