//! Inverted cells.

use trioxide_kernel::safe::{Atomic, In, Own};
use trioxide_kernel::{Bits, Each, kernel};

use super::simplices::{Shape, is_positive, simplex_count, simplex_places};
use crate::ids::{Cell, Vertex};
use crate::ordered::ordered_bits;
use crate::point3::{Point3, Spatial};
use crate::smooth::Cells;

/// Whether cell `c` is inverted: a simplex is not positive; and whether it is stuck: no corner of such a simplex moves.
/// Lowers `lowest` to the key of the smallest volume of an inverted simplex with a corner that moves, in volumes that
/// it should have.
#[kernel(
    P in Spatial,
    requires(
        cells.fit(),
        cells.count() == n,
        sizes.len() == n,
        moving.len() == words(points.len()),
        lowest.len() == 1
    ),
    moves(cells.bytes() + points.bytes() + 8 * words(n))
)]
pub fn mark_inverted<P: Point3>(
    c: Own<Cell>,
    cells: Cells,
    points: In<P, Vertex>,
    sizes: In<f64, Cell>,
    moving: In<Bits<Vertex>>,
    lowest: Atomic<u64>,
) -> (bool, bool) {
    let cell = cells.cell(*c);
    let mut is_inverted = false;
    let mut is_stuck = false;
    let mut j = 0;
    while j < simplex_count(cell.size) {
        let places = simplex_places(cell.size, j);
        let corners = [0, 4, 8, 12].each(|k| cells.vertex(cell, places >> k & 0xF));
        let positions = points.at_all(corners).each(P::to_f64);
        if !is_positive(cell.size, positions) {
            is_inverted = true;
            let [a, b, c, d] = corners.each(|v| moving.bit(v));
            if !(a || b || c || d) {
                is_stuck = true;
                j += 1;
                continue;
            }
            let key = ordered_bits(Shape::of(cell.size, positions).volume / sizes.at(cell.id));
            if key < lowest.load(0) {
                lowest.fetch_min(0, key);
            }
        }
        j += 1;
    }
    (is_inverted, is_stuck)
}
