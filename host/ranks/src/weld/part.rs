//! A rank's points and its ghosts, here and on its device.

use gpu::weld::known::{REPRESENTATIVE, UNDECIDED, WAITING};
use trioxide::Device;
use trioxide::weld::{self, Decided, DeviceMesh, Options, decide_share, states_of_share};

use super::cloud::{Dealt, Layout, Points};
use super::ghosts;
use super::rounds::{Exchange, Rounds};
use super::{Plan, Rest};
use crate::fault::{Fault, Result};
use crate::ids::Ids;
use crate::rows::Merged;
use crate::transport::{Mail, Ranks, Reduction};

/// A rank's part of the points: owned ones and ghosts.
pub struct Part {
    pub layout: Layout,
    /// Ascending.
    pub ids: Ids,
    pub points: Points<'static>,
    pub merged: Merged,
}

impl Part {
    /// This rank's part, with all points of others within `reach` along each axis. Collective.
    fn find(ranks: &Ranks, dealt: &Dealt, reach: f64) -> Result<Self> {
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
    fn first_states(&self) -> Vec<u8> {
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

/// A rank's part, and its points on the device.
pub struct Resident {
    pub part: Part,
    /// A distance along each axis within which all points of others are here.
    pub reach: f64,
    pub mesh: DeviceMesh,
    /// The states of the points before any is decided.
    states: Vec<u8>,
}

impl Resident {
    /// Collective.
    pub fn find(ranks: &Ranks, on: &Device, dealt: &Dealt, reach: f64) -> Result<Self> {
        let part = Part::find(ranks, dealt, reach)?;
        let states = part.first_states();
        let mesh = ranks.agree(part.points.upload(on).map_err(Fault::from))?;
        Ok(Self {
            part,
            reach,
            mesh,
            states,
        })
    }

    /// The other ranks, before any point is decided. Collective.
    fn others<'r>(
        &'r self,
        ranks: &'r Ranks<'r>,
        on: &'r Device,
        options: &'r Options,
        rest: Rest,
    ) -> Exchange<'r> {
        ranks.phase("weld");
        Exchange::new(ranks, on, &self.part, options, rest, &self.states)
    }

    /// Decides the points of all ranks. Collective.
    pub fn decide(
        &self,
        ranks: &Ranks,
        on: &Device,
        options: &Options,
        plan: &Plan,
    ) -> Result<(Decided, Rounds)> {
        let mut others = self.others(ranks, on, options, plan.rest);
        let decided = decide_share(on, &self.mesh, options, self.states.clone(), &mut others);
        let rounds = others.rounds;
        Ok((others.joint.end(decided)?, rounds))
    }

    /// Number of clusters of all ranks. Collective.
    pub fn count_kept(
        &self,
        ranks: &Ranks,
        on: &Device,
        options: &Options,
        plan: &Plan,
    ) -> Result<u64> {
        let mut others = self.others(ranks, on, options, plan.rest);
        let known = states_of_share(on, &self.mesh, options, self.states.clone(), &mut others);
        let known = others.joint.end(known)?;
        ranks.phase("search epsilon");
        let is_kept = |state: u8| state == REPRESENTATIVE;
        let kept = known.iter().filter(|&&state| is_kept(state)).count();
        let ghosts = self.part.merged.halo.ghosts().iter();
        let of_others = ghosts.filter(|&&v| is_kept(known[v as usize])).count();
        Ok(ranks.reduce((kept - of_others) as u64, Reduction::Sum))
    }
}
