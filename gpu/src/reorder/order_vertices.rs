//! The order of vertices.

use bytemuck::{Pod, Zeroable};
use glam::{DVec2, DVec3};
use trioxide_kernel::safe::{Atomic, In, Out, Own, Scatter};
use trioxide_kernel::{Each, kernel};

use crate::curve::{Frame, along_curve, through_cube};
use crate::ids::{Place, Vertex};
use crate::ordered::ordered_bits;
use crate::point::{Anywhere, Coordinates, DoublePoint};

/// The square or the cube around all points.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub struct Cube {
    /// Half of the lowest coordinates: the width of all coordinates that a f64 holds overflows.
    low: DVec3,
    /// Cells of a half unit of length.
    scale: f64,
}

impl trioxide_kernel::Scalar for Cube {}

impl Cube {
    /// The frame of points of the plane between `low` and `high`.
    fn of_plane(low: DVec2, high: DVec2) -> Self {
        let frame = Frame::new(low, high);
        Self {
            low: frame.low.extend(0.0),
            scale: frame.scale,
        }
    }

    /// The cube of points of space between `low` and `high`.
    fn of_space(low: DVec3, high: DVec3) -> Self {
        let low = 0.5 * low;
        // Of points at one place the scale is infinite: every cell is the first or the last.
        Self {
            low,
            scale: f64::from(LAST_CELL) / (0.5 * high - low).max_element(),
        }
    }
}

/// The last cell along a side of the cube.
const LAST_CELL: u32 = (1 << DVec3::CELL_BITS) - 1;

/// Points that lie on a curve.
pub trait Curve: DoublePoint {
    /// Bits of the number of a cell along a side.
    const CELL_BITS: u32;
    /// Bits of a key.
    const KEY_BITS: u32;
    /// Lowest bits of cells' numbers that the first sort does not regard.
    const DROPPED_BITS: u32;
    /// Coordinates of a point.
    const DIMENSIONS: u32;

    /// The square or the cube around points between `low` and `high`.
    fn cube(low: DVec3, high: DVec3) -> Cube;

    /// The cell of a point; of the plane with 0 as the last number.
    fn cell(self, cube: &Cube) -> [u32; 3];

    /// The number of a cell along the curve.
    fn key(cell: [u32; 3]) -> u64;
}

impl Curve for DVec2 {
    const CELL_BITS: u32 = 32;
    const KEY_BITS: u32 = 64;
    const DROPPED_BITS: u32 = 16;
    const DIMENSIONS: u32 = 2;

    fn cube(low: DVec3, high: DVec3) -> Cube {
        Cube::of_plane(low.truncate(), high.truncate())
    }

    #[inline(always)]
    fn cell(self, cube: &Cube) -> [u32; 3] {
        let frame = Frame {
            low: DVec2::new(cube.low.x, cube.low.y),
            scale: cube.scale,
            padding: 0.0,
        };
        let [x, y] = frame.cell(self);
        [x, y, 0]
    }

    #[inline(always)]
    fn key([x, y, _]: [u32; 3]) -> u64 {
        along_curve([x, y])
    }
}

impl Curve for DVec3 {
    const CELL_BITS: u32 = 21;
    const KEY_BITS: u32 = 63;
    const DROPPED_BITS: u32 = 7;
    const DIMENSIONS: u32 = 3;

    fn cube(low: DVec3, high: DVec3) -> Cube {
        Cube::of_space(low, high)
    }

    #[inline(always)]
    fn cell(self, cube: &Cube) -> [u32; 3] {
        // The conversion saturates.
        let cell = |x: f64, low: f64| (((0.5 * x - low) * cube.scale) as u32).min(LAST_CELL);
        [
            cell(self.x, cube.low.x),
            cell(self.y, cube.low.y),
            cell(self.z, cube.low.z),
        ]
    }

    #[inline(always)]
    fn key(cell: [u32; 3]) -> u64 {
        let [x, y, z] = through_cube(cell, Self::CELL_BITS);
        spread(x) << 2 | spread(y) << 1 | spread(z)
    }
}

/// Spreads the lowest 21 bits: bit i goes to bit 3i.
#[inline(always)]
fn spread(x: u32) -> u64 {
    let x = u64::from(x);
    let x = (x | x << 32) & 0x1F_0000_0000_FFFF;
    let x = (x | x << 16) & 0x1F_0000_FF00_00FF;
    let x = (x | x << 8) & 0x100F_00F0_0F00_F00F;
    let x = (x | x << 4) & 0x10C3_0C30_C30C_30C3;
    (x | x << 2) & 0x1249_2492_4924_9249
}

/// A point of the plane or of space, in a precision of kernels.
pub trait CurvePoint: Coordinates<Double: Curve> {}
impl<P: Coordinates<Double: Curve>> CurvePoint for P {}

/// The values by which vertices are compared.
pub mod value {
    /// z, as ordered bits.
    pub const Z: u32 = 0;
    /// y.
    pub const Y: u32 = 1;
    /// x.
    pub const X: u32 = 2;
    /// The key.
    pub const KEY: u32 = 3;
}

/// Bits `shift` to `shift + 31` of a [`value`] of the vertex at place `i` of `order`, or of vertex i where there is no
/// order yet; only those of `mask`.
#[kernel(
    P in Anywhere,
    requires(words.len() == n, order.is_empty() || order.len() == n),
    moves(order.bytes() + points.bytes() + words.bytes())
)]
pub fn read_value<P: CurvePoint>(
    i: Own<Place>,
    order: In<Vertex>,
    points: In<P, Vertex>,
    cube: Cube,
    value: u32,
    shift: u32,
    mask: u32,
    words: Out<u32, Place>,
) {
    let v = match order.is_empty() {
        true => Vertex::new(i.get().index()),
        false => order.at(i.get().index()),
    };
    let point = points.at(v).to_f64();
    let in_space = point.in_space();
    let value = match value {
        // 0 and -0 are equal.
        value::Z => ordered_bits(in_space.z + 0.0),
        value::Y => ordered_bits(in_space.y + 0.0),
        value::X => ordered_bits(in_space.x + 0.0),
        _ => P::Double::key(point.cell(&cube)),
    };
    words.set(i, (value >> (shift & 63)) as u32 & mask);
}

/// The longest run of vertices that [`place_vertices()`] orders.
pub const LONGEST_RUN: u32 = 4;

/// Whether point `p` in cell `a` is before or after `q` in cell `b`, by their keys and coordinates; `None` if they are
/// equal.
#[inline(always)]
fn is_before<C: Curve>((a, p): ([u32; 3], C), (b, q): ([u32; 3], C)) -> Option<bool> {
    if a != b {
        return Some(C::key(a) < C::key(b));
    }
    let (p, q) = (p.in_space(), q.in_space());
    if p.x != q.x {
        Some(p.x < q.x)
    } else if p.y != q.y {
        Some(p.y < q.y)
    } else if p.z != q.z {
        Some(p.z < q.z)
    } else {
        None
    }
}

/// Writes the vertex of place `i`, its point, and its new number `i`, if `new` has room for it.
///
/// `order` is by the keys without the lowest bits: those of cells whose numbers lack their `dropped` lowest bits.
/// Vertices whose keys are equal so far, a run, are ordered here. If a run longer than [`LONGEST_RUN`] is not in order,
/// `found[0]` becomes 0. With `IS_FINAL` vertices are in order already.
#[kernel(
    P in Anywhere,
    IS_FINAL in [false, true],
    requires(
        order.len() == n,
        points.len() == n,
        new_points.len() == n,
        old.len() == n,
        new.len() == n || new.is_empty(),
        found.len() == 1
    ),
    moves(order.bytes() + points.bytes() + new_points.bytes() + old.bytes() + new.bytes())
)]
pub fn place_vertices<P: CurvePoint, const IS_FINAL: bool>(
    i: Own<Place>,
    order: In<Vertex, Place>,
    points: In<P, Vertex>,
    cube: Cube,
    dropped: u32,
    new_points: Out<P, Place>,
    old: Out<Vertex, Place>,
    new: Scatter<Vertex, Vertex>,
    found: Atomic,
) {
    let place = i.get().index();
    let mut v = order.at(i);
    let mut point = points.at(v);
    if !IS_FINAL {
        let at = |k: u32| {
            let point = points.at(order.at(Place::new(k))).to_f64();
            (point.cell(&cube), point)
        };
        let larger = |[x, y, z]: [u32; 3]| [x, y, z].each(|x| x >> (dropped & 31));
        let own = larger(point.to_f64().cell(&cube));
        let mut start = place;
        while start > 0 && place - start < LONGEST_RUN && larger(at(start - 1).0) == own {
            start -= 1;
        }
        let mut end = place + 1;
        while end < order.len() && end - place <= LONGEST_RUN && larger(at(end).0) == own {
            end += 1;
        }
        if end - start > LONGEST_RUN {
            if start < place && is_before(at(place), at(place - 1)) == Some(true) {
                found.min(0u32, 0);
            }
        } else if end - start > 1 {
            // Most runs are in order: the search begins at the own place.
            let mut k = place;
            let mut tried = start;
            while tried < end {
                let it = at(k);
                let mut rank = start;
                let mut other = start;
                while other < end {
                    rank += u32::from(is_before(at(other), it).unwrap_or(other < k));
                    other += 1;
                }
                if rank == place {
                    break;
                }
                k = if k + 1 == end { start } else { k + 1 };
                tried += 1;
            }
            v = order.at(Place::new(k));
            point = points.at(v);
        }
    }
    new_points.set(i, point);
    old.set(i, v);
    if !new.is_empty() {
        new.set(v, Vertex::new(place));
    }
}
