//! Polygons as the paper stores them, and their canonical order.

use gpu::ids::{HalfEdge, Polygon, Vertex};
use gpu::indexed::kernels as kernel;
use trioxide_kernel::launch::Buffer;
use trioxide_kernel::{Bits, words};

use crate::Result;
use crate::collective::{Csr, count_bits, exclusive_scan, lengths};
use crate::device::Device;

/// Polygons as the paper stores them, on a device: P polygons, some of them broken.
pub(super) struct PolygonArrays {
    /// Smallest half-edge of each polygon; P.
    pub starts: Buffer<HalfEdge>,
    /// Start of each polygon in `mesh`; P, and between stages the end of the last.
    pub positions: Buffer<u32>,
    /// Number of vertices of each polygon, followed by its vertices.
    pub mesh: Buffer<u32>,
    /// Polygons that are split later, a bit each; P bits, or empty for none.
    pub broken_bits: Buffer<Bits<Polygon>>,
}

impl PolygonArrays {
    pub fn buffers(&self) -> kernel::PolygonsBuffers<'_> {
        kernel::PolygonsBuffers {
            starts: &self.starts,
            positions: &self.positions,
            mesh: &self.mesh,
        }
    }
}

/// Puts the polygons of `all` that no later round has split in the order of their smallest half-edges, of a mesh with
/// `half_edges` half-edges. Returns these, the lists, and the number of lists that have a vertex more than once.
pub(super) fn order(
    on: &Device,
    half_edges: u32,
    all: &mut [PolygonArrays],
) -> Result<(Buffer<HalfEdge>, Csr<Polygon, Vertex>, u32)> {
    let words = words(half_edges as usize);
    let mut start_bits = on.filled(words, Bits::EMPTY)?;
    for PolygonArrays {
        starts,
        broken_bits,
        ..
    } in &*all
    {
        let (n, to) = (starts.len() as u32, &mut start_bits);
        kernel::mark_starts::launch(on, n, starts, broken_bits, to)?;
    }
    let mut ranks = on.uninitialized(words)?;
    kernel::count_starts::launch(on, words as u32, &start_bits, &mut ranks)?;
    let total = exclusive_scan(on, &mut ranks)?;
    let polygons = on.read(&total, 0)? as usize;
    let order = kernel::OrderBuffers {
        start_bits: &start_bits,
        ranks: &ranks,
    };

    let mut half_edges = on.uninitialized(polygons)?;
    let mut offsets = lengths(on, polygons)?;
    for arrays in &*all {
        kernel::place_polygons::launch(
            on,
            arrays.starts.len() as u32,
            arrays.buffers(),
            &arrays.broken_bits,
            order,
            &mut half_edges,
            &mut offsets,
        )?;
    }
    exclusive_scan(on, &mut offsets)?;
    let listed = on.read(&offsets, polygons)?;
    let mut vertices = on.uninitialized(listed as usize)?;
    let mut weakly_simple = 0;
    for arrays in all {
        let n = arrays.starts.len();
        let mut weak: Buffer<Bits<Polygon>> = on.uninitialized(n.div_ceil(32))?;
        // SAFETY: as above; each polygon's vertices go between its offsets, and the other polygons' vertices stay.
        unsafe {
            kernel::gather_polygons::launch(
                on,
                n as u32,
                &arrays.starts,
                &arrays.broken_bits,
                &arrays.positions,
                order,
                &offsets,
                &mut arrays.mesh,
                &mut vertices,
                &mut weak,
            )
        }?;
        weakly_simple += count_bits(on, &weak)?;
    }
    // SAFETY: scanned counts, the end of the last among them.
    let lists = unsafe { Csr::from_parts(offsets, vertices) };
    Ok((half_edges, lists, weakly_simple))
}
