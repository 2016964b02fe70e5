//! Moves of the nodes of a colour.

use glam::DVec3;
use trioxide_kernel::safe::Safe;
use trioxide_kernel::{Atomic, Bits, In, Out, kernel};

use super::angles::Angles;
use super::energy::{Energy, Expansion};
use super::simplices::{Shape, is_positive, simplex_count, simplex_places};
use crate::ids::{Place, Vertex};
use crate::point3::{Point3, Spatial};
use crate::smooth::Stars;

/// Rule of a move: the energy around the node falls.
pub const FREE: u32 = 0;
/// As [`FREE`], and every positive simplex stays positive.
pub const GUARDED: u32 = 1;
/// The energy of shapes falls; every simplex stays positive, and the worst mean ratio and angles do not become worse.
pub const IMPROVE: u32 = 2;

/// Lengths of a step that are tried.
const TRIALS: u32 = 10;
/// Part of its energy that a node must at least lose under [`IMPROVE`]: without one, moves never end.
const LEAST_GAIN: f64 = 1.0 / 1024.0;

/// The step of the node `order[list[first + i]]`: the first of the whole one, its half, its quarter and so on that
/// keeps the rule. Without one the node stays, and does not join the nodes of `moved`.
///
/// [`IMPROVE`] allows angles with cosines from `of_largest` to `of_smallest`. No two nodes of a launch share a cell.
/// `sizes` has the volume that each cell's simplices should have. `frames` has two directions for each node, or
/// nothing: a node of `on_boundary` moves only along them.
#[kernel(
    P in Spatial,
    RULE in [0, 1, 2],
    requires(
        n + first as usize <= list.len(),
        stars.fit(points.len()),
        sizes.len() == stars.cells.count(),
        frames.is_empty() || frames.len() == 2 * points.len(),
        frames.is_empty() || on_boundary.len() == words(points.len()),
        moved.len() == words(points.len())
    )
)]
pub fn move_nodes<P: Point3, const RULE: u32>(
    i: u32,
    stars: Stars,
    sizes: In<f64>,
    order: In<Vertex>,
    list: In<Place>,
    first: u32,
    on_boundary: In<Bits<Vertex>>,
    frames: In<DVec3>,
    points: Out<P>,
    moved: Atomic<Bits<Vertex>>,
    epsilon: f64,
    of_smallest: f64,
    of_largest: f64,
) {
    // SAFETY: the launch's promise: cells and stars are of one mesh, and vertices are below V.
    let stars = unsafe { stars.trusted() };
    let v = order.at(list.at(first + i));
    let around = Around {
        stars,
        sizes,
        points: points.unwritten(),
        v,
    };
    let energy = Energy {
        epsilon,
        only_shapes: RULE == IMPROVE,
    };
    let here = points.at(v).to_f64();
    let mut start = Expansion::ZERO;
    let mut worst = f64::INFINITY;
    around.each_simplex(here, |simplex| {
        let shape = Shape::of(simplex.size, simplex.corners);
        let slopes = shape.slopes(simplex.size, simplex.place);
        start.add(energy, &shape, &slopes, simplex.per_size);
        worst = smaller(worst, shape.volume / shape.spread);
        true
    });
    let bounds = Angles {
        of_smallest,
        of_largest,
    };
    let slides = !frames.is_empty() && on_boundary.bit(v);
    let frame = slides.then(|| [frames.at(2 * v.index()), frames.at(2 * v.index() + 1)]);
    let step = start.step(frame);
    let bound = if RULE == IMPROVE {
        start.value * (1.0 - LEAST_GAIN)
    } else {
        start.value
    };
    let mut part = 1.0;
    let mut trial = 0;
    while trial < TRIALS {
        let there = P::from_f64(here + step * part);
        let position = there.to_f64();
        let mut value = 0.0;
        let is_kept = around.each_simplex(position, |simplex| {
            let shape = Shape::of(simplex.size, simplex.corners);
            value += energy.of(&shape, simplex.per_size);
            let ratio = shape.volume / shape.spread;
            (RULE != IMPROVE
                || ratio >= worst && Angles::of(simplex.size, simplex.corners).are_within(bounds))
                && (RULE == FREE
                    || is_positive(simplex.size, simplex.corners)
                    || RULE == GUARDED && !is_positive(simplex.size, simplex.with(here)))
        });
        // Not so for a value that is no number.
        if is_kept && value < bound {
            points.set(v, there);
            moved.set_bit(v);
            return;
        }
        part *= 0.5;
        trial += 1;
    }
}

/// The smaller one, by a comparison: `f64::min` of zeros of both signs differs between machines.
#[inline(always)]
fn smaller(a: f64, b: f64) -> f64 {
    if b < a { b } else { a }
}

/// The cells around a node.
#[derive(Clone, Copy)]
struct Around<'a, P> {
    stars: Stars<'a>,
    sizes: In<'a, f64>,
    points: In<'a, P>,
    v: Vertex,
}

/// A simplex that has the node.
struct Simplex {
    size: u32,
    corners: [DVec3; 4],
    /// The node's place among the corners.
    place: u32,
    per_size: f64,
}

impl Simplex {
    /// The corners with the node elsewhere.
    #[inline(always)]
    fn with(&self, node: DVec3) -> [DVec3; 4] {
        let [a, b, c, d] = self.corners;
        let choose = |k: u32, other: DVec3| if self.place == k { node } else { other };
        [choose(0, a), choose(1, b), choose(2, c), choose(3, d)]
    }
}

impl<P: Point3> Around<'_, P> {
    /// Calls `f` with each simplex that has the node, which is at `node`, in the order of cells, until `f` is false.
    /// Returns whether it never was.
    #[inline(always)]
    fn each_simplex(self, node: DVec3, mut f: impl FnMut(Simplex) -> bool) -> bool {
        let cells = self.stars.cells;
        let mut s = self.stars.start(self.v);
        let end = self.stars.end(self.v);
        while s < end {
            let corner = self.stars.corner(s);
            let cell = cells.cell_of(corner);
            let own = cell.place(corner);
            let per_size = 1.0 / self.sizes.at(cell.id);
            let mut j = 0;
            while j < simplex_count(cell.size) {
                let places = simplex_places(cell.size, j);
                let at = |k: u32| places >> (4 * k) & 0xF;
                let place = if at(0) == own {
                    0
                } else if at(1) == own {
                    1
                } else if at(2) == own {
                    2
                } else if at(3) == own {
                    3
                } else {
                    4
                };
                j += 1;
                if place == 4 {
                    continue;
                }
                // By coordinates: a choice between points would be one between addresses.
                let position = |k: u32| {
                    let other = self.points.at(cells.vertex(cell, at(k))).to_f64();
                    let choose = |own, other| if k == place { own } else { other };
                    DVec3::new(
                        choose(node.x, other.x),
                        choose(node.y, other.y),
                        choose(node.z, other.z),
                    )
                };
                let simplex = Simplex {
                    size: cell.size,
                    corners: [position(0), position(1), position(2), position(3)],
                    place,
                    per_size,
                };
                if !f(simplex) {
                    return false;
                }
            }
            s += 1;
        }
        true
    }
}
