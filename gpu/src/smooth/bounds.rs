//! The box around the nodes of a mesh that was made on the device; the host finds the box of other meshes.

use trioxide_kernel::kernel;
use trioxide_kernel::safe::{Atomic, In, Own};

use super::quality::{COPIES, ordered_bits, raise};
use crate::ids::Vertex;
use crate::point::{Anywhere, Coordinates, DoublePoint};

/// Extremes of a box: the largest x, y and z, then the largest -x, -y and -z.
pub const EXTREMES: u32 = 6;

/// Raises the extremes so that node `v` is in the box; one of the plane has z = 0. `extremes` are
/// [keys](ordered_bits()), [`COPIES`] of each, 0 before the first node.
#[kernel(
    P in Anywhere,
    requires(points.len() == n, extremes.len() == (EXTREMES * COPIES) as usize),
    moves(points.bytes())
)]
pub fn measure_bounds<P: Coordinates>(
    v: Own<Vertex>,
    points: In<P, Vertex>,
    extremes: Atomic<u64>,
) {
    let point = points.at(v).to_f64().in_space();
    let copy = v.index() / 32 % COPIES;
    raise(extremes, copy, ordered_bits(point.x));
    raise(extremes, COPIES + copy, ordered_bits(point.y));
    raise(extremes, 2 * COPIES + copy, ordered_bits(point.z));
    raise(extremes, 3 * COPIES + copy, ordered_bits(-point.x));
    raise(extremes, 4 * COPIES + copy, ordered_bits(-point.y));
    raise(extremes, 5 * COPIES + copy, ordered_bits(-point.z));
}
