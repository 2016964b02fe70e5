//! The pieces of segments.

use gpu::delaunay::constrained as kernel;
use gpu::ids::{Item, Triangle, Vertex};
use trioxide_kernel::launch::Buffer;

use super::sides::spokes;
use super::{Mesh, Segments};
use crate::Result;
use crate::collective::{count_bits, exclusive_scan, lengths};
use crate::device::{BitSet, Device};

/// Vertices of the pieces that are edges of kept triangles, where those of each segment start, and the number of
/// segments that have others.
pub(super) fn list(
    on: &Device,
    mesh: &Mesh,
    segments: &Segments,
    kept: &BitSet<Triangle>,
) -> Result<(Buffer<Vertex>, Buffer<u32>, u32)> {
    let n = segments.ends.len();
    let spokes = spokes(on, mesh)?;
    let mut starts = lengths(on, n)?;
    let mut bits: BitSet<Item> = on.uninitialized(n.div_ceil(32))?;
    kernel::count_pieces::launch(
        on,
        n as u32,
        &segments.order,
        mesh.parameter(),
        &spokes,
        &segments.ends,
        kept,
        &mut starts,
        &mut bits,
    )?;
    let total = exclusive_scan(on, &mut starts)?;
    let (total, left_out) = on.read_beside(&total, || count_bits(on, &bits))?;
    let mut pieces = on.uninitialized(2 * total[0] as usize)?;
    kernel::write_pieces::launch(
        on,
        n as u32,
        &segments.order,
        mesh.parameter(),
        &spokes,
        &segments.ends,
        &segments.reversed,
        kept,
        &starts,
        &mesh.ranked.order,
        &mut pieces,
    )?;
    Ok((pieces, starts, left_out))
}
