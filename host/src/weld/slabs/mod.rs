//! Welding what is larger than the device's memory: slab by slab, with the bits that [`weld`](super::weld()) gives.
//!
//! The mesh stays in the host's memory, with a state for each vertex: undecided, representative, member. It is cut into
//! slabs along an axis. A visit takes the vertices of one slab to the device, with those within epsilon of it, its
//! halo; members of the halo are left out, since they decide nothing. There the vertices of the slab are decided until
//! the others wait for undecided ones of the halo, and the states come back. If all of the slab and its halo are
//! decided, the vertices of the slab find their representatives in the same visit, and the slab is done.
//!
//! *Exact*, since a vertex is decided only by lower neighbours that are decided, all of which are at hand. *It ends*:
//! of all undecided vertices the lowest waits for none, so each pass over the slabs decides one at least. Passes go up
//! and down in turn: a chain of lower neighbours that runs along the axis is decided in one pass or two, and its
//! representatives are found in the next; one that crosses the same boundary again and again would take a pass for each
//! two crossings or so. Therefore, as soon as the undecided vertices of all slabs fit at once, with the representatives
//! within epsilon of them along the axis, they are decided at once. After one pass they mostly do: they lie near the
//! boundaries.
//!
//! The rest needs no neighbours. Clusters are numbered and their points added up on the host, whose memory holds the
//! points: to read them there costs less than to send them once more. Repeated triangles are found on the device, part
//! by part: equal ones are in the same part.

mod cut;
mod faces;

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use bytemuck::Zeroable;
use glam::DVec3;
use gpu::weld as kernel;
use gpu::weld::known::{MEMBER, UNDECIDED, WAITING};
use trioxide_kernel::NONE;
use trioxide_mesh::parallel;

use super::grid::DeviceGrid;
use super::guards::DeviceGuards;
use super::near::Near;
use super::{
    DeviceCarried, Error, Guards, Method, Options, Position, Result, Tuning, Welded, stage, visit,
};
use crate::device::Device;

use cut::{Cut, Slab};

/// Vertices that a host thread takes at a time.
const CHUNK: usize = 1 << 16;
/// Bytes beside what grows with the mesh: counters, tables of few entries.
const SMALL_BUFFERS: u64 = 1 << 16;
/// Vertices of a slab from which on smaller ones are no help against a lack of memory.
const LEAST_SLAB: usize = 1 << 10;

/// A mesh welded in slabs, and the work that it took.
#[derive(Clone, Debug, PartialEq)]
pub struct InSlabs {
    /// The same as from [`weld`](super::weld()), bit for bit.
    pub welded: Welded,
    /// Slabs that the vertices were cut into.
    pub slabs: usize,
    /// Vertices that were undecided after each pass over the slabs, down to 0.
    pub left: Vec<usize>,
    /// Times that a slab went to the device.
    pub visits: usize,
    /// Parts in which repeated triangles were looked for.
    pub face_parts: usize,
}

/// Bytes of device memory that a slab of this many vertices, its halo included, takes at most.
pub fn bytes_of_slab(points: usize) -> u64 {
    // Known states; bit sets and their sums.
    super::bytes_needed(Method::Grid, points, 0) + 2 * points as u64 + SMALL_BUFFERS
}

/// The largest number that `fits`; all smaller numbers fit too.
fn most_that_fit(mut most: usize, fits: impl Fn(usize) -> bool) -> usize {
    let mut least = 0;
    while least < most {
        let middle = most - (most - least) / 2;
        if fits(middle) {
            least = middle;
        } else {
            most = middle - 1;
        }
    }
    most
}

/// Welds points and triangles that are in host memory with at most `limit` bytes of the device's memory, besides the
/// buffers that are there before. Where the device does not give as much, because other programs take memory meanwhile
/// or what is free lies in pieces, slabs become smaller.
///
/// # Errors
/// [`Error::Coordinate`] or [`Error::FaceIndex`] with the vertex or the face that cannot be welded; [`Error::TooDense`]
/// when not even a slab of no thickness fits; [`Error::FacesInSlabs`]; [`Error::GuardsInSlabs`];
/// [`Error::MethodInSlabs`]; those of the device.
pub fn weld_in_slabs(
    on: &Device,
    points: &[DVec3],
    faces: &[[u32; 3]],
    options: Options,
    limit: u64,
) -> Result<InSlabs> {
    let options = &options;
    check_options(options)?;
    stage(on, "check", || on.on_host(|| check(points, faces, options)))?;
    let most_points = (u32::MAX / kernel::LISTED) as usize;
    let mut most = most_that_fit(points.len().min(most_points), |n| bytes_of_slab(n) <= limit);
    let mut sweep =
        Sweep::new(on, points, most, options)?.map_err(|least| too_dense(on, least, limit))?;
    while sweep.is_done.contains(&false) {
        let Err(error) = sweep.pass(on, most) else {
            continue;
        };
        most /= 2;
        let may_help = matches!(&error, Error::Shared(shared) if shared.is_out_of_memory())
            && most >= LEAST_SLAB;
        if !may_help || !sweep.cut_again(on, most)? {
            return Err(error);
        }
    }
    let Sweep {
        representatives,
        cut,
        left,
        visits,
        ..
    } = sweep;
    let (map, representatives) = on.stage("number clusters", || {
        Ok(on.on_host(|| number_clusters(&representatives)))
    })?;
    let positions = on.stage("positions", || {
        Ok(on.on_host(|| match options.position {
            Position::Mean => means(points, &map, representatives.len()),
            Position::First => {
                let point = |&v: &u32| points[v as usize];
                parallel::map(&representatives, point)
            }
        }))
    })?;
    let (faces, face_parts) = faces::weld(on, faces, &map, representatives.len(), options, limit)?;
    Ok(InSlabs {
        welded: Welded {
            map,
            representatives,
            points: positions,
            faces,
            ..Welded::default()
        },
        slabs: cut.slabs.len(),
        left,
        visits,
        face_parts,
    })
}

/// Refuses guards and methods that slabs do without.
fn check_options(options: &Options) -> Result<()> {
    if options.guards != Guards::default() {
        return Err(Error::GuardsInSlabs);
    }
    match options.method {
        Method::Auto | Method::Grid => Ok(()),
        method => Err(Error::MethodInSlabs { method }),
    }
}

/// As the check of the serial algorithm, by all threads.
fn check(points: &[DVec3], faces: &[[u32; 3]], options: &Options) -> Result<()> {
    options.check()?;
    if points.len() >= NONE as usize || faces.len() >= NONE as usize {
        return Err(Error::TooLarge {
            points: points.len(),
            faces: faces.len(),
            most_points: NONE as usize - 1,
            most_faces: NONE as usize - 1,
        });
    }
    let is_bad = |&p: &DVec3| !super::is_weldable(p);
    if let Some(vertex) = parallel::position(points, is_bad) {
        return Err(Error::Coordinate { vertex });
    }
    let is_bad = |face: &[u32; 3]| face.iter().any(|&v| v as usize >= points.len());
    match parallel::position(faces, is_bad) {
        Some(face) => Err(Error::FaceIndex { face }),
        None => Ok(()),
    }
}

fn too_dense(on: &Device, vertices: usize, limit: u64) -> Error {
    Error::TooDense {
        device: on.name(),
        vertices,
        needed: bytes_of_slab(vertices),
        limit,
    }
}

/// Slabs of at most `most` vertices, and the slab of each vertex; the error is that of [`Cut::new`].
fn cut_slabs(
    on: &Device,
    points: &[DVec3],
    reach: f64,
    most: usize,
) -> Result<Result<(Cut, Vec<u32>), usize>> {
    let work = || {
        let cut = Cut::new(points, reach, most)?;
        let slab_of = parallel::map(points, |p| cut.slab_of(p[cut.axis]));
        Ok((cut, slab_of))
    };
    stage(on, "cut slabs", || Ok(on.on_host(work)))
}

/// The state of the vertices while passes go over the slabs.
struct Sweep<'a> {
    points: &'a [DVec3],
    cut: Cut,
    options: &'a Options,
    reach: f64,
    /// Whether all vertices of each slab have their representatives.
    is_done: Vec<bool>,
    /// As [`InSlabs::left`].
    left: Vec<usize>,
    /// As [`InSlabs::visits`].
    visits: usize,
    /// Slab of each vertex; V.
    slab_of: Vec<u32>,
    /// State of each vertex; V.
    states: Vec<u8>,
    /// Representative of each vertex of the slabs that are done; V.
    representatives: Vec<u32>,
    /// Number of undecided vertices.
    undecided: usize,
}

/// Vertices for a visit, ascending.
struct Gathered {
    ids: Vec<u32>,
    points: Vec<DVec3>,
    known: Vec<u8>,
    /// Undecided vertices of the halo.
    waiting: usize,
}

impl<'a> Sweep<'a> {
    /// Nothing is decided yet of slabs of at most `most` vertices; the error is that of [`Cut::new`].
    fn new(
        on: &Device,
        points: &'a [DVec3],
        most: usize,
        options: &'a Options,
    ) -> Result<Result<Self, usize>> {
        let reach = options.nearness().reach;
        let cut = cut_slabs(on, points, reach, most)?;
        Ok(cut.map(|(cut, slab_of)| Self {
            points,
            options,
            reach,
            is_done: vec![false; cut.slabs.len()],
            left: Vec::new(),
            visits: 0,
            cut,
            slab_of,
            states: vec![UNDECIDED; points.len()],
            representatives: vec![0; points.len()],
            undecided: points.len(),
        }))
    }

    /// Goes on with slabs of at most `most` vertices, and keeps all decisions. Returns whether there are such slabs.
    fn cut_again(&mut self, on: &Device, most: usize) -> Result<bool> {
        let Ok((cut, slab_of)) = cut_slabs(on, self.points, self.reach, most)? else {
            return Ok(false);
        };
        self.is_done = vec![false; cut.slabs.len()];
        (self.cut, self.slab_of) = (cut, slab_of);
        Ok(true)
    }

    /// Visits all undecided vertices, if at most `most` are needed for that, and each slab that is not done.
    fn pass(&mut self, on: &Device, most: usize) -> Result<()> {
        if !self.left.is_empty() && self.visit_rest(on, most)? {
            self.visits += 1;
        }
        let is_up = self.left.len().is_multiple_of(2);
        for i in 0..self.is_done.len() {
            let k = if is_up { i } else { self.is_done.len() - 1 - i };
            if !self.is_done[k] {
                self.is_done[k] = self.visit_slab(on, k as u32)?;
                self.visits += 1;
            }
        }
        self.left.push(self.undecided);
        Ok(())
    }

    /// Decides the vertices of slab `k` as far as possible. Returns whether the slab is done.
    fn visit_slab(&mut self, on: &Device, k: u32) -> Result<bool> {
        let gathered = on.stage("gather slab", || Ok(on.on_host(|| self.gather_slab(k))))?;
        self.visit(on, k, &gathered)
    }

    /// Decides all undecided vertices, if they fit at once. Returns whether they did.
    fn visit_rest(&mut self, on: &Device, most: usize) -> Result<bool> {
        if self.undecided == 0 || self.undecided > most {
            return Ok(false);
        }
        let gathered = on.stage("gather slab", || Ok(on.on_host(|| self.gather_rest())))?;
        if gathered.ids.len() > most {
            return Ok(false);
        }
        self.visit(on, NONE, &gathered)?;
        Ok(true)
    }

    /// Decides the gathered vertices as far as possible. If all are decided, and `k` is a slab, finds the
    /// representatives of its vertices. Returns whether it found them.
    fn visit(&mut self, on: &Device, k: u32, gathered: &Gathered) -> Result<bool> {
        let (points, mut known) = on.stage("copy to the device", || {
            Ok((on.upload(&gathered.points)?, on.upload(&gathered.known)?))
        })?;
        let none = DeviceCarried::none(on)?;
        let guards = DeviceGuards::new(points.len(), &Guards::default(), &none, &none)?;
        // Complete lists take memory beyond the limit, and hold more than the rows to decide.
        let tuning = Tuning {
            dense_share: Some(0),
            ..self.options.tuning
        };
        let near = Near::<kernel::Unguarded> {
            grid: DeviceGrid::build(on, &points, &self.options.nearness(), &tuning, true)?,
            on,
            points: &points,
            limits: kernel::Unguarded::zeroed(),
            guards: &guards,
        };
        let is_last = k != NONE && gathered.waiting == 0;
        let found = match near.grid.is_crowded() {
            true => visit::by_buckets(&near, &tuning, &mut known, is_last)?,
            false => visit::by_lists(&near, &tuning, &mut known, is_last)?,
        };
        let is_done = found.is_some();
        let representatives = match found {
            Some(representatives) => representatives,
            None => on.uninitialized(0)?,
        };
        let (known, representatives): (Vec<u8>, Vec<u32>) = on.stage("copy to the host", || {
            Ok((on.download(&known)?, on.download_rows(&representatives)?))
        })?;
        on.stage("gather slab", || {
            on.on_host(|| self.scatter(k, &gathered.ids, &known, &representatives));
            Ok(())
        })?;
        Ok(is_done)
    }

    /// The vertices of slab `k`, and those of its halo that can decide them.
    fn gather_slab(&self, k: u32) -> Gathered {
        let Cut { axis, slabs } = &self.cut;
        let slab: &Slab = &slabs[k as usize];
        let is_here = |v: usize| {
            let s = self.slab_of[v];
            s == k
                || (slab.around.contains(&s)
                    && self.states[v] != MEMBER
                    && slab.is_near(self.points[v][*axis], self.reach))
        };
        let is_own = |v: usize| self.slab_of[v] == k;
        self.gather(is_here, is_own)
    }

    /// All undecided vertices, and representatives within epsilon of any along the axis.
    fn gather_rest(&self) -> Gathered {
        let axis = self.cut.axis;
        let mut undecided = parallel::filter_collect(self.points.len(), |v| {
            (self.states[v] == UNDECIDED).then(|| self.points[v][axis])
        });
        parallel::sort_floats(&mut undecided);
        let is_near = |x: f64| {
            let next = undecided.partition_point(|&u| x - u > self.reach);
            next < undecided.len() && undecided[next] - x <= self.reach
        };
        let is_here = |v: usize| match self.states[v] {
            UNDECIDED => true,
            MEMBER => false,
            _ => is_near(self.points[v][axis]),
        };
        self.gather(is_here, |_| true)
    }

    fn gather(
        &self,
        is_here: impl Fn(usize) -> bool + Sync,
        is_own: impl Fn(usize) -> bool + Sync,
    ) -> Gathered {
        let here = |v| is_here(v).then_some(v as u32);
        let ids = parallel::filter_collect(self.points.len(), here);
        let known = |&v: &u32| match self.states[v as usize] {
            UNDECIDED if !is_own(v as usize) => WAITING,
            state => state,
        };
        let known = parallel::map(&ids, known);
        Gathered {
            points: parallel::map(&ids, |&v| self.points[v as usize]),
            waiting: parallel::count(known.len(), |i| known[i] == WAITING),
            ids,
            known,
        }
    }

    /// Notes what a visit found: states, and the `representatives` of slab `k`, places in `ids`, or none at all.
    fn scatter(&mut self, k: u32, ids: &[u32], known: &[u8], representatives: &[u32]) {
        let decided = AtomicUsize::new(0);
        let states = self.states.chunks_mut(CHUNK);
        let all = self.representatives.chunks_mut(CHUNK);
        let mut chunks: Vec<_> = states.zip(all).collect();
        parallel::for_each_mut(&mut chunks, |chunk, (states, all)| {
            let base = chunk * CHUNK;
            let mut newly = 0;
            for i in part_of(ids, base..base + CHUNK) {
                let v = ids[i] as usize - base;
                if known[i] != WAITING {
                    newly += usize::from(states[v] != known[i]);
                    states[v] = known[i];
                }
                if self.slab_of[base + v] == k && !representatives.is_empty() {
                    all[v] = ids[representatives[i] as usize];
                }
            }
            decided.fetch_add(newly, Relaxed);
        });
        self.undecided -= decided.into_inner();
    }
}

/// Places in `ids`, ascending, of those in a range.
fn part_of(ids: &[u32], range: std::ops::Range<usize>) -> std::ops::Range<usize> {
    let place = |end| ids.partition_point(|&v| (v as usize) < end);
    place(range.start)..place(range.end)
}

/// The cluster of each vertex, and the representatives of the clusters, ascending.
fn number_clusters(representatives: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let own = |v| (representatives[v] == v as u32).then_some(v as u32);
    let ids = parallel::filter_collect(representatives.len(), own);
    let mut numbers = vec![0; representatives.len()];
    parallel::for_chunks_mut(&mut numbers, CHUNK, |chunk, numbers| {
        let base = chunk * CHUNK;
        for cluster in part_of(&ids, base..base + CHUNK) {
            numbers[ids[cluster] as usize - base] = cluster as u32;
        }
    });
    let number = |&v: &u32| numbers[v as usize];
    (parallel::map(representatives, number), ids)
}

/// Mean of the points of each cluster, added in ascending order: each thread goes through all vertices and adds up
/// those of its clusters.
fn means(points: &[DVec3], map: &[u32], clusters: usize) -> Vec<DVec3> {
    // From -0.0, not 0.0: only adding to -0.0 leaves the first point as it is.
    let mut sums = vec![DVec3::splat(-0.0); clusters];
    let share = clusters.div_ceil(rayon::current_num_threads()).max(1);
    parallel::for_chunks_mut(&mut sums, share, |thread, sums| {
        let first = (thread * share) as u32;
        let nothing = [f64::INFINITY, f64::NEG_INFINITY];
        let mut members = vec![(0u32, [nothing; 3]); sums.len()];
        for (&p, &cluster) in points.iter().zip(map) {
            let i = cluster.wrapping_sub(first) as usize;
            if i < sums.len() {
                sums[i] += p;
                let (count, ranges) = &mut members[i];
                *count += 1;
                *ranges = [0, 1, 2].map(|k| kernel::with_number(ranges[k], p[k]));
            }
        }
        for (sum, (count, ranges)) in sums.iter_mut().zip(members) {
            let mean = |k: usize| kernel::mean_of(sum[k], count.into(), ranges[k]);
            *sum = DVec3::from_array([0, 1, 2].map(mean));
        }
    });
    sums
}
