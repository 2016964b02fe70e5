//! Vertex clustering on a device: vertices within epsilon of each other become one. The kernels, what they cover of the paper
//! and how they differ from it are in `gpu::weld`.

mod grid;
mod ratio;
mod slabs;

use glam::DVec3;
use gpu::launch::Buffer;
use gpu::view::NONE;
use gpu::weld as kernel;

use crate::backend::Device;
use crate::collective::{bucket_known, compact, exclusive_scan};
use crate::{Error, Result};

use grid::DeviceGrid;

pub use ratio::{Found, epsilon_for_ratio};
pub use slabs::{InSlabs, bytes_of_slab, fits, weld_in_slabs};

/// What clusters are made of, and what becomes of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Vertices at most this far apart are neighbours; 0 merges exact duplicates.
    pub epsilon: f64,
    /// Position of a cluster.
    pub position: Position,
    /// Keep triangles whose corners became the same, and those that are there more than once.
    pub keep_degenerate: bool,
    /// How the work is laid out.
    pub tuning: Tuning,
}

/// How the work is laid out: what speed depends on, and no result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tuning {
    /// Vertices of an occupied cell that the choice of the cells' side aims at.
    pub points_per_cell: f64,
    /// Vertices of a block of buckets, on average: decides the size of the table.
    pub points_per_block: usize,
}

impl Default for Tuning {
    fn default() -> Self {
        Self {
            points_per_cell: 2.0,
            points_per_block: 24,
        }
    }
}

impl Options {
    /// Clusters of radius `epsilon` at their means.
    pub fn new(epsilon: f64) -> Self {
        Self {
            epsilon,
            position: Position::Mean,
            keep_degenerate: false,
            tuning: Tuning::default(),
        }
    }

    /// Refuses an epsilon that is no distance.
    pub(crate) fn check(&self) -> Result<()> {
        if self.epsilon.is_finite() && self.epsilon >= 0.0 {
            return Ok(());
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
    /// Vertices that were left undecided after each round of decisions, down to 0. Speed depends on it, and no result; it may
    /// differ from run to run.
    pub left: Vec<u32>,
}

impl DeviceWeld {
    /// The whole result in host memory.
    ///
    /// # Errors
    /// Those of the device.
    pub fn download(&self, on: &Device) -> Result<Welded> {
        on.stage("copy to the host", || {
            Ok(Welded {
                map: on.download(&self.map)?,
                representatives: on.download(&self.representatives)?,
                points: on.download(&self.points)?,
                faces: on.download(&self.faces)?,
            })
        })
    }
}

/// Bytes that a run takes at once with its mesh, for V points and F triangles.
pub fn bytes_needed(points: usize, faces: usize) -> u64 {
    let mesh = points * size_of::<DVec3>() + faces * size_of::<[u32; 3]>();
    // Lists of lower neighbours, states, representatives.
    let clusters = DeviceGrid::bytes_needed(points)
        + points * (kernel::LISTED as usize + 2) * size_of::<u32>();
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
    options.check()?;
    check_sizes(points.len(), faces.len())?;
    let clustering = cluster(on, points, options)?;
    let clusters = number_clusters(on, &clustering.representatives)?;
    drop(clustering.representatives);
    let positions = position_clusters(on, points, &clusters, options.position)?;
    let faces = on.stage("faces", || remap_faces(on, faces, &clusters, options))?;
    Ok(DeviceWeld {
        map: clusters.map,
        representatives: clusters.representatives,
        points: positions,
        faces,
        left: clustering.left,
    })
}

/// Welds points and triangles that are in the host's memory, at once: the result, and what [`DeviceWeld::left`] says.
///
/// The triangles go to the device while the vertices are clustered, and the map comes back while triangles are welded.
///
/// # Errors
/// As [`weld`].
pub fn weld_from_host(
    on: &Device,
    points: &[DVec3],
    faces: &[[u32; 3]],
    options: &Options,
) -> Result<(Welded, Vec<u32>)> {
    options.check()?;
    check_sizes(points.len(), faces.len())?;
    let points = on.stage("copy to the device", || on.upload(points))?;
    let (faces, (clusters, left)) = on.upload_beside(faces, || {
        let clustering = cluster(on, &points, options)?;
        let clusters = number_clusters(on, &clustering.representatives)?;
        Ok((clusters, clustering.left))
    })?;
    let (map, (positions, faces)) = on.download_beside(&clusters.map, || {
        let positions = position_clusters(on, &points, &clusters, options.position)?;
        let faces = on.stage("faces", || remap_faces(on, &faces, &clusters, options))?;
        Ok((positions, faces))
    })?;
    let welded = on.stage("copy to the host", || {
        Ok(Welded {
            map,
            representatives: on.download(&clusters.representatives)?,
            points: on.download(&positions)?,
            faces: on.download(&faces)?,
        })
    })?;
    Ok((welded, left))
}

/// Refuses more elements than the indices of lists and tables reach.
fn check_sizes(points: usize, faces: usize) -> Result<()> {
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

struct Clustering {
    /// Of each vertex; V.
    representatives: Buffer<u32>,
    /// As in [`DeviceWeld`].
    left: Vec<u32>,
}

fn cluster(on: &Device, points: &Buffer<DVec3>, options: &Options) -> Result<Clustering> {
    let grid = DeviceGrid::build(on, points, &options.nearness(), &options.tuning)?;
    let (mut lower, mut states) = note_neighbours(on, points, &grid)?;
    let all = on.uninitialized(0)?;
    let left = on.stage("decide", || {
        decide(on, points, &grid, all, &mut lower, &mut states)
    })?;
    let representatives = assign(on, points, &grid, &lower, &states)?;
    Ok(Clustering {
        representatives,
        left,
    })
}

/// Lists of lower neighbours, and the states of the vertices, by rows.
fn note_neighbours(
    on: &Device,
    points: &Buffer<DVec3>,
    grid: &DeviceGrid,
) -> Result<(Buffer<u32>, Buffer<u32>)> {
    let n = points.len();
    let mut lower = on.uninitialized(n * kernel::LISTED as usize)?;
    let mut states = on.uninitialized(n)?;
    on.stage("note neighbours", || {
        kernel::note_lower_neighbours::launch(
            on,
            n as u32,
            grid.positions(points),
            &grid.parameters,
            &grid.offsets,
            &grid.sites,
            grid.by_slot(),
            &mut lower,
            &mut states,
        )?;
        Ok(())
    })?;
    Ok((lower, states))
}

/// The representative of each vertex, all of which are decided.
fn assign(
    on: &Device,
    points: &Buffer<DVec3>,
    grid: &DeviceGrid,
    lower: &Buffer<u32>,
    states: &Buffer<u32>,
) -> Result<Buffer<u32>> {
    let n = points.len();
    on.stage("assign", || {
        let mut representatives = on.uninitialized(n)?;
        kernel::assign_points::launch(
            on,
            n as u32,
            grid.positions(points),
            &grid.parameters,
            &grid.offsets,
            &grid.sites,
            grid.by_slot(),
            lower,
            states,
            &mut representatives,
        )?;
        Ok(representatives)
    })
}

/// Decides the vertices of `rows` (all for an empty list), until they are or wait for others that are not among them; how many
/// were left after each round.
fn decide(
    on: &Device,
    points: &Buffer<DVec3>,
    grid: &DeviceGrid,
    mut rows: Buffer<u32>,
    lower: &mut Buffer<u32>,
    states: &mut Buffer<u32>,
) -> Result<Vec<u32>> {
    let mut count = if rows.is_empty() {
        states.len()
    } else {
        rows.len()
    };
    let mut left = Vec::new();
    loop {
        let mut undecided = on.uninitialized(count.div_ceil(32))?;
        kernel::decide_pieces::launch(
            on,
            count.div_ceil(kernel::PIECE as usize) as u32,
            &rows,
            grid.positions(points),
            &grid.parameters,
            &grid.offsets,
            &grid.sites,
            grid.by_slot(),
            lower,
            states,
            &mut undecided,
        )?;
        let kept = compact(on, &undecided)?;
        left.push(kept.len() as u32);
        // Of all vertices each round decides the lowest that is left.
        if kept.is_empty() || kept.len() == count {
            return Ok(left);
        }
        count = kept.len();
        rows = if rows.is_empty() {
            kept
        } else {
            let mut shorter = on.uninitialized(count)?;
            kernel::shorten_list::launch(on, count as u32, &rows, &kept, &mut shorter)?;
            shorter
        };
    }
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
        kernel::mark_representatives::launch(on, n as u32, representatives, &mut bits)?;
        let mut counts = on.uninitialized(words)?;
        kernel::count_in_words::launch(on, words as u32, &bits, &mut counts)?;
        exclusive_scan(on, &mut counts)?;
        let (mut map, mut keys) = (on.uninitialized(n)?, on.uninitialized(n)?);
        kernel::number_clusters::launch(
            on,
            n as u32,
            representatives,
            &bits,
            &counts,
            &mut map,
            &mut keys,
        )?;
        Ok(Clusters {
            map,
            keys,
            representatives: compact(on, &bits)?,
        })
    })
}

fn position_clusters(
    on: &Device,
    points: &Buffer<DVec3>,
    clusters: &Clusters,
    position: Position,
) -> Result<Buffer<DVec3>> {
    let count = clusters.representatives.len();
    let mut positions = on.uninitialized(count)?;
    match position {
        Position::First => on.stage("positions", || {
            kernel::take_first_points::launch(
                on,
                count as u32,
                &clusters.representatives,
                points,
                &mut positions,
            )?;
            Ok(())
        })?,
        Position::Mean => {
            let members = on.stage("members", || {
                let others = clusters.keys.len() - count;
                bucket_known(on, &clusters.keys, count, others)
            })?;
            on.stage("positions", || {
                kernel::average_points::launch(
                    on,
                    count as u32,
                    &clusters.representatives,
                    &members.offsets,
                    &members.items,
                    points,
                    &mut positions,
                )?;
                Ok(())
            })?;
        }
    }
    Ok(positions)
}

fn remap_faces(
    on: &Device,
    faces: &Buffer<[u32; 3]>,
    clusters: &Clusters,
    options: &Options,
) -> Result<Buffer<[u32; 3]>> {
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
        )?;
        drop(table);
        kernel::drop_bits::launch(on, words as u32, &repeated, &mut kept)?;
        compact(on, &kept)?
    };
    let count = if options.keep_degenerate {
        faces.len()
    } else {
        list.len()
    };
    let mut left = on.uninitialized(count)?;
    kernel::remap_faces::launch(
        on,
        count as u32,
        &list,
        faces,
        &clusters.map,
        &mut left,
        &mut found,
    )?;
    match on.read(&found, 0)? {
        NONE => Ok(left),
        bad => Err(bad_face(bad as usize)),
    }
}
