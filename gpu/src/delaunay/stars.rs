//! The star of a point that the points of near cells do not complete ([`wrap_stars()`](super::wrap_stars())), alone:
//! its neighbours and the triangles between them.
//!
//! A point begins with a star of four points far away, and looks at the points of cells around it, near ones first. A
//! point within the circle of a triangle of the star becomes a neighbour. The star is complete when every cell that
//! meets one of its circles was looked at: then no point lies within, and each triangle is Delaunay. So stars of
//! different points agree, although each was made alone.
//!
//! A star is not made here, and its point is *hard*, if it needs one of the far points, more than [`RING`] neighbours,
//! or cells further away than [`FURTHEST`]: it lies on the hull or near it, or among points of very different density.
//!
//! Circles' centres are rounded, so they decide only which cells and points are surely outside: a circle's radius is
//! enlarged by a bound of the rounding error. All else is decided by the predicates.

use bytemuck::{Pod, Zeroable};
use glam::{DVec2, Vec2};
use trioxide_kernel::block::Lane;
use trioxide_kernel::kernel;
use trioxide_kernel::safe::{In, Out, Own, OwnBlock, PerLane, Scatter};

use super::predicates::{filtered_circle, is_in_circle_exactly};
use crate::curve::Frame;
use crate::ids::{Item, Place};

/// Most neighbours of a star.
pub const RING: usize = 16;
/// Furthest ring of cells around a point's own that a star looks at.
pub const FURTHEST: u32 = 8;
/// Ring of cells after which a star that still has a far neighbour ends.
const NEAR: u32 = 2;
/// Most points that a star looks at. One of a random cloud looks at 40.
const MOST_LOOKED_AT: u32 = 512;
/// Stars of a block.
pub const STARS: usize = 64;
/// The degree of a star that needs exact arithmetic.
pub const UNSURE: u32 = u32::MAX;
/// The degree of a star that needs more cells.
pub const WIDE: u32 = u32::MAX - 1;
/// A lane's star: places of neighbours, their points' coordinates, circles. In shared memory, since the local memory of
/// as many threads as a GPU runs at once is larger than its L2.
pub type StarMemory = (
    PerLane<Place, STARS, RING>,
    PerLane<f64, STARS, RING>,
    PerLane<f64, STARS, RING>,
    PerLane<[f32; 3], STARS, RING>,
);

/// Cells of the points: 2^level columns and rows.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub struct Grid {
    /// The square, of 2^32 columns and rows.
    pub frame: Frame,
    /// Lowest coordinates.
    pub low: DVec2,
    /// Width of a cell.
    pub width: f64,
    /// More than a point lies outside of its rounded cell.
    pub margin: f64,
    /// Distance of the far points.
    pub far: f64,
    /// Power of two of the columns.
    pub level: u32,
    /// No meaning.
    pub padding: u32,
}

impl trioxide_kernel::Scalar for Grid {}

impl Grid {
    /// Column and row of a point.
    #[inline(always)]
    pub(super) fn cell(&self, point: DVec2) -> [u32; 2] {
        let shift = 32 - self.level;
        self.frame.cell(point).map(|place| place >> shift)
    }

    /// The number of a cell.
    #[inline(always)]
    pub(super) fn number(&self, [x, y]: [u32; 2]) -> u32 {
        y << self.level | x
    }
}

/// Writes where the points of a cell start and end, if the point at place `i` is the first or last of its cell.
#[kernel(requires(ranges.len() == 2 << (2 * grid.level)), moves(sorted.bytes()))]
pub fn find_cells(i: Own<Place>, sorted: In<DVec2, Place>, grid: Grid, ranges: Scatter<u32>) {
    let place = i.get().index();
    let cell = grid.number(grid.cell(sorted.at(i)));
    let differs = |other: Option<DVec2>| other.is_none_or(|p| grid.number(grid.cell(p)) != cell);
    let before = match place {
        0 => None,
        _ => sorted.get(Place::new(place - 1)),
    };
    if differs(before) {
        ranges.set(2 * cell, place);
    }
    if differs(sorted.get(Place::new(place + 1))) {
        ranges.set(2 * cell + 1, place + 1);
    }
}

/// Least area of a parallelogram whose products of three lengths keep their digits.
const SMALLEST: f64 = 1e-180;
/// Largest extent of points of which products of four lengths are finite.
pub const LARGEST: f64 = 1e75;

/// A circle that holds that of a triangle, in widths of cells; relative to the star's point, which lies on it.
#[derive(Clone, Copy)]
struct Circle {
    centre: Vec2,
    /// Squared radius, enlarged.
    radius_squared: f32,
}

impl Circle {
    /// Around the origin, a and b, which run counter-clockwise.
    #[inline(always)]
    fn new(a: DVec2, b: DVec2, inverse_width: f64) -> Self {
        let (a2, b2) = (a.x * a.x + a.y * a.y, b.x * b.x + b.y * b.y);
        let (left, right) = (a.x * b.y, a.y * b.x);
        let area = left - right;
        let inverse = 0.5 * inverse_width / area;
        let [x, y] = [
            (b.y * a2 - a.y * b2) * inverse,
            (a.x * b2 - b.x * a2) * inverse,
        ];
        // Each of the sums is rounded relative to the sum of its terms' magnitudes by some units of 2^-53, and the area
        // relative to itself by a million times more: 2e-9 of the magnitudes is more than twice the centre's error.
        let magnitude = (b.y.abs() + b.x.abs()) * a2 + (a.x.abs() + a.y.abs()) * b2;
        let error = 2e-9 * magnitude * inverse.abs();
        // (|c| + e)^2 without its root; the last factor is for single precision, in which distances of points near the
        // circle are rounded by 1e-6 of the squared radius.
        let more = (2.0 * (x.abs() + y.abs()) + error) * error;
        let radius_squared = ((x * x + y * y) + more) * (1.0 + 1e-5);
        // A flat triangle's circle is everywhere, as is one whose squares underflow or overflow.
        let is_round = area.abs() > 1e-6 * (left.abs() + right.abs()) + SMALLEST;
        if is_round && radius_squared < 1e30 {
            Self {
                centre: Vec2::new(x as f32, y as f32),
                radius_squared: radius_squared as f32,
            }
        } else {
            Self {
                centre: Vec2::ZERO,
                radius_squared: f32::INFINITY,
            }
        }
    }

    /// Whether a box meets the circle.
    #[inline(always)]
    fn meets(&self, low: Vec2, high: Vec2) -> bool {
        let beyond = |low: f32, high: f32, at: f32| {
            let below = low - at;
            let above = at - high;
            let most = if below > above { below } else { above };
            if most > 0.0 { most } else { 0.0 }
        };
        let x = beyond(low.x, high.x, self.centre.x);
        let y = beyond(low.y, high.y, self.centre.y);
        x * x + y * y <= self.radius_squared
    }

    /// Whether a point may lie within.
    #[inline(always)]
    fn may_hold(&self, point: Vec2) -> bool {
        let apart = point - self.centre;
        apart.x * apart.x + apart.y * apart.y <= self.radius_squared
    }
}

/// Why a star is not made.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum End {
    /// Rounded numbers did not decide.
    Unsure,
    /// The cells around the point are too few.
    Wide,
    /// The point is hard.
    Hard,
}

/// A star: neighbours counter-clockwise around its point; triangle i has neighbours i and i + 1.
struct Star<'m> {
    memory: &'m StarMemory,
    lane: Lane<'m>,
    centre: DVec2,
    inverse_width: f64,
    count: u32,
}

impl Star<'_> {
    /// Place of neighbour `i`; `NONE` of a far point.
    #[inline(always)]
    fn place(&self, i: u32) -> Place {
        self.memory.0.at(self.lane, i)
    }

    #[inline(always)]
    fn point(&self, i: u32) -> DVec2 {
        DVec2::new(
            self.memory.1.at(self.lane, i),
            self.memory.2.at(self.lane, i),
        )
    }

    #[inline(always)]
    fn circle(&self, i: u32) -> Circle {
        let [x, y, radius_squared] = self.memory.3.at(self.lane, i);
        Circle {
            centre: Vec2::new(x, y),
            radius_squared,
        }
    }

    #[inline(always)]
    fn set_neighbour(&self, i: u32, place: Place, point: DVec2) {
        self.memory.0.set(self.lane, i, place);
        self.memory.1.set(self.lane, i, point.x);
        self.memory.2.set(self.lane, i, point.y);
    }

    #[inline(always)]
    fn set_circle(&self, i: u32, circle: Circle) {
        let Vec2 { x, y } = circle.centre;
        self.memory
            .3
            .set(self.lane, i, [x, y, circle.radius_squared]);
    }

    /// Begins with four points at distance `far`.
    #[inline(always)]
    fn begin(&mut self, far: f64) {
        self.count = 4;
        let mut i = 0;
        while i < 4 {
            let sign = if i < 2 { far } else { -far };
            let apart = if i % 2 == 0 {
                DVec2::new(sign, 0.0)
            } else {
                DVec2::new(0.0, sign)
            };
            self.set_neighbour(i, Place::NONE, self.centre + apart);
            i += 1;
        }
        i = 0;
        while i < 4 {
            self.draw(i);
            i += 1;
        }
    }

    /// The neighbour after `i`.
    #[inline(always)]
    fn next(&self, i: u32) -> u32 {
        if i + 1 == self.count { 0 } else { i + 1 }
    }

    /// Makes the circle of triangle `i`.
    #[inline(always)]
    fn draw(&self, i: u32) {
        let (a, b) = (self.point(i), self.point(self.next(i)));
        self.set_circle(
            i,
            Circle::new(a - self.centre, b - self.centre, self.inverse_width),
        );
    }

    /// Moves neighbour and triangle `from` to `to`.
    #[inline(always)]
    fn shift(&self, from: u32, to: u32) {
        self.set_neighbour(to, self.place(from), self.point(from));
        self.set_circle(to, self.circle(from));
    }

    /// Whether `point` is within the circle of triangle `i`; `None` if the filter does not decide it. `near` is the
    /// point relative to the star's, in widths of cells.
    #[inline(always)]
    fn holds<const EXACT: bool>(&self, i: u32, point: DVec2, near: Vec2) -> Option<bool> {
        if !self.circle(i).may_hold(near) {
            return Some(false);
        }
        let (a, b) = (self.point(i), self.point(self.next(i)));
        // Cyclic, so that differences are taken from the star's point: a, b, point and centre are an odd permutation
        // of centre, a, b and point.
        match filtered_circle(a, b, point, self.centre) {
            0 if EXACT => Some(is_in_circle_exactly(self.centre, a, b, point)),
            0 => None,
            sign => Some(sign < 0),
        }
    }

    /// Makes the point at `place` a neighbour, if it is within a circle.
    #[inline(always)]
    fn add<const EXACT: bool>(&mut self, place: Place, point: DVec2) -> Result<(), End> {
        let apart = (point - self.centre) * self.inverse_width;
        let near = Vec2::new(apart.x as f32, apart.y as f32);
        let mut within = 0u32;
        let mut i = 0;
        while i < self.count {
            match self.holds::<EXACT>(i, point, near) {
                Some(holds) => within |= u32::from(holds) << (i & 31),
                None => return Err(End::Unsure),
            }
            i += 1;
        }
        if within == 0 {
            return Ok(());
        }
        let count = self.count;
        // Triangles whose circle holds the point follow each other: the first of them, and how many.
        let removed = within.count_ones();
        if removed == count {
            return Err(End::Hard);
        }
        let is_over_end = within & 1 != 0 && within >> ((count - 1) & 31) & 1 != 0;
        let first = match is_over_end {
            // After the last that is kept.
            true => 32 - (!within & ((1u32 << (count & 31)) - 1)).leading_zeros(),
            false => within.trailing_zeros(),
        };
        if first + removed <= count {
            let at = first + 1;
            if removed == 1 {
                if count == RING as u32 {
                    return Err(End::Hard);
                }
                let mut k = count;
                while k > at {
                    self.shift(k - 1, k);
                    k -= 1;
                }
                self.count += 1;
            } else {
                let gone = removed - 2;
                let mut k = at + 1;
                while gone > 0 && k + gone < count {
                    self.shift(k + gone, k);
                    k += 1;
                }
                self.count -= gone;
            }
            self.put(at, place, point);
        } else {
            let low = first + removed - count;
            let kept = first + 1 - low;
            let mut k = 0;
            while low > 0 && k < kept {
                self.shift(k + low, k);
                k += 1;
            }
            self.count = kept + 1;
            self.put(kept, place, point);
        }
        Ok(())
    }

    /// Writes neighbour `at`, and makes the circles on both sides.
    #[inline(always)]
    fn put(&mut self, at: u32, place: Place, point: DVec2) {
        self.set_neighbour(at, place, point);
        self.draw(at - 1);
        self.draw(at);
    }

    /// Square of the largest radius.
    #[inline(always)]
    fn largest(&self) -> f32 {
        let mut largest = 0.0;
        let mut i = 0;
        while i < self.count {
            let radius = self.circle(i).radius_squared;
            largest = if radius > largest { radius } else { largest };
            i += 1;
        }
        largest
    }

    /// Whether a neighbour is far away.
    #[inline(always)]
    fn has_far(&self) -> bool {
        let mut i = 0;
        let mut far = false;
        while i < self.count {
            far |= self.place(i) == Place::NONE;
            i += 1;
        }
        far
    }

    /// Whether a box meets a circle.
    #[inline(always)]
    fn meets(&self, low: Vec2, high: Vec2) -> bool {
        let mut i = 0;
        while i < self.count {
            if self.circle(i).meets(low, high) {
                return true;
            }
            i += 1;
        }
        false
    }
}

/// Points in the order of their ranks, and the cells that they lie in.
#[derive(Clone, Copy)]
pub(super) struct Cells<'a> {
    /// The points.
    pub sorted: In<'a, DVec2, Place>,
    /// Where the points of a cell start and end.
    pub ranges: In<'a, [u32; 2]>,
    /// The cells.
    pub grid: Grid,
}

/// Looks at the points of cells around the star's own; ends when the star is complete.
#[inline(always)]
fn complete<const EXACT: bool>(star: &mut Star, own: Place, cells: Cells) -> Result<(), End> {
    let grid = cells.grid;
    let [x, y] = grid.cell(star.centre);
    let side = 1u32 << (grid.level & 31);
    // The grid's corner, seen from the star's point, in widths of cells.
    let origin = (grid.low - star.centre) * star.inverse_width;
    let margin = grid.margin * star.inverse_width;
    let mut looked_at = 0u32;
    let mut ring = 0u32;
    while ring <= FURTHEST {
        if ring > 1 {
            // Cells of this ring and beyond are further away than this. A circle through the star's point reaches twice
            // its radius.
            let reach = (f64::from(ring - 1) - margin) as f32 * (1.0 - 1e-6);
            if reach > 0.0 && 4.0 * star.largest() < reach * reach {
                break;
            }
            if ring > NEAR && star.has_far() {
                return Err(End::Hard);
            }
        }
        // Four sides of the ring; the point's own cell is one.
        let (length, sides) = if ring == 0 { (1, 1) } else { (2 * ring, 4) };
        let mut s = 0;
        while s < sides {
            let mut k = 0;
            while k < length {
                let (right, up) = match s {
                    0 => (k, 0),
                    1 => (2 * ring, k),
                    2 => (2 * ring - k, 2 * ring),
                    _ => (0, 2 * ring - k),
                };
                k += 1;
                let column = (x + right).wrapping_sub(ring);
                let row = (y + up).wrapping_sub(ring);
                if column >= side || row >= side {
                    continue;
                }
                let (left, below) = (origin.x + f64::from(column), origin.y + f64::from(row));
                let low = Vec2::new((left - margin) as f32, (below - margin) as f32);
                let high = Vec2::new((left + 1.0 + margin) as f32, (below + 1.0 + margin) as f32);
                if ring > 0 && !star.meets(low, high) {
                    continue;
                }
                let cell = grid.number([column, row]);
                let [mut i, end] = cells.ranges.at(cell);
                looked_at += end - i;
                if looked_at > MOST_LOOKED_AT {
                    return Err(End::Hard);
                }
                while i < end {
                    let place = Place::new(i);
                    i += 1;
                    if place != own {
                        star.add::<EXACT>(place, cells.sorted.at(place))?;
                    }
                }
            }
            s += 1;
        }
        ring += 1;
    }
    if ring > FURTHEST || star.has_far() {
        return Err(End::Hard);
    }
    Ok(())
}

/// Makes stars, [`STARS`] a block, of the points at the `count` places of `list`.
///
/// `degrees` gets the number of neighbours, 0 of a hard point and [`UNSURE`] where the filter did not decide; `stars`
/// the neighbours' places, [`RING`] for each place.
#[kernel(
    EXACT in [false, true],
    requires(
        n == (count as usize).div_ceil(STARS),
        stars.len() == RING * degrees.len(),
        sorted.len() == degrees.len(),
        list.len() == count as usize
    ),
    moves(list.bytes() + 44 * count as usize)
)]
pub fn build_stars<const EXACT: bool>(
    block: OwnBlock<STARS, StarMemory>,
    count: u32,
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
        let own = list.at(i);
        let mut star = Star {
            memory,
            lane,
            centre: cells.sorted.at(own),
            inverse_width: 1.0 / cells.grid.width,
            count: 0,
        };
        star.begin(cells.grid.far);
        match complete::<EXACT>(&mut star, own, cells) {
            Err(End::Hard | End::Wide) => degrees.set(own, 0),
            Err(End::Unsure) => degrees.set(own, UNSURE),
            Ok(()) => {
                degrees.set(own, star.count);
                let mut k = 0;
                while k < star.count {
                    stars.set(RING as u32 * own.index() + k, star.place(k));
                    k += 1;
                }
            }
        }
    });
}

/// Takes every `step`-th place of a list.
#[kernel(requires(taken.len() == n), moves(2 * taken.bytes()))]
pub fn take_every(i: Own<Item>, list: In<Place>, step: u32, taken: Out<Place, Item>) {
    taken.set(i, list.at(step * i.get().index()));
}

/// Makes the point of place number `i` of a list a hard one.
#[kernel(requires(list.len() == n), moves(8 * n))]
pub fn give_up(i: Own<Item>, list: In<Place, Item>, degrees: Scatter<u32, Place>) {
    degrees.set(list.at(i), 0);
}

/// Whether the degree of the star at place `i` is `least` or more, and at most `most`.
#[kernel(requires(degrees.len() == n), moves(degrees.bytes()))]
pub fn find_degrees(i: Own<Place>, degrees: In<u32, Place>, least: u32, most: u32) -> bool {
    (least..=most).contains(&degrees.at(i))
}
