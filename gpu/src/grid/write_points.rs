//! Points of a grid.

use glam::DVec2;
use trioxide_kernel::kernel;
use trioxide_kernel::safe::{Out, Own};

use super::row_of;
use crate::ids::Vertex;
use crate::point::{Anywhere, DoublePoint, MeshPoint};

/// Writes point `v` of a part that begins in row `first`, after the `skipped` points before it in that row. A row has
/// `side` points; `reciprocal` is its [reciprocal](super::reciprocal()).
#[kernel(
    P in Anywhere,
    requires(
        points.len() == n,
        side >= 2,
        reciprocal == crate::grid::reciprocal(side),
        skipped < side,
        n <= (u32::MAX - skipped) as usize
    ),
    moves(points.bytes())
)]
pub fn write_points<P: MeshPoint>(
    v: Own<Vertex>,
    side: u32,
    reciprocal: u64,
    first: u32,
    skipped: u32,
    points: Out<P, Vertex>,
) {
    let place = v.index() + skipped;
    let row = row_of(place, reciprocal);
    let column = place - row * side;
    let scale = f64::from(side - 1);
    let point = DVec2::new(f64::from(column) / scale, f64::from(first + row) / scale);
    points.set(v, P::from_f64(P::Double::of_plane(point)));
}
