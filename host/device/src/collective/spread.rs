//! A test whether elements have local vertex ids.

use trioxide_collective::{SAMPLES, sample_spread};
use trioxide_kernel::launch::Buffer;

use crate::Result;
use crate::device::Device;

/// Whether most elements have vertices with distant ids. Elements have `size` vertices each, three or four, out of
/// `vertices`. Also returns the result of `work`, which a GPU runs meanwhile.
///
/// It samples fixed places, so the answer depends only on the mesh. Ids need not be checked.
///
/// # Errors
/// Errors of the device and of `work`.
///
/// ```
/// # use trioxide_device::{Device, collective::is_scattered};
/// # fn main() -> trioxide_device::Result<()> {
/// let on = Device::cpu(None)?;
/// // Triangles of neighbouring vertices.
/// let corners: Vec<u32> = (0..3000).map(|i| i / 3 + i % 3).collect();
/// let (is_scattered, ()) = is_scattered(&on, &on.upload(&corners)?, 3, 1002, || Ok(()))?;
/// assert!(!is_scattered);
/// # Ok(())
/// # }
/// ```
pub fn is_scattered<R>(
    on: &Device,
    corners: &Buffer<u32>,
    size: u32,
    vertices: usize,
    work: impl FnOnce() -> Result<R>,
) -> Result<(bool, R)> {
    let elements = corners.len() as u32 / size;
    if elements == 0 {
        return Ok((false, work()?));
    }
    let mut far = on.filled(1, 0)?;
    // SAFETY: elements of the sample are below the number of all elements.
    unsafe {
        sample_spread::launch(
            on,
            SAMPLES,
            corners,
            size,
            elements,
            vertices as u32,
            &mut far,
        )
    }?;
    let (far, result) = on.read_beside(&far, work)?;
    Ok((far[0] > SAMPLES / 2, result))
}
