//! Insertion of few hard points by one block: one launch in place of some thirty a round.

use glam::DVec2;
use gpu::delaunay::{self as kernel, MOST_IN_BLOCK, RoundsBuffers, report};
use trioxide_kernel::NONE;
use trioxide_kernel::launch::Buffer;

use super::HardMesh;
use crate::Result;
use crate::device::Device;

/// Most points that one block inserts: with more, all other blocks of a device together take less time.
pub(super) const MOST: usize = 1 << 14;

const _: () = assert!(MOST <= MOST_IN_BLOCK);

/// Lengths of the block's arrays for a number of points.
struct Room {
    triangles: usize,
    listed: usize,
    candidates: usize,
    faces: usize,
}

impl Room {
    /// With room beyond the most that was measured for `points` points, from 3 to 16,384, random, on curves and in
    /// clusters: 6.0 triangles a point, 74 list entries of 10,000 points and 47 of 1,000, 5.4 candidates and 0.9 faces
    /// in a round.
    fn new(points: usize) -> Self {
        Self {
            triangles: 8 * points + 64,
            listed: 10 * points * (points.ilog2() as usize + 1) + 64,
            candidates: 8 * points + 64,
            faces: 2 * points + 64,
        }
    }
}

/// Triangulates the hard points; `None` if they take more room than most points do.
pub(super) fn triangulate(on: &Device, sites: &Buffer<DVec2>) -> Result<Option<HardMesh>> {
    triangulate_in(on, sites, &Room::new(sites.len()))
}

/// As [`triangulate`], with arrays of these lengths.
fn triangulate_in(on: &Device, sites: &Buffer<DVec2>, room: &Room) -> Result<Option<HardMesh>> {
    let n = sites.len();
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
    // SAFETY: the kernel compares the ends of its arrays with their lengths before it writes them, and reads only words
    // that it wrote; the lengths beside each other are checked.
    unsafe { kernel::insert_in_block::launch(on, 1, sites, rounds, &mut result) }?;
    let result = on.download(&result)?;
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A block whose array is too short reports so, whichever array it is; with room it has the faces and triangles
    /// that Euler's formula gives for the plane with a point at infinity.
    #[test]
    fn short_arrays_are_reported() -> Result<()> {
        let on = Device::cpu(Some(1))?;
        let count = 200;
        let sites = trioxide_generate::random_points(count, 1)?;
        let sites = on.upload(&sites)?;
        let of = |change: fn(&mut Room)| {
            let mut room = Room::new(count);
            change(&mut room);
            triangulate_in(&on, &sites, &room)
        };
        let mesh = of(|_| ())?.expect("enough room");
        assert_eq!(mesh.done.len(), 4 * (3 * count - 3));
        let minima = on.download(&mesh.minima)?;
        let finals = minima.iter().filter(|&&first| first == NONE);
        assert_eq!(finals.count(), 2 * count - 2);
        let short: [fn(&mut Room); 4] = [
            |room| room.triangles = 600,
            |room| room.listed = 2_000,
            |room| room.listed = 100,
            |room| room.faces = 40,
        ];
        for change in short {
            assert!(of(change)?.is_none());
        }
        // There is room for the first candidates always.
        let at_least = |room: &mut Room| room.candidates = 4 * 200;
        assert!(of(at_least)?.is_none_or(|mesh| mesh.done.len() == 4 * (3 * count - 3)));
        Ok(())
    }
}
