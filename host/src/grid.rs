//! Rows of a plain grid, made on a device: a rank's part of a mesh that nobody holds. The kernels are in `gpu::grid`.
//!
//! ```
//! use trioxide::glam::DVec2;
//! use trioxide::half_edges::DeviceTriangulation;
//! use trioxide::{Device, grid::Rows};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let on = Device::cpu(None)?;
//! // The first 10 of 99 rows of squares.
//! let rows = Rows { side: 100, rows: 0..10 };
//! let points = rows.points::<DVec2>(&on)?;
//! let mesh = DeviceTriangulation::build(&on, points, rows.corners(&on)?)?;
//! assert_eq!(mesh.triangles(), 2 * 99 * 10);
//! # Ok(())
//! # }
//! ```

use std::ops::Range;

use gpu::grid as kernel;
use gpu::ids::Vertex;
use gpu::point::MeshPoint;
use trioxide_kernel::launch::Buffer;

use crate::backend::Device;
use crate::{Error, Result};

/// Rows of squares of a plain grid, with ids of their own: [`trioxide_generate::Grid::uniform`] has all of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rows {
    /// Points of a row of the grid.
    pub side: u64,
    /// The rows of squares. Row r lies between the rows r and r + 1 of points.
    pub rows: Range<u64>,
}

impl Rows {
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
        let [side, first] = self.checked()?;
        let n = self.vertices() as u32;
        on.stage("write the grid", || {
            let mut points = on.uninitialized(n as usize)?;
            // SAFETY: no index comes from data.
            unsafe {
                kernel::write_points::launch(
                    on,
                    n,
                    side,
                    kernel::reciprocal(side),
                    first,
                    &mut points,
                )
            }?;
            Ok(points)
        })
    }

    /// The corners of the triangles, two a square, the lower one first; three each.
    ///
    /// # Errors
    /// As [`Rows::points`].
    pub fn corners(&self, on: &Device) -> Result<Buffer<Vertex>> {
        let [side, _] = self.checked()?;
        let n = self.squares() as u32;
        on.stage("write the grid", || {
            let mut corners = on.uninitialized(6 * n as usize)?;
            // SAFETY: a square writes six elements of its own, and there are six a square.
            unsafe {
                kernel::write_corners::launch(
                    on,
                    n,
                    side,
                    kernel::reciprocal(side - 1),
                    &mut corners,
                )
            }?;
            Ok(corners)
        })
    }

    /// Points of a row, and the first row, as kernels take them.
    fn checked(&self) -> Result<[u32; 2]> {
        let is_named = |elements: u64| elements < u64::from(u32::MAX);
        let Self { side, rows } = self;
        if rows.is_empty() {
            return Ok([2, 0]);
        }
        if *side < 2 || rows.end >= *side {
            let message = format!("a grid of {side} x {side} points has no such rows: {rows:?}");
            return Err(Error::Argument(message));
        }
        // In this order no product is beyond 64 bits.
        let are_named =
            is_named(*side) && is_named(self.vertices()) && is_named(6 * self.squares());
        if !are_named {
            let message = format!(
                "{} rows of a grid of {side} x {side} points have more corners than 32-bit ids name",
                self.count()
            );
            return Err(Error::Argument(message));
        }
        Ok([*side as u32, rows.start as u32])
    }
}
