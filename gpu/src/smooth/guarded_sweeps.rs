//! Smart Laplacian smoothing: a node moves only if the move harms no cell around it.
//!
//! Nodes of one colour share no cell, so no other node of a node's cells moves with it: its cells are still unharmed
//! when all nodes of the colour have moved, and the result does not depend on the order within a colour.

use glam::DVec3;
use trioxide_kernel::safe::Safe;
use trioxide_kernel::{Block, In, Out, kernel};

use super::cells::Stars;
use super::nodes::{Layouts, Nodes, Vector};
use super::polygon_quality::polygon_quality;
use super::quality::{CellQuality, cell_quality};
use super::sweeps::{Neighbourhood, SWEEP_LANES, note_moves, place};
use crate::ids::{Place, Vertex};
use crate::point::Coordinates;

const FLAT: CellQuality = CellQuality {
    jacobian: 0.0,
    is_positive: false,
};

/// One sweep over the nodes of a colour, which lie at `count` places from `first` on.
///
/// A node stays if its move would make a cell worse than the worst cell around it was, or invert a cell that is
/// positive. Cells have the nodes' ids; `ranks` are the places of the nodes, and `order` the node at each place. If
/// `PLANE`, they are faces of the plane.
#[kernel(
    L in Layouts,
    PLANE in [false, true],
    requires(
        n == (count as usize).div_ceil(SWEEP_LANES),
        stars.fit(order.len()),
        ranks.len() == order.len(),
        neighbourhood.fit(neighbourhood.moving()),
        (first as usize + count as usize) <= neighbourhood.moving(),
        neighbourhood.moving() <= order.len(),
        nodes.len() == L::ELEMENTS * order.len(),
        squares.len() >= neighbourhood.moving(),
        moved.len() > k as usize + 1
    )
)]
pub fn sweep_guarded<L: Nodes, const PLANE: bool>(
    block: &Block<SWEEP_LANES>,
    stars: Stars,
    order: In<Vertex>,
    ranks: In<Place>,
    neighbourhood: Neighbourhood,
    nodes: Out<L>,
    squares: Out<f64>,
    moved: Out<u32>,
    k: u32,
    first: u32,
    count: u32,
    factor: f64,
    tolerance: f64,
) {
    // SAFETY: the launch's promise: cells and stars are of one mesh, and vertices are below V.
    let stars = unsafe { stars.trusted() };
    if moved.at(k) == 0 {
        return;
    }
    let moves = block.lanes(|lane| {
        let j = place(block, lane.index());
        if j >= count {
            return false;
        }
        let i = Place::new(first + j);
        let here = L::load(nodes.unwritten(), i);
        let load = |j| L::load(nodes.unwritten(), j);
        let there = neighbourhood.target(i, here, factor, load);
        let v = order.at(i);
        let mut before = f64::INFINITY;
        let mut after = f64::INFINITY;
        let mut turns = false;
        let mut s = stars.start(v);
        while s < stars.end(v) {
            let corner = stars.corner(s);
            let cell = stars.cells.cell_of(corner);
            // One call in a loop, so that the code of qualities is there once and in line.
            let (mut old, mut new) = (FLAT, FLAT);
            let mut pass = 0;
            while pass < 2 {
                // By coordinates: a choice between points would be one between addresses.
                let choose = |first: bool, a: DVec3, b: DVec3| {
                    let choose = |a, b| if first { a } else { b };
                    DVec3::new(choose(a.x, b.x), choose(a.y, b.y), choose(a.z, b.z))
                };
                let own = choose(pass == 0, here.to_f64(), there.to_f64());
                let at = |k| {
                    let u = stars.cells.vertex(cell, k);
                    choose(u == v, own, load(ranks.at(u)).to_f64())
                };
                new = if PLANE {
                    polygon_quality(cell.size, cell.place(corner), at)
                } else {
                    cell_quality(cell.size, at)
                };
                if pass == 0 {
                    old = new;
                }
                pass += 1;
            }
            turns |= old.is_positive && !new.is_positive;
            before = if old.jacobian < before {
                old.jacobian
            } else {
                before
            };
            after = if new.jacobian < after {
                new.jacobian
            } else {
                after
            };
            s += 1;
        }
        if turns || after < before {
            squares.set(i, 0.0);
            return false;
        }
        L::store(nodes, i, there);
        let square = (there - here).square();
        squares.set(i, square);
        square >= tolerance
    });
    note_moves(block, &moves, moved, k);
}
