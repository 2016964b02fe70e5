//! Numbers of the vertices in the quadrics (Hoppe, New quadric metric for simplifying meshes with appearance
//! attributes, 1999): colours, texture coordinates, normals.
//!
//! Over a triangle of area w a number is a linear function with gradient g. A vertex at x with the value s differs from
//! it by g x + d - s, where d is the function's value at the vertex minus the vertex's own. The quadric of the vertex
//! has the sum of w λ² (g x + d - s)² over its triangles, for each of its numbers with a weight λ: the terms without s
//! are in the matrix, the vector and the constant of [`Quadric`], which share them with the planes; s has the factor of
//! all areas; so a number needs the sums of w g and of w d alone. For given x the sum is least at s = (Σ w g x + Σ w d)
//! / Σ w, and with this s it is a quadric of x again.
//!
//! Values are relative to that of the vertex, as positions are: d is zero at first.

use bytemuck::{Pod, Zeroable};
use glam::DVec3;
use trioxide_kernel::{Each, In, Out, Scalar, kernel};

use super::copies::Sides;
use super::costs::{Known, Rules, collapse_between, ends_of};
use super::fans::{Corners, Fans, mark};
use super::quadric::{Collapse, End, Quadric, collapse_by, merged};
use super::sites::Site;
use crate::ids::Vertex;
use crate::smooth::root;

/// The share of the trace that is added to the diagonal of the matrix from which values are eliminated: the rounding of
/// the difference is below it.
const ROUNDING: f64 = 1e-12;

/// How a number counts.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Channel {
    /// The square of its weight: of the distance, in units, that a difference of 1 counts as. Zero for a number that
    /// does not count, and is fitted alone.
    pub square: f64,
    /// The least value that a vertex may get.
    pub least: f64,
    /// The largest value.
    pub most: f64,
}

impl Scalar for Channel {}

/// A number of a vertex.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Trend {
    /// Its value, from which the other numbers of the trend are measured.
    pub value: f64,
    /// The sum of the gradients over the triangles, weighted by area.
    pub slope: [f64; 3],
    /// The sum of the values at the vertex of the triangles' functions, weighted by area.
    pub offset: f64,
}

impl Scalar for Trend {}

impl Trend {
    #[inline(always)]
    fn slope(&self) -> DVec3 {
        DVec3::from_array(self.slope)
    }

    /// The sum of the triangles' differences from `value`, weighted by `area`, at `d` from the vertex.
    #[inline(always)]
    fn lack(&self, value: f64, d: DVec3, area: f64) -> f64 {
        self.offset + self.slope().dot(d) - (value - self.value) * area
    }

    /// The part of the quadric at `d` from the vertex that depends on the `value` there, without its weight.
    #[inline(always)]
    fn cost(&self, value: f64, d: DVec3, area: f64) -> f64 {
        let step = value - self.value;
        step * (step * area - 2.0 * (self.offset + self.slope().dot(d)))
    }
}

/// The ends of an edge, the lower one first.
pub(super) struct Pair {
    ends: [End; 2],
    locked: [bool; 2],
    sides: [Side; 2],
    /// 1, or 2 at a seam.
    count: u32,
}

/// The vertices along an edge that become one, with the areas of their quadrics.
#[derive(Clone, Copy)]
struct Side {
    ids: [Vertex; 2],
    areas: [f64; 2],
}

impl Pair {
    /// Without seams each end is one vertex.
    #[inline(always)]
    pub(super) fn of(u: &Known, v: &Known) -> Self {
        let ids = if u.id < v.id {
            [u.id, v.id]
        } else {
            [v.id, u.id]
        };
        let ends = ends_of(u, v);
        let areas = [ends[0].quadric.area, ends[1].quadric.area];
        let side = Side { ids, areas };
        Self::along(u, v, ends, [side; 2], 1)
    }

    /// With the copies along the edge, whose quadrics have these areas.
    #[inline(always)]
    pub(super) fn at_seam(
        u: &Known,
        v: &Known,
        sides: Sides,
        area: impl Fn(Vertex) -> f64,
    ) -> Self {
        let [p, q] = sides.pairs.each(|ids| Side {
            ids,
            areas: ids.each(&area),
        });
        Self::along(u, v, ends_of(u, v), [p, q], sides.count)
    }

    #[inline(always)]
    fn along(u: &Known, v: &Known, ends: [End; 2], sides: [Side; 2], count: u32) -> Self {
        let are_sorted = u.id < v.id;
        let of_each = |at_u: bool, at_v: bool| {
            if are_sorted {
                [at_u, at_v]
            } else {
                [at_v, at_u]
            }
        };
        Self {
            ends,
            locked: of_each(u.is(mark::LOCKED), v.is(mark::LOCKED)),
            sides,
            count,
        }
    }

    /// One of the sides.
    #[inline(always)]
    fn side(&self, k: u32) -> Side {
        if k == 0 { self.sides[0] } else { self.sides[1] }
    }

    /// The vectors from both ends.
    #[inline(always)]
    fn steps(&self, to: DVec3) -> [DVec3; 2] {
        [to - self.ends[0].at, to - self.ends[1].at]
    }

    /// The value of a number with trends `p` and `q` at the ends, at `d` and `e` from them, with the areas `near` and
    /// `far`. A locked end keeps its own.
    #[inline(always)]
    fn value(
        &self,
        channel: &Channel,
        [p, q]: &[Trend; 2],
        [d, e]: [DVec3; 2],
        [near, far]: [f64; 2],
    ) -> f64 {
        if self.locked[0] {
            return p.value;
        }
        if self.locked[1] {
            return q.value;
        }
        let area = near + far;
        if area <= 0.0 {
            return p.value;
        }
        let lack = p.lack(p.value, d, near) + q.lack(p.value, e, far);
        let value = p.value + lack / area;
        if value < channel.least {
            channel.least
        } else if value > channel.most {
            channel.most
        } else {
            value
        }
    }
}

/// The numbers of vertices: their channels, and a function that reads trend `c` of vertex `v`, at `v` times the number
/// of channels plus `c`.
pub(super) struct Weighing<'a, R> {
    pub channels: In<'a, Channel>,
    pub read: R,
}

impl<R: Fn(u32) -> Trend> Weighing<'_, R> {
    #[inline(always)]
    fn place(&self, v: Vertex, channel: u32) -> u32 {
        v.index() * self.channels.len() + channel
    }

    #[inline(always)]
    fn trends(&self, side: &Side, channel: u32) -> [Trend; 2] {
        [
            (self.read)(self.place(side.ids[0], channel)),
            (self.read)(self.place(side.ids[1], channel)),
        ]
    }

    /// The collapse of the edge between two vertices.
    #[inline(always)]
    pub(super) fn collapse(&self, u: &Known, v: &Known, rules: Rules) -> Collapse {
        self.collapse_pair(u, v, rules, || Pair::of(u, v))
    }

    /// As [`collapse`](Self::collapse), with the sides of the edge.
    #[inline(always)]
    pub(super) fn collapse_pair(
        &self,
        u: &Known,
        v: &Known,
        rules: Rules,
        pair: impl FnOnce() -> Pair,
    ) -> Collapse {
        if rules.counts == 0 {
            return collapse_between(u, v, rules);
        }
        let pair = pair();
        let [low, high] = &pair.ends;
        collapse_by(
            low,
            high,
            rules.place(),
            |to| self.cost_at(&pair, to),
            |most| {
                // A loop: several copies of the body would not be inlined.
                let mut k = 0;
                while k < 3 {
                    let to = match k {
                        0 => low.at + (high.at - low.at) * 0.5,
                        1 => low.at,
                        _ => high.at,
                    };
                    if self.cost_at(&pair, to) <= most {
                        return Some(to);
                    }
                    k += 1;
                }
                None
            },
            |half| self.least(&pair, half),
        )
    }

    /// The sum of the quadrics of both ends at `to`, with the values that a vertex gets there.
    #[inline(always)]
    fn cost_at(&self, pair: &Pair, to: DVec3) -> f64 {
        let [d, e] = pair.steps(to);
        let mut cost = pair.ends[0].quadric.sum(d) + pair.ends[1].quadric.sum(e);
        let mut k = 0;
        while k < pair.count {
            let side = pair.side(k);
            let [near, far] = side.areas;
            let mut c = 0;
            while c < self.channels.len() {
                let channel = self.channels.at(c);
                if channel.square == 0.0 {
                    c += 1;
                    continue;
                }
                let both = self.trends(&side, c);
                let value = pair.value(&channel, &both, [d, e], side.areas);
                let [p, q] = both;
                cost += channel.square * (p.cost(value, d, near) + q.cost(value, e, far));
                c += 1;
            }
            k += 1;
        }
        if cost < 0.0 { 0.0 } else { cost }
    }

    /// Where the sum of the quadrics is least with the best values there, from the middle of the edge; `half` leads
    /// from the low end to it.
    #[inline(always)]
    fn least(&self, pair: &Pair, half: DVec3) -> DVec3 {
        let (a, b) = (&pair.ends[0].quadric, &pair.ends[1].quadric);
        let mut both = a.plus(b);
        let mut linear = a.vector() + a.times(half) + (b.vector() - b.times(half));
        let ridge = ROUNDING * both.trace();
        let mut k = 0;
        while k < pair.count {
            let side = pair.side(k);
            let [near, far] = side.areas;
            let area = near + far;
            let mut c = 0;
            while c < self.channels.len() {
                let square = self.channels.at(c).square;
                if square == 0.0 {
                    c += 1;
                    continue;
                }
                let [p, q] = self.trends(&side, c);
                // Values are measured from the mean of both.
                let step = (q.value - p.value) * 0.5;
                let mean = p.value + step;
                let offset = p.lack(mean, half, near) + q.lack(mean, -half, far);
                linear -= (p.slope() - q.slope()) * (square * step);
                if area > 0.0 {
                    let slope = p.slope() + q.slope();
                    both.add_plane(slope, -square / area);
                    linear -= slope * (square * (offset / area));
                }
                c += 1;
            }
            k += 1;
        }
        both.matrix[0] += ridge;
        both.matrix[3] += ridge;
        both.matrix[5] += ridge;
        both.linear = linear.to_array();
        both.least()
    }

    /// The quadric of the vertex that the ends of `pair` become at `to`. Calls `write` with each of the trends of the
    /// lower id of each side.
    #[inline(always)]
    pub(super) fn merge(
        &self,
        pair: &Pair,
        to: DVec3,
        rules: Rules,
        write: impl Fn(u32, Trend),
    ) -> Quadric {
        let (a, b) = (&pair.ends[0].quadric, &pair.ends[1].quadric);
        let [d, e] = pair.steps(to);
        let mut linear = a.vector() + a.times(d) + (b.vector() + b.times(e));
        let mut constant = a.sum(d) + b.sum(e);
        let mut k = 0;
        while k < pair.count {
            let side = pair.side(k);
            let [near, far] = side.areas;
            let [first, second] = side.ids;
            let kept = if first < second { first } else { second };
            let mut c = 0;
            while c < self.channels.len() {
                let (channel, both) = (self.channels.at(c), self.trends(&side, c));
                let value = pair.value(&channel, &both, [d, e], side.areas);
                let [p, q] = both;
                if channel.square > 0.0 {
                    constant += channel.square * (p.cost(value, d, near) + q.cost(value, e, far));
                    let steps = p.slope() * (value - p.value) + q.slope() * (value - q.value);
                    linear -= steps * channel.square;
                }
                let trend = Trend {
                    value,
                    slope: (p.slope() + q.slope()).to_array(),
                    offset: p.lack(value, d, near) + q.lack(value, e, far),
                };
                write(self.place(kept, c), trend);
                c += 1;
            }
            k += 1;
        }
        if rules.counts == 0 {
            return merged(&pair.ends[0], &pair.ends[1], to);
        }
        Quadric {
            linear: linear.to_array(),
            constant: if constant < 0.0 { 0.0 } else { constant },
            ..a.plus(b)
        }
    }
}

/// Writes the trends of vertex `v` by the `values` of the vertices, and adds their share to its quadric.
#[kernel(
    requires(
        fans.spans.len() == n,
        points.len() == n,
        sites.len() == n,
        values.len() == n * channels.len(),
        trends.len() == values.len()
    ),
    moves(fans.bytes() + points.bytes() + values.bytes() + 2 * sites.bytes() + trends.bytes())
)]
pub fn measure_trends(
    v: Vertex,
    fans: Fans,
    points: In<DVec3>,
    unit: f64,
    values: In<f64>,
    channels: In<Channel>,
    sites: Out<Site>,
    trends: Out<Trend>,
) {
    let here = points.at(v) * unit;
    let mut site = sites.at(v);
    let count = channels.len();
    let mut c = 0;
    while c < count {
        let square = channels.at(c).square;
        let own = values.at(v.index() * count + c);
        let difference = |x: Vertex| values.at(x.index() * count + c) - own;
        let mut sum = DVec3::ZERO;
        fans.all(v, |_, x, y| {
            let (p, q) = (points.at(x) * unit - here, points.at(y) * unit - here);
            let normal = p.cross(q);
            let doubled = normal.dot(normal);
            if doubled > 0.0 {
                let turned = q.cross(normal) * difference(x) + normal.cross(p) * difference(y);
                let (gradient, area) = (turned / doubled, 0.5 * root(doubled));
                sum += gradient * area;
                if square > 0.0 {
                    site.quadric.add_plane(gradient, square * area);
                }
            }
            true
        });
        trends.set(
            v.index() * count + c,
            Trend {
                value: own,
                slope: sum.to_array(),
                offset: 0.0,
            },
        );
        c += 1;
    }
    sites.set(v, site);
}
