//! Ears of long loops. The head of [`gpu::repair`] has the rule.
//!
//! An ear is blocked by the first reflex corner in it, and tried again when that one is cut off or no longer reflex. So
//! a loop of n edges and r reflex corners takes about n (r + log n) steps.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashSet};

use glam::{DVec2, DVec3};
use gpu::orientation::turn;

use super::ways::scaled;
use super::{is_flat, sorted};
use crate::{Result, progress};

/// A loop that loses ears.
struct Ears<'a> {
    vertices: &'a [u32],
    points: &'a [DVec3],
    /// The loop as it is seen along its normal, counter-clockwise in the direction of the new faces.
    plane: Vec<DVec2>,
    ratio: f64,
    /// The corners before and after each.
    links: Vec<[usize; 2]>,
    /// Corners that are left and reflex.
    reflex: BTreeSet<usize>,
    is_cut: Vec<bool>,
    /// The edges of ears that have been cut off.
    edges: HashSet<[u32; 2]>,
    /// Ears that wait for a corner.
    waiting: Vec<Vec<usize>>,
    /// Squared lengths of new edges, as ordered bits, with the ears.
    heap: BinaryHeap<Reverse<(u64, usize)>>,
}

/// Cuts ears off a loop until it has `most` edges, or none can be cut: their faces, and the corners that are left.
pub(super) fn cut_ears(
    vertices: &[u32],
    points: &[DVec3],
    ratio: f64,
    most: usize,
    is_there: &dyn Fn([u32; 2]) -> bool,
) -> Result<(Vec<[u32; 3]>, Vec<usize>)> {
    let n = vertices.len();
    if n <= most {
        return Ok((Vec::new(), (0..n).collect()));
    }
    let mut ears = Ears {
        vertices,
        points,
        plane: seen_along_normal(points),
        ratio,
        links: (0..n).map(|i| [(i + n - 1) % n, (i + 1) % n]).collect(),
        reflex: BTreeSet::new(),
        is_cut: vec![false; n],
        edges: HashSet::new(),
        waiting: vec![Vec::new(); n],
        heap: BinaryHeap::new(),
    };
    let reflex = (0..n).filter(|&i| !ears.is_convex(i));
    ears.reflex = reflex.collect();
    let mut faces = Vec::new();
    // A loop that is far from its plane may have no ear that is seen as one.
    for is_seen in [true, false] {
        for i in (0..n).filter(|&i| !ears.is_cut[i]) {
            ears.heap.push(ears.key(i));
        }
        while n - faces.len() > most
            && let Some(Reverse((length, i))) = ears.heap.pop()
        {
            progress::check()?;
            let is_current = !ears.is_cut[i] && ears.key(i).0.0 == length;
            if is_current && ears.may_go(i, is_seen, is_there) {
                faces.push(ears.cut(i));
            }
        }
    }
    let rest = (0..n).filter(|&i| !ears.is_cut[i]);
    Ok((faces, rest.collect()))
}

impl Ears<'_> {
    /// The face of a corner's ear.
    fn ear(&self, i: usize) -> [usize; 3] {
        let [before, after] = self.links[i];
        [after, i, before]
    }

    fn is_convex(&self, i: usize) -> bool {
        let [a, b, c] = self.ear(i).map(|k| self.plane[k]);
        turn(a, b, c) > 0
    }

    fn key(&self, i: usize) -> Reverse<(u64, usize)> {
        let [before, after] = self.links[i];
        let length = self.points[before].distance_squared(self.points[after]);
        Reverse((length.to_bits(), i))
    }

    /// Whether an ear may be cut off. One that waits for a corner is entered there.
    fn may_go(&mut self, i: usize, is_seen: bool, is_there: &dyn Fn([u32; 2]) -> bool) -> bool {
        let ear = self.ear(i);
        let [after, _, before] = ear.map(|k| self.vertices[k]);
        let is_free = !is_there([before, after]) && !self.edges.contains(&sorted([before, after]));
        if !is_free || is_flat(ear.map(|k| self.points[k]), self.ratio) {
            return false;
        }
        if !is_seen {
            return true;
        }
        let [a, b, c] = ear.map(|k| self.plane[k]);
        if turn(a, b, c) <= 0 {
            return false;
        }
        let is_in = |&&k: &&usize| {
            let p = self.plane[k];
            !ear.contains(&k) && turn(a, b, p) >= 0 && turn(b, c, p) >= 0 && turn(c, a, p) >= 0
        };
        match self.reflex.iter().find(is_in) {
            Some(&k) => {
                self.waiting[k].push(i);
                false
            }
            None => true,
        }
    }

    /// Cuts an ear off: its face.
    fn cut(&mut self, i: usize) -> [u32; 3] {
        let [before, after] = self.links[i];
        let face = self.ear(i).map(|k| self.vertices[k]);
        self.is_cut[i] = true;
        self.reflex.remove(&i);
        self.links[before][1] = after;
        self.links[after][0] = before;
        self.edges.insert(sorted([face[0], face[2]]));
        let mut again = std::mem::take(&mut self.waiting[i]);
        for k in [before, after] {
            if self.is_convex(k) && self.reflex.remove(&k) {
                again.append(&mut self.waiting[k]);
            }
            again.push(k);
        }
        for k in again {
            if !self.is_cut[k] {
                self.heap.push(self.key(k));
            }
        }
        face
    }
}

/// The points of a loop in the plane that its area is largest in.
fn seen_along_normal(points: &[DVec3]) -> Vec<DVec2> {
    let points = scaled(points);
    let ends = points.iter().zip(points.iter().cycle().skip(1));
    // The new faces run against the loop.
    let corners = ends.map(|(&a, &b)| (b - points[0]).cross(a - points[0]));
    let normal = corners.sum::<DVec3>().try_normalize().unwrap_or(DVec3::Z);
    let (x, y) = normal.any_orthonormal_pair();
    let seen = points.iter().map(|p| DVec2::new(p.dot(x), p.dot(y)));
    seen.collect()
}
