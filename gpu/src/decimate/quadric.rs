//! Quadrics of Garland and Heckbert, each in the frame of its own vertex: sums of squared distances to planes, weighted
//! by area. In that frame the planes of a fresh vertex pass through zero, so that no digits are lost where the surface
//! is flat.

use bytemuck::{Pod, Zeroable};
use glam::DVec3;
use trioxide_kernel::Scalar;

/// The share of the trace that is added to the diagonal of the system of the best place. It draws the place towards the
/// middle of the edge where the quadric does not decide, so that every system with a trace has a solution.
const DRAW: f64 = 1e-4;
/// The share of the trace, times the squared length of the edge, that is added to a cost: where the surface is flat,
/// short edges go first.
const SHORT_FIRST: f64 = 1e-9;
/// The share of the trace, times the squared length of the edge, up to which a cost is rounding, and counts as zero.
const ROUNDING: f64 = f64::from_bits((1023 - 46) << 52);
/// A quadric without planes has a trace up to this. Its product with [`DRAW`] is a normal number.
const NO_TRACE: f64 = 1e-280;

/// A quadric in the frame of a vertex: x A x + 2 b x + c for x relative to the vertex.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Quadric {
    /// Entries 00, 01, 02, 11, 12 and 22 of A.
    pub matrix: [f64; 6],
    /// b.
    pub linear: [f64; 3],
    /// c.
    pub constant: f64,
    /// The sum of the areas.
    pub area: f64,
}

impl Scalar for Quadric {}

/// Where the vertex of a collapse goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Where the quadric is least.
    Optimal,
    /// The middle of the edge.
    Midpoint,
    /// The end with the lower cost, or the lower end.
    End,
}

/// The position and the cost of a collapse.
#[derive(Clone, Copy)]
pub struct Collapse {
    /// The new position.
    pub to: DVec3,
    /// The quadric at it, before the share for short edges.
    pub cost: f64,
    /// The cost by which edges are ordered.
    pub key: f64,
}

/// An end of an edge.
#[derive(Clone, Copy)]
pub struct End {
    /// Its position.
    pub at: DVec3,
    /// Its quadric.
    pub quadric: Quadric,
    /// Whether the new vertex takes this position.
    pub holds: bool,
}

impl Quadric {
    /// The plane with normal `n` through the vertex, with `weight` for a normal of length 1.
    #[inline(always)]
    pub(super) fn add_plane(&mut self, n: DVec3, weight: f64) {
        let [xx, xy, xz, yy, yz, zz] = self.matrix;
        let w = n * weight;
        self.matrix = [
            xx + n.x * w.x,
            xy + n.x * w.y,
            xz + n.x * w.z,
            yy + n.y * w.y,
            yz + n.y * w.z,
            zz + n.z * w.z,
        ];
    }

    #[inline(always)]
    pub(super) fn times(&self, d: DVec3) -> DVec3 {
        let [xx, xy, xz, yy, yz, zz] = self.matrix;
        DVec3::new(
            xx * d.x + xy * d.y + xz * d.z,
            xy * d.x + yy * d.y + yz * d.z,
            xz * d.x + yz * d.y + zz * d.z,
        )
    }

    #[inline(always)]
    pub(super) fn vector(&self) -> DVec3 {
        DVec3::from_array(self.linear)
    }

    #[inline(always)]
    pub(super) fn trace(&self) -> f64 {
        self.matrix[0] + self.matrix[3] + self.matrix[5]
    }

    /// Its value at `d` from the vertex, as its terms give it.
    #[inline(always)]
    pub(super) fn sum(&self, d: DVec3) -> f64 {
        self.times(d).dot(d) + 2.0 * self.vector().dot(d) + self.constant
    }

    /// Its value at `d` from the vertex; rounding leaves none below zero.
    #[inline(always)]
    fn value(&self, d: DVec3) -> f64 {
        let value = self.sum(d);
        if value > 0.0 { value } else { 0.0 }
    }

    /// The same quadric in the frame of a vertex at `d` from its own.
    #[inline(always)]
    fn moved(&self, d: DVec3) -> Self {
        Self {
            linear: (self.vector() + self.times(d)).to_array(),
            constant: self.value(d),
            ..*self
        }
    }

    /// The sum of two quadrics of one frame.
    #[inline(always)]
    pub(super) fn plus(&self, other: &Self) -> Self {
        let (a, b) = (self.matrix, other.matrix);
        let (u, v) = (self.linear, other.linear);
        Self {
            matrix: [
                a[0] + b[0],
                a[1] + b[1],
                a[2] + b[2],
                a[3] + b[3],
                a[4] + b[4],
                a[5] + b[5],
            ],
            linear: [u[0] + v[0], u[1] + v[1], u[2] + v[2]],
            constant: self.constant + other.constant,
            area: self.area + other.area,
        }
    }

    /// Where it is least, drawn towards zero by [`DRAW`]; zero without planes. The matrix is positive semidefinite, so
    /// that each pivot is at least the part that is added to the diagonal, but for rounding.
    #[inline(always)]
    pub(super) fn least(&self) -> DVec3 {
        let trace = self.trace();
        if trace <= NO_TRACE {
            return DVec3::ZERO;
        }
        let draw = DRAW * trace;
        let [xx, xy, xz, yy, yz, zz] = self.matrix;
        let first = xx + draw;
        let (p, q) = (xy / first, xz / first);
        let second = yy + draw - p * xy;
        let cross = yz - p * xz;
        let r = cross / second;
        let third = zz + draw - q * xz - r * cross;
        let [b0, b1, b2] = self.linear;
        let y0 = -b0;
        let y1 = -b1 - p * y0;
        let y2 = -b2 - q * y0 - r * y1;
        let z = y2 / third;
        let y = y1 / second - r * z;
        let x = y0 / first - p * y - q * z;
        DVec3::new(x, y, z)
    }
}

/// Position and cost of the collapse of the edge between two ends, of which `low` has the lower id.
#[inline(always)]
pub(super) fn collapse_of(low: &End, high: &End, place: Place) -> Collapse {
    let (a, b) = (&low.quadric, &high.quadric);
    let half = (high.at - low.at) * 0.5;
    let (at, bt) = (a.times(half), b.times(half));
    let cost_at = |to: DVec3| a.value(to - low.at) + b.value(to - high.at);
    let exact = |most: f64| {
        // The terms of both quadrics that are squares of `half`, and the linear terms.
        let [p, q] = [at.dot(half), bt.dot(half)];
        let [u, v] = [2.0 * a.vector().dot(half), -2.0 * b.vector().dot(half)];
        let constant = a.constant + b.constant;
        if p + u + (q + v) + constant <= most {
            Some(low.at + half)
        } else if 4.0 * q + 2.0 * v + constant <= most {
            Some(low.at)
        } else if 4.0 * p + 2.0 * u + constant <= most {
            Some(high.at)
        } else {
            None
        }
    };
    collapse_by(low, high, place, cost_at, exact, |_| {
        let mut both = a.plus(b);
        both.linear = (a.vector() + at + (b.vector() - bt)).to_array();
        both.least()
    })
}

/// As [`collapse_of`], with the cost at a position; the first of middle, lower and higher end with a cost up to a
/// bound, if there is one; and where it is least from the middle of the edge, by the vector from the low end to the
/// middle.
#[inline(always)]
pub(super) fn collapse_by(
    low: &End,
    high: &End,
    place: Place,
    cost_at: impl Fn(DVec3) -> f64,
    exact: impl FnOnce(f64) -> Option<DVec3>,
    least: impl FnOnce(DVec3) -> DVec3,
) -> Collapse {
    let along = high.at - low.at;
    let middle = low.at + along * 0.5;
    let trace = low.quadric.trace() + high.quadric.trace();
    let measure = trace * along.dot(along);
    let to = if low.holds {
        low.at
    } else if high.holds {
        high.at
    } else {
        match place {
            Place::Midpoint => middle,
            Place::End => {
                if cost_at(low.at) <= cost_at(high.at) {
                    low.at
                } else {
                    high.at
                }
            }
            Place::Optimal => match exact(ROUNDING * measure) {
                Some(to) => to,
                None => middle + least(along * 0.5),
            },
        }
    };
    let cost = cost_at(to);
    let cost = if cost <= ROUNDING * measure {
        0.0
    } else {
        cost
    };
    Collapse {
        to,
        cost,
        key: cost + SHORT_FIRST * measure,
    }
}

/// The quadric of the vertex that the two ends become at `to`.
#[inline(always)]
pub(super) fn merged(low: &End, high: &End, to: DVec3) -> Quadric {
    low.quadric
        .moved(to - low.at)
        .plus(&high.quadric.moved(to - high.at))
}
