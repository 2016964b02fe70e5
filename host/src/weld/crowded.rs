//! Decisions where cells are crowded: buckets go through their vertices, which are compared with representatives alone. The kernels
//! are in `gpu::weld::crowded`.

use gpu::ids::Vertex;
use gpu::weld as kernel;
use gpu::weld::{Bucket, Slot};
use trioxide_kernel::Bits;
use trioxide_kernel::launch::Buffer;

use super::near::{Clustering, Near, shortened};
use super::{Result, Tuning, stage};
use crate::collective::compact;

/// Vertices that a bucket decides on a GPU before members are looked for.
const PATIENCE: u32 = 64;
/// Rounds after which a bucket decides twice as many in each.
const PATIENT_ROUNDS: usize = 16;

/// Clusters the points of a crowded grid.
pub(super) fn cluster<G: kernel::Guard>(near: &Near<G>, tuning: &Tuning) -> Result<Clustering> {
    let on = near.on;
    let n = near.points.len();
    // Each entry waits for vertex 0 at first.
    let mut entries = on.filled(n, kernel::WAITS)?;
    let left = stage(on, "decide crowded", || decide(near, tuning, &mut entries))?;
    let mut representatives: Buffer<Vertex> = on.uninitialized(n)?;
    stage(on, "assign", || {
        let to = &mut representatives;
        // SAFETY: entries without the mark are rows; slots, rows and buckets of a grid are in range.
        unsafe {
            kernel::assign_in_buckets::launch(on, n as u32, near.search(), &mut entries, to)
        }?;
        Ok(())
    })?;
    Ok(Clustering {
        representatives,
        left,
        is_crowded: true,
    })
}

/// Decides all vertices; the number of buckets with undecided ones after each round.
fn decide<G: kernel::Guard>(
    near: &Near<G>,
    tuning: &Tuning,
    entries: &mut Buffer<u32>,
) -> Result<Vec<u32>> {
    let on = near.on;
    let n = near.points.len() as u32;
    let mut list = buckets_by_lowest(near)?;
    let mut cursors = on.resized(near.grid.offsets(), near.grid.offsets().len() - 1)?;
    let mut covered: Buffer<Bits<Slot>> = on.uninitialized(0)?;
    let default = if on.is_gpu() { PATIENCE } else { 0 };
    let own = tuning.crowded_patience.unwrap_or(default);
    let mut patience = if own == 0 { u32::MAX } else { own };
    let mut left = Vec::new();
    while !list.is_empty() {
        let mut undecided: Buffer<u32> = on.uninitialized(list.len().div_ceil(32))?;
        // SAFETY: the list holds buckets, each once; as for the assignment.
        unsafe {
            kernel::decide_buckets::launch(
                on,
                list.len() as u32,
                &list,
                near.search(),
                &covered,
                patience,
                entries,
                &mut cursors,
                &mut undecided,
            )
        }?;
        list = shortened(on, &list, &undecided)?;
        left.push(list.len() as u32);
        if own == 0 || list.is_empty() {
            continue;
        }
        let mut more = on.uninitialized((n as usize).div_ceil(32))?;
        // SAFETY: as for the assignment.
        unsafe {
            kernel::cover_points::launch(on, n, near.search(), entries, &covered, &mut more)
        }?;
        covered = more;
        if left.len() > PATIENT_ROUNDS {
            patience = patience.saturating_mul(2);
        }
    }
    Ok(left)
}

/// The buckets that have vertices, by the lowest in each: a bucket mostly waits for earlier ones.
fn buckets_by_lowest<G: kernel::Guard>(near: &Near<G>) -> Result<Buffer<Bucket>> {
    let on = near.on;
    let keys = &near.grid.keys;
    let n = keys.len() as u32;
    let mut bits: Buffer<Bits<Vertex>> = on.uninitialized(keys.len().div_ceil(32))?;
    let rows = near.grid.rows();
    // SAFETY: a key is a bucket that has a vertex.
    unsafe {
        kernel::mark_first_of_buckets::launch(
            on,
            n,
            keys,
            near.grid.offsets(),
            rows.sites,
            &mut bits,
        )
    }?;
    let lowest = compact(on, &bits)?;
    let mut list = on.uninitialized(lowest.len())?;
    let (count, lowest) = (lowest.len() as u32, lowest.as_words());
    // SAFETY: each vertex has a key.
    unsafe { kernel::shorten_list::launch(on, count, keys.as_words(), lowest, &mut list) }?;
    Ok(list.cast())
}
