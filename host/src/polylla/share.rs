//! A run that several processes make together, each on a part of the mesh: the share of one of them.
//!
//! A process holds the triangles that it *owns* and all that touch a vertex of those, the *ghosts*, numbered in the order of the whole
//! mesh. So its local ids compare as the ids of the whole mesh do, and every tie falls as it does there.
//!
//! | stage | right for | then |
//! | --- | --- | --- |
//! | label longest edges | triangles with all their neighbours: the owned ones | their owners give those of the ghosts |
//! | label frontier edges | spokes of owned triangles' vertices, whose fans are whole | |
//! | link frontier edges, repair barrier tips | tips at those vertices | the owners give the edges that the repair added to ghosts |
//! | find polygons | polygons whose half-edges are all owned | the others are given as pieces |
//!
//! Where the ghosts end, their edges have no twin and are frontier edges: no walk leaves the part, and its links are cycles. A cycle of
//! owned half-edges alone is a polygon of the whole mesh, since the links of an owned half-edge need only the fans of its ends. Its
//! seed is here too: every corner of every triangle of its region lies on the cycle, so all of these triangles touch an owned one. A
//! cycle with a ghost may be cut short where the part ends: only its owned half-edges count, each with the one behind it.
//!
//! A polygon of owned half-edges that visits a vertex twice is cut here, if that is asked for: all triangles of its region are here, and a
//! cut needs nothing else. A side of a piece may then be a ghost's.

use trioxide_kernel::Bits;
use trioxide_mesh::parallel::{self, GRAIN};

use super::split_weakly_simple;
use super::{Constraints, Links, Result, WholeIds, digest_of_part, download_lists};
use super::{find_links, mark_middles};
use super::{label_frontier, label_longest, link_new_edges, list_polygons, mark_polygons};
use crate::backend::Device;
use crate::bit_set::members;
use crate::collective::{Csr, compact, exclusive_scan, lengths};
use crate::half_edges::{DeviceTriangulation, Point};
use crate::mesh::{Polygons, Ties};
use gpu::ids::{HalfEdge, Polygon, Vertex};
use gpu::polylla as kernel;
use trioxide_kernel::launch::Buffer;

/// How the owners' flags of half-edges reach the ghosts of other processes.
pub trait Owners {
    /// Replaces the flags of each ghost's half-edges by its owner's. A bit a half-edge, 32 to a word.
    ///
    /// # Errors
    /// Another process has failed.
    fn give(&mut self, flags: &mut [u32]) -> crate::Result<()>;
}

/// The polygons of one process's part.
pub struct Share {
    /// Smallest half-edge of each polygon whose half-edges are all owned, or of its pieces, ascending.
    half_edges: Buffer<HalfEdge>,
    /// The vertices of each of them, from the origin of that half-edge.
    lists: Csr<Polygon, Vertex>,
    /// How many of them visit a vertex more than once, or did before they were cut.
    pub weakly_simple: u32,
    /// Cycles with half-edges of ghosts, as lists of half-edges: behind each owned one stands its successor.
    pub open: Polygons,
    /// Counts of owned elements: regions, by their seeds.
    pub regions: u32,
    /// Frontier half-edges before the repair.
    pub frontier: u32,
    /// Those of them at the boundary.
    pub boundary: u32,
    /// Barrier tips.
    pub barrier_tips: u32,
}

impl Share {
    /// Number of polygons whose half-edges are all owned, or of their pieces.
    pub fn polygons(&self) -> usize {
        self.half_edges.len()
    }

    /// The [digest](crate::digest::of_polygons) of these polygons, by the ids of the whole mesh; it does not take them from the device.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn digest(
        &self,
        on: &Device,
        triangles: WholeIds,
        vertices: WholeIds,
    ) -> crate::Result<u64> {
        digest_of_part(on, &self.half_edges, &self.lists, triangles, vertices)
    }

    /// The smallest half-edges of these polygons, and the vertices of each from there on, in host memory.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn download(&self, on: &Device) -> crate::Result<(Vec<u32>, Polygons)> {
        on.stage("copy to the host", || {
            let half_edges = on.download_rows(&self.half_edges)?;
            Ok((half_edges, download_lists(on, &self.lists)?))
        })
    }
}

/// The share of a process: `mesh` is its part, `owned` has a bit for each half-edge of the triangles that it owns.
///
/// Longest edges are ordered by their ids ([`Ties::Edge`]). `strict` is that of [`Options`](super::Options).
///
/// # Errors
/// As [`polylla`](super::polylla()); what `owners` gives.
pub fn polylla_share<P: Point>(
    on: &Device,
    mesh: &DeviceTriangulation<P>,
    constraints: Option<&Constraints>,
    owned: &[u32],
    strict: bool,
    owners: &mut dyn Owners,
) -> Result<Share> {
    let mut longest = on.download(&label_longest(on, mesh, Ties::Edge)?)?;
    owners.give(bytemuck::cast_slice_mut(&mut longest))?;
    let longest = on.upload(&longest)?;
    let (mut frontier, seed_bits) = label_frontier(on, mesh, constraints, &longest)?;
    drop(longest);

    let before: Vec<u32> = on.download_rows(&frontier)?;
    let regions = count_owned(&on.download_rows(&seed_bits)?, owned);
    let boundary: Vec<u32> = on.download_rows(mesh.border())?;
    let boundary = boundary.iter().filter(|&&h| is_in(owned, h)).count() as u32;

    let (mut links, tip_bits) = find_links(on, mesh, &frontier, false)?;
    let (middles, barrier_tips) = on.stage("repair barrier tips", || {
        let tips = compact(on, &tip_bits)?;
        let of_owned = count_owned(&on.download_rows(&tip_bits)?, owned);
        Ok((mark_middles(on, mesh, &tips, &mut frontier)?, of_owned))
    })?;
    let mut after: Vec<u32> = on.download_rows(&frontier)?;
    let here = after.clone();
    owners.give(&mut after)?;
    let added = on.stage("repair barrier tips", || {
        // What is marked here stays: a tip whose fan is here whole is one for the owner too.
        let new = listed(&joined(&after, &here, |all, here| all & !here));
        frontier = upload_bits(on, &joined(&here, &after, |here, all| here | all))?;
        let added: Buffer<HalfEdge> = on.upload(bytemuck::cast_slice(&new))?;
        for new in [&middles, &added] {
            link_new_edges(on, mesh, new, &frontier, &mut links)?;
        }
        Ok(added)
    })?;

    let words = frontier.len();
    let (found, open) = on.stage("find polygons", || {
        let mut found = on.filled(words, Bits::EMPTY)?;
        let seeds = compact(on, &seed_bits)?;
        for seeds in [&seeds, &middles, &added] {
            mark_polygons(on, mesh, seeds, &frontier, &links.next, &mut found)?;
        }
        // The cycles that pass a ghost.
        let all: Vec<u32> = on.download_rows(&frontier)?;
        let ghosts = listed(&joined(&all, owned, |all, owned| all & !owned));
        let ghosts: Buffer<HalfEdge> = on.upload(bytemuck::cast_slice(&ghosts))?;
        let mut open = on.filled(words, Bits::EMPTY)?;
        mark_polygons(on, mesh, &ghosts, &frontier, &links.next, &mut open)?;
        Ok((found, open))
    })?;
    let (mut found, mut half_edges) = on.stage("compact polygons", || {
        let found: Vec<u32> = on.download_rows(&found)?;
        let open: Vec<u32> = on.download_rows(&open)?;
        let closed = joined(&found, &open, |found, open| found & !open);
        let closed = upload_bits(on, &closed)?;
        let half_edges = compact(on, &closed)?;
        Ok((closed, half_edges))
    })?;
    let open = list_half_edges(on, &links, &compact(on, &open)?)?;
    let (mut lists, weak) = list_polygons(on, mesh, &links.next, &half_edges)?;
    let weakly_simple = weak.len() as u32;
    if strict {
        let labels = (&mut frontier, &mut links);
        (half_edges, lists) =
            split_weakly_simple(on, mesh, (half_edges, lists, weak), labels, &mut found)?;
    }
    Ok(Share {
        half_edges,
        lists,
        weakly_simple,
        open,
        regions,
        frontier: count_owned(&before, owned),
        boundary,
        barrier_tips,
    })
}

fn is_in(set: &[u32], i: u32) -> bool {
    set[i as usize / 32] >> (i % 32) & 1 != 0
}

fn count_owned(set: &[u32], owned: &[u32]) -> u32 {
    let counts = parallel::map_pieces(set.len(), GRAIN, |range| {
        let both = set[range.clone()].iter().zip(&owned[range]);
        both.map(|(set, owned)| (set & owned).count_ones())
            .sum::<u32>()
    });
    counts.into_iter().sum()
}

/// Two sets, joined word by word.
fn joined(a: &[u32], b: &[u32], join: impl Fn(u32, u32) -> u32 + Sync) -> Vec<u32> {
    parallel::collect(a.len(), |w| join(a[w], b[w]))
}

/// The members of a set, ascending.
fn listed(set: &[u32]) -> Vec<u32> {
    parallel::concat(parallel::map_pieces(set.len(), GRAIN, |range| {
        let first = 32 * range.start as u32;
        members(&set[range]).map(|i| first + i).collect()
    }))
}

fn upload_bits(on: &Device, set: &[u32]) -> crate::Result<Buffer<Bits<HalfEdge>>> {
    Ok(on.upload(set)?.cast())
}

/// The half-edges of the cycles that begin with `starts`.
fn list_half_edges(
    on: &Device,
    links: &Links,
    starts: &Buffer<HalfEdge>,
) -> crate::Result<Polygons> {
    let cycles = kernel::CyclesBuffers {
        half_edges: starts,
        next: &links.next,
    };
    let n = starts.len() as u32;
    let mut offsets = lengths(on, starts.len())?;
    super::count_vertices(on, &links.next, starts, &mut offsets)?;
    exclusive_scan(on, &mut offsets)?;
    let total = on.read(&offsets, starts.len())?;
    // Each half-edge takes the place of its origin.
    let mut own = on.filled(links.next.len(), 1_u32)?;
    exclusive_scan(on, &mut own)?;
    let own: Buffer<Vertex> = own.cast();
    let mut half_edges = on.uninitialized(total as usize)?;
    let mut repeats: Buffer<Bits<gpu::ids::Polygon>> =
        on.uninitialized(trioxide_kernel::words(starts.len()))?;
    // SAFETY: as in `list_polygons`.
    unsafe {
        kernel::write_polygons::launch(on, n, cycles, &own, &offsets, &mut half_edges, &mut repeats)
    }?;
    Ok(Polygons {
        offsets: on.download(&offsets)?,
        vertices: on.download_rows(&half_edges)?,
    })
}
