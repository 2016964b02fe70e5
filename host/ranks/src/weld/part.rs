//! A rank's points and its ghosts.

use glam::DVec3;
use gpu::weld::known::{REPRESENTATIVE, UNDECIDED, WAITING};
use trioxide::Device;
use trioxide::grid::Run;
use trioxide::weld::{self, Carried, DeviceMesh};

use super::boxes::Boxes;
use super::cloud::{Dealt, Layout, Points, Source};
use super::{ghosts, grid};
use crate::fault::{Fault, Result};
use crate::merged::{Held, Merged, MergedIds};
use crate::transport::{Mail, Ranks};

/// A rank's part of the points: owned ones and ghosts.
pub struct Part<'a> {
    pub layout: Layout,
    /// Ascending.
    pub ids: MergedIds,
    own: &'a Source<'a>,
    /// Of lists, in the order in which they came.
    ghosts: Points<'static>,
    pub merged: Merged,
}

impl<'a> Part<'a> {
    /// This rank's part, with all points of others within `reach` along each axis. Collective.
    pub fn find(ranks: &Ranks, dealt: &'a Dealt, reach: f64) -> Result<Self> {
        ranks.phase("ghosts");
        let (sent, received, ghosts) = match &dealt.source {
            Source::Lists(own, boxes) => exchanged(ranks, dealt, own, boxes, reach),
            Source::Grid(grid) => {
                let (sent, received) = grid::ghosts(ranks, grid, reach);
                (sent, received, Points::default())
            }
        };
        let counts = received.counts().into_iter().map(|count| count as usize);
        let (counts, ids): (Vec<usize>, _) = (counts.collect(), received.items());
        let owned = dealt.ids.len();
        ranks.agree(match weld::check_sizes(owned + ids.len(), 0) {
            Ok(()) => Ok(()),
            Err(_) => Err(too_large(ranks.rank(), owned, ids.len())),
        })?;
        let before = |id| dealt.ids.before(id);
        let merged = Merged::new(ranks, owned, before, &sent, &counts, |i| ids[i]);
        Ok(Self {
            layout: dealt.layout,
            ids: merged.ids(&dealt.ids, ids),
            own: &dealt.source,
            ghosts,
            merged,
        })
    }

    /// Copies the points to a device, with what they carry; of a grid it writes them.
    ///
    /// # Errors
    /// Those of [`DeviceMesh::upload_points`].
    pub fn upload(&self, on: &Device) -> weld::Result<DeviceMesh> {
        let ghosts = &self.ghosts;
        let own = match self.own {
            Source::Lists(own, _) => own,
            Source::Grid(grid) => {
                // The points around a block are those of the blocks beside it.
                let n = self.ids.len();
                let first = if n == 0 { 0 } else { self.ids.get(0) };
                let (side, vertices) = (grid.side(), first..first + n as u64);
                return DeviceMesh::of_plain_points(on, n, || Run { side, vertices }.points(on));
            }
        };
        match self.merged.places.around(&ghosts.points) {
            Some([lower, higher]) if self.layout == Layout::default() => {
                DeviceMesh::upload_plain_points(on, &[&lower, &own.points, &higher])
            }
            _ => own.merged(ghosts, &self.merged).upload(on),
        }
    }

    /// Calls `work` with the points, with what they carry, that have local id `v`, and its place there.
    fn with<R>(&self, v: usize, work: impl FnOnce(&[DVec3], &Carried, usize) -> R) -> R {
        match self.own {
            Source::Grid(grid) => {
                let point = grid.place(self.ids.get(v)).extend(0.0);
                work(&[point], &Carried::NONE, 0)
            }
            Source::Lists(own, _) => {
                let (points, i) = match self.merged.places.held(v) {
                    Held::Owned(i) => (own, i),
                    Held::Ghost(i) => (&self.ghosts, i),
                };
                work(&points.points, &points.carried(), i)
            }
        }
    }

    /// A point.
    pub fn point(&self, v: usize) -> DVec3 {
        self.with(v, |points, _, i| points[i])
    }

    /// Whether a point is locked.
    pub fn is_locked(&self, v: usize) -> bool {
        self.with(v, |_, carried, i| carried.locked.get(i) == Some(&true))
    }

    /// Writes the row of a point.
    pub fn write(&self, row: &mut [u64], v: usize) {
        self.with(v, |points, carried, i| {
            self.layout.write(row, i, points, carried)
        });
    }

    /// The states of the points before any is decided: ghosts wait, locked points are representatives.
    pub fn first_states(&self) -> Vec<u8> {
        let mut states = vec![UNDECIDED; self.ids.len()];
        for &ghost in self.merged.halo.ghosts() {
            states[ghost as usize] = WAITING;
        }
        let Source::Lists(own, _) = self.own else {
            return states;
        };
        let (own, ghosts) = (&own.locked, &self.ghosts.locked);
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

/// The owned points that other ranks need, by their places, for each of these, and the ghosts: their ids, by their
/// owners, and the points. Collective.
fn exchanged(
    ranks: &Ranks,
    dealt: &Dealt,
    own: &Points,
    boxes: &Boxes,
    reach: f64,
) -> (Mail<u64>, Mail<u64>, Points<'static>) {
    let layout = dealt.layout;
    let (to, sent) = ghosts::find(ranks, &own.points, boxes, dealt.total, reach);
    let (size, n, stride) = (ranks.size(), to.len(), layout.stride());
    let rank = |i: usize| to[i] as usize;
    let rows = Mail::rows(size, n, stride, rank, |i, row| {
        let place = sent[i] as usize;
        row[0] = dealt.ids.get(place);
        layout.write(&mut row[1..], place, &own.points, &own.carried());
    });
    let received = ranks.exchange(&rows);
    let ids = received.items().chunks_exact(stride).map(|row| row[0]);
    let counts = (0..size).map(|rank| received.of(rank).len() / stride);
    let ids = Mail::from_parts(ids.collect(), counts);
    let sent = Mail::sorted(size, n, |i| (rank(i), sent[i]));
    (sent, ids, layout.read(received.items(), stride))
}

fn too_large(rank: usize, owned: usize, ghosts: usize) -> Fault {
    let points = owned + ghosts;
    Fault::from(trioxide::Error::Argument(format!(
        "rank {rank} would hold {points} points, {ghosts} of them within epsilon of its own, more than weld's indices reach: use more \
         ranks, or a smaller epsilon"
    )))
}
