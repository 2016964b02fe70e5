use std::ops::Range;

use bytemuck::Pod;
use glam::DVec2;
use rand_pcg::Pcg64;
use rand_pcg::rand_core::SeedableRng;

use super::{check_least_points, check_most_points, unit_interval};
use trioxide_mesh::mesh::Triangulation;
use trioxide_mesh::{Result, parallel};

/// Largest move of a point of [`jittered`] along each axis, in squares: too small to invert a triangle.
const JITTER: f64 = 0.25;

/// Points of a task, which advances the random numbers' generator once.
const PIECE: usize = 1 << 14;

/// A [`grid`] or a [`jittered`] grid, which can generate any range of its points and triangles: several processes may
/// generate parts of a grid that exceeds the memory of one process, and 32-bit ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// Points of a row; number of rows.
    side: u64,
    /// Seed of the inner points' moves.
    seed: Option<u64>,
}

impl Grid {
    /// The grid of about `n` points: [`grid`], if 32-bit indices can number it.
    ///
    /// # Errors
    /// [`Error::Argument`](trioxide_mesh::Error::Argument) if there are fewer than 2 x 2 points.
    pub fn uniform(n: usize) -> Result<Self> {
        check_least_points(n, 3)?; // sqrt(3) rounds to 2.
        let side = (n as f64).sqrt().round() as u64;
        Ok(Self { side, seed: None })
    }

    /// The same grid with inner points moved at random: [`jittered`], if 32-bit indices can number it.
    ///
    /// # Errors
    /// As [`Grid::uniform`].
    pub fn jittered(n: usize, seed: u64) -> Result<Self> {
        let side = Self::uniform(n)?.side;
        let seed = Some(seed);
        Ok(Self { side, seed })
    }

    /// Whether no point is moved.
    pub fn is_plain(&self) -> bool {
        self.seed.is_none()
    }

    /// Points of a row, and number of rows.
    pub fn side(&self) -> u64 {
        self.side
    }

    /// Number of points.
    pub fn vertices(&self) -> u64 {
        self.side * self.side
    }

    /// Number of triangles.
    pub fn triangles(&self) -> u64 {
        2 * (self.side - 1) * (self.side - 1)
    }

    /// The place of a vertex before its move.
    pub fn place(&self, vertex: u64) -> DVec2 {
        let coordinate = |i: u64| i as f64 / (self.side - 1) as f64;
        DVec2::new(
            coordinate(vertex % self.side),
            coordinate(vertex / self.side),
        )
    }

    /// Points of a range of vertices.
    ///
    /// # Panics
    /// When the range ends after the last vertex.
    pub fn points(&self, range: Range<u64>) -> Vec<DVec2> {
        self.points_as(range, |p| p)
    }

    /// `value` of each point of a range of vertices.
    ///
    /// # Panics
    /// When the range ends after the last vertex.
    pub fn points_as<T: Pod + Send>(
        &self,
        range: Range<u64>,
        make: impl Fn(DVec2) -> T + Sync,
    ) -> Vec<T> {
        assert!(range.end <= self.vertices(), "a range of the vertices");
        let scale = (self.side - 1) as f64;
        let coordinate = |i: u64| i as f64 / scale;
        let mut all = parallel::zeroed((range.end - range.start) as usize);
        parallel::for_chunks_mut(&mut all, PIECE, |piece, all| {
            let first = range.start + (piece * PIECE) as u64;
            let (mut row, mut column) = (first / self.side, first % self.side);
            let mut jitter = self.seed.map(|seed| self.jitter(seed, first));
            for value in all {
                let mut point = DVec2::new(coordinate(column), coordinate(row));
                if let Some(jitter) = &mut jitter
                    && self.is_inner(row)
                    && self.is_inner(column)
                {
                    point += jitter();
                }
                *value = make(point);
                column += 1;
                if column == self.side {
                    (row, column) = (row + 1, 0);
                }
            }
        });
        all
    }

    /// The moves of the inner points, in order from vertex `first`.
    fn jitter(&self, seed: u64, first: u64) -> impl FnMut() -> DVec2 {
        let step = 2.0 * JITTER / (self.side - 1) as f64;
        let mut generator = Pcg64::seed_from_u64(seed);
        // Two numbers for each earlier inner point.
        generator.advance(2 * u128::from(self.inner_before(first)));
        move || {
            let x = (unit_interval(&mut generator) - 0.5) * step;
            let y = (unit_interval(&mut generator) - 0.5) * step;
            DVec2::new(x, y)
        }
    }

    /// Whether this row or column is inside of the border.
    fn is_inner(&self, i: u64) -> bool {
        i > 0 && i < self.side - 1
    }

    /// Number of inner points before vertex `v`.
    fn inner_before(&self, v: u64) -> u64 {
        let inner = self.side - 2;
        let (row, column) = (v / self.side, v % self.side);
        let before = |i: u64| i.saturating_sub(1).min(inner);
        let in_row = if self.is_inner(row) {
            before(column)
        } else {
            0
        };
        before(row) * inner + in_row
    }

    /// `value` of each triangle of a range, from its vertices.
    ///
    /// # Panics
    /// When the range begins after the last triangle.
    pub fn triangles_of<T: Pod + Send>(
        &self,
        range: Range<u64>,
        make: impl Fn([u64; 3]) -> T + Sync,
    ) -> Vec<T> {
        let cells = self.side - 1;
        let mut all = parallel::zeroed((range.end - range.start) as usize);
        let lower = |corner: u64| make(self.half_square(corner, 0));
        let upper = |corner: u64| make(self.half_square(corner, 1));
        // A division or a branch per triangle would take longer than the triangle: row by row, square by square.
        parallel::for_chunks_mut(&mut all, PIECE, |piece, mut rest| {
            let mut t = range.start + (piece * PIECE) as u64;
            while !rest.is_empty() {
                let (row, column, half) = (t / 2 / cells, t / 2 % cells, t % 2);
                let to_the_end = 2 * (cells - column) - half;
                let run = to_the_end.min(rest.len() as u64);
                let (mut in_row, behind) = rest.split_at_mut(run as usize);
                let mut corner = row * self.side + column;
                if half == 1 {
                    in_row[0] = upper(corner);
                    in_row = &mut in_row[1..];
                    corner += 1;
                }
                let (squares, last) = in_row.as_chunks_mut::<2>();
                for (corner, square) in (corner..).zip(&mut *squares) {
                    *square = [lower(corner), upper(corner)];
                }
                if let [last] = last {
                    *last = lower(corner + squares.len() as u64);
                }
                (t, rest) = (t + run, behind);
            }
        });
        all
    }

    /// Vertices of a triangle, counter-clockwise.
    pub fn triangle(&self, t: u64) -> [u64; 3] {
        let cells = self.side - 1;
        self.half_square(t / 2 / cells * self.side + t / 2 % cells, t % 2)
    }

    /// Vertices of the lower or upper triangle of the square at a vertex.
    fn half_square(&self, lower_left: u64, half: u64) -> [u64; 3] {
        let upper_right = lower_left + self.side + 1;
        match half {
            0 => [lower_left, lower_left + 1, upper_right],
            _ => [lower_left, upper_right, upper_right - 1],
        }
    }

    /// The whole grid.
    fn whole(&self) -> Result<Triangulation> {
        check_most_points(self.vertices() as usize)?;
        let narrow = |corners: [u64; 3]| corners.map(|v| v as u32);
        Ok(Triangulation {
            points: self.points(0..self.vertices()),
            triangles: self.triangles_of(0..self.triangles(), narrow),
            ..Triangulation::default()
        })
    }
}

/// The uniform grid of k x k points on the unit square, k = sqrt(`n`) rounded: a "grid mesh" of gpolylla-2023,
/// section 7.1.
///
/// Points are numbered row by row from the origin. Every square is split by its rising diagonal into two
/// counter-clockwise triangles, the lower one first; the diagonal is the longest edge of both, so Polylla turns the
/// mesh into exactly (k - 1)^2 squares.
///
/// # Errors
/// [`Error::Argument`](trioxide_mesh::Error::Argument) if there are fewer than 2 x 2 points, or more than
/// [`MAX_POINTS`](super::MAX_POINTS).
pub fn grid(n: usize) -> Result<Triangulation> {
    check_most_points(n)?;
    Grid::uniform(n)?.whole()
}

/// A [`grid`] whose inner points are moved by up to a quarter of a square along each axis, so that lengths do not tie.
///
/// # Errors
/// As [`grid`].
pub fn jittered(n: usize, seed: u64) -> Result<Triangulation> {
    check_most_points(n)?;
    Grid::jittered(n, seed)?.whole()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A rank generates a part of the whole, from any start, with the same random moves.
    #[test]
    fn parts_of_a_grid_are_those_of_the_whole() {
        for side in [2_u64, 3, 4, 200] {
            let n = (side * side) as usize;
            for grid in [Grid::uniform(n).unwrap(), Grid::jittered(n, 7).unwrap()] {
                let whole = grid.whole().unwrap();
                assert_eq!(whole.points.len(), n);
                if grid.is_plain() {
                    let places: Vec<DVec2> = (0..n as u64).map(|v| grid.place(v)).collect();
                    assert_eq!(places, whole.points);
                }
                for start in [0, 1, side - 1, side, side + 1, 2 * side - 1, n as u64 - 1] {
                    let t = grid.triangles() * start / n as u64;
                    let part = grid.triangles_of(t..grid.triangles(), |corners| corners);
                    let each: Vec<_> = (t..grid.triangles()).map(|t| grid.triangle(t)).collect();
                    assert_eq!(part, each, "{side} from triangle {t}");
                    let part = grid.points(start..n as u64);
                    assert_eq!(part, whole.points[start as usize..], "{side} from {start}");
                }
            }
        }
        assert_eq!(Grid::uniform(2_000_000_000).unwrap().side(), 44_721);
        // Beyond 32-bit ids.
        let large = Grid::jittered(10_000_000_000, 3).unwrap();
        let [a, b, c] = large.triangle(large.triangles() - 1);
        assert_eq!([a, b, c], [9_999_899_998, 9_999_999_999, 9_999_999_998]);
        assert_eq!(large.points(b..b + 1), [DVec2::ONE]);
    }

    /// The moves are drawn in the order of the points.
    #[test]
    fn a_jittered_grid_draws_in_the_order_of_its_points() {
        let (k, seed) = (150, 11);
        let mut expected = grid(k * k).unwrap().points;
        let mut generator = Pcg64::seed_from_u64(seed);
        let step = 2.0 * JITTER / (k - 1) as f64;
        for row in 1..k - 1 {
            for column in 1..k - 1 {
                let x = (unit_interval(&mut generator) - 0.5) * step;
                let y = (unit_interval(&mut generator) - 0.5) * step;
                expected[row * k + column] += DVec2::new(x, y);
            }
        }
        assert_eq!(jittered(k * k, seed).unwrap().points, expected);
    }
}
