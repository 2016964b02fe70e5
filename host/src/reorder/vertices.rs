//! The order of vertices.

use glam::{DVec2, DVec3};
use gpu::ids::Vertex;
use gpu::reorder::{self as kernel, Cube, Curve, value};
use trioxide_kernel::NONE;
use trioxide_kernel::launch::Buffer;

use super::carry::{carry, pick};
use super::{Point, Vertices};
use crate::collective::order_by_keys;
use crate::device::Device;
use crate::{Result, forms, points};

/// Orders points along the curve.
///
/// # Errors
/// [`Invalid`](crate::Error::Invalid) for a coordinate that is no finite number;
/// [`Argument`](crate::Error::Argument) for more points than ids; errors of the device.
pub fn vertices<P: Point>(on: &Device, points: &Buffer<P>) -> Result<Vertices<P>> {
    let (low, high) = points::bounds(on, points)?;
    // A coordinate that is no finite number is an extreme, or its negative is. No points have no finite ones.
    if !(low.is_finite() && high.is_finite()) {
        points::check_finite(on, points)?;
    }
    on.stage("order vertices", || {
        let mut new = on.uninitialized(points.len())?;
        let (points, old) = order(on, points, (low, high), &mut new)?;
        Ok(Vertices { points, old, new })
    })
}

/// Finite points in their order, and the vertex of each; `new` gets the place of each vertex, if it has room for them.
pub(crate) fn order<P: Point>(
    on: &Device,
    points: &Buffer<P>,
    (low, high): (DVec3, DVec3),
    new: &mut Buffer<Vertex>,
) -> Result<(Buffer<P>, Buffer<Vertex>)> {
    let cube = P::Double::cube(low, high);
    for dropped in [P::Double::DROPPED_BITS, 0] {
        let order = by_keys(on, points, cube, dropped)?;
        if let Some(placed) = place::<P, false>(on, &order, points, (cube, dropped), new)? {
            return Ok(placed);
        }
    }
    // Many points are closer together than cells are wide.
    let order = by_all(on, points, cube)?;
    let placed = place::<P, true>(on, &order, points, (cube, 0), new)?;
    Ok(placed.expect("the order is final"))
}

/// Orders points of space along the curve of the plane if all share one z, else along that of space.
///
/// # Errors
/// As [`vertices`].
pub fn vertices_in_space(on: &Device, points: &Buffer<DVec3>) -> Result<Vertices<DVec3>> {
    let (low, high) = points::bounds(on, points)?;
    if low.z != high.z || !low.z.is_finite() {
        return vertices(on, points);
    }
    let flat = vertices(on, &forms::flatten::<DVec2>(on, points)?)?;
    let (_, old, new) = flat.into_arrays();
    let points = carry(on, points, &old)?;
    Ok(Vertices { points, old, new })
}

/// Sorts by the keys of cells whose numbers lack their lowest `dropped` bits.
fn by_keys<P: Point>(
    on: &Device,
    points: &Buffer<P>,
    cube: Cube,
    dropped: u32,
) -> Result<Buffer<Vertex>> {
    let (bits, lowest) = (P::Double::KEY_BITS, P::Double::DIMENSIONS * dropped);
    let mut order = on.uninitialized(0)?;
    if lowest < u32::BITS {
        order = sorted(
            on,
            points,
            cube,
            order,
            (value::KEY, lowest, u32::BITS - lowest),
        )?;
    }
    sorted(
        on,
        points,
        cube,
        order,
        (value::KEY, u32::BITS, bits - u32::BITS),
    )
}

/// Sorts by all that is compared, the least first; equal points stay in the order of their ids.
fn by_all<P: Point>(on: &Device, points: &Buffer<P>, cube: Cube) -> Result<Buffer<Vertex>> {
    let mut order = on.uninitialized(0)?;
    let coordinates = [value::Z, value::Y, value::X];
    for value in &coordinates[3 - P::Double::DIMENSIONS as usize..] {
        for shift in [0, u32::BITS] {
            order = sorted(on, points, cube, order, (*value, shift, u32::BITS))?;
        }
    }
    for (shift, bits) in [(0, u32::BITS), (u32::BITS, P::Double::KEY_BITS - u32::BITS)] {
        order = sorted(on, points, cube, order, (value::KEY, shift, bits))?;
    }
    Ok(order)
}

/// Sorts an order, or the vertices where there is none, by `bits` bits of a value from bit `shift` on.
fn sorted<P: Point>(
    on: &Device,
    points: &Buffer<P>,
    cube: Cube,
    order: Buffer<Vertex>,
    (value, shift, bits): (u32, u32, u32),
) -> Result<Buffer<Vertex>> {
    let n = points.len() as u32;
    let mut keys = on.uninitialized(points.len())?;
    let mask = u32::MAX >> (u32::BITS - bits);
    kernel::read_value::launch(on, n, &order, points, cube, value, shift, mask, &mut keys)?;
    let next = order_by_keys(on, keys, bits)?;
    if order.is_empty() {
        return Ok(next.cast());
    }
    Ok(pick(on, order.as_words(), &next)?.cast())
}

/// Gives vertices their places: points and vertices; `None` if a run is too long to be ordered.
fn place<P: Point, const IS_FINAL: bool>(
    on: &Device,
    order: &Buffer<Vertex>,
    points: &Buffer<P>,
    (cube, dropped): (Cube, u32),
    new: &mut Buffer<Vertex>,
) -> Result<Option<(Buffer<P>, Buffer<Vertex>)>> {
    let n = points.len();
    let (mut placed, mut old) = (on.uninitialized(n)?, on.uninitialized(n)?);
    let mut found = on.filled(1, NONE)?;
    kernel::place_vertices::launch::<P, IS_FINAL>(
        on,
        n as u32,
        order,
        points,
        cube,
        dropped,
        &mut placed,
        &mut old,
        new,
        &mut found,
    )?;
    let is_ordered = IS_FINAL || on.read(&found, 0)? == NONE;
    Ok(is_ordered.then_some((placed, old)))
}
