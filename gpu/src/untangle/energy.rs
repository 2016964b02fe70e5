//! The energy of the cells around a node, and the step of Newton's method that lowers it.

use glam::DVec3;

use super::simplices::{Shape, Slopes, cross, dot};
use crate::smooth::root;

/// 1 / chi(D) and its two derivatives, where chi(D) = (D + sqrt(D^2 + epsilon^2)) / 2 is positive, and near D for
/// volumes D above epsilon.
#[derive(Clone, Copy)]
struct Barrier {
    value: f64,
    first: f64,
    second: f64,
}

impl Barrier {
    #[inline(always)]
    fn at(volume: f64, epsilon: f64) -> Self {
        let square = epsilon * epsilon;
        let root = root(volume * volume + square);
        // Without cancellation.
        let value = if volume > 0.0 {
            2.0 / (volume + root)
        } else {
            2.0 * (root - volume) / square
        };
        let first = -value / root;
        Self {
            value,
            first,
            second: value * volume / (root * root * root) - first / root,
        }
    }
}

/// The energy that moves lower.
#[derive(Clone, Copy)]
pub struct Energy {
    /// The floor epsilon; 0 if all simplices are positive.
    pub epsilon: f64,
    /// Whether only shapes count, to the fourth power: then the worst simplices decide. Else volumes count too.
    pub only_shapes: bool,
}

impl Energy {
    /// The energy of a simplex; `per_size` is one over the volume that it should have.
    #[inline(always)]
    pub fn of(self, shape: &Shape, per_size: f64) -> f64 {
        let (volume, spread) = (shape.volume * per_size, shape.spread * per_size);
        let barrier = Barrier::at(volume, self.epsilon).value;
        let value = spread * barrier;
        if self.only_shapes {
            (value * value) * (value * value)
        } else {
            2.0 * value + volume + barrier
        }
    }
}

/// A symmetric matrix: diagonal xx, yy, zz, and xy, xz, yz.
#[derive(Clone, Copy)]
struct Matrix {
    diagonal: DVec3,
    others: DVec3,
}

impl Matrix {
    const ZERO: Self = Self {
        diagonal: DVec3::ZERO,
        others: DVec3::ZERO,
    };

    /// Adds `f` (u v^T + v u^T) / 2.
    #[inline(always)]
    fn add(&mut self, f: f64, u: DVec3, v: DVec3) {
        let half = 0.5 * f;
        self.diagonal.x += f * (u.x * v.x);
        self.diagonal.y += f * (u.y * v.y);
        self.diagonal.z += f * (u.z * v.z);
        self.others.x += half * (u.x * v.y + u.y * v.x);
        self.others.y += half * (u.x * v.z + u.z * v.x);
        self.others.z += half * (u.y * v.z + u.z * v.y);
    }

    #[inline(always)]
    fn add_even(&mut self, f: f64) {
        self.diagonal.x += f;
        self.diagonal.y += f;
        self.diagonal.z += f;
    }

    #[inline(always)]
    fn times(&self, v: DVec3) -> DVec3 {
        let (d, o) = (self.diagonal, self.others);
        DVec3::new(
            d.x * v.x + o.x * v.y + o.y * v.z,
            o.x * v.x + d.y * v.y + o.z * v.z,
            o.y * v.x + o.z * v.y + d.z * v.z,
        )
    }

    #[inline(always)]
    fn rows(&self) -> [DVec3; 3] {
        let (d, o) = (self.diagonal, self.others);
        [
            DVec3::new(d.x, o.x, o.y),
            DVec3::new(o.x, d.y, o.z),
            DVec3::new(o.y, o.z, d.z),
        ]
    }

    #[inline(always)]
    fn determinant(&self) -> f64 {
        let [a, b, c] = self.rows();
        dot(a, cross(b, c))
    }

    /// Whether it is positive definite, and not nearly singular beside `floor`.
    #[inline(always)]
    fn is_definite(&self, floor: f64) -> bool {
        let minor = self.diagonal.x * self.diagonal.y - self.others.x * self.others.x;
        self.diagonal.x > 0.0 && minor > 0.0 && self.determinant() > floor
    }

    /// The solution of M s = v.
    #[inline(always)]
    fn solve(&self, v: DVec3) -> DVec3 {
        let [a, b, c] = self.rows();
        let per = 1.0 / dot(a, cross(b, c));
        let (i, j, k) = (cross(b, c), cross(c, a), cross(a, b));
        DVec3::new(
            (i.x * v.x + j.x * v.y + k.x * v.z) * per,
            (i.y * v.x + j.y * v.y + k.y * v.z) * per,
            (i.z * v.x + j.z * v.y + k.z * v.z) * per,
        )
    }
}

/// Part of the definite matrix's determinant that the full one must have.
const DEFINITE: f64 = 1e-6;

/// The energy around a node and its derivatives by the node's position.
pub struct Expansion {
    /// The energy.
    pub value: f64,
    gradient: DVec3,
    /// Second derivatives, without those of a product's both factors: positive definite.
    definite: Matrix,
    /// Those of both factors.
    mixed: Matrix,
}

impl Expansion {
    /// Of no simplex.
    pub const ZERO: Self = Self {
        value: 0.0,
        gradient: DVec3::ZERO,
        definite: Matrix::ZERO,
        mixed: Matrix::ZERO,
    };

    /// Adds a simplex.
    #[inline(always)]
    pub fn add(&mut self, energy: Energy, shape: &Shape, slopes: &Slopes, per_size: f64) {
        let (volume, spread) = (shape.volume * per_size, shape.spread * per_size);
        let barrier = Barrier::at(volume, energy.epsilon);
        let value = spread * barrier.value;
        let (shapes, volumes) = if energy.only_shapes {
            (1.0, 0.0)
        } else {
            (2.0, 1.0)
        };
        self.value += energy.of(shape, per_size);
        // In volumes that the simplex should have.
        let (by_volume, by_spread) = (slopes.volume * per_size, slopes.spread * per_size);
        // Slopes of shapes * value + volumes * (volume + barrier).
        let along_spread = shapes * barrier.value;
        let along_volume = shapes * spread * barrier.first + volumes * (1.0 + barrier.first);
        let bend = (shapes * spread + volumes) * barrier.second;
        // The fourth power multiplies the slopes by 4 value^3, and adds 12 value^2 g g^T.
        let (steep, outer) = if energy.only_shapes {
            let square = value * value;
            (4.0 * (square * value), 12.0 * square)
        } else {
            (1.0, 0.0)
        };
        let gradient = by_spread * along_spread + by_volume * along_volume;
        self.gradient += gradient * steep;
        let matrix = &mut self.definite;
        matrix.add_even(steep * along_spread * (slopes.even * per_size));
        let curve = steep * along_spread * (slopes.along / per_size);
        matrix.add(curve, by_spread, by_spread);
        matrix.add(steep * bend, by_volume, by_volume);
        if energy.only_shapes {
            matrix.add(outer, gradient, gradient);
        }
        let both = 2.0 * steep * shapes * barrier.first;
        self.mixed.add(both, by_spread, by_volume);
    }

    /// Newton's step, by the full second derivatives if they are positive definite. The step is of the plane of
    /// `frame`'s two directions, or along the first one if the second is 0.
    #[inline(always)]
    pub fn step(&self, frame: Option<[DVec3; 2]>) -> DVec3 {
        let mut full = self.definite;
        full.diagonal += self.mixed.diagonal;
        full.others += self.mixed.others;
        let g = self.gradient;
        let Some([first, second]) = frame else {
            let floor = DEFINITE * self.definite.determinant();
            let matrix = if full.is_definite(floor) {
                full
            } else {
                self.definite
            };
            return -matrix.solve(g);
        };
        // The same in coordinates along the two directions.
        let within = |matrix: &Matrix| {
            let (m, n) = (matrix.times(first), matrix.times(second));
            [dot(first, m), dot(first, n), dot(second, n)]
        };
        let (safe, full) = (within(&self.definite), within(&full));
        let (g, h) = (dot(first, g), dot(second, g));
        if square(second) == 0.0 {
            let curve = if full[0] > DEFINITE * safe[0] {
                full[0]
            } else {
                safe[0]
            };
            return first * (-g / curve);
        }
        let determinant = |[a, b, c]: [f64; 3]| a * c - b * b;
        let is_definite = full[0] > 0.0 && determinant(full) > DEFINITE * determinant(safe);
        let choose = |k: usize| if is_definite { full[k] } else { safe[k] };
        let (a, b, c) = (choose(0), choose(1), choose(2));
        let per = 1.0 / (a * c - b * b);
        first * ((b * h - c * g) * per) + second * ((b * g - a * h) * per)
    }
}

#[inline(always)]
pub(super) fn square(v: DVec3) -> f64 {
    dot(v, v)
}
