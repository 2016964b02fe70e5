//! The triangles in their order.

use gpu::delaunay as kernel;
use gpu::ids::{Place, Vertex};
use trioxide_kernel::launch::Buffer;

use super::Stars;
use crate::Result;
use crate::collective::{compact, exclusive_scan, lengths, order_by_keys};
use crate::device::Device;

/// The triangles of `n` points, three of their `names` each; `between_hard` has the corners of those between hard
/// points.
pub(super) fn order(
    on: &Device,
    n: usize,
    names: &Buffer<Vertex>,
    stars: &Stars,
    between_hard: &Buffer<Place>,
) -> Result<Buffer<Vertex>> {
    let mut starts = on.uninitialized(n)?;
    let mut has_loose = on.uninitialized(n.div_ceil(32))?;
    kernel::count_triangles::launch(on, n as u32, stars.parameter(), &mut starts, &mut has_loose)?;
    let loose = collect_loose(on, stars, &compact(on, &has_loose)?, between_hard)?;
    let (loose, _) = order_loose(on, n, &loose, &mut starts)?;
    let total = exclusive_scan(on, &mut starts)?;
    let count = on.read(&total, 0)? as usize;
    let mut triangles = on.uninitialized(3 * count)?;
    kernel::write_star_triangles::launch(
        on,
        n as u32,
        stars.parameter(),
        &starts,
        names,
        &mut triangles,
    )?;
    kernel::write_loose_triangles::launch(
        on,
        (loose.len() / 3) as u32,
        &loose,
        &starts,
        names,
        &mut triangles,
    )?;
    Ok(triangles)
}

/// Corners of the triangles whose first corner is hard: of the stars at some places, then those between hard points.
fn collect_loose(
    on: &Device,
    stars: &Stars,
    places: &Buffer<Place>,
    between_hard: &Buffer<Place>,
) -> Result<Buffer<Place>> {
    let n = places.len();
    let mut starts = lengths(on, n)?;
    kernel::count_loose::launch(on, n as u32, places, stars.parameter(), &mut starts)?;
    let of_stars = exclusive_scan(on, &mut starts)?;
    let of_stars = on.read(&of_stars, 0)?;
    let of_stars = 3 * of_stars as usize;
    let mut corners = on.uninitialized(of_stars + between_hard.len())?;
    kernel::write_loose::launch(
        on,
        n as u32,
        places,
        stars.parameter(),
        &starts,
        &mut corners,
    )?;
    kernel::append_words::launch(
        on,
        between_hard.len() as u32,
        between_hard.as_words(),
        of_stars as u32,
        corners.as_words_mut(),
    )?;
    Ok(corners)
}

/// Corners of loose triangles by their first, then second corners; `counts` gets how many each of `n` first corners
/// has. With two orders: corners of triangle `second[i]`, then `first`, come as number i.
pub(super) fn order_loose(
    on: &Device,
    n: usize,
    corners: &Buffer<Place>,
    counts: &mut Buffer<u32>,
) -> Result<(Buffer<Place>, [Buffer<u32>; 2])> {
    let count = corners.len() / 3;
    let bits = u32::BITS - (n as u32).leading_zeros();
    let sorted_by = |order: &Buffer<u32>, k: u32| {
        let mut ranks = on.uninitialized(count)?;
        kernel::read_corner::launch(on, count as u32, order, corners, k, &mut ranks)?;
        order_by_keys(on, ranks, bits)
    };
    let first = sorted_by(&on.uninitialized(0)?, 1)?;
    let second = sorted_by(&first, 0)?;
    let mut ordered = on.uninitialized(3 * count)?;
    kernel::order_loose::launch(
        on,
        count as u32,
        &first,
        &second,
        corners,
        &mut ordered,
        counts,
    )?;
    Ok((ordered, [first, second]))
}
