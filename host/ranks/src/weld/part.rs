//! A rank's points and its ghosts.

use glam::DVec3;
use gpu::weld::known::{REPRESENTATIVE, UNDECIDED, WAITING};
use trioxide::Device;
use trioxide::grid::Run;
use trioxide::weld::{self, Carried, DeviceMesh};

use super::points::{Dealt, Layout, Points, Source};
use super::{ghosts, grid};
use crate::fault::{Fault, Result};
use crate::ids::Ids;
use crate::merged::{Held, Merged};
use crate::records::Ghosts;
use crate::transport::Ranks;

/// A rank's part of the points: its own and its ghosts.
pub struct Cloud<'a> {
    pub layout: Layout,
    /// Ascending.
    pub ids: Ids,
    own: &'a Source<'a>,
    /// The ghosts of lists, in the order in which they came.
    ghosts: Points<'static>,
    pub merged: Merged,
}

impl<'a> Cloud<'a> {
    /// This rank's part, with all points of others within `reach` along each axis. Collective.
    pub fn find(ranks: &Ranks, dealt: &'a Dealt, reach: f64) -> Result<Self> {
        ranks.phase("ghosts");
        let layout = dealt.layout;
        let (came, ghosts) = match &dealt.source {
            Source::Lists(own, boxes) => {
                let (to, sent) = ghosts::find(ranks, &own.points, boxes, dealt.total, reach);
                let carried = own.carried();
                let came = Ghosts::exchange(ranks, layout.stride(), &to, &sent, |i, row| {
                    row[0] = dealt.ids.get(i);
                    layout.write(&mut row[1..], i, &own.points, &carried);
                });
                let points = layout.read(&came.rows.words, layout.stride());
                (came, points)
            }
            Source::Grid(grid) => (grid::ghosts(ranks, grid, reach), Points::default()),
        };
        let (owned, n) = (dealt.ids.len(), came.rows.len());
        let checked = weld::check_sizes(owned + n, 0);
        ranks.agree(checked.map_err(|_| too_large(ranks.rank(), owned, n)))?;
        let merged = Merged::new(ranks, owned, |id| dealt.ids.before(id), &came);
        Ok(Self {
            layout,
            ids: merged.ids(&dealt.ids, &came.rows.ids()),
            own: &dealt.source,
            ghosts,
            merged,
        })
    }

    /// Copies the points and the data that they carry to a device. The device itself writes the points of a grid.
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

    /// Calls `work` with the list that has point `v`, with the data that the list's points carry, and with the point's
    /// place in the list.
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

fn too_large(rank: usize, owned: usize, ghosts: usize) -> Fault {
    let points = owned + ghosts;
    Fault::from(trioxide::Error::Argument(format!(
        "rank {rank} would hold {points} points, {ghosts} of them within epsilon of its own, more than weld's indices reach: use more \
         ranks, or a smaller epsilon"
    )))
}
