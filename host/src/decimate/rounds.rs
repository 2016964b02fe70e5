//! Rounds of collapses.

use gpu::ids::{Item, Vertex};
use trioxide_kernel::launch::Buffer;
use trioxide_kernel::words;

use super::kernel::{self, CLASSES, largest_of_class};
use super::state::State;
use super::{Result, stage};
use crate::collective::{compact, exclusive_scan, order_by_keys};
use crate::device::{BitSet, Device};

/// Vertices that a round's limit lets through, as a multiple of the vertices still to go.
const OF_NEEDED: f64 = 1.2;
/// The least share of the vertices that have an edge that a round's limit lets through.
const LEAST_SHARE: f64 = 0.1;
/// The share of the listed vertices that may be gone before the list is made anew.
const MOST_GONE: f64 = 0.2;
/// Bits of a cost.
const COST_BITS: u32 = 32;

/// The nominated edges of a round, by their lower ends; L of them.
struct Judged {
    lows: Buffer<Vertex>,
    /// Triangles that each removes; 0 for one that does not collapse; L.
    removed: Buffer<u32>,
    /// Where its vertex goes; L.
    places: Buffer<glam::DVec3>,
    /// The edges that collapse, ascending.
    chosen: Buffer<Item>,
    /// Triangles that they remove.
    total: usize,
}

/// Collapses edges until not more than `triangles` are left, or no edge may collapse. Returns the number of rounds.
pub(super) fn run(on: &Device, state: &mut State, triangles: usize) -> Result<u32> {
    let (mut rounds, mut gone) = (0, 0);
    let mut is_fresh = false;
    if state.left > triangles {
        state.price(on)?;
        is_fresh = true;
    }
    while state.left > triangles {
        let needed = state.left - triangles;
        let Some(limit) = stage(on, "find cheapest", || limit(on, state, needed))? else {
            // Edges that failed a check are tried once more after their surroundings have changed.
            if is_fresh {
                break;
            }
            state.price(on)?;
            is_fresh = true;
            continue;
        };
        rounds += 1;
        let lows = stage(on, "nominate", || nominate(on, state, limit))?;
        let mut judged = stage(on, "judge", || judge(on, state, lows, limit))?;
        if judged.total > needed {
            stage(on, "cut", || cut(on, state, &mut judged, needed))?;
        }
        stage(on, "collapse", || collapse(on, state, &judged))?;
        state.left -= judged.total;
        gone += judged.chosen.len();
        is_fresh &= judged.chosen.is_empty();
        if gone as f64 > MOST_GONE * state.live.len() as f64 {
            state.list_live(on)?;
            gone = 0;
        }
    }
    Ok(rounds)
}

/// Finds the cheapest edge of each vertex. Returns the limit of a round in which `needed` triangles are still to go;
/// none without an edge.
fn limit(on: &Device, state: &mut State, needed: usize) -> Result<Option<f32>> {
    let State {
        live,
        corners,
        costs,
        heads,
        nexts,
        choices,
        ..
    } = state;
    let n = live.len() as u32;
    // SAFETY: the lists hold half-edges of the triangles, each in one list; other ends are vertices.
    unsafe {
        kernel::find_cheapest::launch(on, n, &*live, &*corners, &*costs, heads, nexts, choices)
    }?;
    let mut counts = on.filled(CLASSES, 0)?;
    // SAFETY: listed vertices have a choice; a cost is finite or NO_COST, so its class is one of CLASSES.
    unsafe { kernel::count_costs::launch(on, n, &*live, &*choices, &mut counts) }?;
    let counts: Vec<u32> = on.download(&counts)?;
    let total: u64 = counts.iter().map(|&count| u64::from(count)).sum();
    let least = (OF_NEEDED * needed as f64 / 2.0).max(LEAST_SHARE * total as f64);
    let mut sum = 0;
    let class = counts.iter().position(|&count| {
        sum += u64::from(count);
        sum > 0 && sum as f64 >= least
    });
    Ok((total > 0).then(|| class.map_or(f32::MAX, largest_of_class)))
}

/// The lower ends of the nominated edges, ascending.
fn nominate(on: &Device, state: &State, limit: f32) -> Result<Buffer<Vertex>> {
    let n = state.live.len();
    let mut bits: BitSet<Item> = on.uninitialized(words(n))?;
    // SAFETY: the other end of a choice with a cost is a vertex, and has a choice.
    unsafe {
        let (live, choices) = (&state.live, &state.choices);
        kernel::nominate::launch(on, n as u32, live, choices, limit, &mut bits)
    }?;
    let places = compact(on, &bits)?;
    let mut lows = on.uninitialized(places.len())?;
    kernel::list_nominees::launch(on, places.len() as u32, &places, &state.live, &mut lows)?;
    Ok(lows)
}

/// Judges the nominated edges.
fn judge(on: &Device, state: &mut State, lows: Buffer<Vertex>, limit: f32) -> Result<Judged> {
    let n = lows.len();
    let (mut removed, mut places) = (on.uninitialized(n)?, on.uninitialized(n)?);
    let mut bits: BitSet<Item> = on.uninitialized(words(n))?;
    let to = state.views();
    // SAFETY: as for the lists of corners; a nominated edge's ends are vertices that have a choice, as have all
    // vertices of their triangles but those apart, which were given none. An edge that is first has its own half-edges.
    unsafe {
        kernel::judge::launch(
            on,
            n as u32,
            &lows,
            to.choices,
            limit,
            to.fans,
            to.vertices,
            to.rules,
            to.costs,
            &mut removed,
            &mut places,
            &mut bits,
        )
    }?;
    let chosen = compact(on, &bits)?;
    let total = exclusive_scan(on, &mut on.duplicate(&removed)?)?;
    Ok(Judged {
        lows,
        removed,
        places,
        chosen,
        total: on.read(&total, 0)? as usize,
    })
}

/// Leaves the first collapses in the order of keys that remove `needed` triangles.
fn cut(on: &Device, state: &State, judged: &mut Judged, needed: usize) -> Result<()> {
    let n = judged.chosen.len();
    let count = n as u32;
    let mut keys = on.uninitialized(n)?;
    let (chosen, lows) = (&judged.chosen, &judged.lows);
    kernel::gather_costs::launch(on, count, chosen, lows, &state.choices, &mut keys)?;
    let order = order_by_keys(on, keys, COST_BITS)?;
    let (mut counts, mut sorted) = (on.uninitialized(n)?, on.uninitialized(n)?);
    let removed = &judged.removed;
    kernel::gather_removed::launch(on, count, &order, chosen, removed, &mut counts, &mut sorted)?;
    let of_each = on.duplicate(&counts)?;
    exclusive_scan(on, &mut counts)?;
    let mut bits: Buffer<u32> = on.uninitialized(words(n))?;
    kernel::is_needed::launch(on, count, &counts, needed as u32, &mut bits)?;
    // The needed ones are the first of the order.
    let last = compact(on, &bits)?.len() - 1;
    judged.total = (on.read(&counts, last)? + on.read(&of_each, last)?) as usize;
    on.resize(&mut sorted, last + 1)?;
    judged.chosen = sorted;
    Ok(())
}

/// Collapses the chosen edges, and computes the costs of the edges at their vertices.
fn collapse(on: &Device, state: &mut State, judged: &Judged) -> Result<()> {
    let n = judged.chosen.len() as u32;
    let State {
        heads,
        nexts,
        corners,
        points,
        quadrics,
        marks,
        parents,
        choices,
        ..
    } = state;
    // SAFETY: the triangles of the ends of collapses of a round are disjoint (gpu::decimate), and so are their lists.
    unsafe {
        kernel::collapse::launch(
            on,
            n,
            &judged.chosen,
            &judged.lows,
            &judged.places,
            &*choices,
            heads,
            nexts,
            corners,
            points,
            quadrics,
            marks,
            parents,
        )
    }?;
    let to = state.views();
    // SAFETY: as above: only one collapse has a half-edge of these triangles.
    unsafe {
        let (chosen, lows) = (&judged.chosen, &judged.lows);
        kernel::price_again::launch(
            on,
            n,
            chosen,
            lows,
            to.fans,
            to.vertices,
            to.rules,
            to.costs,
        )
    }?;
    Ok(())
}
