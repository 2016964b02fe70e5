//! Boxes around consecutive points, and around all points of each rank: most points are far from all other ranks, and
//! one test of a box shows this for many of them.

use std::ops::Range;

use glam::DVec3;
use trioxide_mesh::parallel;

use crate::transport::Ranks;

/// Points of a box.
const PIECE: usize = 256;
/// Blocks of ids stay with their ranks where at most one in `FEW` points may be near other ranks.
const FEW: u64 = 8;

/// The smallest and the largest coordinates of some points.
#[derive(Clone, Copy)]
struct Bounds {
    least: DVec3,
    most: DVec3,
}

impl Bounds {
    const NONE: Self = Self {
        least: DVec3::INFINITY,
        most: DVec3::NEG_INFINITY,
    };

    fn of(points: &[DVec3]) -> Self {
        // For finite numbers these comparisons are single instructions.
        let lower = |a: f64, b: f64| if b < a { b } else { a };
        let higher = |a: f64, b: f64| if b > a { b } else { a };
        let mut all = Self::NONE;
        for p in points {
            for axis in 0..3 {
                all.least[axis] = lower(all.least[axis], p[axis]);
                all.most[axis] = higher(all.most[axis], p[axis]);
            }
        }
        all
    }

    fn join(self, other: &Self) -> Self {
        Self {
            least: self.least.min(other.least),
            most: self.most.max(other.most),
        }
    }

    /// Whether two of their points may be within `reach` along each axis. Rounding keeps an exact bound on its side of
    /// a number.
    fn are_near(&self, other: &Self, reach: f64) -> bool {
        (self.least - reach).cmple(other.most).all() && (self.most + reach).cmpge(other.least).all()
    }
}

/// The boxes of a rank's points, and of all ranks.
pub struct Boxes {
    /// Number of points.
    count: usize,
    /// A box for each [`PIECE`] points, in their order.
    pieces: Vec<Bounds>,
    /// A box for each rank.
    ranks: Vec<Bounds>,
    me: usize,
}

impl Boxes {
    /// The boxes of this rank's points, all finite. Collective.
    pub fn of(ranks: &Ranks, points: &[DVec3]) -> Self {
        let pieces = points.len().div_ceil(PIECE);
        let end = |piece: usize| points.len().min((piece + 1) * PIECE);
        let bounds = |piece: usize| Bounds::of(&points[piece * PIECE..end(piece)]);
        let pieces = parallel::collect(pieces, bounds);
        let own = (pieces.iter()).fold(Bounds::NONE, |all, piece| all.join(piece));
        let own = [own.least.to_array(), own.most.to_array()];
        let all = ranks.all(&[own]);
        let of_rank = |&[least, most]: &[[f64; 3]; 2]| Bounds {
            least: least.into(),
            most: most.into(),
        };
        Self {
            count: points.len(),
            pieces,
            ranks: all.items().iter().map(of_rank).collect(),
            me: ranks.rank(),
        }
    }

    /// The smallest and the largest coordinates of all ranks' points; 0 without points.
    pub fn bounds(&self) -> [DVec3; 2] {
        let all = (self.ranks.iter()).fold(Bounds::NONE, |all, of_rank| all.join(of_rank));
        match all.least.x <= all.most.x {
            true => [all.least, all.most],
            false => Default::default(),
        }
    }

    /// The pieces with points that may be within `reach` of those of other ranks, along each axis.
    pub fn near_others(&self, reach: f64) -> Vec<usize> {
        let others = self.ranks.iter().enumerate();
        let others = others.filter(|&(rank, _)| rank != self.me);
        let others: Vec<&Bounds> = others.map(|(_, bounds)| bounds).collect();
        parallel::filter_collect(self.pieces.len(), |i| {
            let piece = &self.pieces[i];
            let is_near = others.iter().any(|other| piece.are_near(other, reach));
            is_near.then_some(i)
        })
    }

    /// The points of a piece.
    pub fn points(&self, piece: usize) -> Range<usize> {
        piece * PIECE..self.count.min((piece + 1) * PIECE)
    }

    /// Whether few points of any rank may be within `reach` of those of other ranks. Collective.
    pub fn are_apart(&self, ranks: &Ranks, reach: f64) -> bool {
        let near = (PIECE * self.near_others(reach).len()) as u64;
        let are_many = FEW * near > self.count as u64;
        !ranks.any(are_many)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::Blocks;
    use crate::threads::run;

    /// In consecutive rows few points are near other ranks; in another order all are.
    #[test]
    fn blocks_of_rows_are_apart() {
        let n = 100_000_u64;
        let row_by_row = |i: u64| DVec3::new((i % 250) as f64, (i / 250) as f64, -1.0);
        for (step, expected) in [(1, true), (29_989, false)] {
            run(3, |transport| {
                let ranks = Ranks::new(transport);
                let block = Blocks::new(n, 3).range(ranks.rank());
                let points = block.map(|i| row_by_row(i * step % n));
                let points: Vec<DVec3> = points.collect();
                let boxes = Boxes::of(&ranks, &points);
                assert_eq!(boxes.bounds(), [row_by_row(0), row_by_row(n - 1)]);
                assert_eq!(boxes.are_apart(&ranks, 1.5), expected);
                assert!(!boxes.are_apart(&ranks, 1e9));
                let near = boxes.near_others(1.5);
                let most = if expected { 12 } else { points.len() };
                assert!((1..=most).contains(&near.len()), "{}", near.len());
                let last = boxes.points(boxes.pieces.len() - 1);
                assert_eq!(last.end, points.len());
            });
        }
    }

    #[test]
    fn no_points_have_no_extent() {
        run(2, |transport| {
            let boxes = Boxes::of(&Ranks::new(transport), &[]);
            assert_eq!(boxes.bounds(), [DVec3::ZERO; 2]);
            assert!(boxes.near_others(f64::INFINITY).is_empty());
        });
    }
}
