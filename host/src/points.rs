//! Points on a device, and on their way there.

use glam::DVec3;
use gpu::forms::{BOX_NODES, EXTREMES, measure_bounds};
use gpu::half_edges::{check_points, rule};
use gpu::ordered::from_ordered_bits;
use gpu::point::{Coordinates, MeshPoint};
use trioxide_kernel::NONE;
use trioxide_mesh::parallel;

use crate::device::{Buffer, Device};
use crate::{Error, Result};

/// Copies points to the device in its precision, with room for `capacity` of them.
///
/// # Errors
/// Errors of the device.
pub fn upload_points<P: Coordinates>(
    on: &Device,
    points: &[P::Double],
    capacity: usize,
) -> Result<Buffer<P>> {
    // Points in double precision are copied as they are.
    if size_of::<P>() == size_of::<P::Double>() {
        return on.upload_with_capacity(bytemuck::cast_slice(points), capacity);
    }
    let points: Vec<P> = parallel::map(points, |&p| P::from_f64(p));
    on.upload_with_capacity(&points, capacity)
}

/// Lowest and highest coordinates of finite points: infinite where there is none, the lowest above the highest. Points
/// of the plane have z = 0.
///
/// # Errors
/// [`Error::Argument`] for more points than ids; errors of the device.
pub fn bounds<P: Coordinates>(on: &Device, points: &Buffer<P>) -> Result<(DVec3, DVec3)> {
    count(points.len())?;
    on.stage("bounds", || {
        let blocks = points.len().div_ceil(BOX_NODES);
        let mut extremes = on.uninitialized(blocks)?;
        measure_bounds::launch(on, blocks as u32, points, &mut extremes)?;
        let extremes: Vec<[u64; EXTREMES]> = on.download(&extremes)?;
        let mut highest = (0..EXTREMES).map(|e| {
            let most = extremes.iter().map(|extremes| extremes[e]).max();
            most.map_or(f64::NEG_INFINITY, from_ordered_bits)
        });
        let mut next = || highest.next().expect("six extremes");
        let high = DVec3::new(next(), next(), next());
        let low = -DVec3::new(next(), next(), next());
        Ok((low, high))
    })
}

/// Refuses coordinates that are no finite numbers.
pub(crate) fn check_finite<P: MeshPoint>(on: &Device, points: &Buffer<P>) -> Result<()> {
    let mut found = on.filled(rule::COUNT, NONE)?;
    check_points::launch(on, count(points.len())?, points, &mut found)?;
    match on.read(&found, rule::FINITE as usize)? {
        NONE => Ok(()),
        vertex => Err(Error::not_finite(vertex as usize)),
    }
}

pub(crate) fn count(points: usize) -> Result<u32> {
    let too_many = |_| Error::Argument(format!("{points} points are too many for 32-bit ids"));
    points.try_into().map_err(too_many)
}
