//! The stars of points, each alone, and the points that have none.

use std::ops::RangeInclusive;

use glam::DVec2;
use gpu::delaunay as kernel;
use gpu::delaunay::{Grid, LARGEST, RING, STARS, UNSURE, WIDE};
use gpu::ids::Place;
use trioxide_kernel::launch::Buffer;

use super::{Ranked, Stars};
use crate::Result;
use crate::collective::{compact, count_bits};
use crate::device::{BitSet, Device};

/// Points of a cell, at least, if all cells have as many.
const CROWD: usize = 2;
/// One point of this many tries its star before all others do.
const STEP: usize = 64;
/// A list of fewer points is not tried.
const LEAST_TRIED: usize = STEP;

/// The stars, and the places of hard points in ascending order.
pub(super) fn build(on: &Device, ranked: &Ranked) -> Result<(Stars, Buffer<Place>)> {
    let n = ranked.sorted.len();
    // A grid of fewer cells has no room for a complete star; squares of very large or small extents are no numbers.
    let is_small = n < 64 || ranked.extent.is_nan();
    if is_small || ranked.extent > LARGEST || ranked.extent < 1.0 / LARGEST {
        let stars = Stars {
            degrees: on.filled(n, 0)?,
            stars: on.filled(RING * n, Place::NONE)?,
        };
        return hard_points(on, stars);
    }
    let grid = grid(ranked);
    let cells = 1usize << (2 * grid.level);
    let mut ranges = on.filled(2 * cells, 0)?;
    kernel::find_cells::launch(on, n as u32, &ranked.sorted, grid, &mut ranges)?;
    let cloud = Cloud {
        sorted: &ranked.sorted,
        ranges: ranges.cast(),
        grid,
    };
    let mut stars = Stars {
        degrees: on.uninitialized(n)?,
        stars: on.uninitialized(RING * n)?,
    };
    cloud.wrap::<false>(on, None, 1, &mut stars)?;
    cloud.wrap::<true>(on, Some(&find(on, &stars, UNSURE..=UNSURE)?), 1, &mut stars)?;
    cloud.wrap::<false>(on, Some(&find(on, &stars, WIDE..=WIDE)?), 2, &mut stars)?;
    cloud.build::<false>(on, WIDE..=UNSURE, &mut stars)?;
    cloud.build::<true>(on, UNSURE..=UNSURE, &mut stars)?;
    hard_points(on, stars)
}

/// Points in the order of their ranks, and where those of each cell start and end.
struct Cloud<'a> {
    sorted: &'a Buffer<DVec2>,
    ranges: Buffer<[u32; 2]>,
    grid: Grid,
}

impl Cloud<'_> {
    /// Makes the stars of a list, or of all, from the points of cells up to `reach` away.
    fn wrap<const EXACT: bool>(
        &self,
        on: &Device,
        list: Option<&Buffer<Place>>,
        reach: u32,
        Stars { degrees, stars }: &mut Stars,
    ) -> Result<()> {
        let all = on.uninitialized(0)?;
        let (list, count) = list.map_or((&all, self.sorted.len()), |list| (list, list.len()));
        kernel::wrap_stars::launch::<EXACT>(
            on,
            count.div_ceil(STARS) as u32,
            count as u32,
            reach,
            list,
            self.sorted,
            &self.ranges,
            self.grid,
            degrees,
            stars,
        )?;
        Ok(())
    }

    /// Makes the stars of the points with these degrees, from as many cells as they need; if they are not hard for the
    /// most part. On a spiral, say, nearly all are, and finding that out would take most of the time.
    fn build<const EXACT: bool>(
        &self,
        on: &Device,
        degrees: RangeInclusive<u32>,
        stars: &mut Stars,
    ) -> Result<()> {
        let list = find(on, stars, degrees.clone())?;
        if list.len() >= LEAST_TRIED {
            let tried = list.len().div_ceil(STEP);
            let mut sample = on.uninitialized(tried)?;
            kernel::take_every::launch(on, tried as u32, &list, STEP as u32, &mut sample)?;
            let before = count(on, stars, 0..=0)?;
            self.build_all::<EXACT>(on, &sample.cast(), stars)?;
            let hard = count(on, stars, 0..=0)? - before;
            if 2 * hard as usize > tried {
                let rest = find(on, stars, degrees)?;
                kernel::give_up::launch(on, rest.len() as u32, &rest, &mut stars.degrees)?;
                return Ok(());
            }
        }
        self.build_all::<EXACT>(on, &list, stars)
    }

    /// Makes the stars of a list.
    fn build_all<const EXACT: bool>(
        &self,
        on: &Device,
        list: &Buffer<Place>,
        Stars { degrees, stars }: &mut Stars,
    ) -> Result<()> {
        kernel::build_stars::launch::<EXACT>(
            on,
            list.len().div_ceil(STARS) as u32,
            list.len() as u32,
            list,
            self.sorted,
            &self.ranges,
            self.grid,
            degrees,
            stars,
        )?;
        Ok(())
    }
}

/// Whether each point has one of these degrees.
fn flag(on: &Device, stars: &Stars, degrees: RangeInclusive<u32>) -> Result<BitSet<Place>> {
    let n = stars.degrees.len();
    let mut found = on.uninitialized(n.div_ceil(32))?;
    let (least, most) = degrees.into_inner();
    kernel::find_degrees::launch(on, n as u32, &stars.degrees, least, most, &mut found)?;
    Ok(found)
}

/// The places of the points with these degrees.
fn find(on: &Device, stars: &Stars, degrees: RangeInclusive<u32>) -> Result<Buffer<Place>> {
    compact(on, &flag(on, stars, degrees)?)
}

/// Number of the points with these degrees.
fn count(on: &Device, stars: &Stars, degrees: RangeInclusive<u32>) -> Result<u32> {
    count_bits(on, &flag(on, stars, degrees)?)
}

/// The stars with the places of the points that have none.
fn hard_points(on: &Device, stars: Stars) -> Result<(Stars, Buffer<Place>)> {
    let hard = find(on, &stars, 0..=0)?;
    Ok((stars, hard))
}

/// Cells of [`CROWD`] to four times as many points, on average.
fn grid(ranked: &Ranked) -> Grid {
    let level = (ranked.sorted.len() / CROWD).ilog2() / 2;
    let columns = (1u64 << level) as f64;
    // The frame has 2^32 - 1 cells along its extent.
    let width = ranked.extent * (4_294_967_296.0 / f64::from(u32::MAX)) / columns;
    Grid {
        frame: ranked.frame,
        low: ranked.low,
        width,
        // Coordinates are rounded relative to the largest of them, places in the frame relative to it.
        margin: 1e-14 * (ranked.low.abs().max_element() + ranked.extent)
            + 4.0 * ranked.extent / f64::from(u32::MAX),
        far: 16.0 * ranked.extent,
        level,
        padding: 0,
    }
}
