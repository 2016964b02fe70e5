//! The triangles in their order.

use gpu::delaunay as kernel;
use gpu::ids::{Item, Place, Vertex};
use trioxide_kernel::launch::Buffer;

use super::insert::Inserted;
use super::{Ranked, Stars};
use crate::Result;
use crate::collective::{exclusive_scan, order_by_keys};
use crate::device::Device;

/// Vertices of all triangles, three each.
pub(super) fn order(
    on: &Device,
    ranked: &Ranked,
    stars: &Stars,
    inserted: &Inserted,
) -> Result<Buffer<Vertex>> {
    let n = ranked.order.len();
    let mut starts = on.uninitialized(n)?;
    kernel::count_triangles::launch(on, n as u32, stars.parameter(), &mut starts)?;
    let total = exclusive_scan(on, &mut starts)?;
    let made = on.read(&total, 0)? as usize;
    let count = made + inserted.list.len();
    let mut corners: Buffer<Place> = on.uninitialized(3 * count)?;
    kernel::write_star_triangles::launch(on, n as u32, stars.parameter(), &starts, &mut corners)?;
    kernel::write_hard_triangles::launch(
        on,
        inserted.list.len() as u32,
        &inserted.list,
        &inserted.corners,
        &inserted.places,
        made as u32,
        &mut corners,
    )?;
    let bits = u32::BITS - (n as u32).leading_zeros();
    let sorted_by = |order: &Buffer<u32>, k: u32| {
        let mut ranks = on.uninitialized(count)?;
        kernel::read_corner::launch(on, count as u32, order, &corners, k, &mut ranks)?;
        order_by_keys(on, ranks, bits)
    };
    let first = sorted_by(&on.uninitialized(0)?, 1)?;
    let second: Buffer<Item> = sorted_by(&first, 0)?.cast();
    let mut triangles = on.uninitialized(3 * count)?;
    kernel::write_triangles::launch(
        on,
        count as u32,
        &first,
        &second.cast(),
        &corners,
        &ranked.order,
        &mut triangles,
    )?;
    Ok(triangles)
}
