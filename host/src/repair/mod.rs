//! Repair of triangle meshes, step by step, on a device. The kernels are in [`gpu::repair`], with the definition of
//! each step and its proof.
//!
//! ```
//! use glam::DVec3;
//! use trioxide::{Device, repair};
//!
//! # fn main() -> trioxide::Result<()> {
//! let on = Device::cpu(None)?;
//! // A tetrahedron, one of whose faces is turned, and a face that is there twice.
//! let points = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
//! let triangles = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 2, 3], [3, 1, 2]];
//! let steps = repair::Steps {
//!     repeated: true,
//!     orient: true,
//!     ..repair::Steps::default()
//! };
//! let repaired = repair::repair(&on, &points, &triangles, &[], &steps)?;
//! assert_eq!(repaired.triangles, [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]]);
//! assert_eq!((repaired.counts.repeated, repaired.counts.turned), (1, 1));
//! assert_eq!(repaired.faces, [0, 1, 2, 3]);
//! # Ok(())
//! # }
//! ```

mod boundary;
mod cut;
mod degenerate;
mod ears;
mod exact;
mod fold;
mod holes;
mod left;
mod nesting;
mod orient;
mod pairs;
mod segments;
mod split;
mod stars;
mod state;
mod survey;
mod ways;

use glam::DVec3;
use gpu::ids::{Triangle, Vertex};
use gpu::repair as kernel;
use trioxide_kernel::launch::Buffer;

use crate::device::Device;
use crate::mesh::Segment;
use crate::reorder::{Carried, pick};
use crate::{Error, Result};
use state::{HostPoints, State};

pub use holes::MOST_EDGES_BY_AREA;
pub use left::{HolesLeft, Obstacle};
pub use orient::{orient_polygons, turn_polygons};
pub use survey::{Survey, survey};

/// Most passes over the steps. More than one is needed where a step lets a degenerate face be treated, or a hole be
/// filled, that could not be before.
const MOST_PASSES: usize = 16;

/// The steps to take, in their order; none by default.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Steps {
    /// Drop repeated faces.
    pub repeated: bool,
    /// Treat degenerate faces: of a height of at most this many times the longest edge.
    pub degenerate: Option<f64>,
    /// Part surfaces at edges of three or more faces.
    pub edges: bool,
    /// Part surfaces that touch at a vertex.
    pub vertices: bool,
    /// Cut one-sided components open.
    pub cut: bool,
    /// Orient components.
    pub orient: bool,
    /// Unfold a mesh of the plane.
    pub folded: bool,
    /// Fill holes of at most this many edges.
    pub holes: Option<u32>,
    /// Drop components of fewer faces.
    pub components: Option<u32>,
    /// Turn all faces.
    pub flip: bool,
    /// Drop vertices that no face and no segment has.
    pub unused: bool,
}

impl Steps {
    /// Refuses values out of range.
    ///
    /// # Errors
    /// [`Error::Argument`].
    pub fn check(&self) -> Result<()> {
        if let Some(ratio) = self.degenerate
            && !(0.0..=0.5).contains(&ratio)
        {
            return Err(Error::Argument(format!(
                "a degenerate face's height of {ratio} longest edges: choose 0 to 0.5"
            )));
        }
        match self.holes {
            Some(edges) if edges < 3 => Err(Error::Argument(format!(
                "holes of at most {edges} edges: choose 3 or more"
            ))),
            _ => Ok(()),
        }
    }
}

/// Changes of a repair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Repeated faces that went.
    pub repeated: u64,
    /// Edges of needles that collapsed.
    pub collapsed: u64,
    /// Edges of caps that flipped.
    pub flipped: u64,
    /// Degenerate faces that went without either: at the boundary, or with a vertex twice.
    pub dropped: u64,
    /// Degenerate faces that remain.
    pub degenerate_left: u64,
    /// Edges of three or more faces.
    pub crowded: u64,
    /// Vertices of which copies were made.
    pub split: u64,
    /// The copies.
    pub copies: u64,
    /// Edges of one-sided components that were cut open.
    pub cut: u64,
    /// Faces that were turned.
    pub turned: u64,
    /// One-sided components, which have no orientation.
    pub one_sided: u64,
    /// Edges of folded faces that flipped.
    pub unfolded: u64,
    /// Folded faces that went.
    pub dropped_folded: u64,
    /// Holes that were filled.
    pub filled: u64,
    /// Their faces.
    pub hole_faces: u64,
    /// Holes that are left; the result has the reasons.
    pub holes_left: u64,
    /// Small components that went.
    pub components: u64,
    /// Their faces.
    pub component_faces: u64,
    /// Faces that were turned over at the end, with all others.
    pub turned_over: u64,
    /// Vertices that went because they never had a face.
    pub unused: u64,
    /// Segments that went, because no face has their edge or a lower one has their vertices and marker.
    pub segments: u64,
}

impl Counts {
    /// Adds the changes of a later repair of the result. Its numbers of faults that are left replace these.
    pub fn append(&mut self, later: &Self) {
        let sums = [
            (&mut self.repeated, later.repeated),
            (&mut self.collapsed, later.collapsed),
            (&mut self.flipped, later.flipped),
            (&mut self.dropped, later.dropped),
            (&mut self.crowded, later.crowded),
            (&mut self.split, later.split),
            (&mut self.copies, later.copies),
            (&mut self.cut, later.cut),
            (&mut self.turned, later.turned),
            (&mut self.unfolded, later.unfolded),
            (&mut self.dropped_folded, later.dropped_folded),
            (&mut self.filled, later.filled),
            (&mut self.hole_faces, later.hole_faces),
            (&mut self.components, later.components),
            (&mut self.component_faces, later.component_faces),
            (&mut self.turned_over, later.turned_over),
            (&mut self.unused, later.unused),
            (&mut self.segments, later.segments),
        ];
        sums.into_iter().for_each(|(sum, more)| *sum += more);
        self.degenerate_left = later.degenerate_left;
        self.one_sided = later.one_sided;
        self.holes_left = later.holes_left;
    }
}

/// A repaired mesh and its maps. Positions do not change.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Repaired {
    /// Vertices of the faces.
    pub triangles: Vec<[u32; 3]>,
    /// The old id of each vertex. That of a copy is the vertex that it is a copy of.
    pub vertices: Vec<u32>,
    /// The old id of each face, whose data it has. That of a face in a hole is a face at the hole.
    pub faces: Vec<u32>,
    /// Old vertices that collapsed into others, each with the other one's old id, in the order of the collapses.
    pub merged: Vec<[u32; 2]>,
    /// The segments that are left, by the new ids of their ends.
    pub segments: Vec<Segment>,
    /// The old id of each segment. Where an edge has copies, its segment is there for each.
    pub sides: Vec<u32>,
    /// The holes that are left, by reasons.
    pub holes: Vec<HolesLeft>,
    /// The changes.
    pub counts: Counts,
}

/// Bytes that a repair takes at once on a device.
pub fn bytes_needed(points: usize, triangles: usize) -> u64 {
    96 * triangles as u64 + 44 * points as u64
}

/// A repaired mesh on a device, and its maps, as of [`Repaired`].
pub struct DeviceRepaired {
    /// Vertices of the faces.
    pub triangles: Buffer<[Vertex; 3]>,
    /// The old id of each vertex.
    pub vertices: Buffer<Vertex>,
    /// The old id of each face.
    pub faces: Buffer<Triangle>,
    /// Old vertices that collapsed into others.
    pub merged: Vec<[u32; 2]>,
    /// The segments that are left, by the new ids of their ends.
    pub segments: Vec<Segment>,
    /// The old id of each segment. Where an edge has copies, its segment is there for each.
    pub sides: Vec<u32>,
    /// The holes that are left, by reasons.
    pub holes: Vec<HolesLeft>,
    /// The changes.
    pub counts: Counts,
}

impl DeviceRepaired {
    /// Data of the vertices, from those of the old ones.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn of_vertices<T: Carried>(&self, on: &Device, values: &Buffer<T>) -> Result<Buffer<T>> {
        pick(on, values, &self.vertices)
    }

    /// Data of the faces, from those of the old ones.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn of_faces<T: Carried>(&self, on: &Device, values: &Buffer<T>) -> Result<Buffer<T>> {
        pick(on, values, &self.faces)
    }

    /// The result in host memory.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn download(self, on: &Device) -> Result<Repaired> {
        on.stage("copy to the host", || {
            Ok(Repaired {
                triangles: on.download_rows(&self.triangles)?,
                vertices: on.download_rows(&self.vertices)?,
                faces: on.download_rows(&self.faces)?,
                merged: self.merged,
                segments: self.segments,
                sides: self.sides,
                holes: self.holes,
                counts: self.counts,
            })
        })
    }
}

/// Repairs a mesh. Its `segments` follow each change.
///
/// # Errors
/// Those of [`Steps::check`]; [`Error::Invalid`] for a vertex that is not there, and a coordinate that is no finite
/// number; [`Error::Argument`] for more elements than ids; errors of the device.
pub fn repair(
    on: &Device,
    points: &[DVec3],
    triangles: &[[u32; 3]],
    segments: &[Segment],
    steps: &Steps,
) -> Result<Repaired> {
    steps.check()?;
    let (there, faces) = upload(on, points, triangles)?;
    let here = HostPoints::of(points);
    let state = State::new(on, &there, faces)?;
    take_steps(state, &here, segments, steps)?.download(on)
}

/// As [`repair()`], of a mesh that is on the device, where the result stays.
///
/// # Errors
/// As [`repair()`].
pub fn repair_on_device(
    on: &Device,
    points: &Buffer<DVec3>,
    triangles: &Buffer<[Vertex; 3]>,
    segments: &[Segment],
    steps: &Steps,
) -> Result<DeviceRepaired> {
    steps.check()?;
    on.require(bytes_needed(points.len(), triangles.len()))?;
    let state = State::new(on, points, on.duplicate(triangles)?)?;
    take_steps(state, &HostPoints::default(), segments, steps)
}

/// Copies a mesh to the device.
fn upload(
    on: &Device,
    points: &[DVec3],
    triangles: &[[u32; 3]],
) -> Result<(Buffer<DVec3>, Buffer<[Vertex; 3]>)> {
    on.require(bytes_needed(points.len(), triangles.len()))?;
    on.stage("copy to the device", || {
        Ok((on.upload(points)?, on.upload(triangles)?.cast()))
    })
}

fn take_steps(
    mut state: State<'_>,
    points: &HostPoints<'_>,
    segments: &[Segment],
    steps: &Steps,
) -> Result<DeviceRepaired> {
    let mut counts = Counts::default();
    state.follow(segments)?;
    for _ in 0..MOST_PASSES {
        if steps.repeated {
            counts.repeated += state.drop_repeated()?;
        }
        if let Some(ratio) = steps.degenerate {
            state.treat_degenerate(points, ratio, &mut counts)?;
        }
        let before = changes(&counts);
        if steps.edges {
            state.part_edges(points, &mut counts)?;
        }
        if steps.vertices {
            state.part_vertices(&mut counts)?;
        }
        if steps.cut {
            state.cut(&mut counts)?;
        }
        if steps.orient {
            state.orient(points, &mut counts)?;
        }
        let folded = [counts.unfolded, counts.dropped_folded];
        if steps.folded {
            state.unfold(points, &mut counts)?;
        }
        let is_unfolded = [counts.unfolded, counts.dropped_folded] != folded;
        if let Some(most) = steps.holes {
            let ratio = steps.degenerate.unwrap_or(0.0);
            state.fill_holes(points, most, ratio, &mut counts)?;
        }
        if let Some(least) = steps.components {
            state.drop_small(least, &mut counts)?;
        }
        // Faces that were refused may be treated now, and holes have other neighbours without a component. Unfolded
        // faces may be degenerate, and surfaces may touch where folded ones were.
        let is_left = counts.degenerate_left > 0 || steps.holes.is_some() || is_unfolded;
        if !is_left || before == changes(&counts) {
            break;
        }
    }
    if steps.flip {
        state.flip(&mut counts)?;
    }
    if steps.unused {
        state.choose_unused(&mut counts)?;
    }
    state.finish(counts, segments.len())
}

/// The numbers of changes by the steps after the degenerate faces.
fn changes(counts: &Counts) -> [u64; 6] {
    [
        counts.copies,
        counts.turned,
        counts.unfolded,
        counts.dropped_folded,
        counts.filled,
        counts.component_faces,
    ]
}

/// Number of different ids.
fn distinct(ids: &mut Vec<u32>) -> u64 {
    ids.sort_unstable();
    ids.dedup();
    ids.len() as u64
}

/// The lower one first.
fn sorted([a, b]: [u32; 2]) -> [u32; 2] {
    [a.min(b), a.max(b)]
}

/// Whether a face of these corners is degenerate.
fn is_flat(corners: [DVec3; 3], ratio: f64) -> bool {
    kernel::is_flat(corners, ratio)
}
