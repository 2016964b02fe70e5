//! The edges of a triangulation that are not locally Delaunay.

use gpu::delaunay as kernel;
use gpu::ids::HalfEdge;
use trioxide_kernel::NONE;

pub use gpu::delaunay::Diagonals;

use crate::Result;
use crate::collective::count_bits;
use crate::device::{BitSet, Device};
use crate::half_edges::{DeviceTriangulation, Point};

/// The edges of a triangulation that are not locally Delaunay: the far corner of one of an edge's triangles is within
/// the circle of the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IllegalEdges {
    /// Their number.
    pub count: u32,
    /// The lowest half-edge of them.
    pub first: Option<HalfEdge>,
}

/// Finds the edges of a triangulation that are not locally Delaunay, exactly. Edges on the boundary are left out, and
/// the half-edges in `segments`, which has both of each segment.
///
/// If there are none, the triangulation is constrained Delaunay, with `segments` and the boundary as segments. Without
/// `segments` and of a convex area it is Delaunay.
///
/// ```
/// use glam::DVec2;
/// use trioxide::Device;
/// use trioxide::delaunay::{Diagonals, find_illegal_edges};
/// use trioxide::half_edges::DeviceTriangulation;
/// use trioxide::mesh::Triangulation;
///
/// # fn main() -> trioxide::Result<()> {
/// let kite = Triangulation {
///     points: [(0.0, 0.0), (4.0, -1.0), (8.0, 0.0), (4.0, 1.0)].map(DVec2::from).to_vec(),
///     triangles: vec![[0, 1, 2], [0, 2, 3]],
///     ..Triangulation::default()
/// };
/// let on = Device::cpu(None)?;
/// let mesh = DeviceTriangulation::<DVec2>::upload(&on, &kite)?;
/// let found = find_illegal_edges(&on, &mesh, None, Diagonals::ByRule)?;
/// // The long diagonal: half-edge 2 of vertex 2.
/// assert_eq!((found.count, found.first.map(|h| h.index())), (1, Some(2)));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`Argument`](crate::Error::Argument) for `segments` of another number of half-edges; errors of the device.
pub fn find_illegal_edges<P: Point>(
    on: &Device,
    mesh: &DeviceTriangulation<P>,
    segments: Option<&BitSet<HalfEdge>>,
    diagonals: Diagonals,
) -> Result<IllegalEdges> {
    on.stage("find illegal edges", || {
        let n = mesh.half_edges();
        let none = on.uninitialized(0)?;
        let mut first = on.filled(1, NONE)?;
        let mut illegal: BitSet<HalfEdge> = on.uninitialized(n.div_ceil(32) as usize)?;
        kernel::find_illegal_edges::launch(
            on,
            n,
            mesh.points(),
            mesh.origins(),
            mesh.twins(),
            segments.unwrap_or(&none),
            diagonals,
            &mut first,
            &mut illegal,
        )?;
        let first = on.read(&first, 0)?;
        Ok(IllegalEdges {
            count: count_bits(on, &illegal)?,
            first: (first != NONE).then(|| HalfEdge::new(first)),
        })
    })
}
