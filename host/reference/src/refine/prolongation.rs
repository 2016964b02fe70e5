//! Prolongation of rounds of refinement.

use glam::DVec2;
use proptest::prelude::*;

use crate::{self as reference, random_mesh::triangulations};
use trioxide::mesh::{EdgeTriangulation, Refinement};
use trioxide::prolongation::Prolongation;

/// A mesh with `marked` refined in each of `rounds` rounds, and the records of the rounds.
fn refined(
    mut mesh: EdgeTriangulation,
    marked: &[bool],
    rounds: usize,
) -> (EdgeTriangulation, Vec<Refinement>) {
    let is_marked = |t: u32| marked[t as usize % marked.len()];
    let rounds = (0..rounds)
        .map(|_| reference::refine(&mut mesh, is_marked).0)
        .collect();
    (mesh, rounds)
}

proptest! {
    /// On a grid of whole numbers midpoints, weights and their products are exact, so an affine field is itself again.
    #[test]
    fn affine_fields_are_reproduced(
        points in prop::collection::vec((0..9u8, 0..9u8), 3..60),
        marked in prop::collection::vec(prop::bool::weighted(0.3), 1..50),
        rounds in 0..6usize,
    ) {
        let points: Vec<_> = points.iter().map(|&(x, y)| (x.into(), y.into())).collect();
        let input = reference::random_mesh::delaunay(&points);
        let vertices = input.points.len();
        let coarse = reference::edges(input.points.clone(), &input.triangles);
        let (fine, rounds) = refined(coarse, &marked, rounds);
        let prolongation = Prolongation::of_rounds(vertices, &rounds);
        let affine = |p: &DVec2| 3.0 * p.x - 0.5 * p.y + 7.0;
        let field = |points: &[DVec2]| points.iter().map(affine).collect::<Vec<_>>();
        prop_assert_eq!(prolongation.apply(&field(&input.points)), field(&fine.points));
    }

    /// Rows hold at most a triangle's corners, and rounds compose.
    #[test]
    fn rows_are_barycentric_and_compose(
        input in triangulations(),
        marked in prop::collection::vec(prop::bool::weighted(0.3), 1..50),
        split in 0..4usize,
    ) {
        let vertices = input.points.len();
        let coarse = reference::edges(input.points, &input.triangles);
        let (fine, rounds) = refined(coarse, &marked, 4);
        let all = Prolongation::of_rounds(vertices, &rounds);
        prop_assert_eq!(all.rows(), fine.points.len());
        for i in 0..all.rows() {
            prop_assert!(all.row(i).count() <= 3);
            prop_assert_eq!(all.row(i).map(|(_, weight)| weight).sum::<f64>(), 1.0);
            prop_assert!(all.row(i).all(|(_, weight)| weight > 0.0));
        }
        let (first, second) = rounds.split_at(split);
        let first = Prolongation::of_rounds(vertices, first);
        let second = Prolongation::of_rounds(first.rows(), second);
        // Whole numbers of any size below 2^40: all sums of all 4 rounds are exact.
        let field: Vec<f64> = (0..vertices as u64)
            .map(|v| (v.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 24) as f64)
            .collect();
        prop_assert_eq!(all.apply(&field), second.apply(&first.apply(&field)));
    }
}
