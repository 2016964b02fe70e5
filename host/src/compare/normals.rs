//! Angles between normals.

use glam::DVec2;
use gpu::compare::kernels as kernel;

use super::{Shape, Triangles};
use crate::Result;
use crate::device::Device;

/// Angles between the normals of samples' triangles and of their nearest triangles, in degrees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Angles {
    /// Pairs of triangles with an area.
    pub pairs: u64,
    /// The largest angle.
    pub largest: f64,
    /// Their mean.
    pub mean: f64,
}

impl Angles {
    /// Those from both sides: the largest of both, and a mean of which each side counts half.
    pub fn and(self, other: Self) -> Self {
        Self {
            pairs: self.pairs + other.pairs,
            largest: self.largest.max(other.largest),
            mean: 0.5 * self.mean + 0.5 * other.mean,
        }
    }
}

/// Angles between triangles of one surface and of another, in pairs; `None` if no pair has areas.
///
/// # Errors
/// Errors of the device.
pub(super) fn angles(
    on: &Device,
    (shape, of): (Shape<'_>, &Triangles),
    (other, to): (Shape<'_>, &Triangles),
) -> Result<Option<Angles>> {
    on.stage("compare normals", || {
        let mut pairs = on.uninitialized(of.len())?;
        // SAFETY: samples and searches give ids of triangles, whose vertices are there.
        unsafe {
            kernel::compare_normals::launch(
                on,
                of.len() as u32,
                shape.buffers(),
                of,
                other.buffers(),
                to,
                &mut pairs,
            )?;
        }
        let (mut count, mut sum, mut largest) = (0u64, 0.0, 0.0f64);
        for DVec2 { x, y } in on.download(&pairs)? {
            if x != 0.0 || y != 0.0 {
                let angle = libm::atan2(y, x).to_degrees();
                (count, sum, largest) = (count + 1, sum + angle, largest.max(angle));
            }
        }
        Ok((count > 0).then(|| Angles {
            pairs: count,
            largest,
            mean: sum / count as f64,
        }))
    })
}
