//! The new vertices of refined meshes: midpoints of edges.

use gpu::refine::Ends;
use gpu::refine::maps::interpolate;
use trioxide_kernel::launch::Buffer;

use super::error::{Error, Result};
use crate::device::Device;

/// Where the vertices of a refined mesh lie, on a device: those of the input keep their ids, each other is the midpoint
/// of an edge of the mesh before its round.
pub struct Midpoints {
    ends: Buffer<Ends>,
    vertices: Vec<u32>,
}

impl Midpoints {
    /// From the `ends` of the edges, and the numbers of vertices of the input and after each round.
    ///
    /// # Safety
    /// There is an edge for each new vertex, in their order, and its ends are vertices before the round.
    pub(crate) unsafe fn new(ends: Buffer<Ends>, vertices: Vec<u32>) -> Self {
        Self { ends, vertices }
    }

    /// Start and end of the edge that each new vertex halves; they may be new vertices of earlier rounds.
    pub fn ends(&self) -> &Buffer<Ends> {
        &self.ends
    }

    /// Number of vertices of the input, and after each round.
    pub fn vertices(&self) -> &[u32] {
        &self.vertices
    }

    /// As [`DeviceEdgeMesh::interpolate`](super::DeviceEdgeMesh::interpolate).
    ///
    /// # Errors
    /// [`Error::Length`] when the field does not have a value for each vertex of the input; errors of the device.
    pub fn interpolate(&self, on: &Device, field: &mut Buffer<f64>) -> Result<()> {
        // SAFETY: the promise of `new`.
        unsafe { carry(on, &self.ends, &self.vertices, field) }
    }
}

/// Carries a vertex field of the input to the last of the rounds after which a mesh had so many `vertices`.
///
/// # Safety
/// As [`Midpoints::new`].
pub(super) unsafe fn carry(
    on: &Device,
    ends: &Buffer<Ends>,
    vertices: &[u32],
    field: &mut Buffer<f64>,
) -> Result<()> {
    let (input, last) = (vertices[0], vertices[vertices.len() - 1]);
    if field.len() != input as usize {
        return Err(Error::Length {
            values: "values of the field",
            given: field.len(),
            elements: "vertices",
            needed: input as usize,
        });
    }
    on.stage("interpolate", || {
        on.resize(field, last as usize)?;
        for pair in vertices.windows(2) {
            let first = pair[0];
            let (n, before) = (pair[1] - first, first - input);
            // SAFETY: the ends of a round's edges are vertices before the round, and each of these has its value.
            unsafe { interpolate::launch(on, n, ends, field, first, before) }?;
        }
        Ok(())
    })?;
    Ok(())
}
