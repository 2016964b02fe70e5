//! Samples of a surface.

use glam::DVec3;
use gpu::compare::{CHUNK, Draw, kernels as kernel};
use trioxide_kernel::launch::Buffer;

use super::{Options, Shape, Triangles};
use crate::Result;
use crate::device::Device;

/// Points of a surface.
pub struct Samples {
    /// Their places.
    pub points: Buffer<DVec3>,
    /// The triangle of each; ascending.
    pub triangles: Triangles,
}

/// Draws samples of a surface; `None` if it has no area, none are wanted, or it is a cloud.
///
/// # Errors
/// Errors of the device.
pub fn draw(on: &Device, shape: Shape<'_>, options: Options) -> Result<Option<Samples>> {
    if shape.is_cloud() || options.samples == 0 {
        return Ok(None);
    }
    on.stage("draw samples", || {
        let triangles = shape.triangles();
        let chunks = triangles.div_ceil(CHUNK as usize);
        let mut within = on.uninitialized(triangles)?;
        let mut sums = on.uninitialized(chunks)?;
        // SAFETY: the triangles' vertices are there; a chunk writes its own triangles.
        unsafe {
            kernel::add_areas::launch(on, chunks as u32, shape.buffers(), &mut within, &mut sums)?;
        }
        let sums: Vec<f64> = on.download(&sums)?;
        let Some(last) = sums.iter().rposition(|&area| area > 0.0) else {
            return Ok(None);
        };
        let mut area = 0.0;
        let starts: Vec<f64> = sums
            .iter()
            .map(|of_chunk| {
                let start = area;
                area += of_chunk;
                start
            })
            .collect();
        let starts = on.upload(&starts)?;
        let n = options.samples as usize;
        let draw = Draw {
            seed: options.seed,
            step: area / n as f64,
            last: last as u32,
            padding: 0,
        };
        let (mut points, mut drawn) = (on.uninitialized(n)?, on.uninitialized(n)?);
        // SAFETY: `last` is a chunk, so every triangle that is searched is there, and so are its vertices.
        unsafe {
            kernel::draw_samples::launch(
                on,
                options.samples,
                shape.buffers(),
                &starts,
                &within,
                draw,
                &mut points,
                &mut drawn,
            )?;
        }
        Ok(Some(Samples {
            points,
            triangles: drawn,
        }))
    })
}
