//! The mesh after refinement.

use glam::DVec2;
use gpu::delaunay::refinement as kernel;
use gpu::ids::{HalfEdge, Item, Triangle, Vertex};
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
        find(on, mesh, list, |bits_of_worst, worst, first, bits| {
            kernel::find_missed::launch(
                on,
                n,
                list,
                &mesh.corners,
                &mesh.sorted,
                &mesh.regions,
                wanted.of(&mesh.kinds, &mesh.wholes),
                bound,
                bits_of_worst,
                worst,
                first,
                bits,
            )
        })
    };
    let mut missed = Vec::new();
    if bounds.largest_area.is_some() || !bounds.areas.is_empty() {
        let found = of_bound(Bound::Area)?;
        missed.extend(found.map(|found| Missed::Areas {
            triangles: found.triangles,
            largest: found.worst,
            at: found.at,
        }));
    }
    if bounds.smallest_angle.is_some() {
        missed.extend(of_bound(Bound::Angle)?.map(|found| Missed::Angles {
            triangles: found.triangles,
            smallest: libm::acos(found.worst.sqrt()).to_degrees(),
            at: found.at,
        }));
    }
    if let Some(sizes) = bounds.sizes {
        let found = find(on, mesh, list, |bits_of_worst, worst, first, bits| {
            let (corners, sorted, sizes) = (&mesh.corners, &mesh.sorted, sizes.buffers());
            kernel::find_long::launch(
                on,
                n,
                list,
                corners,
                sorted,
                sizes,
                bits_of_worst,
                worst,
                first,
                bits,
            )
        })?;
        missed.extend(found.map(|found| Missed::Sizes {
            triangles: found.triangles,
            worst: found.worst.sqrt(),
            at: found.at,
        }));
    }
    Ok(missed)
}

/// Triangles that miss a bound.
struct Found {
    triangles: u32,
    worst: f64,
    /// The centroid of the first with the worst value.
    at: DVec2,
}

/// Finds triangles of a list by a launch, which is repeated for the place of the worst one; `None` without any.
fn find(
    on: &Device,
    mesh: &Mesh,
    list: &Buffer<Triangle>,
    mut launch: impl FnMut(
        u64,
        &mut Buffer<u64>,
        &mut Buffer<u32>,
        &mut BitSet<Item>,
    ) -> std::result::Result<(), LaunchError>,
) -> Result<Option<Found>> {
    let mut bits: BitSet<Item> = on.uninitialized(list.len().div_ceil(32))?;
    let mut worst: Buffer<u64> = on.filled(2, 0)?.cast();
    let mut first = on.filled(1, 0)?;
    // No value has these bits.
    launch(u64::MAX, &mut worst, &mut first, &mut bits)?;
    let (worst_bits, triangles) = on.read_beside(&worst, || count_bits(on, &bits))?;
    if triangles == 0 {
        return Ok(None);
    }
    let mut first = on.filled(1, u32::MAX)?;
    launch(worst_bits[0], &mut worst, &mut first, &mut bits)?;
    let t = on.read(list, on.read(&first, 0)? as usize)?;
    let mut sum = DVec2::ZERO;
    for k in 0..3 {
        let corner = on.read(&mesh.corners, HalfEdge::of(t, k).index() as usize)?;
        sum += on.read(&mesh.sorted, corner.index() as usize)? / 3.0;
    }
    Ok(Some(Found {
        triangles,
        worst: f64::from_bits(worst_bits[0]),
        at: sum,
    }))
}

/// The length and the middle of the shortest edge.
pub(super) fn shortest_edge(on: &Device, mesh: &Mesh) -> Result<(f64, DVec2)> {
    let (corners, points) = (on.download(&mesh.corners)?, on.download(&mesh.sorted)?);
    let mut shortest = (f64::INFINITY, DVec2::ZERO);
    for sides in corners.chunks_exact(3).filter(|sides| sides[0].is_some()) {
        for k in 0..3 {
            let [a, b] = [sides[k], sides[(k + 1) % 3]].map(|v| points[v.index() as usize]);
            let length = a.distance(b);
            if length < shortest.0 {
                shortest = (length, a.midpoint(b));
            }
        }
    }
    Ok(shortest)
}
