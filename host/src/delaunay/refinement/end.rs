//! The mesh after refinement.

use glam::DVec2;
use gpu::delaunay::refinement as kernel;
use gpu::ids::{Item, Triangle, Vertex};
use kernel::Bound;
use trioxide_kernel::launch::{Buffer, LaunchError};

use super::begin::{Before, Mesh, Wanted};
use super::{Missed, Refinement};
use crate::Result;
use crate::collective::{Tiled, compact, count_bits};
use crate::delaunay::order::order_loose;
use crate::device::{BitSet, Device};
use crate::reorder::{Vertices, pick};

/// The vertices of the result.
pub(super) struct Names {
    /// The vertex at each place.
    pub vertices: Buffer<Vertex>,
    pub points: Buffer<DVec2>,
}

/// Numbers the vertices.
pub(super) fn name(on: &Device, mesh: &Mesh, before: &Before) -> Result<Names> {
    let (n, first, given) = (mesh.sorted.len(), before.order.len(), before.points());
    let added = n - first;
    let mut kept: BitSet<Item> = on.uninitialized(added.div_ceil(32))?;
    kernel::find_kept::launch(on, added as u32, first as u32, &mesh.gone, &mut kept)?;
    let ranks = Tiled::new(on, &kept)?.ranks(on)?;
    let mut vertices = on.uninitialized(n)?;
    kernel::name_vertices::launch(
        on,
        n as u32,
        &before.order,
        given as u32,
        &ranks,
        &mut vertices,
    )?;
    let total = given + count_bits(on, &kept)? as usize;
    let mut points = on.uninitialized(2 * total)?;
    kernel::list_points::launch(
        on,
        n as u32,
        &mesh.sorted,
        &vertices,
        &mesh.gone,
        &mut points,
    )?;
    if let Some(places) = &before.places {
        let sorted = &mesh.sorted;
        kernel::list_equal_points::launch(on, given as u32, places, sorted, &mut points)?;
    }
    Ok(Names {
        vertices,
        points: points.cast(),
    })
}

/// The triangles along the curve, with their regions.
pub(super) fn order(
    on: &Device,
    mesh: &Mesh,
    list: &Buffer<Triangle>,
    names: &Names,
    ranked: Vertices<DVec2>,
    has_regions: bool,
) -> Result<(Buffer<Vertex>, Option<Buffer<u32>>)> {
    let (_, old, ranks) = ranked.into_arrays();
    let (n, points) = (list.len(), names.points.len());
    let mut taken = on.uninitialized(3 * n)?;
    kernel::take_refined::launch(
        on,
        n as u32,
        list,
        &mesh.corners,
        &names.vertices,
        &ranks.cast(),
        &mut taken,
    )?;
    let mut counts = on.filled(points, 0)?;
    let (ordered, [first, second]) = order_loose(on, points, &taken, &mut counts)?;
    let triangles = pick(on, old.as_words(), &ordered)?.cast();
    if !has_regions {
        return Ok((triangles, None));
    }
    let order = pick(on, list.as_words(), &pick(on, &first, &second)?)?;
    let named = pick(on, &mesh.regions, &order)?;
    Ok((triangles, Some(named)))
}

/// The triangles that were not removed.
pub(super) fn alive(on: &Device, mesh: &Mesh) -> Result<Buffer<Triangle>> {
    let t = mesh.triangles();
    let mut bits: BitSet<Triangle> = on.uninitialized(t.div_ceil(32))?;
    kernel::find_alive::launch(on, t as u32, &mesh.corners, &mut bits)?;
    compact(on, &bits)
}

/// The bounds that some triangles miss.
pub(super) fn measure(
    on: &Device,
    mesh: &Mesh,
    list: &Buffer<Triangle>,
    wanted: Wanted<'_>,
    bounds: &Refinement<'_>,
) -> Result<Vec<Missed>> {
    let n = list.len() as u32;
    let of_bound = |bound: Bound| {
        find(on, n, |worst, bits| {
            kernel::find_missed::launch(
                on,
                n,
                list,
                &mesh.corners,
                &mesh.sorted,
                &mesh.regions,
                wanted.of(&mesh.kinds, &mesh.wholes),
                bound,
                worst,
                bits,
            )
        })
    };
    let mut missed = Vec::new();
    if bounds.largest_area.is_some() || !bounds.areas.is_empty() {
        let found = of_bound(Bound::Area)?;
        missed.extend(found.map(|(triangles, largest)| Missed::Areas { triangles, largest }));
    }
    if bounds.smallest_angle.is_some() {
        missed.extend(
            of_bound(Bound::Angle)?.map(|(triangles, worst)| Missed::Angles {
                triangles,
                smallest: libm::acos(worst.sqrt()).to_degrees(),
            }),
        );
    }
    if let Some(sizes) = bounds.sizes {
        let found = find(on, n, |worst, bits| {
            let (corners, sorted) = (&mesh.corners, &mesh.sorted);
            kernel::find_long::launch(on, n, list, corners, sorted, sizes.buffers(), worst, bits)
        })?;
        missed.extend(found.map(|(triangles, worst)| Missed::Sizes {
            triangles,
            worst: worst.sqrt(),
        }));
    }
    Ok(missed)
}

/// The number of the triangles that a launch over `n` finds, and their worst value; `None` without any.
fn find(
    on: &Device,
    n: u32,
    launch: impl FnOnce(&mut Buffer<u64>, &mut BitSet<Item>) -> std::result::Result<(), LaunchError>,
) -> Result<Option<(u32, f64)>> {
    let mut bits: BitSet<Item> = on.uninitialized((n as usize).div_ceil(32))?;
    let mut worst: Buffer<u64> = on.filled(2, 0)?.cast();
    launch(&mut worst, &mut bits)?;
    let (worst, triangles) = on.read_beside(&worst, || count_bits(on, &bits))?;
    Ok((triangles > 0).then(|| (triangles, f64::from_bits(worst[0]))))
}
