//! Vertex clustering on a device: vertices within epsilon of each other become one.
//!
//! The kernels, their stages, and how they differ from the paper are in `gpu::weld`.
//!
//! ```
//! use trioxide::device::Device;
//! use trioxide::mesh::Mesh;
//! use trioxide::weld::{DeviceMesh, Options, weld};
//!
//! # fn main() -> trioxide::Result<()> {
//! # #[cfg(feature = "formats")] {
//! let (input, output) = (std::env::temp_dir().join("scan.off"), std::env::temp_dir().join("welded.off"));
//! let (on, _) = Device::auto(None)?;
//! # let drawn = Mesh::from(trioxide::generate::random(&on, 1000, 1)?);
//! # trioxide::formats::write(&input, &drawn)?;
//! let mesh: Mesh = trioxide::formats::read(&input)?;
//! let resident = DeviceMesh::upload(&on, &mesh)?;
//! let options = Options::new(0.01);
//! let mut welded = weld(&on, &resident, options)?.download(&on)?;
//! let new = welded.take_mesh(&mesh, &options)?;
//! assert!(new.points.len() < mesh.points.len());
//! trioxide::formats::write(&output, &new)?;
//! # }
//! # Ok(())
//! # }
//! ```

mod block_faces;
mod by_grid;
mod carried;
mod cells;
mod choose;
mod clustering;
mod clusters;
mod crowded;
mod dependency;
mod error;
mod faces;
mod fields;
mod fraction;
mod from_host;
mod grid;
mod guards;
mod hashed_cells;
mod in_turn;
mod mesh;
mod method;
mod near;
mod on_the_fly;
mod options;
mod polygons;
mod ratio;
mod result;
mod share;
mod slabs;
mod sparse_grid;
mod visit;

use glam::DVec3;
use gpu::weld as kernel;
use trioxide_mesh::parallel;

use crate::device::Device;

use carried::carry;
use clusters::Clusters;
use faces::remap_faces;
use guards::DeviceGuards;

pub use block_faces::{BlockFaces, BlockMap, Repeated};
pub use carried::{Carried, CarriedArrays, DeviceCarried};
pub use error::{Error, Result};
pub use fraction::{RATIO_TOLERANCE, extent, extent_between, fraction_removed};
pub use from_host::{FromHost, weld_from_host};
pub use grid::{samples_of_spacing, spacing, spacing_of};
pub use guards::HostGuards;
pub use mesh::{DeviceMesh, Locks, removed, triangles, weld_segments};
pub use method::Method;
pub use options::{Guards, Nearness, Options, Position, Tuning};
pub use ratio::{EpsilonFound, check_ratio, epsilon_for_ratio, search};
pub use result::{DeviceWeld, WeldArrays, Welded};
pub use share::{
    Decided, Others, carry_share, check_share, decide_all, decide_share, states_of_share,
};
pub use slabs::{InSlabs, bytes_of_slab, weld_in_slabs};

/// Runs `work` as a named stage.
fn stage<R>(on: &Device, name: &'static str, work: impl FnOnce() -> Result<R>) -> Result<R> {
    on.stage(name, || Ok(work()))?
}

/// Refuses a mesh that no method can weld.
///
/// # Errors
/// Errors of the options; [`Error::Coordinate`] and [`Error::FaceIndex`].
pub fn check(points: &[DVec3], faces: &[[u32; 3]], options: &Options) -> Result<()> {
    options.check()?;
    if let Some(vertex) = parallel::position(points, |&p| !is_weldable(p)) {
        return Err(Error::Coordinate { vertex });
    }
    let is_out = |face: &[u32; 3]| face.iter().any(|&v| v as usize >= points.len());
    if let Some(face) = parallel::position(faces, is_out) {
        return Err(Error::FaceIndex { face });
    }
    Ok(())
}

/// Whether all coordinates are finite and not too large.
fn is_weldable(p: DVec3) -> bool {
    let in_range = |x: f64| x.abs() <= kernel::LARGEST_COORDINATE;
    p.to_array().into_iter().all(in_range)
}

/// Bytes that a run takes at once with its mesh, for V points and F triangles; `Auto` takes at least as many. Lists of
/// neighbours that a method stores are not included.
pub fn bytes_needed(method: Method, points: usize, faces: usize) -> u64 {
    let mesh = points * size_of::<DVec3>() + faces * size_of::<[u32; 3]>();
    let clusters = choose::cluster_bytes(method, points);
    let result = points * (size_of::<DVec3>() + 2 * size_of::<u32>());
    // The table of two slots a triangle, or the remaining triangles and their list; bit sets.
    let remapped = faces * (size_of::<[u32; 3]>() + size_of::<u32>() + 1);
    (mesh + clusters.max(result + remapped)) as u64
}

/// Welds a mesh that is on the device.
///
/// # Errors
/// [`Error::Coordinate`] or [`Error::FaceIndex`] with the vertex or the face that cannot be welded; those of
/// [`Options::check`]; [`Error::MissingAttribute`] for a guard over an attribute that the vertices do not have;
/// [`Error::Guarded`]; [`Error::Neighbours`]; those of the device.
pub fn weld(on: &Device, mesh: &DeviceMesh, options: Options) -> Result<DeviceWeld> {
    let DeviceMesh {
        points,
        faces,
        carried,
    } = mesh;
    options.check()?;
    let none = DeviceCarried::none(on)?;
    let guards = DeviceGuards::new(points.len(), &options.guards, carried, &none)?;
    let method = match options.method_for(guards.limits.is_some())? {
        Method::Auto => Method::Auto.choose(on, points.len(), faces.len(), true)?,
        method => method,
    };
    let clustering = method.cluster(on, points, &guards, &options)?;
    let clusters = Clusters::number(on, &clustering.representatives)?;
    drop(clustering.representatives);
    let members = match options.position {
        Position::First => None,
        Position::Mean => Some(clusters.members(on, clustering.is_crowded)?),
    };
    let positions = clusters.positions(on, points, members.as_ref())?;
    let mut left = if carried.has_attributes() {
        stage(on, "attributes", || {
            carry(on, carried, &clusters, members.as_ref())
        })?
    } else {
        DeviceCarried::none(on)?
    };
    drop(members);
    let faces = stage(on, "faces", || {
        let (faces, list) = remap_faces(on, faces, &clusters, &options)?;
        left.take_regions(on, carried, &list, faces.len())?;
        Ok(faces)
    })?;
    Ok(DeviceWeld {
        map: clusters.map,
        representatives: clusters.representatives,
        points: positions,
        faces,
        carried: left,
        left: clustering.left,
        method,
    })
}

/// Refuses more elements than the indices of lists and tables reach.
///
/// # Errors
/// [`Error::TooLarge`].
pub fn check_sizes(points: usize, faces: usize) -> Result<()> {
    let most_points = (u32::MAX / kernel::LISTED) as usize;
    let most_faces = (u32::MAX / 2) as usize - 64;
    if points <= most_points && faces <= most_faces {
        return Ok(());
    }
    Err(Error::TooLarge {
        points,
        faces,
        most_points,
        most_faces,
    })
}
