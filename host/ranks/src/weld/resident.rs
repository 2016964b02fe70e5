//! A rank's part of the points on its device.

use gpu::weld::known::REPRESENTATIVE;
use trioxide::Device;
use trioxide::weld::{Decided, DeviceMesh, Options, decide_share, states_of_share};

use super::part::Cloud;
use super::points::Dealt;
use super::rounds::{Exchange, Rounds};
use super::{Plan, Rest};
use crate::fault::Result;
use crate::transport::Ranks;

/// A rank's part, and its points on the device.
pub struct Resident<'a> {
    pub part: Cloud<'a>,
    /// A distance along each axis within which all points of others are here.
    pub reach: f64,
    pub mesh: DeviceMesh,
    /// The states of the points before any is decided.
    states: Vec<u8>,
}

impl<'a> Resident<'a> {
    /// Collective.
    pub fn find(ranks: &Ranks, on: &Device, dealt: &'a Dealt, reach: f64) -> Result<Self> {
        let part = Cloud::find(ranks, dealt, reach)?;
        let states = part.first_states();
        let mesh = ranks.agree(part.upload(on))?;
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
        Ok(ranks.sum((kept - of_others) as u64))
    }
}
