//! Mean ratios of cells.

use trioxide_kernel::safe::{In, Out, Own};
use trioxide_kernel::{Each, kernel};

use super::simplices::{Shape, TRIANGLE, is_positive, simplex_count, simplex_places};
use crate::ids::{Cell, Vertex};
use crate::point3::{Point3, Spatial};
use crate::smooth::{Cells, root};

/// The cube root of a number from 0 to 1, by operations of IEEE 754: Newton's iteration from above, whose steps fall
/// until rounding ends them.
#[inline(always)]
fn cube_root(x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    // The fourth root, and then a root of x times that: x^(1/4) and x^(5/16) lie below x^(1/3), 1 above.
    let mut y = root(root(x * root(root(x))));
    y = if y > 0.0 { y } else { 1.0 };
    let mut k = 0;
    while k < 64 {
        let next = (2.0 * y + x / (y * y)) / 3.0;
        if k > 0 && next >= y {
            return y;
        }
        y = next;
        k += 1;
    }
    y
}

/// The mean ratio of cell `c`: the smallest of its simplices', d det(J)^(2/d) / |J|^2 in d dimensions. It is 1 at best,
/// and 0 if the cell is inverted.
#[kernel(
    P in Spatial,
    requires(cells.fit(), cells.count() == n, ratios.len() == n),
    moves(cells.bytes() + points.bytes() + ratios.bytes())
)]
pub fn measure_ratios<P: Point3>(
    c: Own<Cell>,
    cells: Cells,
    points: In<P, Vertex>,
    ratios: Out<f64, Cell>,
) {
    let cell = cells.cell(*c);
    let mut worst = 1.0;
    let mut j = 0;
    while j < simplex_count(cell.size) {
        let places = simplex_places(cell.size, j);
        let corners = [0, 4, 8, 12].each(|k| cells.vertex(cell, places >> k & 0xF));
        let positions = points.at_all(corners).each(P::to_f64);
        let shape = Shape::of(cell.size, positions);
        let ratio = shape.volume / shape.spread;
        // Not so for a simplex without extent.
        let ratio = if is_positive(cell.size, positions) && ratio > 0.0 {
            ratio
        } else {
            0.0
        };
        if ratio < worst {
            worst = ratio;
        }
        j += 1;
    }
    let ratio = if cell.size == TRIANGLE {
        worst
    } else {
        let root = cube_root(worst);
        root * root
    };
    ratios.set(c, ratio);
}
