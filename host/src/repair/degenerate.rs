//! Degenerate faces collapse or flip.
//!
//! They are treated on the host: they are few, and each treatment changes the faces that the next one meets. The device
//! finds them, and the faces around each vertex.

use std::collections::HashSet;

use glam::DVec3;
use gpu::ids::{HalfEdge, Vertex};
use gpu::point3::{FLAT, ROUNDING};
use gpu::repair::scaled_sides;

use super::stars::{GONE, Stars, is_proper};
use super::state::{HostPoints, State};
use super::ways::Ways;
use super::{Counts, is_flat, sorted};
use crate::collective::{Csr, bucket};
use crate::{Result, progress};

impl State<'_> {
    /// Treats degenerate faces. Edges of segments do not flip, and go along with collapses.
    pub fn treat_degenerate(
        &mut self,
        points: &HostPoints<'_>,
        ratio: f64,
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
            let point = |v: u32| points[self.input_vertex(v) as usize];
            let mut work = Treatment {
                sources: (0..faces.len() as u32).collect(),
                ways: Ways::of(&faces, point),
                stars: Stars::new(
                    faces,
                    on.download(lists.offsets())?,
                    on.download_rows(lists.items())?,
                ),
                merged: Vec::new(),
                point,
                ratio,
                fixed: self.segments.edges(),
                changed: HashSet::new(),
                hubs: HashSet::new(),
            };
            drop(lists);
            work.treat(found, counts)?;
            let Treatment {
                stars,
                sources,
                merged,
                ..
            } = work;
            let faces = stars.into_faces().into_iter().zip(sources);
            let left = faces.filter(|(face, _)| *face != GONE);
            let (faces, sources): (Vec<[u32; 3]>, Vec<u32>) = left.unzip();
            self.segments.merge(&merged);
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

/// Faces under treatment.
struct Treatment<P> {
    stars: Stars,
    /// The face whose data each face has.
    sources: Vec<u32>,
    /// The position of a vertex.
    point: P,
    ways: Ways,
    /// Vertices that collapsed, each with the one that it became.
    merged: Vec<[u32; 2]>,
    ratio: f64,
    /// The edges of segments, their lower vertices first.
    fixed: HashSet<[u32; 2]>,
    /// Vertices whose faces have changed in this round.
    changed: HashSet<u32>,
    /// Vertices into which others collapsed in this round: the faces of their neighbours count as changed too.
    hubs: HashSet<u32>,
}

/// A side of a face: its ends in the face's direction, and the third vertex.
#[derive(Clone, Copy)]
struct Side {
    ends: [u32; 2],
    third: u32,
    squared_length: f64,
}

impl<P: Fn(u32) -> DVec3> Treatment<P> {
    fn treat(&mut self, found: Vec<u32>, counts: &mut Counts) -> Result<()> {
        let mut round = found;
        while !round.is_empty() {
            for &face in &round {
                progress::check()?;
                let vertices = self.stars.face(face);
                if vertices != GONE && self.is_degenerate(vertices) {
                    self.treat_face(face, counts);
                }
            }
            round = self.next_round();
        }
        Ok(())
    }

    /// The degenerate faces at vertices whose faces have changed, ascending. A face that was degenerate at such a
    /// vertex and is elsewhere now has changed since, so its vertices are among these.
    fn next_round(&mut self) -> Vec<u32> {
        let mut vertices = std::mem::take(&mut self.changed);
        for hub in std::mem::take(&mut self.hubs) {
            vertices.insert(hub);
            vertices.extend(self.stars.read(hub).around.keys());
        }
        let mut faces = Vec::new();
        for vertex in vertices {
            faces.extend(&self.stars.read(vertex).faces);
        }
        faces.sort_unstable();
        faces.dedup();
        faces.retain(|&face| self.is_degenerate(self.stars.face(face)));
        faces
    }

    fn corners_of(&self, face: [u32; 3]) -> [DVec3; 3] {
        face.map(&self.point)
    }

    fn is_flat(&self, face: [u32; 3]) -> bool {
        is_flat(self.corners_of(face), self.ratio)
    }

    fn is_degenerate(&self, face: [u32; 3]) -> bool {
        !is_proper(face) || self.is_flat(face)
    }

    fn squared_distance(&self, [a, b]: [u32; 2]) -> f64 {
        ((self.point)(a) - (self.point)(b)).length_squared()
    }

    fn treat_face(&mut self, face: u32, counts: &mut Counts) {
        let vertices @ [a, b, c] = self.stars.face(face);
        if !is_proper(vertices) {
            self.drop_face(face, counts);
            return;
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
        if is_needle && self.collapse(shortest.ends) {
            counts.collapsed += 1;
        } else {
            self.flip(face, longest, counts);
        }
    }

    fn drop_face(&mut self, face: u32, counts: &mut Counts) {
        self.changed.extend(self.stars.face(face));
        self.stars.replace(face, GONE);
        counts.dropped += 1;
    }

    /// Collapses an edge, unless a rule refuses it: whether it did.
    fn collapse(&mut self, ends: [u32; 2]) -> bool {
        let [low, high] = sorted(ends);
        let at_edge = self.stars.at_edge([low, high]);
        let borders = [low, high].map(|v| self.stars.read(v).borders > 0);
        if at_edge.len() > 2
            || borders == [true, true] && at_edge.len() == 2
            || self.stars.common(low, high) != at_edge.len()
        {
            return false;
        }
        let (kept, gone) = match borders {
            [false, true] => (high, low),
            _ => (low, high),
        };
        let renamed = |face: [u32; 3]| face.map(|v| if v == gone { kept } else { v });
        let moved = self.stars.star(gone).faces.iter();
        let moved: Vec<u32> = moved
            .copied()
            .filter(|face| !at_edge.contains(face))
            .collect();
        let old: Vec<[u32; 3]> = moved.iter().map(|&face| self.stars.face(face)).collect();
        for &vertex in old.as_flattened() {
            self.stars.read(vertex);
        }
        let is_right = |&old: &[u32; 3]| {
            let new = renamed(old);
            is_proper(old) == is_proper(new) && !self.stars.has(new)
        };
        if self.loses_segment(&at_edge, [kept, gone]) || !old.iter().all(is_right) {
            return false;
        }
        let old: Vec<[u32; 3]> = old.into_iter().filter(|face| is_proper(*face)).collect();
        let mut around = None;
        for &face in &old {
            let (was_flat, new) = (self.is_flat(face), renamed(face));
            let is_flat = self.is_flat(new);
            if !was_flat && is_flat {
                return false;
            }
            let [own, after] = [(face, FLAT), (new, ROUNDING)].map(|(f, least)| self.way(f, least));
            let is_kept = if !was_flat && own != DVec3::ZERO {
                own.dot(after) > 0.0
            } else {
                let [sound, all] = *around.get_or_insert_with(|| self.ways_around(gone));
                let rounded = self.way(face, ROUNDING);
                let ways = [sound, own, all, rounded];
                let way = ways.into_iter().find(|&way| way != DVec3::ZERO);
                let stays = was_flat && is_flat && is_along(after, rounded);
                stays || is_along(after, way.unwrap_or_default())
            };
            if !is_kept {
                return false;
            }
        }
        // Segments go along.
        if !self.fixed.is_empty() {
            for &other in self.stars.star(gone).around.keys() {
                if self.fixed.remove(&sorted([gone, other])) && other != kept {
                    self.fixed.insert(sorted([kept, other]));
                }
            }
        }
        for &face in &at_edge {
            self.changed.extend(self.stars.face(face));
            self.stars.replace(face, GONE);
        }
        for &face in &moved {
            self.stars.replace(face, renamed(self.stars.face(face)));
        }
        self.changed.remove(&gone);
        self.hubs.insert(kept);
        self.merged.push([gone, kept]);
        true
    }

    /// Whether a collapse would leave the edge of a segment without a face: the two edges that merge have no other face
    /// than the one that goes.
    fn loses_segment(&self, at_edge: &[u32], [kept, gone]: [u32; 2]) -> bool {
        at_edge.iter().any(|&face| {
            let third = self
                .stars
                .face(face)
                .into_iter()
                .find(|v| ![kept, gone].contains(v));
            third.is_some_and(|third| {
                let count = |v: u32| self.stars.star(v).around.get(&third) == Some(&1);
                let is_fixed = |v: u32| self.fixed.contains(&sorted([v, third]));
                count(kept) && count(gone) && (is_fixed(kept) || is_fixed(gone))
            })
        })
    }

    /// The way that a face looks: zero if it has none.
    fn way(&self, face: [u32; 3], least: f64) -> DVec3 {
        self.ways.of_face(self.corners_of(face), least)
    }

    /// The way of a face that is not degenerate.
    fn sound_way(&self, face: [u32; 3]) -> DVec3 {
        match self.is_flat(face) {
            true => DVec3::ZERO,
            false => self.way(face, FLAT),
        }
    }

    /// The sums of the ways around a vertex: of the faces that are not degenerate, and of all.
    fn ways_around(&self, vertex: u32) -> [DVec3; 2] {
        let faces = self.stars.star(vertex).faces.iter();
        let faces = faces
            .map(|&face| self.stars.face(face))
            .filter(|face| is_proper(*face));
        faces.fold([DVec3::ZERO; 2], |[sound, all], face| {
            [sound + self.sound_way(face), all + self.way(face, FLAT)]
        })
    }

    /// Flips a side of a face, or drops the face at the boundary, unless a rule refuses it.
    fn flip(&mut self, face: u32, side: Side, counts: &mut Counts) {
        let ([a, b], c) = (side.ends, side.third);
        let at_edge = self.stars.at_edge([a, b]);
        if at_edge == [face] {
            let vertices = [a, b, c];
            for v in vertices {
                self.stars.read(v);
            }
            let is_lost = |k: usize| {
                let edge @ [p, q] = sorted([vertices[k], vertices[(k + 1) % 3]]);
                self.stars.star(p).around[&q] == 1 && self.fixed.contains(&edge)
            };
            if !(0..3).any(is_lost) {
                self.drop_face(face, counts);
            }
            return;
        }
        let [first, second] = at_edge[..] else {
            return;
        };
        if self.fixed.contains(&sorted([a, b])) {
            return;
        }
        let other = if first == face { second } else { first };
        let beyond = self.stars.face(other);
        let Some(at) = beyond.iter().position(|&v| v == b) else {
            return;
        };
        let d = beyond[(at + 2) % 3];
        if beyond[(at + 1) % 3] != a || d == c || self.stars.read(c).around.contains_key(&d) {
            return;
        }
        let (old, new) = ([self.stars.face(face), beyond], [[a, d, c], [d, b, c]]);
        let count = |faces: [[u32; 3]; 2]| faces.iter().filter(|f| self.is_flat(**f)).count();
        let (before, after) = (count(old), count(new));
        let is_shorter = self.squared_distance([c, d]) < self.squared_distance([a, b]);
        if after > before || after == before && !is_shorter {
            return;
        }
        let sides = [[b, c], [c, a], [a, d], [d, b]];
        if !self.keeps_way(old, new, sides) {
            return;
        }
        self.stars.replace(face, new[0]);
        self.stars.replace(other, new[1]);
        self.sources[face as usize] = self.sources[other as usize];
        self.changed.extend([a, b, c, d]);
        counts.flipped += 1;
    }

    /// Whether the faces after a flip look as the one beyond the edge does, or as those beyond the four `sides` do.
    fn keeps_way(&mut self, old: [[u32; 3]; 2], new: [[u32; 3]; 2], sides: [[u32; 2]; 4]) -> bool {
        let mut way = self.sound_way(old[1]);
        if way == DVec3::ZERO {
            for side in sides {
                for face in self.stars.at_edge(side) {
                    let face = self.stars.face(face);
                    if !old.contains(&face) {
                        way += self.sound_way(face);
                    }
                }
            }
        }
        if way == DVec3::ZERO {
            way = self.way(old[0], FLAT) + self.way(old[1], FLAT);
        }
        let has_none = old
            .into_iter()
            .any(|face| self.way(face, ROUNDING) == DVec3::ZERO);
        new.into_iter().all(|face| {
            let after = self.way(face, ROUNDING);
            after.dot(way) > 0.0 || after == DVec3::ZERO && has_none
        })
    }
}

/// Whether a face looks this way, or nowhere as before.
fn is_along(after: DVec3, way: DVec3) -> bool {
    match way == DVec3::ZERO {
        true => after == DVec3::ZERO,
        false => after.dot(way) > 0.0,
    }
}
