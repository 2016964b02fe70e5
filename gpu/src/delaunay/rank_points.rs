//! The rank of each point: its place in an order along a Hilbert curve, which coordinates alone decide.
//!
//! The square around the points has 2^32 columns and rows. A point's *key* is the number of its cell along the curve.
//! Points are ranked by their keys, then x, then y.

use bytemuck::{Pod, Zeroable};
use glam::DVec2;
use trioxide_kernel::kernel;
use trioxide_kernel::rows::rank_in;
use trioxide_kernel::safe::{Atomic, In, Out, Own, Scatter};

use crate::ids::{Place, Vertex};
use crate::point::{Planar, Point2};
use crate::smooth::ordered_bits;

/// The square that is divided into cells. Halves, since the width of all coordinates that a f64 holds overflows.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub struct Frame {
    /// Half of the lowest coordinates.
    pub low: DVec2,
    /// Cells of a half unit of length.
    pub scale: f64,
    /// No meaning.
    pub padding: f64,
}

impl trioxide_kernel::Scalar for Frame {}

impl Frame {
    /// The frame of points between `low` and `high`.
    pub fn new(low: DVec2, high: DVec2) -> Self {
        let low = 0.5 * low;
        let extent = 0.5 * high - low;
        let extent = if extent.x > extent.y {
            extent.x
        } else {
            extent.y
        };
        // Of points at one place, and of such as lie next to each other around 0, the scale is infinite: every cell is
        // the first or the last.
        Self {
            low,
            scale: f64::from(u32::MAX) / extent,
            padding: 0.0,
        }
    }

    /// Column and row of a point.
    #[inline(always)]
    pub fn cell(&self, point: DVec2) -> [u32; 2] {
        let [x, y] = [
            (0.5 * point.x - self.low.x) * self.scale,
            (0.5 * point.y - self.low.y) * self.scale,
        ];
        [x as u32, y as u32]
    }
}

/// The number of a cell along the Hilbert curve of 2^32 columns and rows.
#[inline(always)]
pub(crate) fn along_curve([mut x, mut y]: [u32; 2]) -> u64 {
    let mut key = 0;
    let mut bit = 32;
    while bit > 0 {
        bit -= 1;
        let (right, up) = (x >> bit & 1, y >> bit & 1);
        key = key << 2 | u64::from((3 * right) ^ up);
        // Lower quadrants are mirrored at a diagonal; higher bits are not read again.
        if up == 0 {
            let flip = 0u32.wrapping_sub(right);
            (x, y) = (y ^ flip, x ^ flip);
        }
    }
    key
}

/// Words of the ranking, the least significant first.
pub mod word {
    /// Words of y.
    pub const Y: u32 = 0;
    /// Words of x.
    pub const X: u32 = 2;
    /// Words of the key.
    pub const KEY: u32 = 4;
    /// Number of words.
    pub const COUNT: u32 = 6;
}

/// Word `word` of the ranking of the point at place `i` of `order`, or point i where there is no order yet.
#[kernel(
    P in Planar,
    requires(words.len() == n, order.is_empty() || order.len() == n),
    moves(order.bytes() + points.bytes() + words.bytes())
)]
pub fn read_ranking<P: Point2>(
    i: Own<Place>,
    order: In<Vertex>,
    points: In<P, Vertex>,
    frame: Frame,
    word: u32,
    words: Out<u32, Place>,
) {
    let v = match order.is_empty() {
        true => Vertex::new(i.get().index()),
        false => order.at(i.get().index()),
    };
    let p = points.at(v).to_f64();
    let value = match word / 2 {
        // 0 and -0 are equal.
        0 => ordered_bits(p.y + 0.0),
        1 => ordered_bits(p.x + 0.0),
        _ => along_curve(frame.cell(p)),
    };
    words.set(i, (value >> (word % 2 * 32)) as u32);
}

/// Order `second` after order `first`.
#[kernel(requires(second.len() == n, joined.len() == n), moves(first.bytes() + second.bytes() + joined.bytes()))]
pub fn join_orders(
    i: Own<Place>,
    first: In<Vertex, Place>,
    second: In<Place, Place>,
    joined: Out<Vertex, Place>,
) {
    joined.set(i, first.at(second.at(i)));
}

/// Whether the point at place `i` is the first of its equals.
#[kernel(requires(sorted.len() == n), moves(sorted.bytes()))]
pub fn find_firsts(i: Own<Place>, sorted: In<DVec2, Place>) -> bool {
    let place = i.get().index();
    place == 0 || sorted.at(Place::new(place - 1)) != sorted.at(i)
}

/// Writes the first of its equals for the vertex at place `i`. `firsts` has these first vertices in the order of their
/// places, and `ranks` counts the places that have one ([`rank_of()`](trioxide_kernel::rows::rank_of())).
#[kernel(
    requires(order.len() == n),
    moves(2 * order.bytes() + ranks.bytes() + firsts.bytes())
)]
pub fn map_to_firsts(
    i: Own<Place>,
    order: In<Vertex, Place>,
    ranks: In<u32>,
    firsts: In<Vertex>,
    map: Scatter<Vertex, Vertex>,
) {
    let pair = ranks.pair(i.get().index() / 32 * 2);
    let is_first = pair[0] >> (i.get().index() % 32) & 1;
    map.set(order.at(i), firsts.at(rank_in(pair, *i) + is_first - 1));
}

/// Slots of the result of [`check_order()`].
pub mod order_rule {
    /// The lowest vertex that is equal to one before it.
    pub const EQUAL: u32 = 0;
    /// 0 if more points share a word of their keys than a lane orders: they need an order by all words.
    pub const UNORDERED: u32 = 1;
    /// Number of slots.
    pub const COUNT: usize = 2;
}

/// Most points that lanes order alone.
const RUN: u32 = 16;

/// Whether the point p comes before q, in the order of the ranks.
#[inline(always)]
fn is_before(frame: Frame, p: DVec2, q: DVec2) -> bool {
    let (key, other) = (along_curve(frame.cell(p)), along_curve(frame.cell(q)));
    key < other || key == other && (p.x < q.x || p.x == q.x && p.y < q.y)
}

/// Orders points that are ordered by the first word of their keys alone: the lane of the first point with a word orders
/// all that have it, up to [`RUN`]. Takes them in double precision.
#[kernel(
    P in Planar,
    requires(order.len() == n, settled.len() == n, sorted.len() == 2 * n, found.len() == order_rule::COUNT),
    moves(2 * order.bytes() + points.bytes() + sorted.bytes())
)]
pub fn settle_order<P: Point2>(
    i: Own<Place>,
    order: In<Vertex, Place>,
    points: In<P, Vertex>,
    frame: Frame,
    settled: Scatter<Vertex, Place>,
    sorted: Scatter<f64>,
    found: Atomic,
) {
    let first = i.get().index();
    let vertex = |place: u32| order.at(Place::new(place));
    let point = |place: u32| points.at(vertex(place)).to_f64();
    // The cells that share the first word of their keys.
    let word = |place: u32| frame.cell(point(place)).map(|cell| cell >> 16);
    let own = word(first);
    if first > 0 && word(first - 1) == own {
        return;
    }
    let mut end = first + 1;
    while end < order.len() && end - first <= RUN && word(end) == own {
        end += 1;
    }
    if end - first > RUN {
        found.min(order_rule::UNORDERED, 0);
        return;
    }
    let mut j = first;
    while j < end {
        let (v, p) = (vertex(j), point(j));
        let mut place = first;
        let mut k = first;
        while k < end && end - first > 1 {
            let q = point(k);
            if k < j && p == q {
                found.min(order_rule::EQUAL, v.index());
            }
            let is_after = k != j && (is_before(frame, q, p) || k < j && p == q);
            place += u32::from(is_after);
            k += 1;
        }
        settled.set(Place::new(place), v);
        sorted.set(2 * place, p.x);
        sorted.set(2 * place + 1, p.y);
        j += 1;
    }
}

/// Compares the point at place `i` with the one before, and takes it in double precision.
#[kernel(
    P in Planar,
    requires(order.len() == n, sorted.len() == n, found.len() == order_rule::COUNT),
    moves(order.bytes() + points.bytes() + sorted.bytes())
)]
pub fn check_order<P: Point2>(
    i: Own<Place>,
    order: In<Vertex, Place>,
    points: In<P, Vertex>,
    sorted: Out<DVec2, Place>,
    found: Atomic,
) {
    let v = order.at(i);
    let p = points.at(v).to_f64();
    sorted.set(i, p);
    if i.get().index() == 0 {
        return;
    }
    let before = points
        .at(order.at(Place::new(i.get().index() - 1)))
        .to_f64();
    if before == p {
        found.min(order_rule::EQUAL, v.index());
    }
}
