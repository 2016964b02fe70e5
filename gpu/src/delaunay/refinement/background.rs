//! Wanted edge lengths on a background mesh, and the cells that its triangles are found by.

use bytemuck::{Pod, Zeroable};
use glam::DVec2;
use trioxide_kernel::safe::{Atomic, Group, In, Out, Own, Scatter};
use trioxide_kernel::{Each, kernel};

use super::judge::from;
use crate::delaunay::predicates::orientation;
use crate::ids::{HalfEdge, Triangle, Vertex};

/// A uniform grid over the box of the background. A point outside of it is in the nearest cell.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub struct Cells {
    /// Lowest coordinates.
    pub low: DVec2,
    /// Columns and rows per length.
    pub scale: DVec2,
    /// Number of columns, 1 at least.
    pub columns: u32,
    /// Number of rows, 1 at least.
    pub rows: u32,
    /// No meaning.
    pub padding: [u32; 2],
}

impl trioxide_kernel::Scalar for Cells {}

impl Cells {
    /// Column and row of a point. Each rounded operation is monotone, so the cells of a triangle's points are between
    /// those of the corners of its box.
    #[inline(always)]
    fn place(&self, p: DVec2) -> [u32; 2] {
        let of = |distance: f64, count: u32| {
            let k = distance as u32;
            if k < count { k } else { count - 1 }
        };
        let at = (p - self.low) * self.scale;
        [of(at.x, self.columns), of(at.y, self.rows)]
    }

    /// The number of a cell.
    #[inline(always)]
    fn number(&self, [column, row]: [u32; 2]) -> u32 {
        row * self.columns + column
    }

    /// Lowest and highest column and row of a triangle.
    #[inline(always)]
    fn span(&self, [a, b, c]: [DVec2; 3]) -> [[u32; 2]; 2] {
        let low = |a: f64, b: f64| if a < b { a } else { b };
        let high = |a: f64, b: f64| if a > b { a } else { b };
        [
            DVec2::new(low(low(a.x, b.x), c.x), low(low(a.y, b.y), c.y)),
            DVec2::new(high(high(a.x, b.x), c.x), high(high(a.y, b.y), c.y)),
        ]
        .map(|p| self.place(p))
    }
}

/// A triangulation with a wanted edge length at each of its vertices.
#[derive(Group)]
pub struct Background<'a> {
    /// The cells.
    pub cells: Cells,
    /// Where the entries of each cell start, and the end of the last.
    pub starts: In<'a, u32>,
    /// The triangles whose boxes meet each cell, in ascending order.
    pub entries: In<'a, Triangle>,
    /// Corners of the triangles, three each, counter-clockwise. By numbers: kernels over half-edges or triangles of the
    /// mesh take them too.
    pub corners: In<'a, Vertex>,
    /// The points.
    pub points: In<'a, DVec2, Vertex>,
    /// The wanted edge length at each point.
    pub sizes: In<'a, f64, Vertex>,
}

impl Background<'_> {
    /// The squared length of a triangle's longest edge, relative to that of the size at its centroid.
    #[inline(always)]
    pub(super) fn squared_ratio(&self, [a, b, c]: [DVec2; 3]) -> f64 {
        let longer = |a: f64, b: f64| if a > b { a } else { b };
        let longest = longer(
            longer(a.distance_squared(b), b.distance_squared(c)),
            c.distance_squared(a),
        );
        let size = self.size_at((a + b + c) / 3.0);
        longest / (size * size)
    }

    /// The size at a point; infinite outside of the background.
    #[inline(always)]
    fn size_at(&self, p: DVec2) -> f64 {
        let cell = self.cells.number(self.cells.place(p));
        let [mut i, end] = self.starts.at_all([cell, cell + 1]);
        while i < end {
            let t = self.entries.at(i);
            let vertices = self
                .corners
                .at_all([0, 1, 2].each(|k| HalfEdge::of(t, k).index()));
            let points = self.points.at_all(vertices);
            if contains(points, p) {
                return interpolate(points, self.sizes.at_all(vertices), p);
            }
            i += 1;
        }
        f64::INFINITY
    }
}

/// Whether a point is in a triangle or on its edge.
#[inline(always)]
fn contains(points: [DVec2; 3], p: DVec2) -> bool {
    let mut k = 0;
    while k < 3 {
        let [a, b, _] = from(k, points);
        if orientation(a, b, p) < 0 {
            return false;
        }
        k += 1;
    }
    true
}

/// The value at a point of a triangle, between those at the corners even where weights are rounded.
#[inline(always)]
fn interpolate([a, b, c]: [DVec2; 3], values: [f64; 3], p: DVec2) -> f64 {
    let weight = |u: DVec2, v: DVec2| {
        let area = (u - p).perp_dot(v - p);
        if area > 0.0 { area } else { 0.0 }
    };
    let weights = [weight(b, c), weight(c, a), weight(a, b)];
    let total = weights[0] + weights[1] + weights[2];
    if total > 0.0 {
        let [r, s, t] = [0, 1, 2].each(|k| weights[k] / total * values[k]);
        r + s + t
    } else {
        // A thin triangle may have no area in rounded numbers.
        let lower = |a: f64, b: f64| if a < b { a } else { b };
        lower(lower(values[0], values[1]), values[2])
    }
}

/// Finds vertex `v` if its size is no positive finite number.
#[kernel(requires(sizes.len() == n, found.len() == 1), moves(sizes.bytes()))]
pub fn find_wrong_size(v: Own<Vertex>, sizes: In<f64, Vertex>, found: Atomic<u32>) {
    let size = sizes.at(v);
    // By its inverse: of a comparison with infinity beside one with 0 the compiler makes integer arithmetic.
    let is_length = size > 0.0 && 1.0 / size > 0.0;
    if !is_length {
        found.min(0, v.index());
    }
}

/// Counts the cells that the box of triangle `t` meets, and adds the number to `total`.
#[kernel(
    requires(corners.len() == 3 * n, counts.len() > n, total.len() == 1),
    moves(corners.bytes() + points.bytes() + 4 * n)
)]
pub fn count_cells(
    t: Own<Triangle>,
    corners: In<Vertex, HalfEdge>,
    points: In<DVec2, Vertex>,
    cells: Cells,
    counts: Out<u32, Triangle>,
    total: Atomic<u64>,
) {
    let vertices = corners.at_all([t.part(0), t.part(1), t.part(2)]);
    let [low, high] = cells.span(points.at_all(vertices));
    let count = (high[0] - low[0] + 1) * (high[1] - low[1] + 1);
    counts.set(t, count);
    total.add(0, u64::from(count));
}

/// Lists the cells that the box of triangle `t` meets from place `starts[t]` on, and the triangle beside each.
#[kernel(
    requires(corners.len() == 3 * n, starts.len() > n, triangles.len() == keys.len()),
    moves(corners.bytes() + points.bytes() + 4 * n + keys.bytes() + triangles.bytes())
)]
pub fn list_cells(
    t: Own<Triangle>,
    corners: In<Vertex, HalfEdge>,
    points: In<DVec2, Vertex>,
    cells: Cells,
    starts: In<u32, Triangle>,
    keys: Scatter<u32>,
    triangles: Scatter<Triangle>,
) {
    let vertices = corners.at_all([t.part(0), t.part(1), t.part(2)]);
    let [low, high] = cells.span(points.at_all(vertices));
    let mut at = starts.at(t);
    let mut row = low[1];
    while row <= high[1] {
        let mut column = low[0];
        while column <= high[0] {
            keys.set(at, cells.number([column, row]));
            triangles.set(at, *t);
            at += 1;
            column += 1;
        }
        row += 1;
    }
}
