//! Guards and locks: which vertices are no neighbours though they are within epsilon. The predicate is in `gpu::weld`.

use std::borrow::Cow;

use glam::{DVec2, DVec3};
use gpu::ids::Vertex;
use gpu::weld::{Guard, GuardsBuffers, Limits};
use trioxide_kernel::Bits;
use trioxide_kernel::launch::Buffer;
use trioxide_kernel::safe::In;

use super::carried::{bits, packed};
use super::{Carried, DeviceCarried, Error, Guards, Nearness, Result};
use crate::device::Device;

/// Degrees that an angle between normals may be larger than the tolerance. Coordinates in single precision turn a
/// normal by up to half of it, and the sine and cosine of a tolerance are rounded too: vertices exactly as far apart as
/// the tolerance merge.
const NORMAL_SLACK: f64 = 1e-5;

impl Guards {
    /// Refuses guards over attributes that the `n` vertices do not have.
    fn check_carried(&self, n: usize, normals: bool, uvs: bool, colors: bool) -> Result<()> {
        for (is_guarded, is_there, attribute) in [
            (self.normals.is_some(), normals, "normals"),
            (self.uvs.is_some(), uvs, "texture coordinates"),
            (self.colors.is_some(), colors, "colours"),
        ] {
            if is_guarded && !is_there && n > 0 {
                return Err(Error::MissingAttribute { attribute });
            }
        }
        Ok(())
    }

    fn limits(&self) -> Limits {
        // No tolerance is for one direction alone: there slack would be another meaning.
        let largest = match self.normals {
            Some(angle) if angle > 0.0 => (angle + NORMAL_SLACK).min(180.0),
            _ => 0.0,
        };
        let (sine, cosine) = match largest {
            0.0 => (0.0, 1.0),
            180.0 => (0.0, -1.0),
            angle => libm::sincos(angle.to_radians()),
        };
        let uvs = Nearness::new(self.uvs.unwrap_or(0.0));
        Limits {
            cosine_squared: cosine * cosine,
            sine_squared: sine * sine,
            uv_scale: uvs.scale,
            uv_bound: uvs.bound,
            color_step: self.colors.unwrap_or(0).into(),
            is_obtuse: (largest >= 90.0).into(),
            padding: [0; 2],
        }
    }
}

/// The arrays that guards compare, on a device.
pub(super) struct DeviceGuards<'a> {
    /// `None` if there is no guard.
    pub limits: Option<Limits>,
    /// Whether guards keep points apart that lie together. Locks do not: a locked vertex is nobody's neighbour.
    pub keep_apart: bool,
    locked: &'a Buffer<Bits<Vertex>>,
    normals: &'a Buffer<DVec3>,
    uvs: &'a Buffer<DVec2>,
    colors: &'a Buffer<u32>,
}

impl<'a> DeviceGuards<'a> {
    /// The arrays of `carried`, by `n` vertices, with a guard, and those of `none`, which are empty, in place of the
    /// others.
    pub fn new(
        n: usize,
        guards: &Guards,
        carried: &'a DeviceCarried,
        none: &'a DeviceCarried,
    ) -> Result<Self> {
        guards.check_carried(
            n,
            carried.normals().is_some(),
            carried.uvs().is_some(),
            carried.colors().is_some(),
        )?;
        let keep_apart = *guards != Guards::default();
        let is_guarded = keep_apart || carried.locked().is_some();
        let of = |guarded: bool| if guarded { carried } else { none };
        Ok(Self {
            limits: is_guarded.then(|| guards.limits()),
            keep_apart,
            locked: &carried.locked,
            normals: &of(guards.normals.is_some()).normals,
            uvs: &of(guards.uvs.is_some()).uvs,
            colors: &of(guards.colors.is_some()).colors,
        })
    }

    /// The arrays in host memory.
    pub fn download(&self, on: &Device) -> Result<HostGuards<'static>> {
        Ok(HostGuards {
            limits: self.limits.unwrap_or_else(|| Guards::default().limits()),
            locked: on.download(self.locked)?,
            normals: on.download(self.normals)?.into(),
            uvs: on.download(self.uvs)?.into(),
            colors: on.download(self.colors)?,
        })
    }

    /// Whether comparisons with representatives may be slower than a search for pairs. Of points that lie together
    /// guards may make as many representatives, each of which is compared with each vertex. One thread of a GPU takes
    /// long for that; one of a CPU no longer than to find all pairs, and far less where few are kept apart.
    pub fn may_be_slow(&self, on: &Device) -> bool {
        self.keep_apart && on.is_gpu()
    }

    /// The arrays as a search takes them, with `limits`.
    pub fn buffers<G: Guard>(&self, limits: G) -> GuardsBuffers<'_, G> {
        GuardsBuffers {
            limits,
            locked: self.locked,
            normals: self.normals,
            uvs: self.uvs,
            colors: self.colors,
        }
    }
}

/// The guards that keep vertices apart, in host memory.
pub struct HostGuards<'a> {
    limits: Limits,
    locked: Vec<Bits<Vertex>>,
    normals: Cow<'a, [DVec3]>,
    uvs: Cow<'a, [DVec2]>,
    colors: Vec<u32>,
}

impl<'a> HostGuards<'a> {
    /// The arrays of `carried`, by `n` vertices, with a guard.
    ///
    /// # Errors
    /// [`Error::MissingAttribute`](super::Error::MissingAttribute).
    pub fn new(n: usize, guards: &Guards, carried: &Carried<'a>) -> Result<Self> {
        let attributes = carried.attributes;
        guards.check_carried(
            n,
            attributes.normals.is_some(),
            attributes.uvs.is_some(),
            attributes.colors.is_some(),
        )?;
        let colors = attributes
            .colors
            .as_deref()
            .filter(|_| guards.colors.is_some());
        let normals = attributes
            .normals
            .as_deref()
            .filter(|_| guards.normals.is_some());
        let uvs = attributes.uvs.as_deref().filter(|_| guards.uvs.is_some());
        Ok(Self {
            limits: guards.limits(),
            locked: bits(carried.locked),
            normals: normals.unwrap_or_default().into(),
            uvs: uvs.unwrap_or_default().into(),
            colors: colors.map(packed).unwrap_or_default(),
        })
    }

    /// Whether a vertex may have neighbours at all.
    pub fn has_neighbours(&self, v: u32) -> bool {
        let word = self.locked.get(v as usize / 32);
        word.is_none_or(|word| word.word() >> (v % 32) & 1 == 0)
    }

    /// Whether two vertices within epsilon are neighbours.
    pub fn allow(&self, a: u32, b: u32) -> bool {
        let guards = gpu::weld::Guards {
            limits: self.limits,
            locked: In::from_slice(&self.locked),
            normals: In::from_slice(&self.normals),
            uvs: In::from_slice(&self.uvs),
            colors: In::from_slice(&self.colors),
        };
        Limits::allows(&guards, Vertex::new(a), Vertex::new(b))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::VertexAttributes;

    /// Whether a tolerance lets vertices with these normals merge.
    fn merge(tolerance: f64, normals: [DVec3; 2]) -> bool {
        let attributes = VertexAttributes {
            normals: Some(normals.to_vec()),
            ..VertexAttributes::default()
        };
        let carried = Carried {
            attributes: &attributes,
            ..Carried::NONE
        };
        let guards = Guards {
            normals: Some(tolerance),
            ..Guards::default()
        };
        let guards = HostGuards::new(2, &guards, &carried).unwrap();
        guards.allow(0, 1)
    }

    #[test]
    fn normals_as_far_apart_as_the_tolerance_merge() {
        let single = |p: DVec3| p.as_vec3().as_dvec3();
        for degrees in 1..180 {
            let angle = f64::from(degrees);
            for turn in [0.0, 0.3, 1.1, 2.9] {
                let normal = |angle: f64| {
                    let (sine, cosine) = libm::sincos(angle.to_radians() + turn);
                    DVec3::new(0.6 * cosine, sine, 0.8 * cosine)
                };
                let pair = [normal(0.0), normal(angle)];
                for pair in [pair, pair.map(single)] {
                    assert!(merge(angle, pair), "{angle} degrees, {pair:?}");
                    assert!(!merge(angle - 3e-5, pair), "{angle} degrees, {pair:?}");
                }
            }
        }
        // As they are printed.
        let printed = [DVec3::X, DVec3::new(0.5, 0.866_025_403_784, 0.0)];
        assert!(merge(60.0, printed));
        // None keeps all apart that are not of one direction.
        assert!(merge(0.0, [DVec3::X, DVec3::X * 3.0]));
        assert!(!merge(0.0, [DVec3::X, DVec3::new(1.0, 1e-12, 0.0)]));
        assert!(merge(180.0, [DVec3::X, DVec3::NEG_X]));
    }
}
