//! Decisions where cells are crowded: buckets go through their vertices, which are compared with representatives alone.
//! The kernels are in `gpu::weld::crowded`.

use gpu::ids::{Item, Vertex};
use gpu::weld as kernel;
use gpu::weld::{Bucket, Slot};
use trioxide_kernel::Bits;
use trioxide_kernel::launch::Buffer;

use super::clustering::{Clustering, shortened};
use super::near::Near;
use super::{Result, Tuning, stage};
use crate::collective::compact;

/// Vertices that a bucket decides on a GPU before members are looked for.
const PATIENCE: u32 = 64;
/// The same with guards, for which a bucket may have many representatives.
const GUARDED_PATIENCE: u32 = 16;
/// Rounds of a GPU with guards that take as long as all pairs of the largest bucket: at least this many, and one for
/// every `POINTS_A_ROUND` points. A round r looks at up to 256 r representatives one after the other, each some 0.5 us;
/// of pairs there are some 10^11 a second.
const LEAST_ROUNDS: usize = 4;
const POINTS_A_ROUND: u32 = 2048;
/// Rounds after which a bucket decides twice as many in each.
const PATIENT_ROUNDS: usize = 16;

/// Clusters the points of a crowded grid; `None` where guards leave so many representatives that pairs are found
/// sooner.
pub(super) fn cluster<G: kernel::Guard>(
    near: &Near<G>,
    tuning: &Tuning,
) -> Result<Option<Clustering>> {
    let on = near.on;
    let mut decisions = Decisions::none(near)?;
    let rounds = most_rounds(near, tuning);
    let left = stage(on, "decide crowded", || {
        decisions.decide(near, tuning, rounds)
    })?;
    if left.last().is_some_and(|&left| left > 0) {
        return Ok(None);
    }
    Ok(Some(Clustering {
        representatives: decisions.assign(near)?,
        left,
        is_crowded: true,
    }))
}

/// Rounds after which pairs are searched for instead; `None` for as many as it takes.
fn most_rounds<G>(near: &Near<G>, tuning: &Tuning) -> Option<usize> {
    let may_give_up = near.guards.may_be_slow(near.on) && tuning.most_in_bucket > 0;
    let default = || LEAST_ROUNDS.max((near.grid.largest / POINTS_A_ROUND) as usize);
    tuning.crowded_rounds.or(may_give_up.then(default))
}

/// The decisions so far on the points of a crowded grid. Bits are by slots; an empty array is the empty set.
pub(super) struct Decisions {
    /// As `gpu::weld::crowded` has them.
    pub entries: Buffer<u32>,
    /// Points that are passed: members, or entries from the start.
    pub covered: Buffer<Bits<Slot>>,
    /// Undecided points that are decided elsewhere. Where there are such, not all may be decided here.
    pub waiting: Buffer<Bits<Slot>>,
}

impl Decisions {
    /// Nothing is decided.
    pub fn none<G: kernel::Guard>(near: &Near<G>) -> Result<Self> {
        let on = near.on;
        Ok(Self {
            // Each entry waits for vertex 0 at first.
            entries: on.filled(near.points.len(), kernel::WAITS)?,
            covered: on.uninitialized(0)?,
            waiting: on.uninitialized(0)?,
        })
    }

    /// Decides all points, or as many as possible in that many `rounds`. Returns the number of buckets with undecided
    /// points after each round.
    pub fn decide<G: kernel::Guard>(
        &mut self,
        near: &Near<G>,
        tuning: &Tuning,
        rounds: Option<usize>,
    ) -> Result<Vec<u32>> {
        let on = near.on;
        let mut list = buckets_by_lowest(near)?;
        let mut cursors = on.resized(near.grid.offsets(), near.grid.offsets().len() - 1)?;
        let default = match on.is_gpu() {
            true if near.guards.keep_apart => GUARDED_PATIENCE,
            true => PATIENCE,
            false => 0,
        };
        let own = tuning.crowded_patience.unwrap_or(default);
        let mut patience = if own == 0 { u32::MAX } else { own };
        let mut left = Vec::new();
        while !list.is_empty() {
            let mut undecided: Buffer<Bits<Item>> = on.uninitialized(list.len().div_ceil(32))?;
            let mut moved = on.filled(usize::from(!self.waiting.is_empty()), 0)?;
            kernel::decide_buckets::launch(
                on,
                list.len() as u32,
                &list,
                near.search(),
                &self.covered,
                &self.waiting,
                patience,
                &mut self.entries,
                &mut cursors,
                &mut moved,
                &mut undecided,
            )?;
            list = shortened(on, &list, undecided.as_words())?;
            left.push(list.len() as u32);
            // A round in which nothing is decided is as the next would be.
            if list.is_empty() || !moved.is_empty() && on.download(&moved)? == [0] {
                break;
            }
            if rounds.is_some_and(|most| left.len() >= most) {
                break;
            }
            if own == 0 {
                continue;
            }
            self.cover(near)?;
            if left.len() > PATIENT_ROUNDS && rounds.is_none() {
                patience = patience.saturating_mul(2);
            }
        }
        Ok(left)
    }

    /// Finds the points near known representatives.
    pub fn cover<G: kernel::Guard>(&mut self, near: &Near<G>) -> Result<()> {
        let on = near.on;
        let n = near.points.len();
        let mut covered = on.uninitialized(n.div_ceil(32))?;
        let (search, entries) = (near.search(), &mut self.entries);
        kernel::cover_points::launch(on, n as u32, search, entries, &self.covered, &mut covered)?;
        self.covered = covered;
        Ok(())
    }

    /// The representative of each vertex, once all are decided.
    pub fn assign<G: kernel::Guard>(&mut self, near: &Near<G>) -> Result<Buffer<Vertex>> {
        let on = near.on;
        let n = near.points.len();
        let mut representatives: Buffer<Vertex> = on.uninitialized(n)?;
        stage(on, "assign", || {
            let (entries, to) = (&mut self.entries, &mut representatives);
            kernel::assign_in_buckets::launch(on, n as u32, near.search(), entries, to)?;
            Ok(())
        })?;
        Ok(representatives)
    }
}

/// The buckets that have vertices, by the lowest in each: a bucket mostly waits for earlier ones.
fn buckets_by_lowest<G: kernel::Guard>(near: &Near<G>) -> Result<Buffer<Bucket>> {
    let on = near.on;
    let keys = &near.grid.keys;
    let n = keys.len() as u32;
    let mut bits: Buffer<Bits<Vertex>> = on.uninitialized(keys.len().div_ceil(32))?;
    let rows = near.grid.rows();
    kernel::mark_first_of_buckets::launch(on, n, keys, near.grid.offsets(), rows.sites, &mut bits)?;
    let lowest = compact(on, &bits)?;
    let mut list = on.uninitialized(lowest.len())?;
    let (count, lowest) = (lowest.len() as u32, lowest.as_words());
    kernel::shorten_list::launch(on, count, keys.as_words(), lowest, &mut list)?;
    Ok(list.cast())
}
