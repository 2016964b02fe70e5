//! The triangles of one polygon.
//!
//! **Rule.** The polygon is seen along the axis of the largest component of its normal (ties: x before y before z). An
//! *ear* is a corner b between a and c that turns left, whose triangle abc has no other corner inside or on the
//! diagonal ac, and that no side from a corner on its boundary enters. Repeatedly the ear with the shortest diagonal
//! is cut off, a triangle; ties go by the lower id of the diagonal's ends, then by the higher one. Two kinds of ears
//! come last, the second one only where nothing else is left:
//!
//! 1. an ear that is flat, or whose diagonal almost touches another corner: rounding alone keeps these from being
//!    degenerate (an edge's middle, in a plane that is not parallel to an axis);
//! 2. a flat corner of any turn: a triangle without an area, which keeps the corner in the mesh.
//!
//! *Flat* is a triangle whose height in space is at most [`FLAT`] of its longest side. Turns are exact (`robust`).
//! Squared lengths are rounded, in one order of operations, so they are the same on every machine and for both
//! directions of a diagonal.
//!
//! A cut may leave a side that is passed in both directions, where the polygon touches itself: a *spike*. A spike
//! whose tip has a triangle is removed. Others are slits into the polygon, and stay until an ear takes them.
//!
//! **The triangles cover the polygon once.** A cut takes an oriented triangle from the oriented boundary, and a spike
//! has no area: at the end the triangles' boundaries sum to the polygon's, so the number of triangles over a point is
//! the number of times that the polygon runs around it. All triangles are counter-clockwise (but for flat ones, which
//! have no area), so nothing cancels: where the polygon runs around each point at most once, no triangles overlap. A
//! polygon that runs around a point clockwise has no such triangles: the cuts end before it is used up, an error.
//!
//! **A simple polygon with an area is used up, without kind 2.** It has a triangulation without degenerate triangles:
//! from a corner that turns left, either ac is a diagonal, or the corner of triangle abc farthest from ac sees b;
//! either divides the polygon in two simple ones. The triangulation's dual tree has two leaves, which are ears. A cut
//! along a diagonal without other corners leaves a simple polygon. A polygon that touches itself is a limit of simple
//! ones: its parts hang together like a tree, a part at its end has two ears, of which the joint can be one.
//!
//! **Only neighbours change.** An ear stays one while its two neighbours do, for cuts remove corners. If a corner is
//! no ear because of others in its triangle, the one of these farthest from its diagonal turns right or lies straight,
//! so it is no ear, and is not cut off: that corner does not become an ear either. So after a cut two corners are
//! tested, each against the corners that turned right or lay straight at first: at most 3n² tests of a point against a
//! box. The kind of an ear is that at the time of its test.
//!
//! **Independence.** The corners are first brought into an order that is the same for each start and direction: from
//! the lowest id towards its lower neighbour. Both the normal, whose sum is rounded, and ties between copies of a
//! corner follow this order. For a polygon without repeated vertices only two ears can tie, those of a quadrilateral,
//! whose triangles are the same.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use glam::{DVec2, DVec3};
use robust::{Coord, orient2d};

/// Height of a triangle over its longest side below which it counts as flat: about 1e-6. Single precision, and
/// decimals of 6 digits, round as much.
const FLAT: f64 = 1.0 / (1 << 20) as f64;

/// Why a polygon has no triangles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// It has fewer than three different corners.
    Few,
    /// The corner at this position has a coordinate that is not finite.
    NotFinite(usize),
    /// It crosses itself, or runs clockwise around a part of its plane.
    Crosses,
}

/// A corner that can be cut off: class, bits of the squared length of its diagonal, ids of the diagonal's ends,
/// corner, and version of the corner.
type Ear = Reverse<(u8, u64, [u32; 2], u32, u32)>;

/// Divides polygons. Its memory is reused from one to the next.
#[derive(Default)]
pub struct Divider {
    /// Position in the face of each corner, in the order of the rule.
    place: Vec<usize>,
    id: Vec<u32>,
    space: Vec<DVec3>,
    flat: Vec<DVec2>,
    next: Vec<u32>,
    prev: Vec<u32>,
    /// Number of changes of a corner's neighbours; `GONE` for a corner that is cut off.
    version: Vec<u32>,
    has_triangle: Vec<bool>,
    /// Number of corners that are left.
    left: usize,
    /// Corners that may be in another's triangle or close to its diagonal, in any order: at first all that do not turn
    /// left by much. The place of each corner among them, or `GONE`.
    obstacles: Vec<u32>,
    obstacle_place: Vec<u32>,
    ears: BinaryHeap<Ear>,
    flat_triangles: usize,
}

const GONE: u32 = u32::MAX;

impl Divider {
    /// Appends the triangles of `face`, as positions in it, in its direction. Vertices are in range of `points`.
    /// Repetitions of a vertex in succession are left out. Triangles of a face of three vertices are that face.
    ///
    /// # Errors
    /// [`Trouble`]; then `triangles` is as it was.
    pub fn divide(
        &mut self,
        points: &[DVec3],
        face: &[u32],
        triangles: &mut Vec<[usize; 3]>,
    ) -> Result<(), Trouble> {
        self.flat_triangles = 0;
        if let Ok(quadrilateral) = <[u32; 4]>::try_from(face)
            && let Some(halves) = divide_convex(points, quadrilateral)
        {
            triangles.extend(halves);
            return Ok(());
        }
        let is_backward = self.load(points, face)?;
        let before = triangles.len();
        self.cut(triangles);
        if self.left > 2 {
            triangles.truncate(before);
            return Err(Trouble::Crosses);
        }
        if is_backward {
            triangles[before..].iter_mut().for_each(|t| t.swap(1, 2));
        }
        Ok(())
    }

    /// Number of flat triangles of the last polygon.
    pub fn flat_triangles(&self) -> usize {
        self.flat_triangles
    }

    /// Brings the corners into the order of the rule, and into their plane. Returns whether it is that of `face`
    /// backward.
    fn load(&mut self, points: &[DVec3], face: &[u32]) -> Result<bool, Trouble> {
        self.place.clear();
        let is_new = |&k: &usize| face[k] != face[if k == 0 { face.len() } else { k } - 1];
        self.place.extend((0..face.len()).filter(is_new));
        let n = self.place.len();
        let is_third = |&k: &usize| !self.place[..2].iter().any(|&l| face[l] == face[k]);
        if n < 3 || !self.place.iter().any(is_third) {
            return Err(Trouble::Few);
        }
        let (start, is_backward) = first_corner(face, &self.place);
        match is_backward {
            true => {
                self.place.reverse();
                self.place.rotate_left(n - 1 - start);
            }
            false => self.place.rotate_left(start),
        }
        let finite = |&k: &usize| points[face[k] as usize].is_finite();
        if let Some(&k) = self.place.iter().find(|k| !finite(k)) {
            return Err(Trouble::NotFinite(k));
        }
        self.id.clear();
        self.id.extend(self.place.iter().map(|&k| face[k]));
        self.space.clear();
        let corners = self.id.iter().map(|&v| points[v as usize]);
        self.space.extend(corners);
        scale(&mut self.space);
        self.flat.clear();
        let flat = projection(normal(&self.space));
        self.flat.extend(self.space.iter().map(|&p| flat(p)));
        let corners = 0..n as u32;
        self.next.clear();
        self.next
            .extend(corners.clone().map(|k| (k + 1) % n as u32));
        self.prev.clear();
        let before = corners.clone().map(|k| (k + n as u32 - 1) % n as u32);
        self.prev.extend(before);
        self.left = n;
        self.version.clear();
        self.version.resize(n, 0);
        self.has_triangle.clear();
        self.has_triangle.resize(n, false);
        Ok(is_backward)
    }

    /// Cuts ears until at most two corners, or no ears, are left.
    fn cut(&mut self, triangles: &mut Vec<[usize; 3]>) {
        self.ears.clear();
        self.find_obstacles();
        for corner in 0..self.place.len() as u32 {
            let ear = self.ear(corner);
            self.ears.extend(ear);
        }
        while let Some(Reverse((.., b, version))) = self.ears.pop() {
            if self.version[b as usize] != version {
                continue;
            }
            let corners = [self.prev[b as usize], b, self.next[b as usize]];
            let [a, _, c] = corners.map(|k| k as usize);
            let is_flat = is_flat(FLAT, self.space[a], self.space[b as usize], self.space[c]);
            self.flat_triangles += usize::from(is_flat);
            triangles.push(corners.map(|k| self.place[k as usize]));
            for k in corners {
                self.has_triangle[k as usize] = true;
            }
            self.remove(b);
            self.update([corners[0], corners[2]]);
            if self.left < 3 {
                return;
            }
        }
    }

    fn find_obstacles(&mut self) {
        self.obstacles.clear();
        self.obstacle_place.clear();
        for b in 0..self.place.len() {
            let [a, c] = [self.prev[b] as usize, self.next[b] as usize];
            let is_obstacle = turn(self.flat[a], self.flat[b], self.flat[c]) <= 0.0
                || is_flat(FLAT, self.space[a], self.space[b], self.space[c]);
            self.obstacle_place.push(match is_obstacle {
                true => self.obstacles.len() as u32,
                false => GONE,
            });
            self.obstacles.extend(is_obstacle.then_some(b as u32));
        }
    }

    /// Removes the spikes at corners whose neighbours are new, and finds their ears.
    fn update(&mut self, corners: [u32; 2]) {
        let mut changed = corners.to_vec();
        while let Some(corner) = changed.pop() {
            if self.version[corner as usize] == GONE || self.left < 3 {
                continue;
            }
            let [before, after] = [self.prev[corner as usize], self.next[corner as usize]];
            let is_spike = self.id[before as usize] == self.id[after as usize];
            if is_spike && self.has_triangle[corner as usize] {
                self.remove(corner);
                self.remove(after);
                self.has_triangle[before as usize] |= self.has_triangle[after as usize];
                changed.extend([self.next[before as usize], before]);
                continue;
            }
            self.version[corner as usize] += 1;
            let ear = self.ear(corner);
            self.ears.extend(ear);
        }
    }

    fn remove(&mut self, corner: u32) {
        let [before, after] = [self.prev[corner as usize], self.next[corner as usize]];
        self.next[before as usize] = after;
        self.prev[after as usize] = before;
        self.version[corner as usize] = GONE;
        self.left -= 1;
        let place = self.obstacle_place[corner as usize];
        if place != GONE {
            self.obstacles.swap_remove(place as usize);
            if let Some(&moved) = self.obstacles.get(place as usize) {
                self.obstacle_place[moved as usize] = place;
            }
        }
    }

    /// The corner's entry in the order of cuts, if it can be cut off.
    fn ear(&self, corner: u32) -> Option<Ear> {
        let b = corner as usize;
        let [a, c] = [self.prev[b] as usize, self.next[b] as usize];
        let (id_a, id_b, id_c) = (self.id[a], self.id[b], self.id[c]);
        if id_a == id_b || id_b == id_c || id_c == id_a {
            return None;
        }
        let triangle = [self.flat[a], self.flat[b], self.flat[c]];
        let is_flat = is_flat(FLAT, self.space[a], self.space[b], self.space[c]);
        let class = match turn(triangle[0], triangle[1], triangle[2]) > 0.0 {
            true => match self.clearance([a, b, c], triangle) {
                Clearance::Free => u8::from(is_flat),
                Clearance::Close => 1,
                Clearance::Blocked if is_flat => 2,
                Clearance::Blocked => return None,
            },
            false if is_flat => 2,
            false => return None,
        };
        let length = self.space[a].distance_squared(self.space[c]);
        let ends = ascending([id_a, id_c]);
        let version = self.version[b];
        Some(Reverse((class, length.to_bits(), ends, corner, version)))
    }

    /// Returns whether the corners that are left block the triangle of three successive ones.
    fn clearance(&self, corners: [usize; 3], [a, b, c]: [DVec2; 3]) -> Clearance {
        let diagonal = c - a;
        let length = diagonal.length_squared();
        let margin = DVec2::splat(FLAT * length.sqrt());
        let (low, high) = (a.min(b).min(c) - margin, a.max(b).max(c) + margin);
        let mut clearance = Clearance::Free;
        for &k in &self.obstacles {
            let k = k as usize;
            let p = self.flat[k];
            if p.x < low.x || p.x > high.x || p.y < low.y || p.y > high.y || corners.contains(&k) {
                continue;
            }
            let along = diagonal.dot(p - a);
            let is_between = along > 0.0 && along < length;
            if is_between && diagonal.perp_dot(p - a).abs() < FLAT * length {
                clearance = Clearance::Close;
            }
            let of_ca = turn(c, a, p);
            if of_ca < 0.0 {
                continue;
            }
            let of_ab = turn(a, b, p);
            if of_ab < 0.0 {
                continue;
            }
            let of_bc = turn(b, c, p);
            if of_bc < 0.0 {
                continue;
            }
            let is_on_side = of_ab == 0.0 || of_bc == 0.0;
            if !is_on_side || self.enters(k, [a, b, c], [of_ab, of_bc, of_ca]) {
                return Clearance::Blocked;
            }
        }
        clearance
    }

    /// Whether a side of the polygon leads from a corner on a triangle's boundary into the triangle. `turns` are those
    /// from the triangle's sides to the corner.
    fn enters(&self, corner: usize, [a, b, c]: [DVec2; 3], turns: [f64; 3]) -> bool {
        let ends = [self.prev[corner], self.next[corner]];
        ends.iter().any(|&end| {
            let end = self.flat[end as usize];
            let is_inside = |turn_here: f64, from, to| turn_here > 0.0 || turn(from, to, end) > 0.0;
            is_inside(turns[0], a, b) && is_inside(turns[1], b, c) && is_inside(turns[2], c, a)
        })
    }
}

/// Whether other corners block a triangle.
enum Clearance {
    /// None is in it or close to its diagonal.
    Free,
    /// One is close to its diagonal.
    Close,
    /// One is in it or on its diagonal, or a side enters it.
    Blocked,
}

/// The halves of a quadrilateral that is convex, with no flat half. By the rule all four corners are ears then, so the
/// shorter diagonal divides it. The margin keeps this clear of the rule's other kinds whatever the rounding.
fn divide_convex(points: &[DVec3], face: [u32; 4]) -> Option<[[usize; 3]; 2]> {
    if (0..4).any(|k| face[k + 1..].contains(&face[k])) {
        return None;
    }
    // Positions in the order of the rule.
    let start = (0..4).min_by_key(|&k| face[k])?;
    let is_backward = face[(start + 3) % 4] < face[(start + 1) % 4];
    let step = if is_backward { 3 } else { 1 };
    let order = [0, 1, 2, 3].map(|k| (start + k * step) % 4);
    let corners = order.map(|k| points[face[k] as usize]);
    let lengths = [0, 1].map(|k| corners[k].distance_squared(corners[k + 2]));
    if !lengths
        .iter()
        .all(|length| (1e-120..1e120).contains(length))
    {
        return None;
    }
    let flat = corners.map(projection(normal(&corners)));
    let is_proper = |[a, b, c]: [usize; 3]| {
        turn(flat[a], flat[b], flat[c]) > 0.0
            && !is_flat(4.0 * FLAT, corners[a], corners[b], corners[c])
    };
    if ![[0, 1, 2], [0, 2, 3], [1, 2, 3], [1, 3, 0]]
        .into_iter()
        .all(is_proper)
    {
        return None;
    }
    let key = |k: usize| {
        let ends = [order[k], order[k + 2]].map(|k| face[k]);
        (lengths[k].to_bits(), ascending(ends))
    };
    let halves = match key(0) < key(1) {
        true => [[0, 1, 2], [0, 2, 3]],
        false => [[1, 2, 3], [1, 3, 0]],
    };
    Some(halves.map(|half| {
        let [a, b, c] = half.map(|k| order[k]);
        if is_backward { [a, c, b] } else { [a, b, c] }
    }))
}

fn ascending([a, b]: [u32; 2]) -> [u32; 2] {
    [a.min(b), a.max(b)]
}

/// The place of the first corner in the order of the rule, and whether that runs backward: the lowest sequence of ids.
fn first_corner(face: &[u32], places: &[usize]) -> (usize, bool) {
    let n = places.len();
    let id = |k: usize| face[places[k % n]];
    let sequence = |(start, is_backward): (usize, bool)| {
        (0..n).map(move |k| id(start + if is_backward { n - k } else { k }))
    };
    let lowest = (0..n).map(id).min().expect("there are three corners");
    let starts = (0..n).filter(|&k| id(k) == lowest);
    let orders = starts.flat_map(|start| [(start, false), (start, true)]);
    orders
        .min_by(|&left, &right| sequence(left).cmp(sequence(right)))
        .expect("one corner has the lowest id")
}

/// Brings lengths into the range in which their fourth powers are numbers, by a power of two.
fn scale(points: &mut [DVec3]) {
    let size = points.iter().map(|p| p.abs().max_element());
    let size = size.fold(0.0, f64::max);
    if size == 0.0 || (1e-60..1e60).contains(&size) {
        return;
    }
    let exponent = (size.to_bits() >> 52) as i64 - 1023;
    let factor = f64::from_bits(((1023 - exponent.clamp(-1022, 1022)) as u64) << 52);
    points.iter_mut().for_each(|p| *p *= factor);
}

/// The normal of a polygon, of any length: the sum over a fan from its first corner.
fn normal(corners: &[DVec3]) -> DVec3 {
    let first = corners[0];
    let pairs = corners[1..].windows(2);
    pairs.map(|w| (w[0] - first).cross(w[1] - first)).sum()
}

/// Returns the map that drops the axis of the normal's largest component, so that corners run counter-clockwise.
fn projection(normal: DVec3) -> impl Fn(DVec3) -> DVec2 {
    let size = normal.abs();
    let axis = match size {
        n if n.x >= n.y && n.x >= n.z => 0,
        n if n.y >= n.z => 1,
        _ => 2,
    };
    let sign = normal[axis].signum();
    let [first, second] = [(axis + 1) % 3, (axis + 2) % 3];
    move |p| DVec2::new(p[first], p[second] * sign)
}

/// About twice the area of a triangle, with the exact sign: positive if it is counter-clockwise.
#[inline]
fn turn(a: DVec2, b: DVec2, c: DVec2) -> f64 {
    let coordinates = |DVec2 { x, y }| Coord { x, y };
    orient2d(coordinates(a), coordinates(b), coordinates(c))
}

/// Whether the height of a triangle is at most `bound` of its longest side.
#[inline]
fn is_flat(bound: f64, a: DVec3, b: DVec3, c: DVec3) -> bool {
    let (ab, bc, ca) = (b - a, c - b, a - c);
    let longest = ab
        .length_squared()
        .max(bc.length_squared())
        .max(ca.length_squared());
    // Both sides are squares, since roots take long.
    ab.cross(ca).length_squared() <= (bound * longest) * (bound * longest)
}
