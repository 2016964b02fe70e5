//! The star of each point from the points of a square of cells around it, by gift wrapping.
//!
//! Inversion at the star's point p takes a point q to (q - p) / |q - p|². A circle through p becomes a line, and its
//! inside the side of the line away from p. So the neighbours of p are the corners of the convex hull of all inverted
//! points: an edge of the hull is a triangle of the star, if p lies strictly inside the hull. (Brown, Voronoi diagrams
//! from convex hulls, 1979, for one point.)
//!
//! The hull is found in single precision, and is exact all the same:
//!
//! 1. The outermost of the inverted points in eight directions are corners of an octagon. A point that is inside of it
//!    by more than the rounding error is no corner of the hull. About seven points are left.
//! 2. Gift wrapping (Jarvis 1973) goes from a corner to the next: of two points the one on the right, seen from the
//!    corner, comes first. All points lie on one side of a corner, so "on the right" is an order, and each comparison
//!    that is certain is right for the next ones too. Where single precision is not certain, the exact predicate of the
//!    circle decides.
//! 3. If the circles of all triangles lie within the square of cells, no point elsewhere is in one: the star is
//!    complete.
//!
//! Stars that are not found so are left to [`build_stars()`](super::build_stars()): of points on the boundary or near
//! it, and where the density varies.

use glam::{DVec2, Vec2};
use trioxide_kernel::block::Lane;
use trioxide_kernel::kernel;
use trioxide_kernel::safe::{In, OwnBlock, PerLane, Scatter};

use super::predicates::{filtered_circle, is_in_circle_exactly, orientation};
use super::stars::{Cells, End, Grid, RING, STARS, UNSURE, WIDE};
use crate::ids::Place;

/// Most points that are left after the octagon.
const LEFT: usize = 24;
/// Most points of a square of cells.
const MOST_POINTS: u32 = 256;
/// Tangent of the angle by which the plane is turned: lattices have no two outermost points in such a direction.
const TURN: f32 = 0.3;
/// Half a unit in the last place of single precision.
const ROUNDED: f32 = f32::EPSILON / 2.0;
/// More than the rounding error of the cross product of two differences of inverted points, relative to the largest
/// squared length of one: inverted points are rounded by 16 units, differences by 34 of the largest length, products of
/// two lengths of up to two by 152.
const CROSS: f32 = 256.0 * ROUNDED;
/// More than the error of (b - a) x (c - a), relative to the product of two sums: that of the lengths of a and b, and
/// that and the length of c. It is 37 units.
const SIDE: f32 = 64.0 * ROUNDED;
/// Least squared distance of the nearest point, in widths of cells.
const NEAREST: f32 = 1e-12;

/// A lane's points that are left after the octagon: places, inverted points.
pub type WrapMemory = (
    PerLane<Place, STARS, LEFT>,
    PerLane<f32, STARS, LEFT>,
    PerLane<f32, STARS, LEFT>,
);

/// The cross product of two vectors.
#[inline(always)]
fn cross(a: Vec2, b: Vec2) -> f32 {
    a.x * b.y - a.y * b.x
}

/// At least the length of a vector, at most 1.5 times it.
#[inline(always)]
fn length(a: Vec2) -> f32 {
    a.x.abs() + a.y.abs()
}

/// The cells around a point.
#[derive(Clone, Copy)]
struct Square {
    /// The first column and row.
    first: [u32; 2],
    /// Number of columns and of rows.
    count: [u32; 2],
    /// Lowest and highest coordinates, relative to the point, in widths of cells: no point elsewhere lies between.
    low: Vec2,
    high: Vec2,
}

impl Square {
    /// `reach` cells to each side of the cell of `point`.
    #[inline(always)]
    fn new(point: DVec2, reach: u32, inverse_width: f64, grid: Grid) -> Self {
        let side = 1u32 << (grid.level & 31);
        let cell = grid.cell(point);
        let origin = (point - grid.low) * inverse_width;
        let margin = grid.margin * inverse_width + 1e-5;
        let along = |cell: u32, at: f64| {
            let first = cell.saturating_sub(reach);
            let end = if side - cell > reach + 1 {
                cell + reach + 1
            } else {
                side
            };
            // There are no points beyond the grid.
            let low = match first {
                0 => f32::NEG_INFINITY,
                _ => (f64::from(first) - at + margin) as f32,
            };
            let high = if end == side {
                f32::INFINITY
            } else {
                (f64::from(end) - at - margin) as f32
            };
            (first, end - first, low, high)
        };
        let x = along(cell[0], origin.x);
        let y = along(cell[1], origin.y);
        Self {
            first: [x.0, y.0],
            count: [x.1, y.1],
            low: Vec2::new(x.2, y.2),
            high: Vec2::new(x.3, y.3),
        }
    }

    /// Whether the boundary of the grid is one of its sides.
    #[inline(always)]
    fn is_cut(&self, reach: u32) -> bool {
        self.count[0] <= 2 * reach || self.count[1] <= 2 * reach
    }

    /// Whether a circle through the point lies within.
    #[inline(always)]
    fn holds(&self, Circle { centre, error }: Circle) -> bool {
        let squared = (centre.x * centre.x + centre.y * centre.y) * (1.0 + 1e-5);
        let fits = |room: f32| room > 0.0 && room * room >= squared;
        let (x, y) = (centre.x, centre.y);
        fits(self.high.x - x - error)
            & fits(x - self.low.x - error)
            & fits(self.high.y - y - error)
            & fits(y - self.low.y - error)
    }

    /// Gives the places of all points. (A closure within a closure would not be inlined on a CPU.)
    #[inline(always)]
    fn each_place(&self, cells: Cells, mut look: impl FnMut(Place)) {
        let mut row = 0;
        while row < self.count[1] {
            let mut column = 0;
            while column < self.count[0] {
                let [mut i, end] = self.range(cells, column, row);
                while i < end {
                    look(Place::new(i));
                    i += 1;
                }
                column += 1;
            }
            row += 1;
        }
    }

    /// Number of points.
    #[inline(always)]
    fn points(&self, cells: Cells) -> u32 {
        let (mut points, mut row) = (0u32, 0);
        while row < self.count[1] {
            let mut column = 0;
            while column < self.count[0] {
                let [start, end] = self.range(cells, column, row);
                points = points.saturating_add(end - start);
                column += 1;
            }
            row += 1;
        }
        points
    }

    /// Where the points of a cell start and end.
    #[inline(always)]
    fn range(&self, cells: Cells, column: u32, row: u32) -> [u32; 2] {
        let cell = [self.first[0] + column, self.first[1] + row];
        cells.ranges.at(cells.grid.number(cell))
    }
}

/// A point's neighbourhood.
struct Wrap<'m> {
    memory: &'m WrapMemory,
    lane: Lane<'m>,
    sorted: In<'m, DVec2, Place>,
    own: Place,
    centre: DVec2,
    inverse_width: f64,
    /// Points that are left.
    count: u32,
    /// Largest squared length of an inverted point.
    largest: f32,
    /// The one of the points that are left that is outermost in a direction.
    first: u32,
    /// How far out it is, and the second.
    most: f32,
    second: f32,
    /// Whether single precision did not decide.
    is_unsure: bool,
}

/// A circle through a star's point, relative to it, in widths of cells.
struct Circle {
    centre: Vec2,
    /// More than the centre's error in each coordinate and the radius' together.
    error: f32,
}

/// The outermost of the inverted points in eight directions, counter-clockwise. By coordinates, which a CPU takes four
/// at a time.
struct Octagon {
    x: [f32; 8],
    y: [f32; 8],
}

impl Octagon {
    #[inline(always)]
    fn corner(&self, k: usize) -> Vec2 {
        Vec2::new(self.x[k & 7], self.y[k & 7])
    }
}

impl Wrap<'_> {
    /// The point at `place` relative to the star's, in widths of cells, turned; and its squared distance. The star's
    /// own is far away.
    #[inline(always)]
    fn apart(&self, place: Place) -> (Vec2, f32) {
        let apart = (self.sorted.at(place) - self.centre) * self.inverse_width;
        let (x, y) = (apart.x as f32, apart.y as f32);
        let turned = Vec2::new(x + TURN * y, y - TURN * x);
        let squared = match place == self.own {
            true => f32::INFINITY,
            false => turned.x * turned.x + turned.y * turned.y,
        };
        (turned, squared)
    }

    #[inline(always)]
    fn place(&self, i: u32) -> Place {
        self.memory.0.at(self.lane, i)
    }

    #[inline(always)]
    fn inverted(&self, i: u32) -> Vec2 {
        Vec2::new(
            self.memory.1.at(self.lane, i),
            self.memory.2.at(self.lane, i),
        )
    }

    /// The octagon of the points of a square; `None` if they are too near for single precision, or none.
    #[inline(always)]
    fn octagon(&mut self, square: Square, cells: Cells) -> Option<Octagon> {
        let (mut corner_x, mut corner_y) = ([0.0; 8], [0.0; 8]);
        let mut furthest = [0.0; 8];
        let mut nearest = f32::INFINITY;
        square.each_place(cells, |place| {
            let (apart, squared) = self.apart(place);
            nearest = if squared < nearest { squared } else { nearest };
            let inverse = 1.0 / squared;
            let (x, y) = (apart.x * inverse, apart.y * inverse);
            let out = [x, x + y, y, y - x, -x, -(x + y), -y, -(y - x)];
            let mut k = 0;
            while k < 8 {
                let is_further = out[k] > furthest[k];
                corner_x[k] = if is_further { x } else { corner_x[k] };
                corner_y[k] = if is_further { y } else { corner_y[k] };
                furthest[k] = if is_further { out[k] } else { furthest[k] };
                k += 1;
            }
        });
        self.largest = 1.0 / nearest;
        let (x, y) = (corner_x, corner_y);
        (nearest > NEAREST && nearest < f32::INFINITY).then_some(Octagon { x, y })
    }

    /// Keeps the points of a square that are not surely inside an octagon, as many as there is room for, and counts
    /// them. Returns whether the star's point surely is inside.
    #[inline(always)]
    fn keep(&mut self, square: Square, cells: Cells, octagon: Octagon) -> bool {
        let mut sides = [(Vec2::ZERO, 0.0, 0.0); 8];
        let mut is_around = true;
        let mut k = 0;
        while k < 8 {
            let (a, b) = (octagon.corner(k), octagon.corner(k + 1));
            let side = b - a;
            // Times the squared distance of a point; the length of its inverse times that is its distance, which is at
            // most half of 1 and its square.
            let error = SIDE * (length(a) + length(b));
            let inside = cross(a, b) - error * (length(a) + length(b) + 0.5);
            // Everything is inside of an edge without length: the others are still a closed line.
            let beyond = match side.x == 0.0 && side.y == 0.0 {
                true => f32::INFINITY,
                false => inside,
            };
            is_around &= beyond > 0.0;
            sides[k] = (side, beyond, 0.5 * error);
            k += 1;
        }
        if !is_around {
            return false;
        }
        square.each_place(cells, |place| {
            let (apart, squared) = self.apart(place);
            let mut is_inside = true;
            let mut k = 0;
            while k < 8 {
                let (side, beyond, error) = sides[k];
                is_inside &= squared * beyond > side.y * apart.x - side.x * apart.y + error;
                k += 1;
            }
            if !is_inside && place != self.own {
                if self.count < LEFT as u32 {
                    let inverse = 1.0 / squared;
                    self.put(self.count, place, apart * inverse);
                }
                self.count += 1;
            }
        });
        true
    }

    /// Writes a point that is left.
    #[inline(always)]
    fn put(&mut self, i: u32, place: Place, inverted: Vec2) {
        let Vec2 { x, y } = inverted;
        self.memory.0.set(self.lane, i, place);
        self.memory.1.set(self.lane, i, x);
        self.memory.2.set(self.lane, i, y);
        let is_first = x > self.most;
        let behind = if is_first { self.most } else { x };
        self.second = if behind > self.second {
            behind
        } else {
            self.second
        };
        self.most = if is_first { x } else { self.most };
        self.first = if is_first { i } else { self.first };
    }

    /// Whether only one point may be outermost.
    #[inline(always)]
    fn has_first(&self) -> bool {
        let (gap, error) = (self.most - self.second, 64.0 * ROUNDED);
        gap * gap > error * error * self.largest
    }

    /// Whether point `c` lies on the right of the line from `a` to `b`: within the circle of these two and the star's.
    #[inline(always)]
    fn is_right(&self, a: u32, b: u32, c: u32) -> bool {
        let [a, b, c] = [a, b, c].map(|i| self.sorted.at(self.place(i)));
        let p = self.centre;
        // Differences are taken from the star's point: a, b, c and p are an odd permutation of p, a, b and c.
        match filtered_circle(a, b, c, p) {
            0 => match orientation(p, a, b) {
                // The rule wants triangles that run counter-clockwise.
                -1 => !is_in_circle_exactly(p, b, a, c),
                _ => is_in_circle_exactly(p, a, b, c),
            },
            sign => sign < 0,
        }
    }

    /// The corner of the hull after `a`: all others lie on the left of the line to it; if not `EXACT`, where single
    /// precision decides.
    #[inline(always)]
    fn next<const EXACT: bool>(&mut self, a: u32) -> u32 {
        let from = self.inverted(a);
        let mut next = u32::from(a == 0);
        let mut side = self.inverted(next) - from;
        let bound = CROSS * self.largest;
        let mut i = next + 1;
        while i < self.count {
            // Lanes look for a point that single precision does not decide, then decide theirs together.
            let mut is_unsure = false;
            while i < self.count && !is_unsure {
                let other = self.inverted(i) - from;
                let area = cross(side, other);
                let is_right = area < -bound;
                is_unsure = area.abs() <= bound && i != a;
                self.is_unsure |= is_unsure;
                is_unsure &= EXACT;
                side = if is_right { other } else { side };
                next = if is_right { i } else { next };
                i += 1;
            }
            if is_unsure && self.is_right(a, next, i - 1) {
                next = i - 1;
                side = self.inverted(next) - from;
            }
        }
        next
    }

    /// The circle of the star's point and two points; an endless one if these do not surely run counter-clockwise.
    #[inline(always)]
    fn circle(&self, a: u32, b: u32) -> Circle {
        let (a, b) = (self.inverted(a), self.inverted(b));
        let area = cross(a, b);
        let side = b - a;
        let half = 0.5 / area;
        let turned = Vec2::new(side.y * half, -side.x * half);
        let scale = 1.0 / (1.0 + TURN * TURN);
        let centre = Vec2::new(
            (turned.x - TURN * turned.y) * scale,
            (turned.y + TURN * turned.x) * scale,
        );
        // The error of the side is below 17 units of both lengths, that of the area 10 of their square.
        let both = length(a) + length(b);
        let error = SIDE * both * (1.0 + both * length(turned));
        let error = match area > SIDE * both * both {
            true => 1e-5 + error / area,
            false => f32::INFINITY,
        };
        Circle { centre, error }
    }
}

/// Writes the neighbours of the point at `own`, and returns how many they are.
#[inline(always)]
fn wrap<const EXACT: bool>(
    mut wrap: Wrap,
    reach: u32,
    cells: Cells,
    stars: Scatter<Place>,
) -> Result<u32, End> {
    let square = Square::new(wrap.centre, reach, wrap.inverse_width, cells.grid);
    // Circles of points near the boundary reach along it: more cells seldom help.
    let incomplete = match reach > 1 && square.is_cut(reach) {
        true => End::Hard,
        false => End::Wide,
    };
    if square.points(cells) > MOST_POINTS {
        return Err(incomplete);
    }
    let octagon = wrap.octagon(square, cells).ok_or(incomplete)?;
    let is_inside = wrap.keep(square, cells, octagon);
    if !is_inside || wrap.count > LEFT as u32 || !wrap.has_first() {
        return Err(incomplete);
    }
    let (mut at, mut degree, mut is_complete) = (wrap.first, 0, true);
    loop {
        let next = wrap.next::<EXACT>(at);
        is_complete &= degree < RING as u32 && square.holds(wrap.circle(at, next));
        if is_complete {
            stars.set(RING as u32 * wrap.own.index() + degree, wrap.place(at));
        }
        degree += 1;
        at = next;
        if at == wrap.first || !is_complete || !EXACT && wrap.is_unsure {
            break;
        }
    }
    match is_complete {
        _ if !EXACT && wrap.is_unsure => Err(End::Unsure),
        true => Ok(degree),
        false => Err(incomplete),
    }
}

/// Makes stars, [`STARS`] a block, from the points of cells up to `reach` away: of the points at all `count` places, or
/// of those of `list`, where there is one.
///
/// `degrees` gets the number of neighbours, 0 of a hard point, [`UNSURE`] where single precision did not decide,
/// [`WIDE`] where these points do not complete the star; `stars` the neighbours' places, [`RING`] for each place.
#[kernel(
    EXACT in [false, true],
    requires(
        n == (count as usize).div_ceil(STARS),
        stars.len() == RING * degrees.len(),
        sorted.len() == degrees.len(),
        list.is_empty() && degrees.len() == count as usize || list.len() == count as usize
    ),
    moves(sorted.bytes() + list.bytes() + 28 * count as usize)
)]
pub fn wrap_stars<const EXACT: bool>(
    block: OwnBlock<STARS, WrapMemory>,
    count: u32,
    reach: u32,
    list: In<Place>,
    sorted: In<DVec2, Place>,
    ranges: In<[u32; 2]>,
    grid: Grid,
    degrees: Scatter<u32, Place>,
    stars: Scatter<Place>,
) {
    let memory = block.shared();
    let cells = Cells {
        sorted,
        ranges,
        grid,
    };
    block.phase(|lane| {
        let i = STARS as u32 * block.index() + lane.index();
        if i >= count {
            return;
        }
        let own = match list.is_empty() {
            true => Place::new(i),
            false => list.at(i),
        };
        let star = Wrap {
            memory,
            lane,
            sorted,
            own,
            centre: sorted.at(own),
            inverse_width: 1.0 / grid.width,
            count: 0,
            largest: 0.0,
            first: 0,
            most: f32::NEG_INFINITY,
            second: f32::NEG_INFINITY,
            is_unsure: false,
        };
        let degree = match wrap::<EXACT>(star, reach, cells, stars) {
            Ok(degree) => degree,
            Err(End::Unsure) => UNSURE,
            Err(End::Wide) => WIDE,
            Err(End::Hard) => 0,
        };
        degrees.set(own, degree);
    });
}
