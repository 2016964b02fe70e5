//! The pieces of segments.

use gpu::delaunay::constrained as kernel;
use gpu::ids::{HalfEdge, Item, Triangle, Vertex};
use trioxide_kernel::launch::Buffer;

use super::sides::spokes;
use super::{Mesh, Segments};
use crate::Result;
use crate::collective::{count_bits, exclusive_scan, lengths};
use crate::device::{BitSet, Device};

/// Pieces of segments that are edges of kept triangles.
pub(in super::super) struct Pieces {
    /// Vertices, two each.
    pub vertices: Buffer<Vertex>,
    /// A half-edge of each.
    pub edges: Buffer<HalfEdge>,
    /// Where the pieces of each segment start, and the end of the last's.
    pub starts: Buffer<u32>,
    /// Number of segments that have others.
    pub left_out: u32,
}

/// Lists pieces.
pub(in super::super) fn list(
    on: &Device,
    mesh: &Mesh,
    segments: &Segments,
    kept: &BitSet<Triangle>,
) -> Result<Pieces> {
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
    let mut vertices = on.uninitialized(2 * total[0] as usize)?;
    let mut edges = on.uninitialized(total[0] as usize)?;
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
        &mut vertices,
        &mut edges,
    )?;
    Ok(Pieces {
        vertices,
        edges,
        starts,
        left_out,
    })
}
