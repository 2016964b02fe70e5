//! The points of a square of cells around a star's point, for [`wrap_stars()`](super::wrap_stars()): relative to it, in
//! widths of cells, turned, in rows of [`WIDTH`].
//!
//! Several passes look at them. A device makes them anew in each pass, since registers and shared memory limit the
//! number of its lanes. A CPU keeps them.

use glam::{DVec2, Vec2};
use trioxide_kernel::wide::{Mask, WIDTH, Wide};
#[cfg(not(target_arch = "nvptx64"))]
use trioxide_kernel::{Each, List};

use super::stars::{Cells, Grid};
use crate::ids::Place;
#[cfg(target_arch = "nvptx64")]
pub(super) use device::{Near, Outermost};
#[cfg(not(target_arch = "nvptx64"))]
pub(super) use host::{Near, Outermost};

/// Most points of a square of cells.
const MOST_POINTS: u32 = 256;
/// Tangent of the angle by which the plane is turned: lattices have no two outermost points in such a direction.
pub(super) const TURN: f32 = 0.3;

/// The cells around a point.
#[derive(Clone, Copy)]
pub(super) struct Square {
    /// The first column and row.
    first: [u32; 2],
    /// Number of columns and of rows.
    count: [u32; 2],
    /// Lowest and highest coordinates, relative to the point, in widths of cells: no point elsewhere lies between.
    pub low: Vec2,
    pub high: Vec2,
}

impl Square {
    /// `reach` cells to each side of the cell of `point`.
    #[inline(always)]
    pub fn new(point: DVec2, reach: u32, inverse_width: f64, grid: Grid) -> Self {
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
    pub fn is_cut(&self, reach: u32) -> bool {
        self.count[0] <= 2 * reach || self.count[1] <= 2 * reach
    }

    /// Where the points of a cell start and end.
    #[inline(always)]
    fn range(&self, cells: Cells, column: u32, row: u32) -> [u32; 2] {
        let cell = [self.first[0] + column, self.first[1] + row];
        cells.ranges.at(cells.grid.number(cell))
    }
}

/// The star's point.
#[derive(Clone, Copy)]
pub(super) struct Own {
    pub place: Place,
    pub point: DVec2,
    pub inverse_width: f64,
}

impl Own {
    /// A point relative to this one, in widths of cells.
    #[inline(always)]
    fn apart(&self, point: DVec2) -> [f32; 2] {
        let apart = (point - self.point) * self.inverse_width;
        [apart.x as f32, apart.y as f32]
    }
}

/// Looks at points.
pub(super) trait Pass {
    /// Looks at a row of them.
    fn look(&mut self, row: Row);
}

/// A row of points.
#[derive(Clone, Copy)]
pub(super) struct Row {
    /// Relative to the star's, turned.
    pub x: Wide,
    pub y: Wide,
    /// The squared distances; infinity of the star's own point.
    pub squared: Wide,
    /// The first point's number.
    #[cfg(not(target_arch = "nvptx64"))]
    number: u32,
    #[cfg(target_arch = "nvptx64")]
    place: Place,
}

/// Turns points.
#[inline(always)]
fn turn([x, y]: [Wide; 2]) -> [Wide; 2] {
    let tangent = Wide::splat(TURN);
    [x + tangent * y, y - tangent * x]
}

#[inline(always)]
fn squared([x, y]: [Wide; 2]) -> Wide {
    x * x + y * y
}

impl Row {
    /// The inverted points.
    #[inline(always)]
    pub fn inverted(&self) -> [Wide; 2] {
        let inverse = Wide::splat(1.0) / self.squared;
        [self.x * inverse, self.y * inverse]
    }
}

#[cfg(not(target_arch = "nvptx64"))]
mod host {
    use super::*;

    /// Of points that are no neighbours: their squared distance is infinite.
    const FAR: f32 = 1e30;
    /// Points that are read at a time.
    const AT_ONCE: usize = 2 * WIDTH;
    /// Room of a square's points.
    const ROOM: usize = MOST_POINTS as usize + AT_ONCE;
    /// Bits of the number of a row.
    const ROW_BITS: u32 = (MOST_POINTS / WIDTH as u32).ilog2();

    /// The points of a square.
    pub struct Near<'a> {
        square: Square,
        cells: Cells<'a>,
        own: Own,
        /// Number of points.
        count: u32,
        /// A point's place less its number.
        lacks: List<u32, ROOM>,
        /// Relative to the star's point, whose own place is far, and turned; and as many far ones as a row needs.
        x: List<f32, ROOM>,
        y: List<f32, ROOM>,
    }

    /// The outermost of inverted points in eight directions: how far out they are, in two opposite directions each.
    /// The lowest bits are the number of a point's row.
    pub struct Outermost {
        most: [Wide; 4],
        least: [Wide; 4],
    }

    impl Outermost {
        #[inline(always)]
        pub fn new() -> Self {
            Self {
                most: [Wide::splat(0.0); 4],
                least: [Wide::splat(0.0); 4],
            }
        }

        /// Adds the inverted points of a row.
        #[inline(always)]
        pub fn add(&mut self, row: Row, [x, y]: [Wide; 2]) {
            let out = [x, x + y, y, y - x];
            let mut k = 0;
            while k < 4 {
                let out = out[k].with_low_bits(ROW_BITS, row.number / WIDTH as u32);
                self.most[k] = self.most[k].larger(out);
                self.least[k] = self.least[k].smaller(out);
                k += 1;
            }
        }
    }

    impl<'a> Near<'a> {
        #[inline(always)]
        pub fn new(square: Square, cells: Cells<'a>, own: Own) -> Self {
            Self {
                square,
                cells,
                own,
                count: 0,
                lacks: List::new(),
                x: List::new(),
                y: List::new(),
            }
        }

        /// Reads the points. Returns whether they are not too many.
        #[inline(always)]
        pub fn read(&mut self) -> bool {
            let (square, cells, own) = (self.square, self.cells, self.own);
            let (mut known, mut own_number, mut row) = (0, 0, 0);
            while row < square.count[1] {
                let mut column = 0;
                while column < square.count[0] {
                    let [start, end] = square.range(cells, column, row);
                    let count = end - start;
                    if count > MOST_POINTS - known {
                        return false;
                    }
                    let mut i = 0;
                    loop {
                        self.write(known + i, start + i);
                        i += AT_ONCE as u32;
                        if i >= count {
                            break;
                        }
                    }
                    let after = own.place.index().wrapping_sub(start);
                    own_number = if after < count {
                        known + after
                    } else {
                        own_number
                    };
                    known += count;
                    column += 1;
                }
                row += 1;
            }
            self.count = known;
            self.x.write(known, [FAR; WIDTH]);
            self.y.write(known, [FAR; WIDTH]);
            self.x.set(own_number, FAR);
            self.y.set(own_number, FAR);
            true
        }

        /// Writes the points at [`AT_ONCE`] places from `place` on, as far as there are any.
        #[inline(always)]
        fn write(&mut self, number: u32, place: u32) {
            let (sorted, own) = (self.cells.sorted, self.own);
            let (last, room) = (
                sorted.len() - 1,
                sorted.len().saturating_sub(AT_ONCE as u32),
            );
            let [a, b] = match place < room {
                true => [0, WIDTH as u32].each(|k| sorted.four(Place::new(place + k))),
                false => [0, WIDTH].each(|first| {
                    core::array::from_fn(|k| {
                        let place = place + (first + k) as u32;
                        sorted.at(Place::new(if place < last { place } else { last }))
                    })
                }),
            };
            let row = |points: [DVec2; WIDTH]| {
                turn(Wide::unzip(points.each(|point| own.apart(point)))).each(Wide::to_array)
            };
            let ([a, b], [c, d]) = (row(a), row(b));
            let both =
                |a: [f32; WIDTH], b: [f32; WIDTH]| {
                    core::array::from_fn::<_, AT_ONCE, _>(|k| {
                        if k < WIDTH { a[k] } else { b[k - WIDTH] }
                    })
                };
            self.x.write(number, both(a, c));
            self.y.write(number, both(b, d));
            self.lacks
                .write(number, [place.wrapping_sub(number); AT_ONCE]);
        }

        /// The place of a point.
        #[inline(always)]
        fn place(&self, number: u32) -> Place {
            Place::new(number.wrapping_add(self.lacks.at(number)))
        }

        /// Gives all points to a pass.
        #[inline(always)]
        pub fn each(&self, pass: &mut impl Pass) {
            let mut number = 0;
            while number < self.count {
                pass.look(self.row(number));
                number += WIDTH as u32;
            }
        }

        /// The points from a number on.
        #[inline(always)]
        fn row(&self, number: u32) -> Row {
            let at = [&self.x, &self.y].each(|list| Wide::new(list.run::<WIDTH>(number)));
            Row {
                x: at[0],
                y: at[1],
                squared: squared(at),
                number,
            }
        }

        /// Gives all points but points that `omits` flags, and the inverted points.
        #[inline(always)]
        pub fn each_but(&self, omits: impl Fn(Row) -> Mask, mut put: impl FnMut(Place, Vec2)) {
            // A CPU could not predict branches on the flags.
            let mut others = List::<u32, ROOM>::new();
            let (mut number, mut count) = (0, 0);
            while number < self.count {
                let row = self.row(number);
                let is_far = row.squared.is_above(Wide::splat(f32::MAX)).bits();
                let (places, known) = FLAGGED[(!(omits(row).bits() | is_far) & 15) as usize];
                others.write(count, places.each(|place| number + place));
                count += known;
                number += WIDTH as u32;
            }
            let mut i = 0;
            while i < count {
                let number = others.at(i);
                put(self.place(number), self.inverted(number));
                i += 1;
            }
        }

        /// The outermost inverted points, counter-clockwise; `None` if there is none on a side of the star's point.
        #[inline(always)]
        pub fn outermost(&self, outermost: &Outermost) -> Option<[Vec2; 8]> {
            let (mut x, mut y) = ([0.0; 8], [0.0; 8]);
            let mut k = 0;
            while k < 8 {
                let out = match k < 4 {
                    true => outermost.most[k],
                    false => Wide::splat(0.0) - outermost.least[k - 4],
                };
                let most = out.largest();
                if most <= f32::MIN_POSITIVE {
                    return None;
                }
                let place = Wide::splat(most).is_above(out).bits().trailing_ones() as usize % WIDTH;
                let row = most.to_bits() & ((1 << ROW_BITS) - 1);
                let number = WIDTH as u32 * row + place as u32;
                (x[k], y[k]) = (self.x.at(number), self.y.at(number));
                k += 1;
            }
            let mut inverted = [Vec2::ZERO; 8];
            k = 0;
            while k < 8 {
                let at = [x, y].each(|all| Wide::new(core::array::from_fn(|l| all[k + l])));
                let inverse = Wide::splat(1.0) / squared(at);
                let [x, y] = at.each(|at| (at * inverse).to_array());
                let mut l = 0;
                while l < WIDTH {
                    inverted[k + l] = Vec2::new(x[l], y[l]);
                    l += 1;
                }
                k += WIDTH;
            }
            Some(inverted)
        }

        #[inline(always)]
        fn inverted(&self, i: u32) -> Vec2 {
            let (x, y) = (self.x.at(i), self.y.at(i));
            Vec2::new(x, y) * (1.0 / (x * x + y * y))
        }
    }

    /// The places of set flags, of four, and how many are set.
    static FLAGGED: [([u32; WIDTH], u32); 1 << WIDTH] = {
        let mut all = [([0; WIDTH], 0); 1 << WIDTH];
        let mut flags = 0;
        while flags < all.len() {
            let (mut place, mut count) = (0, 0);
            while place < WIDTH {
                if flags >> place & 1 != 0 {
                    all[flags].0[count] = place as u32;
                    count += 1;
                }
                place += 1;
            }
            all[flags].1 = count as u32;
            flags += 1;
        }
        all
    };
}

#[cfg(target_arch = "nvptx64")]
mod device {
    use super::*;

    /// The points of a square.
    pub struct Near<'a> {
        square: Square,
        cells: Cells<'a>,
        own: Own,
    }

    /// The outermost of inverted points in eight directions, counter-clockwise, and how far out they are.
    pub struct Outermost {
        out: [Wide; 8],
        inverted: [[Wide; 2]; 8],
    }

    impl Outermost {
        #[inline(always)]
        pub fn new() -> Self {
            Self {
                out: [Wide::splat(0.0); 8],
                inverted: [[Wide::splat(0.0); 2]; 8],
            }
        }

        /// Adds an inverted point.
        #[inline(always)]
        pub fn add(&mut self, _: Row, [x, y]: [Wide; 2]) {
            let (sum, difference) = (x + y, y - x);
            let zero = Wide::splat(0.0);
            let out = [
                x,
                sum,
                y,
                difference,
                zero - x,
                zero - sum,
                zero - y,
                zero - difference,
            ];
            let mut k = 0;
            while k < 8 {
                let is_further = out[k].is_above(self.out[k]);
                let [a, b] = self.inverted[k];
                self.inverted[k] = [is_further.select(x, a), is_further.select(y, b)];
                self.out[k] = self.out[k].larger(out[k]);
                k += 1;
            }
        }
    }

    /// A pass of [`Near::each_but`].
    struct But<O, P> {
        own: Place,
        omits: O,
        put: P,
    }

    impl<O: Fn(Row) -> Mask, P: FnMut(Place, Vec2)> Pass for But<O, P> {
        #[inline(always)]
        fn look(&mut self, row: Row) {
            if (self.omits)(row).bits() == 0 && row.place != self.own {
                let [x, y] = row.inverted();
                (self.put)(row.place, Vec2::new(x.largest(), y.largest()));
            }
        }
    }

    impl<'a> Near<'a> {
        #[inline(always)]
        pub fn new(square: Square, cells: Cells<'a>, own: Own) -> Self {
            Self { square, cells, own }
        }

        /// Returns whether the points are not too many.
        #[inline(always)]
        pub fn read(&mut self) -> bool {
            let Self { square, cells, .. } = *self;
            let (mut points, mut row) = (0u32, 0);
            while row < square.count[1] {
                let mut column = 0;
                while column < square.count[0] {
                    let [start, end] = square.range(cells, column, row);
                    points = points.saturating_add(end - start);
                    column += 1;
                }
                row += 1;
            }
            points <= MOST_POINTS
        }

        /// Gives all points to a pass.
        #[inline(always)]
        pub fn each(&self, pass: &mut impl Pass) {
            let mut row = 0;
            while row < self.square.count[1] {
                let mut column = 0;
                while column < self.square.count[0] {
                    let [mut i, end] = self.square.range(self.cells, column, row);
                    while i < end {
                        let place = Place::new(i);
                        let at = turn(Wide::unzip([self.own.apart(self.cells.sorted.at(place))]));
                        let squared = match place == self.own.place {
                            true => Wide::splat(f32::INFINITY),
                            false => squared(at),
                        };
                        let [x, y] = at;
                        pass.look(Row {
                            x,
                            y,
                            squared,
                            place,
                        });
                        i += 1;
                    }
                    column += 1;
                }
                row += 1;
            }
        }

        /// Gives all points but points that `omits` flags, and the inverted points.
        #[inline(always)]
        pub fn each_but(&self, omits: impl Fn(Row) -> Mask, put: impl FnMut(Place, Vec2)) {
            self.each(&mut But {
                own: self.own.place,
                omits,
                put,
            });
        }

        /// The outermost inverted points, counter-clockwise; `None` if there is none on a side of the star's point.
        #[inline(always)]
        pub fn outermost(&self, outermost: &Outermost) -> Option<[Vec2; 8]> {
            let (mut k, mut are_out) = (0, true);
            while k < 8 {
                are_out &= outermost.out[k].largest() > 0.0;
                k += 1;
            }
            let vector = |[x, y]: [Wide; 2]| Vec2::new(x.largest(), y.largest());
            are_out.then(|| outermost.inverted.map(vector))
        }
    }
}
