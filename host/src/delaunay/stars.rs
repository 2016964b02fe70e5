//! The stars of points, each alone, and the points that have none.

use glam::DVec2;
use gpu::delaunay as kernel;
use gpu::delaunay::{Grid, LARGEST, RING, STARS, UNSURE};
use gpu::ids::Place;
use trioxide_kernel::launch::Buffer;

use super::{Ranked, Stars};
use crate::Result;
use crate::collective::compact;
use crate::device::Device;

/// Points of a cell, at least, if all cells have as many.
const CROWD: usize = 1;

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
    let cells = 1 << (2 * grid.level);
    let (mut starts, mut ends) = (on.filled(cells, 0)?, on.filled(cells, 0)?);
    kernel::find_cells::launch(on, n as u32, &ranked.sorted, grid, &mut starts, &mut ends)?;
    let cells = Cells {
        sorted: &ranked.sorted,
        starts,
        ends,
        grid,
    };
    let mut stars = Stars {
        degrees: on.uninitialized(n)?,
        stars: on.uninitialized(RING * n)?,
    };
    let all = on.uninitialized(0)?;
    launch::<false>(on, n, &all, &cells, &mut stars)?;
    let unsure = find(on, &stars, UNSURE)?;
    launch::<true>(on, unsure.len(), &unsure, &cells, &mut stars)?;
    hard_points(on, stars)
}

/// Points in the order of their ranks, and where those of each cell start and end.
struct Cells<'a> {
    sorted: &'a Buffer<DVec2>,
    starts: Buffer<u32>,
    ends: Buffer<u32>,
    grid: Grid,
}

/// Makes the stars of the places of a list, or of all `count`.
fn launch<const EXACT: bool>(
    on: &Device,
    count: usize,
    list: &Buffer<Place>,
    cells: &Cells<'_>,
    stars: &mut Stars,
) -> Result<()> {
    let blocks = count.div_ceil(STARS) as u32;
    let Cells {
        sorted,
        starts,
        ends,
        grid,
    } = cells;
    let Stars { degrees, stars } = stars;
    kernel::build_stars::launch::<EXACT>(
        on,
        blocks,
        count as u32,
        list,
        sorted,
        starts,
        ends,
        *grid,
        degrees,
        stars,
    )?;
    Ok(())
}

/// The places of the points with this degree.
fn find(on: &Device, stars: &Stars, degree: u32) -> Result<Buffer<Place>> {
    let n = stars.degrees.len();
    let mut found = on.uninitialized(n.div_ceil(32))?;
    kernel::find_degree::launch(on, n as u32, &stars.degrees, degree, &mut found)?;
    compact(on, &found)
}

/// The stars with the places of the points that have none.
fn hard_points(on: &Device, stars: Stars) -> Result<(Stars, Buffer<Place>)> {
    let hard = find(on, &stars, 0)?;
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
