//! Smart Laplacian smoothing: a move is taken only if it harms no cell around the node.
//!
//! Nodes of one colour share no cell, so each sees all others of its cells at rest: what is promised of a move holds when all
//! are done, and the result does not depend on the order within a colour.

use super::nodes::Layouts;
use glam::DVec3;
use trioxide_kernel::{Block, In, Out, kernel};

use super::cells::CellView;
use super::nodes::Nodes;
use super::quality::cell_quality;
use super::sweep::{SWEEP_LANES, target, tell};
use crate::point3::Point3;

/// One sweep over the nodes of a colour, which lie at `count` places from `first` on.
///
/// A node stays if its move would give a cell a worse quality than the worst around it before, or turn around a cell that is
/// positive. Cells are told by nodes' ids, `ranks` are their places.
#[kernel(L in Layouts)]
pub fn sweep_guarded<L: Nodes>(
    block: &Block<256>,
    offsets: In<u32>,
    vertices: In<u32>,
    cells: In<u32>,
    starts: In<u32>,
    corners: In<u32>,
    order: In<u32>,
    ranks: In<u32>,
    rows: In<u32>,
    neighbours: In<u32>,
    weights: In<f64>,
    nodes: Out<L>,
    squares: Out<f64>,
    moved: Out<u32>,
    k: u32,
    first: u32,
    count: u32,
    factor: f64,
    tolerance: f64,
) {
    if moved.at(k) == 0 {
        return;
    }
    let view = CellView::new(offsets, vertices, cells);
    let moves = block.lanes(|lane| {
        let j = block.index() * SWEEP_LANES + lane;
        if j >= count {
            return 0;
        }
        let i = first + j;
        let here = L::load(nodes.unwritten(), i);
        let load = |j| L::load(nodes.unwritten(), j);
        let there = target(i, here, rows, neighbours, weights, factor, load);
        let v = order.at(i);
        let mut before = f64::INFINITY;
        let mut after = f64::INFINITY;
        let mut turns = false;
        let mut s = starts.at(v);
        while s < starts.at(v + 1) {
            let cell = view.cell_of(corners.at(s));
            let quality = |own: L::Point| {
                cell_quality(cell.size, |k| {
                    let u = view.vertex(cell.first + k);
                    // By coordinates: a choice between points would be one between addresses.
                    let (own, other) = (own.to_f64(), load(ranks.at(u)).to_f64());
                    let choose = |own, other| if u == v { own } else { other };
                    DVec3::new(
                        choose(own.x, other.x),
                        choose(own.y, other.y),
                        choose(own.z, other.z),
                    )
                })
            };
            let (old, new) = (quality(here), quality(there));
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
            return 0;
        }
        L::store(nodes, i, there);
        let square = super::nodes::Vector::square(there - here);
        squares.set(i, square);
        u32::from(square >= tolerance)
    });
    tell(block, &moves, moved, k);
}
