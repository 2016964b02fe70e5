//! The simplices at the corners of cells, and the shape that each of them should have.
//!
//! A triangle and a tetrahedron are simplices themselves. A pyramid has a tetrahedron at each corner of its base, a
//! wedge and a hexahedron have one at every corner: the corner, and the ends of its three edges. A cell is valid if all
//! its simplices are positive.

use glam::DVec3;

use crate::handedness::is_right_handed;
use crate::orientation::is_counter_clockwise;
use crate::smooth::root;

/// Vertices of a triangle; other numbers of vertices are cells of a volume mesh.
pub const TRIANGLE: u32 = 3;

/// Number of simplices of a cell of `size` vertices.
#[inline(always)]
pub fn simplex_count(size: u32) -> u32 {
    match size {
        TRIANGLE | 4 => 1,
        5 => 4,
        _ => size,
    }
}

/// Places of the corners of simplex `j` of a cell, positive in a valid cell: nibbles, from the lowest on. A triangle
/// repeats its last corner.
#[inline(always)]
pub fn simplex_places(size: u32, j: u32) -> u32 {
    let code = |a: u32, b: u32, c: u32, d: u32| a | b << 4 | c << 8 | d << 12;
    let around = |base: u32, k: u32, n: u32| {
        let next = if k + 1 == n { 0 } else { k + 1 };
        let previous = if k == 0 { n - 1 } else { k - 1 };
        (base + next, base + previous)
    };
    match size {
        TRIANGLE => 0x2210,
        4 => 0x3210,
        5 => {
            let (next, previous) = around(0, j, 4);
            code(j, next, previous, 4)
        }
        _ => {
            let half = size / 2;
            let is_high = j >= half;
            let (base, k) = if is_high { (half, j - half) } else { (0, j) };
            let (next, previous) = around(base, k, half);
            if is_high {
                code(j, previous, next, k)
            } else {
                code(j, next, previous, j + half)
            }
        }
    }
}

/// Whether a simplex of a cell of `size` vertices is positive. Exact.
#[inline(always)]
pub fn is_positive(size: u32, [a, b, c, d]: [DVec3; 4]) -> bool {
    if size == TRIANGLE {
        is_counter_clockwise(a.truncate(), b.truncate(), c.truncate())
    } else {
        is_right_handed(a, b, c, d)
    }
}

/// The ideal simplex W of a kind of cell, of edges of length 1: M = (W^T W)^-1, and 1 / det W. A triangle has a third
/// edge of length 1 across the plane, which does not count in M.
struct Ideal {
    diagonal: [f64; 3],
    others: [f64; 3],
    per_volume: f64,
}

impl Ideal {
    #[inline(always)]
    fn of(size: u32) -> Self {
        const THIRD: f64 = 1.0 / 3.0;
        match size {
            // Two edges at 60 degrees.
            TRIANGLE => Self {
                diagonal: [4.0 * THIRD, 4.0 * THIRD, 0.0],
                others: [-2.0 * THIRD, 0.0, 0.0],
                per_volume: 1.154_700_538_379_251_5,
            },
            // Three edges at 60 degrees.
            4 => Self {
                diagonal: [1.5, 1.5, 1.5],
                others: [-0.5, -0.5, -0.5],
                per_volume: core::f64::consts::SQRT_2,
            },
            // Two at a right angle, and the third at 60 degrees to both.
            5 => Self {
                diagonal: [1.5, 1.5, 2.0],
                others: [0.5, -1.0, -1.0],
                per_volume: core::f64::consts::SQRT_2,
            },
            // Two at 60 degrees, and the third at right angles.
            6 => Self {
                diagonal: [4.0 * THIRD, 4.0 * THIRD, 1.0],
                others: [-2.0 * THIRD, 0.0, 0.0],
                per_volume: 1.154_700_538_379_251_5,
            },
            _ => Self {
                diagonal: [1.0, 1.0, 1.0],
                others: [0.0, 0.0, 0.0],
                per_volume: 1.0,
            },
        }
    }
}

/// A simplex, compared with the ideal one by J = E W^-1, where E has its edges from the first corner.
#[derive(Clone, Copy)]
pub struct Shape {
    /// det J: the volume, or the area, of the ideal one's.
    pub volume: f64,
    /// The volume of an ideal simplex with the same |J|: (|J|^2 / 3)^(3/2), in the plane |J|^2 / 2. No smaller than
    /// `volume`; they are equal for an ideal simplex.
    pub spread: f64,
    edges: [DVec3; 3],
    /// Columns of E M.
    columns: [DVec3; 3],
    /// |J|^2 / 3, and its square root; in the plane |J|^2 / 2, and 1.
    mean: f64,
    root: f64,
}

/// How a simplex changes if a corner moves.
#[derive(Clone, Copy)]
pub struct Slopes {
    /// Gradient of the volume, which is linear.
    pub volume: DVec3,
    /// Gradient of the spread.
    pub spread: DVec3,
    /// Second derivatives of the spread: `even` I + `along` s s^T with s = `spread`.
    pub even: f64,
    /// See `even`.
    pub along: f64,
}

#[inline(always)]
pub(super) fn dot(u: DVec3, v: DVec3) -> f64 {
    u.x * v.x + u.y * v.y + u.z * v.z
}

#[inline(always)]
fn scaled(v: DVec3, s: f64) -> DVec3 {
    DVec3::new(v.x * s, v.y * s, v.z * s)
}

#[inline(always)]
pub(super) fn cross(u: DVec3, v: DVec3) -> DVec3 {
    DVec3::new(
        u.y * v.z - u.z * v.y,
        u.z * v.x - u.x * v.z,
        u.x * v.y - u.y * v.x,
    )
}

impl Shape {
    /// The shape of a simplex of a cell of `size` vertices.
    #[inline(always)]
    pub fn of(size: u32, [a, b, c, d]: [DVec3; 4]) -> Self {
        let ideal = Ideal::of(size);
        let is_flat = size == TRIANGLE;
        let third = if is_flat { DVec3::Z } else { d - a };
        let [e, f, g] = [b - a, c - a, third];
        let [m, n, o] = ideal.diagonal;
        let [p, q, r] = ideal.others;
        let columns = [
            scaled(e, m) + scaled(f, p) + scaled(g, q),
            scaled(e, p) + scaled(f, n) + scaled(g, r),
            scaled(e, q) + scaled(f, r) + scaled(g, o),
        ];
        let square = dot(e, columns[0]) + dot(f, columns[1]) + dot(g, columns[2]);
        let mean = if is_flat { square / 2.0 } else { square / 3.0 };
        let root = if is_flat { 1.0 } else { root(mean) };
        Self {
            volume: dot(e, cross(f, g)) * ideal.per_volume,
            spread: mean * root,
            edges: [e, f, g],
            columns,
            mean,
            root,
        }
    }

    /// The slopes if the corner at `place` of the simplex moves.
    #[inline(always)]
    pub fn slopes(&self, size: u32, place: u32) -> Slopes {
        let ideal = Ideal::of(size);
        let is_flat = size == TRIANGLE;
        // The move of a corner x changes E by x a^T.
        let part = |k: u32| {
            if place == 0 {
                -1.0
            } else if place == k {
                1.0
            } else {
                0.0
            }
        };
        let (i, j) = (part(1), part(2));
        let k = if is_flat { 0.0 } else { part(3) };
        let [e, f, g] = self.edges;
        let volume = scaled(cross(f, g), i) + scaled(cross(g, e), j) + scaled(cross(e, f), k);
        let [m, n, o] = ideal.diagonal;
        let [p, q, r] = ideal.others;
        let curve = m * (i * i)
            + n * (j * j)
            + o * (k * k)
            + 2.0 * (p * (i * j) + q * (i * k) + r * (j * k));
        let half =
            scaled(self.columns[0], i) + scaled(self.columns[1], j) + scaled(self.columns[2], k);
        // |J|^2 has the gradient 2 half and the second derivatives 2 curve I.
        if is_flat {
            return Slopes {
                volume: scaled(volume, ideal.per_volume),
                spread: half,
                even: curve,
                along: 0.0,
            };
        }
        // spread = mean^(3/2): its slope in |J|^2 is root / 2, its second derivative 1 / (12 root).
        let steep = 3.0 * self.mean * self.root;
        Slopes {
            volume: scaled(volume, ideal.per_volume),
            spread: scaled(half, self.root),
            even: self.root * curve,
            along: if steep > 0.0 { 1.0 / steep } else { 0.0 },
        }
    }
}
