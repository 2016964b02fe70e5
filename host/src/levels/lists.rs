//! The vertices and edges of pieces.

use gpu::ids::{Edge, Polygon, Vertex};
use trioxide_kernel::Word;
use trioxide_kernel::launch::Buffer;
use trioxide_kernel::rows::RowsBuffers;

use super::rows;
use crate::Result;
use crate::device::Device;

/// The elements of each piece, ascending.
pub(super) struct Lists<T> {
    offsets: Buffer<u32>,
    items: Buffer<T>,
}

impl<T: Word + Send + Sync> Lists<T> {
    /// `items` in the order of their `owners`, which ascend.
    pub(super) fn new(
        on: &Device,
        owners: &Buffer<Polygon>,
        items: Buffer<T>,
        count: usize,
    ) -> Result<Self> {
        let offsets = rows(on, owners, count)?;
        Ok(Self { offsets, items })
    }

    /// No pieces.
    pub(super) fn none(on: &Device) -> Result<Self> {
        Ok(Self {
            offsets: on.uninitialized(0)?,
            items: on.uninitialized(0)?,
        })
    }

    /// The argument for kernels.
    pub(super) fn rows(&self) -> RowsBuffers<'_, T> {
        RowsBuffers {
            offsets: &self.offsets,
            items: &self.items,
        }
    }
}

/// The vertices of the outlines or surfaces of all pieces, and the edges of surfaces.
pub(super) struct Outlines {
    pub(super) vertices: Lists<Vertex>,
    pub(super) edges: Lists<Edge>,
}
