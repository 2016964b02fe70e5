//! Segments of a mesh under repair. The head of [`gpu::repair`] defines how they follow its changes.

use std::collections::{HashMap, HashSet};

use super::sorted;
use super::stars::is_proper;
use crate::mesh::Segment;

/// The segments that are left.
#[derive(Default)]
pub(super) struct Segments {
    left: Vec<Left>,
}

/// A segment, by its present vertices.
#[derive(Clone, Copy)]
struct Left {
    segment: Segment,
    /// Its id in the input.
    id: u32,
}

impl Segments {
    /// The input's segments that are edges of these faces.
    pub fn of(segments: &[Segment], faces: &[[u32; 3]]) -> Self {
        let left = segments.iter().zip(0..);
        let left = left.map(|(&segment, id)| Left { segment, id }).collect();
        let mut all = Self { left };
        all.keep_edges(faces);
        all
    }

    pub fn is_empty(&self) -> bool {
        self.left.is_empty()
    }

    /// Their edges, the lower vertices first.
    pub fn edges(&self) -> HashSet<[u32; 2]> {
        let edges = self.left.iter().map(|left| sorted(left.segment.ends));
        edges.collect()
    }

    /// Collapses vertices into others, one pair after the other.
    pub fn merge(&mut self, merged: &[[u32; 2]]) {
        if self.is_empty() {
            return;
        }
        let mut became: HashMap<u32, u32> = HashMap::new();
        // A vertex may collapse into one that collapses later.
        for &[gone, kept] in merged.iter().rev() {
            became.insert(gone, *became.get(&kept).unwrap_or(&kept));
        }
        for end in self.left.iter_mut().flat_map(|left| &mut left.segment.ends) {
            *end = *became.get(end).unwrap_or(end);
        }
    }

    /// Follows copies: vertex `first + i` is one of `parents[i]`. A segment lies along each copy of its edge, in the
    /// order of the faces.
    pub fn split(&mut self, faces: &[[u32; 3]], first: u32, parents: &[u32]) {
        let is_copied: HashSet<u32> = parents.iter().copied().collect();
        let is_parted = |left: &Left| left.segment.ends.iter().any(|end| is_copied.contains(end));
        let parted = self.left.iter().filter(|left| is_parted(left));
        let mut copies: HashMap<[u32; 2], Vec<[u32; 2]>> = parted
            .map(|left| (sorted(left.segment.ends), Vec::new()))
            .collect();
        if copies.is_empty() {
            return;
        }
        let before = |v: u32| match v.checked_sub(first) {
            Some(copy) => parents[copy as usize],
            None => v,
        };
        for ends in edges_of(faces) {
            let old = ends.map(before);
            if let Some(copies) = copies.get_mut(&sorted(old)) {
                let upward = if old[0] < old[1] {
                    ends
                } else {
                    [ends[1], ends[0]]
                };
                if !copies.contains(&upward) {
                    copies.push(upward);
                }
            }
        }
        let mut all = Vec::with_capacity(self.left.len());
        for left in &self.left {
            let Segment { ends, marker } = left.segment;
            match copies.get(&sorted(ends)) {
                None => all.push(*left),
                Some(copies) => all.extend(copies.iter().map(|&[low, high]| {
                    let ends = if ends[0] < ends[1] {
                        [low, high]
                    } else {
                        [high, low]
                    };
                    let segment = Segment { ends, marker };
                    Left {
                        segment,
                        id: left.id,
                    }
                })),
            }
        }
        self.left = all;
    }

    /// Leaves out segments that no face has as an edge, and of those with the same ends and the same marker all but the
    /// first.
    pub fn keep_edges(&mut self, faces: &[[u32; 3]]) {
        if self.is_empty() {
            return;
        }
        let of_segments = self.edges();
        let edges = edges_of(faces).map(sorted);
        let there: HashSet<[u32; 2]> = edges.filter(|edge| of_segments.contains(edge)).collect();
        let mut seen = HashSet::new();
        self.left.retain(|Left { segment, .. }| {
            let ends = sorted(segment.ends);
            there.contains(&ends) && seen.insert((ends, segment.marker))
        });
    }

    /// The segments with other ids of their vertices, and the ids that they had in the input.
    pub fn renamed(self, new: impl Fn(u32) -> u32) -> (Vec<Segment>, Vec<u32>) {
        let rename = |left: Left| {
            let Segment { ends, marker } = left.segment;
            (
                Segment {
                    ends: ends.map(&new),
                    marker,
                },
                left.id,
            )
        };
        self.left.into_iter().map(rename).unzip()
    }
}

/// The sides of proper faces.
fn edges_of(faces: &[[u32; 3]]) -> impl Iterator<Item = [u32; 2]> {
    let proper = faces.iter().filter(|face| is_proper(**face));
    proper.flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]])
}
