//! Insertion of few hard points by one block: one launch in place of some thirty a round.

use glam::DVec2;
use gpu::delaunay::{self as kernel, MOST_IN_BLOCK, RoundsBuffers, report};
use trioxide_kernel::NONE;
use trioxide_kernel::launch::Buffer;

use super::insert::HardMesh;
use crate::Result;
use crate::device::Device;

/// Most points that one block inserts: with more, all other blocks of a device together take less time.
pub(super) const MOST: usize = 1 << 14;

const _: () = assert!(MOST <= MOST_IN_BLOCK);

/// Lengths of the block's arrays for `points` points.
struct Room {
    triangles: usize,
    listed: usize,
    candidates: usize,
    faces: usize,
}

impl Room {
    fn new(points: usize) -> Self {
        Self {
            triangles: 16 * points + 64,
            listed: 200 * points + 64,
            candidates: 50 * points,
            faces: 8 * points + 64,
        }
    }
}

/// Triangulates the hard points; `None` if they take more room than most points do.
pub(super) fn triangulate(on: &Device, sites: &Buffer<DVec2>) -> Result<Option<HardMesh>> {
    let n = sites.len();
    let room = Room::new(n);
    let mut corners = on.uninitialized(3 * room.triangles)?;
    let mut minima = on.uninitialized(room.triangles)?;
    // The faces of a triangulation of the plane with a point at infinity.
    let mut done = on.uninitialized(4 * (3 * n - 3))?;
    let mut result = on.filled(report::COUNT, 0)?;
    let rounds = RoundsBuffers {
        corners: &mut corners,
        minima: &mut minima,
        done: &mut done,
        starts: &mut on.uninitialized(room.triangles + 1)?,
        points: &mut on.uninitialized(room.listed)?,
        faces: &mut on.uninitialized(2 * 4 * room.faces)?,
        records: &mut on.uninitialized(8 * room.faces)?,
        groups: &mut on.uninitialized(room.candidates / 32 + 1)?,
        tested: &mut on.uninitialized(room.candidates)?,
        table: &mut on.filled(2 * 2 * room.triangles, u32::MAX)?.cast(),
        meetings: &mut on.filled(2 * room.triangles, NONE)?,
    };
    // SAFETY: the kernel compares the ends of its arrays with their lengths before it writes them, and reads what it
    // has written; the lengths beside each other are checked.
    unsafe { kernel::insert_in_block::launch(on, 1, sites, rounds, &mut result) }?;
    let result = on.download(&result)?;
    if std::env::var("COUNTS").is_ok() {
        eprintln!("n {n} {:?}", result);
    }
    let at = |slot: u32| result[slot as usize] as usize;
    if at(report::IS_COMPLETE) == 0 {
        return Ok(None);
    }
    on.resize(&mut corners, 3 * at(report::TRIANGLES))?;
    on.resize(&mut minima, at(report::TRIANGLES))?;
    on.resize(&mut done, 4 * at(report::DONE))?;
    Ok(Some(HardMesh {
        corners,
        minima,
        done,
    }))
}
