//! Edges that no polygon may cross.

use gpu::ids::{HalfEdge, Vertex};
use gpu::polylla::kernels as kernel;
use trioxide_kernel::launch::Buffer;
use trioxide_kernel::{Bits, words};

use super::{Error, Result};
use crate::collective::{Csr, bucket, mark_ids};
use crate::device::Device;
use crate::half_edges::{AnyPoint, DeviceTriangulation, MeshId};
use crate::mesh::{NONE, Triangulation};

/// Edges of one triangulation that no polygon may cross, besides the boundary.
pub struct Constraints {
    pub(super) mesh: MeshId,
    /// Both half-edges of each.
    pub(super) edges: Buffer<Bits<HalfEdge>>,
}

impl Constraints {
    /// The edges between triangles of different regions, and the segments of `of`, whose half-edges are `mesh`; `None`
    /// where there are neither regions nor segments.
    ///
    /// # Errors
    /// [`Error::NoEdge`] when a segment is no edge of the triangulation, [`Error::SegmentOutOfRange`],
    /// [`Error::Regions`].
    pub fn of<P: AnyPoint>(
        on: &Device,
        mesh: &DeviceTriangulation<P>,
        of: &Triangulation<P::Double>,
    ) -> Result<Option<Self>> {
        if of.regions.is_none() && of.segments.is_empty() {
            return Ok(None);
        }
        let ends: Vec<[u32; 2]> = of.segments.iter().map(|segment| segment.ends).collect();
        let (regions, ends) = on.stage("mark constraints", || {
            let regions = of.regions.as_ref().map(|regions| on.upload(regions));
            Ok((regions.transpose()?, on.upload(&ends)?))
        })?;
        Self::of_arrays(on, mesh, regions.as_ref(), Some(&ends))
    }

    /// As [`Constraints::of`], of arrays on the device: the region of each triangle, and the ends of each segment.
    ///
    /// # Errors
    /// As [`Constraints::of`].
    pub fn of_arrays<P: AnyPoint>(
        on: &Device,
        mesh: &DeviceTriangulation<P>,
        regions: Option<&Buffer<i32>>,
        segments: Option<&Buffer<[u32; 2]>>,
    ) -> Result<Option<Self>> {
        let segments = segments.filter(|segments| !segments.is_empty());
        if regions.is_none() && segments.is_none() {
            return Ok(None);
        }
        on.try_stage("mark constraints", || {
            let n = mesh.half_edges();
            let mut edges = on.filled(words(n as usize), Bits::EMPTY)?;
            if let Some(regions) = regions {
                if regions.len() != mesh.triangles() as usize {
                    return Err(Error::Regions {
                        regions: regions.len(),
                        triangles: mesh.triangles(),
                    });
                }
                kernel::mark_region_borders::launch(on, n, mesh.twins(), regions, &mut edges)?;
            }
            if let Some(segments) = segments {
                mark_segments(on, mesh, segments, &mut edges)?;
            }
            Ok(Some(Self {
                mesh: mesh.id(),
                edges,
            }))
        })
    }

    /// The edges of a bit set of half-edges, which has both half-edges of each.
    ///
    /// # Errors
    /// Errors of the device.
    ///
    /// # Panics
    /// When the set is not as long as the mesh has half-edges.
    pub fn of_bits<P: AnyPoint>(
        on: &Device,
        mesh: &DeviceTriangulation<P>,
        edges: &[u32],
    ) -> Result<Self> {
        assert_eq!(edges.len(), words(mesh.half_edges() as usize), "a bit each");
        Ok(Self {
            mesh: mesh.id(),
            edges: on.upload(edges)?.cast(),
        })
    }

    /// The constrained half-edges of `mesh`; `None` without constraints.
    pub(crate) fn edges<'c, P: AnyPoint>(
        constraints: Option<&'c Self>,
        mesh: &DeviceTriangulation<P>,
    ) -> Result<Option<&'c Buffer<Bits<HalfEdge>>>> {
        match constraints {
            None => Ok(None),
            Some(constraints) if constraints.mesh == mesh.id() => Ok(Some(&constraints.edges)),
            Some(_) => Err(Error::OtherMesh {
                arrays: "the constraints",
            }),
        }
    }
}

/// Puts segments, by their ends, into `edges`.
fn mark_segments<P: AnyPoint>(
    on: &Device,
    mesh: &DeviceTriangulation<P>,
    segments: &Buffer<[u32; 2]>,
    edges: &mut Buffer<Bits<HalfEdge>>,
) -> Result<()> {
    let vertices = mesh.points().len();
    let ends: Buffer<Vertex> = on.duplicate(segments)?.cast();
    let (_, wrong) = mark_ids::<Vertex>(on, ends.as_words(), vertices)?;
    if let Some(end) = wrong {
        let segment = end as usize / 2;
        return Err(Error::SegmentOutOfRange { segment });
    }
    let leaving: Csr<Vertex, HalfEdge> = bucket(on, mesh.origins(), vertices)?;
    let mut found = on.filled(1, NONE)?;
    kernel::mark_segments::launch(
        on,
        ends.len() as u32 / 2,
        &ends,
        mesh.origins(),
        mesh.twins(),
        leaving.rows(),
        edges,
        &mut found,
    )?;
    match on.read(&found, 0)? {
        NONE => Ok(()),
        segment => {
            let [from, to] = on.read(segments, segment as usize)?;
            Err(Error::NoEdge { segment, from, to })
        }
    }
}
