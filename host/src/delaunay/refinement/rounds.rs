//! Rounds of proposals, until no triangle is bad and no subsegment is encroached.

use glam::DVec2;
use gpu::delaunay::constrained::MeshBuffers;
use gpu::delaunay::refinement as kernel;
use gpu::ids::{HalfEdge, Item, Place, Triangle};
use kernel::Goal;
use trioxide_kernel::Bits;
use trioxide_kernel::launch::Buffer;

use super::Background;
use super::begin::{Mesh, Wanted, lengthen};
use super::end;
use crate::collective::{compact, exclusive_scan, lengths};
use crate::device::{BitSet, Device};
use crate::{Error, Result};

/// Bad triangles that may propose in a round, at least. Proposals exclude each other where cavities are large: if two
/// of three lose, half as many triangles may propose in the next round, and twice as many if most are done.
const LEAST_PROPOSERS: usize = 256;

/// The claims and lists of rounds.
struct Rounds<'a, const SIZED: bool> {
    on: &'a Device,
    wanted: Wanted<'a>,
    bad: BitSet<Triangle>,
    /// Triangles that may have subsegments to split.
    marked: BitSet<Triangle>,
    claims: Buffer<u64>,
    round: u32,
    /// Bad triangles that may propose in the next round.
    proposers: usize,
    added: usize,
    most: usize,
}

/// Refines a mesh, by no more than `most` vertices; `SIZED` if there are sizes.
pub(super) fn run<const SIZED: bool>(
    on: &Device,
    mesh: &mut Mesh,
    wanted: Wanted<'_>,
    most: usize,
) -> Result<()> {
    let t = mesh.triangles();
    let (any_area, any_size) = (on.upload(&[f64::INFINITY])?, Background::none(on)?);
    let mut rounds = Rounds::<SIZED> {
        on,
        wanted: Wanted {
            goal: Goal {
                squared_cosine: f64::INFINITY,
                ..wanted.goal
            },
            areas: &any_area,
            sizes: &any_size,
        },
        bad: on.filled(t.div_ceil(32), Bits::new(0))?,
        marked: on.filled(t.div_ceil(32), Bits::new(0))?,
        claims: free_claims(on, t)?,
        round: 0,
        proposers: usize::MAX,
        added: 0,
        most,
    };
    rounds.mark_encroached(mesh)?;
    // All encroached subsegments are split before a triangle is judged.
    while rounds.advance(mesh)? {}
    rounds.wanted = wanted;
    rounds.judge(mesh)?;
    while rounds.advance(mesh)? {}
    Ok(())
}

/// Claims of no proposal, for some more triangles.
fn free_claims(on: &Device, triangles: usize) -> Result<Buffer<u64>> {
    let room = triangles + triangles / 4;
    Ok(on.filled(2 * room, u32::MAX)?.cast())
}

/// The parameter of kernels.
fn parameter<'a>(
    corners: &'a Buffer<Place>,
    twins: &'a Buffer<HalfEdge>,
    sorted: &'a Buffer<DVec2>,
) -> MeshBuffers<'a> {
    MeshBuffers {
        corners,
        twins,
        sorted,
    }
}

/// Proposals of a round.
struct Proposals {
    kinds: Buffer<u32>,
    starts: Buffer<HalfEdge>,
    claims: Buffer<u64>,
    x: Buffer<f64>,
    y: Buffer<f64>,
}

impl Proposals {
    fn new(on: &Device, n: usize) -> Result<Self> {
        Ok(Self {
            kinds: on.uninitialized(n)?,
            starts: on.uninitialized(n)?,
            claims: on.uninitialized(n)?,
            x: on.uninitialized(n)?,
            y: on.uninitialized(n)?,
        })
    }

    fn changed(&mut self) -> kernel::ProposalsBuffers<'_> {
        kernel::ProposalsBuffers {
            kinds: &mut self.kinds,
            starts: &mut self.starts,
            claims: &mut self.claims,
            x: &mut self.x,
            y: &mut self.y,
        }
    }

    fn made(&self) -> kernel::ProposedBuffers<'_> {
        kernel::ProposedBuffers {
            kinds: &self.kinds,
            starts: &self.starts,
            claims: &self.claims,
        }
    }
}

impl<const SIZED: bool> Rounds<'_, SIZED> {
    fn mark_encroached(&mut self, mesh: &mut Mesh) -> Result<()> {
        let n = mesh.corners.len() as u32;
        let parameter = parameter(&mesh.corners, &mesh.twins, &mesh.sorted);
        let (lines, marked) = (&mut mesh.lines, &mut self.marked);
        kernel::mark_encroached::launch(
            self.on,
            n,
            parameter,
            self.wanted.goal.lens,
            lines,
            marked,
        )?;
        Ok(())
    }

    fn judge(&mut self, mesh: &Mesh) -> Result<()> {
        let bounds = self.wanted.of(&mesh.kinds, &mesh.wholes);
        kernel::judge_triangles::launch::<SIZED>(
            self.on,
            mesh.triangles() as u32,
            &mesh.corners,
            &mesh.sorted,
            &mesh.regions,
            bounds,
            &mut self.bad,
        )?;
        Ok(())
    }

    /// Does a round. Returns false if there is nothing to do.
    fn advance(&mut self, mesh: &mut Mesh) -> Result<bool> {
        let on = self.on;
        let marked: Buffer<Triangle> = compact(on, &self.marked)?;
        let bad: Buffer<Triangle> = compact(on, &self.bad)?;
        if marked.is_empty() && bad.is_empty() {
            return Ok(false);
        }
        self.round += 1;
        // A claim has 16 bits for its round, which make it lower than those of earlier rounds.
        let is_last = self.round == u32::from(u16::MAX);
        if is_last {
            self.round = 1;
        }
        if is_last || self.claims.len() < mesh.triangles() {
            self.claims = free_claims(on, mesh.triangles())?;
        }
        let stride = bad.len().div_ceil(self.proposers).max(1);
        let (splits, inserts) = (marked.len(), bad.len().div_ceil(stride));
        let n = splits + inserts;
        let mut proposals = Proposals::new(on, n)?;
        kernel::propose_splits::launch(
            on,
            splits as u32,
            &marked,
            self.round,
            parameter(&mesh.corners, &mesh.twins, &mesh.sorted),
            &mesh.kinds,
            &mut mesh.lines,
            &mut self.marked,
            &mut self.claims,
            proposals.changed(),
        )?;
        let were_bad = on.duplicate(&self.bad)?;
        kernel::propose_inserts::launch::<SIZED>(
            on,
            inserts as u32,
            &bad,
            stride as u32,
            splits as u32,
            self.round,
            parameter(&mesh.corners, &mesh.twins, &mesh.sorted),
            &mesh.regions,
            self.wanted.of(&mesh.kinds, &mesh.wholes),
            &were_bad,
            &mut mesh.lines,
            &mut self.bad,
            &mut self.marked,
            &mut self.claims,
            proposals.changed(),
        )?;
        let mut starts = lengths(on, n)?;
        let mut done: BitSet<Item> = on.uninitialized(n.div_ceil(32))?;
        let mut lost = on.filled(1, 0)?;
        kernel::confirm_rings::launch(
            on,
            n as u32,
            proposals.made(),
            &mesh.twins,
            &mesh.lines,
            &self.claims,
            &mut starts,
            &mut lost,
            &mut done,
        )?;
        let total = exclusive_scan(on, &mut starts)?;
        let (total, list) = on.read_beside(&total, || compact(on, &done))?;
        let lost = on.read(&lost, 0)? as usize;
        if list.is_empty() {
            // All may propose: the lowest claim of all bad triangles is done.
            self.proposers = usize::MAX;
        } else if lost > 2 * list.len() {
            self.proposers = (inserts / 2).max(LEAST_PROPOSERS);
        } else if lost < list.len() {
            self.proposers = self.proposers.saturating_mul(2);
        }
        // First, while each triangle has a claim.
        self.remove_vertices(mesh, &proposals, splits)?;
        self.add_vertices(mesh, &proposals, &list, &starts, total[0] as usize)?;
        Ok(true)
    }

    /// Adds the vertices of a list of proposals, with `sides` new triangles around them.
    fn add_vertices(
        &mut self,
        mesh: &mut Mesh,
        proposals: &Proposals,
        list: &Buffer<Item>,
        starts: &Buffer<u32>,
        sides: usize,
    ) -> Result<()> {
        let (on, n) = (self.on, list.len());
        if n == 0 {
            return Ok(());
        }
        self.added += n;
        if self.added > self.most {
            let (length, at) = end::shortest_edge(on, mesh)?;
            let sizes = if SIZED { ", larger sizes" } else { "" };
            return Err(Error::Invalid {
                element: "the outline".to_owned(),
                rule: format!(
                    "needs more than the {} vertices that may be added: the shortest edge so far, of length {length:.3e}, is at \
                     {at}; give a smaller angle, a larger area{sizes} or more vertices",
                    self.most,
                ),
            });
        }
        let (vertices, triangles) = (mesh.sorted.len(), mesh.triangles());
        mesh.grow(on, vertices + n, triangles + 2 * n)?;
        lengthen(on, &mut self.bad, mesh.triangles())?;
        lengthen(on, &mut self.marked, mesh.triangles())?;
        let mut ring = on.uninitialized(kernel::SIDE as usize * sides)?;
        let mut ends = on.uninitialized(kernel::ENDS as usize * n)?;
        let empty = on.uninitialized(0)?;
        let mut points = std::mem::replace(&mut mesh.sorted, empty).cast();
        kernel::list_rings::launch(
            on,
            n as u32,
            list,
            proposals.made(),
            &proposals.x,
            &proposals.y,
            &mesh.corners,
            &mesh.twins,
            &mesh.lines,
            &mesh.regions,
            &self.claims,
            starts,
            vertices as u32,
            triangles as u32,
            &mut ring,
            &mut ends,
            &mut points,
            &mut mesh.kinds,
        )?;
        mesh.sorted = points.cast();
        let bounds = self.wanted.of(&mesh.kinds, &mesh.wholes);
        kernel::write_rings::launch::<SIZED>(
            on,
            sides as u32,
            &ring,
            list,
            starts,
            &ends,
            vertices as u32,
            triangles as u32,
            &mesh.sorted,
            bounds,
            kernel::WrittenBuffers {
                corners: &mut mesh.corners,
                twins: &mut mesh.twins,
                lines: &mut mesh.lines,
                regions: &mut mesh.regions,
                bad: &mut self.bad,
                marked: &mut self.marked,
            },
        )?;
        Ok(())
    }

    /// Removes the vertices of the first `splits` proposals that do so.
    fn remove_vertices(
        &mut self,
        mesh: &mut Mesh,
        proposals: &Proposals,
        splits: usize,
    ) -> Result<()> {
        let on = self.on;
        if splits == 0 {
            return Ok(());
        }
        let mut done: BitSet<Item> = on.uninitialized(splits.div_ceil(32))?;
        let (n, made) = (splits as u32, proposals.made());
        kernel::confirm_removals::launch(on, n, made, &mesh.twins, &self.claims, &mut done)?;
        let list = compact(on, &done)?;
        let bounds = self.wanted.of(&mesh.kinds, &mesh.wholes);
        kernel::remove_vertices::launch::<SIZED>(
            on,
            list.len() as u32,
            &list,
            proposals.made(),
            &self.claims,
            &mesh.regions,
            bounds,
            kernel::ChangedBuffers {
                corners: &mut mesh.corners,
                twins: &mut mesh.twins,
                lines: &mut mesh.lines,
                bad: &mut self.bad,
                marked: &mut self.marked,
                gone: &mut mesh.gone,
                sorted: &mesh.sorted,
            },
        )?;
        Ok(())
    }
}
