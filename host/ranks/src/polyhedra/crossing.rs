//! Regions of several ranks: their tetrahedra go to the owner of the root.
//!
//! A walk within a part ends at a root, or at a ghost, whose owner continues it. Pointer doubling finds the root of
//! each such ghost: after round k a ghost knows where its walk is after 2^k - 1 further crossings.

use glam::DVec3;
use trioxide::Device;
use trioxide::polyhedra::{LabelShare, Taken};

use crate::fault::Result;
use crate::part::Part;
use crate::records::Records;
use crate::transport::{Mail, Ranks};

/// Words of a tetrahedron's row: its id, its vertices, its labels.
const STRIDE: usize = 6;

/// The known end of a ghost's walk: a tetrahedron, its owner, and whether it is the root.
type End = [u64; 3];

/// Takes this rank's tetrahedra of regions of several ranks from `share`, and returns the tetrahedra of such regions
/// whose roots this rank owns, as ascending rows. Collective.
pub(super) fn collect(
    ranks: &Ranks,
    on: &Device,
    part: &Part<DVec3>,
    share: &mut LabelShare,
) -> Result<Records> {
    let ghosts = ranks.agree(parents_among_ghosts(ranks, on, part, share))?;
    let ends = follow(ranks, on, part, share, &ghosts)?;
    // The owner of a root gets to know that others have tetrahedra of its region.
    let mut roots: Vec<(usize, u64)> = ends.iter().map(|end| (end[1] as usize, end[0])).collect();
    roots.sort_unstable();
    roots.dedup();
    let roots = ranks.exchange(&Mail::sorted(ranks.size(), roots.len(), |i| roots[i]));
    let mut leave: Vec<u32> = roots.items().iter().map(|&id| place(part, id)).collect();
    leave.extend(&ghosts);
    leave.sort_unstable();
    leave.dedup();
    let taken = ranks.agree(share.take(on, &leave))?;
    let me = ranks.rank();
    let to = |i: usize| {
        let Taken { end, .. } = taken[i];
        let owner = ghosts.binary_search(&end).map(|g| ends[g][1] as usize);
        owner.unwrap_or(me)
    };
    let rows = Records::exchange(ranks, STRIDE, taken.len(), to, |i, row| {
        part.write_cell(taken[i].tetrahedron as usize, row);
        row[STRIDE - 1] = taken[i].labels.into();
    });
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
    // A tetrahedron with a ghost on the other side of a face is itself a ghost of that rank.
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
        let is_open = |&i: &u32| ends[i as usize][2] == 0;
        let open: Vec<u32> = (0..ends.len() as u32).filter(is_open).collect();
        if !ranks.any(!open.is_empty()) {
            return Ok(ends);
        }
        let open = Mail::sorted(ranks.size(), open.len(), |i| {
            (ends[open[i] as usize][1] as usize, open[i])
        });
        let answer = |&t: &u32| match part.owners.get(t as usize) == me {
            true => [part.cells.get(t as usize), me.into(), 1],
            false => ends[ghosts.binary_search(&t).expect("it is a parent")],
        };
        let questions = open.map(|&i| ends[i as usize][0]);
        let answers = ranks.try_ask(&questions, |asked| {
            let from: Vec<u32> = asked.items().iter().map(|&id| place(part, id)).collect();
            let found = share.ends_of(on, &from)?;
            Ok(found.iter().map(answer).collect())
        })?;
        for (&i, end) in open.items().iter().zip(answers) {
            ends[i as usize] = end;
        }
    }
}
