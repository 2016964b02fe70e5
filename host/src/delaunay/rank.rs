//! The order of points along a Hilbert curve.

use glam::DVec2;
use gpu::delaunay as kernel;
use gpu::delaunay::{Frame, order_rule, word};
use gpu::ids::{Place, Vertex};
use trioxide_kernel::NONE;
use trioxide_kernel::launch::Buffer;

use super::{Duplicates, Error, Ranked};
use crate::collective::{Tiled, order_by_keys};
use crate::device::Device;
use crate::half_edges::Point;
use crate::{Result, points};

/// Ranks points between bounds.
pub(super) fn rank<P: Point>(
    on: &Device,
    points: &Buffer<P>,
    (low, high): (DVec2, DVec2),
    duplicates: Duplicates,
) -> Result<Ranked, Error> {
    let frame = Frame::new(low, high);
    let mut ranked = Ranked {
        order: on.uninitialized(points.len())?,
        firsts: None,
        sorted: on.uninitialized(0)?,
        frame,
        low,
        extent: (high - low).max_element(),
    };
    let mut found = settle(on, points, &mut ranked)?;
    // Many points closer together than cells are ordered by all their words.
    if found[order_rule::UNORDERED as usize] != NONE {
        ranked.order = order(on, points, frame, word::Y..word::COUNT)?;
        ranked.sorted = on.uninitialized(points.len())?;
        found = check(on, points, &mut ranked)?;
    }
    match (found[order_rule::EQUAL as usize], duplicates) {
        (NONE, _) => {}
        (vertex, Duplicates::Refuse) => return Err(equal(on, &ranked, vertex)?),
        (_, Duplicates::First) => {
            keep_firsts(on, &mut ranked)?;
            check(on, points, &mut ranked)?;
        }
    }
    Ok(ranked)
}

/// Keeps the first of equal points, each with the lowest id: equal points are ordered by their ids.
fn keep_firsts(on: &Device, ranked: &mut Ranked) -> Result<()> {
    let (n, order) = (ranked.order.len(), &ranked.order);
    let mut is_first = on.uninitialized(n.div_ceil(32))?;
    kernel::find_firsts::launch(on, n as u32, &ranked.sorted, &mut is_first)?;
    let counted = Tiled::new(on, &is_first)?;
    let ranks = counted.ranks(on)?;
    let places: Buffer<Place> = counted.count(on)?.list(on)?;
    let mut firsts = on.uninitialized(places.len())?;
    kernel::join_orders::launch(on, places.len() as u32, order, &places, &mut firsts)?;
    let mut map = on.uninitialized(n)?;
    kernel::map_to_firsts::launch(on, n as u32, order, &ranks, &firsts, &mut map)?;
    ranked.sorted = on.uninitialized(firsts.len())?;
    ranked.order = firsts;
    ranked.firsts = Some(map);
    Ok(())
}

/// Lowest and highest coordinates; refuses coordinates that are no finite numbers.
pub(super) fn bounds<P: Point>(on: &Device, points: &Buffer<P>) -> Result<(DVec2, DVec2)> {
    points::check_finite(on, points)?;
    let (low, high) = points::bounds(on, points)?;
    Ok((low.truncate(), high.truncate()))
}

/// Vertices in the ascending order of some of their words, the least first; then by their ids.
fn order<P: Point>(
    on: &Device,
    points: &Buffer<P>,
    frame: Frame,
    words: std::ops::Range<u32>,
) -> Result<Buffer<Vertex>> {
    let n = points.len() as u32;
    let mut order: Buffer<Vertex> = on.uninitialized(0)?;
    for word in words {
        let mut keys = on.uninitialized(points.len())?;
        kernel::read_ranking::launch(on, n, &order, points, frame, word, &mut keys)?;
        let next = order_by_keys(on, keys, u32::BITS)?;
        order = match order.is_empty() {
            true => next.cast(),
            false => {
                let mut joined = on.uninitialized(points.len())?;
                let next: Buffer<Place> = next.cast();
                kernel::join_orders::launch(on, n, &order, &next, &mut joined)?;
                joined
            }
        };
    }
    Ok(order)
}

/// Ranks points by the first words of their keys, and few with the same by all. Returns the slots of [`order_rule`].
fn settle<P: Point>(on: &Device, points: &Buffer<P>, ranked: &mut Ranked) -> Result<Vec<u32>> {
    let mut found = on.filled(order_rule::COUNT, NONE)?;
    let mut sorted: Buffer<f64> = on.uninitialized(2 * points.len())?;
    let first_word = word::COUNT - 1;
    kernel::settle_order::launch(
        on,
        points.len() as u32,
        &order(on, points, ranked.frame, first_word..word::COUNT)?,
        points,
        ranked.frame,
        &mut ranked.order,
        &mut sorted,
        &mut found,
    )?;
    ranked.sorted = sorted.cast();
    on.download(&found)
}

/// Compares neighbours in the order and takes the points in it. Returns the slots of [`order_rule`].
fn check<P: Point>(on: &Device, points: &Buffer<P>, ranked: &mut Ranked) -> Result<Vec<u32>> {
    let mut found = on.filled(order_rule::COUNT, NONE)?;
    kernel::check_order::launch(
        on,
        ranked.order.len() as u32,
        &ranked.order,
        points,
        &mut ranked.sorted,
        &mut found,
    )?;
    on.download(&found)
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
