//! The polygonal mesh that a run gives.

use std::sync::Arc;

use gpu::ids::{HalfEdge, Polygon, Triangle, Vertex};
use gpu::polylla::kernels as kernel;
use trioxide_kernel::Bits;
use trioxide_kernel::launch::Buffer;

use super::{Error, PolygonTriangles, Result, WholeIds, digest_of_part};
use crate::collective::{Csr, bucket_long, most_alone};
use crate::device::Device;
use crate::half_edges::{AnyPoint, Connectivity, DeviceTriangulation, MeshId};
use crate::mesh::{Polygons, PolyllaCounts, PolyllaLists, PolyllaMesh};

/// A polygonal mesh on a device, over the half-edges of the triangulation that it was made from: P polygons.
pub struct DevicePolygons {
    pub(super) mesh: MeshId,
    pub(super) next: Buffer<HalfEdge>,
    pub(super) prev: Buffer<HalfEdge>,
    pub(super) frontier: Buffer<Bits<HalfEdge>>,
    pub(super) half_edges: Buffer<HalfEdge>,
    pub(super) lists: Option<Csr<Polygon, Vertex>>,
    pub(super) counts: PolyllaCounts,
}

/// The way back from polygons to the triangles that they were made from, which is found when it is asked for.
pub struct WayBack {
    connectivity: Arc<Connectivity>,
    frontier: Buffer<Bits<HalfEdge>>,
    half_edges: Buffer<HalfEdge>,
}

impl WayBack {
    /// As [`DevicePolygons::triangles`].
    ///
    /// # Errors
    /// Errors of the device.
    pub fn triangles(&self, on: &Device) -> Result<(Buffer<Polygon>, Csr<Polygon, Triangle>)> {
        list_triangles(
            on,
            self.connectivity.twins(),
            &self.frontier,
            &self.half_edges,
        )
    }
}

/// The polygon of each triangle, and the triangles of each polygon; `half_edges` has one half-edge of each polygon.
fn list_triangles(
    on: &Device,
    twins: &Buffer<HalfEdge>,
    frontier: &Buffer<Bits<HalfEdge>>,
    half_edges: &Buffer<HalfEdge>,
) -> Result<(Buffer<Polygon>, Csr<Polygon, Triangle>)> {
    let (count, triangles) = (half_edges.len(), twins.len() / 3);
    on.try_stage("list triangles", || {
        let mut polygons = on.uninitialized(triangles)?;
        let edges = kernel::LabelledBuffers { twins, frontier };
        kernel::assign_triangles::launch(on, count as u32, half_edges, edges, &mut polygons)?;
        // SAFETY: every triangle has one of the polygons (the kernel's documentation).
        let (lists, _) = unsafe { bucket_long(on, &polygons, count, triangles, most_alone(on)) }?;
        Ok((polygons, lists))
    })
}

impl DevicePolygons {
    /// The next half-edge around the polygon, `NONE` inside of polygons; 3T.
    pub fn next(&self) -> &Buffer<HalfEdge> {
        &self.next
    }

    /// The previous half-edge around the polygon, `NONE` inside of polygons; 3T, or empty.
    pub fn prev(&self) -> &Buffer<HalfEdge> {
        &self.prev
    }

    /// The half-edges that bound polygons; 3T bits.
    pub fn frontier(&self) -> &Buffer<Bits<HalfEdge>> {
        &self.frontier
    }

    /// The smallest half-edge of each polygon, ascending; P.
    pub fn half_edges(&self) -> &Buffer<HalfEdge> {
        &self.half_edges
    }

    /// The vertices of each polygon, from the origin of its smallest half-edge; `None` where the options leave them
    /// out.
    pub fn lists(&self) -> Option<&Csr<Polygon, Vertex>> {
        self.lists.as_ref()
    }

    /// The smallest half-edge of each polygon, and the polygons' vertices if the options asked for them, for further
    /// work on the device.
    pub fn into_arrays(self) -> (Buffer<HalfEdge>, Option<Csr<Polygon, Vertex>>) {
        (self.half_edges, self.lists)
    }

    /// The region of each polygon, from the region of each triangle of the `mesh` that the polygons were made from; P.
    /// Without constraints by these regions it is that of the polygon's first triangle.
    ///
    /// # Errors
    /// [`Error::OtherMesh`]; [`Error::Regions`] for a list of another length; errors of the device.
    pub fn regions<P: AnyPoint>(
        &self,
        on: &Device,
        mesh: &DeviceTriangulation<P>,
        regions: &Buffer<i32>,
    ) -> Result<Buffer<i32>> {
        if self.mesh != mesh.id() {
            return Err(Error::OtherMesh {
                arrays: "the polygons",
            });
        }
        if regions.len() != mesh.triangles() as usize {
            return Err(Error::Regions {
                regions: regions.len(),
                triangles: mesh.triangles(),
            });
        }
        let n = self.half_edges.len();
        let mut taken = on.uninitialized(n)?;
        kernel::take_regions::launch(on, n as u32, &self.half_edges, regions, &mut taken)?;
        Ok(taken)
    }

    /// The way back to the `mesh` that the polygons were made from: the polygon of each triangle, T, and the triangles
    /// of each polygon, ascending.
    ///
    /// # Errors
    /// [`Error::OtherMesh`]; errors of the device.
    pub fn triangles<P: AnyPoint>(
        &self,
        on: &Device,
        mesh: &DeviceTriangulation<P>,
    ) -> Result<(Buffer<Polygon>, Csr<Polygon, Triangle>)> {
        if self.mesh != mesh.id() {
            return Err(Error::OtherMesh {
                arrays: "the polygons",
            });
        }
        list_triangles(on, mesh.twins(), &self.frontier, &self.half_edges)
    }

    /// The way back to the `mesh`, for who may ask for it later: it keeps the half-edges.
    ///
    /// # Errors
    /// As [`DevicePolygons::triangles`].
    pub fn way_back<P: AnyPoint>(
        &self,
        on: &Device,
        mesh: &DeviceTriangulation<P>,
    ) -> Result<WayBack> {
        if self.mesh != mesh.id() {
            return Err(Error::OtherMesh {
                arrays: "the polygons",
            });
        }
        Ok(WayBack {
            connectivity: mesh.connectivity().clone(),
            half_edges: on.duplicate(&self.half_edges)?,
            frontier: on.duplicate(&self.frontier)?,
        })
    }

    /// The triangles of each polygon, as [`DevicePolygons::triangles`], in host memory.
    ///
    /// # Errors
    /// As [`DevicePolygons::triangles`].
    pub fn download_triangles<P: AnyPoint>(
        &self,
        on: &Device,
        mesh: &DeviceTriangulation<P>,
    ) -> Result<PolygonTriangles> {
        let (_, lists) = self.triangles(on, mesh)?;
        on.try_stage("copy to the host", || {
            Ok(PolygonTriangles {
                offsets: on.download(lists.offsets())?,
                triangles: on.download_rows(lists.items())?,
            })
        })
    }

    /// Counts of the run.
    pub fn counts(&self) -> PolyllaCounts {
        self.counts
    }

    /// The [digest](crate::digest::of_polygons) of the polygons: no polygon leaves the device.
    ///
    /// # Errors
    /// As [`DevicePolygons::download_lists`].
    pub fn digest(&self, on: &Device) -> Result<u64> {
        let lists = self.lists.as_ref().ok_or(Error::NoLists)?;
        let all = WholeIds::From(0);
        // SAFETY: the lists are those of a run, and all ids are their own.
        Ok(unsafe { digest_of_part(on, &self.half_edges, lists, all, all) }?)
    }

    /// The polygons as lists, in host memory.
    ///
    /// # Errors
    /// [`Error::NoLists`]; errors of the device.
    pub fn download_lists(&self, on: &Device) -> Result<Polygons> {
        let lists = self.lists.as_ref().ok_or(Error::NoLists)?;
        on.try_stage("copy to the host", || Ok(download_lists(on, lists)?))
    }

    /// The polygons as lists, the half-edge of each, and the counts, in host memory.
    ///
    /// # Errors
    /// As [`DevicePolygons::download_lists`].
    pub fn download(&self, on: &Device) -> Result<PolyllaLists> {
        Ok(PolyllaLists {
            polygons: self.download_lists(on)?,
            half_edges: on.download_rows(&self.half_edges)?,
            counts: self.counts,
        })
    }

    /// The whole half-edge mesh in host memory; border half-edges keep their place along the boundary of `mesh`, the
    /// triangulation that the polygons were made from.
    ///
    /// # Errors
    /// [`Error::OtherMesh`]; errors of [`DevicePolygons::download_lists`].
    pub fn download_mesh<P: AnyPoint>(
        &self,
        on: &Device,
        mesh: &DeviceTriangulation<P>,
    ) -> Result<PolyllaMesh> {
        if self.mesh != mesh.id() {
            return Err(Error::OtherMesh {
                arrays: "the polygons",
            });
        }
        let mut next = on.download(self.next.as_words())?;
        let mut prev = on.download(self.prev.as_words())?;
        next.extend(on.download(mesh.border_next().as_words())?);
        if self.prev.len() == self.next.len() {
            prev.extend(on.download(mesh.border_prev().as_words())?);
        }
        Ok(PolyllaMesh {
            next,
            prev,
            half_edges: on.download_rows(&self.half_edges)?,
            polygons: self.download_lists(on)?,
            counts: self.counts,
        })
    }
}

/// Lists of vertices in host memory.
pub(crate) fn download_lists(on: &Device, lists: &Csr<Polygon, Vertex>) -> crate::Result<Polygons> {
    Ok(Polygons {
        offsets: on.download(lists.offsets())?,
        vertices: on.download_rows(lists.items())?,
    })
}
