//! Folded faces of a mesh of the plane: oriented as their component, they run clockwise or have no area.
//!
//! A weld that moves a vertex across the far side of its triangle folds it over the neighbour. Flipping that side
//! unfolds both. A folded face flips the first of its sides, in their order, whose flip gives two faces that run
//! counter-clockwise, and adds no edge that is there already; not a segment. Faces are taken in ascending order, in
//! rounds, until a round changes nothing: each flip lowers the number of folded faces, so it ends. The rest are
//! dropped.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::exact::turn;
use super::state::{HostPoints, State};
use super::{Counts, sorted};
use crate::{Result, progress};

impl State<'_> {
    /// Unfolds a mesh of the plane. Edges of segments do not flip.
    pub fn unfold(&mut self, points: &HostPoints<'_>, counts: &mut Counts) -> Result<()> {
        let on = self.on;
        on.stage("folded faces", || {
            let points = points.get(self)?;
            let mut faces = self.download_faces()?;
            let point = |v: u32| points[self.input_vertex(v) as usize];
            let Some(first) = faces.first() else {
                return Ok(());
            };
            let z = point(first[0]).z;
            if faces.as_flattened().iter().any(|&v| point(v).z != z) {
                return Ok(());
            }
            let is_folded = |face: [u32; 3]| turn(&face.map(point)) <= 0;
            let found = (0..faces.len()).filter(|&t| is_folded(faces[t]));
            let mut round: Vec<usize> = found.collect();
            if round.is_empty() {
                return Ok(());
            }
            let mut sources: Vec<u32> = (0..faces.len() as u32).collect();
            // The faces at each edge.
            let mut at: HashMap<[u32; 2], Vec<usize>> = HashMap::new();
            for (t, face) in faces.iter().enumerate() {
                edges_of(*face).for_each(|edge| at.entry(sorted(edge)).or_default().push(t));
            }
            let fixed = self.segments.edges();
            let is_fixed = |edge: [u32; 2]| fixed.contains(&sorted(edge));
            loop {
                let mut next = BTreeSet::new();
                let mut flips = 0;
                for &t in &round {
                    progress::check()?;
                    if !is_folded(faces[t]) {
                        continue;
                    }
                    let flip = edges_of(faces[t]).find_map(|[p, q]| {
                        let sides = &at[&sorted([p, q])];
                        let &[one, two] = &sides[..] else { return None };
                        let other = if one == t { two } else { one };
                        let u = third(faces[t], [p, q])?;
                        let r = third(faces[other], [q, p])?;
                        let new = [[u, p, r], [u, r, q]];
                        let is_free = u != r && !at.contains_key(&sorted([u, r]));
                        let is_right =
                            is_free && !is_fixed([p, q]) && !new.into_iter().any(is_folded);
                        is_right.then_some((other, new, [p, q, u, r]))
                    });
                    let Some((other, new, [p, q, u, r])) = flip else {
                        next.insert(t);
                        continue;
                    };
                    at.remove(&sorted([p, q]));
                    at.insert(sorted([u, r]), vec![t, other]);
                    // The first face has u p and p r now, the second one r q and q u.
                    let mut moves = |edge: [u32; 2], from: usize, to: usize| {
                        let sides = at.get_mut(&sorted(edge)).into_iter().flatten();
                        sides
                            .filter(|side| **side == from)
                            .for_each(|side| *side = to);
                    };
                    moves([p, r], other, t);
                    moves([q, u], t, other);
                    (faces[t], faces[other]) = (new[0], new[1]);
                    sources[t] = sources[other];
                    flips += 1;
                }
                counts.unfolded += flips;
                round = next.into_iter().collect();
                if flips == 0 || round.is_empty() {
                    break;
                }
            }
            counts.dropped_folded += round.len() as u64;
            let is_dropped: HashSet<usize> = round.into_iter().collect();
            let left = (0..faces.len()).filter(|t| !is_dropped.contains(t));
            let (faces, sources): (Vec<[u32; 3]>, Vec<u32>) =
                left.map(|t| (faces[t], sources[t])).unzip();
            self.replace(&faces, &sources)
        })
    }
}

fn edges_of([a, b, c]: [u32; 3]) -> impl Iterator<Item = [u32; 2]> {
    [[a, b], [b, c], [c, a]].into_iter()
}

/// The third vertex of a face that has a side from one vertex to the other.
fn third([a, b, c]: [u32; 3], side: [u32; 2]) -> Option<u32> {
    [([a, b], c), ([b, c], a), ([c, a], b)]
        .into_iter()
        .find_map(|(own, third)| (own == side).then_some(third))
}
