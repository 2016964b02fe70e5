//! The scalar type of coordinates.

use glam::DVec3;
use trioxide_work::parallel;

/// Scalar type of coordinates on the device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Precision {
    /// Double
    #[default]
    F64,
    /// Single
    F32,
}

impl Precision {
    /// The largest coordinates of meshes that operations compute on as they are: the least, and the first that is too
    /// large. They scale others by a power of two. In double precision products of six lengths are in range, with a
    /// margin for differences of near points.
    pub fn usual_sizes(self) -> [f64; 2] {
        let exponent = match self {
            Self::F64 => 50,
            Self::F32 => 10,
        };
        [2f64.powi(-exponent), 2f64.powi(exponent)]
    }

    /// Gives the points of `after`, which a run in this precision left where they were in `before`, all their bits
    /// back: single precision has rounded them.
    pub fn restore(self, before: &[DVec3], after: &mut [DVec3]) {
        if self == Self::F64 {
            return;
        }
        let bits = |p: DVec3| p.to_array().map(f64::to_bits);
        parallel::for_each_mut(after, |i, after| {
            if bits(before[i].as_vec3().as_dvec3()) == bits(*after) {
                *after = before[i];
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use trioxide::Device;
    use trioxide::mesh::Mesh;

    use super::*;
    use crate::{On, smooth, smooth::Options};

    #[test]
    fn nodes_that_single_precision_leaves_keep_their_bits() {
        // Thirds have no end in binary.
        let mut mesh = Mesh::from(trioxide::generate::grid(16).unwrap());
        mesh.points[5].x += 0.1;
        for untangle in [false, true] {
            let options = Options {
                precision: Precision::F32,
                untangle,
                ..Options::default()
            };
            let device = On::Device(Device::cpu(Some(1)).unwrap());
            let machines = match untangle {
                false => vec![device, On::Serial],
                true => vec![device],
            };
            for on in machines {
                let (smoothed, _) = smooth(&on, mesh.clone(), &options).unwrap();
                let is_inside = |v: usize| [5, 6, 9, 10].contains(&v);
                let pairs = smoothed.points.iter().zip(&mesh.points).enumerate();
                for (v, (after, before)) in pairs.filter(|(v, _)| untangle || !is_inside(*v)) {
                    assert_eq!(after, before, "node {v}");
                }
                assert!(untangle || smoothed.points[5] != mesh.points[5]);
            }
        }
    }
}
