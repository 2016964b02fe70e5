//! Cuts that give one-sided components an orientation.
//!
//! The faces of a one-sided component are oriented in two ways, each as far as that goes; the edges whose faces then
//! disagree are cut. Of the two ways, the one with fewer cuts counts, or the first.
//!
//! 1. From the lowest face outwards, in breadth.
//! 2. Around a short cycle of faces that has no orientation: of such cycles through faces at the cuts of way 1, the
//!    first one of the fewest faces, as far as a bounded search finds it. Faces are joined across edges in the order of
//!    their distance from the cycle, the farthest first, so the cuts lie where the fault is.
//!
//! Then a face at more cuts than other joined edges is turned, which moves the cuts to its other edges, until there is
//! none. Each lowers the number of cuts, so it ends.
//!
//! *The cuts part the surface.* The faces around a vertex, joined across edges, are a path or a cycle of triangles,
//! which has an orientation. So each cycle has an even number of cuts, which divide it: the two faces
//! at a cut get different copies of a vertex.

use std::collections::{HashMap, VecDeque};

use super::orient::root;
use crate::{Result, progress};

/// Two faces joined across an edge: the side of the higher id, both faces, and whether one of them is turned for an
/// orientation of both.
pub(super) type Joint = (u32, [u32; 2], bool);

/// The sides of the edges to cut in a one-sided component, by the joints of all its faces in the order of their sides.
pub(super) fn cuts(joints: &[Joint]) -> Result<Vec<u32>> {
    Graph::new(joints).cuts()
}

/// Steps of the search for a short cycle, for each face.
const STEPS: usize = 32;

/// Faces numbered from 0 in their order, and the joints at each.
struct Graph<'a> {
    joints: &'a [Joint],
    /// The ids of the faces.
    faces: Vec<u32>,
    /// The ends of each joint.
    ends: Vec<[u32; 2]>,
    offsets: Vec<u32>,
    /// The joints at each face, ascending.
    at: Vec<u32>,
}

impl<'a> Graph<'a> {
    fn new(joints: &'a [Joint]) -> Self {
        let mut faces: Vec<u32> = joints.iter().flat_map(|joint| joint.1).collect();
        faces.sort_unstable();
        faces.dedup();
        let place = |face: u32| faces.partition_point(|&other| other < face) as u32;
        let ends: Vec<[u32; 2]> = joints.iter().map(|joint| joint.1.map(place)).collect();
        let mut rows: Vec<[u32; 2]> = Vec::with_capacity(2 * ends.len());
        for (j, &[a, b]) in (0..).zip(&ends) {
            rows.extend([[a, j], [b, j]]);
        }
        rows.sort_unstable();
        let begin = |face: usize| rows.partition_point(|row| (row[0] as usize) < face) as u32;
        Self {
            joints,
            offsets: (0..=faces.len()).map(begin).collect(),
            at: rows.iter().map(|row| row[1]).collect(),
            faces,
            ends,
        }
    }

    /// The joints at a face, each with the face beyond it and whether it turns.
    fn around(&self, face: u32) -> impl Iterator<Item = (u32, u32, bool)> + '_ {
        let range = self.offsets[face as usize] as usize..self.offsets[face as usize + 1] as usize;
        self.at[range].iter().map(move |&j| {
            let [a, b] = self.ends[j as usize];
            let turns = self.joints[j as usize].2;
            (j, if a == face { b } else { a }, turns)
        })
    }

    /// Visits all faces from the first ones on, in breadth; calls `visit` with each one, the one before it, and whether
    /// the joint between them turns.
    fn walk(&self, first: &[u32], mut visit: impl FnMut(u32, u32, bool)) {
        let mut is_met = vec![false; self.faces.len()];
        let mut queue: VecDeque<u32> = first.iter().copied().collect();
        first.iter().for_each(|&face| is_met[face as usize] = true);
        while let Some(face) = queue.pop_front() {
            for (_, other, turns) in self.around(face) {
                if !std::mem::replace(&mut is_met[other as usize], true) {
                    visit(other, face, turns);
                    queue.push_back(other);
                }
            }
        }
    }

    fn cuts(&self) -> Result<Vec<u32>> {
        let mut turned = vec![false; self.faces.len()];
        self.walk(&[0], |face, before, turns| {
            turned[face as usize] = turned[before as usize] ^ turns;
        });
        let disagree = |turned: &[bool], j: u32| {
            let [a, b] = self.ends[j as usize].map(|face| turned[face as usize]);
            (a != b) != self.joints[j as usize].2
        };
        let all = |turned: &[bool]| -> Vec<u32> {
            let joints = 0..self.joints.len() as u32;
            joints.filter(|&j| disagree(turned, j)).collect()
        };
        let mut found = all(&turned);
        let cycle = self.shortest_cycle(&found)?;
        let around = self.turned_around(&cycle);
        if all(&around).len() < found.len() {
            turned = around;
            found = all(&turned);
        }
        let mut queue: VecDeque<u32> = found.iter().flat_map(|&j| self.ends[j as usize]).collect();
        while let Some(face) = queue.pop_front() {
            let is_cut = |&(j, ..): &(u32, u32, bool)| disagree(&turned, j);
            if 2 * self.around(face).filter(is_cut).count() > self.around(face).count() {
                turned[face as usize] ^= true;
                queue.extend(self.around(face).map(|(_, other, _)| other));
            }
        }
        Ok(all(&turned)
            .iter()
            .map(|&j| self.joints[j as usize].0)
            .collect())
    }

    /// A shortest cycle of faces without an orientation, of those through a face at one of some joints that a search of
    /// [`STEPS`] for each face finds.
    fn shortest_cycle(&self, joints: &[u32]) -> Result<Vec<u32>> {
        let mut starts: Vec<u32> = joints.iter().flat_map(|&j| self.ends[j as usize]).collect();
        starts.sort_unstable();
        starts.dedup();
        let mut best = Vec::new();
        let mut steps = STEPS * self.faces.len();
        for start in starts {
            progress::check()?;
            // A face as it is and turned: from one to the other, in breadth.
            let mut before = HashMap::new();
            let mut queue = VecDeque::from([((start, false), 0)]);
            before.insert((start, false), (start, false));
            while let Some((at, length)) = queue.pop_front() {
                if at == (start, true) {
                    best.clear();
                    let mut at = at;
                    while at != (start, false) {
                        best.push(at.0);
                        at = before[&at];
                    }
                    break;
                }
                if !best.is_empty() && length + 1 >= best.len() {
                    break;
                }
                if !best.is_empty() && steps == 0 {
                    return Ok(best);
                }
                steps = steps.saturating_sub(1);
                for (_, other, turns) in self.around(at.0) {
                    let next = (other, at.1 ^ turns);
                    before.entry(next).or_insert_with(|| {
                        queue.push_back((next, length + 1));
                        at
                    });
                }
            }
        }
        Ok(best)
    }

    /// Whether each face is turned, if faces are joined in the order of their distance from a cycle, farthest first.
    fn turned_around(&self, cycle: &[u32]) -> Vec<bool> {
        let n = self.faces.len();
        let mut distance = vec![0u32; n];
        self.walk(cycle, |face, before, _| {
            distance[face as usize] = distance[before as usize] + 1;
        });
        let far = |j: u32| self.ends[j as usize].map(|face| distance[face as usize]);
        let mut order: Vec<u32> = (0..self.joints.len() as u32).collect();
        order.sort_by_key(|&j| std::cmp::Reverse(far(j)[0] + far(j)[1]));
        // Each face as it is and turned.
        let mut parents: Vec<u32> = (0..2 * n as u32).collect();
        for j in order {
            let ([a, b], turn) = (self.ends[j as usize], u32::from(self.joints[j as usize].2));
            let (one, other) = (root(&mut parents, 2 * a), root(&mut parents, 2 * b + turn));
            if one == root(&mut parents, 2 * b + 1 - turn) {
                // It would make the part one-sided.
                continue;
            }
            let (two, fourth) = (
                root(&mut parents, 2 * a + 1),
                root(&mut parents, 2 * b + 1 - turn),
            );
            parents[one.max(other) as usize] = one.min(other);
            parents[two.max(fourth) as usize] = two.min(fourth);
        }
        let of_face = |face: u32| root(&mut parents, 2 * face) & 1 == 1;
        (0..n as u32).map(of_face).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A strip of n faces whose ends are joined with a turn, and with it a band of faces that are far from the turn.
    #[test]
    fn a_strip_is_cut_once() {
        for n in [3, 5, 100] {
            let joints: Vec<Joint> = (0..n).map(|i| (i, [i, (i + 1) % n], i == n / 2)).collect();
            assert_eq!(cuts(&joints).unwrap().len(), 1, "{n}");
        }
    }

    /// A grid on a sphere-like band whose one corner is glued to itself: the cut stays there.
    #[test]
    fn the_cut_lies_at_the_fault() {
        let n = 20;
        let id = |x: u32, y: u32| y * n + x;
        let mut joints = Vec::new();
        for y in 0..n {
            for x in 0..n {
                if x + 1 < n {
                    joints.push((0, [id(x, y), id(x + 1, y)], false));
                }
                if y + 1 < n {
                    joints.push((0, [id(x, y), id(x, y + 1)], false));
                }
            }
        }
        joints.push((0, [id(18, 19), id(19, 18)], true));
        for (j, joint) in (0..).zip(&mut joints) {
            joint.0 = j;
        }
        assert_eq!(cuts(&joints).unwrap(), [joints.len() as u32 - 1]);
    }
}
