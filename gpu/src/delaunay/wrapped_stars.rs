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
use trioxide_kernel::safe::{In, OwnBlock, PerLane, Scatter};
use trioxide_kernel::wide::{Mask, WIDTH, Wide};
use trioxide_kernel::{Each, kernel};

use super::near::{Near, Outermost, Own, Pass, Row, Square, TURN};
use super::predicates::{filtered_circle, is_in_circle_exactly, orientation};
use super::stars::{Cells, End, Grid, RING, STARS, UNSURE, WIDE};
use crate::ids::Place;

/// Most points that are left after the octagon.
const LEFT: usize = 24;
/// Half a unit in the last place of single precision.
const ROUNDED: f32 = f32::EPSILON / 2.0;
/// More than the error of (b - a) x (c - a), relative to the product of two sums: that of the lengths of a and b, and
/// that and the length of c. It is 37 units.
const SIDE: f32 = 64.0 * ROUNDED;
/// Least squared distance of the nearest point, in widths of cells.
const NEAREST: f32 = 1e-12;
/// Least area between the star's point and a side of the octagon: numbers that are divided by it are finite.
const SMALLEST: f32 = 1e-30;

/// A lane's points that are left after the octagon: places, inverted points.
pub type WrapMemory = (
    PerLane<Place, STARS, LEFT>,
    PerLane<f32, STARS, LEFT>,
    PerLane<f32, STARS, LEFT>,
);

/// All flags of a row.
const ALL: u32 = (1 << WIDTH) - 1;

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

/// As [`cross`], of rows.
#[inline(always)]
fn crosses(a: [Wide; 2], b: [Wide; 2]) -> Wide {
    a[0] * b[1] - a[1] * b[0]
}

/// As [`length`], of rows.
#[inline(always)]
fn lengths(a: [Wide; 2]) -> Wide {
    a[0].abs() + a[1].abs()
}

/// A pass that finds the outermost of the inverted points.
struct Found {
    outermost: Outermost,
    /// The least squared distance.
    nearest: Wide,
}

impl Pass for Found {
    #[inline(always)]
    fn look(&mut self, row: Row) {
        self.nearest = self.nearest.smaller(row.squared);
        self.outermost.add(row, row.inverted());
    }
}

/// Eight of the inverted points, counter-clockwise.
struct Octagon {
    /// Twice the centre of a side's circle, turned by a right angle.
    sides: [[Wide; 2]; 8],
    /// More than the rounding error of a product of one of them and a point.
    error: Wide,
}

impl Octagon {
    /// `None` if the star's point is not surely inside.
    #[inline(always)]
    fn new(octagon: [Vec2; 8]) -> Option<Self> {
        let splat = Wide::splat;
        let mut sides = [[splat(0.0); 2]; 8];
        let mut error = splat(0.0);
        let mut k = 0;
        while k < 8 {
            let row = |first: usize| {
                let corner = |l| octagon[(first + l) & 7];
                [
                    Wide::new(core::array::from_fn(|l| corner(l).x)),
                    Wide::new(core::array::from_fn(|l| corner(l).y)),
                ]
            };
            let (a, b) = (row(k), row(k + 1));
            let side = [b[0] - a[0], b[1] - a[1]];
            // Times the squared distance of a point; the length of its inverse times that is its distance, which is at
            // most half of 1 and its square.
            let both = lengths(a) + lengths(b);
            let bound = splat(SIDE) * both;
            let inside = crosses(a, b) - bound * (both + splat(0.5));
            // Everything is inside of an edge without length: the others are still a closed line.
            let is_long = lengths(side).is_above(splat(0.0));
            let beyond = is_long.select(inside, splat(f32::INFINITY));
            if beyond.is_above(splat(SMALLEST)).bits() != ALL {
                return None;
            }
            let inverse = splat(1.0) / beyond;
            error = error.larger(splat(0.5) * bound * inverse);
            let [x, y] = side.each(|side| (side * inverse).to_array());
            let mut l = 0;
            while l < WIDTH {
                sides[k + l] = [splat(x[l]), splat(y[l])];
                l += 1;
            }
            k += WIDTH;
        }
        Some(Self {
            sides,
            error: splat(error.largest()),
        })
    }

    /// Whether inverted points are surely inside.
    #[inline(always)]
    fn holds(&self, row: Row) -> Mask {
        // A point is inside of a side if it is outside of the side's circle.
        let mut most = Wide::splat(0.0);
        let mut k = 0;
        while k < 8 {
            let [x, y] = self.sides[k];
            most = most.larger(y * row.x - x * row.y);
            k += 1;
        }
        row.squared.is_above(most + self.error)
    }
}

/// The points that are left: those from 0 on that are known to be corners of the hull in their order, then the others.
struct Corners<'m> {
    memory: &'m WrapMemory,
    lane: Lane<'m>,
    count: u32,
    /// The one that is outermost in a direction.
    first: u32,
    /// How far out it is, and the second.
    most: f32,
    second: f32,
}

impl Corners<'_> {
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

    #[inline(always)]
    fn set(&self, i: u32, place: Place, inverted: Vec2) {
        self.memory.0.set(self.lane, i, place);
        self.memory.1.set(self.lane, i, inverted.x);
        self.memory.2.set(self.lane, i, inverted.y);
    }

    /// Adds a point, and counts it even if there is no room.
    #[inline(always)]
    fn put(&mut self, place: Place, inverted: Vec2) {
        let i = self.count;
        self.count += 1;
        if i >= LEFT as u32 {
            return;
        }
        self.set(i, place, inverted);
        let x = inverted.x;
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

    /// Exchanges two points.
    #[inline(always)]
    fn swap(&self, i: u32, j: u32) {
        let (place, inverted) = (self.place(i), self.inverted(i));
        self.set(i, self.place(j), self.inverted(j));
        self.set(j, place, inverted);
    }
}

/// A point's neighbourhood.
struct Wrap<'m> {
    corners: Corners<'m>,
    sorted: In<'m, DVec2, Place>,
    own: Own,
    /// Largest squared length of an inverted point.
    largest: f32,
    /// Whether single precision did not decide.
    is_unsure: bool,
}

impl Wrap<'_> {
    /// Keeps the points that are not surely inside an octagon. Returns whether the star's point surely is inside.
    #[inline(always)]
    fn keep(&mut self, near: &Near) -> bool {
        let mut found = Found {
            outermost: Outermost::new(),
            nearest: Wide::splat(f32::INFINITY),
        };
        near.each(&mut found);
        let nearest = found.nearest.smallest();
        // The points are too near for single precision, or there are none.
        if !(nearest > NEAREST && nearest < f32::INFINITY) {
            return false;
        }
        self.largest = 1.0 / nearest;
        let Some(octagon) = near.outermost(&found.outermost) else {
            return false;
        };
        let Some(octagon) = Octagon::new(octagon) else {
            return false;
        };
        let corners = &mut self.corners;
        near.each_but(
            |row| octagon.holds(row),
            |place, inverted| corners.put(place, inverted),
        );
        true
    }

    /// Whether only one point may be outermost.
    #[inline(always)]
    fn has_first(&self) -> bool {
        let (gap, error) = (self.corners.most - self.corners.second, 64.0 * ROUNDED);
        gap * gap > error * error * self.largest
    }

    /// Whether point `c` lies on the right of the line from `a` to `b`: within the circle of these two and the star's.
    #[inline(always)]
    fn is_right(&self, a: u32, b: u32, c: u32) -> bool {
        let [a, b, c] = [a, b, c].each(|i| self.sorted.at(self.corners.place(i)));
        let p = self.own.point;
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

    /// The corner of the hull after the `known` first ones, 0 if it is the first: all others lie on the left of the
    /// line to it; if not `EXACT`, where single precision decides.
    #[inline(always)]
    fn next<const EXACT: bool>(&mut self, known: u32) -> u32 {
        let corners = &self.corners;
        let from = corners.inverted(known - 1);
        let mut next = u32::from(known == 1);
        let to = corners.inverted(next);
        let mut side = to - from;
        let of_from = length(from);
        let mut both = of_from + length(to);
        // How much larger than its error an area is, at least.
        let mut least = f32::INFINITY;
        let mut i = known + next;
        while i < corners.count {
            // Lanes look for a point that single precision does not decide, then decide theirs together.
            let mut is_unsure = false;
            while i < corners.count && !is_unsure {
                let point = corners.inverted(i);
                let (other, of_point) = (point - from, length(point));
                let area = cross(side, other);
                let bound = SIDE * both * (both + of_point);
                let is_right = area < -bound;
                let more = area.abs() - bound;
                if EXACT {
                    is_unsure = more <= 0.0;
                } else {
                    least = if more < least { more } else { least };
                }
                side = if is_right { other } else { side };
                both = if is_right { of_from + of_point } else { both };
                next = if is_right { i } else { next };
                i += 1;
            }
            if is_unsure && self.is_right(known - 1, next, i - 1) {
                next = i - 1;
                let to = corners.inverted(next);
                (side, both) = (to - from, of_from + length(to));
            }
        }
        self.is_unsure |= least <= 0.0;
        next
    }

    /// Moves the corners of the hull to the front, and returns how many they are; `None` of more than [`RING`].
    #[inline(always)]
    fn find_hull<const EXACT: bool>(&mut self) -> Option<u32> {
        self.corners.swap(0, self.corners.first);
        let mut known = 1;
        loop {
            let next = self.next::<EXACT>(known);
            if next == 0 || !EXACT && self.is_unsure {
                return Some(known);
            }
            if known == RING as u32 {
                return None;
            }
            self.corners.swap(known, next);
            known += 1;
        }
    }

    /// Whether the circles of all triangles between the `degree` first points lie within a square. Not if a triangle
    /// does not surely run counter-clockwise.
    #[inline(always)]
    fn is_within(&self, degree: u32, square: Square) -> bool {
        let corners = &self.corners;
        corners.set(degree, corners.place(0), corners.inverted(0));
        let row = |i: u32| {
            let (memory, lane) = (corners.memory, corners.lane);
            [memory.1.row(lane, i), memory.2.row(lane, i)].each(Wide::new)
        };
        let mut i = 0;
        let mut are_within = true;
        while i < degree && are_within {
            let within = is_circle_within(row(i), row(i + 1), square).bits();
            // The points beyond the last corner are others.
            let rest = if degree - i < WIDTH as u32 {
                degree - i
            } else {
                WIDTH as u32
            };
            are_within = !within & ((1 << rest) - 1) == 0;
            i += WIDTH as u32;
        }
        are_within
    }
}

/// Whether the circles of the star's point and two points lie within a square.
#[inline(always)]
fn is_circle_within(a: [Wide; 2], b: [Wide; 2], square: Square) -> Mask {
    let splat = Wide::splat;
    let area = crosses(a, b);
    let side = [b[0] - a[0], b[1] - a[1]];
    let half = splat(0.5) / area;
    let turned = [side[1] * half, splat(0.0) - side[0] * half];
    let (turn, scale) = (splat(TURN), splat(1.0 / (1.0 + TURN * TURN)));
    // The centre, turned back.
    let x = (turned[0] - turn * turned[1]) * scale;
    let y = (turned[1] + turn * turned[0]) * scale;
    // The error of the side is below 17 units of both lengths, that of the area 10 of their square.
    let both = lengths(a) + lengths(b);
    let bound = splat(SIDE) * both;
    // More than the centre's error in each coordinate and the radius' together.
    let error = splat(1e-5) + bound * (splat(1.0) + both * lengths(turned)) / area;
    let squared = (x * x + y * y) * splat(1.0 + 1e-5);
    // A room below 0 is no room.
    let fits = |room: Wide| (room * room.abs()).is_above(squared);
    area.is_above(bound * both)
        & fits(splat(square.high.x) - x - error)
        & fits(x - splat(square.low.x) - error)
        & fits(splat(square.high.y) - y - error)
        & fits(y - splat(square.low.y) - error)
}

/// Writes the neighbours of the own point, and returns how many they are.
#[inline(always)]
fn wrap<const EXACT: bool>(
    mut wrap: Wrap,
    reach: u32,
    cells: Cells,
    stars: Scatter<Place>,
) -> Result<u32, End> {
    let square = Square::new(wrap.own.point, reach, wrap.own.inverse_width, cells.grid);
    // Circles of points near the boundary reach along it: more cells seldom help.
    let incomplete = match reach > 1 && square.is_cut(reach) {
        true => End::Hard,
        false => End::Wide,
    };
    let mut near = Near::new(square, cells, wrap.own);
    let is_inside = near.read() && wrap.keep(&near);
    let has_room = wrap.corners.count <= LEFT as u32;
    if !is_inside || !has_room || !wrap.has_first() {
        return Err(incomplete);
    }
    let degree = wrap.find_hull::<EXACT>();
    if !EXACT && wrap.is_unsure {
        return Err(End::Unsure);
    }
    let degree = degree.ok_or(incomplete)?;
    if !wrap.is_within(degree, square) {
        return Err(incomplete);
    }
    let mut k = 0;
    while k < degree {
        let place = RING as u32 * wrap.own.place.index() + k;
        stars.set(place, wrap.corners.place(k));
        k += 1;
    }
    Ok(degree)
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
            corners: Corners {
                memory,
                lane,
                count: 0,
                first: 0,
                most: f32::NEG_INFINITY,
                second: f32::NEG_INFINITY,
            },
            sorted,
            own: Own {
                place: own,
                point: sorted.at(own),
                inverse_width: 1.0 / grid.width,
            },
            largest: 0.0,
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
