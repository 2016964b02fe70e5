//! Points on their way to a device.

use gpu::point::Coordinates;
use trioxide_mesh::parallel;

use crate::Result;
use crate::device::{Buffer, Device};

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
