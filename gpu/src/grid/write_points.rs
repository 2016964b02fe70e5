//! Points of a grid.

use glam::DVec2;
use trioxide_kernel::{Out, kernel};

use super::row_of;
use crate::ids::Vertex;
use crate::point::{Anywhere, DoublePoint, MeshPoint};

/// Writes point `v` of a part that begins with row `first` of points; a row has `side` of them, of which `reciprocal` is the
/// [reciprocal](super::reciprocal()).
#[kernel(
    P in Anywhere,
    requires(points.len() == n, side >= 2, reciprocal == crate::grid::reciprocal(side)),
    moves(points.bytes())
)]
pub fn write_points<P: MeshPoint>(
    v: Vertex,
    side: u32,
    reciprocal: u64,
    first: u32,
    points: Out<P>,
) {
    let row = row_of(v.index(), reciprocal);
    let column = v.index() - row * side;
    let scale = f64::from(side - 1);
    let point = DVec2::new(f64::from(column) / scale, f64::from(first + row) / scale);
    points.set(v, P::from_f64(P::Double::of_plane(point)));
}
