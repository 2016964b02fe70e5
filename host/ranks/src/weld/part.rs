//! A rank's points and its ghosts.

use glam::DVec3;
use gpu::weld::known::{REPRESENTATIVE, UNDECIDED, WAITING};
use trioxide::Device;
use trioxide::weld::{self, DeviceMesh};

use super::cloud::{Dealt, Layout, Points};
use super::ghosts;
use crate::fault::{Fault, Result};
use crate::merged::{Held, Merged, MergedIds};
use crate::transport::{Mail, Ranks};

/// A rank's part of the points: owned ones and ghosts.
pub struct Part<'a> {
    pub layout: Layout,
    /// Ascending.
    pub ids: MergedIds,
    own: &'a Points<'a>,
    /// In the order in which they came.
    ghosts: Points<'static>,
    pub merged: Merged,
}

impl<'a> Part<'a> {
    /// This rank's part, with all points of others within `reach` along each axis. Collective.
    pub fn find(ranks: &Ranks, dealt: &'a Dealt, reach: f64) -> Result<Self> {
        ranks.phase("ghosts");
        let (layout, own) = (dealt.layout, &dealt.points);
        let (to, sent) = ghosts::find(ranks, &own.points, dealt.total, dealt.bounds, reach);
        let (size, n, stride) = (ranks.size(), to.len(), layout.stride());
        let rank = |i: usize| to[i] as usize;
        let rows = Mail::rows(size, n, stride, rank, |i, row| {
            let place = sent[i] as usize;
            row[0] = dealt.ids.get(place);
            layout.write(&mut row[1..], place, &own.points, &own.carried());
        });
        let received = ranks.exchange(&rows);
        let counts = (0..size).map(|rank| received.of(rank).len() / stride);
        let counts: Vec<usize> = counts.collect();
        let sent = Mail::sorted(size, n, |i| (rank(i), sent[i]));
        let ids: Vec<u64> = (received.items().chunks_exact(stride))
            .map(|row| row[0])
            .collect();
        let owned = dealt.ids.len();
        ranks.agree(match weld::check_sizes(owned + ids.len(), 0) {
            Ok(()) => Ok(()),
            Err(_) => Err(too_large(ranks.rank(), owned, ids.len())),
        })?;
        let before = |id| dealt.ids.before(id);
        let merged = Merged::new(ranks, owned, before, &sent, &counts, |i| ids[i]);
        Ok(Self {
            layout,
            ids: merged.ids(&dealt.ids, &ids),
            own,
            ghosts: layout.read(received.items(), stride),
            merged,
        })
    }

    /// Copies the points to a device, with what they carry.
    ///
    /// # Errors
    /// Those of [`DeviceMesh::upload_points`].
    pub fn upload(&self, on: &Device) -> weld::Result<DeviceMesh> {
        let (own, ghosts) = (self.own, &self.ghosts);
        match self.merged.places.around(&ghosts.points) {
            Some([lower, higher]) if self.layout == Layout::default() => {
                DeviceMesh::upload_plain_points(on, &[&lower, &own.points, &higher])
            }
            _ => own.merged(ghosts, &self.merged).upload(on),
        }
    }

    /// The points, with what they carry, that have local id `v`, and their place there.
    fn held(&self, v: usize) -> (&Points<'_>, usize) {
        match self.merged.places.held(v) {
            Held::Owned(i) => (self.own, i),
            Held::Ghost(i) => (&self.ghosts, i),
        }
    }

    /// A point.
    pub fn point(&self, v: usize) -> DVec3 {
        let (points, i) = self.held(v);
        points.points[i]
    }

    /// Writes the row of a point.
    pub fn write(&self, row: &mut [u64], v: usize) {
        let (points, i) = self.held(v);
        (self.layout).write(row, i, &points.points, &points.carried());
    }

    /// The states of the points before any is decided: ghosts wait, locked points are representatives.
    pub fn first_states(&self) -> Vec<u8> {
        let mut states = vec![UNDECIDED; self.ids.len()];
        for &ghost in self.merged.halo.ghosts() {
            states[ghost as usize] = WAITING;
        }
        let (own, ghosts) = (&self.own.locked, &self.ghosts.locked);
        if own.is_empty() && ghosts.is_empty() {
            return states;
        }
        let locked = self.merged.places.interleave(1, own, ghosts);
        for (state, is_locked) in states.iter_mut().zip(locked) {
            if is_locked {
                *state = REPRESENTATIVE;
            }
        }
        states
    }
}

fn too_large(rank: usize, owned: usize, ghosts: usize) -> Fault {
    let points = owned + ghosts;
    Fault::from(trioxide::Error::Argument(format!(
        "rank {rank} would hold {points} points, {ghosts} of them within epsilon of its own, more than weld's indices reach: use more \
         ranks, or a smaller epsilon"
    )))
}
