//! Vertex fields on a refined mesh, from the fields of its input.

use crate::parallel;

/// The cells of a mesh that can be refined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Simplices {
    /// Triangles, in the plane or in space.
    Triangles,
    /// Tetrahedra.
    Tetrahedra,
}

impl Simplices {
    /// A cell, and cells.
    pub fn names(self) -> [&'static str; 2] {
        match self {
            Self::Triangles => ["triangle", "triangles"],
            Self::Tetrahedra => ["tetrahedron", "tetrahedra"],
        }
    }
}

/// The record of one round of refinement (gpu-longest-edge-bisection-2011): D divided edges, N new triangles.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refinement {
    /// Edge divided by each new vertex, by its id before the round; D, or empty of tetrahedra, whose edges have no ids.
    pub divided: Vec<u32>,
    /// Ends of the edge divided by each new vertex, which is its middle; D.
    pub ends: Vec<[u32; 2]>,
    /// Triangle divided into each new triangle, by its id before the round; N, or empty of tetrahedra.
    pub parents: Vec<u32>,
}

/// A sparse matrix by rows that maps values at the vertices of a mesh to values at the vertices of its refined mesh,
/// linearly along each divided edge.
///
/// A vertex of the coarse mesh keeps its value. A new vertex lies in a triangle of the coarse mesh: its row holds the
/// weights of that triangle's corners or fewer, sums of powers of one half.
#[derive(Clone, Debug, PartialEq)]
pub struct Prolongation {
    /// Start of each row in `columns` and `weights`, and the end of the last; V + D + 1.
    pub offsets: Vec<usize>,
    /// Vertices of the coarse mesh, ascending in each row.
    pub columns: Vec<u32>,
    /// Their weights: greater than zero, 1 in sum.
    pub weights: Vec<f64>,
    /// Vertices of the coarse mesh: number of columns.
    pub vertices: usize,
}

impl Prolongation {
    /// From a mesh of `vertices` vertices to the result of consecutive `rounds`: (V + D) x V with D the divided edges
    /// of all rounds.
    ///
    /// Weights are exact down to 2^-1074, deeper than any refinement. So the result for no rounds is the identity, and
    /// the result for several rounds is the product of their results.
    ///
    /// # Panics
    /// When an edge's end is no vertex of its round.
    pub fn of_rounds(vertices: usize, rounds: &[Refinement]) -> Prolongation {
        let mut all = Prolongation {
            offsets: (0..=vertices).collect(),
            columns: (0..vertices as u32).collect(),
            weights: vec![1.0; vertices],
            vertices,
        };
        for round in rounds {
            let (before, added) = (&all, round.ends.len());
            let pieces = parallel::map_pieces(added, parallel::GRAIN, |range| {
                let mut means = Means::default();
                for &ends in &round.ends[range] {
                    means.push(before, ends.map(|v| v as usize));
                }
                means
            });
            all.append(&pieces);
        }
        all
    }

    /// Vertices of the refined mesh.
    pub fn rows(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Columns and weights of a row.
    pub fn row(&self, i: usize) -> impl Iterator<Item = (u32, f64)> + '_ {
        let range = self.offsets[i]..self.offsets[i + 1];
        let weights = self.weights[range.clone()].iter().copied();
        self.columns[range].iter().copied().zip(weights)
    }

    /// The field at the vertices of the refined mesh.
    ///
    /// # Panics
    /// When `field` does not have a value for each vertex of the coarse mesh.
    pub fn apply(&self, field: &[f64]) -> Vec<f64> {
        assert_eq!(field.len(), self.vertices, "a value for each vertex");
        let value = |i| {
            let terms = self.row(i).map(|(v, weight)| weight * field[v as usize]);
            terms.fold(0.0, |sum, term| sum + term)
        };
        (0..self.rows()).map(value).collect()
    }

    fn append(&mut self, pieces: &[Means]) {
        let mut end = self.columns.len();
        for means in pieces {
            self.columns.extend_from_slice(&means.columns);
            self.weights.extend_from_slice(&means.weights);
            self.offsets.extend(means.lengths.iter().map(|length| {
                end += length;
                end
            }));
        }
    }
}

/// Rows that are the mean of two rows of a matrix.
#[derive(Default)]
struct Means {
    /// Columns of each row.
    lengths: Vec<usize>,
    columns: Vec<u32>,
    weights: Vec<f64>,
}

impl Means {
    fn push(&mut self, of: &Prolongation, [a, b]: [usize; 2]) {
        let rows = of.rows();
        assert!(a < rows && b < rows, "vertices {a}, {b} of {rows}");
        let first = self.columns.len();
        let (mut i, mut j) = (of.offsets[a], of.offsets[b]);
        let (a_end, b_end) = (of.offsets[a + 1], of.offsets[b + 1]);
        while i < a_end || j < b_end {
            // The smaller column; both weights if both rows have it.
            let left = of.columns[i..a_end].first().copied();
            let right = of.columns[j..b_end].first().copied();
            let column = left.into_iter().chain(right).min().expect("one is left");
            let mut weight = 0.0;
            if left == Some(column) {
                weight += 0.5 * of.weights[i];
                i += 1;
            }
            if right == Some(column) {
                weight += 0.5 * of.weights[j];
                j += 1;
            }
            self.columns.push(column);
            self.weights.push(weight);
        }
        self.lengths.push(self.columns.len() - first);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_two_rounds() {
        let ends = [[[0, 1]].to_vec(), [[3, 2], [0, 3]].to_vec()];
        let rounds = ends.map(|ends| Refinement {
            ends,
            ..Refinement::default()
        });
        let all = Prolongation::of_rounds(3, &rounds);
        assert_eq!(all.offsets, [0, 1, 2, 3, 5, 8, 10]);
        assert_eq!(all.columns, [0, 1, 2, 0, 1, 0, 1, 2, 0, 1]);
        assert_eq!(
            all.weights,
            [1.0, 1.0, 1.0, 0.5, 0.5, 0.25, 0.25, 0.5, 0.75, 0.25]
        );
        assert_eq!(all.apply(&[8.0, 4.0, 0.0]), [8.0, 4.0, 0.0, 6.0, 3.0, 7.0]);
        assert_eq!(Prolongation::of_rounds(0, &[]).rows(), 0);
    }

    #[test]
    #[should_panic(expected = "vertices 3, 0 of 3")]
    fn ends_are_older() {
        let ends = vec![[0, 1], [3, 0]];
        let round = Refinement {
            ends,
            ..Refinement::default()
        };
        Prolongation::of_rounds(3, &[round]);
    }
}
