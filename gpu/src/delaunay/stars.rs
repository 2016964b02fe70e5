//! The star of each point, alone: its neighbours and the triangles between them.
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
use glam::DVec2;
use trioxide_kernel::kernel;
use trioxide_kernel::safe::{In, Own, Scatter};

use super::predicates::{filtered_circle, is_in_circle_exactly};
use super::rank_points::Frame;
use crate::ids::{Item, Place};

/// Most neighbours of a star.
pub const RING: usize = 16;
/// Furthest ring of cells around a point's own that a star looks at.
pub const FURTHEST: u32 = 8;
/// Ring of cells after which a star that still has a far neighbour ends.
const NEAR: u32 = 3;

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
    fn cell(&self, point: DVec2) -> [u32; 2] {
        let shift = 32 - self.level;
        self.frame.cell(point).map(|place| place >> shift)
    }

    /// The number of a cell.
    #[inline(always)]
    fn number(&self, [x, y]: [u32; 2]) -> u32 {
        y << self.level | x
    }
}

/// Writes where the points of a cell start and end, if the point at place `i` is the first or last of its cell.
#[kernel(
    requires(starts.len() == 1 << 2 * grid.level, ends.len() == starts.len()),
    moves(sorted.bytes())
)]
pub fn find_cells(
    i: Own<Place>,
    sorted: In<DVec2, Place>,
    grid: Grid,
    starts: Scatter<u32>,
    ends: Scatter<u32>,
) {
    let place = i.get().index();
    let cell = grid.number(grid.cell(sorted.at(i)));
    let differs = |other: Option<DVec2>| other.is_none_or(|p| grid.number(grid.cell(p)) != cell);
    let before = match place {
        0 => None,
        _ => sorted.get(Place::new(place - 1)),
    };
    if differs(before) {
        starts.set(cell, place);
    }
    if differs(sorted.get(Place::new(place + 1))) {
        ends.set(cell, place + 1);
    }
}

/// Least area of a parallelogram whose products of three lengths keep their digits.
const SMALLEST: f64 = 1e-180;
/// Largest extent of points of which products of four lengths are finite.
pub const LARGEST: f64 = 1e75;

/// A circle that holds that of a triangle; relative to the star's point, which lies on it.
#[derive(Clone, Copy)]
struct Circle {
    centre: DVec2,
    /// Squared radius, enlarged.
    radius_squared: f64,
}

impl Circle {
    /// Around the origin, a and b, which run counter-clockwise.
    #[inline(always)]
    fn new(a: DVec2, b: DVec2) -> Self {
        let (a2, b2) = (a.x * a.x + a.y * a.y, b.x * b.x + b.y * b.y);
        let (left, right) = (a.x * b.y, a.y * b.x);
        let area = left - right;
        let inverse = 0.5 / area;
        let centre = DVec2::new(
            (b.y * a2 - a.y * b2) * inverse,
            (a.x * b2 - b.x * a2) * inverse,
        );
        // A flat triangle's circle is everywhere, as is one whose squares underflow.
        let is_round = area.abs() > 1e-6 * (left.abs() + right.abs()) + SMALLEST;
        if !is_round {
            return Self {
                centre,
                radius_squared: f64::INFINITY,
            };
        }
        // Each of the sums is rounded relative to the sum of its terms' magnitudes by some units of 2^-53, and the area
        // relative to itself by a million times more: 2e-9 of the magnitudes is more than twice the centre's error.
        let magnitude = (b.y.abs() + b.x.abs()) * a2 + (a.x.abs() + a.y.abs()) * b2;
        let error = 2e-9 * magnitude * inverse.abs();
        let squared = centre.x * centre.x + centre.y * centre.y;
        // (|c| + e)^2 without its root.
        let more = (2.0 * (centre.x.abs() + centre.y.abs()) + error) * error;
        Self {
            centre,
            radius_squared: squared * (1.0 + 1e-9) + more,
        }
    }

    /// Whether a box, relative to the star's point, meets the circle.
    #[inline(always)]
    fn meets(&self, low: DVec2, high: DVec2) -> bool {
        let beyond = |low: f64, high: f64, at: f64| {
            let below = low - at;
            let above = at - high;
            let most = if below > above { below } else { above };
            if most > 0.0 { most } else { 0.0 }
        };
        let x = beyond(low.x, high.x, self.centre.x);
        let y = beyond(low.y, high.y, self.centre.y);
        x * x + y * y <= self.radius_squared
    }

    /// Whether a point, relative to the star's, may lie within.
    #[inline(always)]
    fn may_hold(&self, point: DVec2) -> bool {
        let apart = point - self.centre;
        apart.x * apart.x + apart.y * apart.y <= self.radius_squared
    }
}

/// Why a star is not made.
#[derive(Clone, Copy, PartialEq)]
enum End {
    /// The filter did not decide.
    Unsure,
    /// The point is hard.
    Hard,
}

/// A star: neighbours counter-clockwise around its point; triangle i has neighbours i and i + 1.
struct Star {
    centre: DVec2,
    count: usize,
    /// Places of the neighbours; `NONE` for far points.
    places: [Place; RING],
    points: [DVec2; RING],
    circles: [Circle; RING],
}

/// Keeps an index within the arrays for the compiler.
const MASK: usize = RING - 1;

impl Star {
    /// A star of four points at distance `far`.
    #[inline(always)]
    fn new(centre: DVec2, far: f64) -> Self {
        let none = Circle {
            centre: DVec2::ZERO,
            radius_squared: 0.0,
        };
        let mut star = Self {
            centre,
            count: 4,
            places: [Place::NONE; RING],
            points: [DVec2::ZERO; RING],
            circles: [none; RING],
        };
        star.points[0] = centre + DVec2::new(far, 0.0);
        star.points[1] = centre + DVec2::new(0.0, far);
        star.points[2] = centre - DVec2::new(far, 0.0);
        star.points[3] = centre - DVec2::new(0.0, far);
        let mut i = 0;
        while i < 4 {
            star.draw(i);
            i += 1;
        }
        star
    }

    /// Makes the circle of triangle `i`.
    #[inline(always)]
    fn draw(&mut self, i: usize) {
        let next = if i + 1 == self.count { 0 } else { i + 1 };
        let (a, b) = (self.points[i & MASK], self.points[next & MASK]);
        self.circles[i & MASK] = Circle::new(a - self.centre, b - self.centre);
    }

    /// Moves neighbour and triangle `from` to `to`.
    #[inline(always)]
    fn shift(&mut self, from: usize, to: usize) {
        let (from, to) = (from & MASK, to & MASK);
        self.places[to] = self.places[from];
        self.points[to] = self.points[from];
        self.circles[to] = self.circles[from];
    }

    /// Whether `point` is within the circle of triangle `i`; `None` if the filter does not decide it.
    #[inline(always)]
    fn holds<const EXACT: bool>(&self, i: usize, point: DVec2) -> Option<bool> {
        if !self.circles[i & MASK].may_hold(point - self.centre) {
            return Some(false);
        }
        let next = if i + 1 == self.count { 0 } else { i + 1 };
        let (a, b) = (self.points[i & MASK], self.points[next & MASK]);
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
        let mut within = 0u32;
        let mut i = 0;
        while i < self.count {
            match self.holds::<EXACT>(i, point) {
                Some(holds) => within |= u32::from(holds) << i,
                None => return Err(End::Unsure),
            }
            i += 1;
        }
        if within == 0 {
            return Ok(());
        }
        let count = self.count;
        if within.count_ones() as usize == count {
            return Err(End::Hard);
        }
        // Triangles whose circle holds the point follow each other: the first of them, and how many.
        let removed = within.count_ones() as usize;
        let last = count - 1;
        let first = match within & 1 != 0 && within >> last & 1 != 0 {
            // They go over the end: after the last that is kept.
            true => 32 - (!within & ((1u32 << count) - 1)).leading_zeros() as usize,
            false => within.trailing_zeros() as usize,
        };
        if first + removed <= count {
            let at = first + 1;
            if removed == 1 {
                if count == RING {
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
    fn put(&mut self, at: usize, place: Place, point: DVec2) {
        self.places[at & MASK] = place;
        self.points[at & MASK] = point;
        self.draw(at - 1);
        self.draw(at);
    }

    /// Square of the largest radius.
    #[inline(always)]
    fn largest(&self) -> f64 {
        let mut largest = 0.0;
        let mut i = 0;
        while i < self.count {
            let radius = self.circles[i & MASK].radius_squared;
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
            far |= self.places[i & MASK] == Place::NONE;
            i += 1;
        }
        far
    }

    /// Whether a box, relative to the star's point, meets a circle.
    #[inline(always)]
    fn meets(&self, low: DVec2, high: DVec2) -> bool {
        let mut i = 0;
        while i < self.count {
            if self.circles[i & MASK].meets(low, high) {
                return true;
            }
            i += 1;
        }
        false
    }
}

/// Points in the order of their ranks, and the cells that they lie in.
#[derive(trioxide_kernel::safe::Group)]
pub struct Cells<'a> {
    /// The points.
    pub sorted: In<'a, DVec2, Place>,
    /// Where the points of a cell start.
    pub starts: In<'a, u32>,
    /// Where they end.
    pub ends: In<'a, u32>,
    /// The cells.
    pub grid: Grid,
}

/// Looks at the points of cells around the star's own; ends when the star is complete.
#[inline(always)]
fn complete<const EXACT: bool>(star: &mut Star, own: Place, cells: Cells) -> Result<(), End> {
    let grid = cells.grid;
    let [x, y] = grid.cell(star.centre);
    let side = 1u32 << grid.level;
    let origin = grid.low - star.centre;
    let mut ring = 0u32;
    while ring <= FURTHEST {
        if ring > 1 {
            // Cells of this ring and beyond are further away than this.
            let reach = f64::from(ring - 1) * grid.width - grid.margin;
            // A circle through the star's point reaches twice its radius.
            if reach > 0.0 && 4.0 * star.largest() < reach * reach {
                break;
            }
            if ring > NEAR && star.has_far() {
                return Err(End::Hard);
            }
        }
        // Four sides of the ring; the point's own cell is one.
        let length = if ring == 0 { 1 } else { 2 * ring };
        let sides = if ring == 0 { 1 } else { 4 };
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
                let corner = |c: u32, r: u32| {
                    origin + DVec2::new(f64::from(c) * grid.width, f64::from(r) * grid.width)
                };
                let margin = DVec2::new(grid.margin, grid.margin);
                if ring > 0
                    && !star.meets(
                        corner(column, row) - margin,
                        corner(column + 1, row + 1) + margin,
                    )
                {
                    continue;
                }
                let cell = grid.number([column, row]);
                let (mut i, end) = (cells.starts.at(cell), cells.ends.at(cell));
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

/// Makes the star of a point: that at place `i`, or number i of `list`, where there is one. Whether the filter did not
/// decide: then the star needs exact arithmetic.
///
/// `degrees` gets the number of neighbours, 0 of a hard point; `stars` the neighbours' places, [`RING`] for each place.
#[kernel(
    EXACT in [false, true],
    requires(stars.len() == RING * degrees.len(), cells.sorted.len() == degrees.len(), list.is_empty() || list.len() == n),
    moves(cells.sorted.bytes() + list.bytes() + 28 * n)
)]
pub fn build_stars<const EXACT: bool>(
    i: Own<Item>,
    list: In<Place>,
    cells: Cells,
    degrees: Scatter<u32, Place>,
    stars: Scatter<Place>,
) -> bool {
    let own = match list.is_empty() {
        true => Place::new(i.get().index()),
        false => list.at(i.get().index()),
    };
    let mut star = Star::new(cells.sorted.at(own), cells.grid.far);
    let end = complete::<EXACT>(&mut star, own, cells);
    if end.is_err() {
        degrees.set(own, 0);
        return end == Err(End::Unsure);
    }
    degrees.set(own, star.count as u32);
    let mut k = 0;
    while k < star.count {
        stars.set(RING as u32 * own.index() + k as u32, star.places[k & MASK]);
        k += 1;
    }
    false
}

/// Whether the point at place `i` has no star.
#[kernel(requires(degrees.len() == n), moves(degrees.bytes()))]
pub fn find_hard_points(i: Own<Place>, degrees: In<u32, Place>) -> bool {
    degrees.at(i) == 0
}
