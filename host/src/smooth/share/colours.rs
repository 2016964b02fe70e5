//! Colours of nodes of which other processes have some: the same colours as in a single run.

use gpu::smooth::shuffled;
use trioxide_kernel::NONE;

use super::{Others, SharePart};
use crate::Result;

/// Instead of a colour: the node stays.
const STAYS: u32 = NONE - 1;

/// The colour of each node that moves in the whole mesh, by the rule of [`classify()`](gpu::smooth::classify()): the
/// smallest that no neighbour before has. `moving` are the nodes that move here.
///
/// A process colours its nodes as far as it knows the colours before, sends them to others, and receives the colours of
/// its ghosts, until all are known. The order is that of shuffled ids, so few nodes wait for another process again and
/// again.
pub(super) fn colour(
    rows: &[u32],
    neighbours: &[u32],
    moving: &[u32],
    part: SharePart,
    others: &mut dyn Others,
) -> Result<Vec<u32>> {
    let mut colours = vec![STAYS; part.fixed.len()];
    for &v in moving.iter().chain(part.take) {
        colours[v as usize] = NONE;
    }
    let key = |v: u32| {
        let id = (part.id)(v);
        (shuffled(id as u32), id)
    };
    let mut left = moving.to_vec();
    left.sort_by_cached_key(|&v| key(v));
    loop {
        left.retain(|&v| {
            let own = key(v);
            let row = rows[v as usize] as usize..rows[v as usize + 1] as usize;
            let before = neighbours[row].iter().filter(|&&u| {
                // Positions in the shuffled order are compared for nodes that move only.
                colours[u as usize] != STAYS && key(u) < own
            });
            let colour = smallest_but(before.map(|&u| colours[u as usize]));
            colours[v as usize] = colour;
            colour == NONE
        });
        let given = part.give.iter().map(|&v| colours[v as usize]).collect();
        let taken = others.exchange(given, part.give_counts)?;
        for (&v, colour) in part.take.iter().zip(taken) {
            colours[v as usize] = colour;
        }
        if others.largest(u32::from(!left.is_empty()))? == 0 {
            return Ok(colours);
        }
    }
}

/// The smallest colour that is not among these; `NONE` if one of them is not known.
fn smallest_but(colours: impl Iterator<Item = u32> + Clone) -> u32 {
    // Colours from `base` on, 64 at a time.
    let mut base = 0;
    loop {
        let mut taken = 0u64;
        for colour in colours.clone() {
            if colour == NONE {
                return NONE;
            }
            if (base..base + 64).contains(&colour) {
                taken |= 1 << (colour - base);
            }
        }
        if taken != u64::MAX {
            return base + taken.trailing_ones();
        }
        base += 64;
    }
}
