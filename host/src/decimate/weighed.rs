//! Numbers of the vertices in the quadrics.

use gpu::ids::Vertex;
use trioxide_kernel::launch::Buffer;

use super::kernel::{self, FansBuffers, Site, Trend};
use super::{Error, Result, stage};
use crate::device::Device;

/// Numbers of the vertices that count in the quadrics, as the surface does: colours, texture coordinates, normals.
#[derive(Clone, Copy)]
pub struct Numbers<'a> {
    /// The numbers, those of a vertex one after the other; V times the number of channels.
    pub values: &'a Buffer<f64>,
    /// How each number of a vertex counts.
    pub channels: &'a [Channel],
}

/// How one of the numbers of the vertices counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Channel {
    /// The distance that a difference of 1 counts as, in parts of the bounding box's diagonal. With 0 the number has no
    /// part in the costs; vertices get the values that fit best all the same.
    pub weight: f64,
    /// The least and the largest value that a vertex may get.
    pub range: [f64; 2],
}

impl Numbers<'_> {
    /// Refuses weights that are no distances, and values of another number than that of the vertices times the
    /// channels.
    pub(super) fn check(&self, vertices: usize) -> Result<()> {
        let is_weight = |channel: &&Channel| channel.weight.is_finite() && channel.weight >= 0.0;
        if let Some(wrong) = self.channels.iter().find(|channel| !is_weight(channel)) {
            return Err(Error::Weight(wrong.weight));
        }
        let (length, needed) = (self.values.len(), vertices * self.channels.len());
        if length != needed || u32::try_from(needed).is_err() {
            return Err(Error::Length {
                array: "numbers of vertices",
                length,
                needed,
            });
        }
        Ok(())
    }

    /// Refuses a number that is not finite, or too large.
    pub(super) fn check_values(&self, on: &Device) -> Result<()> {
        let count = self.channels.len();
        let vertices = self.values.len().checked_div(count).unwrap_or(0) as u32;
        let mut found = on.filled(1, Vertex::NONE)?;
        kernel::check_values::launch(on, vertices, count as u32, self.values, &mut found)?;
        let found = on.read(&found, 0)?;
        if found.is_some() {
            let vertex = found.index() as usize;
            return Err(Error::Number { vertex });
        }
        Ok(())
    }
}

/// The numbers of the vertices between rounds.
pub(super) struct Weighed {
    pub channels: Buffer<kernel::Channel>,
    /// V times the number of channels.
    pub trends: Buffer<Trend>,
}

impl Weighed {
    /// The trends of a surface's vertices, whose shares are added to the `sites`. Lengths are in units of `unit`, and
    /// the bounding box has this `diagonal` in them.
    pub fn measure(
        on: &Device,
        numbers: &Numbers,
        points: &Buffer<glam::DVec3>,
        [unit, diagonal]: [f64; 2],
        fans: FansBuffers,
        sites: &mut Buffer<Site>,
    ) -> Result<Self> {
        let channels = numbers.channels.iter().map(|channel| {
            let weight = channel.weight * diagonal;
            kernel::Channel {
                square: weight * weight,
                least: channel.range[0],
                most: channel.range[1],
            }
        });
        let channels = on.upload(&channels.collect::<Vec<_>>())?;
        let mut trends = on.uninitialized(numbers.values.len())?;
        stage(on, "measure numbers", || {
            let n = sites.len() as u32;
            let values = numbers.values;
            // SAFETY: the lists hold half-edges of the triangles, whose corners are checked vertices.
            unsafe {
                kernel::measure_trends::launch(
                    on,
                    n,
                    fans,
                    points,
                    unit,
                    values,
                    &channels,
                    sites,
                    &mut trends,
                )
            }?;
            Ok(())
        })?;
        Ok(Self { channels, trends })
    }

    /// A copy.
    pub fn duplicate(&self, on: &Device) -> Result<Self> {
        Ok(Self {
            channels: on.duplicate(&self.channels)?,
            trends: on.duplicate(&self.trends)?,
        })
    }

    /// The numbers of the vertices that are left.
    pub fn values(&self, on: &Device, survivors: &Buffer<Vertex>) -> Result<Buffer<f64>> {
        let count = self.channels.len();
        let mut left = on.uninitialized(survivors.len() * count)?;
        let n = survivors.len() as u32;
        // SAFETY: survivors are vertices, each of which has a trend for each channel.
        unsafe {
            kernel::write_values::launch(on, n, count as u32, survivors, &self.trends, &mut left)
        }?;
        Ok(left)
    }
}

#[cfg(test)]
mod tests;
