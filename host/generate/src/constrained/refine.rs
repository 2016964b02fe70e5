//! Delaunay refinement: adds vertices until no triangle has an angle below the bound or an area above it.
//!
//! | step | source |
//! | --- | --- |
//! | bad triangles are split at their circumcenters, those with the shortest edges first | Ruppert 1995 |
//! | a subsegment that a new vertex would encroach is split instead | Ruppert 1995 |
//! | a vertex encroaches from within a subsegment's lens; free vertices in its circle are removed | Chew 1993 |
//! | an off-center replaces a far circumcenter | Üngör 2004 |
//! | at an angle below 60 degrees, subsegments are split at powers of two | Ruppert 1995 |
//! | a triangle across such an angle is not split | Miller, Pav, Walkington 2005 |
//!
//! Only the kept triangles exist: the outside of the boundary neither causes a split nor is split.

use std::collections::{BTreeMap, VecDeque};

use glam::DVec2;
use trioxide_mesh::{Error, Result};

use super::half_edges::{HalfEdges, NONE, Place, next, orientation, previous};

/// Bounds that refinement must reach.
pub struct Goal {
    /// Smallest angle in degrees, up to 60; 0 for no bound.
    pub angle: f64,
    /// Largest area.
    pub area: f64,
    /// Most vertices to add, counting the ones that are removed again.
    pub most: usize,
}

/// Coordinates nearer to zero have no exact predicates here: 2^-142.
pub const LEAST: f64 = f64::from_bits((1023 - 142) << 52);
/// Larger coordinates have no exact predicates here: 2^201.
pub const LARGEST: f64 = f64::from_bits((1023 + 201) << 52);

/// Kinds of a vertex. Any other value is the unsplit subsegment that the vertex lies on.
const OF_INPUT: u32 = NONE;
const FREE: u32 = NONE - 1;

/// Triangles to be split, with their corners when they were judged.
type Queue = Vec<(u32, [u32; 3])>;

struct Refiner<'a> {
    mesh: &'a mut HalfEdges,
    goal: &'a Goal,
    squared_cosine: f64,
    /// Squared cosine of the angle at which an edge is seen from the rim of its lens.
    lens: f64,
    /// Height of an off-center over its edge, per length.
    off_center: f64,
    kinds: Vec<u32>,
    /// The ends of the subsegments before the first split.
    wholes: Vec<[u32; 2]>,
    encroached: VecDeque<u32>,
    /// Bad triangles by the length of their shortest edge, in steps of a factor of about 1.2. Within a step the last
    /// one is split first: it lies near the previous one, in caches too.
    bad: BTreeMap<u64, Queue>,
    added: usize,
    removed: Vec<u32>,
}

/// Refines all triangles. Returns the vertices that were added and removed again, ascending.
///
/// # Errors
/// [`Error::Argument`] if the goal needs more vertices than may be added.
pub fn refine(mesh: &mut HalfEdges, goal: &Goal) -> Result<Vec<u32>> {
    let cosine = libm::cos(goal.angle.to_radians());
    let of_lens = 2.0 * cosine * cosine - 1.0;
    mesh.legalize_all();
    let mut refiner = Refiner {
        squared_cosine: cosine * cosine,
        lens: of_lens * of_lens,
        off_center: 0.475 * ((1.0 + cosine) / (1.0 - cosine)).sqrt(),
        kinds: vec![OF_INPUT; mesh.points.len()],
        wholes: mesh.subsegments.iter().map(|s| s.ends).collect(),
        encroached: VecDeque::new(),
        bad: BTreeMap::new(),
        added: 0,
        removed: Vec::new(),
        mesh,
        goal,
    };
    refiner.run()?;
    refiner.removed.sort_unstable();
    Ok(refiner.removed)
}

impl Refiner<'_> {
    fn run(&mut self) -> Result<()> {
        self.encroached
            .extend(0..self.mesh.subsegments.len() as u32);
        // All subsegments are split before a triangle is judged.
        self.split_encroached(false)?;
        let triangles: Vec<u32> = self.mesh.triangles().collect();
        triangles.into_iter().for_each(|t| self.judge(t));
        while let Some(mut shortest) = self.bad.first_entry() {
            let Some((t, corners)) = shortest.get_mut().pop() else {
                shortest.remove();
                continue;
            };
            let is_there = |refiner: &Self| refiner.mesh.corners(t) == Some(corners);
            if is_there(self) && self.split_triangle(t)? && is_there(self) {
                self.judge(t);
            }
        }
        Ok(())
    }

    /// Splits a triangle, or else the subsegments that its center encroaches. Returns whether it split subsegments:
    /// then the triangle must be tried again.
    fn split_triangle(&mut self, t: u32) -> Result<bool> {
        let Some(p) = self.center(t) else {
            return Ok(false);
        };
        let place = self.mesh.locate(t, p);
        let mut in_the_way: Vec<u32> = match place {
            // Rounding has moved the center to a vertex: the numbers allow no smaller triangle.
            Place::Vertex => return Ok(false),
            Place::Behind(subsegment) => vec![subsegment],
            Place::Triangle(_) | Place::Edge(_) => {
                let mut seen = self.mesh.seen_from(place, p);
                seen.retain(|&h| self.encroaches(h, p));
                let seen = seen.into_iter().filter_map(|h| self.mesh.subsegment(h));
                seen.collect()
            }
        };
        if in_the_way.is_empty() {
            self.count_vertex(FREE)?;
            self.mesh.insert(place, p);
            self.judge_changed(true);
            return Ok(false);
        }
        in_the_way.sort_unstable();
        let mut is_split = false;
        for subsegment in in_the_way {
            is_split |= self.split_subsegment(subsegment, true)?;
        }
        self.split_encroached(true)?;
        Ok(is_split)
    }

    fn split_encroached(&mut self, judges: bool) -> Result<()> {
        while let Some(subsegment) = self.encroached.pop_front() {
            let mesh = &self.mesh;
            let mut sides = mesh.both(subsegment);
            if sides.any(|h| self.encroaches(h, mesh.place(mesh.apex(h)))) {
                self.split_subsegment(subsegment, judges)?;
            }
        }
        Ok(())
    }

    /// Splits a subsegment. Returns false if the numbers allow no shorter one.
    fn split_subsegment(&mut self, subsegment: u32, judges: bool) -> Result<bool> {
        let ends = self.mesh.subsegments[subsegment as usize].ends;
        let mut is_acute = [false; 2];
        for i in 0..2 {
            let Some(h) = self.side_from(subsegment, ends[i]) else {
                continue;
            };
            let of_side = [self.is_acute(previous(h)), self.is_acute(h)];
            is_acute[i] |= of_side[0];
            is_acute[1 - i] |= of_side[1];
            if of_side == [false; 2] {
                self.clear_circle(subsegment, ends[i]);
            }
        }
        let [from, to] = ends;
        let p = split_place(self.mesh.place(from), self.mesh.place(to), is_acute);
        let whole = self.mesh.subsegments[subsegment as usize].whole;
        if self.mesh.split_subsegment(subsegment, p) {
            self.count_vertex(whole)?;
            self.encroached
                .extend([subsegment, self.mesh.subsegments.len() as u32 - 1]);
            self.judge_changed(judges);
            return Ok(true);
        }
        self.judge_changed(judges);
        Ok(false)
    }

    /// Whether two subsegments meet at less than 60 degrees in the triangle of a half-edge, at its target.
    fn is_acute(&self, h: u32) -> bool {
        let mesh = &self.mesh;
        if mesh.subsegment(h).is_none() || mesh.subsegment(next(h)).is_none() {
            return false;
        }
        let [a, b, c] = [mesh.origin(h), mesh.target(h), mesh.apex(h)].map(|v| mesh.place(v));
        let (u, w) = (a - b, c - b);
        let dot = u.dot(w);
        dot > 0.0 && 4.0 * dot * dot > u.length_squared() * w.length_squared()
    }

    /// The half-edge of a subsegment that starts at this end.
    fn side_from(&self, subsegment: u32, end: u32) -> Option<u32> {
        let mut sides = self.mesh.both(subsegment);
        sides.find(|&h| self.mesh.origin(h) == end)
    }

    /// Removes the free vertices in the circle around a subsegment that are visible from the left of its half-edge from
    /// this end.
    fn clear_circle(&mut self, subsegment: u32, from: u32) {
        while let Some(h) = self.side_from(subsegment, from) {
            let v = self.mesh.apex(h);
            let [a, b, p] = [from, self.mesh.target(h), v].map(|v| self.mesh.place(v));
            if self.kinds[v as usize] != FREE || (a - p).dot(b - p) >= 0.0 {
                return;
            }
            self.mesh.remove(previous(h));
            self.removed.push(v);
        }
    }

    /// Whether a point on the left of a subsegment's half-edge lies in its lens.
    fn encroaches(&self, h: u32, p: DVec2) -> bool {
        let [a, b] = [self.mesh.origin(h), self.mesh.target(h)].map(|v| self.mesh.place(v) - p);
        let dot = a.dot(b);
        dot < 0.0 && dot * dot >= self.lens * (a.length_squared() * b.length_squared())
    }

    fn count_vertex(&mut self, kind: u32) -> Result<()> {
        if self.added >= self.goal.most {
            return Err(Error::Argument(format!(
                "the refinement needs more than the {} vertices that it may add: give a smaller angle, a larger area or \
                 more vertices",
                self.goal.most
            )));
        }
        self.added += 1;
        self.kinds.push(kind);
        Ok(())
    }

    /// Lists the bad triangles among the changed ones, and the subsegments that their corners encroach.
    fn judge_changed(&mut self, judges: bool) {
        let mut changed = std::mem::take(&mut self.mesh.changed);
        changed.sort_unstable();
        changed.dedup();
        for &t in &changed {
            if self.mesh.corners(t).is_none() {
                continue;
            }
            for h in 3 * t..3 * t + 3 {
                let apex = self.mesh.place(self.mesh.apex(h));
                if let Some(subsegment) = self.mesh.subsegment(h)
                    && self.encroaches(h, apex)
                {
                    self.encroached.push_back(subsegment);
                }
            }
            if judges {
                self.judge(t);
            }
        }
        changed.clear();
        self.mesh.changed = changed;
    }

    /// Lists a triangle if it is bad.
    fn judge(&mut self, t: u32) {
        let Some(corners) = self.mesh.corners(t) else {
            return;
        };
        let (shortest, squared) = self.shortest_edge(t);
        if self.is_large(t) || self.is_skinny(shortest) {
            let queue = self.bad.entry(squared.to_bits() >> 51).or_default();
            queue.push((t, corners));
        }
    }

    fn is_large(&self, t: u32) -> bool {
        let [a, b, c] = [0, 1, 2].map(|k| self.mesh.place(self.mesh.origin(3 * t + k)));
        (b - a).perp_dot(c - a) / 2.0 > self.goal.area
    }

    /// Whether the angle opposite to a triangle's shortest edge is too small, and refinement can enlarge it.
    fn is_skinny(&self, h: u32) -> bool {
        let ends = [self.mesh.origin(h), self.mesh.target(h)];
        let apex = self.mesh.place(self.mesh.apex(h));
        let [u, w] = ends.map(|v| self.mesh.place(v) - apex);
        let dot = u.dot(w);
        self.goal.angle > 0.0
            && dot * dot > self.squared_cosine * (u.length_squared() * w.length_squared())
            && !self.is_across_angle(ends)
    }

    /// Whether an edge crosses a small angle between two segments, and its ends are equally far from the apex.
    fn is_across_angle(&self, ends: [u32; 2]) -> bool {
        let [k, l] = ends.map(|v| self.kinds[v as usize]);
        if k == l || [k, l].iter().any(|&kind| kind == OF_INPUT || kind == FREE) {
            return false;
        }
        let [k, l] = [k, l].map(|whole| self.wholes[whole as usize]);
        let Some(&meeting) = k.iter().find(|v| l.contains(v)) else {
            return false;
        };
        let [p, q] = ends.map(|v| self.mesh.place(v));
        let [d, e] = [p, q].map(|p| p.distance_squared(self.mesh.place(meeting)));
        d < 1.001 * e && e < 1.001 * d && p.distance_squared(q) < d
    }

    fn shortest_edge(&self, t: u32) -> (u32, f64) {
        let length = |h: u32| {
            let [a, b] = [self.mesh.origin(h), self.mesh.target(h)];
            self.mesh.place(a).distance_squared(self.mesh.place(b))
        };
        let mut edges = (3 * t..3 * t + 3).map(|h| (h, length(h)));
        let first = edges.next().expect("a triangle has edges");
        edges.fold(first, |least, edge| match edge.1 < least.1 {
            true => edge,
            false => least,
        })
    }

    /// The place where a triangle is split: its circumcenter, or a point nearer to its shortest edge as far as the
    /// angle bound allows.
    fn center(&self, t: u32) -> Option<DVec2> {
        let (h, _) = self.shortest_edge(t);
        let [o, d, a] = [h, next(h), previous(h)].map(|h| self.mesh.place(self.mesh.origin(h)));
        let (x, y) = (d - o, a - o);
        let scale = 0.5 / orientation(o, d, a);
        let center = (x.length_squared() * y.perp() - y.length_squared() * x.perp()) * -scale;
        let off = 0.5 * x + self.off_center * x.perp();
        let from_origin = match off.length_squared() < center.length_squared() {
            true => off,
            false => center,
        };
        let p = o + from_origin;
        let is_in_range = p.is_finite() && p.abs().max_element() <= LARGEST;
        is_in_range.then(|| p.map(representable))
    }
}

/// The coordinate, or 0 if it is too near to zero.
fn representable(coordinate: f64) -> f64 {
    match coordinate.abs() < LEAST {
        true => 0.0,
        false => coordinate,
    }
}

/// The place where a subsegment is split: the middle, or at a power of two from its end at a small angle.
fn split_place(from: DVec2, to: DVec2, is_acute: [bool; 2]) -> DVec2 {
    let direction = to - from;
    let part = match is_acute {
        [false, false] | [true, true] => 0.5,
        [is_first, _] => {
            let length = direction.length();
            // From a third to two thirds of the length.
            let exponent = (length / 1.5).to_bits() & !((1 << 52) - 1);
            let part = f64::from_bits(exponent) / length;
            if is_first { part } else { 1.0 - part }
        }
    };
    let p = from + direction * part;
    // Back to the line, which rounding has left.
    let aside = orientation(from, to, p) / direction.length_squared();
    let on_line = p - direction.perp() * aside;
    on_line.map(representable)
}
