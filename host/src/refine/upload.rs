//! Triangulations with edges: from the host to a device.

use gpu::half_edges::is_too_small;
use gpu::ids::{HalfEdge, Side, Vertex};
use gpu::point::DoublePoint;
use gpu::refine::number_edges::{mark_owners, number_sides};
use gpu::refine::tag_segments::tag_segments;
use trioxide_kernel::NONE;
use trioxide_kernel::launch::Buffer;
use trioxide_kernel::rows::RowsBuffers;

use super::edges::{DeviceEdgeMesh, Level, MOST_EDGES, Stale};
use super::error::{Error, Result};
use super::tags::Tags;
use crate::collective::{Csr, bucket, compact};
use crate::device::{BitSet, Device};
use crate::half_edges::{AnyPoint, DeviceTriangulation, Remembered, too_large, too_small};
use crate::mesh::{EdgeTriangulation, Segment, Triangulation};
use crate::rules::topology;

/// Room for refinement beside a mesh: its `ROOM`-th part.
const ROOM: usize = 4;

/// Elements to allocate memory for where there are `len`.
pub fn with_room(len: usize) -> usize {
    len + len / ROOM
}

/// Points to allocate memory for: a round adds no more than there are triangles, each with its longest edge. Unlike
/// triangles, points are not written to new memory in a round, so growing their buffer would cost a copy.
pub fn with_room_for_points(points: usize, triangles: usize) -> usize {
    points + triangles
}

impl<P: AnyPoint> DeviceEdgeMesh<P> {
    /// Bytes that building takes at once, for V points and T triangles.
    pub fn bytes_needed(points: usize, triangles: usize) -> u64 {
        let building = DeviceTriangulation::<P>::bytes_needed(points, triangles);
        // A quarter more than the mesh keeps; sides and halves come while the twins are there.
        let triangle = (3 + 3 + 3) * size_of::<u32>();
        let kept = with_room_for_points(points, triangles) * size_of::<P>()
            + with_room(triangles * triangle);
        building.max((kept + 3 * triangles * size_of::<u32>()) as u64)
    }

    /// Copies a mesh to the device, checks it and builds its edges there: numbered in the order of the half-edges that
    /// own them, the smaller of each two.
    ///
    /// # Errors
    /// Errors of [`DeviceTriangulation::upload`]; [`Error::SegmentVertex`] and [`Error::SegmentWithoutEdge`].
    pub fn upload(on: &Device, mesh: &Triangulation<P::Double>) -> Result<Self> {
        Self::upload_with(on, mesh, None)
    }

    /// As [`DeviceEdgeMesh::upload`], of a mesh that may be the one that is `remembered`.
    ///
    /// # Errors
    /// As [`DeviceEdgeMesh::upload`].
    pub fn upload_with(
        on: &Device,
        mesh: &Triangulation<P::Double>,
        remembered: Option<&Remembered>,
    ) -> Result<Self> {
        on.require(Self::bytes_needed(mesh.points.len(), mesh.triangles.len()))?;
        let (points, triangles) = (mesh.points.len(), mesh.triangles.len());
        let room = [
            with_room_for_points(points, triangles),
            with_room(triangles),
        ];
        let with_twins = DeviceTriangulation::upload_with(on, mesh, room, remembered)?;
        let mut built = Self::build(on, with_twins)?;
        built.tag(on, &mesh.segments)?;
        built.segments.clone_from(&mesh.segments);
        Ok(built)
    }

    /// Numbers the edges of a triangulation on the device.
    ///
    /// # Errors
    /// [`Error::TooManyEdges`]; errors of the device.
    pub fn build(on: &Device, mesh: DeviceTriangulation<P>) -> Result<Self> {
        Ok(Self::build_with_owners(on, mesh)?.0)
    }

    /// As [`DeviceEdgeMesh::build`], with the half-edges that own their edges.
    pub(super) fn build_with_owners(
        on: &Device,
        mesh: DeviceTriangulation<P>,
    ) -> Result<(Self, BitSet<HalfEdge>)> {
        let n = mesh.half_edges();
        let (bits, owners) = on.stage("number edges", || {
            let mut owners = on.uninitialized((n as usize).div_ceil(32))?;
            mark_owners::launch(on, n, mesh.twins(), &mut owners)?;
            let list = compact(on, &owners)?;
            Ok((owners, list))
        })?;
        if owners.len() > MOST_EDGES {
            return Err(Error::TooManyEdges {
                edges: owners.len(),
                most: MOST_EDGES,
            });
        }
        let (sides, halves) = on.stage("number edges", || {
            let mut sides = on.uninitialized(with_room(n as usize))?;
            let mut halves = on.uninitialized(with_room(2 * owners.len()))?;
            sides.set_len(n as usize);
            halves.set_len(2 * owners.len());
            let edges = owners.len() as u32;
            number_sides::launch(on, edges, &owners, mesh.twins(), &mut sides, &mut halves)?;
            Ok((sides, halves))
        })?;
        let (points, corners) = mesh.into_surface().into_arrays();
        Ok((Self::new(on, points, corners.cast(), sides, halves)?, bits))
    }

    /// Copies a mesh with numbered edges to the device; its edges keep their ids. All triangles may run clockwise.
    ///
    /// # Errors
    /// Errors of [`topology`]; [`Error::Orientation`] where a triangle is degenerate or runs the
    /// other way.
    pub fn upload_edges(on: &Device, mesh: &EdgeTriangulation<P::Double>) -> Result<Self> {
        topology(mesh)?;
        let points: Vec<P> = mesh.points.iter().map(|&p| P::from_f64(p)).collect();
        let corners = mesh.corners();
        let clockwise = check_orientation(&points, &corners)?;
        let room = with_room_for_points(points.len(), corners.len());
        let points = on.upload_with_capacity(&points, room)?;
        let corners: &[Vertex] = bytemuck::cast_slice(&corners);
        let corners = on.upload_with_capacity(corners, with_room(corners.len()))?;
        let sides = on.upload(bytemuck::cast_slice(&mesh.triangles))?;
        let halves = on.filled(2 * mesh.edges.len(), HalfEdge::NONE)?;
        let mut built = Self::new(on, points, corners, sides, halves)?;
        built.is_linked = false;
        built.clockwise = clockwise;
        let segments: Vec<Segment> = mesh
            .edges
            .iter()
            .zip(&mesh.tags)
            .filter(|&(_, &marker)| marker != 0)
            .map(|(&ends, &marker)| Segment { ends, marker })
            .collect();
        built.tag(on, &segments)?;
        Ok(built)
    }

    pub(super) fn new(
        on: &Device,
        points: Buffer<P>,
        corners: Buffer<Vertex>,
        sides: Buffer<Side>,
        halves: Buffer<HalfEdge>,
    ) -> crate::Result<Self> {
        let triangles = corners.len() / 3;
        let mut longest = on.uninitialized(with_room(triangles))?;
        longest.set_len(triangles);
        let level = Level {
            vertices: points.len() as u32,
            edges: (halves.len() / 2) as u32,
            triangles: triangles as u32,
        };
        Ok(Self {
            points,
            corners,
            sides,
            halves,
            longest,
            tags: on.uninitialized(0)?,
            markers: Vec::new(),
            segments: Vec::new(),
            parents: on.uninitialized(0)?,
            divided: on.uninitialized(0)?,
            origins: on.uninitialized(0)?,
            levels: vec![level],
            saved: Vec::new(),
            stale: Stale::All,
            is_linked: true,
            clockwise: false,
        })
    }

    /// Tags the edges that are segments.
    fn tag(&mut self, on: &Device, segments: &[Segment]) -> Result<()> {
        if segments.is_empty() {
            return Ok(());
        }
        let vertices = self.level().vertices as usize;
        let tags = Tags::new(segments, vertices)?;
        let missing = on.stage("tag segments", || {
            let around: Csr<Vertex, HalfEdge> = bucket(on, &self.corners, vertices)?;
            let ends = on.upload(bytemuck::cast_slice::<_, Vertex>(&tags.ends))?;
            let values = on.upload(&tags.values)?;
            let mut found = on.filled(1, NONE)?;
            self.tags = on.filled(self.level().edges as usize, 0)?;
            tag_segments::launch(
                on,
                tags.values.len() as u32,
                &ends,
                &values,
                &self.corners,
                &self.sides,
                RowsBuffers {
                    offsets: around.offsets(),
                    items: around.items(),
                },
                &mut self.tags,
                &mut found,
            )?;
            on.read(&found, 0)
        })?;
        self.markers = tags.markers;
        match missing {
            NONE => Ok(()),
            missing => Err(Error::SegmentWithoutEdge {
                ends: tags.ends[missing as usize],
            }),
        }
    }
}

/// Whether all triangles run clockwise, which in space none does. Refuses a degenerate triangle, and one that runs the
/// other way.
///
/// # Errors
/// [`Error::Orientation`], or the [`Error`] of a size that leaves the precision.
pub fn check_orientation<P: AnyPoint>(points: &[P], corners: &[[u32; 3]]) -> Result<bool> {
    let is_large = |p: &P| p.to_f64().largest_coordinate() > P::LARGEST;
    if let Some(v) = points.iter().position(is_large) {
        return Err(too_large::<P>(v as u32).into());
    }
    let is_small = |corners: &[u32; 3]| {
        let [a, b, c] = corners.map(|v| points[v as usize].to_f64());
        is_too_small::<P>(a, b, c)
    };
    if let Some(t) = corners.iter().position(is_small) {
        return Err(too_small::<P>(t as u32).into());
    }
    let turns_left = |[a, b, c]: [u32; 3]| {
        let point = |v: u32| points[v as usize].to_f64();
        P::Double::is_proper(point(a), point(b), point(c))
    };
    let clockwise = corners.first().is_some_and(|&corners| !turns_left(corners));
    let proper = |&[a, b, c]: &[u32; 3]| {
        if clockwise {
            turns_left([a, c, b])
        } else {
            turns_left([a, b, c])
        }
    };
    match corners.iter().position(|corners| !proper(corners)) {
        None => Ok(clockwise),
        Some(triangle) => Err(Error::Orientation { triangle }),
    }
}
