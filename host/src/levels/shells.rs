//! The surfaces of polyhedra: the corners of their faces.

use gpu::ids::{Corner, Edge, FaceCorner, Item, Polygon, Vertex};
use gpu::levels::{self as kernel, ShellsBuffers};
use trioxide_kernel::launch::Buffer;
use trioxide_kernel::{Bits, Word, words};

use super::lists::{Lists, Outlines};
use super::{members, ordered};
use crate::Result;
use crate::collective::compact;
use crate::device::Device;
use crate::reorder::pick;

/// The corners of all sides.
pub(super) struct Shells {
    pub(super) starts: Buffer<u32>,
    pub(super) sides: Buffer<Corner>,
    pub(super) origins: Buffer<Vertex>,
    pub(super) beyond: Buffer<FaceCorner>,
    pub(super) edges: Buffer<Edge>,
    /// The corners that are not inside of pieces, by the vertices and by the edges that start there.
    pub(super) by_vertex: Buffer<FaceCorner>,
    pub(super) by_edge: Buffer<FaceCorner>,
}

/// Items by owner and element.
pub(super) struct Listed {
    pub(super) owners: Buffer<Polygon>,
    pub(super) corners: Buffer<FaceCorner>,
    pub(super) elements: Buffer<u32>,
}

impl Shells {
    /// No sides.
    pub(super) fn none(on: &Device) -> Result<Self> {
        Ok(Self {
            starts: on.uninitialized(0)?,
            sides: on.uninitialized(0)?,
            origins: on.uninitialized(0)?,
            beyond: on.uninitialized(0)?,
            edges: on.uninitialized(0)?,
            by_vertex: on.uninitialized(0)?,
            by_edge: on.uninitialized(0)?,
        })
    }

    /// The argument for kernels.
    pub(super) fn buffers<'a>(
        &'a self,
        twins: &'a Buffer<Corner>,
        pieces: &'a Buffer<Polygon>,
    ) -> ShellsBuffers<'a> {
        ShellsBuffers {
            pieces,
            twins,
            starts: &self.starts,
            sides: &self.sides,
            origins: &self.origins,
            beyond: &self.beyond,
        }
    }

    /// Leaves out the corners inside of pieces.
    pub(super) fn drop_inner(
        &mut self,
        on: &Device,
        (twins, pieces): (&Buffer<Corner>, &Buffer<Polygon>),
    ) -> Result<()> {
        for order in [&mut self.by_vertex, &mut self.by_edge] {
            let mut bits: Buffer<Bits<Item>> = on.uninitialized(words(order.len()))?;
            let (n, sides) = (order.len() as u32, &self.sides);
            kernel::is_corner_of_surface::launch(on, n, order, sides, twins, pieces, &mut bits)?;
            *order = members(on, &bits, order)?;
        }
        Ok(())
    }

    /// The corners of `order` in the order of their pieces, within a piece as there.
    pub(super) fn list(
        &self,
        on: &Device,
        pieces: &Buffer<Polygon>,
        (order, elements): (&Buffer<FaceCorner>, &Buffer<u32>),
        count: usize,
    ) -> Result<Listed> {
        let owners = |corners: &Buffer<FaceCorner>| {
            let sides = pick(on, self.sides.as_words(), corners)?;
            pick(on, pieces.as_words(), &sides)
        };
        let corners = ordered(on, order, owners(order)?, count)?;
        Ok(Listed {
            owners: owners(&corners)?.cast(),
            elements: pick(on, elements, &corners)?,
            corners,
        })
    }

    /// The vertices and edges of the surfaces of all pieces. Corners inside of pieces are left out from now on.
    pub(super) fn outlines(
        &mut self,
        on: &Device,
        twins: &Buffer<Corner>,
        pieces: &Buffer<Polygon>,
        count: usize,
    ) -> Result<Outlines> {
        self.drop_inner(on, (twins, pieces))?;
        let vertices = (&self.by_vertex, self.origins.as_words());
        let edges = (&self.by_edge, self.edges.as_words());
        Ok(Outlines {
            vertices: self.list(on, pieces, vertices, count)?.once(on, count)?,
            edges: self.list(on, pieces, edges, count)?.once(on, count)?,
        })
    }
}

impl Listed {
    /// Each element once for each owner.
    fn once<T: Word + Send + Sync>(self, on: &Device, count: usize) -> Result<Lists<T>> {
        let (owners, elements) = (&self.owners, &self.elements);
        let mut heads: Buffer<Bits<Item>> = on.uninitialized(words(owners.len()))?;
        let n = owners.len() as u32;
        kernel::is_first_of_element::launch(on, n, owners, elements, &mut heads)?;
        let firsts = compact(on, &heads)?;
        let owners = pick(on, owners.as_words(), &firsts)?.cast();
        let elements = pick(on, elements, &firsts)?.cast();
        Lists::new(on, &owners, elements, count)
    }
}
