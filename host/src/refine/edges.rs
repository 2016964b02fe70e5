//! A triangulation with edges on a device, and how it gets there.

use glam::DVec2;
use gpu::orientation::is_counter_clockwise;
use gpu::refine as kernel;
use trioxide_kernel::launch::Buffer;

use super::coarsen::Saved;
use super::tags::{Tags, no_edge};
use super::{Level, Stale};
use crate::backend::Device;
use crate::collective::{Csr, bucket, compact};
use crate::half_edges::{DeviceTriangulation, Point};
use crate::mesh::{EdgeTriangulation, NONE, Segment, Triangulation};
use crate::{Error, Result, validate};

/// A triangulation with edges on a device, at some level of refinement; `gpu::refine` describes the arrays.
///
/// It remembers what its rounds made of the input: N new triangles and D new vertices so far.
pub struct EdgeMesh<P> {
    /// Coordinates; V.
    pub points: Buffer<P>,
    /// Vertices of each triangle; 3T.
    pub corners: Buffer<u32>,
    /// Sides of each triangle; 3T.
    pub sides: Buffer<u32>,
    /// Half-edge of each side; 2E, of the last round's beginning.
    pub(super) halves: Buffer<u32>,
    /// Which side of each triangle is the longest; T, as `halves`.
    pub(super) longest: Buffer<u8>,
    /// See [`EdgeMesh::tags`].
    pub(super) tags: Buffer<u32>,
    /// Markers of the input's segments, ascending.
    pub(super) markers: Vec<i32>,
    /// Triangle of the round before that each new triangle is a part of; N.
    pub parents: Buffer<u32>,
    /// Edge of the round before that each new vertex divides; D.
    pub divided: Buffer<u32>,
    /// Start and end of that edge; D.
    pub origins: Buffer<u64>,
    /// Counts of the input, and after each round.
    pub(super) levels: Vec<Level>,
    /// For each round what it overwrote, if that is kept.
    pub(super) saved: Vec<Option<Saved>>,
    pub(super) stale: Stale,
    /// Whether `halves` are those of all sides.
    pub(super) is_linked: bool,
    /// Whether all triangles run clockwise: y points down.
    pub(super) clockwise: bool,
}

/// Room for refinement beside a mesh: a part in so many.
const ROOM: usize = 4;

/// Elements to have memory for where there are `len`.
pub fn with_room(len: usize) -> usize {
    len + len / ROOM
}

/// Points to have memory for: a round adds no more than there are triangles, each with its longest edge. Unlike triangles, points are
/// not written elsewhere in passing, so they would have to be moved.
pub fn with_room_for_points(points: usize, triangles: usize) -> usize {
    points + triangles
}

impl<P: Point> EdgeMesh<P> {
    /// Bytes that building takes at once, for V points and T triangles.
    pub fn bytes_needed(points: usize, triangles: usize) -> u64 {
        let building = DeviceTriangulation::<P>::bytes_needed(points, triangles);
        // A quarter more of what the mesh keeps; sides and halves come while the twins are there.
        let triangle = (3 + 3 + 3) * size_of::<u32>();
        let kept = with_room_for_points(points, triangles) * size_of::<P>()
            + with_room(triangles * triangle);
        building.max((kept + 3 * triangles * size_of::<u32>()) as u64)
    }

    /// Copies a mesh to the device, checks it and builds its edges there: numbered in the order of the half-edges that own
    /// them, the smaller of each two.
    ///
    /// # Errors
    /// Those of [`DeviceTriangulation::upload`]; [`Error::Invalid`] for a segment that is no edge.
    pub fn upload(on: &Device, mesh: &Triangulation) -> Result<Self> {
        on.require(Self::bytes_needed(mesh.points.len(), mesh.triangles.len()))?;
        let (points, triangles) = (mesh.points.len(), mesh.triangles.len());
        let room = [
            with_room_for_points(points, triangles),
            with_room(3 * triangles),
        ];
        let with_twins = DeviceTriangulation::upload_with_room(on, mesh, room)?;
        let mut built = Self::build(on, with_twins)?;
        built.tag(on, &mesh.segments)?;
        Ok(built)
    }

    /// Numbers the edges of a triangulation on the device.
    ///
    /// # Errors
    /// Those of the device.
    pub fn build(on: &Device, mesh: DeviceTriangulation<P>) -> Result<Self> {
        on.stage("number edges", || {
            let n = mesh.half_edges();
            let mut owners = on.uninitialized(n.div_ceil(32) as usize)?;
            unsafe { kernel::mark_owners::launch(on, n, mesh.twins().as_words(), &mut owners) }?;
            let owners = compact(on, &owners)?;
            let mut sides = on.uninitialized(with_room(n as usize))?;
            let mut halves = on.uninitialized(with_room(2 * owners.len()))?;
            sides.set_len(n as usize);
            halves.set_len(2 * owners.len());
            let edges = owners.len() as u32;
            unsafe {
                kernel::number_sides::launch(
                    on,
                    edges,
                    &owners,
                    mesh.twins().as_words(),
                    &mut sides,
                    &mut halves,
                )
            }?;
            let (points, origins, _) = mesh.into_parts();
            Self::new(on, points, origins.cast(), sides, halves)
        })
    }

    /// Copies a mesh with numbered edges to the device; its edges keep their ids. All triangles may run clockwise.
    ///
    /// # Errors
    /// [`Error::Invalid`] where sides and edges do not fit, or a triangle is degenerate or runs the other way.
    pub fn upload_edges(on: &Device, mesh: &EdgeTriangulation<DVec2>) -> Result<Self> {
        validate::refine::topology(mesh)?;
        let points: Vec<P> = mesh.points.iter().map(|&p| P::from_f64(p)).collect();
        let corners = mesh.corners();
        let clockwise = check_orientation(&points, &corners)?;
        let room = with_room_for_points(points.len(), corners.len());
        let points = on.upload_with_capacity(&points, room)?;
        let corners = corners.as_flattened();
        let corners = on.upload_with_capacity(corners, with_room(corners.len()))?;
        let sides = on.upload(mesh.triangles.as_flattened())?;
        let halves = on.filled(2 * mesh.edges.len(), NONE)?;
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

    fn new(
        on: &Device,
        points: Buffer<P>,
        corners: Buffer<u32>,
        sides: Buffer<u32>,
        halves: Buffer<u32>,
    ) -> Result<Self> {
        let triangles = corners.len() / 3;
        let mut longest = on.uninitialized(with_room(triangles))?;
        longest.set_len(triangles);
        let level = Level {
            vertices: points.len() as u32,
            edges: halves.len() as u32 / 2,
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

    /// Tags the edges that are segments. Of segments between the same vertices the first counts.
    fn tag(&mut self, on: &Device, segments: &[Segment]) -> Result<()> {
        if segments.is_empty() {
            return Ok(());
        }
        on.stage("tag segments", || {
            let vertices = self.level().vertices as usize;
            let tags = Tags::new(segments, vertices)?;
            let around: Csr<u32, u32> = bucket(on, &self.corners, vertices)?;
            let ends = on.upload(tags.ends.as_flattened())?;
            let values = on.upload(&tags.values)?;
            let mut found = on.filled(1, NONE)?;
            self.tags = on.filled(self.level().edges as usize, 0)?;
            unsafe {
                kernel::tag_segments::launch(
                    on,
                    tags.values.len() as u32,
                    &ends,
                    &values,
                    &self.corners,
                    &self.sides,
                    around.offsets(),
                    around.items(),
                    &mut self.tags,
                    &mut found,
                )
            }?;
            self.markers = tags.markers;
            match on.read(&found, 0)? {
                NONE => Ok(()),
                missing => Err(no_edge(tags.ends[missing as usize])),
            }
        })
    }

    /// A copy on the same machine, with the same room; without its history.
    ///
    /// # Errors
    /// Those of the device.
    pub fn duplicate(&self, on: &Device) -> Result<Self> {
        let copy = |buffer: &Buffer<u32>| on.moved(buffer, buffer.capacity());
        Ok(Self {
            points: on.moved(&self.points, self.points.capacity())?,
            corners: copy(&self.corners)?,
            sides: copy(&self.sides)?,
            halves: copy(&self.halves)?,
            longest: on.moved(&self.longest, self.longest.capacity())?,
            tags: copy(&self.tags)?,
            markers: self.markers.clone(),
            parents: copy(&self.parents)?,
            divided: copy(&self.divided)?,
            origins: on.moved(&self.origins, self.origins.capacity())?,
            levels: self.levels.clone(),
            saved: self.saved.iter().map(|_| None).collect(),
            stale: match &self.stale {
                Stale::None => Stale::None,
                Stale::All | Stale::Some(..) => Stale::All,
            },
            is_linked: self.is_linked,
            clockwise: self.clockwise,
        })
    }

    /// Counts now.
    pub fn level(&self) -> Level {
        *self.levels.last().expect("the input is a level")
    }

    /// Tag of each edge: 0, or one more than the rank of its marker among those of the input; E, or empty.
    pub fn tags(&self) -> &Buffer<u32> {
        &self.tags
    }

    /// Half-edge of each side, `NONE` beyond the boundary, since the last [`EdgeMesh::label`]; 2E.
    pub fn halves(&self) -> &Buffer<u32> {
        &self.halves
    }

    /// Which side of each triangle is the longest, since the last [`EdgeMesh::label`]; T.
    pub fn longest(&self) -> &Buffer<u8> {
        &self.longest
    }

    /// Counts of the input, and after each round.
    pub fn levels(&self) -> &[Level] {
        &self.levels
    }
}

/// Whether all triangles run clockwise; that they all run the same way, and none is degenerate, is checked.
pub(super) fn check_orientation<P: Point>(points: &[P], corners: &[[u32; 3]]) -> Result<bool> {
    let turns_left = |[a, b, c]: [u32; 3]| {
        let point = |v: u32| points[v as usize].to_f64();
        is_counter_clockwise(point(a), point(b), point(c))
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
        Some(t) => Err(Error::Invalid {
            element: format!("triangle {t}"),
            rule: "is degenerate in the chosen precision, or does not run the way of triangle 0"
                .to_owned(),
        }),
    }
}
