//! The volume that the simplices of a cell should have: that of the cells around, of the input.

use trioxide_kernel::safe::{In, Out, Own};
use trioxide_kernel::{Each, kernel};

use super::simplices::{Shape, simplex_count, simplex_places};
use crate::ids::{Cell, Vertex};
use crate::point3::{Point3, Spatial};
use crate::smooth::{Cells, Stars};

/// Part of its spread that a simplex counts at least: flat ones too have a size.
const SMALLEST: f64 = 1.0 / 1024.0;

/// The mean volume of the simplices of cell `c`, without signs, in volumes of ideal simplices.
#[kernel(
    P in Spatial,
    requires(cells.fit(), cells.count() == n, volumes.len() == n),
    moves(cells.bytes() + points.bytes() + volumes.bytes())
)]
pub fn measure_volumes<P: Point3>(
    c: Own<Cell>,
    cells: Cells,
    points: In<P, Vertex>,
    volumes: Out<f64, Cell>,
) {
    let cell = cells.cell(*c);
    let count = simplex_count(cell.size);
    let mut sum = 0.0;
    let mut j = 0;
    while j < count {
        let places = simplex_places(cell.size, j);
        let corners = [0, 4, 8, 12].each(|k| cells.vertex(cell, places >> k & 0xF));
        let shape = Shape::of(cell.size, points.at_all(corners).each(P::to_f64));
        let (volume, least) = (shape.volume.abs(), SMALLEST * shape.spread);
        sum += if volume > least { volume } else { least };
        j += 1;
    }
    volumes.set(c, sum / f64::from(count));
}

/// The mean of the volumes of the cells around node `v`, whose corners ascend.
#[kernel(
    requires(stars.fit(n), volumes.len() == stars.cells.count(), means.len() == n),
    moves(stars.starts.bytes() + stars.corners.bytes() + volumes.bytes() + means.bytes())
)]
pub fn average_at_nodes(
    v: Own<Vertex>,
    stars: Stars,
    volumes: In<f64, Cell>,
    means: Out<f64, Vertex>,
) {
    let mut sum = 0.0;
    let mut s = stars.start(v);
    while s < stars.end(*v) {
        sum += volumes.at(stars.cells.cell_of(stars.corner(s)).id);
        s += 1;
    }
    means.set(v, sum / f64::from(stars.degree(*v)));
}

/// The mean of the means at the nodes of cell `c`.
#[kernel(
    requires(cells.fit(), cells.count() == n, sizes.len() == n),
    moves(cells.bytes() + means.bytes() + sizes.bytes())
)]
pub fn average_in_cells(c: Own<Cell>, cells: Cells, means: In<f64, Vertex>, sizes: Out<f64, Cell>) {
    let cell = cells.cell(*c);
    let mut sum = 0.0;
    let mut k = 0;
    while k < cell.size {
        sum += means.at(cells.vertex(cell, k));
        k += 1;
    }
    sizes.set(c, sum / f64::from(cell.size));
}
