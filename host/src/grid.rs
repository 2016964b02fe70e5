//! Rows of a plain grid, made on a device: a rank's part of a mesh that nobody holds. The kernels are in `gpu::grid`.
//!
//! ```
//! use trioxide::glam::DVec2;
//! use trioxide::half_edges::DeviceTriangulation;
//! use trioxide::{Device, grid::GridRows};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let on = Device::cpu(None)?;
//! // The first 10 of 99 rows of squares.
//! let rows = GridRows { side: 100, rows: 0..10 };
//! let points = rows.points::<DVec2>(&on)?;
//! let mesh = DeviceTriangulation::build(&on, points, rows.corners(&on)?)?;
//! assert_eq!(mesh.triangles(), 2 * 99 * 10);
//! # Ok(())
//! # }
//! ```

use std::ops::Range;

use gpu::grid::{kernels as kernel, reciprocal};
use gpu::ids::Vertex;
use gpu::point::MeshPoint;
use trioxide_kernel::launch::Buffer;

use crate::device::Device;
use crate::{Error, Result};

/// Rows of squares of a plain grid, with ids of their own: [`trioxide_generate::Grid::uniform`] has all of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GridRows {
    /// Points of a row of the grid.
    pub side: u64,
    /// The rows of squares. Row r lies between the rows r and r + 1 of points.
    pub rows: Range<u64>,
}

impl GridRows {
    /// Number of squares.
    pub fn squares(&self) -> u64 {
        self.count() * self.side.saturating_sub(1)
    }

    /// Number of points, those above the last row of squares among them; 0 without squares.
    pub fn vertices(&self) -> u64 {
        match self.count() {
            0 => 0,
            count => (count + 1) * self.side,
        }
    }

    fn count(&self) -> u64 {
        self.rows.end.saturating_sub(self.rows.start)
    }

    /// The points, in the precision of `P`.
    ///
    /// # Errors
    /// [`Error::Argument`] for rows that the grid does not have, and more than 32-bit ids name; errors of the device.
    pub fn points<P: MeshPoint>(&self, on: &Device) -> Result<Buffer<P>> {
        self.check()?;
        self.run(self.vertices()).points(on)
    }

    /// The corners of the triangles, two a square, the lower one first; three each.
    ///
    /// # Errors
    /// As [`GridRows::points`].
    pub fn corners(&self, on: &Device) -> Result<Buffer<Vertex>> {
        self.check()?;
        // Squares begin in all rows of points but the last.
        self.run(self.count() * self.side).corners(on)
    }

    /// So many points, from the first one on.
    fn run(&self, count: u64) -> Run {
        let Self { side, rows } = self;
        let start = if rows.is_empty() {
            0
        } else {
            rows.start * side
        };
        Run {
            side: *side,
            vertices: start..start + count,
        }
    }

    /// Refuses rows that kernels do not name.
    fn check(&self) -> Result<()> {
        let is_named = |elements: u64| elements < u64::from(u32::MAX);
        let Self { side, rows } = self;
        if !rows.is_empty() && (*side < 2 || rows.end >= *side) {
            let message = format!("a grid of {side} x {side} points has no such rows: {rows:?}");
            return Err(Error::Argument(message));
        }
        // In this order no product is beyond 64 bits.
        let are_named = rows.is_empty()
            || is_named(*side) && is_named(self.vertices()) && is_named(6 * self.squares());
        if !are_named {
            let message = format!(
                "{} rows of a grid of {side} x {side} points have more corners than 32-bit ids name",
                self.count()
            );
            return Err(Error::Argument(message));
        }
        Ok(())
    }
}

/// Points of a plain grid that follow one another, and the squares whose lower left corners are among them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// Points of a row of the grid.
    pub side: u64,
    /// The points, by their ids in the grid.
    pub vertices: Range<u64>,
}

impl Run {
    /// The squares, by their ids in the grid.
    ///
    /// # Panics
    /// When a row has fewer than two points.
    pub fn squares(&self) -> Range<u64> {
        let Self { side, vertices } = self;
        let count = side - 1;
        // The last point of a row, and all of the last row, have none.
        let before = |v: u64| (v / side * count + (v % side).min(count)).min(count * count);
        before(vertices.start)..before(vertices.end)
    }

    /// The lower left corner of a square, in the grid: number `square` of all squares.
    ///
    /// # Panics
    /// As [`Run::squares`].
    pub fn corner(&self, square: u64) -> u64 {
        square + square / (self.side - 1)
    }

    /// The points, in the precision of `P`.
    ///
    /// # Errors
    /// [`Error::Argument`] for points that the grid does not have, and more than 32-bit ids name; errors of the device.
    pub fn points<P: MeshPoint>(&self, on: &Device) -> Result<Buffer<P>> {
        let Range { start, end } = self.vertices;
        let n = end.saturating_sub(start);
        let side = self.check(n.saturating_add(self.side))?;
        let (n, [first, skipped]) = (n as u32, [start / self.side, start % self.side]);
        on.stage("write the grid", || {
            let mut points = on.uninitialized(n as usize)?;
            kernel::write_points::launch(
                on,
                n,
                side,
                reciprocal(side),
                first as u32,
                skipped as u32,
                &mut points,
            )?;
            Ok(points)
        })
    }

    /// The corners of the squares' triangles, two a square, the lower one first. Each has three corners, as distances
    /// of ids from the lower left [corner](Run::corner) of the first square.
    ///
    /// # Errors
    /// As [`Run::points`].
    pub fn corners(&self, on: &Device) -> Result<Buffer<Vertex>> {
        self.check(0)?;
        let squares = self.squares();
        let n = squares.end - squares.start;
        let side = self.check(n.saturating_mul(6).max(n.saturating_add(self.side)))?;
        let (n, skipped) = (n as u32, squares.start % (self.side - 1));
        on.stage("write the grid", || {
            let mut corners = on.uninitialized(6 * n as usize)?;
            kernel::write_corners::launch(
                on,
                n,
                side,
                reciprocal(side - 1),
                skipped as u32,
                &mut corners,
            )?;
            Ok(corners)
        })
    }

    /// Points of a row as kernels take it, and indices up to `most`.
    fn check(&self, most: u64) -> Result<u32> {
        let Self { side, vertices } = self;
        let Range { start, end } = *vertices;
        if *side < 2 || end.div_ceil(*side) > *side || start > end {
            let message =
                format!("a grid of {side} x {side} points has no such points: {vertices:?}");
            return Err(Error::Argument(message));
        }
        if most.max(*side) >= u64::from(u32::MAX) {
            let message = format!(
                "{} points of a grid of {side} x {side} have more corners than 32-bit ids name",
                end - start
            );
            return Err(Error::Argument(message));
        }
        Ok(*side as u32)
    }
}
