//! The sides of the polygons.

use gpu::ids::{Corner, Item, Polygon, Vertex};
use gpu::levels::{self as kernel, Extent};
use trioxide_kernel::launch::Buffer;
use trioxide_kernel::rows::RowsBuffers;
use trioxide_kernel::{Bits, NONE, words};

use super::{members, ordered, rows};
use crate::collective::order_by_keys;
use crate::device::Device;
use crate::mesh::PolygonMesh;
use crate::reorder::pick;
use crate::{Error, Result};

/// The sides of all polygons, and the pieces that they belong to.
pub(super) struct Sides {
    /// The piece of each side.
    pub(super) pieces: Buffer<Polygon>,
    pub(super) twins: Buffer<Corner>,
    pub(super) lengths: Buffer<f64>,
    /// Sides that no piece crosses.
    pub(super) fixed: Buffer<Bits<Corner>>,
    /// The vertex that each side starts at.
    vertices: Buffer<Vertex>,
    /// All sides, by the vertices that they start at.
    by_vertex: Buffer<Corner>,
}

/// The sides of a mesh, and the boxes of its polygons.
pub(super) fn find(on: &Device, mesh: &PolygonMesh) -> Result<(Sides, Buffer<Extent>)> {
    let offsets = on.upload(&mesh.polygons.offsets)?;
    let vertices: Buffer<Vertex> = on.upload(&mesh.polygons.vertices)?.cast();
    let points = on.upload(&mesh.points)?;
    let (count, polygons) = (vertices.len(), mesh.polygons.len());
    let mut boxes = on.uninitialized(polygons)?;
    let mut pieces = on.uninitialized(count)?;
    let (mut lows, mut highs) = (on.uninitialized(count)?, on.uninitialized(count)?);
    let mut lengths = on.uninitialized(count)?;
    kernel::write_sides::launch(
        on,
        polygons as u32,
        &offsets,
        &vertices,
        &points,
        &mut pieces,
        &mut lows,
        &mut highs,
        &mut lengths,
        &mut boxes,
    )?;
    let bits = usize::BITS - points.len().saturating_sub(1).leading_zeros();
    let order = order_by_keys(on, on.duplicate(highs.as_words())?, bits)?;
    let keys = pick(on, lows.as_words(), &order)?;
    let order: Buffer<Corner> = ordered(on, &order.cast(), keys, points.len())?;

    let mut twins = on.uninitialized(count)?;
    let mut found = on.filled(1, NONE)?;
    let n = count as u32;
    kernel::pair_sides_of_polygons::launch(on, n, &order, &lows, &highs, &mut twins, &mut found)?;
    let wrong = on.read(&found, 0)?;
    if wrong != NONE {
        let polygon = on.read(&pieces, wrong as usize)?;
        return Err(Error::Invalid {
            element: polygon.to_string(),
            rule: "has an edge of more than two polygons".into(),
        });
    }

    let mut fixed = on.filled(words(count), Bits::EMPTY)?;
    if let Some(regions) = &mesh.regions {
        let regions = on.upload(regions)?;
        kernel::fix_region_sides::launch(on, n, &twins, &pieces, &regions, &mut fixed)?;
    }
    if !mesh.segments.is_empty() {
        let ends: Vec<[u32; 2]> = mesh.segments.iter().map(|segment| segment.ends).collect();
        let ends: Buffer<Vertex> = on.upload(ends.as_flattened())?.cast();
        let n = mesh.segments.len() as u32;
        kernel::fix_segments::launch(on, n, &ends, &order, &lows, &highs, &mut fixed)?;
    }
    drop((order, lows, highs));
    let by_vertex = order_by_keys(on, on.duplicate(vertices.as_words())?, bits)?.cast();
    let mut sides = Sides {
        pieces,
        twins,
        lengths,
        fixed,
        vertices,
        by_vertex,
    };
    let (starts, outlines) = sides.outlines(on, polygons)?;
    let outlines = RowsBuffers {
        offsets: &starts,
        items: &outlines,
    };
    let (n, twins) = (polygons as u32, &sides.twins);
    kernel::fix_pinched::launch(on, n, outlines, &offsets, twins, &mut sides.fixed)?;
    Ok((sides, boxes))
}

impl Sides {
    /// The vertices of the outline of each piece, ascending.
    pub(super) fn outlines(
        &self,
        on: &Device,
        count: usize,
    ) -> Result<(Buffer<u32>, Buffer<Vertex>)> {
        let mut bits: Buffer<Bits<Item>> = on.uninitialized(words(self.by_vertex.len()))?;
        let n = self.by_vertex.len() as u32;
        kernel::is_outline::launch(on, n, &self.by_vertex, &self.twins, &self.pieces, &mut bits)?;
        let sides = members(on, &bits, &self.by_vertex)?;
        let owners = pick(on, self.pieces.as_words(), &sides)?;
        let sides = ordered(on, &sides, owners, count)?;
        let owners = pick(on, self.pieces.as_words(), &sides)?.cast();
        let vertices = pick(on, self.vertices.as_words(), &sides)?.cast();
        Ok((rows(on, &owners, count)?, vertices))
    }

    /// Puts the sides into the pieces of the next level.
    pub(super) fn join(&mut self, on: &Device, parents: &Buffer<Polygon>) -> Result<()> {
        let n = self.pieces.len() as u32;
        kernel::move_sides::launch(on, n, parents, &mut self.pieces)?;
        Ok(())
    }
}
