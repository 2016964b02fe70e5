//! The triangles between few hard points: each gap between stars alone.

use gpu::delaunay as kernel;
use gpu::delaunay::{HardPointsBuffers, filled};
use gpu::ids::{Item, Place};
use trioxide_kernel::Bits;
use trioxide_kernel::launch::Buffer;

use super::{Ranked, Stars};
use crate::collective::compact;
use crate::device::Device;
use crate::{Result, reorder};

/// Most exact tests that a lane takes for a gap. Insertion takes fewer of many points near one circle.
pub(super) const MOST_EXACT: u32 = 128;

/// Most hard points whose gaps are filled: with more, insertion takes less.
pub(super) fn most(on: &Device) -> usize {
    if on.is_gpu() { 1 << 14 } else { 1 << 10 }
}

/// The covered sides of `count` hard points, and the hard points with stars around them.
pub(super) fn cover(
    on: &Device,
    stars: &Stars,
    count: usize,
) -> Result<(Buffer<u64>, Buffer<Bits<Place>>)> {
    let n = stars.degrees.len();
    // Both sides of each edge of the triangulation of the hard points, with infinity: half of the table stays free.
    let sides = 6 * count;
    let mut table = on.filled(2 * (2 * sides + 1), u32::MAX)?.cast();
    let mut touched = on.filled(n.div_ceil(32), 0)?.cast();
    kernel::cover_sides::launch(on, n as u32, stars.parameter(), &mut table, &mut touched)?;
    Ok((table, touched))
}

/// Places of the corners of the triangles between hard points; `None` if a gap takes more than `most_exact` exact tests
/// of a lane.
pub(super) fn fill(
    on: &Device,
    ranked: &Ranked,
    stars: &Stars,
    hard: &Buffer<Place>,
    most_exact: u32,
) -> Result<Option<Buffer<Place>>> {
    let (table, touched) = cover(on, stars, hard.len())?;
    let n = table.len() + hard.len();
    let mut bits = on.uninitialized(n.div_ceil(32))?;
    kernel::find_gaps::launch(on, n as u32, &table, hard, &touched, &mut bits)?;
    let list: Buffer<Item> = compact(on, &bits)?;
    let sites = reorder::pick(on, &ranked.sorted, hard)?;
    // Fewer than two triangles a point.
    let mut corners = on.uninitialized(6 * hard.len())?;
    let mut report = on.filled(filled::COUNT, 0)?;
    let hard = HardPointsBuffers {
        places: hard,
        sites: &sites,
        table: &table,
    };
    // SAFETY: the triangulation has fewer than two triangles for each hard point, and the kernel writes each once. All
    // places are below the number of points. A barrier separates each write to shared memory from reads of it.
    unsafe {
        kernel::fill_gaps::launch(
            on,
            list.len() as u32,
            &list,
            most_exact,
            hard,
            &ranked.sorted,
            &mut corners,
            &mut report,
        )
    }?;
    let report = on.download(&report)?;
    if report[filled::GAVE_UP as usize] != 0 {
        return Ok(None);
    }
    on.resize(
        &mut corners,
        3 * report[filled::TRIANGLES as usize] as usize,
    )?;
    Ok(Some(corners))
}

#[cfg(test)]
mod tests {
    use glam::DVec2;

    use super::*;
    use crate::delaunay::{Duplicates, insert, one_block, rank, stars};

    /// Gaps give the triangles that insertion gives, or give up where they take too many exact tests: the points around
    /// an empty square are hard, and lie on circles.
    #[test]
    fn gaps_give_what_insertion_gives_or_give_up() -> Result<()> {
        let on = Device::cpu(Some(1))?;
        let is_within = |k: &i32| (20..40).contains(k);
        let grid = (0..60).flat_map(|y| (0..60).map(move |x| (x, y)));
        let points: Vec<DVec2> = grid
            .filter(|(x, y)| !(is_within(x) && is_within(y)))
            .map(|(x, y)| DVec2::new(x.into(), y.into()))
            .collect();
        let points = on.upload(&points)?;
        let bounds = rank::bounds(&on, &points)?;
        let ranked = rank::rank(&on, &points, bounds, Duplicates::Refuse).expect("distinct points");
        let (stars, hard) = stars::build(&on, &ranked)?;
        assert!(hard.len() > 4 * 59, "{}", hard.len());
        let triangles = |places: &Buffer<Place>| -> Result<Vec<[Place; 3]>> {
            let mut triangles = on.download_rows::<_, [Place; 3]>(places)?;
            triangles.sort_unstable();
            Ok(triangles)
        };
        let found = fill(&on, &ranked, &stars, &hard, MOST_EXACT)?.expect("few exact tests");
        let expected = insert::insert(&on, &ranked, &stars, &hard, one_block::MOST)?;
        assert_eq!(triangles(&found)?, triangles(&expected)?);
        assert!(fill(&on, &ranked, &stars, &hard, 0)?.is_none());
        Ok(())
    }
}
