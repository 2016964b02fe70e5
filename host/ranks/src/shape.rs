//! Points and corners of a part, and how they come to a device.

use std::borrow::Cow;

use gpu::ids::Vertex;
use gpu::point::MeshPoint;
use trioxide::device::Buffer;
use trioxide::generate::Grid;
use trioxide::grid::GridRows;
use trioxide::points::upload_points;
use trioxide::{Device, Result};

use crate::ownership::Position;

/// Points of a part's vertices, and the vertices of its cells by local ids.
#[derive(Clone, Debug)]
pub enum Shape<P> {
    /// Lists of the host: as many corners for each cell as the mesh has.
    Lists {
        /// Points of the vertices.
        points: Vec<P>,
        /// Corners of the cells.
        corners: Vec<u32>,
    },
    /// Whole rows of a plain grid of triangles. A device writes them itself; the host has no list of them.
    Rows {
        /// The grid.
        grid: Grid,
        /// Its rows that are here.
        rows: GridRows,
    },
}

impl<P> Default for Shape<P> {
    /// No vertex and no cell.
    fn default() -> Self {
        Self::Lists {
            points: Vec::new(),
            corners: Vec::new(),
        }
    }
}

impl<P> Shape<P> {
    /// Number of vertices.
    pub fn vertices(&self) -> usize {
        match self {
            Self::Lists { points, .. } => points.len(),
            Self::Rows { rows, .. } => rows.vertices() as usize,
        }
    }

    /// Number of corners of all cells.
    pub fn corners(&self) -> usize {
        match self {
            Self::Lists { corners, .. } => corners.len(),
            Self::Rows { rows, .. } => 6 * rows.squares() as usize,
        }
    }

    /// The vertex at corner `i` of all cells' corners.
    ///
    /// # Panics
    /// When there is no such corner.
    pub fn corner(&self, i: usize) -> u32 {
        match self {
            Self::Lists { corners, .. } => corners[i],
            Self::Rows { grid, rows } => {
                assert!(i < self.corners(), "corner {i} of {}", self.corners());
                let first = rows.rows.start * rows.side;
                let squares = rows.rows.start * (rows.side - 1);
                let corners = grid.triangle(2 * squares + i as u64 / 3);
                (corners[i % 3] - first) as u32
            }
        }
    }

    /// Gives the memory of a list of points back: a device has them.
    pub fn drop_points(&mut self) {
        if let Self::Lists { points, .. } = self {
            *points = Vec::new();
        }
    }

    /// The corners of all cells, on a device.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn upload_corners(&self, on: &Device) -> Result<Buffer<Vertex>> {
        match self {
            Self::Lists { corners, .. } => on.stage("copy to the device", || {
                on.upload(bytemuck::cast_slice(corners))
            }),
            Self::Rows { rows, .. } => rows.corners(on),
        }
    }
}

impl<P: Position> Shape<P> {
    /// The points in the precision of `Q`, on a device.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn upload_points<Q: MeshPoint<Double = P>>(&self, on: &Device) -> Result<Buffer<Q>> {
        match self {
            Self::Lists { points, .. } => on.stage("copy to the device", || {
                upload_points(on, points, points.len())
            }),
            Self::Rows { rows, .. } => rows.points(on),
        }
    }

    /// Lists of the host, of which nothing stays here: points and corners.
    pub fn take_lists(&mut self) -> (Vec<P>, Vec<u32>) {
        match self {
            Self::Lists { points, corners } => (std::mem::take(points), std::mem::take(corners)),
            Self::Rows { grid, rows } => lists_of(grid, rows),
        }
    }

    /// Lists of the host: points and corners.
    pub fn lists(&self) -> (Cow<'_, [P]>, Cow<'_, [u32]>) {
        match self {
            Self::Lists { points, corners } => (points.into(), corners.into()),
            Self::Rows { grid, rows } => {
                let (points, corners) = lists_of(grid, rows);
                (points.into(), corners.into())
            }
        }
    }
}

/// Points and corners of a grid's rows.
pub(crate) fn lists_of<P: Position>(grid: &Grid, rows: &GridRows) -> (Vec<P>, Vec<u32>) {
    let first = rows.rows.start * rows.side;
    let squares = rows.rows.start * (rows.side - 1);
    let cells = 2 * squares..2 * (squares + rows.squares());
    let local = |corners: [u64; 3]| corners.map(|v| (v - first) as u32);
    let points = grid.points_as(first..first + rows.vertices(), P::of_plane);
    (points, grid.triangles_of(cells, local).into_flattened())
}
