//! Quality of cells, by Verdict's definitions (Stimpson et al., The Verdict geometric quality library, SAND2007-1751),
//! in double precision.
//!
//! Each kind of cell has its scaled Jacobian: 1 at best, 0 if the cell is flat, negative if it is inverted. Verdict
//! clamps it at 0 for pyramids; here it is not clamped, so that worse and better inverted cells differ. The dihedral
//! angle and the radius ratio apply only to tetrahedra.

use glam::DVec3;
use trioxide_kernel::safe::{Atomic, In, Own};
use trioxide_kernel::{Each, kernel};

use super::cells::Cells;
use crate::handedness::determinant;
use crate::ids::{Cell, Vertex};
use crate::ordered::ordered_bits;
use crate::point3::{Point3, Spatial};

/// The square root, rounded correctly.
#[inline(always)]
pub fn root(x: f64) -> f64 {
    #[cfg(target_arch = "nvptx64")]
    return core::f64::math::sqrt(x);
    #[cfg(not(target_arch = "nvptx64"))]
    x.sqrt()
}

/// Quality of a cell, for the guard of smoothing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CellQuality {
    /// The scaled Jacobian.
    pub jacobian: f64,
    /// Whether the orientation at each corner is certainly positive.
    pub is_positive: bool,
}

impl CellQuality {
    /// The worse of both.
    #[inline(always)]
    fn worse(self, other: Self) -> Self {
        Self {
            jacobian: min(self.jacobian, other.jacobian),
            is_positive: self.is_positive && other.is_positive,
        }
    }
}

/// The smaller one, by a comparison: `f64::min` of zeros of both signs differs between machines.
#[inline(always)]
fn min(a: f64, b: f64) -> f64 {
    if b < a { b } else { a }
}

#[inline(always)]
fn max(a: f64, b: f64) -> f64 {
    if b > a { b } else { a }
}

/// det(u, v, w) over the product of the lengths; 0 if a length is 0.
#[inline(always)]
fn normalised(u: DVec3, v: DVec3, w: DVec3) -> CellQuality {
    let (value, bound) = determinant(u, v, w);
    let lengths = root(square(u) * square(v) * square(w));
    CellQuality {
        jacobian: if lengths > 0.0 { value / lengths } else { 0.0 },
        is_positive: value > bound,
    }
}

#[inline(always)]
pub(super) fn square(v: DVec3) -> f64 {
    v.x * v.x + v.y * v.y + v.z * v.z
}

/// Edges of a tetrahedron: from a to b, c and d, from b to c and d, from c to d.
#[inline(always)]
fn tetrahedron_edges([a, b, c, d]: [DVec3; 4]) -> [DVec3; 6] {
    [b - a, c - a, d - a, c - b, d - b, d - c]
}

/// Quality of a tetrahedron: its determinant over the largest product of the lengths of the edges at a corner, times
/// the square root of 2.
#[inline(always)]
pub fn tetrahedron_quality(corners: [DVec3; 4]) -> CellQuality {
    let [ab, ac, ad, bc, bd, cd] = tetrahedron_edges(corners);
    let (value, bound) = determinant(ab, ac, ad);
    let squares = [
        square(ab),
        square(ac),
        square(ad),
        square(bc),
        square(bd),
        square(cd),
    ];
    let at_a = squares[0] * squares[1] * squares[2];
    let at_b = squares[0] * squares[3] * squares[4];
    let at_c = squares[1] * squares[3] * squares[5];
    let at_d = squares[2] * squares[4] * squares[5];
    let lengths = root(max(max(at_a, at_b), max(at_c, at_d)));
    CellQuality {
        jacobian: if lengths > 0.0 {
            value * core::f64::consts::SQRT_2 / lengths
        } else {
            0.0
        },
        is_positive: value > bound,
    }
}

/// Quality of a cell of `size` vertices; `at` returns a vertex.
#[inline(always)]
pub fn cell_quality(size: u32, at: impl Fn(u32) -> DVec3) -> CellQuality {
    match size {
        4 => tetrahedron_quality([at(0), at(1), at(2), at(3)]),
        5 => pyramid_quality(at),
        6 => wedge_quality(at),
        _ => hexahedron_quality(at),
    }
}

const BEST: CellQuality = CellQuality {
    jacobian: f64::INFINITY,
    is_positive: true,
};

/// The worst of the four tetrahedra at the corners of the base, scaled so that the best pyramid has 1.
#[inline(always)]
fn pyramid_quality(at: impl Fn(u32) -> DVec3) -> CellQuality {
    let mut worst = BEST;
    let apex = at(4);
    let mut k = 0;
    while k < 4 {
        let corners = [at(k), at((k + 1) & 3), at((k + 3) & 3), apex];
        worst = worst.worse(tetrahedron_quality(corners));
        k += 1;
    }
    let scaled = worst.jacobian * core::f64::consts::SQRT_2;
    CellQuality {
        jacobian: if scaled > 1.0 { 2.0 - scaled } else { scaled },
        ..worst
    }
}

/// The worst of its corners, scaled so that the best wedge has 1.
#[inline(always)]
fn wedge_quality(at: impl Fn(u32) -> DVec3) -> CellQuality {
    /// 2 / sqrt(3).
    const SCALE: f64 = 1.154_700_538_379_251_5;
    let mut worst = BEST;
    let mut k = 0;
    while k < 3 {
        let next = if k == 2 { 0 } else { k + 1 };
        let previous = 3 - k - next;
        let (low, high) = (at(k), at(k + 3));
        let below = normalised(at(next) - low, at(previous) - low, high - low);
        let above = normalised(at(previous + 3) - high, at(next + 3) - high, low - high);
        worst = worst.worse(below).worse(above);
        k += 1;
    }
    CellQuality {
        jacobian: worst.jacobian * SCALE,
        ..worst
    }
}

/// The worst of its corners and its centre.
#[inline(always)]
fn hexahedron_quality(at: impl Fn(u32) -> DVec3) -> CellQuality {
    let mut worst = BEST;
    let (mut x, mut y, mut z) = (DVec3::ZERO, DVec3::ZERO, DVec3::ZERO);
    let mut k = 0;
    while k < 4 {
        let (next, previous) = ((k + 1) & 3, (k + 3) & 3);
        let (low, high) = (at(k), at(k + 4));
        let below = normalised(at(next) - low, at(previous) - low, high - low);
        let above = normalised(at(previous + 4) - high, at(next + 4) - high, low - high);
        worst = worst.worse(below).worse(above);
        // Corners 1 and 2 have the higher x, 2 and 3 the higher y.
        let both = low + high;
        x = if k == 1 || k == 2 { x + both } else { x - both };
        y = if k >= 2 { y + both } else { y - both };
        z = z + high - low;
        k += 1;
    }
    let middle = normalised(x, y, z);
    CellQuality {
        jacobian: min(worst.jacobian, middle.jacobian),
        ..worst
    }
}

/// The cosine of the smallest dihedral angle of a tetrahedron.
#[inline(always)]
pub fn dihedral_cosine(corners: [DVec3; 4]) -> f64 {
    let [ab, ac, ad, bc, bd, _] = tetrahedron_edges(corners);
    // All point outward, or all inward.
    let normals = [bc.cross(bd), ad.cross(ac), ab.cross(ad), ac.cross(ab)];
    let squares = [
        square(normals[0]),
        square(normals[1]),
        square(normals[2]),
        square(normals[3]),
    ];
    let cosine = |i: usize, j: usize| {
        let lengths = root(squares[i] * squares[j]);
        let (m, n) = (normals[i], normals[j]);
        if lengths > 0.0 {
            min(-(m.x * n.x + m.y * n.y + m.z * n.z) / lengths, 1.0)
        } else {
            1.0
        }
    };
    max(
        max(max(cosine(0, 1), cosine(0, 2)), cosine(0, 3)),
        max(max(cosine(1, 2), cosine(1, 3)), cosine(2, 3)),
    )
}

/// The radius of a tetrahedron's circumsphere over three times the radius of its insphere: 1 at best, infinite if it is
/// flat.
#[inline(always)]
pub fn radius_ratio(corners: [DVec3; 4]) -> f64 {
    let [ab, ac, ad, bc, bd, _] = tetrahedron_edges(corners);
    let length = |v: DVec3| root(square(v));
    let normals = [bc.cross(bd), ad.cross(ac), ab.cross(ad), ac.cross(ab)];
    // Twice the sum of the areas.
    let areas = length(normals[0]) + length(normals[1]) + length(normals[2]) + length(normals[3]);
    let (six_volumes, _) = determinant(ab, ac, ad);
    let numerator =
        ac.cross(ab) * square(ad) + ad.cross(ac) * square(ab) + ab.cross(ad) * square(ac);
    // Circumradius: |numerator| / (2 |6V|); inradius: |6V| / areas.
    let ratio = length(numerator) * areas / (6.0 * six_volumes * six_volumes);
    if ratio.is_finite() {
        ratio
    } else {
        f64::INFINITY
    }
}

/// Bins of each histogram.
pub const BINS: u32 = 20;
/// Copies of each histogram and each extreme, so that few threads update the same one.
pub const COPIES: u32 = 64;

/// Histograms in the kernel's counts, in units of `BINS * COPIES`. The last is a single count, without bins.
pub mod counted {
    /// Scaled Jacobian of cells.
    pub const JACOBIAN: u32 = 0;
    /// Smallest dihedral angle of tetrahedra.
    pub const ANGLE: u32 = 1;
    /// Radius ratio of tetrahedra.
    pub const RATIO: u32 = 2;
    /// Cells that are not certainly positive, in the first bin.
    pub const INVERTED: u32 = 3;
    /// Number of histograms.
    pub const COUNT: u32 = 4;
}

/// Raises `keys[i]` to `key`.
#[inline(always)]
pub(super) fn raise(keys: Atomic<u64>, i: u32, key: u64) {
    if keys.load(i) < key {
        keys.fetch_max(i, key);
    }
}

/// The first of ascending `bounds` that is above `x`, of the `BINS - 1` from `first` on.
#[inline(always)]
fn bin(bounds: In<f64>, first: u32, x: f64) -> u32 {
    let mut bin = 0;
    while bin < BINS - 1 && bounds.at(first + bin) <= x {
        bin += 1;
    }
    bin
}

/// Measures cell `c`: counts it in histograms, and raises the extremes.
///
/// `bounds` separate the bins of the scaled Jacobian, of the negative cosine of the angle, and of the radius ratio.
/// `extremes` are keys of the negative Jacobian, of the cosine, and of the ratio.
#[kernel(
    P in Spatial,
    requires(
        cells.fit(),
        cells.count() == n,
        bounds.len() == 3 * (BINS as usize - 1),
        counts.len() == (counted::COUNT * COPIES * BINS) as usize,
        extremes.len() == 3 * COPIES as usize
    ),
    moves(cells.bytes() + points.bytes()), trusted
)]
pub fn measure_cells<P: Point3>(
    c: Own<Cell>,
    cells: Cells,
    points: In<P, Vertex>,
    bounds: In<f64>,
    counts: Atomic,
    extremes: Atomic<u64>,
) {
    let cell = cells.cell(*c);
    let at = |k: u32| points.at(cells.vertex(cell, k)).to_f64();
    let mut k = 0;
    while k < cell.size {
        points.prefetch_item(cells.vertices, cell.corner(k));
        k += 1;
    }
    let copy = c.index() / 32 % COPIES;
    let count = |histogram: u32, bin: u32| {
        counts.add((histogram * COPIES + copy) * BINS + bin, 1);
    };
    // All are read together, so that the reads overlap.
    let corners =
        (cell.size == 4).then(|| points.at_all(cells.four_vertices(cell)).each(P::to_f64));
    let quality = match corners {
        Some(corners) => tetrahedron_quality(corners),
        None => cell_quality(cell.size, at),
    };
    count(counted::JACOBIAN, bin(bounds, 0, quality.jacobian));
    raise(extremes, copy, ordered_bits(-quality.jacobian));
    if !quality.is_positive {
        count(counted::INVERTED, 0);
    }
    if let Some(corners) = corners {
        let cosine = dihedral_cosine(corners);
        count(counted::ANGLE, bin(bounds, BINS - 1, -cosine));
        raise(extremes, COPIES + copy, ordered_bits(cosine));
        let ratio = radius_ratio(corners);
        count(counted::RATIO, bin(bounds, 2 * (BINS - 1), ratio));
        raise(extremes, 2 * COPIES + copy, ordered_bits(ratio));
    }
}
