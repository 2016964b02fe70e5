//! Rounds of collapses.

use std::ops::Range;

use gpu::ids::{Item, Vertex};
use trioxide_kernel::launch::Buffer;
use trioxide_kernel::{Bits, words};

use super::kernel::{self, CLASSES, COUNTED, largest_of_class};
use super::state::State;
use super::weighed::Weighed;
use super::{Result, stage};
use crate::collective::{compact, count_bits, exclusive_scan, order_by_keys};
use crate::device::{BitSet, Device};

/// The share of the vertices that have an edge that a round's limit lets through.
const SHARE: f64 = 0.5;
/// Bits of a cost.
const COST_BITS: u32 = 32;

/// The nominated edges of a round, by their lower ends; L of them.
struct Judged {
    lows: Buffer<Vertex>,
    /// Triangles that each removes; 0 for one that does not collapse; L.
    removed: Buffer<u32>,
    /// Where its vertex goes; L.
    places: Buffer<glam::DVec3>,
    /// The edges that are first, ascending.
    acting: Buffer<Item>,
    /// Triangles that they remove.
    total: usize,
}

/// The edges of a round that act, in the order of their keys.
struct Ordered {
    edges: Buffer<Item>,
    /// Triangles that each removes, and triangles that the edges before it remove.
    removed: Buffer<u32>,
    before: Buffer<u32>,
}

/// Collapses edges until not more triangles than each of the descending `targets` are left, or no edge may collapse.
/// Gives `reached` the state at each target, and the number of rounds.
pub(super) fn run(
    on: &Device,
    state: State,
    targets: &[usize],
    mut reached: impl FnMut(&State, u32) -> Result<()>,
) -> Result<()> {
    let mut rounds = Rounds {
        on,
        state,
        count: 0,
        is_fresh: false,
    };
    let mut targets = targets.iter().copied().peekable();
    loop {
        while targets
            .next_if(|&target| rounds.state.left <= target)
            .is_some()
        {
            reached(&rounds.state, rounds.count)?;
        }
        if targets.peek().is_none() {
            return Ok(());
        }
        let Some(judged) = rounds.judge_next()? else {
            for _ in targets {
                reached(&rounds.state, rounds.count)?;
            }
            return Ok(());
        };
        let left = rounds.state.left;
        if targets
            .peek()
            .is_none_or(|&target| target <= left - judged.total)
        {
            rounds.collapse(
                &judged,
                &judged.acting,
                0..judged.acting.len(),
                judged.total,
            )?;
            continue;
        }
        // Targets within this round. Its other collapses follow, and the state is the same as without the targets.
        let ordered = stage(on, "cut", || order(on, &rounds.state, &judged))?;
        let mut done = 0;
        while let Some(target) = targets.next_if(|&target| target > left - judged.total) {
            let (mut end, mut removed) = stage(on, "cut", || ordered.within(on, left - target))?;
            let is_odd = left - removed > target;
            if is_odd && !rounds.state.has_border(on)? {
                (end, removed) = (end + 1, removed + 2);
            }
            let of_these = rounds.state.left - (left - removed);
            rounds.collapse(&judged, &ordered.edges, done..end, of_these)?;
            done = end;
            if rounds.state.left <= target {
                reached(&rounds.state, rounds.count)?;
            } else if targets.peek().is_none() {
                rounds.remove_last()?;
                return reached(&rounds.state, rounds.count);
            } else {
                let mut aside = Rounds {
                    state: rounds.state.duplicate(on)?,
                    ..rounds
                };
                aside.remove_last()?;
                reached(&aside.state, aside.count)?;
            }
        }
        if targets.peek().is_some() {
            let removed = rounds.state.left - (left - judged.total);
            rounds.collapse(&judged, &ordered.edges, done..ordered.edges.len(), removed)?;
        }
    }
}

/// Rounds on a surface.
struct Rounds<'d> {
    on: &'d Device,
    state: State,
    /// Number of rounds.
    count: u32,
    /// Whether no edge collapsed since all costs were computed.
    is_fresh: bool,
}

impl Rounds<'_> {
    /// The next round's edges; none if no edge may collapse.
    fn judge_next(&mut self) -> Result<Option<Judged>> {
        let on = self.on;
        if self.count == 0 {
            self.price()?;
        }
        loop {
            if let Some(limit) = stage(on, "find cheapest", || limit(on, &mut self.state))? {
                self.count += 1;
                let lows = stage(on, "nominate", || nominate(on, &self.state, limit))?;
                return stage(on, "judge", || judge(on, &self.state, lows, limit)).map(Some);
            }
            // Edges that failed a check are tried once more after their surroundings have changed.
            if self.is_fresh {
                return Ok(None);
            }
            self.price()?;
        }
    }

    fn price(&mut self) -> Result<()> {
        self.is_fresh = true;
        self.state.price(self.on)
    }

    /// Collapses a `range` of `edges`; their triangles are `removed` in number.
    fn collapse(
        &mut self,
        judged: &Judged,
        edges: &Buffer<Item>,
        range: Range<usize>,
        removed: usize,
    ) -> Result<()> {
        let on = self.on;
        stage(on, "collapse", || {
            collapse(on, &mut self.state, judged, edges, range)
        })?;
        self.state.left -= removed;
        self.is_fresh &= removed == 0;
        Ok(())
    }

    /// Removes one triangle, at the boundary; or two, if no edge of the boundary may collapse.
    fn remove_last(&mut self) -> Result<()> {
        for at_border in [true, false] {
            self.state.rules.set_at_border(at_border);
            self.price()?;
            while let Some(judged) = self.judge_next()? {
                let ordered = stage(self.on, "cut", || order(self.on, &self.state, &judged))?;
                let (end, _) = ordered.within(self.on, 0)?;
                if judged.total > 0 {
                    let removed = self.on.read(&ordered.removed, end)? as usize;
                    return self.collapse(&judged, &ordered.edges, 0..end + 1, removed);
                }
                self.collapse(&judged, &ordered.edges, 0..end, 0)?;
            }
        }
        Ok(())
    }
}

/// Finds the cheapest edge of each touched vertex. Returns the limit of the round; none without an edge.
fn limit(on: &Device, state: &mut State) -> Result<Option<f32>> {
    let list = compact(on, &state.touched)?;
    let n = list.len() as u32;
    let State {
        starts,
        heads,
        nexts,
        choices,
        ..
    } = state;
    // SAFETY: the lists hold half-edges of the triangles, each in one list; other ends are vertices.
    unsafe { kernel::find_cheapest::launch(on, n, &list, &*starts, heads, nexts, choices) }?;
    state.touched = on.filled(state.touched.len(), Bits::EMPTY)?;
    let choices = &state.choices;
    let mut counts = on.filled(CLASSES, 0)?;
    let blocks = choices.len().div_ceil(COUNTED as usize) as u32;
    // SAFETY: a cost is finite, NO_COST or no number, so its class is one of CLASSES or it is not counted.
    unsafe { kernel::count_costs::launch(on, blocks, choices, &mut counts) }?;
    let counts: Vec<u32> = on.download(&counts)?;
    let total: u64 = counts.iter().map(|&count| u64::from(count)).sum();
    let least = SHARE * total as f64;
    let mut sum = 0;
    let class = counts.iter().position(|&count| {
        sum += u64::from(count);
        sum > 0 && sum as f64 >= least
    });
    Ok((total > 0).then(|| class.map_or(f32::MAX, largest_of_class)))
}

/// The lower ends of the nominated edges, ascending.
fn nominate(on: &Device, state: &State, limit: f32) -> Result<Buffer<Vertex>> {
    let n = state.choices.len();
    let mut bits: BitSet<Vertex> = on.uninitialized(words(n))?;
    // SAFETY: the other end of a choice with a cost is a vertex.
    unsafe { kernel::nominate::launch(on, n as u32, &state.choices, limit, &mut bits) }?;
    Ok(compact(on, &bits)?)
}

/// Judges the nominated edges.
fn judge(on: &Device, state: &State, lows: Buffer<Vertex>, limit: f32) -> Result<Judged> {
    let n = lows.len();
    let (mut removed, mut places) = (on.uninitialized(n)?, on.uninitialized(n)?);
    let mut bits: BitSet<Item> = on.uninitialized(words(n))?;
    match &state.weighed {
        // SAFETY: as for the lists of corners; the ends of nominated edges are vertices.
        None => unsafe {
            kernel::judge::launch(
                on,
                n as u32,
                &lows,
                &state.choices,
                limit,
                state.fans(),
                &state.sites,
                state.rules,
                &mut removed,
                &mut places,
                &mut bits,
            )
        },
        // SAFETY: as above; each vertex has a trend for each channel.
        Some(Weighed { channels, trends }) => unsafe {
            kernel::judge_weighed::launch(
                on,
                n as u32,
                &lows,
                &state.choices,
                limit,
                state.fans(),
                &state.sites,
                channels,
                trends,
                state.rules,
                &mut removed,
                &mut places,
                &mut bits,
            )
        },
    }?;
    let acting = compact(on, &bits)?;
    let total = exclusive_scan(on, &mut on.duplicate(&removed)?)?;
    Ok(Judged {
        lows,
        removed,
        places,
        acting,
        total: on.read(&total, 0)? as usize,
    })
}

/// The edges that act, in the order of keys.
fn order(on: &Device, state: &State, judged: &Judged) -> Result<Ordered> {
    let n = judged.acting.len();
    let count = n as u32;
    let mut keys = on.uninitialized(n)?;
    let (acting, lows) = (&judged.acting, &judged.lows);
    kernel::gather_costs::launch(on, count, acting, lows, &state.choices, &mut keys)?;
    let order = order_by_keys(on, keys, COST_BITS)?;
    let (mut removed, mut edges) = (on.uninitialized(n)?, on.uninitialized(n)?);
    let of_edges = &judged.removed;
    kernel::gather_removed::launch(
        on,
        count,
        &order,
        acting,
        of_edges,
        &mut removed,
        &mut edges,
    )?;
    let mut before = on.duplicate(&removed)?;
    exclusive_scan(on, &mut before)?;
    Ok(Ordered {
        edges,
        removed,
        before,
    })
}

impl Ordered {
    /// The number of first edges that remove `most` triangles at most, and the number of these.
    fn within(&self, on: &Device, most: usize) -> Result<(usize, usize)> {
        let n = self.edges.len();
        let mut bits: Buffer<u32> = on.uninitialized(words(n))?;
        let (removed, before) = (&self.removed, &self.before);
        kernel::is_within::launch(on, n as u32, removed, before, most as u32, &mut bits)?;
        let end = count_bits(on, &bits)? as usize;
        let total = match end.checked_sub(1) {
            None => 0,
            Some(last) => (on.read(before, last)? + on.read(removed, last)?) as usize,
        };
        Ok((end, total))
    }
}

/// Collapses a range of a list of the edges that act, and computes the costs of the edges at their vertices.
fn collapse(
    on: &Device,
    state: &mut State,
    judged: &Judged,
    edges: &Buffer<Item>,
    range: Range<usize>,
) -> Result<()> {
    let State {
        heads,
        nexts,
        starts,
        sites,
        parents,
        choices,
        touched,
        weighed,
        rules,
        ..
    } = state;
    match weighed {
        // SAFETY: the triangles of the ends of edges that act in a round are disjoint (gpu::decimate), and so are their
        // lists; no neighbour of an end is an end of another.
        None => unsafe {
            kernel::collapse::launch(
                on,
                range.len() as u32,
                edges,
                range.start as u32,
                &judged.lows,
                &judged.removed,
                &judged.places,
                *rules,
                choices,
                heads,
                nexts,
                starts,
                sites,
                parents,
                touched,
            )
        },
        // SAFETY: as above; each vertex has a trend for each channel.
        Some(Weighed { channels, trends }) => unsafe {
            kernel::collapse_weighed::launch(
                on,
                range.len() as u32,
                edges,
                range.start as u32,
                &judged.lows,
                &judged.removed,
                &judged.places,
                *rules,
                channels,
                choices,
                heads,
                nexts,
                starts,
                sites,
                trends,
                parents,
                touched,
            )
        },
    }?;
    Ok(())
}
