//! Decisions where some points are decided elsewhere: by lists of lower neighbours, or by buckets where cells are
//! crowded. For visits of slabs, and for shares of processes.

use gpu::ids::Vertex;
use gpu::weld as kernel;
use gpu::weld::known::{MEMBER, REPRESENTATIVE, WAITING};
use gpu::weld::{Guard, Row, Slot};
use trioxide_kernel::Bits;
use trioxide_kernel::launch::Buffer;

use super::crowded::Decisions;
use super::near::{LongLists, Near};
use super::{Result, Tuning, stage};
use crate::collective::compact;

/// Decides the vertices as far as possible, and notes it in `known`; their representatives, if all are decided and
/// `is_last`.
pub fn by_lists<G: Guard>(
    near: &Near<G>,
    tuning: &Tuning,
    known: &mut Buffer<u8>,
    is_last: bool,
) -> Result<Option<Buffer<Vertex>>> {
    let (mut lower, mut states) = near.note()?;
    let left = decide_lists(near, tuning, &mut lower, &mut states, known)?;
    let is_done = is_last && left == 0;
    let none = LongLists::none(near.on)?;
    let assign = || near.assign(&lower, &none, &states);
    is_done.then(assign).transpose()
}

/// As [`by_lists`], for a crowded grid.
pub fn by_buckets<G: Guard>(
    near: &Near<G>,
    tuning: &Tuning,
    known: &mut Buffer<u8>,
    is_last: bool,
) -> Result<Option<Buffer<Vertex>>> {
    let mut decisions = decide_buckets(near, tuning, known)?;
    // Nothing is waited for, so all is decided.
    is_last.then(|| decisions.assign(near)).transpose()
}

/// Decides the vertices as far as possible, and notes their states in `known`. Returns the number of undecided ones.
/// `states` are the numbers of lower neighbours that the lists are for, or the states that an earlier call left.
pub fn decide_lists<G: Guard>(
    near: &Near<G>,
    tuning: &Tuning,
    lower: &mut Buffer<Row>,
    states: &mut Buffer<u32>,
    known: &mut Buffer<u8>,
) -> Result<u32> {
    let (on, grid) = (near.on, &near.grid);
    stage(on, "decide", || {
        let rows = states.len();
        let mut bits = on.uninitialized(rows.div_ceil(32))?;
        kernel::impose_states::launch(on, rows as u32, grid.rows(), known, states, &mut bits)?;
        let undecided = compact(on, &bits)?;
        // A list of none would stand for all.
        let left = if undecided.is_empty() {
            0
        } else {
            let rounds = near.decide(&undecided, tuning, lower, states)?;
            rounds.last().map_or(0, |&left| left)
        };
        // SAFETY: a known state for each vertex, and sites are vertices, each once: each has one row.
        unsafe { kernel::take_states::launch(on, rows as u32, grid.rows(), states, known) }?;
        Ok(left)
    })
}

/// As [`decide_lists`], for a crowded grid. Returns the decisions.
pub fn decide_buckets<G: Guard>(
    near: &Near<G>,
    tuning: &Tuning,
    known: &mut Buffer<u8>,
) -> Result<Decisions> {
    let (on, grid) = (near.on, &near.grid);
    let n = near.points.len() as u32;
    let mut decisions = Decisions::none(near)?;
    stage(on, "decide crowded", || {
        let marked = |states: &[u8]| -> Result<Buffer<Bits<Slot>>> {
            let states = states.iter().fold(0, |bits, state| bits | 1 << state);
            let mut bits = on.uninitialized(near.points.len().div_ceil(32))?;
            kernel::mark_known::launch(on, n, grid.rows(), known, states, &mut bits)?;
            Ok(bits)
        };
        let list = compact(on, &marked(&[REPRESENTATIVE])?)?;
        decisions.covered = marked(&[REPRESENTATIVE, MEMBER])?;
        decisions.waiting = marked(&[WAITING])?;
        let (count, entries) = (list.len() as u32, &mut decisions.entries);
        kernel::enter_known::launch(
            on,
            count,
            &list,
            grid.rows(),
            &grid.keys,
            grid.offsets(),
            entries,
        )?;
        decisions.decide(near, tuning, None)?;
        decisions.cover(near)?;
        // SAFETY: a known state for each vertex, and sites are vertices, each once.
        unsafe { kernel::note_members::launch(on, n, grid.rows(), &decisions.covered, known) }?;
        // SAFETY: a known state for each vertex; entries without the mark are rows, each once, and each of one vertex.
        unsafe {
            kernel::note_representatives::launch(on, n, &decisions.entries, grid.rows(), known)
        }?;
        Ok(())
    })?;
    Ok(decisions)
}
