//! Vertex clustering on a device: vertices within epsilon of each other become one. The kernels, what they cover of the paper
//! and how they differ from it are in `gpu::weld`.

mod carried;
mod cells;
mod cluster;
mod dependency;
mod from_host;
mod grid;
mod guards;
mod mesh;
mod method;
mod on_the_fly;
mod polygons;
mod ratio;
mod slabs;
mod sparse_grid;

use glam::DVec3;
use gpu::weld as kernel;
use trioxide_kernel::NONE;
use trioxide_kernel::launch::Buffer;

use crate::backend::Device;
use crate::collective::{Csr, bucket_known, compact, exclusive_scan};
use crate::mesh::VertexAttributes;
use crate::{Error, Result};

use carried::carry;
use cluster::{Clustering, cluster};
use guards::DeviceGuards;

pub use carried::{Carried, DeviceCarried};
pub use from_host::{FromHost, weld_from_host};
pub(crate) use grid::spacing;
pub use guards::Guards;
pub(crate) use guards::HostGuards;
pub use mesh::{DeviceMesh, Locks, triangles};
pub use method::Method;
pub use ratio::{Found, RATIO_TOLERANCE, epsilon_for_ratio, epsilon_for_ratio_carrying};
pub(crate) use ratio::{check_ratio, extent, fraction_removed, search};
pub use slabs::{InSlabs, bytes_of_slab, weld_in_slabs};

/// What clusters are made of, and what becomes of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Vertices at most this far apart are neighbours; 0 merges exact duplicates.
    pub epsilon: f64,
    /// What else neighbours have in common.
    pub guards: Guards,
    /// Position of a cluster.
    pub position: Position,
    /// Keep triangles whose corners became the same, and those that are there more than once.
    pub keep_degenerate: bool,
    /// How clusters are computed. Speed and memory depend on it, and no result.
    pub method: Method,
    /// How the work is laid out.
    pub tuning: Tuning,
}

/// How the work is laid out: what speed depends on, and no result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tuning {
    /// Vertices of an occupied cell that the choice of the cells' side aims at.
    pub points_per_cell: f64,
    /// Side of the cells in terms of what epsilon asks for at least, 1 or more.
    pub cell_width: f64,
    /// Complete lists of lower neighbours are made if more than one in so many vertices are left after the first round; 0: never.
    /// By default 8 on a GPU, and never on a CPU.
    pub dense_share: Option<usize>,
    /// Blocks that decide by complete lists at a time, 1 or more.
    pub window: u32,
    /// Vertices of a block of buckets, on average: decides the size of the table.
    pub points_per_block: usize,
    /// Sweeps in vain after which a block of the decision gives up.
    pub patience: u32,
    /// Blocks of the first decision that a device runs at once; where there are more, none waits.
    pub blocks_at_once: u32,
    /// Bits of the keys of hashed cells, 1 to 64: fewer than 64 make keys collide, to try what that does.
    pub key_bits: u32,
    /// Most neighbours that stored lists may hold; more are refused, as are those that do not fit the free memory.
    pub most_neighbours: u64,
}

impl Default for Tuning {
    fn default() -> Self {
        Self {
            points_per_cell: 2.0,
            cell_width: 1.6,
            dense_share: None,
            window: 264,
            points_per_block: 24,
            patience: 256,
            blocks_at_once: 1056,
            key_bits: 64,
            most_neighbours: u64::MAX,
        }
    }
}

impl Options {
    /// Clusters of radius `epsilon` at their means.
    pub fn new(epsilon: f64) -> Self {
        Self {
            epsilon,
            guards: Guards::default(),
            position: Position::Mean,
            keep_degenerate: false,
            method: Method::Auto,
            tuning: Tuning::default(),
        }
    }

    /// The method to use: [`Method::Grid`] alone knows guards.
    fn method_for(&self, is_guarded: bool) -> Result<Method> {
        match self.method {
            Method::Auto | Method::Grid if is_guarded => Ok(Method::Grid),
            method if is_guarded => Err(Error::Argument(format!(
                "tolerances and locks are known to --method grid alone: leave --method {} out",
                method.name()
            ))),
            method => Ok(method),
        }
    }

    /// Refuses an epsilon that is no distance, and tolerances that are none.
    ///
    /// # Errors
    /// [`Error::Argument`].
    pub fn check(&self) -> Result<()> {
        if self.epsilon.is_finite() && self.epsilon >= 0.0 {
            return self.guards.check();
        }
        Err(Error::Argument(format!(
            "epsilon is {}, but must be a distance: 0 or more, and finite",
            self.epsilon
        )))
    }

    pub(crate) fn nearness(&self) -> Nearness {
        Nearness::new(self.epsilon)
    }
}

/// Position of a cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Position {
    /// Mean of its vertices, added in ascending order.
    #[default]
    Mean,
    /// That of its representative.
    First,
}

/// A welded mesh: C clusters of V vertices.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Welded {
    /// New vertex of each old one; V.
    pub map: Vec<u32>,
    /// Old vertex that represents each new one, ascending; C.
    pub representatives: Vec<u32>,
    /// New positions; C.
    pub points: Vec<DVec3>,
    /// Triangles that are left, in their order, with new vertices.
    pub faces: Vec<[u32; 3]>,
    /// What the new vertices carry; C elements each.
    pub attributes: VertexAttributes,
    /// Regions of the triangles that are left.
    pub regions: Option<Vec<i32>>,
}

/// What epsilon means in floating-point numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Nearness {
    pub reach: f64,
    pub scale: f64,
    pub bound: f64,
}

impl Nearness {
    fn new(epsilon: f64) -> Self {
        let power_of_two = |exponent: i64| f64::from_bits(((1023 + exponent) as u64) << 52);
        // No two points are farther apart than this: any larger epsilon makes all neighbours.
        let epsilon = epsilon.min(power_of_two(993));
        let scale = if epsilon < power_of_two(-400) {
            power_of_two(1000)
        } else if epsilon > power_of_two(400) {
            power_of_two(-600)
        } else {
            1.0
        };
        // 2^1000 would make infinity of an epsilon just below 2^-400's square.
        let scale = if epsilon > 0.0 && scale > 1.0 {
            power_of_two(600)
        } else {
            scale
        };
        Self {
            reach: epsilon * (1.0 + power_of_two(-50)),
            scale,
            bound: (epsilon * scale) * (epsilon * scale),
        }
    }

    pub fn is_near(&self, a: DVec3, b: DVec3) -> bool {
        let d = (a - b) * self.scale;
        d.x * d.x + d.y * d.y + d.z * d.z <= self.bound
    }
}

/// Refuses what no method can weld.
pub(crate) fn check(points: &[DVec3], faces: &[[u32; 3]], options: &Options) -> Result<()> {
    options.check()?;
    if let Some(v) = points.iter().position(|&p| !is_weldable(p)) {
        return Err(bad_vertex(v));
    }
    if let Some(t) = faces
        .iter()
        .position(|face| face.iter().any(|&v| v as usize >= points.len()))
    {
        return Err(bad_face(t));
    }
    Ok(())
}

/// Whether all coordinates are finite and not too large.
fn is_weldable(p: DVec3) -> bool {
    let in_range = |x: f64| x.abs() <= kernel::LARGEST_COORDINATE;
    p.to_array().into_iter().all(in_range)
}

fn bad_vertex(v: usize) -> Error {
    Error::Invalid {
        element: format!("vertex {v}"),
        rule: "has a coordinate that is not a finite number, or is beyond 1e298".to_owned(),
    }
}

fn bad_face(t: usize) -> Error {
    Error::Invalid {
        element: format!("face {t}"),
        rule: "has a vertex index that is out of range".to_owned(),
    }
}

/// A welded mesh on a device: C clusters of V vertices.
pub struct DeviceWeld {
    /// New vertex of each old one; V.
    pub map: Buffer<u32>,
    /// Old vertex that represents each new one, ascending; C.
    pub representatives: Buffer<u32>,
    /// New positions; C.
    pub points: Buffer<DVec3>,
    /// Triangles that are left, with new vertices.
    pub faces: Buffer<[u32; 3]>,
    /// What new vertices and the triangles that are left carry; no locks.
    pub carried: DeviceCarried,
    /// Vertices that were left undecided after each round of decisions, down to 0. Speed depends on it, and no result; it may
    /// differ from run to run.
    pub left: Vec<u32>,
    /// The method that was used.
    pub method: Method,
}

impl DeviceWeld {
    /// The whole result in host memory.
    ///
    /// # Errors
    /// Those of the device.
    pub fn download(&self, on: &Device) -> Result<Welded> {
        on.stage("copy to the host", || {
            let (attributes, regions) = self.carried.download(on)?;
            Ok(Welded {
                attributes,
                regions,
                map: on.download(&self.map)?,
                representatives: on.download(&self.representatives)?,
                points: on.download(&self.points)?,
                faces: on.download(&self.faces)?,
            })
        })
    }
}

/// Bytes that a run takes at once with its mesh, for V points and F triangles; `Auto` takes at least as many. Methods that store
/// lists of neighbours take those bytes too.
pub fn bytes_needed(method: Method, points: usize, faces: usize) -> u64 {
    let mesh = points * size_of::<DVec3>() + faces * size_of::<[u32; 3]>();
    let clusters = method::cluster_bytes(method, points);
    let result = points * (size_of::<DVec3>() + 2 * size_of::<u32>());
    // The table of two slots a triangle, or the triangles that are left and their list; bit sets.
    let remapped = faces * (size_of::<[u32; 3]>() + size_of::<u32>() + 1);
    (mesh + clusters.max(result + remapped)) as u64
}

/// Welds points and triangles (three vertices each, or none) that are on the device.
///
/// # Errors
/// [`Error::Invalid`] with the vertex or the face that cannot be welded; [`Error::OutOfMemory`].
pub fn weld(
    on: &Device,
    points: &Buffer<DVec3>,
    faces: &Buffer<[u32; 3]>,
    options: &Options,
) -> Result<DeviceWeld> {
    weld_carrying(on, points, faces, &DeviceCarried::none(on)?, options)
}

/// As [`weld()`], with what vertices and faces carry.
///
/// # Errors
/// As [`weld()`]; [`Error::Argument`] for a guard over what vertices do not carry.
pub fn weld_carrying(
    on: &Device,
    points: &Buffer<DVec3>,
    faces: &Buffer<[u32; 3]>,
    carried: &DeviceCarried,
    options: &Options,
) -> Result<DeviceWeld> {
    options.check()?;
    check_sizes(points.len(), faces.len())?;
    carried.check(points.len(), faces.len())?;
    let none = DeviceCarried::none(on)?;
    let guards = DeviceGuards::new(on, points.len(), &options.guards, carried, &none)?;
    let method = match options.method_for(guards.limits.is_some())? {
        Method::Auto => Method::Auto.choose(on, points.len(), faces.len(), true)?,
        method => method,
    };
    let clustering = method.cluster(on, points, &guards, options)?;
    let clusters = number_clusters(on, &clustering.representatives)?;
    drop(clustering.representatives);
    let members = match options.position {
        Position::First => None,
        Position::Mean => Some(members(on, &clusters)?),
    };
    let positions = on.stage("positions", || {
        position_clusters(on, points, &clusters.representatives, members.as_ref())
    })?;
    let mut left = if carried.has_attributes() {
        on.stage("attributes", || {
            carry(on, carried, &clusters.representatives, members.as_ref())
        })?
    } else {
        DeviceCarried::none(on)?
    };
    drop(members);
    let faces = on.stage("faces", || {
        let (faces, list) = remap_faces(on, faces, &clusters, options)?;
        if !carried.regions.is_empty() {
            left.regions = on.uninitialized(faces.len())?;
            unsafe {
                kernel::gather_regions::launch(
                    on,
                    faces.len() as u32,
                    &list,
                    &carried.regions,
                    &mut left.regions,
                )
            }?;
        }
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
/// [`Error::Argument`].
pub fn check_sizes(points: usize, faces: usize) -> Result<()> {
    let most_points = (u32::MAX / kernel::LISTED) as usize;
    let most_faces = (u32::MAX / 2) as usize - 64;
    if points <= most_points && faces <= most_faces {
        return Ok(());
    }
    Err(Error::Argument(format!(
        "{points} vertices and {faces} faces are more than weld's indices reach ({most_points} and {most_faces}): \
         weld parts of the mesh, or use --device serial"
    )))
}

struct Clusters {
    map: Buffer<u32>,
    /// Cluster of each vertex that is no representative, `NONE` of the others; V.
    keys: Buffer<u32>,
    representatives: Buffer<u32>,
}

fn number_clusters(on: &Device, representatives: &Buffer<u32>) -> Result<Clusters> {
    let n = representatives.len();
    on.stage("number clusters", || {
        let words = n.div_ceil(32);
        let mut bits = on.uninitialized(words)?;
        unsafe { kernel::mark_representatives::launch(on, n as u32, representatives, &mut bits) }?;
        let mut counts = on.uninitialized(words)?;
        unsafe { kernel::count_in_words::launch(on, words as u32, &bits, &mut counts) }?;
        exclusive_scan(on, &mut counts)?;
        let (mut map, mut keys) = (on.uninitialized(n)?, on.uninitialized(n)?);
        unsafe {
            kernel::number_clusters::launch(
                on,
                n as u32,
                representatives,
                &bits,
                &counts,
                &mut map,
                &mut keys,
            )
        }?;
        Ok(Clusters {
            map,
            keys,
            representatives: compact(on, &bits)?,
        })
    })
}

/// The vertices of each cluster besides its representative.
fn members(on: &Device, clusters: &Clusters) -> Result<Csr<u32, u32>> {
    on.stage("members", || {
        let count = clusters.representatives.len();
        // SAFETY: every vertex but the representatives has the cluster that it is in as its key.
        unsafe { bucket_known(on, &clusters.keys, count, clusters.keys.len() - count) }
    })
}

/// Positions of the representatives, or, with the lists of the other `members`, the means.
fn position_clusters(
    on: &Device,
    points: &Buffer<DVec3>,
    representatives: &Buffer<u32>,
    members: Option<&Csr<u32, u32>>,
) -> Result<Buffer<DVec3>> {
    let mut positions = on.uninitialized(representatives.len())?;
    let n = representatives.len() as u32;
    let to = &mut positions;
    match members {
        None => unsafe { kernel::take_first_points::launch(on, n, representatives, points, to) }?,
        Some(members) => {
            let (offsets, items) = (members.offsets(), members.items());
            unsafe {
                kernel::average_points::launch(on, n, representatives, offsets, items, points, to)
            }?;
        }
    }
    Ok(positions)
}

/// The triangles that are left, and the list of them (empty for all).
fn remap_faces(
    on: &Device,
    faces: &Buffer<[u32; 3]>,
    clusters: &Clusters,
    options: &Options,
) -> Result<(Buffer<[u32; 3]>, Buffer<u32>)> {
    let mut found = on.filled(1, NONE)?;
    let list = if options.keep_degenerate {
        on.uninitialized(0)?
    } else {
        let triangles = faces.len();
        let words = triangles.div_ceil(32);
        let mut kept = on.uninitialized(words)?;
        let mut repeated = on.filled(words, 0)?;
        // Four for each vertex of a closed surface.
        let slots = 2 * triangles + 64;
        let mut table = on.filled(slots, NONE)?;
        let vertices = clusters.representatives.len();
        unsafe {
            kernel::claim_faces::launch(
                on,
                triangles as u32,
                faces,
                &clusters.map,
                &mut table,
                &mut repeated,
                &mut found,
                ((slots as u64) << 32) / vertices.max(1) as u64,
                &mut kept,
            )
        }?;
        drop(table);
        unsafe { kernel::drop_bits::launch(on, words as u32, &repeated, &mut kept) }?;
        compact(on, &kept)?
    };
    let count = if options.keep_degenerate {
        faces.len()
    } else {
        list.len()
    };
    let mut left = on.uninitialized(count)?;
    unsafe {
        kernel::remap_faces::launch(
            on,
            count as u32,
            &list,
            faces,
            &clusters.map,
            &mut left,
            &mut found,
        )
    }?;
    match on.read(&found, 0)? {
        NONE => Ok((left, list)),
        bad => Err(bad_face(bad as usize)),
    }
}
