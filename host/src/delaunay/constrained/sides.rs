//! Twins, and segments by their places.

use gpu::delaunay::constrained as kernel;
use gpu::ids::{HalfEdge, Item, Place};
use trioxide_kernel::launch::Buffer;

use super::{Mesh, Segments};
use crate::Result;
use crate::collective::{count_bits, order_by_keys};
use crate::delaunay::Ranked;
use crate::device::{BitSet, Device};
use crate::reorder::pick;

/// The mesh of triangles, with their neighbours.
pub(super) fn pair(on: &Device, ranked: Ranked, corners: Buffer<Place>) -> Result<Mesh> {
    Ok(Mesh {
        ranked,
        twins: twins(on, &corners)?,
        lines: on.filled(corners.len(), kernel::NO_SEGMENT)?,
        corners,
    })
}

/// The twins of half-edges.
pub(in super::super) fn twins(on: &Device, corners: &Buffer<Place>) -> Result<Buffer<HalfEdge>> {
    let n = corners.len();
    let mut twins = on.filled(n, HalfEdge::NONE)?;
    // Two thirds of the slots are taken in the end: a mesh has about half as many edges as half-edges.
    let mut table = on.filled(n / 4 * 3 + 16, HalfEdge::NONE)?;
    kernel::pair_sides::launch(on, n as u32, corners, &mut table, &mut twins)?;
    Ok(twins)
}

/// Segments by the places of their ends, in a random order: segments across the same triangles wait for each other, and
/// of segments side by side each would wait for the one before it. An end is at the place of the first of its equals.
pub(super) fn direct(on: &Device, mesh: &Mesh, segments: &Buffer<[u32; 2]>) -> Result<Segments> {
    let points = mesh.ranked.order.len();
    let places = places_of_vertices(on, &mesh.ranked)?;
    let mut degrees = on.filled(points, 0)?;
    let sides = mesh.corners.len() as u32;
    kernel::count_corners::launch(on, sides, &mesh.corners, &mut degrees)?;
    let n = segments.len();
    let mut keys = on.uninitialized(n)?;
    gpu::delaunay::scatter_numbers::launch(on, n as u32, &mut keys)?;
    let order = order_by_keys(on, keys, u32::BITS)?;
    let mut ends = on.uninitialized(n)?;
    let mut reversed = on.uninitialized(n.div_ceil(32))?;
    let mut collapsed: BitSet<Item> = on.uninitialized(n.div_ceil(32))?;
    kernel::direct_segments::launch(
        on,
        n as u32,
        &order,
        segments,
        &places,
        &degrees,
        &mut ends,
        &mut reversed,
        &mut collapsed,
    )?;
    let collapsed = match mesh.ranked.firsts {
        Some(_) => count_bits(on, &collapsed)?,
        None => 0,
    };
    Ok(Segments {
        order,
        ends,
        reversed,
        collapsed,
    })
}

/// The place of each vertex, or of the first of its equals.
pub(in crate::delaunay) fn places_of_vertices(
    on: &Device,
    ranked: &Ranked,
) -> Result<Buffer<Place>> {
    let n = ranked.order.len();
    let vertices = ranked.firsts.as_ref().map_or(n, Buffer::len);
    let mut places: Buffer<Place> = on.uninitialized(vertices)?;
    gpu::forms::rank_vertices::launch(on, n as u32, &ranked.order, &mut places)?;
    match &ranked.firsts {
        Some(firsts) => Ok(pick(on, places.as_words(), firsts)?.cast()),
        None => Ok(places),
    }
}

/// A half-edge of each point.
pub(super) fn spokes(on: &Device, mesh: &Mesh) -> Result<Buffer<u32>> {
    let mut spokes = on.filled(mesh.ranked.order.len(), 0)?;
    let n = mesh.corners.len() as u32;
    kernel::find_spokes::launch(on, n, &mesh.corners, &mesh.twins, &mut spokes)?;
    Ok(spokes)
}
