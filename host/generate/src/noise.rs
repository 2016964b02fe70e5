//! Smooth random functions of space: value noise, interpolated between hashes at the points of the integer lattice.
//!
//! It uses only sums, products and floors: the same bits on every machine.

use glam::{DVec2, DVec3};
use trioxide_mesh::random::mix;

/// A random function with values in -1..1 that changes over distances of 1.
#[derive(Clone, Copy)]
pub(super) struct Noise {
    seed: u64,
}

impl Noise {
    pub(super) fn new(seed: u64) -> Noise {
        Noise { seed: mix(seed) }
    }

    /// Its value at a point of the plane.
    pub(super) fn at2(&self, point: DVec2) -> f64 {
        let floor = point.floor();
        let share = fade2(point - floor);
        let [x, y] = [floor.x as i64, floor.y as i64];
        let row = |y: i64| {
            let value = |x: i64| self.value([x, y, 0]);
            lerp(value(x), value(x + 1), share.x)
        };
        lerp(row(y), row(y + 1), share.y)
    }

    /// Its value at a point in space.
    pub(super) fn at3(&self, point: DVec3) -> f64 {
        let floor = point.floor();
        let share = point - floor;
        let share = share * share * (3.0 - 2.0 * share);
        let [x, y, z] = floor.to_array().map(|x| x as i64);
        let row = |y: i64, z: i64| {
            let value = |x: i64| self.value([x, y, z]);
            lerp(value(x), value(x + 1), share.x)
        };
        let slice = |z: i64| lerp(row(y, z), row(y + 1, z), share.y);
        lerp(slice(z), slice(z + 1), share.z)
    }

    /// 64 random bits of a point of the lattice.
    pub(super) fn bits(&self, [x, y, z]: [i64; 3]) -> u64 {
        // Odd constants of a low-discrepancy sequence: a difference in one axis changes high bits.
        let place = (x as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
            ^ (y as u64).wrapping_mul(0xc2b2_ae3d_27d4_eb4f)
            ^ (z as u64).wrapping_mul(0x1656_67b1_9e37_79f9);
        mix(self.seed ^ place)
    }

    fn value(&self, at: [i64; 3]) -> f64 {
        const ULP: f64 = 1.0 / (1u64 << 52) as f64;
        (self.bits(at) >> 11) as f64 * ULP - 1.0
    }
}

fn fade2(x: DVec2) -> DVec2 {
    x * x * (3.0 - 2.0 * x)
}

fn lerp(from: f64, to: f64, share: f64) -> f64 {
    from + (to - from) * share
}
