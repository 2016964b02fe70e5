//! A half-edge triangulation on a device, built there from points and triangles. The kernels are in `gpu::half_edges`,
//! with their theory.
//!
//! ```
//! use glam::DVec2;
//! use trioxide::{Device, half_edges::DeviceTriangulation, mesh::Triangulation};
//!
//! # fn main() -> trioxide::Result<()> {
//! let square = Triangulation {
//!     points: [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)].map(DVec2::from).to_vec(),
//!     triangles: vec![[0, 1, 2], [0, 2, 3]],
//!     ..Triangulation::default()
//! };
//! let on = Device::cpu(None)?;
//! let mesh = DeviceTriangulation::<DVec2>::upload(&on, &square)?;
//! // Half-edge 2 runs from vertex 2 to vertex 0, half-edge 3 back.
//! assert_eq!(on.download(mesh.twins())?[2].index(), 3);
//! assert_eq!(mesh.border().len(), 4);
//! # Ok(())
//! # }
//! ```

mod build;
mod error;
mod remembered;
pub mod rules;
mod surface;
mod turn;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use glam::{DVec2, DVec3, Vec2, Vec3};
use gpu::ids::{HalfEdge, Vertex};
use gpu::point::{MeshPoint, Point2};
use trioxide_kernel::launch::Buffer;

use crate::device::Device;
use crate::mesh::{HalfEdges, Triangulation};
pub(crate) use build::check_elements;
pub use error::{Error, Result};
pub(crate) use error::{too_large, too_small};
pub use remembered::Remembered;
pub(crate) use surface::Connectivity;
pub use surface::{DeviceSurface, Known};
pub use turn::turn_clockwise;

/// Points that a device can hold, of the plane or of a surface in space: `f32` or `f64` coordinates.
pub trait AnyPoint: MeshPoint + PartialEq + std::fmt::Debug {
    /// Checks a mesh of such points on the host, whose errors name all triangles at an edge.
    ///
    /// # Errors
    /// [`crate::Error::Invalid`] with the element and the rule that it breaks.
    fn validate(mesh: &Triangulation<Self::Double>) -> crate::Result<()>;
}

/// Points of the plane that a device can hold.
pub trait Point: AnyPoint + Point2 {}

macro_rules! points {
    ($check:path: $($point:ty),*) => {
        $(impl AnyPoint for $point {
            fn validate(mesh: &Triangulation<Self::Double>) -> crate::Result<()> {
                $check(mesh)
            }
        })*
    };
}
points!(rules::triangles_and_edges: Vec2, DVec2);
points!(rules::surface: Vec3, DVec3);

impl Point for Vec2 {}
impl Point for DVec2 {}

/// Id of a triangulation among all that this process has built on devices; its content never changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MeshId(u64);

impl MeshId {
    fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Relaxed))
    }
}

/// A half-edge triangulation on a device: V points, T triangles, B boundary edges.
///
/// Half-edges 3t + k bound triangle t; ids from 3T on are border half-edges, in the order of
/// [`border`](DeviceTriangulation::border). All ids were checked: kernels may index by them.
pub struct DeviceTriangulation<P> {
    id: MeshId,
    points: Buffer<P>,
    origins: Buffer<Vertex>,
    connectivity: Arc<Connectivity>,
    known: Arc<Known>,
}

/// Most half-edges, with those along the boundary: ids and `NONE` fit an index, and so does the end of the last tile of
/// any kernel.
const MOST_HALF_EDGES: usize = u32::MAX as usize - 4096;
/// Most triangles, three half-edges each.
const MOST_TRIANGLES: usize = MOST_HALF_EDGES / 3;
/// Most vertices: ids and `NONE` fit an index.
const MOST_VERTICES: usize = u32::MAX as usize;

impl<P: AnyPoint> DeviceTriangulation<P> {
    /// Bytes that building takes at once, for V points and T triangles.
    pub fn bytes_needed(points: usize, triangles: usize) -> u64 {
        let words = triangles * (3 + 3) + build::table_slots(points, 3 * triangles, true);
        (points * size_of::<P>() + words * size_of::<u32>()) as u64
    }

    /// Copies a mesh to the device, checks it and builds its half-edges there.
    ///
    /// # Errors
    /// [`Error`] with the offending element and the rule that it breaks, [`crate::Error::OutOfMemory`] among them.
    pub fn upload(on: &Device, mesh: &Triangulation<P::Double>) -> Result<Self> {
        Self::upload_with(on, mesh, [0, 0], None)
    }

    /// As [`DeviceTriangulation::upload`], with memory for `room` points and triangles where the mesh has fewer. It may
    /// be the one that is `remembered`, whose half-edges are not built again.
    ///
    /// # Errors
    /// As [`DeviceTriangulation::upload`].
    pub fn upload_with(
        on: &Device,
        mesh: &Triangulation<P::Double>,
        room: [usize; 2],
        remembered: Option<&Remembered>,
    ) -> Result<Self> {
        check_sizes(mesh.points.len(), 3 * mesh.triangles.len())?;
        on.require(Self::bytes_needed(mesh.points.len(), mesh.triangles.len()))?;
        let surface = DeviceSurface::upload(on, &mesh.points, &mesh.triangles, room, remembered)?;
        Self::of_surface(on, surface).map_err(|error| {
            let is_told = matches!(
                error,
                Error::Mesh(_) | Error::TooLarge { .. } | Error::TooSmall { .. }
            );
            if is_told {
                return error;
            }
            // The host's check names the other triangles too.
            match P::validate(mesh) {
                Ok(()) => error,
                Err(by_host) => by_host.into(),
            }
        })
    }

    /// Checks points and triangles (three origins each) that are on the device, and builds their half-edges. A buffer
    /// of triangles becomes one of origins by `triangles.cast()`.
    ///
    /// # Errors
    /// As [`DeviceTriangulation::upload`].
    pub fn build(on: &Device, points: Buffer<P>, origins: Buffer<Vertex>) -> Result<Self> {
        Self::of_surface(
            on,
            DeviceSurface::of_parts(points, origins, Arc::default(), None),
        )
    }

    /// Checks a surface. Half-edges that are known of it are not built again.
    ///
    /// # Errors
    /// As [`DeviceTriangulation::upload`].
    pub fn of_surface(on: &Device, surface: DeviceSurface<P>) -> Result<Self> {
        let (connectivity, is_checked) = surface.connectivity(on)?;
        let (points, origins, known) = surface.into_parts();
        if !is_checked {
            on.try_stage("check the mesh", || check_elements(on, &points, &origins))?;
        }
        Ok(Self {
            id: MeshId::new(),
            points,
            origins,
            connectivity,
            known,
        })
    }

    /// The surface, with its half-edges known.
    pub fn into_surface(self) -> DeviceSurface<P> {
        DeviceSurface::of_parts(self.points, self.origins, self.known, None)
    }

    /// Smallest half-edge that starts at each vertex, `NONE` if none does; V.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn half_edges_of_vertices(&self, on: &Device) -> crate::Result<Arc<Buffer<HalfEdge>>> {
        self.connectivity.half_edges_of_vertices(on, &self.origins)
    }

    /// Coordinates; V.
    pub fn points(&self) -> &Buffer<P> {
        &self.points
    }

    /// The vertex that each half-edge of a triangle starts at: the triangle list; 3T.
    pub fn origins(&self) -> &Buffer<Vertex> {
        &self.origins
    }

    /// The same edge in the other direction, of each half-edge of a triangle; 3T.
    pub fn twins(&self) -> &Buffer<HalfEdge> {
        &self.connectivity.twins
    }

    /// The twin of each border half-edge, ascending; B.
    pub fn border(&self) -> &Buffer<HalfEdge> {
        &self.connectivity.border.list
    }

    /// The next border half-edge along the boundary; B.
    pub fn border_next(&self) -> &Buffer<HalfEdge> {
        &self.connectivity.border.next
    }

    /// The previous border half-edge along the boundary; B.
    pub fn border_prev(&self) -> &Buffer<HalfEdge> {
        &self.connectivity.border.prev
    }

    /// Number of half-edges of triangles, 3T.
    pub fn half_edges(&self) -> u32 {
        self.twins().len() as u32
    }

    /// Number of triangles, T.
    pub fn triangles(&self) -> u32 {
        self.half_edges() / 3
    }

    /// A copy on the same device, which shares the half-edges.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn duplicate(&self, on: &Device) -> crate::Result<Self> {
        Ok(Self {
            id: self.id,
            points: on.duplicate(&self.points)?,
            origins: on.duplicate(&self.origins)?,
            connectivity: self.connectivity.clone(),
            known: self.known.clone(),
        })
    }

    pub(crate) fn connectivity(&self) -> &Arc<Connectivity> {
        &self.connectivity
    }

    /// The id of this triangulation: arrays that were made for it fit it, and no other.
    pub(crate) fn id(&self) -> MeshId {
        self.id
    }

    /// The half-edges in host memory.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn download(&self, on: &Device) -> crate::Result<HalfEdges> {
        let mut origin: Vec<u32> = on.download_rows(&self.origins)?;
        let mut twin: Vec<u32> = on.download_rows(self.twins())?;
        let n = twin.len() as u32;
        let border: Vec<u32> = on.download_rows(self.border())?;
        let triangle_next = |h: u32| HalfEdge::new(h).next().index();
        let triangle_prev = |h: u32| HalfEdge::new(h).prev().index();
        let mut next: Vec<u32> = (0..n).map(triangle_next).collect();
        let mut prev: Vec<u32> = (0..n).map(triangle_prev).collect();
        next.extend(on.download(self.border_next().as_words())?);
        prev.extend(on.download(self.border_prev().as_words())?);
        // A border half-edge starts where its twin ends.
        for &h in &border {
            origin.push(origin[triangle_next(h) as usize]);
        }
        twin.extend(border);
        Ok(HalfEdges {
            origin,
            twin,
            next,
            prev,
            of_vertex: on.download_rows(&*self.half_edges_of_vertices(on)?)?,
            triangles: n / 3,
        })
    }
}

/// Refuses sizes that 32-bit ids cannot number.
fn check_sizes(vertices: usize, origins: usize) -> Result<()> {
    if !origins.is_multiple_of(3) {
        return Err(Error::NoTriangles { origins });
    }
    if origins / 3 > MOST_TRIANGLES {
        return Err(Error::TooManyTriangles {
            triangles: origins / 3,
        });
    }
    if vertices > MOST_VERTICES {
        return Err(Error::TooManyVertices { vertices });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use trioxide_kernel::words;

    use super::build::check_border;
    use super::*;

    /// A grid of 715 million points, as large as it is generated, has half-edges; with isolated triangles the boundary
    /// ends it sooner.
    #[test]
    fn sizes_are_refused_where_32_bit_ids_end() {
        assert!(check_sizes(715_776_516, 3 * 1_431_446_018).is_ok());
        assert!(check_border(3 * 1_431_446_018, 4 * 26_753).is_ok());
        assert!(check_sizes(4, 3 * MOST_TRIANGLES).is_ok());
        assert!(check_sizes(4, 3 * MOST_TRIANGLES + 3).is_err());
        assert!(check_border(MOST_HALF_EDGES - 9, 9).is_ok());
        let error = check_border(2_200_000_000, 2_200_000_000).unwrap_err();
        let said = error.to_string();
        assert!(
            said.contains("has 4400000000 half-edges with those along its boundary"),
            "{said}"
        );
        // A tile after the last half-edge begins below 2^32.
        let tile = trioxide_collective::TILE.max(trioxide_collective::BIT_TILE) as usize;
        assert!(MOST_HALF_EDGES.next_multiple_of(tile) <= u32::MAX as usize);
        assert!(words(MOST_HALF_EDGES).next_multiple_of(tile) * 32 <= 1 << 32);
    }
}
