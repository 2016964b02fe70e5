//! Nested levels of a mesh of polygons or polyhedra: the pieces of each level are unions of 1 to 4 pieces of the one
//! before. The kernels are in [`gpu::levels`], with the definition and its proofs.
//!
//! ```
//! use trioxide::Device;
//! use trioxide::levels::{Goal, levels};
//! use trioxide::mesh::{PolygonMesh, Polygons};
//!
//! # fn main() -> trioxide::Result<()> {
//! let on = Device::cpu(None)?;
//! let mesh = trioxide::generate::grid(100)?;
//! let mesh = PolygonMesh {
//!     points: mesh.points,
//!     polygons: Polygons::from(mesh.triangles),
//!     ..PolygonMesh::default()
//! };
//! let nested = levels(&on, &mesh, Goal { levels: Some(2), until: None })?;
//! assert_eq!(nested.levels(), 2);
//! // The pieces of level 2, with all vertices of the triangles on their outlines.
//! let pieces = nested.mesh(&mesh, 2);
//! assert_eq!(pieces.polygons.len(), nested.pieces(2));
//! # Ok(())
//! # }
//! ```

mod borders;
mod join;
mod lists;
mod nested;
mod shells;
mod sides;
mod solid;

use gpu::ids::Item;
use gpu::point::DoublePoint;
use trioxide_kernel::launch::Buffer;
use trioxide_kernel::{Bits, Word};

use crate::collective::compact;
use crate::device::Device;
use crate::mesh::PolygonMesh;
use crate::polyhedra_mesh::PolyhedralMesh;
use crate::reorder::pick;
use crate::{Error, Result};
use sides::Sides;

pub use gpu::levels::{Extent, hash};
pub use nested::{DeviceNested, Nested};
pub use sides::DevicePolygonMesh;
pub use solid::DevicePolyhedralMesh;

/// The largest ratio of a piece's box, unless the pieces that it is made of have a larger one.
pub const MOST_RATIO: f64 = 4.0;

/// Where levels end: at the first of the limits that is reached. Without limits there are no levels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Goal {
    /// Most levels.
    pub levels: Option<usize>,
    /// No level after one of as many pieces, or fewer.
    pub until: Option<usize>,
}

impl Goal {
    /// Whether there is a level after `levels` levels, of which the last has `pieces` pieces.
    pub fn wants_more(self, levels: usize, pieces: usize) -> bool {
        (self.levels.is_some() || self.until.is_some())
            && self.levels.is_none_or(|most| levels < most)
            && self.until.is_none_or(|enough| pieces > enough)
    }
}

/// Bytes that a run takes at once, for V points and polygons of C corners in all.
pub fn bytes_needed(points: usize, corners: usize) -> u64 {
    // Of a corner: its polygon, both ends, its twin, length, the piece beyond; a border, an outline and their sorts.
    24 * points as u64 + 96 * corners as u64
}

/// Bytes that a run takes at once, for V points and polyhedra of S sides with C corners in all.
pub fn bytes_needed_in_space(points: usize, sides: usize, corners: usize) -> u64 {
    // Of a side: its polyhedron, twin, area, and the one beyond, twice. Of a corner: its side, vertex, polyhedron,
    // edge, the edges in order, where two corners meet, and the corner beyond.
    24 * points as u64 + 64 * sides as u64 + 52 * corners as u64
}

/// The levels of a mesh of polygons, of the plane or of a surface in space.
///
/// # Errors
/// [`Error::Invalid`] for a vertex that is not there, and for an edge of more than two polygons;
/// [`Error::Argument`] for a list of regions of another length; errors of the device.
pub fn levels<V: DoublePoint>(on: &Device, mesh: &PolygonMesh<V>, goal: Goal) -> Result<Nested> {
    let (points, corners) = (mesh.points.len(), mesh.polygons.vertices.len());
    on.require(bytes_needed(points, corners))?;
    let mesh = on.stage("copy to the device", || DevicePolygonMesh::upload(on, mesh))?;
    resident(on, &mesh, goal)?.download(on)
}

/// The levels of a mesh of polygons on a device.
///
/// # Errors
/// [`Error::Invalid`] for an edge of more than two polygons; errors of the device.
pub fn resident(on: &Device, mesh: &DevicePolygonMesh, goal: Goal) -> Result<DeviceNested> {
    nest(on, mesh.len(), goal, || sides::find(on, mesh))
}

/// The levels of a mesh of polyhedra that are trees of tetrahedra, as those of [`polyhedra`](crate::polyhedra) are, on
/// request with merged faces.
///
/// # Errors
/// [`Error::Argument`] for more corners of faces than 32-bit ids name; errors of the device.
pub fn levels_of_polyhedra(on: &Device, mesh: &PolyhedralMesh, goal: Goal) -> Result<Nested> {
    let corners = mesh.sides.iter();
    let corners = corners.map(|&side| mesh.faces.get(side as usize / 2).len());
    let (points, sides, corners) = (mesh.points.len(), mesh.sides.len(), corners.sum());
    on.require(bytes_needed_in_space(points, sides, corners))?;
    let mesh = on.stage("copy to the device", || {
        DevicePolyhedralMesh::upload(on, mesh)
    })?;
    resident_polyhedra(on, &mesh, goal)?.download(on)
}

/// The levels of a mesh of polyhedra on a device.
///
/// # Errors
/// Errors of the device.
pub fn resident_polyhedra(
    on: &Device,
    mesh: &DevicePolyhedralMesh,
    goal: Goal,
) -> Result<DeviceNested> {
    nest(on, mesh.len(), goal, || solid::find(on, mesh))
}

/// The levels of `polygons` polygons or polyhedra, whose sides `find` finds.
fn nest(
    on: &Device,
    polygons: usize,
    goal: Goal,
    find: impl FnOnce() -> Result<(Sides, Buffer<Extent>)>,
) -> Result<DeviceNested> {
    let mut nested = DeviceNested::new(polygons);
    if !goal.wants_more(0, polygons) {
        return Ok(nested);
    }
    let (mut sides, mut boxes) = on.stage("find sides", find)?;
    let (mut count, is_solid) = (polygons, sides.are_faces());
    while goal.wants_more(nested.levels(), count) {
        let borders = on.stage("find borders", || borders::find(on, &mut sides))?;
        let mut made = None;
        for most_ratio in [MOST_RATIO, f64::INFINITY] {
            let pieces = borders.pieces(&sides, &boxes, most_ratio);
            let weigh = || borders.weigh(on, pieces, is_solid);
            let weights = on.stage("measure borders", weigh)?;
            let mut joined = join::Joined::new(on, count)?;
            let is_joined = on.stage("match pieces", || joined.pair(on, pieces, &weights))?;
            drop(weights);
            if is_joined {
                let take = || joined.take_leftovers(on, pieces, is_solid);
                on.stage("join leftovers", take)?;
                let level = on.stage("number pieces", || joined.number(on, &boxes))?;
                made = Some((joined, level));
                break;
            }
        }
        let Some((joined, level)) = made else {
            nested.is_stuck = true;
            break;
        };
        drop(borders);
        on.stage("move sides", || sides.join(on, &joined, &level))?;
        count = level.boxes.len();
        boxes = level.boxes;
        nested.push(level.parents, count);
    }
    Ok(nested)
}

fn check_corners(corners: usize) -> Result<()> {
    match u32::try_from(corners) {
        Ok(_) => Ok(()),
        Err(_) => {
            let message = format!("{corners} corners are too many for 32-bit ids");
            Err(Error::Argument(message))
        }
    }
}

fn check<V>(mesh: &PolygonMesh<V>) -> Result<()> {
    let (points, polygons) = (mesh.points.len(), &mesh.polygons);
    check_corners(polygons.vertices.len())?;
    if let Some(regions) = &mesh.regions
        && regions.len() != polygons.len()
    {
        let message = format!(
            "there are {} regions for {} polygons",
            regions.len(),
            polygons.len()
        );
        return Err(Error::Argument(message));
    }
    for (i, polygon) in polygons.iter().enumerate() {
        if let Some(v) = polygon.iter().find(|&&v| v as usize >= points) {
            return Err(Error::Invalid {
                element: format!("polygon {i}"),
                rule: format!("has vertex {v}, but the mesh has {points} vertices"),
            });
        }
    }
    Ok(())
}

/// The members of a bit set over the places of `list`, as elements of the list.
fn members<T: Word>(on: &Device, bits: &Buffer<Bits<Item>>, list: &Buffer<T>) -> Result<Buffer<T>> {
    Ok(pick(on, list.as_words(), &compact(on, bits)?)?.cast())
}
