//! Regions of several ranks: their tetrahedra go to the owner of the root.
//!
//! A walk within a part ends at a root or at a ghost, where it goes on at the owner of the ghost. Pointer doubling
//! finds the root of each such ghost: after round k a ghost knows where its walk is behind 2^k - 1 further crossings.

use glam::DVec3;
use trioxide::Device;
use trioxide::polyhedra::{LabelShare, Taken};

use crate::fault::{Fault, Result};
use crate::part::Part;
use crate::rows::Rows;
use crate::transport::{Mail, Ranks, Reduction};

/// Words of a tetrahedron's row: its id, its vertices, its labels.
const STRIDE: usize = 6;

/// How far a ghost's walk is known: to a tetrahedron, with its owner, and whether that is the root.
type End = [u64; 3];

/// The tetrahedra of regions of several ranks whose roots this rank owns, a row each, ascending; from `share` all of
/// its own are taken that are of such regions. Collective.
pub(super) fn collect(
    ranks: &Ranks,
    on: &Device,
    part: &Part<DVec3>,
    share: &mut LabelShare,
) -> Result<Rows> {
    let ghosts = ranks.agree(parents_among_ghosts(ranks, on, part, share))?;
    let ends = follow(ranks, on, part, share, &ghosts)?;
    // Who owns a root learns that others have tetrahedra of its region.
    let mut roots: Vec<(usize, u64)> = ends.iter().map(|end| (end[1] as usize, end[0])).collect();
    roots.sort_unstable();
    roots.dedup();
    let roots = ranks.exchange(&Mail::sorted(ranks.size(), roots.len(), |i| roots[i]));
    let mut leave: Vec<u32> = roots.items().iter().map(|&id| place(part, id)).collect();
    leave.extend(&ghosts);
    leave.sort_unstable();
    leave.dedup();
    let taken = ranks.agree(share.take(on, &leave).map_err(Fault::from))?;
    let me = ranks.rank();
    let to = |i: usize| {
        let Taken { end, .. } = taken[i];
        let owner = ghosts.binary_search(&end).map(|g| ends[g][1] as usize);
        owner.unwrap_or(me)
    };
    let rows = Mail::rows(ranks.size(), taken.len(), STRIDE, to, |i, row| {
        let t = taken[i].tetrahedron as usize;
        row[0] = part.cells.get(t);
        for (room, i) in row[1..].iter_mut().zip(4 * t..4 * t + 4) {
            *room = part.vertices.get(part.shape.corner(i) as usize);
        }
        row[STRIDE - 1] = taken[i].labels.into();
    });
    let rows = Rows {
        words: ranks.exchange(&rows).into_items(),
        stride: STRIDE,
    };
    Ok(rows.sorted())
}

/// The local id of an owned tetrahedron.
fn place(part: &Part<DVec3>, id: u64) -> u32 {
    part.cells.place(id).expect("it is owned here")
}

/// The ghosts that are parents of owned tetrahedra, ascending.
fn parents_among_ghosts(
    ranks: &Ranks,
    on: &Device,
    part: &Part<DVec3>,
    share: &mut LabelShare,
) -> Result<Vec<u32>> {
    // Who has a ghost behind a face is itself a ghost there.
    let mut given = part.halo.given().to_vec();
    given.sort_unstable();
    given.dedup();
    let mut parents = share.parents_of(on, &given)?;
    let me = ranks.rank() as u32;
    parents.sort_unstable();
    parents.dedup();
    parents.retain(|&t| part.owners.get(t as usize) != me);
    Ok(parents)
}

/// The root of the walk from each of these ghosts. Collective.
fn follow(
    ranks: &Ranks,
    on: &Device,
    part: &Part<DVec3>,
    share: &mut LabelShare,
    ghosts: &[u32],
) -> Result<Vec<End>> {
    let me = ranks.rank() as u32;
    let begin = |&g: &u32| {
        let owner = part.owners.get(g as usize);
        [part.cells.get(g as usize), owner.into(), 0]
    };
    let mut ends: Vec<End> = ghosts.iter().map(begin).collect();
    loop {
        let open = |i: &usize| ends[*i][2] == 0;
        let mut open: Vec<usize> = (0..ends.len()).filter(open).collect();
        if ranks.reduce(open.len() as u64, Reduction::Or) == 0 {
            return Ok(ends);
        }
        // Answers come in the order of the questions: by rank, and for one rank in the order of ghosts.
        open.sort_by_key(|&i| ends[i][1]);
        let question = |i: usize| (ends[open[i]][1] as usize, ends[open[i]][0]);
        let asked = Mail::sorted(ranks.size(), open.len(), question);
        let questions = ranks.exchange(&asked);
        let from: Vec<u32> = questions
            .items()
            .iter()
            .map(|&id| place(part, id))
            .collect();
        let found = ranks.agree(share.ends_of(on, &from).map_err(Fault::from))?;
        let answer = |&t: &u32| match part.owners.get(t as usize) == me {
            true => [part.cells.get(t as usize), me.into(), 1],
            false => ends[ghosts.binary_search(&t).expect("it is a parent")],
        };
        let answers = questions.with(found.iter().map(answer).collect());
        let answers = ranks.exchange_expected(&answers, &asked.counts());
        for (i, &end) in open.into_iter().zip(answers.items()) {
            ends[i] = end;
        }
    }
}
