//! Rounds of decisions: each rank decides its own points as far as it can, and sends the states of points that others
//! hold as ghosts.
//!
//! Rounds end when no rank has an undecided point. A chain of lower neighbours takes a round for each time it crosses
//! between ranks. So when a round leaves more than half of the undecided points, rank 0 decides the rest at once, or
//! the first of it in the order of the mesh, as many points as half of the largest part: they depend on no later ones.
//! It gets these points with the representatives near them: the ones that the points' ranks know (a point may still
//! wait for others), and the ones that have not been sent to other ranks yet. They are welded as a cloud of their own,
//! in the order of the mesh. It has no members, which decide nothing; so a known representative has no lower neighbour
//! there, and is a representative again. The number of rounds is about the logarithm of the points, and two for each
//! half part of points that wait for each other.

use glam::DVec3;
use gpu::weld::known::{MEMBER, REPRESENTATIVE, UNDECIDED};
use trioxide::Device;
use trioxide::weld::{Options, Others, decide_all};
use trioxide_mesh::parallel;

use super::cubes::Near;
use super::part::Cloud;
use crate::curve::bisect;
use crate::fault::{Joint, Result};
use crate::ids::IdSet;
use crate::records::Records;
use crate::transport::{Mail, Ranks, Reduction};

/// Treatment of points that wait for other ranks. The result does not depend on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rest {
    /// Rank 0 decides them, as many at once as fit, when a round does not halve their number.
    #[default]
    Gathered,
    /// Rounds go on.
    Exchanged,
}

/// Counts of the rounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rounds {
    /// Number of rounds.
    pub count: u32,
    /// Points that rank 0 decided for others, with the representatives that it needed.
    pub gathered: u64,
}

/// The other ranks, as a share sees them.
pub struct Exchange<'r> {
    pub joint: Joint<'r>,
    on: &'r Device,
    part: &'r Cloud<'r>,
    options: &'r Options,
    rest: Rest,
    /// Points of the largest part.
    most: u64,
    /// Undecided points of all ranks after the last round.
    before: u64,
    /// Whether the state of each given point has been sent.
    are_told: Vec<bool>,
    pub rounds: Rounds,
}

impl<'r> Exchange<'r> {
    /// Other ranks know the first states alone. Collective.
    pub fn new(
        ranks: &'r Ranks<'r>,
        on: &'r Device,
        part: &'r Cloud<'r>,
        options: &'r Options,
        rest: Rest,
        states: &[u8],
    ) -> Self {
        let is_told = |&v: &u32| states[v as usize] != UNDECIDED;
        Self {
            joint: Joint::new(ranks),
            on,
            part,
            options,
            rest,
            most: ranks.reduce(states.len() as u64, Reduction::Max),
            before: u64::MAX,
            are_told: part.merged.halo.given().iter().map(is_told).collect(),
            rounds: Rounds::default(),
        }
    }

    /// Sends newly decided states, and notes the states that arrive. Collective.
    fn tell(&mut self, known: &mut [u8]) {
        // Two marks a point: of a member, or of a representative.
        const STATES: [u8; 2] = [MEMBER, REPRESENTATIVE];
        let (halo, are_told) = (&self.part.merged.halo, &mut self.are_told);
        let state = |i: usize| known[halo.given()[i] as usize];
        let is_new = |k: usize| !are_told[k / 2] && state(k / 2) == STATES[k % 2];
        let marks = halo.tell(self.joint.ranks, 2, is_new);
        for (i, is_told) in are_told.iter_mut().enumerate() {
            *is_told |= state(i) != UNDECIDED;
        }
        for k in marks {
            known[halo.ghosts()[k / 2] as usize] = STATES[k % 2];
        }
    }

    /// The id before which rank 0 decides the `undecided` points of all ranks, as many as fit beside its part.
    /// Collective.
    fn first_undecided(&self, known: &[u8], undecided: u64) -> u64 {
        let most = (self.most / 2).max(1);
        let end = u64::MAX >> 1;
        if undecided <= most {
            return end;
        }
        let ids = &self.part.ids;
        let is_undecided = |v: usize| known[v] == UNDECIDED;
        let ids = parallel::filter_collect(ids.len(), |v| is_undecided(v).then(|| ids.get(v)));
        let before = |_, id| ids.partition_point(|&other| other < id) as u64;
        bisect(self.joint.ranks, &[most], vec![0], vec![end], before)[0]
    }

    /// The points that rank 0 needs to decide those before an id.
    fn rest(&self, known: &[u8], end: u64) -> Vec<usize> {
        let (part, ids) = (self.part, &self.part.ids);
        let is_first = |v: usize| known[v] == UNDECIDED && ids.get(v) < end;
        let first = |v: usize| is_first(v).then(|| part.point(v));
        let first: Vec<DVec3> = parallel::filter_collect(ids.len(), first);
        let near = Near::new(&first, self.options.reach());
        let is_needed = |v: usize| match known[v] {
            UNDECIDED => is_first(v),
            // A locked point decides nothing.
            REPRESENTATIVE => near.may_be(part.point(v)) && !part.is_locked(v),
            _ => false,
        };
        let mut rest = parallel::filter_collect(ids.len(), |v| is_needed(v).then_some(v));
        let given = self.part.merged.halo.given().iter().zip(&self.are_told);
        let untold =
            given.filter(|&(&v, &is_told)| !is_told && known[v as usize] == REPRESENTATIVE);
        rest.extend(untold.map(|(&v, _)| v as usize));
        rest.sort_unstable();
        rest.dedup();
        rest
    }

    /// Lets rank 0 decide the rest, or as many points of it as fit. Collective.
    fn gather(&mut self, known: &mut [u8], undecided: u64) -> trioxide::Result<()> {
        let ranks = self.joint.ranks;
        let end = self.first_undecided(known, undecided);
        let rest = self.rest(known, end);
        self.rounds.gathered += ranks.sum(rest.len() as u64);
        let (part, stride) = (self.part, self.part.layout.stride());
        let mut words = vec![0; stride * rest.len()];
        for (row, &v) in words.chunks_exact_mut(stride).zip(&rest) {
            row[0] = part.ids.get(v);
            part.write(&mut row[1..], v);
        }
        let gathered = ranks.gather_mail(&words);
        let counts = gathered.counts().into_iter().map(|n| n as usize / stride);
        let counts: Vec<usize> = counts.collect();
        let decided = self.decide_rest(Records {
            words: gathered.into_items(),
            stride,
        });
        let answers = self.joint.agree(decided)?;
        let answers = ranks.exchange(&Mail::from_parts(answers, counts.into_iter()));
        for (&v, &state) in rest.iter().zip(answers.items()) {
            known[v] = state;
        }
        Ok(())
    }

    /// Decides gathered points, some of which are there several times.
    fn decide_rest(&self, rows: Records) -> Result<Vec<u8>> {
        let stride = rows.stride;
        let ids = IdSet::of(rows.len(), |i| rows.id(i));
        let place = |i: usize| ids.place(rows.id(i)).expect("it is one of them") as usize;
        let mut words = vec![0; stride * ids.len()];
        for i in 0..rows.len() {
            words[stride * place(i)..][..stride].copy_from_slice(rows.get(i));
        }
        let mesh = self.part.layout.read(&words, stride).upload(self.on)?;
        let decided = decide_all(self.on, &mesh, self.options)?;
        let representatives: Vec<u32> = self.on.download_rows(&decided.representatives)?;
        let state = |i: usize| match place(i) {
            v if representatives[v] == v as u32 => REPRESENTATIVE,
            _ => MEMBER,
        };
        Ok((0..rows.len()).map(state).collect())
    }
}

impl Others for Exchange<'_> {
    fn round(&mut self, known: &mut [u8]) -> trioxide::Result<bool> {
        self.joint.agree(Ok(()))?;
        self.rounds.count += 1;
        let ranks = self.joint.ranks;
        let count = |known: &[u8]| {
            let here = known.iter().filter(|&&state| state == UNDECIDED).count();
            ranks.sum(here as u64)
        };
        let undecided = count(known);
        let is_slow = undecided > self.before / 2;
        self.before = undecided;
        if undecided > 0 && is_slow && self.rest == Rest::Gathered {
            self.gather(known, undecided)?;
            self.before = count(known);
        }
        self.tell(known);
        Ok(self.before == 0)
    }
}
