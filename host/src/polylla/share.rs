//! A run that several processes make together, each on a part of the mesh: the share of one of them.
//!
//! A process holds the triangles that it *owns* and all that touch a vertex of those, the *ghosts*, numbered in the
//! order of the whole mesh. So its local ids compare as the ids of the whole mesh do, and every tie falls as it does
//! there.
//!
//! | stage | right for | then |
//! | --- | --- | --- |
//! | label longest edges | triangles with all their neighbours: the owned ones | their owners give those of the ghosts |
//! | label frontier edges | spokes of owned triangles' vertices, whose fans are whole | |
//! | link frontier edges, repair barrier tips | tips at those vertices | the owners give the edges that the repair added to ghosts |
//! | find polygons | polygons whose half-edges are all owned | the others are given as pieces |
//!
//! Where the ghosts end, their edges have no twin and are frontier edges: no walk leaves the part, and its links are
//! cycles. A cycle of owned half-edges alone is a polygon of the whole mesh, since the links of an owned half-edge need
//! only the fans of its ends. Its seed is here too: every corner of every triangle of its region lies on the cycle, so
//! all of these triangles touch an owned one. A cycle with a ghost may be cut short where the part ends: only its owned
//! half-edges count, each with its successor.
//!
//! Edges that stay for a feature angle are marked on a part as on the whole mesh: both triangles of each are here, with
//! the same normals. Edges that stay for flatness depend on a whole region: the processes decide them by their
//! [`Slopes`].
//!
//! A polygon of owned half-edges that visits a vertex twice is cut here, if that is asked for: all triangles of its
//! region are here, and a cut needs nothing else. A side of a piece may then be a ghost's.

use glam::DVec3;
use trioxide_kernel::Bits;
use trioxide_mesh::parallel;

use super::angles::measure_normals;
use super::split_weakly_simple;
use super::{Constraints, Links, Result, WholeIds, digest_of_part, download_lists};
use super::{find_links, mark_middles};
use super::{label_frontier, label_longest, link_new_edges, list_polygons, mark_polygons};
use crate::bit_set::contains;
use crate::collective::{Csr, compact, count_bits, exclusive_scan, lengths};
use crate::device::{BitSet, Device};
use crate::half_edges::{AnyPoint, DeviceTriangulation};
use crate::mesh::{Polygons, Ties};
use gpu::ids::{HalfEdge, Polygon, Triangle, Vertex};
use gpu::point::MeshPoint;
use gpu::polylla::kernels as kernel;
use trioxide_kernel::launch::Buffer;

/// How the owners' flags of half-edges reach the ghosts of other processes.
///
/// # Safety
/// [`exchange`](Owners::exchange) returns the flags that the owner of each ghost gave for it: walks over other flags
/// may never end.
pub unsafe trait Owners {
    /// The triangles whose flags others get, in the order in which [`exchange`](Owners::exchange) takes them.
    fn given(&self) -> &[u32];

    /// The ghosts, in the order in which it gives their flags.
    fn ghosts(&self) -> &[u32];

    /// Gives the flags of owned triangles to the processes that have them as ghosts, and returns those of ghosts: a
    /// byte a triangle, a bit for each of its half-edges.
    ///
    /// # Errors
    /// Another process has failed.
    fn exchange(&mut self, given: Vec<u8>) -> crate::Result<Vec<u8>>;
}

/// The owners' flags, and the triangles of both sides on the device.
struct Ghosts<'o> {
    owners: &'o mut dyn Owners,
    given: Buffer<Triangle>,
    ghosts: Buffer<Triangle>,
}

impl<'o> Ghosts<'o> {
    /// Refuses ids that are not below `triangles`.
    fn upload(on: &Device, owners: &'o mut dyn Owners, triangles: u32) -> crate::Result<Self> {
        let upload = |ids: &[u32]| {
            let is_triangle = |&t: &u32| t < triangles;
            assert!(parallel::all(ids, is_triangle), "triangles of the part");
            on.upload(bytemuck::cast_slice(ids))
        };
        let (given, ghosts) = on.stage("copy to the device", || {
            Ok((upload(owners.given())?, upload(owners.ghosts())?))
        })?;
        Ok(Self {
            given,
            ghosts,
            owners,
        })
    }

    /// Gives the ghosts the flags of their owners; with `keeps` flags that are set stay.
    fn exchange(
        &mut self,
        on: &Device,
        flags: &mut BitSet<HalfEdge>,
        keeps: bool,
    ) -> crate::Result<()> {
        const STAGE: &str = "exchange flags";
        let (given, ghosts) = (&self.given, &self.ghosts);
        let taken = on.stage(STAGE, || {
            let mut taken = on.uninitialized(given.len())?;
            let n = given.len() as u32;
            kernel::take_flags::launch(on, n, given, flags, &mut taken)?;
            on.download(&taken)
        })?;
        let of_owners = self.owners.exchange(taken)?;
        on.stage(STAGE, || {
            let of_owners = on.upload(&of_owners)?;
            let (n, keeps) = (of_owners.len() as u32, u32::from(keeps));
            kernel::give_flags::launch(on, n, ghosts, &of_owners, keeps, flags)?;
            Ok(())
        })
    }
}

/// The members of a set that are in a mask, or with `flip` the members that are not.
fn masked(
    on: &Device,
    set: &BitSet<HalfEdge>,
    mask: &BitSet<HalfEdge>,
    flip: bool,
) -> crate::Result<BitSet<HalfEdge>> {
    let mut both = on.uninitialized(set.len())?;
    let (n, flip) = (set.len() as u32, if flip { u32::MAX } else { 0 });
    let (set, mask) = (set.as_words(), mask.as_words());
    kernel::mask_bits::launch(on, n, set, mask, flip, &mut both)?;
    Ok(both.cast())
}

/// The triangles of a process's part of a surface, in host memory: all that keeps regions flat depends on.
pub struct Slopes {
    /// The other half-edge of the edge of each half-edge; an id of 3T or more at a border.
    pub twins: Vec<u32>,
    /// Whether each half-edge is the longest of its triangle, also of ghosts; a bit each.
    pub longest: Vec<u32>,
    /// Whether each half-edge is constrained; a bit each, or empty.
    pub constrained: Vec<u32>,
    /// Normal of each triangle.
    pub normals: Vec<DVec3>,
}

impl Slopes {
    /// Measures the part `mesh`.
    ///
    /// # Errors
    /// [`Error::OtherMesh`](super::Error::OtherMesh); errors of the device; those of `owners`.
    ///
    /// # Panics
    /// When a triangle of `owners` is not in the part.
    pub fn measure<P: AnyPoint + MeshPoint<Double = DVec3>>(
        on: &Device,
        mesh: &DeviceTriangulation<P>,
        constraints: Option<&Constraints>,
        owners: &mut dyn Owners,
    ) -> Result<Self> {
        let mut ghosts = Ghosts::upload(on, owners, mesh.triangles())?;
        let mut longest = label_longest(on, mesh, Ties::Edge)?;
        ghosts.exchange(on, &mut longest, false)?;
        let constrained = Constraints::edges(constraints, mesh)?;
        let normals = measure_normals(on, mesh)?;
        Ok(on.stage("copy to the host", || -> crate::Result<_> {
            let constrained = constrained.map(|edges| on.download(edges.as_words()));
            Ok(Self {
                twins: on.download_rows(mesh.twins())?,
                longest: on.download(longest.as_words())?,
                constrained: constrained.transpose()?.unwrap_or_default(),
                normals: on.download(&normals)?,
            })
        })?)
    }

    /// The longest half-edge of triangle `t`.
    ///
    /// # Panics
    /// When there is no such triangle.
    pub fn longest_of(&self, t: u32) -> u32 {
        let mut half_edges = 3 * t..3 * t + 3;
        let longest = half_edges.find(|&h| contains(&self.longest, h as usize));
        longest.expect("a triangle has a longest edge")
    }

    /// The other half-edge of the edge of half-edge `h`, if a polygon may cross it.
    ///
    /// # Panics
    /// When there is no such half-edge.
    pub fn across(&self, h: u32) -> Option<u32> {
        let twin = self.twins[h as usize];
        let is_constrained =
            !self.constrained.is_empty() && contains(&self.constrained, h as usize);
        ((twin as usize) < self.twins.len() && !is_constrained).then_some(twin)
    }
}

/// The polygons of one process's part.
pub struct PolygonShare {
    /// Number of triangles, and of vertices, of the part.
    elements: [u32; 2],
    /// Smallest half-edge of each polygon whose half-edges are all owned, or of its pieces, ascending.
    half_edges: Buffer<HalfEdge>,
    /// The vertices of each of them, from the origin of that half-edge.
    lists: Csr<Polygon, Vertex>,
    /// How many of them visit a vertex more than once: none where they are cut.
    pub weakly_simple: u32,
    /// Cycles with half-edges of ghosts, as lists of half-edges: each owned one is followed by its successor.
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

impl PolygonShare {
    /// Number of polygons whose half-edges are all owned, or of their pieces.
    pub fn polygons(&self) -> usize {
        self.half_edges.len()
    }

    /// The [digest](crate::digest::of_polygons) of these polygons, by the ids of the whole mesh; it does not take them
    /// from the device.
    ///
    /// # Errors
    /// Errors of the device.
    ///
    /// # Panics
    /// When a list is not as long as the part has triangles, or vertices.
    pub fn digest(
        &self,
        on: &Device,
        triangles: WholeIds,
        vertices: WholeIds,
    ) -> crate::Result<u64> {
        let [of_triangles, of_vertices] = self.elements;
        assert!(triangles.have(of_triangles), "an id for each triangle");
        assert!(vertices.have(of_vertices), "an id for each vertex");
        // SAFETY: the lists are those of a run over the part, whose triangles and vertices have ids.
        unsafe { digest_of_part(on, &self.half_edges, &self.lists, triangles, vertices) }
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
/// As [`polylla`](super::polylla()); those of `owners`.
///
/// # Panics
/// When a triangle of `owners` is not in the part.
pub fn polylla_share<P: AnyPoint>(
    on: &Device,
    mesh: &DeviceTriangulation<P>,
    constraints: Option<&Constraints>,
    owned: &[u32],
    strict: bool,
    owners: &mut dyn Owners,
) -> Result<PolygonShare> {
    let mut ghosts = Ghosts::upload(on, owners, mesh.triangles())?;
    let own: BitSet<HalfEdge> = on.upload(owned)?.cast();
    let count_owned = |set: &BitSet<HalfEdge>| count_bits(on, &masked(on, set, &own, false)?);
    let mut longest = label_longest(on, mesh, Ties::Edge)?;
    ghosts.exchange(on, &mut longest, false)?;
    let (mut frontier, seed_bits) = label_frontier(on, mesh, constraints, &longest)?;
    drop(longest);

    let (before, regions) = (count_owned(&frontier)?, count_owned(&seed_bits)?);
    let boundary: Vec<u32> = on.download_rows(mesh.border())?;
    let boundary = boundary
        .iter()
        .filter(|&&h| contains(owned, h as usize))
        .count() as u32;

    let (mut links, tip_bits) = find_links(on, mesh, &frontier, false)?;
    let (middles, barrier_tips, here) = on.stage("repair barrier tips", || {
        let tips = compact(on, &tip_bits)?;
        let of_owned = count_owned(&tip_bits)?;
        let middles = mark_middles(on, mesh, &tips, &mut frontier)?;
        Ok((middles, of_owned, on.duplicate(&frontier)?))
    })?;
    // Marks of this process stay: a tip whose whole fan is here is a tip for its owner too.
    ghosts.exchange(on, &mut frontier, true)?;
    let added = on.stage("repair barrier tips", || {
        let added = compact(on, &masked(on, &frontier, &here, true)?)?;
        drop(here);
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
        let ghosts = compact(on, &masked(on, &frontier, &own, true)?)?;
        let mut open = on.filled(words, Bits::EMPTY)?;
        mark_polygons(on, mesh, &ghosts, &frontier, &links.next, &mut open)?;
        Ok((found, open))
    })?;
    let (mut found, mut half_edges) = on.stage("compact polygons", || {
        let closed = masked(on, &found, &open, true)?;
        let half_edges = compact(on, &closed)?;
        Ok((closed, half_edges))
    })?;
    let open = list_half_edges(on, &links, &compact(on, &open)?)?;
    let (mut lists, weak) = list_polygons(on, mesh, &links.next, &half_edges)?;
    let weakly_simple = if strict { 0 } else { weak.len() as u32 };
    if strict {
        let labels = (&mut frontier, &mut links);
        (half_edges, lists) =
            split_weakly_simple(on, mesh, (half_edges, lists, weak), labels, &mut found)?;
    }
    Ok(PolygonShare {
        elements: [mesh.triangles(), mesh.points().len() as u32],
        half_edges,
        lists,
        weakly_simple,
        open,
        regions,
        frontier: before,
        boundary,
        barrier_tips,
    })
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
    let (offsets, half_edges) = on.stage("list polygons", || {
        let n = starts.len() as u32;
        let mut offsets = lengths(on, starts.len())?;
        super::count_vertices(on, &links.next, starts, &mut offsets)?;
        exclusive_scan(on, &mut offsets)?;
        let total = on.read(&offsets, starts.len())?;
        let mut half_edges: Buffer<HalfEdge> = on.uninitialized(total as usize)?;
        kernel::write_cycles::launch(on, n, cycles, &offsets, &mut half_edges)?;
        Ok((offsets, half_edges))
    })?;
    on.stage("copy to the host", || {
        Ok(Polygons {
            offsets: on.download(&offsets)?,
            vertices: on.download_rows(&half_edges)?,
        })
    })
}
