//! Rounds of flips: first until each segment is made of edges, then until all other edges are locally Delaunay.

use gpu::delaunay::constrained as kernel;
use gpu::delaunay::constrained::{FREE, NO_SEGMENT};
use gpu::ids::{HalfEdge, Item, Triangle, Vertex};
use trioxide_kernel::Bits;
use trioxide_kernel::launch::Buffer;

use super::sides::spokes;
use super::{Mesh, Segments};
use crate::Result;
use crate::collective::{compact, count_bits};
use crate::device::{BitSet, Device};
use crate::reorder::pick;

/// The arrays that rounds of flips share.
pub(super) struct Rounds {
    /// The first segment that crosses each triangle.
    owners: Buffer<u32>,
    /// Triangles that have one.
    marked: BitSet<Triangle>,
    /// Triangles that flips have changed.
    changed: BitSet<Triangle>,
    claims: Buffer<u32>,
    /// The number of each half-edge after this round.
    moved: Buffer<HalfEdge>,
    round: u32,
}

impl Rounds {
    fn new(on: &Device, mesh: &Mesh) -> Result<Self> {
        let t = mesh.triangles();
        let mut moved = on.uninitialized(3 * t)?;
        gpu::forms::count_up::launch(on, 3 * t as u32, &mut moved)?;
        Ok(Self {
            owners: on.filled(t, NO_SEGMENT)?,
            marked: on.filled(t.div_ceil(32), Bits::new(0))?,
            changed: on.filled(t.div_ceil(32), Bits::new(0))?,
            claims: on.filled(t, FREE)?,
            moved: moved.cast(),
            round: 0,
        })
    }

    /// Flips the chosen edges that hold their claims.
    fn flip(
        &mut self,
        on: &Device,
        mesh: &mut Mesh,
        ends: &Buffer<[u32; 2]>,
        chosen: &Buffer<[HalfEdge; 2]>,
    ) -> Result<()> {
        let n = chosen.len();
        let mut before = on.uninitialized(n)?;
        let mut done = on.uninitialized(n.div_ceil(32))?;
        let changes = kernel::ChangesBuffers {
            corners: &mut mesh.corners,
            lines: &mut mesh.lines,
            owners: &mut self.owners,
            marked: &mut self.marked,
            changed: &mut self.changed,
            moved: &mut self.moved,
        };
        kernel::flip_edges::launch(
            on,
            n as u32,
            chosen,
            self.round,
            &self.claims,
            &mesh.twins,
            &mesh.ranked.sorted,
            ends,
            changes,
            &mut before,
            &mut done,
        )?;
        let (moved, claims) = (&self.moved, &mut self.claims);
        kernel::relink_sides::launch(
            on,
            n as u32,
            chosen,
            &done,
            &before,
            moved,
            &mut mesh.twins,
            claims,
        )?;
        kernel::settle_sides::launch(on, n as u32, chosen, &done, &mut self.moved)?;
        self.round += 1;
        Ok(())
    }

    /// Flips edges that cross the owners of their triangles, until none can be flipped.
    fn flip_crossing(
        &mut self,
        on: &Device,
        mesh: &mut Mesh,
        ends: &Buffer<[u32; 2]>,
    ) -> Result<()> {
        loop {
            let list = compact(on, &self.marked)?;
            let n = list.len();
            let mut chosen = on.uninitialized(n)?;
            let mut bits: BitSet<Item> = on.uninitialized(n.div_ceil(32))?;
            kernel::choose_crossing::launch(
                on,
                n as u32,
                &list,
                mesh.parameter(),
                ends,
                &mesh.lines,
                &self.owners,
                self.round,
                &mut self.claims,
                &mut chosen,
                &mut bits,
            )?;
            if count_bits(on, &bits)? == 0 {
                return Ok(());
            }
            self.flip(on, mesh, ends, &chosen)?;
        }
    }
}

/// Makes edges of segments; or gives two that cross each other.
pub(super) fn insert(
    on: &Device,
    mesh: &mut Mesh,
    segments: &Segments,
) -> Result<std::result::Result<Option<Rounds>, [u32; 2]>> {
    let mut list: Buffer<Vertex> = on.uninitialized(segments.ends.len())?;
    gpu::forms::count_up::launch(on, list.len() as u32, &mut list)?;
    let mut list: Buffer<Item> = list.cast();
    let mut rounds = None;
    loop {
        let spokes = spokes(on, mesh)?;
        let n = list.len() as u32;
        let mut bits = on.uninitialized(list.len().div_ceil(32))?;
        // Taken out, since the parameter borrows the mesh.
        let mut lines = std::mem::replace(&mut mesh.lines, on.uninitialized(0)?);
        let parameter = mesh.parameter();
        let ends = &segments.ends;
        kernel::mark_edges::launch(
            on, n, &list, parameter, &spokes, ends, &mut lines, &mut bits,
        )?;
        mesh.lines = lines;
        let left: Buffer<Item> = compact(on, &bits)?;
        if left.is_empty() {
            return Ok(Ok(rounds));
        }
        list = pick(on, list.as_words(), &left)?.cast();
        let rounds = match &mut rounds {
            Some(rounds) => rounds,
            none => none.insert(Rounds::new(on, mesh)?),
        };
        let mut crossing: Buffer<u64> = on.filled(2, u32::MAX)?.cast();
        kernel::mark_crossed::launch(
            on,
            list.len() as u32,
            &list,
            mesh.parameter(),
            &spokes,
            ends,
            &mesh.lines,
            &mut rounds.owners,
            &mut rounds.marked,
            &mut crossing,
        )?;
        let pair = on.read(&crossing, 0)?;
        if pair != u64::MAX {
            let both = [(pair >> 32) as usize, (pair & 0xFFFF_FFFF) as usize];
            let mut both = [
                on.read(&segments.order, both[0])?,
                on.read(&segments.order, both[1])?,
            ];
            both.sort_unstable_by(|a, b| b.cmp(a));
            return Ok(Err(both));
        }
        rounds.flip_crossing(on, mesh, ends)?;
    }
}

/// Flips edges that are not locally Delaunay, of the triangles that segments have changed.
pub(super) fn restore(
    on: &Device,
    mesh: &mut Mesh,
    segments: &Segments,
    rounds: Option<Rounds>,
) -> Result<()> {
    let Some(mut rounds) = rounds else {
        return Ok(());
    };
    loop {
        let list = compact(on, &rounds.changed)?;
        if list.is_empty() {
            return Ok(());
        }
        let mut chosen = on.uninitialized(list.len())?;
        kernel::choose_illegal::launch(
            on,
            list.len() as u32,
            &list,
            mesh.parameter(),
            &mesh.lines,
            rounds.round,
            &mut rounds.changed,
            &mut rounds.claims,
            &mut chosen,
        )?;
        rounds.flip(on, mesh, &segments.ends, &chosen)?;
    }
}
