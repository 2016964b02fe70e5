//! Rounds of collapses.

use std::ops::Range;

use glam::DVec3;
use gpu::ids::{Item, Vertex};
use trioxide_kernel::launch::Buffer;
use trioxide_kernel::{Bits, words};

use super::kernel::{self, CLASSES, COUNTED, FansBuffers, Sides, largest_of_class};
use super::seams::Seams;
use super::state::State;
use super::weighed::Weighed;
use super::{Result, stage};
use crate::collective::{compact, count_bits, exclusive_scan, order_by_keys};
use crate::device::{BitSet, Device};

/// The share of the vertices that have an edge that a round's limit lets through.
const SHARE: f64 = 0.5;
/// Bits of a cost.
const COST_BITS: u32 = 32;

/// The edges of a round that act: each is first.
struct Acting {
    /// The lower ends of the nominated edges.
    lows: Buffer<Vertex>,
    /// The nominated edges that are first, ascending; their collapses are not checked yet.
    edges: Buffer<Item>,
}

/// The edges of a round that act, in the order of their keys.
struct Ordered {
    edges: Buffer<Item>,
    /// Triangles that each removes, and triangles that the edges before it remove.
    removed: Buffer<u32>,
    before: Buffer<u32>,
    /// Triangles that all remove.
    total: usize,
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
        let Some(acting) = rounds.next()? else {
            for _ in targets {
                reached(&rounds.state, rounds.count)?;
            }
            return Ok(());
        };
        let left = rounds.state.left;
        let all = 0..acting.edges.len();
        // Targets within this round. Its other collapses follow, and the state is the same as without the targets.
        let is_within = |target: &usize| target + 2 * acting.edges.len() > left;
        if !targets.peek().is_some_and(is_within) {
            rounds.collapse(&acting.lows, &acting.edges, all)?;
            continue;
        }
        let ordered = stage(on, "cut", || order(on, &rounds.state, &acting))?;
        let mut done = 0;
        while let Some(target) = targets.next_if(|&target| target > left - ordered.total) {
            let (mut end, removed) = stage(on, "cut", || ordered.within(on, left - target))?;
            let is_odd = left - removed > target;
            if is_odd && !rounds.state.has_border(on)? {
                end += 1;
            }
            rounds.collapse(&acting.lows, &ordered.edges, done..end)?;
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
            rounds.collapse(&acting.lows, &ordered.edges, done..all.end)?;
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
    fn next(&mut self) -> Result<Option<Acting>> {
        let on = self.on;
        if self.count == 0 {
            self.price()?;
        }
        loop {
            if let Some(limit) = stage(on, "find cheapest", || limit(on, &mut self.state))? {
                self.count += 1;
                let lows = stage(on, "nominate", || nominate(on, &self.state, limit))?;
                return stage(on, "find first", || {
                    find_first(on, &self.state, lows, limit)
                })
                .map(Some);
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

    /// Collapses a `range` of `edges`.
    fn collapse(
        &mut self,
        lows: &Buffer<Vertex>,
        edges: &Buffer<Item>,
        range: Range<usize>,
    ) -> Result<()> {
        let on = self.on;
        let removed = stage(on, "collapse", || {
            collapse(on, &mut self.state, lows, edges, range)
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
            while let Some(acting) = self.next()? {
                let ordered = stage(self.on, "cut", || order(self.on, &self.state, &acting))?;
                let (end, _) = ordered.within(self.on, 0)?;
                let removes = ordered.total > 0;
                self.collapse(&acting.lows, &ordered.edges, 0..end + usize::from(removes))?;
                if removes {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}

/// Finds the cheapest edge of each touched vertex. Returns the limit of the round; none without an edge.
fn limit(on: &Device, state: &mut State) -> Result<Option<f32>> {
    let list = compact(on, &state.touched)?;
    let n = list.len() as u32;
    let fans = FansBuffers {
        spans: &state.spans,
        corners: &state.corners,
        starts: &state.starts,
    };
    // SAFETY: the lists hold half-edges of the triangles; other ends are vertices.
    unsafe { kernel::find_cheapest::launch(on, n, &list, fans, &mut state.choices) }?;
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

/// The nominated edges that are first.
fn find_first(on: &Device, state: &State, lows: Buffer<Vertex>, limit: f32) -> Result<Acting> {
    let n = lows.len();
    let mut bits: BitSet<Item> = on.uninitialized(words(n))?;
    let (choices, fans, sites) = (&state.choices, state.fans(), &state.sites);
    // SAFETY: as for the lists of corners; the ends of nominated edges are vertices.
    unsafe {
        kernel::comes_first::launch(on, n as u32, &lows, choices, limit, fans, sites, &mut bits)
    }?;
    let edges = compact(on, &bits)?;
    Ok(Acting { lows, edges })
}

/// The edges that act, in the order of keys.
fn order(on: &Device, state: &State, acting: &Acting) -> Result<Ordered> {
    let Acting { lows, edges } = acting;
    let n = edges.len();
    let count = n as u32;
    let (choices, fans, sites) = (&state.choices, state.fans(), &state.sites);
    let mut of_edges = on.uninitialized(n)?;
    let weighed = state.counting();
    match (weighed, &state.seams) {
        (_, Some(seams)) => {
            of_edges = Checked::of(on, state, seams, lows, edges, 0..n)?.removed;
            Ok(())
        }
        // SAFETY: as for the lists of corners; the ends of nominated edges are vertices.
        (None, None) => unsafe {
            kernel::count_removed::launch(
                on,
                count,
                edges,
                lows,
                choices,
                fans,
                sites,
                state.rules,
                &mut of_edges,
            )
        },
        // SAFETY: as above; each vertex has a trend for each channel.
        (Some(Weighed { channels, trends }), None) => unsafe {
            kernel::count_removed_weighed::launch(
                on,
                count,
                edges,
                lows,
                choices,
                fans,
                sites,
                channels,
                trends,
                state.rules,
                &mut of_edges,
            )
        },
    }?;
    let mut keys = on.uninitialized(n)?;
    kernel::gather_costs::launch(on, count, edges, lows, choices, &mut keys)?;
    let order = order_by_keys(on, keys, COST_BITS)?;
    let (mut removed, mut sorted) = (on.uninitialized(n)?, on.uninitialized(n)?);
    kernel::gather_removed::launch(
        on,
        count,
        &order,
        edges,
        &of_edges,
        &mut removed,
        &mut sorted,
    )?;
    let mut before = on.duplicate(&removed)?;
    let total = exclusive_scan(on, &mut before)?;
    Ok(Ordered {
        edges: sorted,
        removed,
        before,
        total: on.read(&total, 0)? as usize,
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

/// Checked edges of a surface with seams.
struct Checked {
    sides: Buffer<Sides>,
    /// Triangles that the collapse of each removes, or 0.
    removed: Buffer<u32>,
    targets: Buffer<DVec3>,
}

impl Checked {
    /// A range of a list of the edges that act.
    fn of(
        on: &Device,
        state: &State,
        seams: &Seams,
        lows: &Buffer<Vertex>,
        acting: &Buffer<Item>,
        range: Range<usize>,
    ) -> Result<Self> {
        let n = range.len();
        let (mut sides, mut removed, mut targets) = (
            on.uninitialized(n)?,
            on.uninitialized(n)?,
            on.uninitialized(n)?,
        );
        let (n, first) = (n as u32, range.start as u32);
        let (choices, sites) = (&state.choices, &state.sites);
        // SAFETY: as for the lists of corners; the ends of nominated edges are vertices.
        unsafe {
            kernel::list_copies::launch(
                on,
                n,
                acting,
                first,
                lows,
                choices,
                state.fans(),
                &seams.copies,
                sites,
                &mut sides,
            )
        }?;
        let (channels, trends) = match state.counting() {
            Some(weighed) => (&weighed.channels, &weighed.trends),
            None => (&seams.no_channels, &seams.no_trends),
        };
        // SAFETY: as above; each vertex has a trend for each channel.
        unsafe {
            kernel::check_seamed::launch(
                on,
                n,
                acting,
                first,
                lows,
                choices,
                state.fans(),
                &sides,
                &seams.areas,
                sites,
                channels,
                trends,
                state.rules,
                &mut removed,
                &mut targets,
            )
        }?;
        Ok(Self {
            sides,
            removed,
            targets,
        })
    }
}

/// Collapses a range of a list of the edges that act, and computes the costs of the edges at their vertices. Returns
/// the number of triangles that are removed.
fn collapse(
    on: &Device,
    state: &mut State,
    lows: &Buffer<Vertex>,
    acting: &Buffer<Item>,
    range: Range<usize>,
) -> Result<usize> {
    let n = range.len();
    let checked = match &state.seams {
        Some(seams) => Some(Checked::of(on, state, seams, lows, acting, range.clone())?),
        None => None,
    };
    let (edges, places, used) = state.list_edges(on, lows, acting, range)?;
    let State {
        spans,
        corners,
        starts,
        sites,
        parents,
        choices,
        touched,
        weighed,
        seams,
        rules,
        ..
    } = state;
    let mut removed = on.uninitialized(n)?;
    match (weighed, seams.as_mut().zip(checked)) {
        (weighed, Some((seams, checked))) => {
            let (channels, trends) = match weighed {
                Some(weighed) => (&weighed.channels, &mut weighed.trends),
                None => (&seams.no_channels, &mut seams.no_trends),
            };
            // SAFETY: as below; the copies of the vertices of a triangle are at its places alone.
            unsafe {
                kernel::collapse_seamed::launch(
                    on,
                    n as u32,
                    &edges,
                    &places,
                    used,
                    &mut removed,
                    *rules,
                    channels,
                    &checked.sides,
                    &checked.removed,
                    &checked.targets,
                    choices,
                    spans,
                    corners,
                    starts,
                    &mut seams.copies,
                    &mut seams.areas,
                    sites,
                    trends,
                    parents,
                    touched,
                )
            }
        }
        // SAFETY: the triangles of the ends of edges that act in a round are disjoint (gpu::decimate), and so are their
        // lists and places; no neighbour of an end is an end of another.
        (None, None) => unsafe {
            kernel::collapse::launch(
                on,
                n as u32,
                &edges,
                &places,
                used,
                &mut removed,
                *rules,
                choices,
                spans,
                corners,
                starts,
                sites,
                parents,
                touched,
            )
        },
        // SAFETY: as above; each vertex has a trend for each channel.
        (Some(Weighed { channels, trends }), None) => unsafe {
            kernel::collapse_weighed::launch(
                on,
                n as u32,
                &edges,
                &places,
                used,
                &mut removed,
                *rules,
                channels,
                choices,
                spans,
                corners,
                starts,
                sites,
                trends,
                parents,
                touched,
            )
        },
    }?;
    let total = exclusive_scan(on, &mut removed)?;
    Ok(on.read(&total, 0)? as usize)
}
