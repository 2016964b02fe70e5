//! A triangulation with edges on a device.

use gpu::ids::{Edge, HalfEdge, Side, Triangle, Vertex};
use gpu::refine::Ends;
use trioxide_kernel::launch::Buffer;

use crate::Result;
use crate::device::{BitSet, Device};
use crate::half_edges::AnyPoint;
use crate::mesh::Segment;

/// A triangulation with edges on a device, at some level of refinement; [`gpu::refine`] describes the arrays.
///
/// It keeps the record of its rounds: N new triangles and D new vertices so far. It is made from checked meshes only:
/// corners are below V, sides below 2E, half-edges below 3T; each edge has an owner.
pub struct DeviceEdgeMesh<P> {
    pub(super) points: Buffer<P>,
    pub(super) corners: Buffer<Vertex>,
    pub(super) sides: Buffer<Side>,
    /// 2E, of the last round's beginning.
    pub(super) halves: Buffer<HalfEdge>,
    /// T, as `halves`.
    pub(super) longest: Buffer<u8>,
    pub(super) tags: Buffer<u32>,
    /// The markers of an edge's segments: each list of the input once, ascending.
    pub(super) markers: Vec<Vec<i32>>,
    /// The segments of the input, unless that is given by edges.
    pub(super) segments: Vec<Segment>,
    pub(super) parents: Buffer<Triangle>,
    pub(super) divided: Buffer<Edge>,
    pub(super) origins: Buffer<Ends>,
    /// Counts of the input, and after each round.
    pub(super) levels: Vec<Level>,
    /// For each round the triangles that it overwrote, if they are kept.
    pub(super) saved: Vec<Option<Saved>>,
    pub(super) stale: Stale,
    /// Whether `halves` has the half-edges of all sides.
    pub(super) is_linked: bool,
    /// Whether all triangles run clockwise: y points down.
    pub(super) clockwise: bool,
}

/// Counts of a mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    /// V.
    pub vertices: u32,
    /// E.
    pub edges: u32,
    /// T.
    pub triangles: u32,
}

/// Triangles whose longest edge is not known.
pub(super) enum Stale {
    None,
    All,
    /// The triangles of the half-edges in the list, which the set flags too, and all triangles from an id on.
    Some(Buffer<HalfEdge>, BitSet<HalfEdge>, u32),
}

/// The A divided triangles that a round overwrote.
pub(super) struct Saved {
    /// Ids; A.
    pub triangles: Buffer<Triangle>,
    pub corners: Buffer<Vertex>,
    pub sides: Buffer<Side>,
    pub tags: Buffer<u32>,
}

/// Most edges: a side and a flag fit an index.
pub(super) const MOST_EDGES: usize = 1 << 30;

impl<P: AnyPoint> DeviceEdgeMesh<P> {
    /// A copy on the same machine, with the same room; without its history.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn duplicate(&self, on: &Device) -> Result<Self> {
        fn copy<T: bytemuck::Pod>(on: &Device, buffer: &Buffer<T>) -> Result<Buffer<T>> {
            on.moved(buffer, buffer.capacity())
        }
        let longest = match &self.stale {
            Stale::None => copy(on, &self.longest)?,
            // Found anew.
            Stale::All | Stale::Some(..) => {
                let mut longest = on.uninitialized(self.longest.capacity())?;
                on.resize(&mut longest, self.longest.len())?;
                longest
            }
        };
        Ok(Self {
            points: copy(on, &self.points)?,
            corners: copy(on, &self.corners)?,
            sides: copy(on, &self.sides)?,
            halves: copy(on, &self.halves)?,
            longest,
            tags: copy(on, &self.tags)?,
            markers: self.markers.clone(),
            segments: self.segments.clone(),
            parents: copy(on, &self.parents)?,
            divided: copy(on, &self.divided)?,
            origins: copy(on, &self.origins)?,
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

    /// Counts of the input, and after each round.
    pub fn levels(&self) -> &[Level] {
        &self.levels
    }

    /// Coordinates; V.
    pub fn points(&self) -> &Buffer<P> {
        &self.points
    }

    /// Vertices of each triangle: where each half-edge starts; 3T.
    pub fn corners(&self) -> &Buffer<Vertex> {
        &self.corners
    }

    /// Side of each half-edge; 3T.
    pub fn sides(&self) -> &Buffer<Side> {
        &self.sides
    }

    /// Half-edge of each side, `NONE` beyond the boundary, since the last [`DeviceEdgeMesh::label`]; 2E.
    pub fn halves(&self) -> &Buffer<HalfEdge> {
        &self.halves
    }

    /// Longest side of each triangle, 0 to 2, since the last [`DeviceEdgeMesh::label`]; T.
    pub fn longest(&self) -> &Buffer<u8> {
        &self.longest
    }

    /// Tag of each edge: 0, or one more than the rank of its segments' markers among such lists of the input; E, or
    /// empty.
    pub fn tags(&self) -> &Buffer<u32> {
        &self.tags
    }

    /// Triangle of the round before that each new triangle is a part of; N.
    pub fn parents(&self) -> &Buffer<Triangle> {
        &self.parents
    }

    /// Edge of the round before that each new vertex divides; D.
    pub fn divided(&self) -> &Buffer<Edge> {
        &self.divided
    }

    /// Start and end of that edge; D.
    pub fn origins(&self) -> &Buffer<Ends> {
        &self.origins
    }
}
