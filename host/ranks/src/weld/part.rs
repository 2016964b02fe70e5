//! A rank's points and its ghosts.

use gpu::weld::known::{REPRESENTATIVE, UNDECIDED, WAITING};
use trioxide::weld;

use super::cloud::{Dealt, Layout, Points};
use super::ghosts;
use crate::fault::{Fault, Result};
use crate::rows::{Merged, MergedIds};
use crate::transport::{Mail, Ranks};

/// A rank's part of the points: owned ones and ghosts.
pub struct Part {
    pub layout: Layout,
    /// Ascending.
    pub ids: MergedIds,
    pub points: Points<'static>,
    pub merged: Merged,
}

impl Part {
    /// This rank's part, with all points of others within `reach` along each axis. Collective.
    pub fn find(ranks: &Ranks, dealt: &Dealt, reach: f64) -> Result<Self> {
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
        let ghosts = layout.read(received.items(), stride);
        Ok(Self {
            layout,
            ids: merged.ids(&dealt.ids, &ids),
            points: own.merged(&ghosts, &merged),
            merged,
        })
    }

    /// The states of the points before any is decided: ghosts wait, locked points are representatives.
    pub fn first_states(&self) -> Vec<u8> {
        let mut states = vec![UNDECIDED; self.ids.len()];
        for &ghost in self.merged.halo.ghosts() {
            states[ghost as usize] = WAITING;
        }
        for (state, &is_locked) in states.iter_mut().zip(&*self.points.locked) {
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
