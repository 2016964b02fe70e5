//! The order of points along a Hilbert curve.

use glam::DVec2;
use gpu::curve::Frame;
use gpu::delaunay as kernel;
use gpu::ids::Place;
use trioxide_kernel::NONE;
use trioxide_kernel::launch::Buffer;

use super::{Duplicates, Error, Ranked};
use crate::collective::Tiled;
use crate::device::Device;
use crate::half_edges::Point;
use crate::{Result, points, reorder};

/// Ranks points between bounds.
pub(super) fn rank<P: Point>(
    on: &Device,
    points: &Buffer<P>,
    (low, high): (DVec2, DVec2),
    duplicates: Duplicates,
) -> Result<Ranked, Error> {
    let bounds = (low.extend(0.0), high.extend(0.0));
    let (points, order) = reorder::order(on, points, bounds, &mut on.uninitialized(0)?)?;
    let n = order.len();
    let (mut sorted, mut found) = (on.uninitialized(n)?, on.filled(1, NONE)?);
    kernel::take_sorted::launch(on, n as u32, &points, &order, &mut sorted, &mut found)
        .map_err(crate::Error::from)?;
    let ranked = Ranked {
        order,
        firsts: None,
        sorted,
        frame: Frame::new(low, high),
        low,
        extent: (high - low).max_element(),
    };
    match (on.read(&found, 0)?, duplicates) {
        (NONE, _) => Ok(ranked),
        (vertex, Duplicates::Refuse) => Err(equal(on, &ranked, vertex)?),
        (_, Duplicates::First) => Ok(keep_firsts(on, ranked)?),
    }
}

/// Keeps the first of equal points, each with the lowest id: equal points are ordered by their ids.
fn keep_firsts(on: &Device, ranked: Ranked) -> Result<Ranked> {
    let (n, order) = (ranked.order.len(), &ranked.order);
    let mut is_first = on.uninitialized(n.div_ceil(32))?;
    kernel::find_firsts::launch(on, n as u32, &ranked.sorted, &mut is_first)?;
    let counted = Tiled::new(on, &is_first)?;
    let ranks = counted.ranks(on)?;
    let places: Buffer<Place> = counted.count(on)?.list(on)?;
    let firsts = reorder::pick(on, order.as_words(), &places)?.cast();
    let mut map = on.uninitialized(n)?;
    kernel::map_to_firsts::launch(on, n as u32, order, &ranks, &firsts, &mut map)?;
    Ok(Ranked {
        sorted: reorder::pick(on, &ranked.sorted, &places)?,
        order: firsts,
        firsts: Some(map),
        ..ranked
    })
}

/// Lowest and highest coordinates; refuses coordinates that are no finite numbers.
pub(super) fn bounds<P: Point>(on: &Device, points: &Buffer<P>) -> Result<(DVec2, DVec2)> {
    points::check_finite(on, points)?;
    let (low, high) = points::bounds(on, points)?;
    Ok((low.truncate(), high.truncate()))
}

/// The error of a vertex that equals one before it in the order.
fn equal(on: &Device, ranked: &Ranked, vertex: u32) -> Result<Error> {
    let order: Vec<u32> = on.download_rows(&ranked.order)?;
    let place = order.iter().position(|&v| v == vertex);
    let place = place.expect("a vertex of the order");
    Ok(Error::Repeated {
        vertex,
        other: order[place - 1],
    })
}
