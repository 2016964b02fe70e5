//! The lists of corners of the vertices.

use gpu::ids::{HalfEdge, Vertex};
use trioxide_kernel::launch::Buffer;

use super::Result;
use super::kernel::{self, Span};
use crate::collective::{bucket_long, most_alone};
use crate::device::Device;

/// The places of each vertex's corners, and the corners in them, by the vertex of each corner.
pub(super) fn place_corners(
    on: &Device,
    corners: &Buffer<Vertex>,
    vertices: usize,
) -> Result<(Buffer<Span>, Buffer<HalfEdge>)> {
    let mut spans = on.uninitialized(vertices)?;
    let most = most_alone(on);
    // SAFETY: every corner is a vertex below their number.
    let (lists, _) =
        unsafe { bucket_long::<Vertex, HalfEdge>(on, corners, vertices, corners.len(), most) }?;
    let (offsets, items) = lists.into_parts();
    // SAFETY: one index a vertex.
    unsafe { kernel::place_fans::launch(on, vertices as u32, &offsets, &mut spans) }?;
    Ok((spans, items))
}
