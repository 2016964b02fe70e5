//! A surface on a device, with the data known of it.
//!
//! | known | of | made by | handed on by |
//! | --- | --- | --- | --- |
//! | half-edges: twins and border | the triangles | a table of edges, with the checks of a mesh | smoothing: the triangles are the same; refinement, whose sides lead to the twins |
//! | a half-edge of each vertex | the half-edges | a pass over the triangles | every stage that hands on the half-edges |
//! | bounds | the points | a pass over them | refinement: its midpoints lie between the points |
//!
//! Each is made when it is first asked for. Surfaces of the same triangles and other points share the data of the
//! triangles. Half-edges that are known from there spare the table, but not the checks of the points. Where memory is
//! short a device drops known data that are not in use ([`Kept`]), and they are made again.

use std::sync::{Arc, OnceLock};

use bytemuck::Pod;
use glam::DVec3;
use gpu::half_edges as kernel;
use gpu::ids::{HalfEdge, Side, Vertex};
use gpu::refine::SelectedBuffers;
use gpu::refine::find_twins::find_twins;
use gpu::refine::link_sides::link_sides;
use gpu::smooth::Vector;
use trioxide_kernel::launch::Buffer;
use trioxide_kernel::words;

use super::build::{self, Border};
use super::error::Result;
use super::{AnyPoint, check_sizes};
use crate::device::{BitSet, Device, Kept};
use crate::points;

/// The half-edges of T triangles over V vertices, whatever the points.
pub(crate) struct Connectivity {
    vertices: usize,
    pub(super) twins: Buffer<HalfEdge>,
    pub(super) border: Border,
    first: Kept<Buffer<HalfEdge>>,
}

impl Connectivity {
    pub(super) fn new(vertices: usize, (twins, border): (Buffer<HalfEdge>, Border)) -> Self {
        Self {
            vertices,
            twins,
            border,
            first: Kept::default(),
        }
    }

    pub(crate) fn twins(&self) -> &Buffer<HalfEdge> {
        &self.twins
    }

    pub(crate) fn border(&self) -> &Buffer<HalfEdge> {
        &self.border.list
    }

    /// Smallest half-edge that starts at each vertex, `NONE` if none does; V. The half-edges are those of the triangles
    /// with these `origins`.
    pub(crate) fn half_edges_of_vertices(
        &self,
        on: &Device,
        origins: &Buffer<Vertex>,
    ) -> crate::Result<Arc<Buffer<HalfEdge>>> {
        self.first.get_or_make(on, || {
            on.stage("half-edges of vertices", || {
                let mut first = on.filled(self.vertices, HalfEdge::NONE)?;
                let (n, twins) = (self.twins.len() as u32 / 3, &self.twins);
                // SAFETY: origins are vertices of a checked mesh; twins are half-edges or border ones.
                unsafe {
                    kernel::find_half_edges_of_vertices::launch(on, n, origins, twins, &mut first)
                }?;
                Ok(first)
            })
        })
    }
}

/// The numbered edges of a refined mesh: the side of each half-edge.
struct Sides {
    vertices: usize,
    edges: usize,
    sides: Buffer<Side>,
}

impl Sides {
    /// The half-edges of the triangles: the twin of a half-edge is that of the edge's other side.
    fn connectivity(&self, on: &Device) -> Result<Connectivity> {
        let (n, sides) = (self.sides.len() as u32 / 3, &self.sides);
        let halves = on.stage("link sides", || {
            let mut halves = on.filled(2 * self.edges, HalfEdge::NONE)?;
            let selected = SelectedBuffers {
                list: &on.uninitialized(0)?,
                flags: &on.uninitialized(0)?,
                first: 0,
            };
            link_sides::launch(on, n, selected, sides, &mut halves)?;
            Ok(halves)
        })?;
        let (mut twins, boundary) = on.stage("find twins", || {
            let mut twins = on.uninitialized(sides.len())?;
            let mut boundary: BitSet<HalfEdge> = on.uninitialized(words(sides.len()))?;
            find_twins::launch(on, n, sides, &halves, &mut twins, &mut boundary)?;
            Ok((twins, boundary))
        })?;
        let border = on.try_stage("link the border", || {
            build::link_known_border(on, &mut twins, &boundary)
        })?;
        Ok(Connectivity::new(self.vertices, (twins, border)))
    }
}

/// The data known of a list of triangles on a device, whatever the points.
#[derive(Default)]
pub struct Known {
    connectivity: Kept<Connectivity>,
    sides: Kept<Sides>,
}

impl Known {
    /// Notes the sides of the triangles over `vertices` vertices and `edges` edges.
    ///
    /// # Safety
    /// Each edge has one or two half-edges, one for each of its sides.
    pub(crate) unsafe fn of_sides(
        on: &Device,
        vertices: usize,
        edges: usize,
        sides: Buffer<Side>,
    ) -> Arc<Self> {
        let known = Self::default();
        let sides = Sides {
            vertices,
            edges,
            sides,
        };
        known.sides.keep(on, sides);
        Arc::new(known)
    }

    /// The half-edges of triangles with these `origins`, and whether they were built now, with all checks of the
    /// points.
    fn connectivity<P: AnyPoint>(
        &self,
        on: &Device,
        points: &Buffer<P>,
        origins: &Buffer<Vertex>,
    ) -> Result<(Arc<Connectivity>, bool)> {
        let vertices = points.len();
        let build = || -> Result<_> {
            let built = build::twins_and_border(on, points, origins)?;
            Ok(Connectivity::new(vertices, built))
        };
        let mut is_built = false;
        let found = self.connectivity.get_or_make(on, || {
            if let Some(sides) = self.sides.get().filter(|sides| sides.vertices == vertices) {
                return sides.connectivity(on);
            }
            is_built = true;
            build()
        })?;
        self.sides.clear();
        // With another number of vertices the triangles are to be checked again.
        match found.vertices == vertices {
            true => Ok((found, is_built)),
            false => Ok((Arc::new(build()?), true)),
        }
    }
}

/// A surface of T triangles over V vertices on a device, with the data known of it. It may break any rule for meshes:
/// families check what they need, and [`DeviceTriangulation`](super::DeviceTriangulation) has been checked.
pub struct DeviceSurface<P> {
    points: Buffer<P>,
    triangles: Buffer<Vertex>,
    known: Arc<Known>,
    bounds: OnceLock<(DVec3, DVec3)>,
}

impl<P> DeviceSurface<P> {
    /// A surface of which nothing is known.
    pub fn new(points: Buffer<P>, triangles: Buffer<[u32; 3]>) -> Self {
        Self::of_parts(points, triangles.cast(), Arc::default(), None)
    }

    /// A surface with the data known of an equal list of triangles, or of equal points, in other memory.
    ///
    /// # Safety
    /// `known` is of the same list of triangles, or of none so far; `bounds` are those of these points.
    pub unsafe fn with_known(
        points: Buffer<P>,
        triangles: Buffer<[u32; 3]>,
        known: Arc<Known>,
        bounds: Option<(DVec3, DVec3)>,
    ) -> Self {
        Self::of_parts(points, triangles.cast(), known, bounds)
    }

    pub(crate) fn of_parts(
        points: Buffer<P>,
        triangles: Buffer<Vertex>,
        known: Arc<Known>,
        bounds: Option<(DVec3, DVec3)>,
    ) -> Self {
        Self {
            points,
            triangles,
            known,
            bounds: bounds.map(OnceLock::from).unwrap_or_default(),
        }
    }

    /// The same triangles over other points.
    pub fn with_points<Q>(self, points: Buffer<Q>) -> DeviceSurface<Q> {
        DeviceSurface::of_parts(points, self.triangles, self.known, None)
    }

    /// The same triangles over the points that `map` makes of these.
    ///
    /// # Errors
    /// Those of `map`.
    pub fn map_points<Q, E>(
        self,
        map: impl FnOnce(Buffer<P>) -> std::result::Result<Buffer<Q>, E>,
    ) -> std::result::Result<DeviceSurface<Q>, E> {
        let points = map(self.points)?;
        Ok(DeviceSurface::of_parts(
            points,
            self.triangles,
            self.known,
            None,
        ))
    }

    /// The surface with the bounds of its points.
    pub(crate) fn with_bounds(self, bounds: (DVec3, DVec3)) -> Self {
        let bounds = bounds.into();
        Self { bounds, ..self }
    }

    /// Coordinates; V.
    pub fn points(&self) -> &Buffer<P> {
        &self.points
    }

    /// Vertices of the triangles: where each half-edge starts; 3T.
    pub fn origins(&self) -> &Buffer<Vertex> {
        &self.triangles
    }

    /// Number of triangles, T.
    pub fn triangles(&self) -> usize {
        self.triangles.len() / 3
    }

    /// The data known of the triangles.
    pub fn known(&self) -> &Arc<Known> {
        &self.known
    }

    /// Points and triangles.
    pub fn into_arrays(self) -> (Buffer<P>, Buffer<[u32; 3]>) {
        (self.points, self.triangles.cast())
    }

    pub(super) fn into_parts(self) -> (Buffer<P>, Buffer<Vertex>, Arc<Known>) {
        (self.points, self.triangles, self.known)
    }
}

impl<P: Pod> DeviceSurface<P> {
    /// A copy with memory for `points` points and `triangles` triangles, where there are fewer; as much is known of it.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn moved(&self, on: &Device, points: usize, triangles: usize) -> crate::Result<Self> {
        let bounds = self.bounds.get().copied();
        let (points, triangles) = (
            on.moved(&self.points, points)?,
            on.moved(&self.triangles, 3 * triangles)?,
        );
        Ok(Self::of_parts(
            points,
            triangles,
            self.known.clone(),
            bounds,
        ))
    }
}

impl<P: Vector> DeviceSurface<P> {
    /// Lowest and highest coordinates of the points, which are finite.
    ///
    /// # Errors
    /// As [`points::bounds`].
    pub fn bounds(&self, on: &Device) -> crate::Result<(DVec3, DVec3)> {
        if let Some(&bounds) = self.bounds.get() {
            return Ok(bounds);
        }
        let bounds = points::bounds(on, &self.points)?;
        Ok(*self.bounds.get_or_init(|| bounds))
    }
}

impl<P: AnyPoint> DeviceSurface<P> {
    /// The half-edges, and whether they were built now, with all checks of the points.
    pub(crate) fn connectivity(&self, on: &Device) -> Result<(Arc<Connectivity>, bool)> {
        check_sizes(self.points.len(), self.triangles.len())?;
        self.known.connectivity(on, &self.points, &self.triangles)
    }
}
