//! The digest of polygons that are on a device: that of [`digest::of_polygons`](crate::digest::of_polygons), without a
//! copy of them.

use gpu::ids::{HalfEdge, Polygon, Vertex};
use gpu::polylla::kernels as kernel;
use trioxide_kernel::launch::Buffer;

use crate::Result;
use crate::collective::Csr;
use crate::device::Device;

/// Ids in the whole mesh of a part's elements.
#[derive(Clone, Copy, Debug)]
pub enum WholeIds<'a> {
    /// All ids from this one on.
    From(u64),
    /// An id for each element.
    List(&'a [u64]),
}

impl WholeIds<'_> {
    /// Whether each of `elements` elements has an id.
    pub(super) fn have(self, elements: u32) -> bool {
        match self {
            Self::From(_) => true,
            Self::List(list) => list.len() == elements as usize,
        }
    }

    /// The first id, and the list on the device.
    fn upload(self, on: &Device) -> Result<(u64, Buffer<u64>)> {
        match self {
            Self::From(first) => Ok((first, on.uninitialized(0)?)),
            Self::List(list) => Ok((0, on.upload(list)?)),
        }
    }
}

/// The sum of the hashes of polygons, modulo 2^64. They are lists of vertices, each with its smallest half-edge; the
/// hash is of the ids in the whole mesh.
///
/// # Errors
/// Errors of the device.
///
/// # Safety
/// The half-edges and vertices are those of a mesh with an id for each triangle and each vertex.
pub unsafe fn digest_of_part(
    on: &Device,
    half_edges: &Buffer<HalfEdge>,
    lists: &Csr<Polygon, Vertex>,
    triangles: WholeIds,
    vertices: WholeIds,
) -> Result<u64> {
    if half_edges.is_empty() {
        return Ok(0);
    }
    let (first_triangle, triangles) = triangles.upload(on)?;
    let (first_vertex, vertices) = vertices.upload(on)?;
    let whole = |first, list| kernel::WholeIdsBuffers { first, list };
    let sums = on.stage("digest polygons", || {
        let blocks = half_edges.len().div_ceil(kernel::DIGESTED as usize);
        let mut sums = on.uninitialized(blocks)?;
        // SAFETY: the caller's promise.
        unsafe {
            kernel::digest_polygons::launch(
                on,
                blocks as u32,
                half_edges,
                lists.rows(),
                whole(first_triangle, &triangles),
                whole(first_vertex, &vertices),
                &mut sums,
            )
        }?;
        Ok(sums)
    })?;
    let sums: Vec<u64> = on.download(&sums)?;
    Ok(sums.into_iter().fold(0, u64::wrapping_add))
}
