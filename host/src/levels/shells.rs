//! The surfaces of pieces of polyhedra: the corners of their faces.

use gpu::ids::{Corner, FaceCorner, Polygon, Vertex};
use gpu::levels::{self as kernel, ShellsBuffers};
use trioxide_kernel::launch::Buffer;

use super::join::{Joined, Level};
use super::lists::{Outlines, Places};
use crate::Result;
use crate::device::Device;
use crate::reorder::pick;

/// The corners of all sides, and of the surfaces of pieces.
pub(super) struct Shells {
    /// The piece of each side.
    pub(super) pieces: Buffer<Polygon>,
    pub(super) twins: Buffer<Corner>,
    pub(super) starts: Buffer<u32>,
    pub(super) sides: Buffer<Corner>,
    pub(super) origins: Buffer<Vertex>,
    pub(super) beyond: Buffer<FaceCorner>,
    /// The edge that starts at each corner, by both vertices.
    pub(super) names: Buffer<u64>,
    pub(super) places: Places,
    /// The corners of each piece that are not inside of it, in any order.
    pub(super) corners: Buffer<FaceCorner>,
}

impl Shells {
    /// No sides.
    pub(super) fn none(on: &Device) -> Result<Self> {
        Ok(Self {
            pieces: on.uninitialized(0)?,
            twins: on.uninitialized(0)?,
            starts: on.uninitialized(0)?,
            sides: on.uninitialized(0)?,
            origins: on.uninitialized(0)?,
            beyond: on.uninitialized(0)?,
            names: on.uninitialized(0)?,
            places: Places::none(on)?,
            corners: on.uninitialized(0)?,
        })
    }

    /// The argument for kernels.
    pub(super) fn buffers(&self) -> ShellsBuffers<'_> {
        ShellsBuffers {
            pieces: &self.pieces,
            twins: &self.twins,
            starts: &self.starts,
            sides: &self.sides,
            origins: &self.origins,
            beyond: &self.beyond,
        }
    }

    /// The vertices and edges of the surfaces of all pieces, which are balls or join nothing.
    pub(super) fn outlines(&self, on: &Device) -> Result<Outlines> {
        let (corners, places) = (&self.corners, &self.places);
        let vertices = pick(on, self.origins.as_words(), corners)?;
        let vertices = places.once(on, &places.sorted(on, &vertices)?)?.cast();
        let edges = places.choose(on, |n, bits| {
            kernel::runs_upward::launch(on, n, corners, &self.names, &self.origins, bits)
        })?;
        let (places, order) = places.chosen(on, &edges)?;
        let corners = pick(on, corners.as_words(), &order)?;
        drop((edges, order));
        let names = places.sorted(on, &pick(on, &self.names, &corners)?)?;
        Ok(Outlines {
            vertices,
            edges: places.lists(on, names)?,
        })
    }

    /// Moves the corners to the pieces of the next level, without those inside of pieces.
    pub(super) fn join(&mut self, on: &Device, joined: &Joined, level: &Level) -> Result<()> {
        let (sides, twins) = (&self.sides, &self.twins);
        let n = self.pieces.len() as u32;
        kernel::move_sides_of_polyhedra::launch(on, n, &level.parents, &mut self.pieces)?;
        let kept = self.places.choose(on, |n, bits| {
            let (corners, pieces) = (&self.corners, &self.pieces);
            kernel::is_corner_of_surface::launch(on, n, corners, sides, twins, pieces, bits)
        })?;
        kernel::link_surfaces::launch(
            on,
            self.corners.len() as u32,
            &kept.bits,
            &self.corners,
            &self.places.owners,
            &joined.groups,
            &self.pieces,
            twins,
            &self.starts,
            sides,
            &self.origins,
            &mut self.beyond,
        )?;
        let (places, order) = self.places.join(on, joined, level, &kept)?;
        self.corners = pick(on, self.corners.as_words(), &order)?.cast();
        self.places = places;
        Ok(())
    }
}
