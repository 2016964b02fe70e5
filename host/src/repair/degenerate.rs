//! Degenerate faces collapse or flip.
//!
//! They are treated on the host: they are few, and each treatment changes the faces that the next one meets. The device
//! finds them, and the faces around each vertex.

use std::collections::{BTreeSet, HashMap, HashSet};

use glam::DVec3;
use gpu::ids::{HalfEdge, Vertex};
use gpu::repair::scaled_sides;
use trioxide_kernel::NONE;

use super::state::{HostPoints, State};
use super::{Counts, is_flat, sorted};
use crate::collective::{Csr, bucket};
use crate::{Result, progress};

/// Vertices of a face that is gone.
const GONE: [u32; 3] = [NONE; 3];

impl State<'_> {
    /// Treats degenerate faces. `fixed` are edges that do not flip, of ascending vertices of the input.
    pub fn treat_degenerate(
        &mut self,
        points: &HostPoints<'_>,
        ratio: f64,
        fixed: &mut HashSet<[u32; 2]>,
        counts: &mut Counts,
    ) -> Result<()> {
        let on = self.on;
        on.stage("degenerate faces", || {
            let found: Vec<u32> = on.download_rows(&self.degenerate(ratio)?)?;
            if found.is_empty() {
                counts.degenerate_left = 0;
                return Ok(());
            }
            let points = points.get(self)?;
            let none = on.uninitialized(0)?;
            let corners = std::mem::replace(&mut self.faces, none).cast();
            let lists: Csr<Vertex, HalfEdge> = bucket(on, &corners, self.vertices())?;
            self.faces = corners.cast();
            let faces = self.download_faces()?;
            let mut stars = Stars {
                sources: (0..faces.len() as u32).collect(),
                input: |v| self.input_vertex(v),
                offsets: on.download(lists.offsets())?,
                corners: on.download_rows(lists.items())?,
                added: HashMap::new(),
                merged: Vec::new(),
                faces,
                points,
                ratio,
                fixed,
            };
            drop(lists);
            stars.treat(found, counts)?;
            let Stars {
                faces,
                sources,
                merged,
                ..
            } = stars;
            let left = faces
                .iter()
                .zip(&sources)
                .filter(|(face, _)| **face != GONE);
            let (faces, sources): (Vec<[u32; 3]>, Vec<u32>) = left.unzip();
            // A copy's vertex stays elsewhere.
            let of_input = merged
                .iter()
                .filter(|[gone, _]| (*gone as usize) < points.len());
            let of_input: Vec<_> = of_input
                .map(|&[gone, kept]| [gone, self.input_vertex(kept)])
                .collect();
            self.merged.extend(of_input);
            self.replace(&faces, &sources)?;
            // Faces that no treatment has touched since it was refused are degenerate still.
            counts.degenerate_left = self.degenerate(ratio)?.len() as u64;
            Ok(())
        })
    }
}

/// Faces, and the faces around each vertex.
struct Stars<'a, I> {
    faces: Vec<[u32; 3]>,
    /// The face whose data each face has.
    sources: Vec<u32>,
    points: &'a [DVec3],
    /// The input's vertex of a vertex.
    input: I,
    /// Start of each vertex's corners, as the faces were at first.
    offsets: Vec<u32>,
    corners: Vec<u32>,
    /// Faces that vertices got since.
    added: HashMap<u32, Vec<u32>>,
    /// Vertices that collapsed, each with the one that it became.
    merged: Vec<[u32; 2]>,
    ratio: f64,
    fixed: &'a mut HashSet<[u32; 2]>,
}

/// A side of a face: its ends in the face's direction, and the third vertex.
#[derive(Clone, Copy)]
struct Side {
    ends: [u32; 2],
    third: u32,
    squared_length: f64,
}

impl<I: Fn(u32) -> u32> Stars<'_, I> {
    fn treat(&mut self, found: Vec<u32>, counts: &mut Counts) -> Result<()> {
        let mut round = found;
        while !round.is_empty() {
            let mut next = BTreeSet::new();
            for &face in &round {
                progress::check()?;
                if self.faces[face as usize] == GONE || !self.is_degenerate(face) {
                    continue;
                }
                for vertex in self.treat_face(face, counts).unwrap_or_default() {
                    let star = self.star(vertex);
                    next.extend(star.into_iter().filter(|&face| self.is_degenerate(face)));
                }
            }
            round = next.into_iter().collect();
        }
        Ok(())
    }

    fn point(&self, vertex: u32) -> DVec3 {
        self.points[(self.input)(vertex) as usize]
    }

    fn corners_of(&self, face: [u32; 3]) -> [DVec3; 3] {
        face.map(|v| self.point(v))
    }

    fn is_flat(&self, face: [u32; 3]) -> bool {
        is_flat(self.corners_of(face), self.ratio)
    }

    fn is_degenerate(&self, face: u32) -> bool {
        let face = self.faces[face as usize];
        !is_proper(face) || self.is_flat(face)
    }

    /// The faces with this vertex, ascending.
    fn star(&self, vertex: u32) -> Vec<u32> {
        let v = vertex as usize;
        let first = self.offsets[v] as usize..self.offsets[v + 1] as usize;
        let first = self.corners[first].iter().map(|corner| corner / 3);
        let added = self.added.get(&vertex).into_iter().flatten().copied();
        let mut star: Vec<u32> = first
            .chain(added)
            .filter(|&face| self.faces[face as usize].contains(&vertex))
            .collect();
        star.sort_unstable();
        star.dedup();
        star
    }

    /// The proper faces with this vertex, ascending.
    fn proper_star(&self, vertex: u32) -> Vec<u32> {
        let mut star = self.star(vertex);
        star.retain(|&face| is_proper(self.faces[face as usize]));
        star
    }

    /// The proper faces at an edge.
    fn at_edge(&self, [a, b]: [u32; 2]) -> Vec<u32> {
        let mut star = self.proper_star(a);
        star.retain(|&face| self.faces[face as usize].contains(&b));
        star
    }

    fn squared_distance(&self, [a, b]: [u32; 2]) -> f64 {
        (self.point(a) - self.point(b)).length_squared()
    }

    /// Treats a face: the vertices whose faces changed, or `None`.
    fn treat_face(&mut self, face: u32, counts: &mut Counts) -> Option<Vec<u32>> {
        let vertices @ [a, b, c] = self.faces[face as usize];
        if !is_proper(vertices) {
            self.faces[face as usize] = GONE;
            counts.dropped += 1;
            return Some(vertices.to_vec());
        }
        let [ab, bc, ca] = scaled_sides(self.corners_of(vertices)).map(|v| v.length_squared());
        let side = |ends, third, squared_length| Side {
            ends,
            third,
            squared_length,
        };
        let sides = [
            side([a, b], c, ab),
            side([b, c], a, bc),
            side([c, a], b, ca),
        ];
        let pick = |is_better: fn(f64, f64) -> bool| {
            let better = |one: Side, other: Side| {
                let (x, y) = (one.squared_length, other.squared_length);
                match is_better(x, y) || x == y && sorted(one.ends) < sorted(other.ends) {
                    true => one,
                    false => other,
                }
            };
            better(better(sides[0], sides[1]), sides[2])
        };
        let (shortest, longest) = (pick(|x, y| x < y), pick(|x, y| x > y));
        let is_needle = shortest.squared_length <= self.ratio * self.ratio * longest.squared_length;
        if is_needle && let Some(changed) = self.collapse(shortest.ends) {
            counts.collapsed += 1;
            return Some(changed);
        }
        self.flip(face, longest, counts)
    }

    /// Collapses an edge, unless a rule refuses it: the vertices whose faces changed.
    fn collapse(&mut self, ends: [u32; 2]) -> Option<Vec<u32>> {
        let [low, high] = sorted(ends);
        let at_edge = self.at_edge([low, high]);
        if at_edge.len() > 2 {
            return None;
        }
        let neighbours = [low, high].map(|v| self.neighbours(v));
        let borders =
            [low, high].map(|v| neighbours[usize::from(v == high)].values().any(|&n| n == 1));
        if borders == [true, true] && at_edge.len() == 2 {
            return None;
        }
        let common = neighbours[0]
            .keys()
            .filter(|v| neighbours[1].contains_key(v));
        if common.count() != at_edge.len() {
            return None;
        }
        let (kept, gone) = match borders {
            [false, true] => (high, low),
            _ => (low, high),
        };
        let of_kept: HashSet<[u32; 3]> = self
            .star(kept)
            .iter()
            .map(|&face| ascending(self.faces[face as usize]))
            .collect();
        let mut moved = self.star(gone);
        moved.retain(|face| !at_edge.contains(face));
        let renamed = |face: [u32; 3]| face.map(|v| if v == gone { kept } else { v });
        for &face in &moved {
            let old = self.faces[face as usize];
            let new = renamed(old);
            if is_proper(old) != is_proper(new) || of_kept.contains(&ascending(new)) {
                return None;
            }
            if is_proper(old) && !self.keeps_normal(old, new) {
                return None;
            }
        }
        for &face in &at_edge {
            self.faces[face as usize] = GONE;
        }
        for &face in &moved {
            self.faces[face as usize] = renamed(self.faces[face as usize]);
        }
        // An edge of a segment goes along.
        for &other in neighbours[usize::from(gone == high)].keys() {
            let edge = |v: u32| sorted([v, other].map(|v| (self.input)(v)));
            if self.fixed.contains(&edge(gone)) {
                self.fixed.insert(edge(kept));
            }
        }
        self.added.entry(kept).or_default().extend(moved);
        self.merged.push([gone, kept]);
        let mut changed: Vec<u32> = neighbours.iter().flat_map(|n| n.keys().copied()).collect();
        changed.retain(|&v| v != gone);
        Some(changed)
    }

    /// Whether a face that is not degenerate stays so, and keeps the side that it shows.
    fn keeps_normal(&self, old: [u32; 3], new: [u32; 3]) -> bool {
        if self.is_flat(old) {
            return true;
        }
        let normal = |face: [u32; 3]| {
            let [ab, _, ca] = scaled_sides(self.corners_of(face));
            ca.cross(ab)
        };
        !self.is_flat(new) && normal(old).dot(normal(new)) > 0.0
    }

    /// The vertices that share an edge with this one, and the number of faces at each edge.
    fn neighbours(&self, vertex: u32) -> HashMap<u32, usize> {
        let mut faces = HashMap::new();
        for face in self.proper_star(vertex) {
            for other in self.faces[face as usize] {
                if other != vertex {
                    *faces.entry(other).or_insert(0) += 1;
                }
            }
        }
        faces
    }

    /// Flips a side of a face, unless a rule refuses it: the vertices whose faces changed.
    fn flip(&mut self, face: u32, side: Side, counts: &mut Counts) -> Option<Vec<u32>> {
        let ([a, b], c) = (side.ends, side.third);
        if self.fixed.contains(&sorted([a, b].map(&self.input))) {
            return None;
        }
        let at_edge = self.at_edge([a, b]);
        if at_edge == [face] {
            self.faces[face as usize] = GONE;
            counts.dropped += 1;
            return Some(vec![a, b, c]);
        }
        let [first, second] = at_edge[..] else {
            return None;
        };
        let other = if first == face { second } else { first };
        let beyond = self.faces[other as usize];
        let at = beyond.iter().position(|&v| v == b)?;
        let d = beyond[(at + 2) % 3];
        if beyond[(at + 1) % 3] != a || d == c || !self.at_edge([c, d]).is_empty() {
            return None;
        }
        let (one, two) = ([a, d, c], [d, b, c]);
        let count = |faces: [[u32; 3]; 2]| faces.iter().filter(|f| self.is_flat(**f)).count();
        let (before, after) = (
            count([self.faces[face as usize], beyond]),
            count([one, two]),
        );
        let is_shorter = self.squared_distance([c, d]) < self.squared_distance([a, b]);
        if after > before || after == before && !is_shorter {
            return None;
        }
        let keeps = |new| self.is_flat(new) || self.keeps_normal(beyond, new);
        if !keeps(one) || !keeps(two) {
            return None;
        }
        self.faces[face as usize] = one;
        self.faces[other as usize] = two;
        self.sources[face as usize] = self.sources[other as usize];
        self.added.entry(d).or_default().push(face);
        self.added.entry(c).or_default().push(other);
        counts.flipped += 1;
        Some(vec![a, b, c, d])
    }
}

fn is_proper([a, b, c]: [u32; 3]) -> bool {
    a != b && b != c && c != a
}

fn ascending(mut face: [u32; 3]) -> [u32; 3] {
    face.sort_unstable();
    face
}
